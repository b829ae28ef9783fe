package main

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/introgen/introgen/models"
)

// checked makes one check on a machine with nothing: no tools, no cache.
func checked(t *testing.T, name string) finding {
	t.Helper()
	found, err := makeChecks(t.Context(), name)
	if err != nil || len(found) != 1 {
		t.Fatalf("makeChecks(%s): %v, %v", name, found, err)
	}
	return found[0]
}

func TestBareMachine(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CACHE_HOME", "")
	t.Setenv(models.DirEnv, "")
	t.Setenv("PATH", t.TempDir())
	for name, says := range map[string]string{
		"cache": "make setup", "models": "make setup",
		"pip": "get it with", "cargo": "get it with", "cc": "get it with", "clang": "install clang",
	} {
		f := checked(t, name)
		if f.state != stateMissing || !strings.Contains(f.detail, says) && !strings.Contains(f.detail, "install ") {
			t.Errorf("%s on a bare machine: %+v; want missing, with %q", name, f, says)
		}
	}
	if f := checked(t, "page-cache"); f.state != stateNone {
		t.Errorf("page-cache without a model: %+v", f)
	}
}

func TestWhatIsThere(t *testing.T) {
	dir := t.TempDir()
	t.Setenv(models.DirEnv, dir)
	bin := t.TempDir()
	t.Setenv("PATH", bin)
	if err := os.WriteFile(filepath.Join(bin, "cargo"), []byte("#!/bin/sh\necho cargo 1.99.0\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if f := checked(t, "cargo"); f.state != stateOK || !strings.HasPrefix(f.detail, "cargo 1.99.0") {
		t.Errorf("cargo: %+v", f)
	}
	if err := os.WriteFile(filepath.Join(dir, models.StandIn), []byte("cut"), 0o644); err != nil {
		t.Fatal(err)
	}
	if f := checked(t, "models"); f.state != stateMissing || !strings.Contains(f.detail, "3 bytes") {
		t.Errorf("models with a file cut short: %+v", f)
	}
	k, _ := models.Lookup(models.StandIn)
	if err := os.Truncate(filepath.Join(dir, models.StandIn), k.Size); err != nil {
		t.Fatal(err)
	}
	if f := checked(t, "models"); f.state != stateOK || f.detail != models.StandIn {
		t.Errorf("models with one file: %+v", f)
	}
	if f := checked(t, "build"); f.state != stateOK || !strings.Contains(f.detail, runtime.GOARCH) {
		t.Errorf("build: %+v", f)
	}
}

func TestInstructionSet(t *testing.T) {
	t.Setenv("INTROGEN_CPU", "generic")
	if f := checked(t, "simd"); f.state != stateOK || !strings.HasPrefix(f.detail, "generic, of ") {
		t.Errorf("simd with INTROGEN_CPU=generic: %+v", f)
	}
	t.Setenv("INTROGEN_CPU", "mmx")
	if f := checked(t, "simd"); f.state != stateMissing || !strings.Contains(f.detail, `"mmx"`) {
		t.Errorf("simd with INTROGEN_CPU=mmx: %+v", f)
	}
}

func TestHugePages(t *testing.T) {
	if state, _ := hugePagesOf("", false); state != stateNone {
		t.Errorf("without the kernel's file: %v", state)
	}
	for mode, want := range map[string]string{"madvise": stateOK, "always": stateOK, "never": stateMissing, "": stateMissing} {
		if state, detail := hugePagesOf(mode, true); state != want {
			t.Errorf("%q: %v (%s); want %v", mode, state, detail, want)
		}
	}
}

func TestDoctorChecks(t *testing.T) {
	if _, err := makeChecks(t.Context(), "heart"); err == nil || !strings.Contains(err.Error(), `"heart"`) || !strings.Contains(err.Error(), "pip") {
		t.Errorf("an unknown check: error %v; want one that names it and those that are known", err)
	}
	all, err := makeChecks(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range all {
		names = append(names, f.name)
		if f.detail == "" || strings.Contains(f.detail, "\n") {
			t.Errorf("%s: detail %q; want one line", f.name, f.detail)
		}
	}
	if !slices.Equal(names, checkNames()) {
		t.Errorf("looked at %q; want %q", names, checkNames())
	}
	var b bytes.Buffer
	if err := writeFindings(&b, []finding{{"a", stateOK, "here"}, {"longer", stateMissing, "gone"}}); err != nil {
		t.Fatal(err)
	}
	if got, want := b.String(), "a       ok       here\nlonger  missing  gone\n"; got != want {
		t.Errorf("printed %q; want %q", got, want)
	}
	b.Reset()
	if err := writeFindings(&b, []finding{{"a", stateOK, strings.Repeat("word ", 40)}}); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	for _, line := range lines {
		if len(line) > 80 {
			t.Errorf("%d columns: %s", len(line), line)
		}
	}
	if len(lines) < 3 || !strings.HasPrefix(lines[1], "         word") || strings.Count(b.String(), "word") != 40 {
		t.Errorf("a long detail is printed as\n%s", &b)
	}
}
