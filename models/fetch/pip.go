package fetch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/introgen/introgen/system/files"
	"github.com/introgen/introgen/system/terminal"
	"github.com/introgen/introgen/system/tools"
)

// scratchPrefix begins the names of the folders that pip works in, which are
// left behind only by a killed process.
const scratchPrefix = ".pip-"

// download brings the wheel into dir and returns its path. A wheel that is
// there with the right bytes is taken as it is; one with other bytes is
// replaced. pip's scratch files lie in dir too, and are gone afterwards.
func (w wheel) download(ctx context.Context, pip tools.Tool, dir string, meter *terminal.Meter) (string, error) {
	path := filepath.Join(dir, w.file)
	err := w.check(ctx, path)
	switch {
	case err == nil:
		return path, nil
	case errors.Is(err, fs.ErrNotExist):
	default:
		if err := os.Remove(path); err != nil {
			return "", fmt.Errorf("replace a damaged download: %w", err)
		}
	}
	scratch, err := os.MkdirTemp(dir, scratchPrefix+"*")
	if err != nil {
		return "", fmt.Errorf("cannot create pip's scratch folder: %w", err)
	}
	defer os.RemoveAll(scratch)
	step := meter.Start(fmt.Sprintf("%s %s with pip", w.project, w.version), w.size)
	err = w.pip(ctx, pip, dir, scratch, step)
	if err == nil {
		err = w.check(ctx, path)
		if errors.Is(err, errNotPinned) {
			os.Remove(path) // a second run would find the same wrong bytes
		}
	}
	if err == nil {
		step.Set(w.size)
	}
	step.Done(err)
	if err != nil {
		return "", err
	}
	return path, nil
}

// pip runs `pip download`. Its own files go to scratch, where their growth is
// the progress: pip's bar cannot be read by a program in all its versions.
func (w wheel) pip(ctx context.Context, pip tools.Tool, dir, scratch string, step *terminal.Step) error {
	cmd := pip.Command(ctx, "download", w.project+"=="+w.version,
		"--no-deps", "--only-binary", ":all:", "--no-cache-dir", "--disable-pip-version-check",
		"--no-input", "--progress-bar", "off", "--quiet", "--dest", dir)
	cmd.Env = append(os.Environ(), "TMPDIR="+scratch)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start pip: %w", err)
	}
	stop := step.Follow(func() int64 {
		n, _ := files.Size(scratch) // files come and go meanwhile
		return n
	})
	err := cmd.Wait()
	stop()
	if ctx.Err() != nil {
		return fmt.Errorf("interrupted: %w", context.Cause(ctx))
	}
	if err != nil {
		return fmt.Errorf("pip could not download %s %s: %s (%w)", w.project, w.version, complaint(out.String()), err)
	}
	return nil
}

// complaint is the line of pip's output that says most: its last error.
func complaint(out string) string {
	last := "it says nothing"
	isError := false
	for line := range strings.Lines(out) {
		line = strings.TrimSpace(line)
		bad := strings.HasPrefix(line, "ERROR:") || strings.Contains(line, "Error:")
		if line != "" && (bad || !isError) {
			last, isError = line, bad
		}
	}
	return last
}
