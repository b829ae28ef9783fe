package soft

import (
	"unsafe"

	"github.com/introgen/introgen/metalshim"
)

// buffer is memory between two pages that cannot be accessed, so that a
// kernel that leaves it by far fails its command buffer and nothing else.
type buffer struct {
	metalshim.Held
	d       *Device
	region  []byte // with the guard pages; nil where the memory is the user's
	memory  []byte
	address uintptr
	n       int
	charge  int64 // bytes counted against the device's limit
	mode    metalshim.StorageMode
}

// NewBufferWithBytes makes a shared buffer that holds a copy of b.
func (d *Device) NewBufferWithBytes(b []byte) (metalshim.Buffer, error) {
	return metalshim.BufferWithBytes(d, b)
}

// NewBuffer makes a buffer. Its memory is zero, though nobody may rely on it.
func (d *Device) NewBuffer(length int, mode metalshim.StorageMode) (metalshim.Buffer, error) {
	limit := d.o.MemoryLimit
	if length < 1 || int64(length) > limit {
		return nil, &metalshim.AllocationError{Length: int64(length), Limit: limit}
	}
	charge := int64(length)
	if d.live.BufferBytes.Add(charge) > limit {
		d.live.BufferBytes.Add(-charge)
		return nil, &metalshim.AllocationError{Length: int64(length), Limit: limit}
	}
	region, inner, err := guarded(length)
	if err != nil {
		d.live.BufferBytes.Add(-charge)
		return nil, &metalshim.AllocationError{Length: int64(length), Err: err}
	}
	return d.made(&buffer{region: region, memory: inner[:length:length], charge: charge, mode: mode}), nil
}

// NewBufferNoCopy makes a shared buffer of memory itself, which must stay
// mapped until the buffer is released and all that uses it has completed. It
// does not count against the memory limit, and has no guard pages.
func (d *Device) NewBufferNoCopy(memory []byte) (metalshim.Buffer, error) {
	if len(memory) == 0 {
		return nil, &metalshim.AllocationError{}
	}
	return d.made(&buffer{memory: memory, mode: metalshim.Shared}), nil
}

// made counts a new buffer.
func (d *Device) made(b *buffer) *buffer {
	b.d, b.n, b.address = d, len(b.memory), uintptr(unsafe.Pointer(&b.memory[0]))
	b.Begin(&d.live.Buffers, b.unmap)
	return b
}

// Len is its length in bytes.
func (b *buffer) Len() int { return b.n }

// Mode is its storage mode.
func (b *buffer) Mode() metalshim.StorageMode { return b.mode }

// Contents is its memory, nil if it is private or released.
func (b *buffer) Contents() []byte {
	if b.mode != metalshim.Shared || b.Released() {
		return nil
	}
	return b.memory
}

// unmap gives its memory back, once no command buffer needs it.
func (b *buffer) unmap() {
	b.d.live.BufferBytes.Add(-b.charge)
	if b.region != nil {
		unmap(b.region)
	}
	b.region, b.memory = nil, nil
}
