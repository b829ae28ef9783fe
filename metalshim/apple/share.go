package apple

import "sync/atomic"

// shared is an object that command buffers in flight hold on to: its user's
// Release counts at once, the object itself goes when the last command buffer
// has completed. (Metal's command buffers keep their resources too, but not
// the memory behind a no-copy buffer, nor a place in a residency set.)
type shared struct {
	refs     atomic.Int32
	released atomic.Bool
	user     atomic.Pointer[commands] // holds a reference, unless it has completed
	count    *atomic.Int64
	free     func()
}

// begin counts a new object and remembers how it is freed.
func (s *shared) begin(count *atomic.Int64, free func()) {
	s.refs.Store(1)
	s.count, s.free = count, free
	count.Add(1)
}

// end tells whether this is the first Release, after which drop follows.
func (s *shared) end() bool {
	if s.released.Swap(true) {
		return false
	}
	s.count.Add(-1)
	return true
}

// drop gives up a reference. It is called within a pool.
func (s *shared) drop() {
	if s.refs.Add(-1) == 0 {
		s.free()
	}
}

// keep holds s until c has completed.
func (c *commands) keep(s *shared) {
	if s.user.Load() == c {
		return
	}
	s.refs.Add(1)
	s.user.Store(c)
	c.kept = append(c.kept, s)
}

// letGo gives up what c holds. It is called within a pool.
func (c *commands) letGo() {
	for _, s := range c.kept {
		s.user.CompareAndSwap(c, nil)
		s.drop()
	}
	c.kept = nil
}

// fence is an MTLFence.
type fence struct {
	shared
	f object
}

// Release gives it back.
func (f *fence) Release() {
	if f.end() {
		defer f.f.a.Push().Pop()
		f.drop()
	}
}
