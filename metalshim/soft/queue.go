package soft

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/introgen/introgen/metalshim"
	"github.com/introgen/introgen/metalshim/soft/native"
)

// inFlight is how many command buffers a queue holds; Commit of one more
// waits. It is Metal's default for a queue.
const inFlight = 64

// queue runs command buffers in the order of their commits.
type queue struct {
	d    *Device
	ch   chan *commands
	over chan struct{} // closed when its goroutine has ended
	mu   sync.Mutex
	done bool
	// committed counts the commits. Those up to ignored are not run.
	committed, ignored int64
	// sending counts the commits that wait for room. They do not hold mu, so
	// that a completion handler may make a command buffer meanwhile.
	sending sync.WaitGroup
}

// NewQueue starts a queue.
func (d *Device) NewQueue() (metalshim.Queue, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil, fmt.Errorf("metal queue: the device is closed: %w", metalshim.ErrReleased)
	}
	q := &queue{d: d, ch: make(chan *commands, inFlight), over: make(chan struct{})}
	d.queues[q] = true
	d.live.Queues.Add(1)
	go func() {
		defer close(q.over)
		for c := range q.ch {
			c.run()
		}
	}()
	return q, nil
}

// Release waits until everything that was committed has run.
func (q *queue) Release() {
	q.mu.Lock()
	first := !q.done
	q.done = true
	q.mu.Unlock()
	if first {
		q.sending.Wait()
		close(q.ch)
	}
	<-q.over
	if first {
		q.d.live.Queues.Add(-1)
		q.d.mu.Lock()
		delete(q.d.queues, q)
		q.d.mu.Unlock()
	}
}

// NewCommandBuffer makes an empty command buffer.
func (q *queue) NewCommandBuffer() (metalshim.CommandBuffer, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.done {
		return nil, fmt.Errorf("metal command buffer: the queue is released: %w", metalshim.ErrReleased)
	}
	q.d.live.CommandBuffers.Add(1)
	c := &commands{q: q}
	c.Begin()
	return c, nil
}

// commands is a command buffer: a list of what to run.
type commands struct {
	metalshim.Stages
	q    *queue
	list []native.Command
	// kernels[i] belongs to list[i], nil for copies and fills.
	kernels  []*pipeline
	retained []*buffer
	used     []*pipeline
	arena    arena
	number   int64 // of its commit
	open     bool  // an encoder is open
	done     atomic.Bool

	mu    sync.Mutex // guards what follows
	spent []metalshim.KernelTime
	nanos []int64 // what each of list took
}

// arena holds the arguments that SetBytes copies. Its blocks do not move, and
// it keeps them alive, because the commands hold bare addresses.
type arena struct {
	block  []byte // what is left of the last one
	blocks [][]byte
}

// argument is the room of the smallest argument. What follows a shorter one
// is zero, so that a kernel that reads more than was sent reads zeros.
const argument = 16

func (a *arena) copy(b []byte) []byte {
	n := (len(b) + argument - 1) / argument * argument
	if n > len(a.block) {
		a.block = make([]byte, max(n, 32<<10))
		a.blocks = append(a.blocks, a.block)
	}
	out := a.block[:n:n]
	a.block = a.block[n:]
	copy(out, b)
	return out
}

// KernelTimes is what its dispatches took, by kernel; copies and fills count
// as "blit".
func (c *commands) KernelTimes() []metalshim.KernelTime {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.spent
}

// CommandTimes is what each of its commands took: they run one after another, without
// a pause.
func (c *commands) CommandTimes() []metalshim.CommandTime {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := make([]metalshim.CommandTime, len(c.nanos))
	begin := time.Duration(0)
	for i, n := range c.nanos {
		out[i] = metalshim.CommandTime{Start: begin, Took: time.Duration(n)}
		begin += time.Duration(n)
	}
	return out
}

// Commit hands it to the queue.
func (c *commands) Commit() error {
	if c.open {
		return &metalshim.EncodeError{Reason: "commit while an encoder is open"}
	}
	if !c.Advance(metalshim.NotEnqueued, metalshim.Committed) {
		return &metalshim.EncodeError{Reason: "the command buffer was committed before"}
	}
	c.q.mu.Lock()
	if c.q.done {
		c.q.mu.Unlock()
		c.Advance(metalshim.Committed, metalshim.NotEnqueued)
		return fmt.Errorf("metal command buffer: the queue is released: %w", metalshim.ErrReleased)
	}
	c.q.sending.Add(1)
	c.q.committed++
	c.number = c.q.committed
	c.q.mu.Unlock()
	defer c.q.sending.Done()
	c.CommittedNow()
	c.q.ch <- c
	return nil
}

// Release gives it back. One that was never committed lets go of what it
// holds; one in flight does so when it has run.
func (c *commands) Release() {
	if c.done.Swap(true) {
		return
	}
	c.q.d.live.CommandBuffers.Add(-1)
	if c.Status() == metalshim.NotEnqueued {
		c.letGo()
	}
}

func (c *commands) letGo() {
	for _, b := range c.retained {
		b.Drop()
	}
	for _, p := range c.used {
		p.Drop()
	}
	c.retained, c.used, c.list, c.kernels, c.arena = nil, nil, nil, nil, arena{}
}

// run runs it, on the queue's goroutine.
func (c *commands) run() {
	scheduled := time.Now()
	c.Advance(metalshim.Committed, metalshim.Scheduled)
	nanos := make([]int64, len(c.list))
	begun, out, err := c.q.d.execute(c, nanos)
	c.mu.Lock()
	c.spent, c.nanos = c.sum(nanos), nanos
	c.mu.Unlock()
	c.Settle(scheduled, begun.Add(out.Started), begun.Add(out.Ended), err)
	c.letGo()
	c.Finish(c)
}

func (c *commands) sum(nanos []int64) []metalshim.KernelTime {
	var out []metalshim.KernelTime
	at := map[string]int{}
	for i, n := range nanos {
		name := "blit"
		if p := c.kernels[i]; p != nil {
			name = p.Function
		}
		k, ok := at[name]
		if !ok {
			k = len(out)
			at[name] = k
			out = append(out, metalshim.KernelTime{Kernel: name})
		}
		out[k].Dispatches++
		out[k].Time += time.Duration(n)
	}
	return out
}

// near says which argument an address lies beside, or in: memory that is the
// user's may go away under the device, as that of a mapped file that shrinks.
func (c *commands) near(command int, address uintptr) string {
	if command >= len(c.list) {
		return ""
	}
	for i, base := range c.list[command].Buf {
		for _, b := range c.retained {
			if base < b.address || base >= b.address+uintptr(b.n) {
				continue
			}
			at := func(what string) string {
				return fmt.Sprintf(", %d bytes from the start of argument %d, %s of %d bytes", int64(address)-int64(b.address), i, what, b.n)
			}
			switch {
			case b.region == nil:
				if address >= b.address && address < b.address+uintptr(b.n) {
					return at("memory that cannot be read any more, in a buffer")
				}
			case address >= b.address-guardBytes && address < b.address-guardBytes+uintptr(len(b.region)):
				return at("a buffer")
			}
		}
	}
	return ", which belongs to none of its buffers"
}
