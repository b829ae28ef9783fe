package cpu

import (
	"errors"
	"maps"
	"slices"

	"github.com/introgen/introgen/engine/cpu/kernel"
	"github.com/introgen/introgen/engine/cpu/pages"
	"github.com/introgen/introgen/engine/gguf"
	"github.com/introgen/introgen/system/machine"
)

// thread is what a thread has for itself.
type thread struct {
	scratch
	x         []float32     // the residual stream of one token, where a sum waits to be added to it
	xn        vectors       // the norm of one token
	stamp     stamp         // which norm xn is
	gate, up  []float32     // gateUpRows for each token
	kv        []float32     // keys or values before they are cached: of all heads of one token, or of one head of several
	cached    *kernel.Panel // a key or a value as the cache has it
	padded    []float32     // one whose blocks are not whole
	attention *kernel.Attention
	watch     *watch    // nil where nobody observes
	_         [128]byte // keep threads off each other's cache lines
}

// stamp names a stage of a pass.
type stamp struct {
	pass  uint64
	stage int
}

// Where buffers come from. Tests put memory here that ends at a page which is
// not mapped, so that a buffer too small for its use is found at the first
// value behind it.
var (
	floats    = kernel.Aligned
	reserve   = pages.Reserve
	available = machine.AvailableMemory
)

// smallBytes is so little memory that the system is not asked for how much there is:
// the answer takes a tenth of a millisecond or more, a good part of what it takes to build a small model.
var smallBytes = 64 << 20

// tooMuch returns how much memory there is where that is less than n bytes, as far
// as the system tells. To touch more than there is would end the process without
// a word.
func tooMuch(n int) (there int64, yes bool) {
	if n <= smallBytes {
		return 0, false
	}
	there, ok := available()
	return there, ok && int64(n) > there
}

// allocate makes the cache and the buffers of a pass. How much of
// a stage is done at once is asked of the plan (gateUpRows), not known here a second time,
// and every kernel checks what it is given: so that a buffer that is too small
// ends a pass with an error.
func (e *Engine) allocate() error {
	m := e.m
	if err := e.newCache(); err != nil {
		return err
	}

	// Every matrix of a kind, since types may differ between layers.
	var in []*matrix
	widths, ffns := map[int][]*matrix{}, map[int][]*matrix{}
	for i := range e.blocks {
		b := &e.blocks[i]
		in = append(in, &b.q, &b.k, &b.v, &b.gate, &b.up)
		widths[b.o.Cols], ffns[b.FFN] = append(widths[b.o.Cols], &b.o), append(ffns[b.FFN], &b.down)
	}
	in = append(in, &e.output)
	slowest, tileBytes := 0, 0 // the longest slow row, and the largest tile
	for _, w := range e.matrices() {
		if w.slow() {
			slowest = max(slowest, w.Cols)
		}
		if w.fast > 0 {
			tileBytes = max(tileBytes, kernel.TileRows*w.format.TileBytes(w.Cols))
		}
	}
	n := min(chunk, e.opt.Context)
	e.x = floats(n * m.Hidden)
	e.xn = newVectors(n, m.Hidden, in...)
	e.queries = floats(n * m.Heads * m.HeadDim)
	att, hidden := newRooms(n, widths), newRooms(n, ffns)
	for i := range e.blocks {
		b := &e.blocks[i]
		b.att, b.h = att[b.o.Cols], hidden[b.FFN]
	}
	e.rooms = slices.AppendSeq(slices.Collect(maps.Values(att)), maps.Values(hidden))
	e.newRotations(n)
	if m.Architecture.PostNorms {
		e.added, e.spare = floats(n*m.Hidden), floats(m.Hidden)
	}
	e.logits = floats(m.Vocab)
	e.tops = make([]top, e.units(stage{kind: head}))
	e.threads = make([]thread, e.opt.Threads)
	headBlocks := ceil(m.HeadDim, kernel.Block)
	gateUp := max(e.gateUpRows(1), n*e.gateUpRows(n))
	for i := range e.threads {
		e.threads[i] = thread{
			scratch: scratch{sums: floats(n * kernel.TileRows), tile: bytesOf(floats((tileBytes + 3) / 4)), row: floats(slowest)},
			xn:      newVectors(1, m.Hidden, in...),
			gate:    floats(gateUp), up: floats(gateUp),
			kv:     floats(max(m.KVHeads, n) * m.HeadDim),
			cached: kernel.NewPanel(floats, 1, headBlocks*kernel.Block),
			padded: floats(headBlocks * kernel.Block),
		}
		if m.Architecture.PostNorms {
			e.threads[i].x = floats(m.Hidden)
		}
		if e.opt.Observer != nil {
			e.threads[i].watch = &watch{}
		}
	}
	e.newAttention(n)
	return nil
}

// guard runs f, which does a part of a pass. A fault in the mapped file comes
// back as an error, and so does a buffer that is too small for a kernel.
func guard(f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			cause, _ := r.(error)
			var size *kernel.SizeError
			if !errors.As(cause, &size) {
				panic(r)
			}
			err = size
		}
	}()
	return gguf.Fault(f)
}
