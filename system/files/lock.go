// Package files writes files whole or not at all, lets one process at a time do
// what it is about to do in a folder, and knows the folder in which everything
// lies that the project keeps outside its own tree.
package files

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// TryLock takes the lock on f, which ends when f is closed, or with the process.
// It is not taken where somebody else has it: another process, or this one
// through another opening of the file. A file system without locks gives it to
// everybody: two at once then do the same work, and whoever writes whole files
// only does no harm.
func TryLock(f *os.File) (taken bool, err error) {
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		switch {
		case err == nil, errors.Is(err, unix.ENOSYS), errors.Is(err, unix.ENOTSUP):
			return true, nil
		case errors.Is(err, unix.EWOULDBLOCK):
			return false, nil
		case !errors.Is(err, unix.EINTR):
			return false, err
		}
	}
}

// longestPause is between two attempts to take a lock that somebody else has.
const longestPause = 50 * time.Millisecond

// Lock waits until no other process holds the lock file at path, which it
// creates and leaves there. waiting, where not nil, is called once, if it has to
// wait.
func Lock(ctx context.Context, path string, waiting func()) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("cannot lock: %w", err)
	}
	for pause := time.Millisecond; ; pause = min(2*pause, longestPause) {
		taken, err := TryLock(f)
		if taken {
			return func() { f.Close() }, nil
		}
		if err != nil {
			f.Close()
			return nil, fmt.Errorf("cannot lock %s: %w", path, err)
		}
		if waiting != nil {
			waiting()
			waiting = nil
		}
		select {
		case <-ctx.Done():
			f.Close()
			return nil, fmt.Errorf("interrupted while waiting for another process (%s): %w", path, context.Cause(ctx))
		case <-time.After(pause):
		}
	}
}
