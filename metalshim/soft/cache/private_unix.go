//go:build unix

package cache

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// private says why dir is not the user's alone. Folders above it may belong to
// others, but nobody else may be able to put another folder in its place.
func private(dir string) error {
	for at := dir; ; at = filepath.Dir(at) {
		info, err := os.Lstat(at)
		if err != nil {
			return fmt.Errorf("cache folder: %w", err)
		}
		if at == dir {
			if err := mine(info); err != nil {
				return fmt.Errorf("cache folder %s: %w; make it private (chmod 700) or name another in %s: the code in it is run", dir, err, Env)
			}
		} else if info.Mode().Perm()&0o002 != 0 && info.Mode()&os.ModeSticky == 0 {
			return fmt.Errorf("cache folder %s: anybody may write to %s; name another in %s: the code in it is run", dir, at, Env)
		}
		if at == filepath.Dir(at) {
			return nil
		}
	}
}

func mine(info os.FileInfo) error {
	if s, ok := info.Sys().(*syscall.Stat_t); ok && int(s.Uid) != os.Geteuid() {
		return fmt.Errorf("it belongs to user %d", s.Uid)
	}
	if p := info.Mode().Perm(); p&0o022 != 0 {
		return fmt.Errorf("others may write to it (mode %04o)", p)
	}
	return nil
}

// openPrivate opens a file that is the user's alone.
func openPrivate(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("it is no regular file")
	}
	if err == nil {
		err = mine(info)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}
