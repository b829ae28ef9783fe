package gguf

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// pages writes a file of n pages and returns its path. It is not put under
// /tmp, which may be a file system in memory that never lets go of a page.
func pages(t *testing.T, n int) string {
	t.Helper()
	f, err := os.CreateTemp(".", "pagecache-*.tmp")
	if err != nil {
		t.Skipf("SKIP: needs a folder that can be written: %v", err)
	}
	t.Cleanup(func() { os.Remove(f.Name()) })
	if _, err := f.Write(bytes.Repeat([]byte{1}, n*os.Getpagesize())); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return f.Name()
}

// TestEvict: what was just written is in memory; after Evict it is not; a byte
// read brings some pages back, but not a file of 64 MiB.
func TestEvict(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("SKIP: needs Linux; how soon macOS drops pages is not documented")
	}
	path := pages(t, 16384)
	if share, err := Resident(path); err != nil || share != 1 {
		t.Fatalf("after writing: resident %v, error %v; want 1", share, err)
	}
	if err := Evict(path); err != nil {
		t.Fatal(err)
	}
	share, err := Resident(path)
	if err != nil {
		t.Fatal(err)
	}
	if share == 1 {
		t.Skip("SKIP: needs a file system that drops pages; this one keeps files in memory")
	}
	if share > 0.01 {
		t.Errorf("after Evict: resident %v, want 0", share)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.ReadAt(make([]byte, 1), 0); err != nil {
		t.Fatal(err)
	}
	if share, err := Resident(path); err != nil || share == 0 || share > 0.5 {
		t.Errorf("after reading a byte: resident %v, error %v; want more than 0 and less than a half", share, err)
	}
}

func TestRefuses(t *testing.T) {
	dir := t.TempDir()
	empty := filepath.Join(dir, "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	fifo := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		dir:                           "not a regular file",
		empty:                         "empty",
		fifo:                          "not a regular file",
		filepath.Join(dir, "missing"): "no such file",
	} {
		done := make(chan error, 2)
		go func() {
			_, err := Resident(path)
			done <- err
			done <- Evict(path)
		}()
		for range 2 {
			select {
			case err := <-done:
				if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
					t.Errorf("%s: error %v; want one that says %q", path, err, want)
				}
			case <-time.After(10 * time.Second):
				t.Fatalf("%s: still waiting", path)
			}
		}
	}
}

// TestForeignFile: of a file that another user owns and that cannot be written,
// Linux would claim that all of it is resident.
func TestForeignFile(t *testing.T) {
	if runtime.GOOS != "linux" || os.Geteuid() == 0 {
		t.Skip("SKIP: needs Linux and a user who is not root")
	}
	const path = "/etc/passwd"
	if _, err := Resident(path); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("Resident(%s): error %v, want ErrUnsupported", path, err)
	}
}

// TestBeginResident: what is asked beside is what Resident answers, as often as it is
// waited for; so is an error.
func TestBeginResident(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("SKIP: needs Linux")
	}
	wait := BeginResident(pages(t, 16))
	for range 2 {
		if share, err := wait(); err != nil || share != 1 {
			t.Errorf("a file that was just written: resident %v, %v", share, err)
		}
	}
	if share, err := BeginResident(filepath.Join(t.TempDir(), "none"))(); err == nil || share != 0 {
		t.Errorf("no file: resident %v, %v", share, err)
	}
}
