package cpu

import (
	"math"

	"github.com/introgen/introgen/engine/cpu/kernel"
	"github.com/introgen/introgen/engine/cpu/team"
	"github.com/introgen/introgen/engine/gguf"
)

// kind is what a stage does.
type kind uint8

const (
	normAttn kind = iota // norm before attention; a unit is a token
	qkv                  // queries into a buffer, keys and values into the cache; a unit is a piece of a head
	attend               // a unit is a head of a token
	quantAtt             // attention's output to 16 bits, where a head is not whole blocks; a unit is a token
	project              // attention's output projection, added to the residual; a unit is unitRows rows
	normFFN              // norm before the feed-forward; a unit is a token
	gateUp               // gate, up and SwiGLU; a unit is unitRows rows of both
	down                 // added to the residual; a unit is unitRows rows
	head                 // output norm and logits; a unit is headRows rows
)

const (
	// unitRows is the rows of a unit: a block of the activations that come out.
	unitRows = kernel.Block
	// headRows is the rows of a unit of the output, which is long.
	headRows = 256
)

// stage is a stage of a pass. first and tokens are which of the pass's tokens
// it is done for: in the last layer, only the last one matters once the keys
// and values are in the cache.
type stage struct {
	kind          kind
	layer         int
	first, tokens int
}

// pass is the stages for some number of tokens.
type pass struct {
	stages []stage
	plan   *team.Plan
}

// passOf returns the pass for tokens tokens, with logits of the last one or
// without. With one token, each thread computes the norm for itself: that takes
// less time than waiting for it.
func (e *Engine) passOf(tokens int, logits bool) *pass {
	l := 0
	if logits {
		l = 1
	}
	if p := e.passes[l][tokens-1]; p != nil {
		return p
	}
	p := &pass{}
	var units []int
	add := func(k kind, layer, first, n int) {
		s := stage{k, layer, first, n}
		p.stages = append(p.stages, s)
		units = append(units, e.units(s))
	}
	first, n := 0, tokens
	for l := range e.blocks {
		if n > 1 {
			add(normAttn, l, first, n)
		}
		add(qkv, l, first, n)
		if l == len(e.blocks)-1 {
			if !logits {
				break
			}
			first, n = tokens-1, 1
		}
		add(attend, l, first, n)
		if e.m.HeadDim%kernel.Block != 0 && e.blocks[l].o.fast > 0 {
			add(quantAtt, l, first, n)
		}
		add(project, l, first, n)
		if n > 1 {
			add(normFFN, l, first, n)
		}
		add(gateUp, l, first, n)
		add(down, l, first, n)
	}
	if logits {
		add(head, len(e.blocks), first, n)
	}
	p.plan = team.NewPlan(units)
	e.passes[l][tokens-1] = p
	return p
}

// units returns the number of units of a stage.
func (e *Engine) units(s stage) int {
	switch s.kind {
	case normAttn, normFFN, quantAtt:
		return s.tokens
	case qkv:
		return (e.m.Heads + 2*e.m.KVHeads) * e.pieces()
	case attend:
		return s.tokens * e.m.Heads
	case gateUp:
		return ceil(e.m.FFN, unitRows)
	case head:
		return ceil(e.m.Vocab, headRows)
	}
	return ceil(e.m.Hidden, unitRows)
}

// pieces returns into how many units a head's rows are divided.
func (e *Engine) pieces() int {
	if e.m.HeadDim%unitRows == 0 {
		return e.m.HeadDim / unitRows
	}
	return 1
}

// prepare sets up the pass of ids at position pos: its plan, the embeddings and
// the rotations.
func (e *Engine) prepare(ids []int32, pos int, logits bool) error {
	e.cur, e.pos = e.passOf(len(ids), logits), pos
	e.serial++
	if n := len(ids); n > 1 {
		e.xn.shape(n, e.m.Hidden)
		e.att.many.shape(n, e.m.Heads*e.m.HeadDim)
		e.h.many.shape(n, e.m.FFN)
	}
	for t := range ids {
		for i, f := range e.freqs {
			s, c := math.Sincos(float64(pos+t) * f)
			at := t*e.m.RopeDim + 2*i
			e.cos[at], e.cos[at+1] = float32(c), float32(c)
			e.sin[at], e.sin[at+1] = float32(-s), float32(s)
		}
	}
	return gguf.Fault(func() error {
		emb := matrix{Matrix: &e.m.Embedding}
		for t, id := range ids {
			x := e.x[t*e.m.Hidden : (t+1)*e.m.Hidden]
			copy(x, emb.floatRow(x, int(id)))
		}
		return nil
	})
}

// ceil returns a/b, rounded up.
func ceil(a, b int) int { return (a + b - 1) / b }
