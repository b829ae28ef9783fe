package files

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// mark stands in the names of unfinished files, and nowhere else, unless the
// writer names them.
const mark = ".unfinished-"

// block is how much is handed to the system at a time. The page cache of Linux
// keeps a file in folios as large as its writes were, and a model that lies in
// large ones is read a quarter faster through a mapping: fewer page faults,
// fewer TLB misses.
const block = 8 << 20

// Options say how a file is written. The zero value writes one that all may read,
// and whose bytes have reached the disk when it gets its name.
type Options struct {
	Mode fs.FileMode // 0 is 0644
	// Unsynced leaves it to the system when the bytes reach the disk. It is for
	// files that can be made again, or whose readers check them.
	Unsynced bool
	// Unfinished is what the file is called before it is whole: a pattern of
	// os.CreateTemp. "" is a hidden name that Sweep finds.
	Unfinished string
}

// File is an unfinished file: its bytes go to a neighbour of the file that it
// will be. Commit gives it its name; Discard removes it.
type File struct {
	f    *os.File
	w    *bufio.Writer
	path string
	o    Options
	done bool
}

// Create begins a file that will be called path. Its folder must exist. What
// has that name already must be a regular file, or a link to one: a rename would
// put a file in the place of a device or FIFO just as well, which nobody wants.
func Create(path string, o Options) (*File, error) {
	return create(path, o, block)
}

// create is Create with as many bytes of buffer, 0 for a few.
func create(path string, o Options, buffer int) (*File, error) {
	dir, name := filepath.Split(path)
	if name == "" {
		return nil, fmt.Errorf("cannot create %q: it names no file", path)
	}
	if is, err := os.Stat(path); err == nil && !is.Mode().IsRegular() {
		return nil, fmt.Errorf("cannot create %s: it is %s; name a file, new or to be replaced", path, kind(is.Mode()))
	}
	if o.Mode == 0 {
		o.Mode = 0o644
	}
	if o.Unfinished == "" {
		o.Unfinished = "." + name + mark + "*"
	}
	f, err := os.CreateTemp(filepath.Clean(dir+"."), o.Unfinished)
	if named := (*fs.PathError)(nil); errors.As(err, &named) {
		err = named.Err // it names the unfinished file, which nobody asked for
	}
	if err != nil {
		return nil, fmt.Errorf("cannot create %s: %w", path, err)
	}
	return &File{f: f, w: bufio.NewWriterSize(f, buffer), path: path, o: o}, nil
}

// Write writes a whole file at once, as Create and Commit do.
func Write(path string, b []byte, o Options) error {
	f, err := create(path, o, 0)
	if err != nil {
		return err
	}
	defer f.Discard()
	if _, err := f.Write(b); err != nil {
		return fmt.Errorf("cannot write %s: %w", path, err)
	}
	return f.Commit()
}

// kind says what something is that is no regular file.
func kind(m fs.FileMode) string {
	switch {
	case m.IsDir():
		return "a directory"
	case m&fs.ModeNamedPipe != 0:
		return "a FIFO"
	case m&fs.ModeSocket != 0:
		return "a socket"
	}
	return "a device"
}

// Write adds p to the file. A failure of the disk may be told by a later Write,
// or by Commit.
func (f *File) Write(p []byte) (int, error) { return f.w.Write(p) }

// Commit gives the file its name, replacing what had that name. After an error the unfinished file is gone and the name
// holds what it held before.
func (f *File) Commit() error {
	if f.done {
		return errors.New("commit of a file that is already finished")
	}
	err := f.w.Flush()
	if err == nil {
		err = f.f.Chmod(f.o.Mode) // CreateTemp makes files for their owner alone
	}
	if err == nil && !f.o.Unsynced {
		err = f.f.Sync()
	}
	if err == nil {
		err = f.f.Close()
	}
	if err == nil {
		err = os.Rename(f.f.Name(), f.path)
	}
	if err != nil {
		f.Discard()
		return fmt.Errorf("cannot finish %s: %w", f.path, err)
	}
	f.done = true
	if f.o.Unsynced {
		return nil
	}
	return syncDir(filepath.Dir(f.path))
}

// Discard removes the unfinished file; after Commit it does nothing, so that it
// can be deferred.
func (f *File) Discard() {
	if f.done {
		return
	}
	f.done = true
	f.f.Close()
	os.Remove(f.f.Name())
}

// syncDir makes a rename last. Some file systems cannot sync a folder; the file
// itself is safe by then, so that is not an error.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("cannot sync %s: %w", dir, err)
	}
	defer d.Close()
	_ = d.Sync()
	return nil
}

// Sweep removes what killed processes left in dir: unfinished files, and the
// folders that they worked in, whose names begin with scratch, where that is not
// "". No other process may be writing there: callers hold a lock.
func Sweep(dir, scratch string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("cannot sweep %s: %w", dir, err)
	}
	for _, e := range entries {
		name := e.Name()
		left := strings.HasPrefix(name, ".") && strings.Contains(name, mark)
		if e.IsDir() {
			left = scratch != "" && strings.HasPrefix(name, scratch)
		}
		if !left {
			continue
		}
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			return fmt.Errorf("cannot sweep %s: %w", dir, err)
		}
	}
	return nil
}
