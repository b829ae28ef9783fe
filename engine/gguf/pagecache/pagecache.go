// Package pagecache tells how much of a file the operating system holds in
// memory, and asks it to let go: the difference between a cold and a warm read.
package pagecache

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// Resident returns the share of the file's pages, from 0 to 1, that lie in the
// page cache. It reads none of them. Where the system hides the answer, the error
// wraps [errors.ErrUnsupported].
func Resident(path string) (share float64, err error) {
	err = withFile(path, func(f *os.File, size int64) error {
		share, err = resident(f, size)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("page cache of %s: %w", path, err)
	}
	return share, nil
}

// Evict writes the file's changed pages out and asks the system to drop all of
// its pages from the page cache. Pages that a process has mapped and touched
// stay, so it goes before opening the file; ask Resident what came of it.
func Evict(path string) error {
	if err := withFile(path, evict); err != nil {
		return fmt.Errorf("evict %s from the page cache: %w", path, err)
	}
	return nil
}

// withFile opens a regular file that is not empty, without waiting for a FIFO.
func withFile(path string, do func(f *os.File, size int64) error) error {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		var pe *fs.PathError
		if errors.As(err, &pe) {
			err = pe.Err // the path is named by the caller
		}
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
