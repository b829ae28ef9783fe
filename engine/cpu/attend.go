package cpu

import (
	"math"

	"github.com/introgen/introgen/engine/cpu/kernel"
)

// doAttend does one head of one token.
func (e *Engine) doAttend(th *thread, s stage, u int) {
	m := e.m
	t, h := u/m.Heads, u%m.Heads
	width := m.Heads * m.HeadDim
	n := e.pos + s.first + t + 1
	from := e.at(s.layer, h/(m.Heads/m.KVHeads), 0)
	q := e.queries[(s.first+t)*width+h*m.HeadDim:][:m.HeadDim]
	att := e.att.of(s.tokens)
	out := att.floats[t*width+h*m.HeadDim:][:m.HeadDim]
	scale := float32(1 / math.Sqrt(float64(m.HeadDim)))
	e.set.Attend(out, q, e.k[from:from+n*m.HeadDim], e.v[from:from+n*m.HeadDim], th.scores[:n], scale)
	if att.panel != nil && m.HeadDim%kernel.Block == 0 {
		e.set.Quantize(att.panel, t, h*m.HeadDim/kernel.Block, out)
	}
}
