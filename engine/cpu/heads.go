package cpu

import (
	"math"
	"slices"

	"github.com/introgen/introgen/engine/transformer"
)

// rotation is how the heads of some layers are turned, and the angles of the pass under
// way in the form that the kernels take: for each token RopeDim values where
// neighbours turn together, and half as many where halves do.
type rotation struct {
	transformer.Rotary
	cos, sin []float32
}

// newRotations makes the tables of n tokens, one for all layers that turn alike.
func (e *Engine) newRotations(n int) {
	for i := range e.blocks {
		r := e.m.Rotary(i, e.opt.Positions)
		at := slices.IndexFunc(e.rotations, func(o *rotation) bool {
			return o.Scale == r.Scale && slices.Equal(o.Frequencies, r.Frequencies)
		})
		if at < 0 {
			at = len(e.rotations)
			e.rotations = append(e.rotations, &rotation{r, floats(n * e.angles()), floats(n * e.angles())})
		}
		e.blocks[i].rotation = e.rotations[at]
	}
}

// angles is how many cosines of a table a token has.
func (e *Engine) angles() int {
	if e.m.Architecture.Rotation == transformer.Halves {
		return e.m.RopeDim / 2
	}
	return e.m.RopeDim
}

// turnTo computes the tables of so many tokens from position pos on.
func (r *rotation) turnTo(tokens, pos int, arrangement transformer.Rotation) {
	i := 0
	for t := range tokens {
		for _, f := range r.Frequencies {
			s, c := math.Sincos(float64(pos+t) * f)
			sin, cos := float32(s*r.Scale), float32(c*r.Scale)
			if arrangement == transformer.Halves {
				r.cos[i], r.sin[i] = cos, sin
				i++
			} else {
				r.cos[i], r.cos[i+1], r.sin[i], r.sin[i+1] = cos, cos, -sin, sin
				i += 2
			}
		}
	}
}

// pieces returns into how many units a head's rows are divided.
func (e *Engine) pieces() int {
	if !e.whole && e.m.HeadDim%unitRows == 0 {
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
	case h < b.Heads:
		w = &b.q
	case h < b.Heads+b.KVHeads:
		w, h = &b.k, h-b.Heads
	default:
		w, h = &b.v, h-b.Heads-b.KVHeads
	}
	return w, h, h*m.HeadDim + d0
}

// doQKV does unit u, and those after it and before hi that belong to the same
// head, or for one token to the same matrix, and returns how many it did.
func (e *Engine) doQKV(th *thread, s stage, in *vectors, u, hi int) int {
	m, b, per := e.m, &e.blocks[s.layer], e.pieces()
	size := m.HeadDim / per
	w, _, r0 := e.piece(s.layer, u)
	n := min(hi-u, per-u%per)
	if s.tokens == 1 {
		n = min(hi-u, (w.Rows-r0)/size)
	}
	rows := n * size
	stride := m.HeadDim
	var bias, norm, dst []float32
	switch w {
	case &b.q:
		bias, norm, stride = b.QB, b.QNorm, b.Heads*m.HeadDim
		dst = e.queries[s.first*stride+r0:]
	case &b.k:
		bias, norm, dst = b.KB, b.KNorm, th.kv
	default:
		bias, dst = b.VB, th.kv
	}
	w.multiply(e.set, &th.scratch, dst, stride, r0, rows, in, s.tokens, false)
	if bias != nil {
		addBias(dst, stride, bias[r0:r0+rows], s.tokens)
	}
	for r := r0; r < r0+rows; { // head by head
		h, d0 := r/m.HeadDim, r%m.HeadDim
		k := min(m.HeadDim-d0, r0+rows-r)
		x := dst[r-r0:]
		if norm != nil {
			e.normHead(x, stride, norm, s.tokens)
		}
		if w != &b.v {
			e.rotate(b.rotation, x, stride, d0, min(m.RopeDim, d0+k), s)
		}
		if w != &b.q {
			for t := range s.tokens {
				e.cache(th, w == &b.k, s.layer, h, e.pos+s.first+t, d0, x[t*stride:][:k])
			}
		}
		r += k
	}
	return n
}

// normHead norms a whole head of each token.
func (e *Engine) normHead(x []float32, stride int, w []float32, tokens int) {
	for t := range tokens {
		y := x[t*stride:][:e.m.HeadDim]
		e.set.RMSNorm(y, y, w, e.m.RMSEps)
	}
}

// rotate turns the values d0 to end-1 of a head of each token; where halves turn
// together these are the whole of what is turned.
func (e *Engine) rotate(r *rotation, x []float32, stride, d0, end int, s stage) {
	if d0 >= end {
		return
	}
	turn, n := e.set.Rope, e.angles()
	from, to := d0, end
	if e.m.Architecture.Rotation == transformer.Halves {
		turn, from, to = e.set.RopeHalves, 0, n
	}
	for t := range s.tokens {
		at := (s.first + t) * n
		turn(x[t*stride:t*stride+end-d0], r.cos[at+from:at+to], r.sin[at+from:at+to])
	}
}
