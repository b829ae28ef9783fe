//go:build linux && (amd64 || arm64)

package beside

import (
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/introgen/introgen/metalshim"
)

// guardBytes lie before and behind each buffer: address space, not memory. A kernel
// that leaves a buffer fails its command buffer, and spoils no other's memory.
const guardBytes = 1 << 20

// newMapped makes a buffer of n bytes of a file from offset on, which stand in the
// region. Where it is private, what is written stays in this process.
func newMapped(d metalshim.Device, file int, offset int64, n uint64, private bool) (b metalshim.Buffer, region []byte, err error) {
	page := uint64(os.Getpagesize())
	if n == 0 || n%page != 0 || n > 1<<46 || offset < 0 || uint64(offset)%page != 0 {
		return nil, nil, fmt.Errorf("the program's library sent a buffer of %d bytes from %d of its file: both must be whole pages", n, offset)
	}
	region, err = unix.Mmap(-1, 0, int(n)+2*guardBytes, unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
	if err != nil {
		return nil, nil, fmt.Errorf("the memory of a buffer of %d bytes: %w", n, err)
	}
	defer func() {
		if err != nil {
			unmap(region)
		}
	}()
	flags := unix.MAP_SHARED
	if private {
		flags = unix.MAP_PRIVATE
	}
	memory := region[guardBytes : guardBytes+n : guardBytes+n]
	if _, err := unix.MmapPtr(file, offset, unsafe.Pointer(&memory[0]), uintptr(n), unix.PROT_READ|unix.PROT_WRITE, flags|unix.MAP_FIXED); err != nil {
		return nil, nil, fmt.Errorf("the memory of a buffer of %d bytes: %w", n, err)
	}
	if n >= 4<<20 {
		_ = unix.Madvise(memory, unix.MADV_HUGEPAGE) // where the system has them
	}
	b, err = metalshim.NewBufferNoCopy(d, memory)
	return b, region, err
}

// unmap gives a region back, which only fails for what was never mapped.
func unmap(region []byte) { _ = unix.Munmap(region) }
