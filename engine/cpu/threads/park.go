package threads

import (
	"sync"
	"sync/atomic"
)

// parker puts threads to sleep.
type parker interface {
	// sleep returns when wake is called, and at once when *v is not old. It may
	// return for no reason.
	sleep(v *atomic.Uint32, old uint32)
	// wake wakes all who sleep on v. *v was changed before.
	wake(v *atomic.Uint32)
}

// monitor is the parker for every system: sleeping goroutines give their
// processor back to Go's scheduler.
type monitor struct {
	mu   sync.Mutex
	cond sync.Cond
}

func newMonitor() *monitor {
	m := &monitor{}
	m.cond.L = &m.mu
	return m
}

func (m *monitor) sleep(v *atomic.Uint32, old uint32) {
	m.mu.Lock()
	if v.Load() == old {
		m.cond.Wait()
	}
	m.mu.Unlock()
}

func (m *monitor) wake(*atomic.Uint32) {
	m.mu.Lock()
	m.cond.Broadcast()
	m.mu.Unlock()
}
