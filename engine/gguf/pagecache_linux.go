package gguf

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// answers refuses a file of which Linux tells nothing: since 5.2 mincore
// reports every page as resident to who neither owns the file nor may write it
// (mm/mincore.c, can_do_mincore).
func answers(f *os.File) error {
	st, err := f.Stat()
	if err != nil {
		return err
	}
	uid := os.Geteuid()
	if s, ok := st.Sys().(*syscall.Stat_t); ok && (uid == 0 || int(s.Uid) == uid) {
		return nil
	}
	if unix.Faccessat(unix.AT_FDCWD, f.Name(), unix.W_OK, unix.AT_EACCESS) == nil {
		return nil
	}
	return fmt.Errorf("linux tells what is resident only to who owns the file or may write it: %w", errors.ErrUnsupported)
}

// evict uses posix_fadvise, which drops clean pages that nobody has mapped.
func evict(f *os.File, _ int64) error {
	if err := f.Sync(); err != nil {
		return fmt.Errorf("fsync: %w", err)
	}
	if err := unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED); err != nil {
		return fmt.Errorf("posix_fadvise: %w", err)
	}
	return nil
}
