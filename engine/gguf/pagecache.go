package gguf

import (
	"errors"
	"fmt"
	"math"
	"os"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// How much of a model's file the operating system holds in memory is the difference
// between a cold and a warm read.

// Resident returns the share of the file's pages, from 0 to 1, that lie in the
// page cache; of the first part of a split file, that of all parts. It reads none of
// them. Where the system hides the answer, the error wraps [errors.ErrUnsupported].
func Resident(path string) (share float64, err error) {
	var bytes, in float64
	for _, path := range partPaths(path) {
		err = withFile(path, func(f *os.File, size int64) error {
			share, err := resident(f, size)
			bytes, in = bytes+float64(size), in+share*float64(size)
			return err
		})
		if err != nil {
			return 0, fmt.Errorf("page cache of %s: %w", path, err)
		}
	}
	return in / bytes, nil
}

// BeginResident begins to ask as Resident does, beside what follows: it takes some
// milliseconds for a file of some hundred megabytes. The function that it returns waits
// for the answer.
func BeginResident(path string) (wait func() (share float64, err error)) {
	type answer struct {
		share float64
		err   error
	}
	answered := make(chan answer, 1)
	go func() {
		share, err := Resident(path)
		answered <- answer{share, err}
	}()
	return sync.OnceValues(func() (float64, error) {
		a := <-answered
		return a.share, a.err
	})
}

// Evict writes the file's changed pages out and asks the system to drop all of
// its pages from the page cache. Pages that a process has mapped and touched
// stay, so it goes before opening the file; ask Resident what came of it. Of the first
// part of a split file it drops all parts.
func Evict(path string) error {
	for _, path := range partPaths(path) {
		if err := withFile(path, evict); err != nil {
			return fmt.Errorf("evict %s from the page cache: %w", path, err)
		}
	}
	return nil
}

// withFile opens a regular file that is not empty.
func withFile(path string, do func(f *os.File, size int64) error) error {
	f, err := openFile(path)
	if err != nil {
		return err
	}
	defer f.Close()
	st, err := f.Stat()
	switch {
	case err != nil:
		return err
	case !st.Mode().IsRegular():
		return fmt.Errorf("it is not a regular file (%v)", st.Mode().Type())
	case st.Size() == 0:
		return errors.New("it is empty")
	}
	return do(f, st.Size())
}

// withMap maps the file for the time of do. Mapping touches no page.
func withMap(f *os.File, size int64, do func(b []byte) error) error {
	if size > math.MaxInt {
		return fmt.Errorf("%d bytes cannot be mapped by a 32-bit program", size)
	}
	b, err := unix.Mmap(int(f.Fd()), 0, int(size), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return fmt.Errorf("mmap: %w", err)
	}
	err = do(b)
	if e := unix.Munmap(b); err == nil && e != nil {
		err = fmt.Errorf("munmap: %w", e)
	}
	return err
}

// resident asks mincore(2), whose answer has a byte for each page, with bit 0
// set where the page is in memory.
func resident(f *os.File, size int64) (share float64, err error) {
	if err := answers(f); err != nil {
		return 0, err
	}
	err = withMap(f, size, func(b []byte) error {
		page := os.Getpagesize()
		pages := make([]byte, (len(b)+page-1)/page)
		_, _, errno := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)), uintptr(unsafe.Pointer(&pages[0])))
		if errno != 0 {
			return fmt.Errorf("mincore: %w", errno)
		}
		in := 0
		for _, p := range pages {
			in += int(p & 1)
		}
		share = float64(in) / float64(len(pages))
		return nil
	})
	return share, err
}
