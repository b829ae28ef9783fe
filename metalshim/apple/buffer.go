package apple

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"unsafe"

	"github.com/introgen/introgen/metalshim"
)

// untracked is MTLResourceHazardTrackingModeUntracked; the storage mode lies
// four bits up (Apple, MTLResource.h).
const (
	untracked    = 1 << 8
	storageShift = 4
)

// buffer is an MTLBuffer.
type buffer struct {
	shared
	d      *Device
	b      mtlBuffer
	n      int
	mode   metalshim.StorageMode
	memory []byte // of a shared buffer
}

// NewBuffer makes a buffer.
func (d *Device) NewBuffer(length int, mode metalshim.StorageMode) (metalshim.Buffer, error) {
	if err := d.usable("buffer"); err != nil {
		return nil, err
	}
	if length < 1 || int64(length) > d.info.MaxBufferLength {
		return nil, &metalshim.AllocationError{Length: int64(length), Limit: d.info.MaxBufferLength}
	}
	if mode != metalshim.Shared && mode != metalshim.Private {
		return nil, &metalshim.AllocationError{Length: int64(length), Err: fmt.Errorf("storage mode %d: shared or private is wanted", mode)}
	}
	defer d.a.Push().Pop()
	b := d.d.newBuffer(uint64(length), untracked|uint64(mode)<<storageShift)
	return d.made(b, length, mode)
}

// made takes a new buffer over. It is called within a pool.
func (d *Device) made(b mtlBuffer, length int, mode metalshim.StorageMode) (*buffer, error) {
	if b.nothing() {
		return nil, &metalshim.AllocationError{Length: int64(length), Err: metalshim.ErrOutOfMemory}
	}
	out := &buffer{shared: shared{a: d.a}, d: d, b: b, n: length, mode: mode}
	err := errors.New("the system gave a shorter one")
	if b.length() >= uint64(length) {
		err = nil
	}
	if mode == metalshim.Shared && err == nil {
		if at := b.contents(); at != nil {
			out.memory = unsafe.Slice((*byte)(at), length)
		} else {
			err = errors.New("the system gave no address for its contents")
		}
	}
	if err != nil {
		b.release()
		return nil, &metalshim.AllocationError{Length: int64(length), Err: err}
	}
	d.residency.add(b)
	out.Begin(&d.live.Buffers, out.release)
	d.live.BufferBytes.Add(int64(length))
	return out, nil
}

func (b *buffer) release() {
	b.d.residency.remove(b.b)
	b.b.release()
	b.memory = nil
}

// NewBufferWithBytes makes a shared buffer that holds a copy of src.
func (d *Device) NewBufferWithBytes(src []byte) (metalshim.Buffer, error) {
	return metalshim.BufferWithBytes(d, src)
}

// NewBufferNoCopy makes a shared buffer of memory itself, which must begin and
// end at a page boundary and stay mapped until the buffer is released and all
// that uses it has completed. Of a mapped file that is the whole map, not one
// tensor of it: tensors are bound by their offsets.
func (d *Device) NewBufferNoCopy(memory []byte) (metalshim.Buffer, error) {
	if err := d.usable("buffer"); err != nil {
		return nil, err
	}
	page := os.Getpagesize()
	switch n := len(memory); {
	case n == 0 || int64(n) > d.info.MaxBufferLength:
		return nil, &metalshim.AllocationError{Length: int64(n), Limit: d.info.MaxBufferLength}
	case uintptr(unsafe.Pointer(&memory[0]))%uintptr(page) != 0 || n%page != 0:
		return nil, &metalshim.AllocationError{Length: int64(n),
			Err: fmt.Errorf("memory that is not copied must begin and end at a page boundary, a multiple of %d bytes", page)}
	}
	defer d.a.Push().Pop()
	b, err := d.made(d.d.newBufferNoCopy(memory, untracked), len(memory), metalshim.Shared)
	if err != nil {
		return nil, err
	}
	b.memory = memory
	return b, nil
}

// Len is its length in bytes.
func (b *buffer) Len() int { return b.n }

// Mode is its storage mode.
func (b *buffer) Mode() metalshim.StorageMode { return b.mode }

// Contents is its memory, nil if it is private or released.
func (b *buffer) Contents() []byte {
	if b.Released() {
		return nil
	}
	return b.memory
}

// Release gives it back; its memory stays until no command buffer needs it.
func (b *buffer) Release() {
	if b.End() {
		b.d.live.BufferBytes.Add(-int64(b.n))
		defer b.a.Push().Pop()
		b.Drop()
	}
}

// NewFence makes a fence.
func (d *Device) NewFence() (metalshim.Fence, error) {
	if err := d.usable("fence"); err != nil {
		return nil, err
	}
	defer d.a.Push().Pop()
	f := &fence{shared{a: d.a}, d.d.newFence()}
	if f.f.nothing() {
		return nil, errors.New("metal fence: the system gave none")
	}
	f.Begin(&d.live.Fences, f.f.release)
	return f, nil
}

// residency is the one set that all buffers are in, on macOS 15 and later, as
// candle keeps it. Nothing of it is done where there is none.
type residency struct {
	mu  sync.Mutex
	set mtlResidencySet // nil where there is none
	why string          // why there is none
}

// open makes the set. A device that has none, as a virtual one, works without,
// as candle does; Facts says so.
func (r *residency) open(d mtlDevice) {
	set, err := d.newResidencySet()
	switch {
	case err != nil:
		r.why = err.Error()
	case set.nothing():
		r.why = "this system has none"
	default:
		set.requestResidency()
		r.set = set
	}
}

// do does something with the set, if there is one.
func (r *residency) do(f func(mtlResidencySet)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.set.nothing() {
		f(r.set)
	}
}

func (r *residency) add(b mtlBuffer) {
	r.do(func(s mtlResidencySet) { s.addAllocation(b); s.commit() })
}

func (r *residency) remove(b mtlBuffer) {
	r.do(func(s mtlResidencySet) { s.removeAllocation(b); s.commit() })
}

func (r *residency) close() {
	r.do(func(s mtlResidencySet) {
		s.endResidency()
		s.release()
		r.set = mtlResidencySet{}
	})
}

// attach and detach are for a queue.
func (r *residency) attach(q mtlQueue) { r.do(q.addResidencySet) }
func (r *residency) detach(q mtlQueue) { r.do(q.removeResidencySet) }
