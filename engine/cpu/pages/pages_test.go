//go:build unix

package pages

import (
	"math"
	"runtime"
	"testing"
	"unsafe"
)

func TestReserve(t *testing.T) {
	for _, size := range []Size{Usual, Small, Huge} {
		for _, n := range []int{0, 1, 5000, 5 << 20} {
			m, err := Reserve(n, size)
			if err != nil {
				t.Fatal(err)
			}
			if len(m.Bytes) != n || len(m.Floats()) != n/4 {
				t.Errorf("%d bytes, %d floats, of %d", len(m.Bytes), len(m.Floats()), n)
			}
			for i := range m.Bytes {
				if m.Bytes[i] != 0 {
					t.Fatalf("byte %d is %d", i, m.Bytes[i])
				}
				m.Bytes[i] = 1
			}
			if at := uintptr(unsafe.Pointer(unsafe.SliceData(m.Bytes))); size == Huge && at%hugePage != 0 {
				t.Errorf("huge pages at %#x", at)
			}
			if err := m.Free(); err != nil || m.Free() != nil {
				t.Errorf("free: %v", err)
			}
		}
	}
	var none *Memory
	if none.Free() != nil {
		t.Error("freeing nothing")
	}
	if _, err := Reserve(math.MaxInt-hugePage, Huge); err == nil {
		t.Error("all memory there is was given")
	}
}

// Small pages are never huge; huge ones are where the system has any.
func TestHugeBytes(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("SKIP: needs Linux, which says what pages memory has")
	}
	for _, size := range []Size{Small, Huge} {
		m, err := Reserve(8<<20, size)
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i < len(m.Bytes); i += 4096 {
			m.Bytes[i] = 1
		}
		n, ok := m.HugeBytes()
		if !ok || size == Small && n != 0 || n > len(m.Bytes)+2*hugePage {
			t.Errorf("size %d: %d bytes of huge pages, %v", size, n, ok)
		}
		m.Free()
	}
}
