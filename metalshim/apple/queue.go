package apple

import (
	"errors"
	"fmt"
	"sync"

	"github.com/introgen/introgen/metalshim"
)

// inFlight is how many uncompleted command buffers a queue has; Metal makes
// the next one wait by default from this number on.
const inFlight = 64

// queue is an MTLCommandQueue. Its command buffers complete in the order of
// their commits. A goroutine waits for one after the other.
type queue struct {
	d    *Device
	q    mtlQueue
	ch   chan *commands
	over chan struct{} // closed when the goroutine has ended
	mu   sync.Mutex
	done bool
	// pending counts what was committed and has not completed.
	pending sync.WaitGroup
}

// NewQueue makes a queue.
func (d *Device) NewQueue() (metalshim.Queue, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil, fmt.Errorf("metal queue: the device is closed: %w", metalshim.ErrReleased)
	}
	defer d.a.Push().Pop()
	q := &queue{d: d, q: d.d.newCommandQueue(), over: make(chan struct{})}
	if q.q.nothing() {
		return nil, errors.New("metal queue: the system gave none")
	}
	d.residency.attach(q.q)
	d.queues[q] = true
	d.live.Queues.Add(1)
	q.ch = make(chan *commands, inFlight)
	go func() {
		defer close(q.over)
		for c := range q.ch {
			c.finish()
		}
	}()
	return q, nil
}

// NewCommandBuffer makes an empty command buffer. While as many as a queue
// holds are in flight, it waits for one to complete.
func (q *queue) NewCommandBuffer() (metalshim.CommandBuffer, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.done {
		return nil, fmt.Errorf("metal command buffer: the queue is released: %w", metalshim.ErrReleased)
	}
	defer q.d.a.Push().Pop()
	cb := q.q.commandBuffer()
	if cb.nothing() {
		return nil, errors.New("metal command buffer: the system gave none")
	}
	q.d.a.Retain(cb.o)
	q.d.live.CommandBuffers.Add(1)
	c := &commands{q: q, cb: cb}
	c.Begin()
	c.refs.Store(1)
	return c, nil
}

// begin counts a commit, or says that the queue takes none any more.
func (q *queue) begin() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.done {
		return false
	}
	q.pending.Add(1)
	return true
}

// Release waits until everything that was committed has completed.
func (q *queue) Release() {
	q.mu.Lock()
	first := !q.done
	q.done = true
	q.mu.Unlock()
	if !first {
		<-q.over
		return
	}
	q.pending.Wait()
	close(q.ch)
	<-q.over
	func() {
		defer q.d.a.Push().Pop()
		q.d.residency.detach(q.q)
		q.q.release()
	}()
	q.d.live.Queues.Add(-1)
	q.d.mu.Lock()
	delete(q.d.queues, q)
	q.d.mu.Unlock()
}
