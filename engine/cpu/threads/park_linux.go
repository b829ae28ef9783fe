package threads

import (
	"math"
	"runtime"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// futex is the parker that sleeps in the kernel: it wakes in some 5 µs.
type futex struct{}

// Operations of futex(2), on memory that no other process shares.
const (
	futexWaitPrivate = 0 | 128
	futexWakePrivate = 1 | 128
)

// newParker returns the parker for n threads. A thread that sleeps on a futex
// keeps its share of GOMAXPROCS for a while; where there are fewer shares than
// threads, that would hold up the thread that is waited for.
func newParker(n int) parker {
	if n > runtime.GOMAXPROCS(0) {
		return newMonitor()
	}
	return futex{}
}

func (futex) sleep(v *atomic.Uint32, old uint32) {
	// Every outcome (woken, changed before, a signal) means the same: look again.
	_, _, _ = unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(v)), futexWaitPrivate, uintptr(old), 0, 0, 0)
}

func (futex) wake(v *atomic.Uint32) {
	// It cannot fail: the address is aligned and mapped.
	_, _, _ = unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(v)), futexWakePrivate, math.MaxInt32, 0, 0, 0)
}
