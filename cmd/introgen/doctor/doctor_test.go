package doctor

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

// look makes one check on a machine with nothing: no tools, no cache.
func look(t *testing.T, name string) Finding {
	t.Helper()
	found, err := Look(t.Context(), name)
	if err != nil || len(found) != 1 {
		t.Fatalf("Look(%s): %v, %v", name, found, err)
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
		f := look(t, name)
		if f.State != Missing || !strings.Contains(f.Detail, says) && !strings.Contains(f.Detail, "install ") {
			t.Errorf("%s on a bare machine: %+v; want missing, with %q", name, f, says)
		}
	}
	if f := look(t, "page-cache"); f.State != None {
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
	if f := look(t, "cargo"); f.State != OK || !strings.HasPrefix(f.Detail, "cargo 1.99.0") {
		t.Errorf("cargo: %+v", f)
	}
	if err := os.WriteFile(filepath.Join(dir, models.StandIn), []byte("cut"), 0o644); err != nil {
		t.Fatal(err)
	}
	if f := look(t, "models"); f.State != Missing || !strings.Contains(f.Detail, "3 bytes") {
		t.Errorf("models with a file cut short: %+v", f)
	}
	k, _ := models.Lookup(models.StandIn)
	if err := os.Truncate(filepath.Join(dir, models.StandIn), k.Size); err != nil {
		t.Fatal(err)
	}
	if f := look(t, "models"); f.State != OK || f.Detail != models.StandIn {
		t.Errorf("models with one file: %+v", f)
	}
	if f := look(t, "build"); f.State != OK || !strings.Contains(f.Detail, runtime.GOARCH) {
		t.Errorf("build: %+v", f)
	}
}

func TestInstructionSet(t *testing.T) {
	t.Setenv("INTROGEN_CPU", "generic")
	if f := look(t, "simd"); f.State != OK || !strings.HasPrefix(f.Detail, "generic, of ") {
		t.Errorf("simd with INTROGEN_CPU=generic: %+v", f)
	}
	t.Setenv("INTROGEN_CPU", "mmx")
	if f := look(t, "simd"); f.State != Missing || !strings.Contains(f.Detail, `"mmx"`) {
		t.Errorf("simd with INTROGEN_CPU=mmx: %+v", f)
	}
}

func TestHugePages(t *testing.T) {
	if state, _ := hugePagesOf("", false); state != None {
		t.Errorf("without the kernel's file: %v", state)
	}
	for mode, want := range map[string]State{"madvise": OK, "always": OK, "never": Missing, "": Missing} {
		if state, detail := hugePagesOf(mode, true); state != want {
			t.Errorf("%q: %v (%s); want %v", mode, state, detail, want)
		}
	}
}

func TestLook(t *testing.T) {
	if _, err := Look(t.Context(), "heart"); err == nil || !strings.Contains(err.Error(), `"heart"`) || !strings.Contains(err.Error(), "pip") {
		t.Errorf("an unknown check: error %v; want one that names it and those that are known", err)
	}
	all, err := Look(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range all {
		names = append(names, f.Name)
		if f.Detail == "" || strings.Contains(f.Detail, "\n") {
			t.Errorf("%s: detail %q; want one line", f.Name, f.Detail)
		}
	}
	if !slices.Equal(names, Names()) {
		t.Errorf("looked at %q; want %q", names, Names())
	}
	var b bytes.Buffer
	if err := Write(&b, []Finding{{"a", OK, "here"}, {"longer", Missing, "gone"}}); err != nil {
		t.Fatal(err)
	}
	if got, want := b.String(), "a       ok       here\nlonger  missing  gone\n"; got != want {
		t.Errorf("printed %q; want %q", got, want)
	}
	b.Reset()
	if err := Write(&b, []Finding{{"a", OK, strings.Repeat("word ", 40)}}); err != nil {
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
