//go:build unix

package files

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// Private says why what info describes is not the user's alone: it belongs to
// somebody else, or others may write to it.
func Private(info os.FileInfo) error {
	if s, ok := info.Sys().(*syscall.Stat_t); ok && int(s.Uid) != os.Geteuid() {
		return fmt.Errorf("it belongs to user %d", s.Uid)
	}
	if p := info.Mode().Perm(); p&0o022 != 0 {
		return fmt.Errorf("others may write to it (mode %04o)", p)
	}
	return nil
}

// OpenPrivate opens, to be read, a regular file that is the user's alone. A link is
// none.
func OpenPrivate(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		if errors.Is(err, syscall.ELOOP) {
			err = errors.New("it is a symbolic link")
		}
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("it is no regular file")
	}
	if err == nil {
		err = Private(info)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}
