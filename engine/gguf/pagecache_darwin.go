package gguf

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// answers: macOS has no rule against asking.
func answers(*os.File) error { return nil }

// evict uses msync with MS_INVALIDATE, which makes macOS throw away the cached
// pages of a mapped file; posix_fadvise does not exist there.
func evict(f *os.File, size int64) error {
	return withMap(f, size, func(b []byte) error {
		if err := unix.Msync(b, unix.MS_INVALIDATE); err != nil {
			return fmt.Errorf("msync: %w", err)
		}
		return nil
	})
}
