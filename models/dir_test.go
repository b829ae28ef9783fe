package models

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestDir(t *testing.T) {
	home := t.TempDir()
	xdg := filepath.Join(home, "xdg")
	want := filepath.Join(xdg, "introgen", "models")
	if runtime.GOOS == "darwin" {
		want = filepath.Join(home, "Library", "Caches", "introgen", "models")
	}
	t.Setenv("HOME", home)
	t.Setenv("XDG_CACHE_HOME", xdg)
	t.Setenv(DirEnv, "")
	if got, err := Dir(); err != nil || got != want {
		t.Errorf("Dir() = %q, %v; want %q", got, err, want)
	}

	moved := filepath.Join(home, "elsewhere")
	t.Setenv(DirEnv, moved)
	if got, err := Dir(); err != nil || got != moved {
		t.Errorf("Dir() with %s = %q, %v; want %q", DirEnv, got, err, moved)
	}

	t.Chdir(home)
	t.Setenv(DirEnv, "elsewhere")
	if got, err := Dir(); err != nil || !filepath.IsAbs(got) || filepath.Base(got) != "elsewhere" {
		t.Errorf("Dir() with a relative %s = %q, %v; want an absolute path to it", DirEnv, got, err)
	}
}

func TestDirNeedsACache(t *testing.T) {
	t.Setenv("HOME", "")
	t.Setenv("XDG_CACHE_HOME", "")
	t.Setenv(DirEnv, "")
	if _, err := Dir(); err == nil || !strings.Contains(err.Error(), "HOME") {
		t.Errorf("Dir() without any home: error %v; want one that names HOME", err)
	}
}

func TestFind(t *testing.T) {
	dir, here := t.TempDir(), t.TempDir()
	t.Setenv(DirEnv, dir)
	t.Chdir(here)
	put := func(path string) {
		t.Helper()
		if err := os.WriteFile(path, []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
	}

	for _, name := range []string{"", StandIn, Experiment, "other.gguf", "./" + StandIn} {
		_, err := Find(name)
		if !errors.Is(err, ErrAbsent) {
			t.Errorf("Find(%q) in an empty folder: error %v; want ErrAbsent", name, err)
		}
	}
	if _, err := Find(""); err == nil || !strings.Contains(err.Error(), "make setup") {
		t.Errorf("Find(\"\"): error %v; want it to name make setup", err)
	}
	if _, err := Find(Experiment); err == nil || !strings.Contains(err.Error(), "--source hub") {
		t.Errorf("Find(Experiment): error %v; want it to name --source hub", err)
	}

	if _, err := Find("gemma3-270m"); !errors.Is(err, ErrAbsent) || !strings.Contains(err.Error(), "`introgen model fetch gemma3-270m`") {
		t.Errorf("Find of an alias: error %v; want ErrAbsent, and what brings it", err)
	}
	put(filepath.Join(dir, Gemma))
	if got, err := Find("gemma3-270m"); err != nil || got != filepath.Join(dir, Gemma) {
		t.Errorf("Find(\"gemma3-270m\") = %q, %v; want the file that it is another name of", got, err)
	}

	put(filepath.Join(dir, Experiment))
	if got, err := Find(""); err != nil || got != filepath.Join(dir, Experiment) {
		t.Errorf("Find(\"\") with the hub's file alone = %q, %v", got, err)
	}
	put(filepath.Join(dir, StandIn))
	if got, err := Find(""); err != nil || got != filepath.Join(dir, StandIn) {
		t.Errorf("Find(\"\") with both = %q, %v; want the stand-in", got, err)
	}
	if got, err := Find(StandIn); err != nil || got != filepath.Join(dir, StandIn) {
		t.Errorf("Find(StandIn) = %q, %v", got, err)
	}
	put(filepath.Join(here, StandIn))
	if got, err := Find(StandIn); err != nil || got != StandIn {
		t.Errorf("Find(StandIn) with a file of that name here = %q, %v; want the one here", got, err)
	}
}
