package apple

import (
	"sync/atomic"

	"github.com/introgen/introgen/metalshim"
)

// shared is an object that command buffers in flight hold on to. (Metal's keep
// their resources too, but not the memory behind a no-copy buffer, nor a place in a
// residency set.)
type shared struct {
	metalshim.Held
	a    *api
	user atomic.Pointer[commands] // holds a reference, unless it has completed
}

// Release gives it back.
func (s *shared) Release() {
	if s.End() {
		defer s.a.Push().Pop()
		s.Drop()
	}
}

// keep holds s until c has completed.
func (c *commands) keep(s *shared) {
	if s.user.Load() == c {
		return
	}
	s.Hold()
	s.user.Store(c)
	c.kept = append(c.kept, s)
}

// letGo gives up what c holds. It is called within a pool.
func (c *commands) letGo() {
	for _, s := range c.kept {
		s.user.CompareAndSwap(c, nil)
		s.Drop()
	}
	c.kept = nil
}

// fence is an MTLFence.
type fence struct {
	shared
	f object
}
