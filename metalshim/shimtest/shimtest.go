// Package shimtest is a Metal device for tests of what wraps or drives a
// device: it keeps the rules of the API, runs nothing, and counts.
package shimtest

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/introgen/introgen/metalshim"
	"github.com/introgen/introgen/trace/names"
)

// Device is the device. Kernels of every name exist and do nothing.
type Device struct {
	// Took is how long each command buffer pretends to run.
	Took time.Duration

	mu      sync.Mutex
	live    metalshim.Counts
	sources []metalshim.Source
}

func (d *Device) count(f func(*metalshim.Counts)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f(&d.live)
}

// Sources are the sources that were compiled, in order.
func (d *Device) Sources() []metalshim.Source {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]metalshim.Source(nil), d.sources...)
}

// Info describes it.
func (d *Device) Info() metalshim.Info {
	return metalshim.Info{Driver: "test", Name: "test", MaxThreadsPerThreadgroup: 1024, MaxThreadgroupMemory: 32 << 10, MaxBufferLength: 1 << 30}
}

// Live counts what is not yet released.
func (d *Device) Live() metalshim.Counts {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.live
}

// Close does nothing.
func (d *Device) Close() error { return nil }

// NewLibrary keeps the source.
func (d *Device) NewLibrary(ctx context.Context, src metalshim.Source) (metalshim.Library, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	d.count(func(c *metalshim.Counts) { c.Libraries++ })
	d.mu.Lock()
	d.sources = append(d.sources, src)
	d.mu.Unlock()
	return &library{d: d, src: src}, nil
}

type library struct {
	d    *Device
	src  metalshim.Source
	once sync.Once
}

func (l *library) Name() string            { return l.src.Name }
func (l *library) SourceBytes() int        { return len(l.src.Text) }
func (l *library) FunctionNames() []string { return []string{"a", "b"} }
func (l *library) Evidence() metalshim.Evidence {
	return metalshim.Evidence{State: names.CacheMiss}
}
func (l *library) Release() {
	l.once.Do(func() { l.d.count(func(c *metalshim.Counts) { c.Libraries-- }) })
}

func (l *library) NewPipeline(ctx context.Context, function string, constants []metalshim.Constant) (metalshim.Pipeline, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	l.d.count(func(c *metalshim.Counts) { c.Pipelines++ })
	return &pipeline{l: l, name: function, constants: constants}, nil
}

type pipeline struct {
	l         *library
	name      string
	constants []metalshim.Constant
	once      sync.Once
}

func (p *pipeline) Name() string                    { return p.name }
func (p *pipeline) Library() string                 { return p.l.Name() }
func (p *pipeline) Constants() []metalshim.Constant { return p.constants }
func (p *pipeline) MaxThreadsPerThreadgroup() int   { return 1024 }
func (p *pipeline) ThreadExecutionWidth() int       { return 32 }
func (p *pipeline) StaticThreadgroupMemory() int    { return 0 }
func (p *pipeline) Evidence() metalshim.Evidence    { return p.l.Evidence() }
func (p *pipeline) Release() {
	p.once.Do(func() { p.l.d.count(func(c *metalshim.Counts) { c.Pipelines-- }) })
}

type buffer struct {
	d    *Device
	mem  []byte
	mode metalshim.StorageMode
	once sync.Once
}

// NewBuffer makes a buffer in Go's memory.
func (d *Device) NewBuffer(length int, mode metalshim.StorageMode) (metalshim.Buffer, error) {
	if length < 1 {
		return nil, &metalshim.AllocationError{Length: int64(length)}
	}
	d.count(func(c *metalshim.Counts) { c.Buffers++; c.BufferBytes += int64(length) })
	return &buffer{d: d, mem: make([]byte, length), mode: mode}, nil
}

// NewBufferWithBytes makes a buffer that holds a copy of b.
func (d *Device) NewBufferWithBytes(b []byte) (metalshim.Buffer, error) {
	made, err := d.NewBuffer(len(b), metalshim.Shared)
	if err == nil {
		copy(made.Contents(), b)
	}
	return made, err
}

// NewBufferNoCopy makes a buffer of memory itself.
func (d *Device) NewBufferNoCopy(memory []byte) (metalshim.Buffer, error) {
	d.count(func(c *metalshim.Counts) { c.Buffers++; c.BufferBytes += int64(len(memory)) })
	return &buffer{d: d, mem: memory, mode: metalshim.Shared}, nil
}

func (b *buffer) Len() int                    { return len(b.mem) }
func (b *buffer) Mode() metalshim.StorageMode { return b.mode }
func (b *buffer) Contents() []byte {
	if b.mode == metalshim.Private {
		return nil
	}
	return b.mem
}
func (b *buffer) Release() {
	b.once.Do(func() {
		b.d.count(func(c *metalshim.Counts) { c.Buffers--; c.BufferBytes -= int64(len(b.mem)) })
	})
}

type fence struct {
	d    *Device
	once sync.Once
}

// NewFence makes a fence.
func (d *Device) NewFence() (metalshim.Fence, error) {
	d.count(func(c *metalshim.Counts) { c.Fences++ })
	return &fence{d: d}, nil
}

func (f *fence) Release() {
	f.once.Do(func() { f.d.count(func(c *metalshim.Counts) { c.Fences-- }) })
}

type queue struct {
	d    *Device
	once sync.Once
}

// NewQueue makes a queue.
func (d *Device) NewQueue() (metalshim.Queue, error) {
	d.count(func(c *metalshim.Counts) { c.Queues++ })
	return &queue{d: d}, nil
}

func (q *queue) Release() {
	q.once.Do(func() { q.d.count(func(c *metalshim.Counts) { c.Queues-- }) })
}

func (q *queue) NewCommandBuffer() (metalshim.CommandBuffer, error) {
	q.d.count(func(c *metalshim.Counts) { c.CommandBuffers++ })
	return &commands{d: q.d}, nil
}

// commands completes at its Wait, or when it is asked for its status after
// Took has passed: a GPU that works while nobody looks.
type commands struct {
	d        *Device
	open     bool
	kernels  []string
	status   metalshim.Status
	times    metalshim.Times
	handlers []func(metalshim.CommandBuffer)
	once     sync.Once
}

func (c *commands) OnCompleted(f func(metalshim.CommandBuffer)) { c.handlers = append(c.handlers, f) }
func (c *commands) Err() error                                  { return nil }
func (c *commands) Times() metalshim.Times                      { return c.times }
func (c *commands) Release() {
	c.once.Do(func() { c.d.count(func(n *metalshim.Counts) { n.CommandBuffers-- }) })
}

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
