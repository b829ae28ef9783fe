package soft

import (
	"unsafe"

	"github.com/introgen/introgen/metalshim"
	"github.com/introgen/introgen/metalshim/msl"
	"github.com/introgen/introgen/metalshim/soft/native"
)

// base is what both kinds of encoder share: the first misuse, and the end.
type base struct {
	metalshim.Misuse
	c     *commands
	ended bool
}

// SetLabel does nothing.
func (e *base) SetLabel(string) {}

// WaitForFence does nothing: commands run in order.
func (e *base) WaitForFence(f metalshim.Fence) {
	if _, ok := f.(*fence); !ok {
		e.Note("", "the fence is of another driver")
	}
}

// UpdateFence does nothing: commands run in order.
func (e *base) UpdateFence(f metalshim.Fence) { e.WaitForFence(f) }

// EndEncoding closes the encoder and returns the first misuse.
func (e *base) EndEncoding() error {
	if e.ended {
		e.Note("", "encoder ended twice")
		return e.Err
	}
	e.ended = true
	e.c.open = false
	return e.Err
}

func (c *commands) begin() error {
	if c.Status() != metalshim.NotEnqueued {
		return &metalshim.EncodeError{Reason: "new encoder after commit"}
	}
	if c.open {
		return &metalshim.EncodeError{Reason: "new encoder while another is open"}
	}
	c.open = true
	return nil
}

// memoryOf keeps b until the command buffer has run.
func (e *base) memoryOf(b metalshim.Buffer, offset, length int) (uintptr, bool) {
	m, ok := b.(*buffer)
	switch {
	case !ok || m == nil:
		e.Note("", "the buffer is of another driver")
	case m.Released():
		e.Note("", "the buffer is released")
	case e.Within(offset, length, m.n):
		m.Hold()
		e.c.retained = append(e.c.retained, m)
		return m.address + uintptr(offset), true
	}
	return 0, false
}

// encoder is a compute encoder.
type encoder struct {
	base
	p       *pipeline
	counted bool // p is in c.used
	next    native.Command
}

// NewEncoder opens a compute encoder. Dispatches run one after the other,
// which both dispatch types allow.
func (c *commands) NewEncoder(metalshim.DispatchType) (metalshim.Encoder, error) {
	if err := c.begin(); err != nil {
		return nil, err
	}
	return &encoder{base: base{c: c}}, nil
}

// SetPipeline chooses the kernel.
func (e *encoder) SetPipeline(p metalshim.Pipeline) {
	q, ok := p.(*pipeline)
	switch {
	case !ok || q == nil:
		e.Note("", "the pipeline is of another driver")
	case q.Released():
		e.Note(q.Function, "the pipeline is released")
	case q != e.p:
		e.p, e.counted = q, false
	}
}

// SetBuffer binds a buffer from offset on; nil takes the binding away.
func (e *encoder) SetBuffer(i int, b metalshim.Buffer, offset int) {
	if !e.Index("buffer", i) {
		return
	}
	if b == nil {
		e.next.Buf[i] = 0
		return
	}
	if address, ok := e.memoryOf(b, offset, 0); ok {
		e.next.Buf[i] = address
	}
}

// SetBytes binds a copy of b.
func (e *encoder) SetBytes(i int, b []byte) {
	if !e.Index("buffer", i) || !e.Bytes(i, len(b)) {
		return
	}
	e.next.Buf[i] = uintptr(unsafe.Pointer(&e.c.arena.copy(b)[0]))
}

// SetThreadgroupMemory sets the length of argument i in threadgroup memory.
func (e *encoder) SetThreadgroupMemory(i, length int) {
	if e.Index("threadgroup memory", i) && e.ThreadgroupMemory(length, maxThreadgroupMemory) {
		e.next.TGM[i] = uint32(length)
	}
}

// MemoryBarrier does nothing: dispatches run one after the other.
func (e *encoder) MemoryBarrier(metalshim.BarrierScope) {}

// DispatchThreadgroups encodes groups × perGroup threads.
func (e *encoder) DispatchThreadgroups(groups, perGroup metalshim.Size) error {
	if groups.Count() < 0 || perGroup.Count() < 0 {
		return e.refuse("grid %v of threadgroups %v: every size must be at least 1", groups, perGroup)
	}
	threads := metalshim.Size{X: groups.X * perGroup.X, Y: groups.Y * perGroup.Y, Z: groups.Z * perGroup.Z}
	return e.dispatch(groups, perGroup, threads)
}

// DispatchThreads encodes threads threads in groups of up to perGroup.
func (e *encoder) DispatchThreads(threads, perGroup metalshim.Size) error {
	if threads.Count() < 0 || perGroup.Count() < 0 {
		return e.refuse("grid %v of threadgroups %v: every size must be at least 1", threads, perGroup)
	}
	groups := metalshim.Size{
		X: (threads.X + perGroup.X - 1) / perGroup.X,
		Y: (threads.Y + perGroup.Y - 1) / perGroup.Y,
		Z: (threads.Z + perGroup.Z - 1) / perGroup.Z,
	}
	return e.dispatch(groups, perGroup, threads)
}

func (e *encoder) refuse(format string, args ...any) error {
	name := ""
	if e.p != nil {
		name = e.p.Function
	}
	e.Note(name, format, args...)
	return e.Err
}

func (e *encoder) dispatch(groups, perGroup, threads metalshim.Size) error {
	if e.ended {
		return e.refuse("dispatch after the encoder's end")
	}
	if e.p == nil {
		return e.refuse("no pipeline is set")
	}
	if n, most := perGroup.Count(), e.p.Threads; n > most {
		return e.refuse("threadgroup %v has %d threads, the pipeline allows %d", perGroup, n, most)
	}
	if threads.Count() < 0 {
		return e.refuse("grid of %v threads: it must have less than 2³² threads", threads)
	}
	memory := e.p.Memory
	for i := range e.next.TGM {
		memory += int(e.next.TGM[i])
		if e.p.facts.Threadgroup>>i&1 == 1 && e.next.TGM[i] == 0 {
			return e.refuse("threadgroup memory %d%s has no length", i, e.p.param(msl.Threadgroup, i))
		}
	}
	if memory > maxThreadgroupMemory {
		return e.refuse("%d bytes of threadgroup memory, the device allows %d", memory, maxThreadgroupMemory)
	}
	for i := range e.next.Buf {
		if e.p.facts.Buffers>>i&1 == 1 && e.next.Buf[i] == 0 {
			return e.refuse("buffer %d%s is not set", i, e.p.param(msl.Buffer, i))
		}
	}
	if e.Err != nil {
		return e.Err
	}
	if !e.counted {
		e.p.Hold()
		e.c.used = append(e.c.used, e.p)
		e.counted = true
	}
	cmd := e.next
	cmd.Kind = native.RunKernel
	if e.p.facts.Waits {
		cmd.Value = 1
	}
	cmd.Fn, cmd.Frame, cmd.TGS = e.p.kernel.Fn, e.p.kernel.Frame, e.p.kernel.StaticSize
	cmd.Groups = [3]uint32{uint32(groups.X), uint32(groups.Y), uint32(groups.Z)}
	cmd.Per = [3]uint32{uint32(perGroup.X), uint32(perGroup.Y), uint32(perGroup.Z)}
	cmd.Threads = [3]uint32{uint32(threads.X), uint32(threads.Y), uint32(threads.Z)}
	e.c.list = append(e.c.list, cmd)
	e.c.kernels = append(e.c.kernels, e.p)
	return nil
}

// param is the declaration of an argument, for messages.
func (p *pipeline) param(kind msl.Kind, index int) string {
	for _, q := range p.params {
		if q.Kind == kind && q.Index == index {
			return " (" + q.Text + ")"
		}
	}
	return ""
}

// blit copies and fills.
type blit struct{ base }

// NewBlit opens a blit encoder.
func (c *commands) NewBlit() (metalshim.Blit, error) {
	if err := c.begin(); err != nil {
		return nil, err
	}
	return &blit{base{c: c}}, nil
}

func (b *blit) add(cmd native.Command) {
	if b.ended {
		b.Note("", "blit after the encoder's end")
		return
	}
	b.c.list = append(b.c.list, cmd)
	b.c.kernels = append(b.c.kernels, nil)
}

// Copy copies n bytes.
func (b *blit) Copy(dst metalshim.Buffer, dstOffset int, src metalshim.Buffer, srcOffset, n int) {
	to, ok1 := b.memoryOf(dst, dstOffset, n)
	from, ok2 := b.memoryOf(src, srcOffset, n)
	if ok1 && ok2 {
		cmd := native.Command{Kind: native.CopyBytes, Bytes: uint64(n)}
		cmd.Buf[0], cmd.Buf[1] = to, from
		b.add(cmd)
	}
}

// Fill sets n bytes to value.
func (b *blit) Fill(dst metalshim.Buffer, offset, n int, value byte) {
	if to, ok := b.memoryOf(dst, offset, n); ok {
		cmd := native.Command{Kind: native.FillBytes, Value: uint32(value), Bytes: uint64(n)}
		cmd.Buf[0] = to
		b.add(cmd)
	}
}
