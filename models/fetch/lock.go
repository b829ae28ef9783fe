package fetch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/introgen/introgen/models"
	"github.com/introgen/introgen/models/progress"
)

// lock waits until no other process holds the lock file at path. The lock ends
// with the process, however it ends.
func lock(ctx context.Context, path string, meter *progress.Meter) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("cannot lock the models' folder: %w", err)
	}
	said := false
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		switch {
		case err == nil:
			return func() { f.Close() }, nil
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.ENOSYS), errors.Is(err, unix.ENOTSUP):
			// A file system without locks: two at once would waste work, but
			// each still writes whole files only.
			return func() { f.Close() }, nil
		case !errors.Is(err, unix.EWOULDBLOCK):
			f.Close()
			return nil, fmt.Errorf("cannot lock %s: %w", path, err)
		}
		if !said {
			meter.Say("another introgen is setting up in this folder: waiting for it")
			said = true
		}
		select {
		case <-ctx.Done():
			f.Close()
			return nil, fmt.Errorf("interrupted: %w", context.Cause(ctx))
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// room fails where the disk of dir has less than need bytes left: better now
// than after minutes of downloading. A file system that does not tell passes.
func room(dir string, need int64) error {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return nil
	}
	free := st.Bavail * uint64(st.Bsize) // Bsize's type differs between systems
	if free >= uint64(need) {
		return nil
	}
	return fmt.Errorf("disk full: set-up needs %s in %s, where %s are free; %s moves the folder",
		progress.Size(need), dir, progress.Size(int64(free)), models.DirEnv)
}
