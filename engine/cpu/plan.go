package cpu

import (
	"math"

	"github.com/introgen/introgen/engine/cpu/kernel"
	"github.com/introgen/introgen/engine/cpu/threads"
)

// kind is what a stage does.
type kind uint8

const (
	normAttn kind = iota // norm before attention; a unit is a token
	qkv                  // queries into a buffer, keys and values into the cache; a unit is a piece of a head
	attend               // a unit is a key head of some tokens, or a part of its positions (see attend.go)
	quantAtt             // attention's output to 16 bits, where a head is not whole blocks; a unit is a token
	project              // attention's output projection, added to the residual; a unit is unitRows rows
	normFFN              // norm before the feed-forward; a unit is a token
	gateUp               // gate, up and SwiGLU; a unit is unitRows rows of both
	down                 // added to the residual; a unit is unitRows rows
	head                 // output norm and logits; a unit is headRows rows
	packing              // weights to tile order; a unit is a packJob
)

const (
	// unitRows is the rows of a unit: a block of the activations that come out.
	unitRows = kernel.Block
	// runRows is the most rows of gate and up that a thread does in one go: a long
	// run through each matrix, and of one token few enough values that they stay
	// in the first-level cache until they are joined.
	runRows = 2048
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

	// post is the norm of the sum that the stage adds to the residual stream before
	// it norms that; nil where none waits. stream is which of two buffers a stage of
	// one token finds the residual stream in (see settle.go).
	post   []float32
	stream int
}

// pass is the stages for some number of tokens.
type pass struct {
	stages []stage
	plan   *threads.Stages
	ahead  [][][]byte // for each stage and thread: what to prefetch while it waits

	places     []places    // of each stage's operations, where somebody observes; of so many
	count      int         // operations
	operations []Operation // of the last such pass
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
	var waits waiting
	add := func(k kind, layer, first, n int) {
		s := stage{kind: k, layer: layer, first: first, tokens: n}
		waits.pass(&s, e)
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
	for i := range p.stages {
		ahead := make([][]byte, e.opt.Threads)
		for tid := range ahead {
			ahead[tid] = e.nextWeights(p.stages[i+1:], tid)
		}
		p.ahead = append(p.ahead, ahead)
	}
	p.plan = threads.NewStages(units, p)
	if e.opt.Observer != nil {
		p.place()
	}
	e.passes[l][tokens-1] = p
	return p
}

// units returns the number of units of a stage.
func (e *Engine) units(s stage) int {
	switch s.kind {
	case normAttn, normFFN, quantAtt:
		return s.tokens
	case qkv:
		b := &e.blocks[s.layer]
		return (b.Heads + 2*b.KVHeads) * e.pieces()
	case attend:
		return e.attendUnits(&e.blocks[s.layer], s.tokens)
	case gateUp:
		return ceil(e.blocks[s.layer].FFN, unitRows)
	case head:
		return ceil(e.m.Vocab, headRows)
	}
	return ceil(e.m.Hidden, unitRows)
}

// gateUpRows returns how many rows of gate and up a thread does in one go: a
// unit of several tokens, and of one as many units as make runRows.
func (e *Engine) gateUpRows(tokens int) int {
	if tokens > 1 {
		return unitRows
	}
	return min(runRows, ceil(e.m.FFN, unitRows)*unitRows)
}

// nextWeights returns the first bytes of the weights that thread tid will read
// in the first of stages that reads any.
func (e *Engine) nextWeights(stages []stage, tid int) []byte {
	for _, s := range stages {
		u := e.units(s) * tid / e.opt.Threads
		var w *matrix
		row := u * unitRows
		switch s.kind {
		default:
			continue
		case qkv:
			w, _, row = e.piece(s.layer, u)
		case project:
			w = &e.blocks[s.layer].o
		case gateUp:
			w = &e.blocks[s.layer].gate
		case down:
			w = &e.blocks[s.layer].down
		case head:
			w, row = &e.output, u*headRows
		}
		return w.lines(row)
	}
	return nil
}

// prepare sets up the pass of ids at position pos: its plan, the embeddings and
// the rotations.
func (e *Engine) prepare(ids []int32, pos int, logits bool) error {
	e.cur, e.pos = e.passOf(len(ids), logits), pos
	e.serial++
	if n := len(ids); n > 1 {
		e.xn.shape(n, e.m.Hidden)
		for _, a := range e.rooms {
			a.many.shape(n, a.cols)
		}
	}
	for _, r := range e.rotations {
		r.turnTo(len(ids), pos, e.m.Architecture.Rotation)
	}
	if e.opt.Observer != nil {
		e.observe()
		start := e.opt.Observer.Now()
		defer func() { e.threads[0].watch.add(embedding, start, e.opt.Observer.Now()) }()
	}
	return guard(func() error {
		emb := matrix{Matrix: &e.m.Embedding}
		for t, id := range ids {
			x := e.x[t*e.m.Hidden : (t+1)*e.m.Hidden]
			copy(x, emb.floatRow(x, int(id)))
			if e.m.Architecture.ScaledEmbedding {
				scale := float32(math.Sqrt(float64(e.m.Hidden)))
				for i := range x {
					x[i] *= scale
				}
			}
		}
		return nil
	})
}

// ceil returns a/b, rounded up.
func ceil(a, b int) int { return (a + b - 1) / b }
