package metalshim

import "sync/atomic"

// Held is what a driver's object knows of who holds on to it, its user and command
// buffers in flight, and gives it its Release: that counts at once, the object
// itself goes when the last command buffer has completed. It is made by Begin.
type Held struct {
	refs     atomic.Int32
	released atomic.Bool
	count    *atomic.Int64
	free     func()
}

// Begin counts a new object and remembers how it is freed.
func (h *Held) Begin(count *atomic.Int64, free func()) {
	h.refs.Store(1)
	h.count, h.free = count, free
	count.Add(1)
}

// Hold takes a reference for a command buffer.
func (h *Held) Hold() { h.refs.Add(1) }

// Drop gives a reference up.
func (h *Held) Drop() {
	if h.refs.Add(-1) == 0 {
		h.free()
	}
}

// End gives the user's share up but for the reference, and tells whether this is
// the first Release, after which Drop follows.
func (h *Held) End() bool {
	if h.released.Swap(true) {
		return false
	}
	h.count.Add(-1)
	return true
}

// Released tells whether its user has given it back.
func (h *Held) Released() bool { return h.released.Load() }

// Release gives it back.
func (h *Held) Release() {
	if h.End() {
		h.Drop()
	}
}

// Compiled is what a driver's pipeline knows of itself, and gives a Pipeline its
// getters.
type Compiled struct {
	Function, Of string // its name, and its library's
	With         []Constant
	Threads      int // of a threadgroup at most
	Lanes        int // of a simdgroup
	Memory       int // of a threadgroup, static, in bytes
	How          Evidence
}

// The methods are those of Pipeline.
func (c *Compiled) Name() string                  { return c.Function }
func (c *Compiled) Library() string               { return c.Of }
func (c *Compiled) Constants() []Constant         { return c.With }
func (c *Compiled) MaxThreadsPerThreadgroup() int { return c.Threads }
func (c *Compiled) ThreadExecutionWidth() int     { return c.Lanes }
func (c *Compiled) StaticThreadgroupMemory() int  { return c.Memory }
func (c *Compiled) Evidence() Evidence            { return c.How }
