package tokenizer

// queue is a binary heap of numbers, the smallest of which comes first.
type queue []uint64

// push enters e.
func (q *queue) push(e uint64) {
	h := append(*q, e)
	*q = h
	for i := len(h) - 1; i > 0; {
		parent := (i - 1) / 2
		if h[parent] <= h[i] {
			break
		}
		h[parent], h[i] = h[i], h[parent]
		i = parent
	}
}

// pop takes the smallest entry, of a queue that must not be empty.
func (q *queue) pop() uint64 {
	h := *q
	top, last := h[0], len(h)-1
	h[0] = h[last]
	h = h[:last]
	*q = h
	for i := 0; ; {
		child := 2*i + 1
		if child >= len(h) {
			return top
		}
		if child+1 < len(h) && h[child+1] < h[child] {
			child++
		}
		if h[i] <= h[child] {
			return top
		}
		h[i], h[child] = h[child], h[i]
		i = child
	}
}
