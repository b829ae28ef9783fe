package cpu

// pieces returns into how many units a head's rows are divided.
func (e *Engine) pieces() int {
	if e.m.HeadDim%unitRows == 0 {
		return e.m.HeadDim / unitRows
	}
	return 1
}

// piece returns which rows unit u of a layer's qkv stage is: a matrix, a head
// and the first row.
func (e *Engine) piece(layer, u int) (w *matrix, head, row int) {
	b, m, per := &e.blocks[layer], e.m, e.pieces()
	h, d0 := u/per, u%per*(m.HeadDim/per)
	switch {
	case h < m.Heads:
		w = &b.q
	case h < m.Heads+m.KVHeads:
		w, h = &b.k, h-m.Heads
	default:
		w, h = &b.v, h-m.Heads-m.KVHeads
	}
	return w, h, h*m.HeadDim + d0
}

// doQKV does unit u, and those after it and before hi that belong to the same
// head, or for one token to the same matrix, and returns how many it did.
func (e *Engine) doQKV(th *thread, s stage, in *vectors, u, hi int) int {
	m, b, per := e.m, &e.blocks[s.layer], e.pieces()
	size := m.HeadDim / per
	w, h, r0 := e.piece(s.layer, u)
	n := min(hi-u, per-u%per)
	if s.tokens == 1 {
		n = min(hi-u, (w.Rows-r0)/size)
	}
	rows := n * size
	stride := m.HeadDim
	var bias, dst, cache []float32
	switch w {
	case &b.q:
		bias, stride = b.QB, m.Heads*m.HeadDim
		dst = e.queries[s.first*stride+r0:]
	case &b.k:
		bias, cache = b.KB, e.k
	default:
		bias, cache = b.VB, e.v
	}
	if cache != nil {
		dst = cache[e.at(s.layer, h, e.pos+s.first)+r0-h*m.HeadDim:]
		if s.tokens == 1 { // heads lie apart in the cache, and one call is faster than many
			dst = th.kv[r0 : r0+rows]
		}
	}
	w.multiply(e.set, &th.scratch, dst, stride, r0, rows, in, s.tokens, false)
	if bias != nil {
		addBias(dst, stride, bias[r0:r0+rows], s.tokens)
	}
	for r := r0; r < r0+rows; { // head by head
		h, d0 := r/m.HeadDim, r%m.HeadDim
		k := min(m.HeadDim-d0, r0+rows-r)
		x := dst[r-r0:]
		if w != &b.v {
			e.rotate(x, stride, d0, min(m.RopeDim, d0+k), s)
		}
		if cache != nil && s.tokens == 1 {
			copy(cache[e.at(s.layer, h, e.pos+s.first)+d0:], x[:k])
		}
		r += k
	}
	return n
}

// rotate turns the values d0 to end-1 of a head of each token.
func (e *Engine) rotate(x []float32, stride, d0, end int, s stage) {
	if d0 >= end {
		return
	}
	for t := range s.tokens {
		at := (s.first + t) * e.m.RopeDim
		e.set.Rope(x[t*stride:t*stride+end-d0], e.cos[at+d0:at+end], e.sin[at+d0:at+end])
	}
}
