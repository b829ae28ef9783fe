package soft

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/introgen/introgen/metalshim"
	"github.com/introgen/introgen/metalshim/soft/clang"
	"github.com/introgen/introgen/metalshim/soft/native"
)

// One device and one cache serve all tests of this process.
var shared struct {
	once sync.Once
	dir  string
	d    *Device
	err  error
}

func TestMain(m *testing.M) {
	code := m.Run()
	if shared.d != nil {
		shared.d.Close()
	}
	if shared.dir != "" {
		os.RemoveAll(shared.dir)
	}
	os.Exit(code)
}

func skipWithout(t testing.TB, err error) {
	t.Helper()
	var absent *clang.Error
	if errors.As(err, &absent) || errors.Is(err, native.ErrUnsupported) {
		t.Skipf("SKIP: needs clang 19 on linux: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func testDevice(t testing.TB) *Device {
	t.Helper()
	shared.once.Do(func() {
		if shared.dir, shared.err = os.MkdirTemp("", "introgen-test-"); shared.err == nil {
			shared.d, shared.err = Open(context.Background(), Options{CacheDir: shared.dir, KernelLimit: 2 * time.Second})
		}
	})
	skipWithout(t, shared.err)
	return shared.d
}

func compile(t testing.TB, d metalshim.Device, name, text string) metalshim.Library {
	t.Helper()
	lib, err := d.NewLibrary(context.Background(), metalshim.Source{Name: name, Text: text,
		CompileOptions: metalshim.CompileOptions{MathMode: metalshim.MathFast}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(lib.Release)
	return lib
}

func pipe(t testing.TB, lib metalshim.Library, name string, constants ...metalshim.Constant) metalshim.Pipeline {
	t.Helper()
	p, err := lib.NewPipeline(context.Background(), name, constants)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Release)
	return p
}

// run encodes with f, runs, and returns what the command buffer says.
func run(t testing.TB, d metalshim.Device, f func(metalshim.Encoder) error) error {
	t.Helper()
	q, err := d.NewQueue()
	if err != nil {
		t.Fatal(err)
	}
	defer q.Release()
	cb, err := q.NewCommandBuffer()
	if err != nil {
		t.Fatal(err)
	}
	defer cb.Release()
	e, err := cb.NewEncoder(metalshim.Concurrent)
	if err != nil {
		t.Fatal(err)
	}
	err = f(e)
	if e := e.EndEncoding(); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	if err := cb.Commit(); err != nil {
		t.Fatal(err)
	}
	return cb.Wait(context.Background())
}

func buffer32(t testing.TB, d metalshim.Device, values ...float32) metalshim.Buffer {
	t.Helper()
	b := make([]byte, 4*len(values))
	for i, v := range values {
		binary.LittleEndian.PutUint32(b[4*i:], math.Float32bits(v))
	}
	buf, err := d.NewBufferWithBytes(b)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(buf.Release)
	return buf
}

func floats(b metalshim.Buffer) []float32 {
	raw := b.Contents()
	out := make([]float32, len(raw)/4)
	for i := range out {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
	}
	return out
}

func one(x int) metalshim.Size { return metalshim.Size{X: x, Y: 1, Z: 1} }

const basics = `
#include <metal_stdlib>
using namespace metal;
constant bool twice [[function_constant(3)]];
constant bool derived = twice && true;
kernel void scale(device const float* x [[buffer(0)]], device float* y [[buffer(1)]], constant float& f [[buffer(2)]],
                  uint i [[thread_position_in_grid]], uint n [[threads_per_grid]]) {
  if (i < n) y[i] = x[i] * f * (derived ? 2 : 1);
}
kernel void reverse(device float* x, threadgroup float* t [[threadgroup(0)]], uint i [[thread_position_in_threadgroup]], uint n [[threads_per_threadgroup]]) {
  threadgroup float other[64];
  t[i] = x[i];
  other[i % 64] = 1;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  x[i] = t[n - 1 - i] + other[0] - 1;
}
kernel void sums(device float* x, uint i [[thread_position_in_grid]]) { x[i] = simd_sum(x[i]); }
[[max_total_threads_per_threadgroup(128)]] kernel void small(device float* x) { x[0] = 1; }
kernel void forever(device atomic_uint* x) { while (atomic_load_explicit(x, memory_order_relaxed) == 0) {} }
kernel void beyond(device float* x, constant long& at) { x[at] = 1; }
kernel void divides(device int* x, constant int& by) { x[0] = x[0] / by; }
`

func TestScale(t *testing.T) {
	d := testDevice(t)
	lib := compile(t, d, "basics", basics)
	for _, c := range []struct {
		constants []metalshim.Constant
		factor    float32
	}{{[]metalshim.Constant{metalshim.BoolConstant(3, true)}, 6}, {[]metalshim.Constant{metalshim.BoolConstant(3, false)}, 3}} {
		p := pipe(t, lib, "scale", c.constants...)
		in := make([]float32, 1000)
		for i := range in {
			in[i] = float32(i)
		}
		x, y := buffer32(t, d, in...), buffer32(t, d, make([]float32, 1000)...)
		err := run(t, d, func(e metalshim.Encoder) error {
			e.SetPipeline(p)
			e.SetBuffer(0, x, 0)
			e.SetBuffer(1, y, 0)
			e.SetBytes(2, []byte{0, 0, 0x40, 0x40}) // 3.0
			return e.DispatchThreads(one(1000), one(96))
		})
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range floats(y) {
			if want := c.factor * float32(i); v != want {
				t.Fatalf("%v: y[%d] = %v, want %v", c.constants, i, v, want)
			}
		}
	}
}

func TestBarrierAndSums(t *testing.T) {
	d := testDevice(t)
	lib := compile(t, d, "basics", basics)
	in := make([]float32, 200)
	for i := range in {
		in[i] = float32(i)
	}
	x := buffer32(t, d, in...)
	rev := pipe(t, lib, "reverse")
	if got := rev.StaticThreadgroupMemory(); got != 256 {
		t.Errorf("static threadgroup memory is %d bytes, want 256", got)
	}
	err := run(t, d, func(e metalshim.Encoder) error {
		e.SetPipeline(rev)
		e.SetBuffer(0, x, 0)
		e.SetThreadgroupMemory(0, 800)
		return e.DispatchThreadgroups(one(1), one(200))
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range floats(x) {
		if v != float32(199-i) {
			t.Fatalf("x[%d] = %v, want %d", i, v, 199-i)
		}
	}
	err = run(t, d, func(e metalshim.Encoder) error {
		e.SetPipeline(pipe(t, lib, "sums"))
		e.SetBuffer(0, x, 0)
		return e.DispatchThreads(one(200), one(200))
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range floats(x) {
		var want float32
		for k := i &^ 31; k < i&^31+32 && k < 200; k++ {
			want += float32(199 - k)
		}
		if v != want {
			t.Fatalf("x[%d] = %v, want %v", i, v, want)
		}
	}
}

func TestMisuse(t *testing.T) {
	d := testDevice(t)
	lib := compile(t, d, "basics", basics)
	small, scale, rev := pipe(t, lib, "small"), pipe(t, lib, "scale", metalshim.BoolConstant(3, true)), pipe(t, lib, "reverse")
	if n := small.MaxThreadsPerThreadgroup(); n != 128 {
		t.Errorf("max threads %d, want 128 from the attribute", n)
	}
	if n := scale.MaxThreadsPerThreadgroup(); n != 1024 {
		t.Errorf("max threads %d, want 1024", n)
	}
	x := buffer32(t, d, 1, 2, 3, 4)
	for _, c := range []struct {
		name string
		f    func(metalshim.Encoder) error
		want string
	}{
		{"no pipeline", func(e metalshim.Encoder) error { return e.DispatchThreads(one(1), one(1)) }, "no pipeline"},
		{"threads", func(e metalshim.Encoder) error {
			e.SetPipeline(small)
			e.SetBuffer(0, x, 0)
			return e.DispatchThreadgroups(one(1), one(129))
		}, "129 threads, the pipeline allows 128"},
		{"argument", func(e metalshim.Encoder) error {
			e.SetPipeline(scale)
			e.SetBuffer(0, x, 0)
			e.SetBuffer(1, x, 0)
			return e.DispatchThreads(one(1), one(1))
		}, "buffer 2 (constant float& f) is not set"},
		{"memory", func(e metalshim.Encoder) error {
			e.SetPipeline(rev)
			e.SetBuffer(0, x, 0)
			return e.DispatchThreads(one(1), one(1))
		}, "threadgroup memory 0 (threadgroup float* t) has no length"},
		{"too much", func(e metalshim.Encoder) error {
			e.SetPipeline(rev)
			e.SetBuffer(0, x, 0)
			e.SetThreadgroupMemory(0, 32768)
			return e.DispatchThreads(one(1), one(1))
		}, "33024 bytes of threadgroup memory"},
		{"offset", func(e metalshim.Encoder) error {
			e.SetBuffer(0, x, 17)
			return nil
		}, "offset 17"},
		{"index", func(e metalshim.Encoder) error { e.SetBuffer(31, x, 0); return nil }, "index 31"},
		{"empty grid", func(e metalshim.Encoder) error {
			e.SetPipeline(small)
			return e.DispatchThreads(one(0), one(1))
		}, "at least 1"},
	} {
		err := run(t, d, c.f)
		var e *metalshim.EncodeError
		if !errors.As(err, &e) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.want)
		}
	}
}

func TestFunctionErrors(t *testing.T) {
	d := testDevice(t)
	lib := compile(t, d, "basics", basics)
	for _, c := range []struct {
		name      string
		constants []metalshim.Constant
		want      string
	}{
		{"absent", nil, `no function "absent"; it has scale, reverse`},
		{"scale", nil, "function constant 3, twice, has no value"},
		{"scale", []metalshim.Constant{metalshim.IntConstant(3, 1)}, "is of type bool, not int"},
		{"scale", []metalshim.Constant{metalshim.BoolConstant(3, true), metalshim.BoolConstant(3, true)}, "given twice"},
	} {
		_, err := lib.NewPipeline(context.Background(), c.name, c.constants)
		var e *metalshim.FunctionError
		if !errors.As(err, &e) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %v: %v, want %q", c.name, c.constants, err, c.want)
		}
	}
}

func TestCompileOptions(t *testing.T) {
	d := testDevice(t)
	source := func(o metalshim.CompileOptions) error {
		l, err := d.NewLibrary(context.Background(), metalshim.Source{Name: "options", CompileOptions: o,
			Text: "#if __METAL_VERSION__ != WANT\n#error version\n#endif\nkernel void k(device int* x) { x[0] = NUMBER; }\n"})
		if err == nil {
			l.Release()
		}
		return err
	}
	macros := func(want string) map[string]string { return map[string]string{"WANT": want, "NUMBER": "1 + 2"} }
	if err := source(metalshim.CompileOptions{Macros: macros("310")}); err != nil {
		t.Error(err)
	}
	if err := source(metalshim.CompileOptions{LanguageVersion: "2.4", Macros: macros("240")}); err != nil {
		t.Error(err)
	}
	for o, want := range map[string]string{"3": `language version "3"`, "3.x": "want one such as 3.1", "metal": "language version"} {
		if err := source(metalshim.CompileOptions{LanguageVersion: o}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("version %q: %v", o, err)
		}
	}
	if err := source(metalshim.CompileOptions{MathMode: 3}); err == nil || !strings.Contains(err.Error(), "math mode 3") {
		t.Errorf("math mode: %v", err)
	}
	_, err := d.NewLibrary(context.Background(), metalshim.Source{Name: "long", Text: strings.Repeat(" ", 16<<20+1)})
	if err == nil || !strings.Contains(err.Error(), "at most 16777216") {
		t.Errorf("a long source: %v", err)
	}
}

func TestCompileError(t *testing.T) {
	d := testDevice(t)
	_, err := d.NewLibrary(context.Background(), metalshim.Source{Name: "bad", File: "dir/bad.metal", Text: `#include <metal_stdlib>
using namespace metal;
kernel void k(device float* x [[buffer(0)]]) {
  x[0] = undeclared;
}
`})
	var e *metalshim.CompileError
	if !errors.As(err, &e) || len(e.Diagnostics) == 0 {
		t.Fatalf("error %v", err)
	}
	if g := e.Diagnostics[0]; g.File != "dir/bad.metal" || g.Line != 4 || g.Severity != "error" || !strings.Contains(g.Message, "undeclared") {
		t.Errorf("diagnostic %+v, want dir/bad.metal:4", g)
	}
}

// A kernel that fails takes its command buffer with it and nothing else.
func TestFailingKernels(t *testing.T) {
	testDevice(t)
	d, err := Open(context.Background(), Options{CacheDir: shared.dir, KernelLimit: 200 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	lib := compile(t, d, "basics", basics)
	x := buffer32(t, d, make([]float32, 16)...)
	for _, c := range []struct {
		name string
		arg  []byte
		is   error
		want string
	}{
		{"forever", nil, metalshim.ErrTimeout, "no threadgroup completed"},
		{"beyond", []byte{0, 0, 1, 0, 0, 0, 0, 0}, metalshim.ErrPageFault, "262144 bytes from the start of argument 0"},
	} {
		p := pipe(t, lib, c.name)
		for range 2 {
			err := run(t, d, func(e metalshim.Encoder) error {
				e.SetPipeline(p)
				e.SetBuffer(0, x, 0)
				if c.arg != nil {
					e.SetBytes(1, c.arg)
				}
				return e.DispatchThreads(one(4), one(2))
			})
			var e *metalshim.CommandError
			if !errors.As(err, &e) || e.Kernel != c.name || !strings.Contains(err.Error(), c.want) || c.is != nil && !errors.Is(err, c.is) {
				t.Errorf("%s: %v", c.name, err)
			}
		}
	}
	// MSL leaves the quotient of a division by zero unspecified: that is no failure.
	if err := run(t, d, func(e metalshim.Encoder) error {
		e.SetPipeline(pipe(t, lib, "divides"))
		e.SetBuffer(0, x, 0)
		e.SetBytes(1, []byte{0, 0, 0, 0})
		return e.DispatchThreads(one(4), one(2))
	}); err != nil {
		t.Errorf("divides: %v", err)
	}
	if err := run(t, d, func(e metalshim.Encoder) error {
		e.SetPipeline(pipe(t, lib, "sums"))
		e.SetBuffer(0, x, 0)
		return e.DispatchThreads(one(16), one(16))
	}); err != nil {
		t.Errorf("after the failures: %v", err)
	}
}

// TestCommandTimes: each command has a time, copies too; they follow one another,
// and are together what the command buffer took and its kernels.
func TestCommandTimes(t *testing.T) {
	d := testDevice(t)
	p := pipe(t, compile(t, d, "basics", basics), "sums")
	x := buffer32(t, d, make([]float32, 1<<16)...)
	q, err := d.NewQueue()
	if err != nil {
		t.Fatal(err)
	}
	defer q.Release()
	cb, err := q.NewCommandBuffer()
	if err != nil {
		t.Fatal(err)
	}
	defer cb.Release()
	e, err := cb.NewEncoder(metalshim.Serial)
	if err != nil {
		t.Fatal(err)
	}
	e.SetPipeline(p)
	e.SetBuffer(0, x, 0)
	for range 3 {
		if err := e.DispatchThreads(one(1<<16), one(256)); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.EndEncoding(); err != nil {
		t.Fatal(err)
	}
	b, err := cb.NewBlit()
	if err != nil {
		t.Fatal(err)
	}
	b.Fill(x, 0, 1<<16, 1)
	if err := b.EndEncoding(); err != nil {
		t.Fatal(err)
	}
	if err := cb.Commit(); err != nil {
		t.Fatal(err)
	}
	if err := cb.Wait(context.Background()); err != nil {
		t.Fatal(err)
	}
	times := metalshim.CommandTimes(cb)
	if len(times) != 4 {
		t.Fatalf("4 commands have %d times", len(times))
	}
	var at time.Duration
	for i, c := range times {
		if c.Start != at || c.Took <= 0 {
			t.Errorf("command %d begins at %v and takes %v, the one before has ended at %v", i, c.Start, c.Took, at)
		}
		at += c.Took
	}
	if ran := cb.Times().GPUEnd.Sub(cb.Times().GPUStart); ran != at {
		t.Errorf("the commands take %v, their command buffer %v", at, ran)
	}
	byKernel := map[string]time.Duration{}
	for _, k := range metalshim.KernelTimes(cb) {
		byKernel[k.Kernel] = k.Time
	}
	if sums := times[0].Took + times[1].Took + times[2].Took; byKernel["sums"] != sums || byKernel["blit"] != times[3].Took {
		t.Errorf("the kernels take %v, their commands %v and %v", byKernel, sums, times[3].Took)
	}
}
