package soft

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/introgen/introgen/metalshim"
	"github.com/introgen/introgen/metalshim/msl"
	"github.com/introgen/introgen/metalshim/soft/clang"
	"github.com/introgen/introgen/metalshim/soft/stdlib"
)

// everyKind uses something of each part of the standard library.
const everyKind = `#include <metal_stdlib>
using namespace metal;
constant int k [[function_constant(0)]];
template <typename T> T both(T a, T b) { return fma(a, b, max(a, abs(b))); }
kernel void parts(device float4* x, device half* h, device atomic_uint* n, threadgroup float* t,
    uint i [[thread_position_in_grid]], uint l [[thread_index_in_simdgroup]]) {
  float4x4 m = float4x4(2.0f);
  x[i] = m * both(x[i], float4(k)) + simd_sum(float(h[i])) + as_type<float>(popcount(i)) + float(bfloat(1.5f));
  atomic_fetch_add_explicit(n, l, memory_order_relaxed);
  simdgroup_float8x8 a = simdgroup_float8x8(1.0f), c;
  simdgroup_multiply_accumulate(c, a, a, a);
  simdgroup_store(c, t, 8);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  h[i] = half(t[l]) + half(precise::sin(x[i].x));
}
`

// TestPrecompiledIsTheSame: bitcode is that of the one text, byte for byte, in
// every math mode.
func TestPrecompiledIsTheSame(t *testing.T) {
	d := openAt(t, Options{CacheDir: t.TempDir()})
	ctx := context.Background()
	for mode := range metalshim.MathFast + 1 {
		flags := slices.Concat(laneTarget(), mathFlags(mode))
		pre, err := d.runSealed(ctx, slices.Concat(preprocess, []string{"-D__METAL_VERSION__=310"}), []byte(stdlib.Preprocessor("all.metal", everyKind)))
		if err != nil {
			t.Fatal(err)
		}
		cxx, _, err := msl.Rewrite(string(pre))
		if err != nil {
			t.Fatal(err)
		}
		want, err := d.compileRewritten(ctx, flags, nil, cxx)
		if err != nil {
			t.Fatal(compileError(ctx, "all", "", err))
		}
		pch, err := d.precompile(ctx, flags)
		if err != nil {
			t.Fatal(err)
		}
		got, err := d.runPrecompiled(ctx, slices.Concat(language, flags, withPrecompiled, toBitcode), []byte(cxx), pch)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("mode %d: %d bytes with the precompiled header (%v), %d without", mode, len(got), err, len(want))
		}
	}
}

// TestPrecompiledIsKept: one is made for a compiler and its arguments, and the
// next device takes it from the cache.
func TestPrecompiledIsKept(t *testing.T) {
	dir := t.TempDir()
	entries := func(d *Device) (n int) {
		s, _ := d.cache.Status()
		for _, e := range s.Items {
			if e.Kind == headerEntry {
				n++
			}
		}
		return n
	}
	d := openAt(t, Options{CacheDir: dir})
	if n := entries(d); n != 0 {
		t.Fatalf("%d headers before anything is compiled", n)
	}
	states(t, d, tiny)
	lib, err := d.NewLibrary(context.Background(), metalshim.Source{Name: "tiny", Text: tiny, CompileOptions: metalshim.CompileOptions{MathMode: metalshim.MathFast}})
	if err != nil {
		t.Fatal(err)
	}
	lib.Release()
	if n := entries(d); n != 2 {
		t.Errorf("%d headers for two math modes", n)
	}
	d = openAt(t, Options{CacheDir: dir})
	states(t, d, tiny+"\n")
	if n := entries(d); n != 2 {
		t.Errorf("%d headers after another library", n)
	}
}

// TestPrecompiledDamaged: a header that the compiler does not take changes
// nothing but the time, and what is wrong with a source is told as without one.
func TestPrecompiledDamaged(t *testing.T) {
	d := openAt(t, Options{CacheDir: t.TempDir()})
	ctx := context.Background()
	flags := slices.Concat(laneTarget(), mathFlags(metalshim.MathFast))
	text := "kernel void f() { undeclared(); }\n"
	_, want := d.compileRewritten(ctx, flags, nil, "# 7 \"a.metal\"\n"+strings.TrimPrefix(text, "kernel "))
	pch, err := d.precompile(ctx, flags)
	if err != nil {
		t.Fatal(err)
	}
	_, got := d.compileRewritten(ctx, flags, pch, "# 7 \"a.metal\"\n"+strings.TrimPrefix(text, "kernel "))
	var a, b *clang.ExitError
	if !errors.As(want, &a) || !errors.As(got, &b) || a.Stderr != b.Stderr || !strings.Contains(a.Stderr, "a.metal:7") {
		t.Errorf("error %v with a precompiled header, %v without", got, want)
	}
	bad, err := os.CreateTemp(t.TempDir(), "pch")
	if err != nil {
		t.Fatal(err)
	}
	defer bad.Close()
	if _, err := bad.WriteString("CPCH and nothing else"); err != nil {
		t.Fatal(err)
	}
	good := "void g() {}\n"
	plain, err := d.compileRewritten(ctx, flags, nil, good)
	if err != nil {
		t.Fatal(err)
	}
	if code, err := d.compileRewritten(ctx, flags, bad, good); err != nil || !bytes.Equal(code, plain) {
		t.Errorf("a damaged header: %v", err)
	}
}

// TestPrecompiledOnce: a compiler that cannot make the header, and takes its time
// limit for that perhaps, is asked once, not by each library.
func TestPrecompiledOnce(t *testing.T) {
	tools, err := clang.Find(t.Context())
	if err != nil {
		t.Skipf("SKIP: needs clang: %v", err)
	}
	dir := t.TempDir()
	script, asked := filepath.Join(dir, "clang-19"), filepath.Join(dir, "asked")
	text := "#!/bin/sh\ncase \"$*\" in *emit-pch*) echo >>'" + asked + "'; kill -SEGV $$;; esac\nexec '" + tools.Path + "' \"$@\"\n"
	if err := os.WriteFile(script, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv(clang.EnvPath, script)
	var notes []string
	d := openAt(t, Options{CacheDir: t.TempDir(), Note: func(kind, text string) { notes = append(notes, text) }})
	for i := range 3 {
		lib, err := d.NewLibrary(t.Context(), metalshim.Source{Name: "parts", Text: everyKind + strings.Repeat("\n", i)})
		if err != nil {
			t.Fatal(err)
		}
		lib.Release()
	}
	count, err := os.ReadFile(asked)
	if err != nil || string(count) != "\n" {
		t.Errorf("it was asked %d times: %v", len(count), err)
	}
	if len(notes) == 0 || !strings.Contains(notes[0], "no precompiled header: "+script+": the compiler was killed") {
		t.Errorf("notes: %q", notes)
	}

	// One that was cancelled says nothing about the compiler.
	d = openAt(t, Options{CacheDir: t.TempDir()})
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := d.precompile(over, laneTarget()); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if _, err := d.precompile(t.Context(), laneTarget()); err == nil || errors.Is(err, context.Canceled) {
		t.Errorf("after that: %v", err)
	}
}
