package cpu

import (
	"sync/atomic"

	"github.com/introgen/introgen/engine/cpu/kernel"
)

// Attention reads each key and value once for all queries that share it: those of the
// heads of a group, and of the tokens of a unit. Of one token there are few queries,
// and few heads of keys: then a unit is one of several parts of the positions that
// all queries of a group look at, and who is ready last adds the parts up, so that no
// other stage has to wait for it.

const (
	// attendRows is the most queries of a unit of several tokens: their sums stay
	// in the second-level cache beside the keys and values of a span.
	attendRows = 64
	// attendShares is how many units of attention a thread has at least, where there are
	// tokens enough: later tokens look at more positions than earlier ones.
	attendShares = 4
	// partPositions is how many positions a part of one token's has at least: to add
	// two parts up costs about as much as to look at ten positions.
	partPositions = 64
)

// group is how many heads of queries share a head of keys.
func (b *block) group() int { return b.Heads / b.KVHeads }

// attendTokens is how many tokens a unit of attention has, of several.
func (e *Engine) attendTokens(b *block, tokens int) int {
	return max(1, min(attendRows/b.group(), tokens*b.KVHeads/(attendShares*e.opt.Threads)))
}

// attendParts is how many units of attention a head of keys has for one token.
func (e *Engine) attendParts(b *block) int {
	return max(b.group(), ceil(e.opt.Threads, b.KVHeads))
}

// attendUnits is the units of attention of so many tokens.
func (e *Engine) attendUnits(b *block, tokens int) int {
	if tokens == 1 {
		return b.KVHeads * e.attendParts(b)
	}
	return b.KVHeads * ceil(tokens, e.attendTokens(b, tokens))
}

// newAttention makes room for the attention of passes of up to n tokens.
func (e *Engine) newAttention(n int) {
	rows, parts, group := 0, 0, 0
	for i := range e.blocks {
		b := &e.blocks[i]
		rows = max(rows, b.group()*min(n, max(1, attendRows/b.group())))
		parts, group = max(parts, e.attendUnits(b, 1)), max(group, b.group())
	}
	for i := range e.threads {
		e.threads[i].attention = kernel.NewAttention(floats, rows, e.m.HeadDim)
	}
	e.parts = make([]*kernel.Attention, parts)
	for i := range e.parts {
		e.parts[i] = kernel.NewAttention(floats, group, e.m.HeadDim)
	}
	e.partsDone = make([]atomic.Int32, e.m.KVHeads)
}

// doAttend does a unit of attention.
func (e *Engine) doAttend(th *thread, s stage, u int) {
	b := &e.blocks[s.layer]
	if s.tokens == 1 {
		e.attendPart(s, u)
		return
	}
	size := e.attendTokens(b, s.tokens)
	units := ceil(s.tokens, size)
	h, t0 := u/units, u%units*size
	t1 := min(t0+size, s.tokens)
	g := b.group()
	e.attendTo(th.attention, s, h, t0, t1)
	from, _ := b.reach(e.pos + s.first + t0)
	_, to := b.reach(e.pos + s.first + t1 - 1)
	e.attendOver(th.attention, s.layer, h, from, to)
	for t := t0; t < t1; t++ {
		for i := range g {
			e.attended(th.attention, (t-t0)*g+i, s, t, h*g+i)
		}
	}
}

// attendPart does unit u of one token. Where few positions are looked at there are fewer parts
// than units, and a unit without one has nothing to do.
func (e *Engine) attendPart(s stage, u int) {
	b := &e.blocks[s.layer]
	from, to := b.reach(e.pos + s.first)
	first := from / kernel.CacheTile
	tiles := ceil(to, kernel.CacheTile) - first
	units := e.attendParts(b)
	n := max(1, min(units, tiles*kernel.CacheTile/partPositions))
	h, i := u/units, u%units*n/units
	if u%units > 0 && (u%units-1)*n/units == i {
		return
	}
	a, g := e.parts[h*units+i], b.group()
	e.attendTo(a, s, h, 0, 1)
	e.attendOver(a, s.layer, h, max(from, (first+tiles*i/n)*kernel.CacheTile), min(to, (first+tiles*(i+1)/n)*kernel.CacheTile))
	if e.partsDone[h].Add(1) < int32(n) {
		return
	}
	e.partsDone[h].Store(0)
	all := e.parts[h*units : h*units+n]
	for _, p := range all[1:] {
		all[0].Add(p)
	}
	for i := range g {
		e.attended(all[0], i, s, 0, h*g+i)
	}
}

// attendTo begins the attention a of tokens t0 to t1-1, of the heads that share key head h.
func (e *Engine) attendTo(a *kernel.Attention, s stage, h, t0, t1 int) {
	b, dim := &e.blocks[s.layer], e.m.HeadDim
	a.Reset((t1 - t0) * b.group())
	row := 0
	for t := t0; t < t1; t++ {
		first, last := b.reach(e.pos + s.first + t)
		for i := range b.group() {
			q := e.queries[((s.first+t)*b.Heads+h*b.group()+i)*dim:][:dim]
			a.Query(row, q, e.m.AttnScale, first, last)
			row++
		}
	}
}

// attendOver adds positions from to to-1 of a head to a.
func (e *Engine) attendOver(a *kernel.Attention, layer, head, from, to int) {
	a.Over(e.set, e.tiles(e.k, layer, head, 0), e.tiles(e.v, layer, head, 0), from, to)
}

// attended writes what query row of a came to, head h of token t of the stage.
func (e *Engine) attended(a *kernel.Attention, row int, s stage, t, h int) {
	b, dim := &e.blocks[s.layer], e.m.HeadDim
	att := b.att.of(s.tokens)
	out := att.floats[(t*b.Heads+h)*dim:][:dim]
	a.Result(row, out)
	if att.panel != nil && dim%kernel.Block == 0 {
		e.set.Quantize(att.panel, t, h*dim/kernel.Block, out)
	}
}

// reach returns the positions from to to-1 that attention at a position looks at.
func (b *block) reach(pos int) (from, to int) {
	if b.Window > 0 {
		from = max(0, pos+1-b.Window)
	}
	return from, pos + 1
}
