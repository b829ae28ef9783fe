//go:build unix

// Package pagestest gives tests memory that ends, or begins, exactly at a page
// that is not mapped: whoever reads or writes one byte too far faults there, in
// Go and in assembly.
package pagestest

import (
	"os"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Arena is such memory. Free gives all of it back.
type Arena struct {
	t   testing.TB
	all [][]byte
}

// New returns an arena that is freed when the test ends, or before by Free.
func New(t testing.TB) *Arena {
	a := &Arena{t: t}
	t.Cleanup(a.Free)
	return a
}

// Free gives the memory back; the arena can be used again.
func (a *Arena) Free() {
	a.t.Helper()
	for _, b := range a.all {
		if err := unix.Munmap(b); err != nil {
			a.t.Error(err)
		}
	}
	a.all = nil
}

// reserve returns whole pages for n bytes between two that are not mapped.
func (a *Arena) reserve(n int) []byte {
	a.t.Helper()
	page := os.Getpagesize()
	size := (max(n, 1) + page - 1) / page * page
	b, err := unix.Mmap(-1, 0, size+2*page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		a.t.Fatal(err)
	}
	a.all = append(a.all, b)
	for _, guard := range [][]byte{b[:page], b[page+size:]} {
		if err := unix.Mprotect(guard, unix.PROT_NONE); err != nil {
			a.t.Fatal(err)
		}
	}
	return b[page : page+size : page+size]
}

// Ending returns n zero bytes that end at a page which is not mapped.
func (a *Arena) Ending(n int) []byte {
	a.t.Helper()
	b := a.reserve(n)
	return b[len(b)-n:]
}

// Beginning returns n zero bytes that begin behind a page which is not mapped.
func (a *Arena) Beginning(n int) []byte {
	a.t.Helper()
	return a.reserve(n)[:n:n]
}

// EndingFloats is Ending for floats.
func (a *Arena) EndingFloats(n int) []float32 { a.t.Helper(); return Floats(a.Ending(4 * n)) }

// Floats views bytes as floats.
func Floats(b []byte) []float32 {
	return unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/4)
}
