package metalshim

import (
	"context"
	"time"

	"github.com/introgen/introgen/trace"
	"github.com/introgen/introgen/trace/names"
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

// Release waits until all has run, so that the times of those that nobody has
// waited for are taken, and they are given back.
func (q *timedQueue) Release() {
	q.Queue.Release()
	q.d.mu.Lock()
	defer q.d.mu.Unlock()
	q.d.harvest()
}

// timedCommands is a command buffer whose times are taken once it has
// completed. No completion handler is used for that: it asks for the status
// whenever the CPU waits or commits, which works on every driver.
type timedCommands struct {
	CommandBuffer
	d                    *Instrumented
	dispatches, encoders int64
	parent               trace.ID // the span open at the commit
	work                 []KernelTotal
	operations           []int // numbers, in the order of encoding, where they are kept

	pending  bool // committed and its times not yet taken; guarded by d.mu
	released bool // Release was called while pending; guarded by d.mu
}

func (c *timedCommands) OnCompleted(f func(CommandBuffer)) {
	c.CommandBuffer.OnCompleted(func(CommandBuffer) { f(c) })
}

func (c *timedCommands) Commit() error {
	d := c.d
	c.parent = d.rec.Current()
	span := d.rec.Begin(names.SpanCommit, "", c.dispatches)
	err := c.CommandBuffer.Commit()
	span.End()
	d.mu.Lock()
	if err == nil {
		c.pending = true
		d.inFlight = append(d.inFlight, c)
	}
	d.harvest()
	d.mu.Unlock()
	if err != nil {
		return err
	}
	d.rec.Count(names.CountCommandBuffers, 1)
	d.rec.Count(names.CountEncoders, c.encoders)
	d.rec.Count(names.CountDispatches, c.dispatches)
	return nil
}

func (c *timedCommands) Wait(ctx context.Context) error {
	d := c.d
	span := d.rec.Begin(names.SpanWait, "", 0)
	err := c.CommandBuffer.Wait(ctx)
	span.End()
	d.mu.Lock()
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
func (c *timedCommands) KernelTimes() []KernelTime { return KernelTimes(c.CommandBuffer) }

// CommandTimes passes on what the driver knows.
func (c *timedCommands) CommandTimes() []CommandTime { return CommandTimes(c.CommandBuffer) }

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
			clock := d.clock()
			start := clock(t.GPUStart)
			if !t.Committed.IsZero() {
				d.rec.Add(c.parent, names.SpanQueued, "", c.dispatches, clock(t.Committed), start)
			}
			span := d.rec.Add(c.parent, names.SpanGPU, "", c.dispatches, start, clock(t.GPUEnd))
			if c.Status() == Completed {
				d.ran(c, span, start)
			}
		}
		d.total(c)
		if c.released {
			c.CommandBuffer.Release()
		}
	}
	clear(d.inFlight[len(kept):])
	d.inFlight = kept
}

// clock makes times those of the recorder's clock. Both clocks are read once, so that
// what lies between the times of a command buffer stays what it is.
func (d *Instrumented) clock() func(t time.Time) time.Duration {
	now, then := time.Now(), d.rec.Now()
	return func(t time.Time) time.Duration { return max(0, then-now.Sub(t)) }
}

func (c *timedCommands) begin(kind string) trace.Span {
	return c.d.rec.Begin(names.SpanEncoder, kind, 0)
}

func (c *timedCommands) NewEncoder(t DispatchType) (Encoder, error) {
	span := c.begin("compute")
	e, err := c.CommandBuffer.NewEncoder(t)
	if err != nil {
		span.End()
		return nil, err
	}
	return &timedEncoder{Encoder: e, c: c, span: span, next: undescribed}, nil
}

func (c *timedCommands) NewBlit() (Blit, error) {
	span := c.begin("blit")
	b, err := c.CommandBuffer.NewBlit()
	if err != nil {
		span.End()
		return nil, err
	}
	return &timedBlit{b, c, span, undescribed}, nil
}

// timedEncoder notes dispatches; everything else goes straight to the driver.
type timedEncoder struct {
	Encoder
	c          *timedCommands
	span       trace.Span
	dispatches int64
	pipeline   Pipeline
	next       Operation // that the next dispatch is
}

func (e *timedEncoder) DispatchThreadgroups(groups, perGroup Size) error {
	err := e.Encoder.DispatchThreadgroups(groups, perGroup)
	if err == nil {
		e.dispatched(groups, perGroup, false)
	}
	return err
}

func (e *timedEncoder) DispatchThreads(threads, perGroup Size) error {
	err := e.Encoder.DispatchThreads(threads, perGroup)
	if err == nil {
		e.dispatched(threads, perGroup, true)
	}
	return err
}

func (e *timedEncoder) EndEncoding() error {
	err := e.Encoder.EndEncoding()
	e.span.End()
	e.c.dispatches += e.dispatches
	e.c.encoders++
	return err
}

type timedBlit struct {
	Blit
	c    *timedCommands
	span trace.Span
	next Operation // that the next copy is
}

func (b *timedBlit) EndEncoding() error {
	err := b.Blit.EndEncoding()
	b.span.End()
	b.c.encoders++
	return err
}
