package models

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestDigestIsRememberedWhileTheFileStays(t *testing.T) {
	state, path := filepath.Join(t.TempDir(), "state"), filepath.Join(t.TempDir(), "m.gguf")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("abc")
	if got := RememberedDigest(state, path); got != "" {
		t.Errorf("nothing was computed, but %s is remembered", got)
	}
	if got, err := ComputeDigest(t.Context(), state, path); got != abc || err != nil {
		t.Fatalf("computed %s, %v", got, err)
	}
	if got := RememberedDigest(state, path); got != abc {
		t.Errorf("remembered is %q", got)
	}
	for what, change := range map[string]func() error{
		"another time": func() error { return os.Chtimes(path, time.Time{}, time.Unix(1, 5)) },
		"another size": func() error { write("abcd"); return nil },
		"another file": func() error {
			is, err := os.Stat(path)
			other := path + "2"
			return errors.Join(err, os.WriteFile(other, []byte("abx"), 0o666), os.Chtimes(other, is.ModTime(), is.ModTime()), os.Rename(other, path))
		},
		"no file": func() error { return os.Remove(path) },
	} {
		write("abc")
		if _, err := ComputeDigest(t.Context(), state, path); err != nil {
			t.Fatal(err)
		}
		if err := change(); err != nil {
			t.Fatal(err)
		}
		if got := RememberedDigest(state, path); got != "" {
			t.Errorf("%s: %s is taken for its digest", what, got)
		}
	}
}

func TestDamagedMemory(t *testing.T) {
	state, path := t.TempDir(), filepath.Join(t.TempDir(), "m.gguf")
	if err := os.WriteFile(path, []byte("abc"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, damaged := range []string{"", "null", "[]", `{"x":5}`, "\x00"} {
		if err := os.WriteFile(filepath.Join(state, memoryFile), []byte(damaged), 0o666); err != nil {
			t.Fatal(err)
		}
		if got := RememberedDigest(state, path); got != "" {
			t.Errorf("%q: %s", damaged, got)
		}
		if got, err := ComputeDigest(t.Context(), state, path); got != abc || err != nil || RememberedDigest(state, path) != abc {
			t.Errorf("%q: %s, %v", damaged, got, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := ComputeDigest(ctx, state, path); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
	if _, err := ComputeDigest(t.Context(), state, state); err == nil {
		t.Error("a folder has a digest")
	}
	// A state folder that cannot be written loses only the memory.
	if got, err := ComputeDigest(t.Context(), filepath.Join(path, "state"), path); got != abc || err == nil {
		t.Errorf("got %s, %v", got, err)
	}
}
