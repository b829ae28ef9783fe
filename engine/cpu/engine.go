// Package cpu runs a model on the processor, of any architecture that package transformer
// describes.
//
// A forward pass is a list of stages (see plan.go), each of them spread over a
// team of threads. Weights are read where the file is mapped, or from a packed
// copy; activations are floats, and 16-bit blocks where they meet quantized
// weights (see package kernel).
package cpu

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sync/atomic"

	"github.com/introgen/introgen/engine"
	"github.com/introgen/introgen/engine/cpu/kernel"
	"github.com/introgen/introgen/engine/cpu/pages"
	"github.com/introgen/introgen/engine/cpu/threads"
	"github.com/introgen/introgen/engine/quant"
	"github.com/introgen/introgen/engine/transformer"
)

// chunk is the most tokens that go through a pass together.
const chunk = 64

// block is the matrices of one layer, and what it shares with layers of its sizes.
type block struct {
	*transformer.Block
	q, k, v, o, gate, up, down matrix

	cached   int          // key and value heads of the layers before it
	att      *activations // attention's output, Heads x HeadDim
	h        *activations // inside the feed-forward, FFN
	rotation *rotation
}

// Engine is a model ready to run; it implements engine.Model.
type Engine struct {
	m      *transformer.Model
	set    *kernel.Set
	opt    Options
	asked  bool // opt.Context is what the caller asked for
	desc   Description
	team   *threads.Team
	packed *pages.Memory // the tiles of all packed matrices
	jobs   []packJob     // while they are packed

	blocks []block
	output matrix
	gate   func(dst, gate, up []float32) // the kernel of the architecture's activation
	whole  bool                          // the values of a head meet before attention: one unit has to own it

	keys, values *pages.Memory // the cache
	k, v         []byte        // of it: [layer][KV head][tile of positions]
	passed       int           // positions that the cache holds

	// Of the pass under way; tokens by rows.
	cur     *pass
	serial  uint64 // number of the pass
	pos     int
	x       []float32 // residual stream, Hidden
	xn      vectors   // its norm, Hidden, for several tokens
	queries []float32 // Heads x HeadDim
	logits  []float32 // Vocab
	tops    []top     // of the units of the output
	ready   bool      // logits are those of the last Step

	// Where the architecture norms what it adds to the residual stream (see settle.go).
	added []float32 // what attention or the feed-forward adds, before its norm, Hidden
	spare []float32 // the residual stream of one token, by turns with x

	parts     []*kernel.Attention // of one token (see attend.go): [KV head][part]
	partsDone []atomic.Int32      // of each KV head

	// Of all layers, those of the same sizes together.
	rooms     []*activations // att and h of the blocks
	rotations []*rotation

	passes  [2][chunk]*pass // by whether logits are wanted, and tokens-1
	threads []thread
}

// top is the largest logit of a unit.
type top struct {
	value  float32
	finite bool
}

// New makes an engine of m, whose file must stay open until Close. Errors name
// the option that is wrong and what is allowed.
func New(m *transformer.Model, o Options) (_ *Engine, err error) {
	asked := o.Context > 0
	set, err := o.settle(m)
	if err != nil {
		return nil, fmt.Errorf("cpu: %w", err)
	}
	e := &Engine{m: m, set: set, opt: o, asked: asked, output: newMatrix(&m.Output, set), gate: set.SwiGLU}
	if m.Architecture.Activation == transformer.GELU {
		e.gate = set.GeGLU
	}
	e.whole = m.Architecture.HeadNorms || m.Architecture.Rotation == transformer.Halves
	cached := 0
	for i := range m.Blocks {
		b := &m.Blocks[i]
		e.blocks = append(e.blocks, block{
			Block: b,
			q:     newMatrix(&b.Q, set), k: newMatrix(&b.K, set), v: newMatrix(&b.V, set), o: newMatrix(&b.O, set),
			gate: newMatrix(&b.Gate, set), up: newMatrix(&b.Up, set), down: newMatrix(&b.Down, set),
			cached: cached,
		})
		cached += b.KVHeads
		if m.HeadDim%kernel.TileRows != 0 { // heads would share tiles
			e.blocks[i].q.fast, e.blocks[i].k.fast, e.blocks[i].v.fast = 0, 0, 0
		}
	}
	defer func() {
		if err != nil {
			e.Close()
		}
	}()
	if err := e.allocate(); err != nil {
		return nil, fmt.Errorf("cpu: %w", err)
	}
	body := threads.Body(e)
	if o.Observer != nil {
		body = watched{e}
	}
	e.team = threads.New(o.Threads, body, guard)
	e.desc = Description{Set: set.Name, Threads: o.Threads, Context: o.Context, Slow: e.slowTypes()}
	if err := e.maybePack(); err != nil {
		return nil, fmt.Errorf("cpu: %w", err)
	}
	return e, nil
}

// slowTypes counts the matrices without fast kernels by type.
func (e *Engine) slowTypes() []string {
	count := map[quant.Type]int{}
	for _, w := range e.matrices() {
		if w.slow() {
			count[w.Type]++
		}
	}
	var names []string
	for t, n := range count {
		names = append(names, fmt.Sprintf("%v (%d)", t, n))
	}
	slices.Sort(names)
	return names
}

// matrices returns all matrices, each once.
func (e *Engine) matrices() []*matrix {
	var all []*matrix
	for i := range e.blocks {
		b := &e.blocks[i]
		all = append(all, &b.q, &b.k, &b.v, &b.o, &b.gate, &b.up, &b.down)
	}
	return append(all, &e.output)
}

// Describe says what the engine chose.
func (e *Engine) Describe() Description { return e.desc }

// Context returns the number of positions.
func (e *Engine) Context() int { return e.opt.Context }

// ContextLimit implements engine.Bounded.
func (e *Engine) ContextLimit() string {
	return contextLimit(e.m.Architecture.Name, e.opt.Context, e.m.Context, e.asked)
}

// Step implements engine.Model.
func (e *Engine) Step(ids []int32, pos int) (int32, error) {
	e.ready = false
	if err := e.check(ids, pos); err != nil {
		return 0, fmt.Errorf("cpu: %w", err)
	}
	if err := e.forward(ids, pos); err != nil {
		return 0, fmt.Errorf("cpu: %w", err)
	}
	next, finite := e.greedy()
	if !finite {
		if err := e.findNonFinite(ids, pos); err != nil {
			return 0, err
		}
		// Another pass met none.
		return 0, &engine.NonFiniteError{Layer: -1, Where: "output", Value: float32(math.NaN())}
	}
	e.ready = true
	return next, nil
}

// check refuses ids and positions that a pass could not stand.
func (e *Engine) check(ids []int32, pos int) error {
	switch {
	case len(ids) == 0:
		return fmt.Errorf("no tokens to pass; a step takes at least one")
	case pos < 0 || pos > e.passed:
		return fmt.Errorf("position %d; the cache holds %d positions, and a step continues them or begins at 0", pos, e.passed)
	case len(ids) > e.opt.Context-pos:
		return fmt.Errorf("%d tokens at position %d exceed the context of %d positions: %s", len(ids), pos, e.opt.Context, e.ContextLimit())
	}
	for i, id := range ids {
		if id < 0 || int(id) >= e.m.Vocab {
			return fmt.Errorf("token %d (number %d of the step) is outside of the vocabulary of %d", id, i, e.m.Vocab)
		}
	}
	return nil
}

// forward passes all ids, in chunks of equal size.
func (e *Engine) forward(ids []int32, pos int) error {
	e.passed = min(e.passed, pos)
	for n := ceil(len(ids), chunk); n > 0; n-- {
		if e.opt.Cancelled != nil {
			if err := e.opt.Cancelled(); err != nil {
				return err
			}
		}
		size := ceil(len(ids), n)
		if err := e.prepare(ids[:size], pos, n == 1); err != nil {
			return err
		}
		if err := e.team.Run(e.cur.plan); err != nil {
			return err
		}
		if e.opt.Observer != nil {
			e.observed(size)
		}
		ids, pos = ids[size:], pos+size
		e.passed = pos
	}
	return nil
}

// greedy returns the smallest index among the largest logits, and whether all
// logits are finite.
func (e *Engine) greedy() (next int32, finite bool) {
	best := 0
	for u, t := range e.tops {
		if !t.finite {
			return 0, false
		}
		if t.value > e.tops[best].value {
			best = u
		}
	}
	i := best * headRows
	for e.logits[i] != e.tops[best].value {
		i++
	}
	return int32(i), true
}

// Logits implements engine.Model.
func (e *Engine) Logits() ([]float32, error) {
	if !e.ready {
		return nil, fmt.Errorf("cpu: there are no logits before a step succeeds")
	}
	return e.logits, nil
}

// Close ends the threads and frees the memory.
func (e *Engine) Close() error {
	if e.team != nil {
		e.team.Close()
		e.team = nil
	}
	e.ready = false
	return errors.Join(e.keys.Free(), e.values.Free(), e.packed.Free())
}

var _ engine.Model = (*Engine)(nil)
