package apple

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/introgen/introgen/metalshim"
)

// commands is an MTLCommandBuffer.
type commands struct {
	// Stages says nothing more between commit and end: what is known about a
	// completed one is complete by then.
	metalshim.Stages
	q    *queue
	cb   mtlCommands
	refs atomic.Int32 // the user, and the work in flight
	kept []*shared
	open *encoding   // the open encoder, or nil
	done atomic.Bool // released by the user
}

// Commit hands it to the device.
func (c *commands) Commit() error {
	switch {
	case c.done.Load():
		return fmt.Errorf("metal command buffer: %w", metalshim.ErrReleased)
	case c.open != nil:
		return &metalshim.EncodeError{Reason: "commit while an encoder is open"}
	case c.Status() != metalshim.NotEnqueued:
		return &metalshim.EncodeError{Reason: "the command buffer was committed before"}
	case !c.q.begin():
		return fmt.Errorf("metal command buffer: the queue is released: %w", metalshim.ErrReleased)
	}
	c.refs.Add(1)
	c.CommittedNow()
	c.Advance(metalshim.NotEnqueued, metalshim.Committed)
	func() {
		defer c.q.d.a.Push().Pop()
		c.cb.commit()
	}()
	c.q.ch <- c
	return nil
}

// Release gives it back. One that was never committed lets go of what it
// holds, after the end of an encoder that is still open; one in flight does so
// when it has completed.
func (c *commands) Release() {
	if c.done.Swap(true) {
		return
	}
	c.q.d.live.CommandBuffers.Add(-1)
	defer c.q.d.a.Push().Pop()
	if c.Status() == metalshim.NotEnqueued {
		if c.open != nil {
			c.open.close()
		}
		c.letGo()
	}
	c.drop()
}

func (c *commands) drop() {
	if c.refs.Add(-1) == 0 {
		c.cb.release()
	}
}

// finish learns how it went, once the device is done with it, and tells
// whoever waits.
func (c *commands) finish() {
	c.outcome()
	c.Finish(c)
	c.q.pending.Done()
}

func (c *commands) outcome() {
	defer c.q.d.a.Push().Pop()
	c.cb.waitUntilCompleted()
	status := metalshim.Status(c.cb.status())
	var err error
	switch status {
	case metalshim.Completed:
	case metalshim.Failed:
		err = commandError(c.cb.error())
	default:
		err = &metalshim.CommandError{Reason: fmt.Sprintf("after the wait its status was %v (%d), neither completed nor error", status, status)}
	}
	at := clock()
	c.Settle(at(c.cb.kernelEndTime()), at(c.cb.gpuStartTime()), at(c.cb.gpuEndTime()), err)
	c.letGo()
	c.drop()
}

// clock turns times of the device, in seconds of uptime, into Go's. Zero, which
// stands for a stage that was not passed, gives the zero time.
func clock() func(seconds float64) time.Time {
	now, up := time.Now(), uptime()
	return func(seconds float64) time.Time {
		if seconds <= 0 {
			return time.Time{}
		}
		return now.Add(time.Duration(seconds*1e9) - up)
	}
}
