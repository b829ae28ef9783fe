package metal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"sync"
	"unsafe"

	"github.com/introgen/introgen/engine/metal/reference"
	"github.com/introgen/introgen/metalshim"
)

// fake is a Metal device that computes every dispatch in float64, one after
// another, when its command buffer is committed. New buffers are full of NaN,
// so that a result which depends on what was never written shows.
type fake struct {
	mu         sync.Mutex
	live       metalshim.Counts
	committed  int
	waited     int // the last of them that was waited for to its end
	ran        map[string]int
	events     []string // libraries and pipelines, in the order of their making
	sources    []metalshim.Source
	fail       func(kernel string) error   // asked before each dispatch runs
	cancelled  context.Context             // nil, or what ends compiles
	longest    int64                       // bytes of a buffer; 0 is no limit
	dispatches []string                    // all that were encoded, with their grids, and the barriers
	wait       func(context.Context) error // nil, or what a command buffer's Wait gives
	lent       int                         // live buffers of memory that is not the device's
	pending    int                         // uses of such that are encoded, not committed and not given up
	early      int                         // such that were released before what was committed was waited for
}

func newFake() *fake { return &fake{ran: map[string]int{}} }

func (f *fake) count(what *int, by int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	*what += by
}

func (f *fake) event(what string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.events = append(f.events, what)
}

func (f *fake) Info() metalshim.Info {
	return metalshim.Info{Driver: "fake", Name: "float64", MaxThreadsPerThreadgroup: 1024, MaxThreadgroupMemory: 32768, MaxBufferLength: cmp.Or(f.longest, 1<<40)}
}
func (f *fake) Live() metalshim.Counts { f.mu.Lock(); defer f.mu.Unlock(); return f.live }
func (f *fake) Close() error           { return nil }

type fakeLibrary struct {
	f   *fake
	src metalshim.Source
}

func (f *fake) NewLibrary(_ context.Context, src metalshim.Source) (metalshim.Library, error) {
	if f.cancelled != nil && f.cancelled.Err() != nil {
		return nil, context.Cause(f.cancelled)
	}
	f.count(&f.live.Libraries, 1)
	f.event("LIB " + src.Name)
	f.mu.Lock()
	f.sources = append(f.sources, src)
	f.mu.Unlock()
	return &fakeLibrary{f, src}, nil
}
func (l *fakeLibrary) Name() string                 { return l.src.Name }
func (l *fakeLibrary) SourceBytes() int             { return len(l.src.Text) }
func (l *fakeLibrary) FunctionNames() []string      { return nil }
func (l *fakeLibrary) Evidence() metalshim.Evidence { return metalshim.Evidence{} }
func (l *fakeLibrary) Release()                     { l.f.count(&l.f.live.Libraries, -1) }

type fakePipeline struct {
	metalshim.Pipeline
	f         *fake
	library   string
	function  string
	constants []metalshim.Constant
}

func (l *fakeLibrary) NewPipeline(_ context.Context, function string, constants []metalshim.Constant) (metalshim.Pipeline, error) {
	l.f.count(&l.f.live.Pipelines, 1)
	l.f.event("PIPE " + l.src.Name + " " + function)
	return &fakePipeline{f: l.f, library: l.src.Name, function: function, constants: constants}, nil
}
func (p *fakePipeline) Name() string                    { return p.function }
func (p *fakePipeline) Library() string                 { return p.library }
func (p *fakePipeline) MaxThreadsPerThreadgroup() int   { return 1024 }
func (p *fakePipeline) Constants() []metalshim.Constant { return p.constants }
func (p *fakePipeline) Evidence() metalshim.Evidence    { return metalshim.Evidence{} }
func (p *fakePipeline) Release()                        { p.f.count(&p.f.live.Pipelines, -1) }

type fakeBuffer struct {
	f    *fake
	mem  []byte
	mode metalshim.StorageMode
	lent bool
}

func (f *fake) NewBuffer(length int, mode metalshim.StorageMode) (metalshim.Buffer, error) {
	mem := make([]byte, length)
	for i := range mem { // a NaN, whatever the alignment
		mem[i] = 0xff
	}
	f.count(&f.live.Buffers, 1)
	return &fakeBuffer{f: f, mem: mem, mode: mode}, nil
}

func (f *fake) NewBufferWithBytes(b []byte) (metalshim.Buffer, error) {
	f.count(&f.live.Buffers, 1)
	return &fakeBuffer{f: f, mem: append([]byte(nil), b...), mode: metalshim.Shared}, nil
}

// NewBufferNoCopy is as strict as Apple's.
func (f *fake) NewBufferNoCopy(b []byte) (metalshim.Buffer, error) {
	page := os.Getpagesize()
	if at := uintptr(unsafe.Pointer(&b[0])); at%uintptr(page) != 0 || len(b)%page != 0 || int64(len(b)) > f.Info().MaxBufferLength {
		return nil, fmt.Errorf("fake: %d bytes at %#x are not whole pages, or too many", len(b), at)
	}
	f.count(&f.live.Buffers, 1)
	f.count(&f.lent, 1)
	return &fakeBuffer{f: f, mem: b, mode: metalshim.Shared, lent: true}, nil
}
func (b *fakeBuffer) Len() int                    { return len(b.mem) }
func (b *fakeBuffer) Mode() metalshim.StorageMode { return b.mode }
func (b *fakeBuffer) Release() {
	b.f.count(&b.f.live.Buffers, -1)
	if b.lent {
		b.f.count(&b.f.lent, -1)
		if b.f.waited < b.f.committed {
			b.f.early++
		}
	}
}
func (b *fakeBuffer) Contents() []byte {
	if b.mode == metalshim.Private {
		return nil
	}
	return b.mem
}

type fakeFence struct {
	f        *fake
	released bool
}

func (f *fake) NewFence() (metalshim.Fence, error) {
	f.count(&f.live.Fences, 1)
	return &fakeFence{f: f}, nil
}

func (x *fakeFence) Release() {
	if x.released {
		panic("a fence is released twice")
	}
	x.released = true
	x.f.count(&x.f.live.Fences, -1)
}

type fakeQueue struct{ f *fake }

func (f *fake) NewQueue() (metalshim.Queue, error) {
	f.count(&f.live.Queues, 1)
	return fakeQueue{f}, nil
}
func (q fakeQueue) Release() { q.f.count(&q.f.live.Queues, -1) }
func (q fakeQueue) NewCommandBuffer() (metalshim.CommandBuffer, error) {
	q.f.count(&q.f.live.CommandBuffers, 1)
	return &fakeCommands{f: q.f}, nil
}

type fakeCommands struct {
	metalshim.CommandBuffer
	f      *fake
	open   bool // an encoder is
	number int  // of its commit, from 1
	lent   int  // uses of buffers of memory that is not the device's
	todo   []func() error
	done   []func(metalshim.CommandBuffer)
	status metalshim.Status
	err    error
}

func (c *fakeCommands) Times() metalshim.Times                      { return metalshim.Times{} }
func (c *fakeCommands) OnCompleted(f func(metalshim.CommandBuffer)) { c.done = append(c.done, f) }
func (c *fakeCommands) Status() metalshim.Status                    { return c.status }
func (c *fakeCommands) Err() error                                  { return c.err }

func (c *fakeCommands) Release() {
	c.f.count(&c.f.live.CommandBuffers, -1)
	if c.number == 0 {
		c.f.pending -= c.lent
	}
}

func (c *fakeCommands) Wait(ctx context.Context) error {
	if c.f.wait != nil {
		if err := c.f.wait(ctx); err != nil {
			return err
		}
	}
	c.f.waited = max(c.f.waited, c.number)
	return c.err
}

func (c *fakeCommands) begin() error {
	if c.open || c.status != metalshim.NotEnqueued {
		return errors.New("fake: an encoder is open, or the command buffer was committed")
	}
	c.open = true
	return nil
}

func (c *fakeCommands) NewEncoder(metalshim.DispatchType) (metalshim.Encoder, error) {
	return &fakeEncoder{c: c, waited: map[metalshim.Fence]bool{}}, c.begin()
}

func (c *fakeCommands) NewBlit() (metalshim.Blit, error) { return fakeBlit{c: c}, c.begin() }

func (c *fakeCommands) Commit() error {
	if c.open || c.status != metalshim.NotEnqueued {
		return errors.New("fake: a commit with an open encoder, or a second one")
	}
	c.f.committed++
	c.f.pending -= c.lent
	c.number, c.status = c.f.committed, metalshim.Completed
	for _, f := range c.todo {
		if c.err = f(); c.err != nil {
			c.status = metalshim.Failed
			break
		}
	}
	for _, f := range c.done {
		f(c)
	}
	return nil
}

type fakeEncoder struct {
	c        *fakeCommands
	pipeline *fakePipeline
	call     reference.Call
	waited   map[metalshim.Fence]bool
}

func (e *fakeEncoder) SetLabel(string)                  {}
func (e *fakeEncoder) SetPipeline(p metalshim.Pipeline) { e.pipeline = p.(*fakePipeline) }
func (e *fakeEncoder) SetBytes(i int, b []byte)         { e.call.Args[i] = append([]byte(nil), b...) }
func (e *fakeEncoder) SetThreadgroupMemory(_, n int)    { e.call.ThreadgroupBytes = n }
func (e *fakeEncoder) UpdateFence(metalshim.Fence)      {}
func (e *fakeEncoder) SetBuffer(i int, b metalshim.Buffer, offset int) {
	e.call.Args[i] = b.(*fakeBuffer).mem[offset:]
	if b.(*fakeBuffer).lent {
		e.c.lent++
		e.c.f.pending++
	}
}

func (e *fakeEncoder) MemoryBarrier(metalshim.BarrierScope) {
	e.c.f.dispatches = append(e.c.f.dispatches, "barrier")
}

func (e *fakeEncoder) WaitForFence(f metalshim.Fence) {
	if e.waited[f] || f.(*fakeFence).released {
		panic("an encoder waits for a fence twice, or for one that was released")
	}
	e.waited[f] = true
}

func (e *fakeEncoder) EndEncoding() error { e.c.open = false; return nil }

func (e *fakeEncoder) DispatchThreadgroups(groups, perGroup metalshim.Size) error {
	return e.dispatch(groups, perGroup, false)
}

func (e *fakeEncoder) DispatchThreads(threads, perGroup metalshim.Size) error {
	return e.dispatch(threads, perGroup, true)
}

func (e *fakeEncoder) dispatch(grid, group metalshim.Size, inThreads bool) error {
	call := e.call
	call.Function, call.Constants = e.pipeline.function, e.pipeline.constants
	call.Grid, call.Group, call.InThreads = grid, group, inThreads
	f := e.c.f
	f.dispatches = append(f.dispatches, fmt.Sprint(call.Function, call.Constants, grid, group, inThreads, call.ThreadgroupBytes))
	e.c.todo = append(e.c.todo, func() error {
		f.ran[call.Function]++
		if f.fail != nil {
			if err := f.fail(call.Function); err != nil {
				return err
			}
		}
		if err := reference.Run(&call); err != nil {
			return fmt.Errorf("fake: dispatch %d of %w", f.ran[call.Function], err)
		}
		return nil
	})
	return nil
}

type fakeBlit struct {
	metalshim.Blit
	c *fakeCommands
}

func (b fakeBlit) SetLabel(string)              {}
func (b fakeBlit) WaitForFence(metalshim.Fence) {}
func (b fakeBlit) UpdateFence(metalshim.Fence)  {}
func (b fakeBlit) EndEncoding() error           { b.c.open = false; return nil }
func (b fakeBlit) Copy(dst metalshim.Buffer, dstOffset int, src metalshim.Buffer, srcOffset, n int) {
	b.c.todo = append(b.c.todo, func() error {
		copy(dst.(*fakeBuffer).mem[dstOffset:dstOffset+n], src.(*fakeBuffer).mem[srcOffset:srcOffset+n])
		return nil
	})
}

func (b fakeBlit) Fill(dst metalshim.Buffer, offset, n int, value byte) {
	b.c.todo = append(b.c.todo, func() error {
		mem := dst.(*fakeBuffer).mem[offset : offset+n]
		for i := range mem {
			mem[i] = value
		}
		return nil
	})
}

// largest is the greatest difference between two lists of the same length.
func largest(a []float32, b []float64) float64 {
	d := 0.0
	for i, v := range a {
		d = math.Max(d, math.Abs(float64(v)-b[i]))
	}
	return d
}
