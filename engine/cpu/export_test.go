package cpu

import (
	"unsafe"

	"github.com/introgen/introgen/engine/cpu/pages"
)

// TakeMemory makes engines take their buffers, their cache and their packed
// weights from take, which returns zero bytes at an address that is a multiple
// of 4 where n is; restore undoes it.
func TakeMemory(take func(n int) []byte) (restore func()) {
	oldFloats, oldReserve := floats, reserve
	floats = func(n int) []float32 {
		return unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(take(4*n)))), n)
	}
	reserve = func(n int, _ pages.Size) (*pages.Memory, error) {
		return &pages.Memory{Bytes: take(n)}, nil
	}
	return func() { floats, reserve = oldFloats, oldReserve }
}

// SetAvailable makes engines believe that so much memory is available, and ask
// whenever they take some.
func SetAvailable(n int64) (restore func()) {
	old, oldSmall := available, smallBytes
	available, smallBytes = func() (int64, bool) { return n, true }, 0
	return func() { available, smallBytes = old, oldSmall }
}

// The sizes at which an engine changes what it does.
const (
	Chunk    = chunk
	UnitRows = unitRows
	RunRows  = runRows
	HeadRows = headRows
)
