// Package shimtest is a Metal device for tests of what wraps or drives a
// device: it keeps the rules of the API, runs nothing, and counts.
package shimtest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/introgen/introgen/metalshim"
	"github.com/introgen/introgen/trace/names"
)

// Device is the device. Kernels of every name exist and do nothing.
type Device struct {
	// Took is how long each command buffer pretends to run.
	Took time.Duration
	// Commands is what each command buffer says of its commands; nil: it cannot tell.
	Commands []metalshim.CommandTime

	live    metalshim.Tally
	mu      sync.Mutex
	sources []metalshim.Source
}

// nothing frees an object that is Go's.
func nothing() {}

// Sources are the sources that were compiled, in order.
func (d *Device) Sources() []metalshim.Source {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.sources)
}

// Info describes it.
func (d *Device) Info() metalshim.Info {
	return metalshim.Info{Driver: "test", Name: "test", MaxThreadsPerThreadgroup: 1024, MaxThreadgroupMemory: 32 << 10, MaxBufferLength: 1 << 30}
}

// Live counts what is not yet released.
func (d *Device) Live() metalshim.Counts { return d.live.Counts() }

// Close does nothing.
func (d *Device) Close() error { return nil }

// NewLibrary keeps the source.
func (d *Device) NewLibrary(ctx context.Context, src metalshim.Source) (metalshim.Library, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	d.mu.Lock()
	d.sources = append(d.sources, src)
	d.mu.Unlock()
	l := &library{d: d, src: src}
	l.Begin(&d.live.Libraries, nothing)
	return l, nil
}

type library struct {
	metalshim.Held
	d   *Device
	src metalshim.Source
}

func (l *library) Name() string            { return l.src.Name }
func (l *library) SourceBytes() int        { return len(l.src.Text) }
func (l *library) FunctionNames() []string { return []string{"a", "b"} }
func (l *library) Evidence() metalshim.Evidence {
	return metalshim.Evidence{State: names.CacheMiss}
}

func (l *library) NewPipeline(ctx context.Context, function string, constants []metalshim.Constant) (metalshim.Pipeline, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	p := &pipeline{Compiled: metalshim.Compiled{Function: function, Of: l.Name(), With: constants, Threads: 1024, Lanes: 32, How: l.Evidence()}}
	p.Begin(&l.d.live.Pipelines, nothing)
	return p, nil
}

type pipeline struct {
	metalshim.Compiled
	metalshim.Held
}

type buffer struct {
	metalshim.Held
	mem  []byte
	mode metalshim.StorageMode
}

// NewBuffer makes a buffer in Go's memory.
func (d *Device) NewBuffer(length int, mode metalshim.StorageMode) (metalshim.Buffer, error) {
	if length < 1 {
		return nil, &metalshim.AllocationError{Length: int64(length)}
	}
	return d.buffer(make([]byte, length), mode), nil
}

func (d *Device) buffer(mem []byte, mode metalshim.StorageMode) *buffer {
	b := &buffer{mem: mem, mode: mode}
	d.live.BufferBytes.Add(int64(len(mem)))
	b.Begin(&d.live.Buffers, func() { d.live.BufferBytes.Add(-int64(len(mem))) })
	return b
}

// NewBufferWithBytes makes a buffer that holds a copy of b.
func (d *Device) NewBufferWithBytes(b []byte) (metalshim.Buffer, error) {
	return metalshim.BufferWithBytes(d, b)
}

// NewBufferNoCopy makes a buffer of memory itself.
func (d *Device) NewBufferNoCopy(memory []byte) (metalshim.Buffer, error) {
	return d.buffer(memory, metalshim.Shared), nil
}

func (b *buffer) Len() int                    { return len(b.mem) }
func (b *buffer) Mode() metalshim.StorageMode { return b.mode }
func (b *buffer) Contents() []byte {
	if b.mode == metalshim.Private {
		return nil
	}
	return b.mem
}

type fence struct{ metalshim.Held }

// NewFence makes a fence.
func (d *Device) NewFence() (metalshim.Fence, error) {
	f := &fence{}
	f.Begin(&d.live.Fences, nothing)
	return f, nil
}

type queue struct {
	metalshim.Held
	d *Device
}

// NewQueue makes a queue.
func (d *Device) NewQueue() (metalshim.Queue, error) {
	q := &queue{d: d}
	q.Begin(&d.live.Queues, nothing)
	return q, nil
}

func (q *queue) NewCommandBuffer() (metalshim.CommandBuffer, error) {
	c := &commands{d: q.d}
	c.Begin(&q.d.live.CommandBuffers, nothing)
	return c, nil
}

// commands completes at its Wait, or when it is asked for its status after
// Took has passed: a GPU that works while nobody looks.
type commands struct {
	metalshim.Held
	d        *Device
	open     bool
	kernels  []string
	status   metalshim.Status
	times    metalshim.Times
	handlers []func(metalshim.CommandBuffer)
}

func (c *commands) OnCompleted(f func(metalshim.CommandBuffer)) { c.handlers = append(c.handlers, f) }
func (c *commands) Err() error                                  { return nil }
func (c *commands) Times() metalshim.Times                      { return c.times }

func (c *commands) Status() metalshim.Status {
	if c.status == metalshim.Committed && time.Since(c.times.Committed) >= c.d.Took {
		c.complete()
	}
	return c.status
}

func (c *commands) complete() {
	c.status = metalshim.Completed
	c.times.Scheduled, c.times.GPUStart = c.times.Committed, c.times.Committed
	c.times.GPUEnd = c.times.Committed.Add(c.d.Took)
	for _, f := range c.handlers {
		f(c)
	}
}

func (c *commands) KernelTimes() []metalshim.KernelTime {
	var out []metalshim.KernelTime
	for _, k := range c.kernels {
		out = append(out, metalshim.KernelTime{Kernel: k, Dispatches: 1, Time: c.d.Took / time.Duration(len(c.kernels))})
	}
	return out
}

func (c *commands) CommandTimes() []metalshim.CommandTime { return c.d.Commands }

func (c *commands) Commit() error {
	if c.open || c.status != metalshim.NotEnqueued {
		return &metalshim.EncodeError{Reason: "commit of an open or committed command buffer"}
	}
	c.status, c.times.Committed = metalshim.Committed, time.Now()
	return nil
}

func (c *commands) Wait(ctx context.Context) error {
	if c.status == metalshim.NotEnqueued {
		return &metalshim.EncodeError{Reason: "wait before commit"}
	}
	select {
	case <-time.After(time.Until(c.times.Committed.Add(c.d.Took))):
	case <-ctx.Done():
		return ctx.Err()
	}
	c.Status()
	return nil
}

func (c *commands) begin() error {
	if c.open || c.status != metalshim.NotEnqueued {
		return &metalshim.EncodeError{Reason: "an encoder is open, or the command buffer committed"}
	}
	c.open = true
	return nil
}

func (c *commands) NewEncoder(metalshim.DispatchType) (metalshim.Encoder, error) {
	if err := c.begin(); err != nil {
		return nil, err
	}
	return &encoder{ender{c}, nil}, nil
}

func (c *commands) NewBlit() (metalshim.Blit, error) {
	if err := c.begin(); err != nil {
		return nil, err
	}
	return &blit{ender{c}}, nil
}

type ender struct{ c *commands }

func (e ender) SetLabel(string)              {}
func (e ender) WaitForFence(metalshim.Fence) {}
func (e ender) UpdateFence(metalshim.Fence)  {}
func (e ender) EndEncoding() error {
	e.c.open = false
	return nil
}

type encoder struct {
	ender
	p metalshim.Pipeline
}

func (e *encoder) SetPipeline(p metalshim.Pipeline)                 { e.p = p }
func (e *encoder) SetBuffer(int, metalshim.Buffer, int)             {}
func (e *encoder) SetBytes(int, []byte)                             {}
func (e *encoder) SetThreadgroupMemory(int, int)                    {}
func (e *encoder) MemoryBarrier(metalshim.BarrierScope)             {}
func (e *encoder) DispatchThreads(grid, per metalshim.Size) error   { return e.dispatch(grid, per) }
func (e *encoder) DispatchThreadgroups(n, per metalshim.Size) error { return e.dispatch(n, per) }

func (e *encoder) dispatch(grid, per metalshim.Size) error {
	if e.p == nil || grid.Count() < 0 || per.Count() < 0 {
		return &metalshim.EncodeError{Reason: fmt.Sprintf("pipeline %v, grid %v, threadgroup %v", e.p, grid, per)}
	}
	e.c.kernels = append(e.c.kernels, e.p.Name())
	return nil
}

type blit struct{ ender }

func (b *blit) Copy(dst metalshim.Buffer, dstOffset int, src metalshim.Buffer, srcOffset, n int) {
	copy(dst.(*buffer).mem[dstOffset:dstOffset+n], src.(*buffer).mem[srcOffset:srcOffset+n])
}

func (b *blit) Fill(dst metalshim.Buffer, offset, n int, value byte) {
	for i := range n {
		dst.(*buffer).mem[offset+i] = value
	}
}
