//go:build unix

package cpu

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// hugePage is the size of a huge page on amd64 and, with pages of 4 KiB, arm64.
const hugePage = 2 << 20

// memory is zeroed memory from the operating system, which takes real memory
// only where it is touched.
type memory struct {
	bytes []byte // what was asked for
	all   []byte // the mapping
}

// reserve returns n bytes, at an address that is a multiple of hugePage where
// huge asks for such pages; whether there are any is up to the system.
func reserve(n int, huge bool) (*memory, error) {
	size, skip := n, 0
	if huge {
		size += hugePage
	}
	all, err := unix.Mmap(-1, 0, max(size, 1), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return nil, fmt.Errorf("no memory for %d MiB: %w", n>>20, err)
	}
	if huge {
		skip = int(-uintptr(unsafe.Pointer(unsafe.SliceData(all))) & (hugePage - 1))
		adviseHuge(all[skip : skip+n])
	}
	return &memory{bytes: all[skip : skip+n : skip+n], all: all}, nil
}

// free gives the memory back; it must not be used afterwards.
func (m *memory) free() error {
	if m == nil || m.all == nil {
		return nil
	}
	all := m.all
	m.all, m.bytes = nil, nil
	return unix.Munmap(all)
}

// floats views the memory as floats.
func (m *memory) floats() []float32 {
	return unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(m.bytes))), len(m.bytes)/4)
}
