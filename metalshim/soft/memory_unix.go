//go:build unix

package soft

import (
	"golang.org/x/sys/unix"
)

// guardBytes lie before and behind each buffer: address space, not memory.
const guardBytes = 1 << 20

// guarded maps length bytes, rounded up to whole pages, between guards.
func guarded(length int) (region, inner []byte, err error) {
	const page = 64 << 10 // the largest page of the systems this runs on
	size := (length + page - 1) / page * page
	region, err = unix.Mmap(-1, 0, size+2*guardBytes, unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return nil, nil, err
	}
	inner = region[guardBytes : guardBytes+size]
	if err := unix.Mprotect(inner, unix.PROT_READ|unix.PROT_WRITE); err != nil {
		unmap(region)
		return nil, nil, err
	}
	advise(inner)
	return region, inner, nil
}

// unmap gives a region back, which only fails for what was never mapped.
func unmap(region []byte) { _ = unix.Munmap(region) }
