//go:build unix

// Package pages gets memory from the operating system by the page.
package pages

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Size says which pages memory is made of.
type Size int

const (
	// Usual leaves it to the system.
	Usual Size = iota
	// Small asks for the processor's smallest pages, 4 KiB on most.
	Small
	// Huge asks for huge pages, of 2 MiB on amd64.
	Huge
)

// hugePage is the size of a huge page on amd64 and, with small pages of 4 KiB,
// on arm64.
const hugePage = 2 << 20

// Memory is zeroed memory, which takes real memory only where it is touched.
type Memory struct {
	Bytes []byte // what was asked for
	all   []byte // the mapping
}

// Reserve returns n bytes of pages of a size, at an address that is a multiple
// of that size. Whether the system has huge pages to give is up to it: without,
// the memory is of small ones.
func Reserve(n int, size Size) (*Memory, error) {
	total, skip := n, 0
	if size == Huge {
		total += hugePage
	}
	all, err := unix.Mmap(-1, 0, max(total, 1), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return nil, fmt.Errorf("no memory for %d MiB: %w", n>>20, err)
	}
	if size == Huge {
		skip = int(-uintptr(unsafe.Pointer(unsafe.SliceData(all))) & (hugePage - 1))
	}
	m := &Memory{Bytes: all[skip : skip+n : skip+n], all: all}
	advise(m.all, size)
	return m, nil
}

// Free gives the memory back; it must not be used afterwards. It does nothing to
// a nil Memory, and the second time.
func (m *Memory) Free() error {
	if m == nil || m.all == nil {
		return nil
	}
	all := m.all
	m.all, m.Bytes = nil, nil
	return unix.Munmap(all)
}

// Floats views the memory as floats.
func (m *Memory) Floats() []float32 {
	return unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(m.Bytes))), len(m.Bytes)/4)
}
