package metal

import (
	"context"
	"fmt"

	"github.com/introgen/introgen/engine/metal/cost"
	"github.com/introgen/introgen/engine/metal/forward"
	"github.com/introgen/introgen/metalshim"
)

// op counts an operation, and commits where the command buffer is full.
func (d *Device) op() error {
	if d.counter.Op() {
		return d.commit()
	}
	return nil
}

// encoder is the open compute encoder of the current command buffer; it opens
// one where there is none.
func (d *Device) encoder() (*computeEncoder, error) {
	if d.compute != nil {
		return d.compute, nil
	}
	fence, err := d.metal.NewFence()
	if err != nil {
		return nil, err
	}
	// Dispatches may overlap where no barrier stands between them.
	enc, err := d.current.NewEncoder(metalshim.Concurrent)
	if err != nil {
		fence.Release()
		return nil, err
	}
	d.fences.Open(fence, enc.WaitForFence)
	d.hazards.Reset()
	d.compute = &computeEncoder{Encoder: enc, fence: fence}
	return d.compute, nil
}

// endEncoder ends the open compute encoder, if there is one, and notes what it
// wrote.
func (d *Device) endEncoder() error {
	e := d.compute
	if e == nil {
		return nil
	}
	d.compute = nil
	d.fences.Wrote(e.fence, e.writes)
	e.UpdateFence(e.fence)
	d.ended = append(d.ended, endedEncoder{e.fence, e.writes})
	return e.EndEncoding()
}

// dispatch encodes one kernel.
func (d *Device) dispatch(s *forward.Dispatch, find func(forward.Buf) (*buffer, error)) error {
	if !s.Joined {
		if err := d.op(); err != nil {
			return err
		}
	}
	e, err := d.encoder()
	if err != nil {
		return err
	}
	if s.Label != "" {
		e.SetLabel(s.Label)
	}
	p, err := d.pipeline(d.ctx, forward.Pipeline{Library: s.Library, Function: s.Function, Constants: s.Constants})
	if err != nil {
		return err
	}
	e.SetPipeline(p)
	for i := range s.Args {
		a := &s.Args[i]
		if a.Buf == 0 {
			e.SetBytes(a.Index, a.Data)
			continue
		}
		b, err := find(a.Buf)
		if err != nil {
			return fmt.Errorf("%s, argument %d: %w", s.Function, a.Index, err)
		}
		if a.Out {
			d.hazards.Write(b.id)
			e.writes = append(e.writes, b.id)
		} else {
			d.hazards.Read(b.id)
		}
		e.SetBuffer(a.Index, b.Buffer, b.offset+a.Offset)
	}
	if s.ThreadgroupBytes > 0 {
		e.SetThreadgroupMemory(0, s.ThreadgroupBytes)
	}
	if d.hazards.Barrier() {
		e.MemoryBarrier(metalshim.BarrierBuffers)
	}
	metalshim.Describe(e.Encoder, operation(s.Part, s))
	grid, group, inThreads := s.Extent.Sizes(p.MaxThreadsPerThreadgroup())
	if inThreads {
		return e.DispatchThreads(grid, group)
	}
	return e.DispatchThreadgroups(grid, group)
}

// operation is a part of the model as whoever instruments the device takes it.
func operation(p forward.Part, s *forward.Dispatch) metalshim.Operation {
	o := metalshim.Operation{Layer: p.Layer, Name: p.Name}
	if s == nil {
		return o // what a copy does needs no telling
	}
	if c, ok := cost.Of(s); ok {
		o.Work = metalshim.Work{Read: c.Read, Written: c.Written, Ops: c.Ops, Known: true}
	}
	return o
}

// blit encodes a Copy, in an encoder of its own.
func (d *Device) blit(dst, src *buffer, s *forward.Step) error {
	return d.transfer(dst, s, func(b metalshim.Blit) {
		b.Copy(dst.Buffer, dst.offset+s.Offset, src.Buffer, src.offset+s.SrcOffset, s.Bytes)
	})
}

// fill encodes a Fill, in an encoder of its own.
func (d *Device) fill(dst *buffer, s *forward.Step) error {
	return d.transfer(dst, s, func(b metalshim.Blit) { b.Fill(dst.Buffer, 0, dst.Len(), 0) })
}

// transfer makes the encoder of a step that writes dst.
func (d *Device) transfer(dst *buffer, s *forward.Step, encode func(metalshim.Blit)) error {
	if err := d.op(); err != nil {
		return err
	}
	if err := d.endEncoder(); err != nil {
		return err
	}
	fence, err := d.metal.NewFence()
	if err != nil {
		return err
	}
	b, err := d.current.NewBlit()
	if err != nil {
		fence.Release()
		return err
	}
	b.SetLabel(s.Label)
	d.fences.Open(fence, b.WaitForFence)
	metalshim.Describe(b, operation(s.Part, nil))
	encode(b)
	b.UpdateFence(fence)
	d.fences.Wrote(fence, []int{dst.id})
	d.ended = append(d.ended, endedEncoder{fence, nil})
	return b.EndEncoding()
}

// commit hands the current command buffer to the device and makes a new one,
// unless one before it has failed: what it would do hangs on that.
func (d *Device) commit() error {
	for _, cb := range d.inFlight {
		if cb.Status() == metalshim.Failed {
			return cb.Err()
		}
	}
	if err := d.endEncoder(); err != nil {
		return err
	}
	ended := d.ended
	d.current.OnCompleted(func(metalshim.CommandBuffer) { d.completed(ended) })
	if err := d.current.Commit(); err != nil {
		return err
	}
	d.inFlight, d.current, d.ended = append(d.inFlight, d.current), nil, nil
	cb, err := d.queue.NewCommandBuffer()
	if err != nil {
		return err
	}
	d.current = cb
	return nil
}

// completed notes that the command buffer of these encoders is done. Drivers
// call it on goroutines of their own.
func (d *Device) completed(ended []endedEncoder) {
	for _, e := range ended {
		d.fences.Completed(e.fence, e.writes)
	}
}

// wait commits what is encoded, waits until all that was committed is done, and
// releases the buffers that are free by then.
func (d *Device) wait() error {
	if err := d.commit(); err != nil {
		return err
	}
	d.counter.Flushed()
	if err := d.reap(); err != nil {
		return err
	}
	d.sweep()
	return nil
}

// synchronize is wait where there is something to wait for.
func (d *Device) synchronize() error {
	if d.counter.Pending() {
		return d.wait()
	}
	d.sweep()
	return nil
}

// reap waits for the last committed command buffer, before which all others
// are done, and returns the first failure among them.
func (d *Device) reap() error {
	if len(d.inFlight) == 0 {
		return nil
	}
	err := d.inFlight[len(d.inFlight)-1].Wait(d.ctx)
	if err != nil && len(d.borrowed) > 0 {
		d.drain()
	}
	for _, cb := range d.inFlight {
		if e := cb.Err(); e != nil {
			err = e
			break
		}
	}
	d.releaseInFlight()
	return err
}

// drain waits until nothing that was committed runs any more, whatever comes of
// it and although the context may have ended: memory that the device reads, and
// that is not its own, is about to go.
func (d *Device) drain() {
	if n := len(d.inFlight); n > 0 {
		_ = d.inFlight[n-1].Wait(context.WithoutCancel(d.ctx)) // what failed is known, or of no interest any more
	}
}

func (d *Device) releaseInFlight() {
	for _, cb := range d.inFlight {
		cb.Release()
	}
	d.inFlight = nil
}

// abandon gives up what is encoded and not committed.
func (d *Device) abandon() {
	if e := d.compute; e != nil {
		d.compute = nil
		_ = e.EndEncoding() // its error is of no interest: nothing will run
		d.fences.Completed(e.fence, nil)
	}
	d.completed(d.ended)
	d.ended = nil
	d.counter.Flushed()
}
