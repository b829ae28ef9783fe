package metalshim

import (
	"context"
	"time"

	"github.com/introgen/introgen/trace"
)

type timedQueue struct {
	Queue
	d *Instrumented
}

func (q *timedQueue) NewCommandBuffer() (CommandBuffer, error) {
	cb, err := q.Queue.NewCommandBuffer()
	if err != nil {
		return nil, err
	}
	return &timedCommands{CommandBuffer: cb, d: q.d}, nil
}

// timedCommands is a command buffer whose times are taken once it has
// completed. No completion handler is used for that: it asks for the status
// whenever the CPU waits or commits, which works on every driver.
type timedCommands struct {
	CommandBuffer
	d                    *Instrumented
	dispatches, encoders int64
	parent               trace.ID // the span open at the commit

	pending  bool // committed and its times not yet taken; guarded by d.mu
	released bool // Release was called while pending; guarded by d.mu
}

func (c *timedCommands) OnCompleted(f func(CommandBuffer)) {
	c.CommandBuffer.OnCompleted(func(CommandBuffer) { f(c) })
}

func (c *timedCommands) Commit() error {
	d := c.d
	c.parent = d.rec.Current()
	begun := time.Now()
	span := d.rec.Begin(SpanCommit, "", c.dispatches)
	err := c.CommandBuffer.Commit()
	span.End()
	took := time.Since(begun)
	d.mu.Lock()
	d.tally.Commit += took
	if err == nil {
		d.tally.CommandBuffers++
		c.pending = true
		d.inFlight = append(d.inFlight, c)
	}
	d.harvest()
	d.mu.Unlock()
	if err != nil {
		return err
	}
	d.rec.Count(CountCommandBuffers, 1)
	d.rec.Count(CountEncoders, c.encoders)
	d.rec.Count(CountDispatches, c.dispatches)
	return nil
}

func (c *timedCommands) Wait(ctx context.Context) error {
	d := c.d
	begun := time.Now()
	span := d.rec.Begin(SpanWait, "", 0)
	err := c.CommandBuffer.Wait(ctx)
	span.End()
	took := time.Since(begun)
	d.mu.Lock()
	d.tally.Wait += took
	d.harvest()
	d.mu.Unlock()
	return err
}

// Release keeps the inner command buffer until its times have been taken.
func (c *timedCommands) Release() {
	c.d.mu.Lock()
	c.released = true
	c.d.harvest()
	pending := c.pending
	c.d.mu.Unlock()
	if !pending {
		c.CommandBuffer.Release()
	}
}

// KernelTimes passes on what the driver knows.
func (c *timedCommands) KernelTimes() []KernelTime {
	if k, ok := c.CommandBuffer.(KernelTimer); ok {
		return k.KernelTimes()
	}
	return nil
}

// harvest takes the times of the command buffers that have ended. They end in
// the order of their commits within a queue. d.mu is held.
func (d *Instrumented) harvest() {
	kept := d.inFlight[:0]
	for _, c := range d.inFlight {
		if s := c.Status(); s != Completed && s != Failed {
			kept = append(kept, c)
			continue
		}
		c.pending = false
		t := c.Times()
		if !t.GPUStart.IsZero() && !t.GPUEnd.IsZero() {
			d.tally.GPU += t.GPUEnd.Sub(t.GPUStart)
			start, end := d.clock(t.GPUStart), d.clock(t.GPUEnd)
			if !t.Committed.IsZero() {
				d.tally.Queued += max(0, t.GPUStart.Sub(t.Committed))
				d.rec.Add(c.parent, SpanQueued, "", c.dispatches, d.clock(t.Committed), start)
			}
			d.rec.Add(c.parent, SpanGPU, "", c.dispatches, start, end)
		}
		for _, k := range c.KernelTimes() {
			sum := d.kernels[k.Kernel]
			sum.Kernel = k.Kernel
			sum.Dispatches += k.Dispatches
			sum.Time += k.Time
			d.kernels[k.Kernel] = sum
		}
		if c.released {
			c.CommandBuffer.Release()
		}
	}
	clear(d.inFlight[len(kept):])
	d.inFlight = kept
}

// clock is t on the recorder's clock.
func (d *Instrumented) clock(t time.Time) time.Duration {
	return max(0, d.rec.Now()-time.Since(t))
}

// open is what the two kinds of encoders share: the span and the time from
// opening to end, without what was compiled meanwhile.
type open struct {
	c        *timedCommands
	span     trace.Span
	begun    time.Time
	compiled time.Duration
}

func (c *timedCommands) begin(kind string) open {
	c.d.mu.Lock()
	compiled := c.d.tally.Compile
	c.d.mu.Unlock()
	return open{c, c.d.rec.Begin(SpanEncode, kind, 0), time.Now(), compiled}
}

func (o *open) end(count func(*Tally)) {
	o.span.End()
	took := time.Since(o.begun)
	d := o.c.d
	o.c.encoders++
	d.mu.Lock()
	d.tally.Encode += took - (d.tally.Compile - o.compiled)
	d.tally.Encoders++
	count(&d.tally)
	d.mu.Unlock()
}

func (c *timedCommands) NewEncoder(t DispatchType) (Encoder, error) {
	o := c.begin("compute")
	e, err := c.CommandBuffer.NewEncoder(t)
	if err != nil {
		o.span.End()
		return nil, err
	}
	return &timedEncoder{Encoder: e, open: o}, nil
}

func (c *timedCommands) NewBlit() (Blit, error) {
	o := c.begin("blit")
	b, err := c.CommandBuffer.NewBlit()
	if err != nil {
		o.span.End()
		return nil, err
	}
	return &timedBlit{b, o}, nil
}

// timedEncoder counts; the setters go straight to the driver.
type timedEncoder struct {
	Encoder
	open
	dispatches, barriers, waits, updates int64
}

func (e *timedEncoder) DispatchThreadgroups(groups, perGroup Size) error {
	err := e.Encoder.DispatchThreadgroups(groups, perGroup)
	if err == nil {
		e.dispatches++
	}
	return err
}

func (e *timedEncoder) DispatchThreads(threads, perGroup Size) error {
	err := e.Encoder.DispatchThreads(threads, perGroup)
	if err == nil {
		e.dispatches++
	}
	return err
}

func (e *timedEncoder) MemoryBarrier(s BarrierScope) {
	e.barriers++
	e.Encoder.MemoryBarrier(s)
}

func (e *timedEncoder) WaitForFence(f Fence) {
	e.waits++
	e.Encoder.WaitForFence(f)
}

func (e *timedEncoder) UpdateFence(f Fence) {
	e.updates++
	e.Encoder.UpdateFence(f)
}

func (e *timedEncoder) EndEncoding() error {
	err := e.Encoder.EndEncoding()
	e.c.dispatches += e.dispatches
	e.end(func(t *Tally) {
		t.Dispatches += e.dispatches
		t.Barriers += e.barriers
		t.FenceWaits += e.waits
		t.FenceUpdates += e.updates
	})
	return err
}

type timedBlit struct {
	Blit
	open
}

func (b *timedBlit) EndEncoding() error {
	err := b.Blit.EndEncoding()
	b.end(func(t *Tally) { t.Blits++ })
	return err
}
