package cpu

import "github.com/introgen/introgen/engine/cpu/kernel"

// doAttend does one head of one token.
func (e *Engine) doAttend(th *thread, s stage, u int) {
	m := e.m
	b := &e.blocks[s.layer]
	t, h := u/b.Heads, u%b.Heads
	width := b.Heads * m.HeadDim
	from, to := b.reach(e.pos + s.first + t)
	n := to - from
	at := e.at(s.layer, h/(b.Heads/b.KVHeads), from)
	q := e.queries[(s.first+t)*width+h*m.HeadDim:][:m.HeadDim]
	att := b.att.of(s.tokens)
	out := att.floats[t*width+h*m.HeadDim:][:m.HeadDim]
	e.set.Attend(out, q, e.k[at:at+n*m.HeadDim], e.v[at:at+n*m.HeadDim], th.scores[:n], m.AttnScale)
	if att.panel != nil && m.HeadDim%kernel.Block == 0 {
		e.set.Quantize(att.panel, t, h*m.HeadDim/kernel.Block, out)
	}
}

// reach returns the positions from to to-1 that attention at a position looks at.
func (b *block) reach(pos int) (from, to int) {
	if b.Window > 0 {
		from = max(0, pos+1-b.Window)
	}
	return from, pos + 1
}
