package fetch

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/system/files"
)

// partFile is the unfinished file: *os.File, or what a test puts in its place.
type partFile interface {
	io.Writer
	Truncate(size int64) error
	Sync() error
	Close() error
}

const partSuffix = ".part"

// partPath is where the bytes of d.digest gather. The digest is part of the
// name, so that bytes of two different files can never be joined.
func (d *download) partPath() string { return d.partFor(d.digest) }

func (d *download) partFor(digest string) string {
	dir, name := filepath.Split(d.dst)
	return filepath.Join(dir, "."+name+"."+digest+partSuffix)
}

// resume looks for a part file of an earlier fetch and hashes what it holds.
func (d *download) resume() error {
	entries, err := os.ReadDir(filepath.Dir(d.dst))
	if err != nil {
		return fmt.Errorf("look for an earlier download: %w", err)
	}
	before := strings.TrimSuffix(filepath.Base(d.partFor("")), partSuffix)
	for _, e := range entries {
		digest, isPart := strings.CutSuffix(e.Name(), partSuffix)
		digest, ours := strings.CutPrefix(digest, before)
		if !isPart || !ours || !files.IsSHA256(digest) {
			continue
		}
		path := d.partFor(digest)
		st, err := os.Stat(path)
		if err == nil && (d.digest != "" || st.Size() > d.file.size) {
			err = os.Remove(path) // a second one, or one that cannot become the file
		} else if err == nil {
			d.digest = digest
			err = d.openPart()
		}
		if err != nil {
			return fmt.Errorf("go on with an earlier download: %w", err)
		}
	}
	return nil
}

// openPart opens the part file of d.digest, and takes in what it holds.
func (d *download) openPart() error {
	path := d.partPath()
	d.sum.Reset()
	d.have = 0
	if r, err := os.Open(path); err == nil {
		d.have, err = io.Copy(d.sum, r)
		r.Close()
		if err != nil {
			return fmt.Errorf("read %s: %w", path, err)
		}
	}
	create := d.client.create
	if create == nil {
		create = func(path string) (partFile, error) {
			return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
		}
	}
	part, err := create(path)
	if err != nil {
		return fmt.Errorf("cannot create the download: %w", err)
	}
	d.part = part
	return nil
}

// write appends p to the part file and counts what arrived, so that a full disk
// loses nothing of what fitted.
func (d *download) write(p []byte) error {
	n, err := d.part.Write(p)
	d.sum.Write(p[:n])
	d.have += int64(n)
	d.step.Set(d.have)
	if errors.Is(err, syscall.ENOSPC) {
		return fmt.Errorf("disk full: %s needs %s more in %s", d.file.name,
			figures.Size(d.file.size-d.have), filepath.Dir(d.dst))
	}
	if err != nil {
		return fmt.Errorf("write the download: %w", err)
	}
	return nil
}

// truncate empties the part file.
func (d *download) truncate() error {
	d.sum.Reset()
	d.have = 0
	d.step.Set(0)
	if err := d.part.Truncate(0); err != nil {
		return fmt.Errorf("begin %s again: %w", d.file.name, err)
	}
	return nil
}

// drop removes the part file and forgets its digest.
func (d *download) drop() error {
	path := d.partPath()
	d.close()
	d.sum.Reset()
	d.have, d.digest = 0, ""
	d.step.Set(0)
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("remove the unfinished download: %w", err)
	}
	return nil
}

func (d *download) close() {
	if d.part != nil {
		d.part.Close()
		d.part = nil
	}
}
