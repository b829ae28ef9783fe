package soft

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/introgen/introgen/metalshim"
	"github.com/introgen/introgen/metalshim/soft/clang"
)

// TestLargeKernelsRunLaneByLane: a kernel whose code for all lanes takes the compiler
// too long runs in the form that is compiled quickly.
func TestLargeKernelsRunLaneByLane(t *testing.T) {
	tools, err := clang.Find(context.Background())
	skipWithout(t, err)
	path := filepath.Join(t.TempDir(), "clang")
	compiler := strings.Join(tools.Compiler, " ")
	// The form for all lanes never compiles here.
	text := "#!/bin/sh\ncase \"$*\" in *-fveclib=none*) cat > " + path + ".ll; grep -q msl_sg_drive " + path + ".ll || exec sleep 100; exec " +
		compiler + " \"$@\" < " + path + ".ll;; esac\nexec " + compiler + " \"$@\"\n"
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv(clang.EnvPath, path)
	var notes []string
	d, err := Open(context.Background(), Options{CacheDir: filepath.Join(t.TempDir(), "cache"), CompileLimit: 10 * time.Second, Workers: 1,
		Note: func(_, text string) { notes = append(notes, text) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	lib := compile(t, d, "large", `
#include <metal_stdlib>
using namespace metal;
kernel void sums(device float* x [[buffer(0)]], uint i [[thread_position_in_grid]]) { x[i] = simd_sum(x[i]); }
`)
	x := buffer32(t, d, make([]float32, 32)...)
	for i := range 32 {
		copy(x.Contents()[4*i:], words(uint32(0x3f800000))) // 1
	}
	if err := run(t, d, func(e metalshim.Encoder) error {
		e.SetPipeline(pipe(t, lib, "sums"))
		e.SetBuffer(0, x, 0)
		return e.DispatchThreads(one(32), one(32))
	}); err != nil {
		t.Fatal(err)
	}
	for i, v := range floats(x)[:32] {
		if v != 32 {
			t.Fatalf("sum %d is %v, want 32", i, v)
		}
	}
	if all := strings.Join(notes, "\n"); !strings.Contains(all, "sums of library large was not compiled for all lanes at once within 5s") {
		t.Errorf("notes %q", all)
	}
}
