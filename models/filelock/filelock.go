// Package filelock lets one process at a time do what it is about to do in a
// folder. A lock ends with the process that holds it, however that ends.
package filelock

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Lock waits until no other process holds the lock file at path, which it
// creates and leaves there. waiting is called once, if it has to wait.
func Lock(ctx context.Context, path string, waiting func()) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("cannot lock: %w", err)
	}
	for told := false; ; {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		switch {
		case err == nil:
			return func() { f.Close() }, nil
		case errors.Is(err, unix.ENOSYS), errors.Is(err, unix.ENOTSUP):
			// A file system without locks. Two at once would waste work, but
			// whoever writes whole files only does no harm.
			return func() { f.Close() }, nil
		case errors.Is(err, unix.EINTR):
			continue
		case !errors.Is(err, unix.EWOULDBLOCK):
			f.Close()
			return nil, fmt.Errorf("cannot lock %s: %w", path, err)
		}
		if !told {
			waiting()
			told = true
		}
		select {
		case <-ctx.Done():
			f.Close()
			return nil, fmt.Errorf("interrupted while waiting for another process (%s): %w", path, context.Cause(ctx))
		case <-time.After(100 * time.Millisecond):
		}
	}
}
