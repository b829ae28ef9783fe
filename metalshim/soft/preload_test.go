package soft

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/introgen/introgen/engine/metal/kernels"
	"github.com/introgen/introgen/metalshim"
	"github.com/introgen/introgen/metalshim/soft/clang/resident"
)

// entries are the cache's libraries and pipelines, whole.
func entries(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*-*.entry"))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]byte{}
	for _, path := range paths {
		name := filepath.Base(path)
		if !strings.HasPrefix(name, libraryEntry) && !strings.HasPrefix(name, pipelineEntry) {
			continue
		}
		if out[name], err = os.ReadFile(path); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// TestResidentCompilesTheSame: what a resident compiler leaves in the cache is to
// the byte what processes leave there, under the same keys, and what is wrong
// with a source reads the same.
func TestResidentCompilesTheSame(t *testing.T) {
	set := kernels.OwnSet()
	compiled := func(processes bool) (of map[string][]byte, said string) {
		dir := t.TempDir()
		d := openAt(t, Options{CacheDir: dir, Workers: 1})
		if processes {
			d.compilers = &resident.Compilers{}
		} else if err := d.compilers.Try(t.Context()); errors.Is(err, resident.ErrStatic) || errors.Is(err, resident.ErrScript) {
			t.Skipf("SKIP: needs a clang that takes a preload: %v", err)
		} else if err != nil {
			t.Fatal(err)
		}
		for library, functions := range map[string][]string{"Cast": {"cast_u32_f32"}, "Unary": {"cos_f32", "copy2d_f32"}, "Reduce": {"rmsnorm_f32"}} {
			text, file, err := set.Library(library)
			if err != nil {
				t.Fatal(err)
			}
			for _, mode := range []metalshim.MathMode{metalshim.MathSafe, metalshim.MathFast} {
				l, err := d.NewLibrary(t.Context(), metalshim.Source{Name: library, Text: text, File: file, CompileOptions: metalshim.CompileOptions{MathMode: mode}})
				if err != nil {
					t.Fatal(err)
				}
				defer l.Release()
				for _, f := range functions {
					p, err := l.NewPipeline(t.Context(), f, nil)
					if err != nil {
						t.Fatal(err)
					}
					p.Release()
				}
			}
		}
		for _, wrong := range []string{"#include <none.h>\n", "kernel void f(device float* x) { x[0] = y; }\n", "#error no\n", "kernel void f() { asm(\"nop\"); }\n"} {
			_, err := d.NewLibrary(t.Context(), metalshim.Source{Name: "wrong", Text: wrong})
			var e *metalshim.CompileError
			if !errors.As(err, &e) {
				t.Fatalf("%q: %v", wrong, err)
			}
			said += e.Error() + "\n" + e.Log
		}
		return entries(t, dir), said
	}
	want, says := compiled(true)
	got, said := compiled(false)
	if said != says {
		t.Errorf("wrong sources:\n%s\nby processes:\n%s", said, says)
	}
	if len(want) != 6+8 || len(got) != len(want) {
		t.Errorf("%d entries, by processes %d, want %d", len(got), len(want), 6+8)
	}
	for name, content := range want {
		if !bytes.Equal(got[name], content) {
			t.Errorf("%s: %d bytes, by a process %d, or others", name, len(got[name]), len(content))
		}
	}
}
