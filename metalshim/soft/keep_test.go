package soft

import (
	"context"
	"debug/elf"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/introgen/introgen/metalshim"
	"github.com/introgen/introgen/trace/names"
)

// TestKeep: the folder holds each stage of what ran, also where the cache has it
// all, and the cache is left aside.
func TestKeep(t *testing.T) {
	cache := t.TempDir()
	states(t, openAt(t, Options{CacheDir: cache}), tiny) // the cache is warm
	dir := filepath.Join(t.TempDir(), "new", "generated")
	var notes []string
	d := openAt(t, Options{CacheDir: cache, Keep: dir, Note: func(_, s string) { notes = append(notes, s) }})
	lib, pipeline := states(t, d, tiny)
	if lib.State != names.CacheOff || pipeline.State != names.CacheOff || !strings.Contains(lib.Note, dir) {
		t.Errorf("library %+v, pipeline %+v; want both past the cache", lib, pipeline)
	}
	if len(notes) == 0 || !strings.Contains(notes[0], "left aside, to generate what is kept in "+dir) {
		t.Errorf("notes %q", notes)
	}
	assembly := "tiny.seven.assembly.s"
	if d.keep.disassembler != "" {
		assembly = "tiny.seven.disassembly.s"
	}
	want := map[string]string{
		"GENERATED.txt":           "LIBRARY.FUNCTION[.CONSTANTS].one-lane.ll",
		"metal_stdlib.h":          "namespace metal",
		"tiny.preprocessed.metal": "kernel void seven(device float* x)",
		"tiny.rewritten.cc":       "static void seven(",
		"tiny.seven.one-lane.ll":  "define void @msl_entry(",
		"tiny.seven.lanes.ll":     "define i32 @msl_sgk(",
		"tiny.seven.so":           "\x7fELF",
		assembly:                  "msl_sgk",
	}
	all, err := os.ReadDir(dir)
	if err != nil || len(all) != len(want) {
		t.Errorf("the folder holds %v, want %d files (%v)", all, len(want), err)
	}
	for name, text := range want {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || !strings.Contains(string(b), text) {
			t.Errorf("%s: %v, without %q: %.300s", name, err, text, b)
		}
	}
	object, err := elf.Open(filepath.Join(dir, "tiny.seven.so"))
	if err != nil {
		t.Fatal(err)
	}
	defer object.Close()
	symbols, err := object.DynamicSymbols()
	if err != nil || !slices.ContainsFunc(symbols, func(s elf.Symbol) bool { return s.Name == "msl_sgk" }) {
		t.Errorf("the object defines %v (%v), not msl_sgk", symbols, err)
	}
	if _, err := Open(context.Background(), Options{CacheDir: cache, Keep: dir}); err == nil || !strings.Contains(err.Error(), "holds tiny.preprocessed.metal already") {
		t.Errorf("a folder that is not empty: %v", err)
	}
}

// TestKeepDisassembles: where an llvm-objdump of clang's version is there, what is
// kept is what it makes of the object.
func TestKeepDisassembles(t *testing.T) {
	dir, path := filepath.Join(t.TempDir(), "generated"), t.TempDir()
	openAt(t, Options{CacheDir: t.TempDir()}) // or skip
	script := "#!/bin/sh\necho disassembled with $1 $2; head -c 4 $3\n"
	if err := os.WriteFile(filepath.Join(path, "llvm-objdump-19"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", path+string(os.PathListSeparator)+os.Getenv("PATH"))
	d := openAt(t, Options{CacheDir: t.TempDir(), Keep: dir})
	if filepath.Dir(d.keep.disassembler) != path {
		t.Skipf("SKIP: needs a clang that brings no llvm-objdump; this one has %s", d.keep.disassembler)
	}
	states(t, d, tiny)
	b, err := os.ReadFile(filepath.Join(dir, "tiny.seven.disassembly.s"))
	if want := "disassembled with -d --no-show-raw-insn\n\x7fELF"; err != nil || string(b) != want {
		t.Errorf("%q (%v), want %q", b, err, want)
	}
}

// TestKeepFailures: what was reached before a failure is there.
func TestKeepFailures(t *testing.T) {
	dir := t.TempDir()
	d := openAt(t, Options{CacheDir: t.TempDir(), Keep: dir})
	if _, err := d.NewLibrary(context.Background(), metalshim.Source{Name: "bad/name", Text: "kernel void f(device int* x) { y; }"}); err == nil {
		t.Fatal("it compiles")
	}
	all, err := filepath.Glob(filepath.Join(dir, "bad~name~*.rewritten.cc"))
	if err != nil || len(all) != 1 {
		t.Errorf("rewritten sources %v, %v", all, err)
	}
}

func TestKeptNames(t *testing.T) {
	bits := []metalshim.Constant{{Index: 100, Type: metalshim.Bool, Bits: 1}, {Index: 20, Type: metalshim.Int, Bits: 7}}
	if got := pipelineName("Sdpa", "f_32", bits); got != "Sdpa.f_32.20=7,100=1" {
		t.Errorf("name %s", got)
	}
	a, b := fileName("../a"), fileName("..~a")
	if a == b || strings.ContainsAny(a+b, "./") || len(fileName(strings.Repeat("x", 999))) > 255-len(preprocessedFile) {
		t.Errorf("names %s and %s", a, b)
	}
}
