package tokenizer

import "fmt"

// merger applies merges to one word after another; its buffers are reused.
type merger struct {
	v       *vocabulary
	symbols []symbol
	heap    queue // of rank in the high half and position in the low one
	text    []byte
}

// symbol is a token of the word, in a list whose order is that of the text. It
// stays at the position of its first byte.
type symbol struct {
	id         int32 // -1 once it became part of its neighbour
	prev, next int32 // positions, or -1
	rank       int32 // of the merge with the next one, or -1
}

// reset empties the word and makes room for n symbols.
func (m *merger) reset(n int) {
	if cap(m.symbols) < n {
		m.symbols = make([]symbol, 0, n)
		m.heap = make(queue, 0, n)
	}
	m.symbols, m.heap = m.symbols[:0], m.heap[:0]
}

// add appends a symbol to the word.
func (m *merger) add(id int32) {
	i := int32(len(m.symbols))
	m.symbols = append(m.symbols, symbol{id: id, prev: i - 1, next: i + 1})
}

// run merges until no pair has a merge: the lowest rank first, and of equal
// ones the leftmost. With n symbols that takes O(n log n): each merge takes one
// entry from the heap, and adds two at most. The error is one of the
// vocabulary: a merge that makes no token.
func (m *merger) run() error {
	if len(m.symbols) == 0 {
		return nil
	}
	m.symbols[len(m.symbols)-1].next = -1
	for i := range m.symbols {
		m.push(int32(i))
	}
	for len(m.heap) > 0 {
		e := m.heap.pop()
		pos, rank := int32(uint32(e)), int32(e>>32)
		left := &m.symbols[pos]
		if left.id < 0 || left.rank != rank {
			continue // the pair has changed since it was entered
		}
		right := &m.symbols[left.next]
		id, err := m.result(left.id, right.id, rank)
		if err != nil {
			return err
		}
		left.id, right.id = id, -1
		left.next = right.next
		if left.next >= 0 {
			m.symbols[left.next].prev = pos
		}
		m.push(pos)
		if left.prev >= 0 {
			m.push(left.prev)
		}
	}
	return nil
}

// push finds the merge of the symbol at pos with the next one, and enters it
// into the heap if there is one.
func (m *merger) push(pos int32) {
	s := &m.symbols[pos]
	s.rank = -1
	if s.next < 0 {
		return
	}
	left, right := m.v.tokens.at(s.id), m.v.tokens.at(m.symbols[s.next].id)
	if len(left)+1+len(right) > m.v.merges.longest {
		return
	}
	m.text = append(append(append(m.text[:0], left...), ' '), right...)
	if s.rank = m.v.merges.find(string(m.text)); s.rank < 0 {
		return
	}
	m.heap.push(uint64(s.rank)<<32 | uint64(pos))
}

// result returns what the merge of that rank makes of two tokens.
func (m *merger) result(left, right, rank int32) (int32, error) {
	m.text = append(append(m.text[:0], m.v.tokens.at(left)...), m.v.tokens.at(right)...)
	id := m.v.tokens.find(string(m.text))
	if id < 0 {
		return 0, fmt.Errorf("%s: merge %d, %q, makes no token; the file is damaged", keyMerges, rank, m.v.merges.at(rank))
	}
	return id, nil
}

// appendIDs appends the word's tokens to ids.
func (m *merger) appendIDs(ids []int32) []int32 {
	for _, s := range m.symbols {
		if s.id >= 0 {
			ids = append(ids, s.id)
		}
	}
	return ids
}
