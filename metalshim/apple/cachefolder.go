package apple

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/introgen/introgen/figures"
)

// CacheFolder is what the folder looks like in which macOS keeps compiled
// Metal code. What is in it is the system's business; entries and bytes that
// have not grown over a run are evidence of a warm one, as are change times
// before its start.
type CacheFolder struct {
	Path    string // "" where the system has none
	Files   int
	Bytes   int64
	Changed time.Time // the latest change of a file, or zero
}

// Cache looks at the user's folder, $(getconf DARWIN_USER_CACHE_DIR) and in it
// com.apple.metal. A folder that is not there yet has no files; a system that
// is not macOS has no folder.
func Cache() (CacheFolder, error) {
	if runtime.GOOS != "darwin" {
		return CacheFolder{}, nil
	}
	// confstr has no counterpart in Go's syscalls.
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, "/usr/bin/getconf", "DARWIN_USER_CACHE_DIR").Output()
	dir := strings.TrimSpace(string(out))
	if err == nil && dir == "" {
		err = errors.New("it is empty")
	}
	if err != nil {
		return CacheFolder{}, fmt.Errorf("the system's metal cache: getconf DARWIN_USER_CACHE_DIR: %w", err)
	}
	return folder(filepath.Join(dir, "com.apple.metal"))
}

// folder measures a tree. Files that go away meanwhile, as the system's
// compiler makes and renames them, are not counted.
func folder(path string) (CacheFolder, error) {
	f := CacheFolder{Path: path}
	err := filepath.WalkDir(path, func(name string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		info, err := entry.Info()
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case info.Mode().IsRegular():
			f.Files++
			f.Bytes += info.Size()
			if t := info.ModTime(); t.After(f.Changed) {
				f.Changed = t
			}
		}
		return nil
	})
	if err != nil {
		return f, fmt.Errorf("the system's metal cache: %w", err)
	}
	return f, nil
}

// String is "/…/com.apple.metal: 12 files, 3.4 MB, changed 2026-01-02T03:04:05Z".
func (f CacheFolder) String() string {
	if f.Path == "" {
		return "no cache of the system's"
	}
	s := fmt.Sprintf("%s: %d files, %s MB", f.Path, f.Files, figures.Text(float64(f.Bytes)/1e6, 1))
	if !f.Changed.IsZero() {
		s += ", changed " + f.Changed.UTC().Format(time.RFC3339)
	}
	return s
}
