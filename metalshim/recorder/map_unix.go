//go:build unix

package recorder

import (
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// openRing maps a file and checks its header.
func openRing(path string) (*Ring, error) {
	f, err := os.OpenFile(path, os.O_RDWR|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if n := info.Size(); !info.Mode().IsRegular() || n < headBytes || n > headBytes+mostSlots*slotBytes {
		return nil, fmt.Errorf("%s: %w: it has %d bytes", path, ErrDamaged, n)
	}
	memory, err := unix.Mmap(int(f.Fd()), 0, int(info.Size()), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %w", path, ErrDamaged, err)
	}
	r, err := newRing(path, memory)
	if err != nil {
		_ = unix.Munmap(memory) // it was mapped a moment ago
		return nil, err
	}
	return r, nil
}

// Close gives the memory back. The file stays.
func (r *Ring) Close() {
	if r.memory != nil {
		_ = unix.Munmap(r.memory) // it is as it was mapped
		r.memory = nil
	}
}
