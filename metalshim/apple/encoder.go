package apple

import (
	"errors"
	"fmt"

	"github.com/introgen/introgen/metalshim"
	"github.com/introgen/introgen/metalshim/apple/objc"
)

// encoding is what both kinds of encoder share: the first misuse, and the end.
// Metal throws an NSException where it is misused, or reads foreign memory, so
// everything is checked here and nothing wrong is sent.
type encoding struct {
	metalshim.Misuse
	c     *commands
	e     mtlAnyEncoder
	ended bool
}

// usable is false, and a misuse, after the end.
func (e *encoding) usable(what string) bool {
	if e.ended {
		e.Note("", "%s after the encoder's end", what)
	}
	return !e.ended
}

// SetLabel names what follows in Apple's tools.
func (e *encoding) SetLabel(label string) {
	if !e.usable("label") {
		return
	}
	a := e.c.q.d.a
	defer a.Push().Pop()
	text, err := a.NewString(label)
	if err != nil {
		e.Note("", "label: %v", err)
		return
	}
	defer a.Release(text)
	e.e.setLabel(text)
}

// EndEncoding closes the encoder and returns the first misuse.
func (e *encoding) EndEncoding() error {
	if e.ended {
		e.Note("", "encoder ended twice")
		return e.Err
	}
	defer e.c.q.d.a.Push().Pop()
	e.close()
	return e.Err
}

// close ends it. It is called within a pool.
func (e *encoding) close() {
	e.ended = true
	e.c.open = nil
	e.e.endEncoding()
	e.e.release()
}

// fenceOf keeps f until the command buffer has completed.
func (e *encoding) fenceOf(f metalshim.Fence) (object, bool) {
	m, ok := f.(*fence)
	switch {
	case !e.usable("fence"):
	case !ok || m == nil:
		e.Note("", "the fence is of another driver")
	case m.Released():
		e.Note("", "the fence is released")
	default:
		e.c.keep(&m.shared)
		return m.f, true
	}
	return object{}, false
}

// memoryOf keeps b until the command buffer has completed. least is how many
// bytes from offset on there must be.
func (e *encoding) memoryOf(b metalshim.Buffer, offset, least int) (*buffer, bool) {
	m, ok := b.(*buffer)
	switch {
	case !e.usable("buffer"):
	case !ok || m == nil:
		e.Note("", "the buffer is of another driver")
	case m.Released():
		e.Note("", "the buffer is released")
	case e.Within(offset, least, m.n):
		e.c.keep(&m.shared)
		return m, true
	}
	return nil, false
}

func (c *commands) begin() error {
	switch {
	case c.done.Load():
		return fmt.Errorf("metal encoder: the command buffer: %w", metalshim.ErrReleased)
	case c.Status() != metalshim.NotEnqueued:
		return &metalshim.EncodeError{Reason: "new encoder after commit"}
	case c.open != nil:
		return &metalshim.EncodeError{Reason: "new encoder while another is open"}
	}
	return nil
}

var errNoEncoder = errors.New("metal encoder: the system gave none")

// encoder is an MTLComputeCommandEncoder.
type encoder struct {
	encoding
	m       mtlEncoder
	p       *pipeline
	dynamic [metalshim.MaxBufferIndex]int // threadgroup memory, bytes
}

// NewEncoder opens a compute encoder.
func (c *commands) NewEncoder(t metalshim.DispatchType) (metalshim.Encoder, error) {
	if t != metalshim.Serial && t != metalshim.Concurrent {
		return nil, &metalshim.EncodeError{Reason: fmt.Sprintf("dispatch type %d: it must be 0 or 1", t)}
	}
	if err := c.begin(); err != nil {
		return nil, err
	}
	defer c.q.d.a.Push().Pop()
	m := c.cb.computeEncoder(uint64(t))
	if m.nothing() {
		return nil, errNoEncoder
	}
	c.q.d.a.Retain(m.o)
	e := &encoder{encoding: encoding{c: c, e: m.mtlAnyEncoder}, m: m}
	c.open = &e.encoding
	return e, nil
}

// SetPipeline chooses the kernel.
func (e *encoder) SetPipeline(p metalshim.Pipeline) {
	q, ok := p.(*pipeline)
	switch {
	case !e.usable("pipeline"):
	case !ok || q == nil:
		e.Note("", "the pipeline is of another driver")
	case q.Released():
		e.Note(q.Function, "the pipeline is released")
	default:
		e.c.keep(&q.shared)
		e.p = q
		e.m.setPipeline(q.p)
	}
}

func (e *encoder) index(kind string, i int) bool { return e.Index(kind, i) && e.usable(kind) }

// SetBuffer binds a buffer from offset on; nil takes the binding away.
func (e *encoder) SetBuffer(i int, b metalshim.Buffer, offset int) {
	if !e.index("buffer", i) {
		return
	}
	if b == nil {
		e.m.setBuffer(0, 0, i)
		return
	}
	if m, ok := e.memoryOf(b, offset, 1); ok {
		e.m.setBuffer(m.b.o, offset, i)
	}
}

// SetBytes binds a copy of b.
func (e *encoder) SetBytes(i int, b []byte) {
	if !e.index("buffer", i) || !e.Bytes(i, len(b)) {
		return
	}
	e.m.setBytes(b, i)
}

// SetThreadgroupMemory sets the length of argument i in threadgroup memory.
func (e *encoder) SetThreadgroupMemory(i, length int) {
	if !e.index("threadgroup memory", i) || !e.ThreadgroupMemory(length, e.c.q.d.info.MaxThreadgroupMemory) {
		return
	}
	e.dynamic[i] = length
	e.m.setThreadgroupMemory(length, i)
}

// MemoryBarrier makes the dispatches that follow see what those before wrote.
func (e *encoder) MemoryBarrier(scope metalshim.BarrierScope) {
	if scope != metalshim.BarrierBuffers {
		e.Note("", "barrier scope %d: only that of buffers, %d, is known", scope, metalshim.BarrierBuffers)
	} else if e.usable("barrier") {
		e.m.memoryBarrier(uint64(scope))
	}
}

// WaitForFence makes the encoder wait for the last update of f.
func (e *encoder) WaitForFence(f metalshim.Fence) {
	if o, ok := e.fenceOf(f); ok {
		e.m.waitForFence(o)
	}
}

// UpdateFence lets others wait for this encoder.
func (e *encoder) UpdateFence(f metalshim.Fence) {
	if o, ok := e.fenceOf(f); ok {
		e.m.updateFence(o)
	}
}

// DispatchThreadgroups encodes groups × perGroup threads.
func (e *encoder) DispatchThreadgroups(groups, perGroup metalshim.Size) error {
	if err := e.check(groups, perGroup); err != nil {
		return err
	}
	defer e.c.q.d.a.Push().Pop()
	e.m.dispatchThreadgroups(sizeOf(groups), sizeOf(perGroup))
	return nil
}

// DispatchThreads encodes threads threads in groups of up to perGroup.
func (e *encoder) DispatchThreads(threads, perGroup metalshim.Size) error {
	if err := e.check(threads, perGroup); err != nil {
		return err
	}
	defer e.c.q.d.a.Push().Pop()
	e.m.dispatchThreads(sizeOf(threads), sizeOf(perGroup))
	return nil
}

func sizeOf(s metalshim.Size) objc.Size {
	return objc.Size{Width: uint64(s.X), Height: uint64(s.Y), Depth: uint64(s.Z)}
}

// check is what Metal would otherwise stop the process for. It cannot tell
// which arguments the kernel needs; MTL_DEBUG_LAYER does.
func (e *encoder) check(grid, perGroup metalshim.Size) error {
	name := ""
	if e.p != nil {
		name = e.p.Function
	}
	memory := 0
	for _, n := range e.dynamic {
		memory += n
	}
	switch most := e.c.q.d.info.MaxThreadgroupMemory; {
	case !e.usable("dispatch"):
	case e.p == nil:
		e.Note("", "no pipeline is set")
	case grid.Count() < 0 || perGroup.Count() < 0:
		e.Note(name, "grid %v of threadgroups %v: every size must be at least 1, and less than 2³² together", grid, perGroup)
	case perGroup.Count() > e.p.Threads:
		e.Note(name, "threadgroup %v has %d threads, the pipeline allows %d", perGroup, perGroup.Count(), e.p.Threads)
	case memory+e.p.Memory > most:
		e.Note(name, "%d bytes of threadgroup memory, the device allows %d", memory+e.p.Memory, most)
	}
	return e.Err
}

// blit is an MTLBlitCommandEncoder.
type blit struct {
	encoding
	m mtlBlit
}

// NewBlit opens a blit encoder.
func (c *commands) NewBlit() (metalshim.Blit, error) {
	if err := c.begin(); err != nil {
		return nil, err
	}
	defer c.q.d.a.Push().Pop()
	m := c.cb.blitEncoder()
	if m.nothing() {
		return nil, errNoEncoder
	}
	c.q.d.a.Retain(m.o)
	b := &blit{encoding: encoding{c: c, e: m.mtlAnyEncoder}, m: m}
	c.open = &b.encoding
	return b, nil
}

// blitAlignment is what offsets and lengths of copies and fills are multiples
// of on macOS, in bytes (Apple, MTLBlitCommandEncoder).
const blitAlignment = 4

// aligned holds offsets and lengths to Apple's rule.
func (b *blit) aligned(what string, numbers ...int) bool {
	for _, n := range numbers {
		if n%blitAlignment != 0 {
			b.Note("", "%s with %d: offsets and lengths must be multiples of %d bytes", what, n, blitAlignment)
			return false
		}
	}
	return true
}

// Copy copies n bytes; none are none.
func (b *blit) Copy(dst metalshim.Buffer, dstOffset int, src metalshim.Buffer, srcOffset, n int) {
	to, ok1 := b.memoryOf(dst, dstOffset, n)
	from, ok2 := b.memoryOf(src, srcOffset, n)
	if !ok1 || !ok2 || n == 0 || !b.aligned("copy", dstOffset, srcOffset, n) {
		return
	}
	defer b.c.q.d.a.Push().Pop()
	b.m.copy(from.b, srcOffset, to.b, dstOffset, n)
}

// Fill sets n bytes to value.
func (b *blit) Fill(dst metalshim.Buffer, offset, n int, value byte) {
	to, ok := b.memoryOf(dst, offset, n)
	if !ok || n == 0 || !b.aligned("fill", offset, n) {
		return
	}
	defer b.c.q.d.a.Push().Pop()
	b.m.fill(to.b, offset, n, value)
}

// WaitForFence makes the encoder wait for the last update of f.
func (b *blit) WaitForFence(f metalshim.Fence) {
	if o, ok := b.fenceOf(f); ok {
		b.m.waitForFence(o)
	}
}

// UpdateFence lets others wait for this encoder.
func (b *blit) UpdateFence(f metalshim.Fence) {
	if o, ok := b.fenceOf(f); ok {
		b.m.updateFence(o)
	}
}
