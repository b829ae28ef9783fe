package clibrary

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/introgen/introgen/metalshim/soft/clang"
)

func one(text string) Library {
	return Library{Name: "trial", Text: text, Flags: func(string) []string { return []string{"-x", "c", "-fPIC"} }}
}

func build(t *testing.T, l Library) string {
	t.Helper()
	path, err := l.Build(t.Context())
	if errors.Is(err, ErrCompiler) {
		t.Skipf("SKIP: needs a C compiler: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// What is loaded is what was compiled: a file that was changed is written
// again, and other text, flags or a damaged copy are compiled anew.
func TestBuild(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", dir)
	t.Setenv("HOME", dir)
	path := build(t, one("int one(void) { return 1; }"))
	first, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(filepath.Dir(path)); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder: %v, %v", info.Mode(), err)
	}
	if other := build(t, one("int one(void) { return 2; }")); other == path {
		t.Error("other text has the same path")
	}
	harmful := bytes.Clone(first)
	harmful[len(harmful)/2] ^= 1
	if err := os.WriteFile(path, harmful, 0o700); err != nil {
		t.Fatal(err)
	}
	if again := build(t, one("int one(void) { return 1; }")); again != path {
		t.Errorf("%s, before %s", again, path)
	}
	if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, first) {
		t.Error("a changed file is given out as it is")
	}
	entries, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*.entry"))
	if err != nil || len(entries) != 2 {
		t.Fatalf("%v, %v", entries, err)
	}
	for _, e := range entries {
		if err := os.WriteFile(e, []byte("nothing"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	build(t, one("int one(void) { return 1; }"))
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(path), "build*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	if err := os.Chmod(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := one("int one(void) { return 1; }").Build(t.Context()); err == nil || !strings.Contains(err.Error(), "others may write") {
		t.Errorf("a folder that others may write to: %v", err)
	}
}

func TestErrors(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	_, err := one("int one(void) { return nothing; }").Build(t.Context())
	if !errors.Is(err, ErrCompiler) && (err == nil || !strings.Contains(err.Error(), "nothing")) {
		t.Errorf("%v", err)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := one("int two(void) { return 2; }").Build(cancelled); !errors.Is(err, context.Canceled) && !errors.Is(err, ErrCompiler) {
		t.Errorf("cancelled: %v", err)
	}
	if runtime.GOOS == "linux" {
		t.Setenv(clang.EnvPath, filepath.Join(t.TempDir(), "clang"))
		t.Setenv("PATH", t.TempDir())
		if _, err := one("").Build(t.Context()); !errors.Is(err, ErrCompiler) {
			t.Errorf("%v", err)
		}
	}
}
