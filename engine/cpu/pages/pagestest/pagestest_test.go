//go:build unix

package pagestest

import (
	"runtime/debug"
	"testing"
	"unsafe"
)

// faults reports whether reading the byte at p faults.
func faults(p unsafe.Pointer) (yes bool) {
	old := debug.SetPanicOnFault(true)
	defer debug.SetPanicOnFault(old)
	defer func() { yes = recover() != nil }()
	sink = *(*byte)(p)
	return false
}

var sink byte

func TestEdges(t *testing.T) {
	a := New(t)
	for _, n := range []int{1, 4, 4095, 4096, 4097, 1 << 20} {
		end, begin := a.Ending(n), a.Beginning(n)
		for i := range n {
			end[i], begin[i] = 1, 1
		}
		if !faults(unsafe.Add(unsafe.Pointer(unsafe.SliceData(end)), n)) {
			t.Errorf("%d bytes can be read beyond their end", n)
		}
		if !faults(unsafe.Add(unsafe.Pointer(unsafe.SliceData(begin)), -1)) {
			t.Errorf("%d bytes can be read before they begin", n)
		}
	}
	if f := a.EndingFloats(3); len(f) != 3 || f[2] != 0 {
		t.Errorf("floats %v", f)
	}
	a.Free()
}
