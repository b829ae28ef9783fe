package apple

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/introgen/introgen/metalshim"
)

// The tests of this file need a device: a Mac's, or on Linux the stand-in's,
// which stops the process at the first wrong message.

const addSource = `#include <metal_stdlib>
using namespace metal;
constant bool twice [[function_constant(3)]];
constant int step_ [[function_constant(4)]];
kernel void add(device const float* a [[buffer(0)]], device float* b [[buffer(1)]],
                constant uint& n [[buffer(2)]], uint i [[thread_position_in_grid]]) {
  if (i < n) b[i] += a[i];
}
kernel void scaled(device float* b [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  b[i] = b[i] * (twice ? 2.0f : 1.0f) + float(step_);
}
kernel void through(device float* b [[buffer(0)]], threadgroup float* t [[threadgroup(0)]],
                    uint i [[thread_position_in_threadgroup]], uint n [[threads_per_threadgroup]]) {
  t[i] = b[i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  b[i] = t[n - 1 - i];
}
`

func compile(t testing.TB, d *Device) metalshim.Library {
	t.Helper()
	l, err := d.NewLibrary(t.Context(), metalshim.Source{Name: "Add", Text: addSource,
		CompileOptions: metalshim.CompileOptions{MathMode: metalshim.MathFast, Macros: map[string]string{"UNUSED": "1"}}})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func floats(v ...float32) []byte {
	var b []byte
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return b
}

func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func threads(n int) metalshim.Size { return metalshim.Size{X: n, Y: 1, Z: 1} }

// addOnce adds a to b on the device, whose command buffer it returns completed.
func addOnce(t testing.TB, q metalshim.Queue, p metalshim.Pipeline, a, b metalshim.Buffer, n int) metalshim.CommandBuffer {
	t.Helper()
	c := must(q.NewCommandBuffer())(t)
	e := must(c.NewEncoder(metalshim.Concurrent))(t)
	e.SetLabel("add é")
	e.SetPipeline(p)
	e.SetBuffer(0, a, 0)
	e.SetBuffer(1, b, 0)
	e.SetBytes(2, binary.LittleEndian.AppendUint32(nil, uint32(n)))
	if err := e.DispatchThreadgroups(threads((n+31)/32), threads(32)); err != nil {
		t.Error(err)
	}
	if err := e.EndEncoding(); err != nil {
		t.Error(err)
	}
	if err := c.Commit(); err != nil {
		t.Error(err)
	}
	if err := c.Wait(t.Context()); err != nil {
		t.Error(err)
	}
	return c
}

func TestRun(t *testing.T) {
	for name, o := range map[string]Options{
		"waiting":      {},
		"no residency": {NoResidency: true, LanguageVersion: "3.0"},
	} {
		t.Run(name, func(t *testing.T) {
			d := open(t, o)
			if i := d.Info(); i.Driver != "apple" || i.Name == "" || i.MaxThreadsPerThreadgroup < 256 || i.MaxThreadgroupMemory < 16<<10 || i.MaxBufferLength < 1<<20 {
				t.Errorf("%+v", i)
			}
			testRun(t, d)
		})
	}
}

func testRun(t *testing.T, d *Device) {
	l := compile(t, d)
	names := l.FunctionNames()
	slices.Sort(names)
	if !slices.Equal(names, []string{"add", "scaled", "through"}) || l.SourceBytes() != len(addSource) || l.Name() != "Add" {
		t.Errorf("library %s with %v", l.Name(), names)
	}
	add := must(l.NewPipeline(t.Context(), "add", nil))(t)
	through := must(l.NewPipeline(t.Context(), "through", nil))(t)
	if add.MaxThreadsPerThreadgroup() < 256 || add.ThreadExecutionWidth() < 4 || add.StaticThreadgroupMemory() != 0 || add.Name() != "add" || add.Library() != "Add" {
		t.Errorf("pipeline %+v", add)
	}
	l.Release() // pipelines outlive their library

	a := must(d.NewBufferWithBytes(floats(1, 2, 3, 4, 5, 6, 7, 8)))(t)
	b := must(d.NewBufferWithBytes(floats(10, 10, 10, 10, 10, 10, 10, 10)))(t)
	private := must(d.NewBuffer(32, metalshim.Private))(t)
	if private.Contents() != nil || private.Mode() != metalshim.Private || a.Len() != 32 {
		t.Error("a private buffer shows its memory")
	}
	q := must(d.NewQueue())(t)
	f := must(d.NewFence())(t)
	c := must(q.NewCommandBuffer())(t)
	called := make(chan metalshim.Status, 2)
	c.OnCompleted(func(c metalshim.CommandBuffer) { called <- c.Status() })
	e := must(c.NewEncoder(metalshim.Concurrent))(t)
	e.SetLabel("add")
	e.SetPipeline(add)
	e.SetBuffer(0, a, 0)
	e.SetBuffer(1, b, 0)
	e.SetBytes(2, []byte{7, 0, 0, 0})
	if err := e.DispatchThreads(threads(8), threads(4)); err != nil {
		t.Error(err)
	}
	e.MemoryBarrier(metalshim.BarrierBuffers)
	e.SetBuffer(0, a, 4)
	e.SetBytes(2, []byte{1, 0, 0, 0})
	if err := e.DispatchThreadgroups(threads(1), threads(8)); err != nil {
		t.Error(err)
	}
	e.MemoryBarrier(metalshim.BarrierBuffers)
	e.SetPipeline(through)
	e.SetBuffer(0, b, 0)
	e.SetThreadgroupMemory(0, 32)
	if err := e.DispatchThreadgroups(threads(1), threads(8)); err != nil {
		t.Error(err)
	}
	e.UpdateFence(f)
	if err := e.EndEncoding(); err != nil {
		t.Error(err)
	}
	again := must(c.NewEncoder(metalshim.Serial))(t)
	again.WaitForFence(f)
	if err := again.EndEncoding(); err != nil {
		t.Error(err)
	}
	blit := must(c.NewBlit())(t)
	blit.SetLabel("blit")
	blit.WaitForFence(f)
	blit.Copy(private, 0, b, 0, 32)
	blit.Copy(a, 0, private, 4, 28)
	blit.Fill(a, 28, 4, 0)
	blit.UpdateFence(f)
	if err := blit.EndEncoding(); err != nil {
		t.Error(err)
	}
	if c.Status() != metalshim.NotEnqueued {
		t.Errorf("status %v before commit", c.Status())
	}
	before := time.Now()
	if err := c.Commit(); err != nil {
		t.Fatal(err)
	}
	// All of these may be released while it runs.
	for _, o := range []interface{ Release() }{add, through, private, f} {
		o.Release()
	}
	if err := c.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := <-called; got != metalshim.Completed || c.Status() != metalshim.Completed || c.Err() != nil {
		t.Errorf("completed as %v, then %v, %v", got, c.Status(), c.Err())
	}
	// 10+1+2, 12 … 17, 10, and that the other way round.
	if got, want := string(b.Contents()), string(floats(10, 17, 16, 15, 14, 13, 12, 13)); got != want {
		t.Errorf("b = %x, want %x", got, want)
	}
	if got, want := string(a.Contents()), string(floats(17, 16, 15, 14, 13, 12, 13, 0)); got != want {
		t.Errorf("a = %x, want %x", got, want)
	}
	checkTimes(t, c.Times(), before)
	for _, o := range []interface{ Release() }{c, q, a, b} {
		o.Release()
		o.Release() // the second does nothing
	}
}

// checkTimes holds a command buffer's times against the CPU's clock.
func checkTimes(t *testing.T, times metalshim.Times, before time.Time) {
	t.Helper()
	const slack = 5 * time.Millisecond // two clocks
	in := []time.Time{before.Add(-slack), times.GPUStart, times.GPUEnd, time.Now().Add(slack)}
	if times.GPUStart.IsZero() || !slices.IsSortedFunc(in, func(a, b time.Time) int { return a.Compare(b) }) {
		t.Errorf("started %v, ended %v after the commit; now it is %v", times.GPUStart.Sub(before), times.GPUEnd.Sub(before), time.Since(before))
	}
	if times.Committed.Before(before) {
		t.Errorf("committed %v before the call", before.Sub(times.Committed))
	}
}

func TestConstants(t *testing.T) {
	d := open(t, Options{})
	l := compile(t, d)
	defer l.Release()
	q := must(d.NewQueue())(t)
	defer q.Release()
	for _, twice := range []bool{true, false} {
		constants := []metalshim.Constant{metalshim.BoolConstant(3, twice), metalshim.IntConstant(4, -3)}
		p := must(l.NewPipeline(t.Context(), "scaled", constants))(t)
		if !slices.Equal(p.Constants(), constants) {
			t.Errorf("constants %v", p.Constants())
		}
		b := must(d.NewBufferWithBytes(floats(5, 6)))(t)
		c := must(q.NewCommandBuffer())(t)
		e := must(c.NewEncoder(metalshim.Serial))(t)
		e.SetPipeline(p)
		e.SetBuffer(0, b, 0)
		if err := e.DispatchThreads(threads(2), threads(2)); err != nil {
			t.Error(err)
		}
		if err := errors.Join(e.EndEncoding(), c.Commit(), c.Wait(t.Context())); err != nil {
			t.Error(err)
		}
		want := floats(2, 3)
		if twice {
			want = floats(7, 9)
		}
		if string(b.Contents()) != string(want) {
			t.Errorf("twice %v: %x, want %x", twice, b.Contents(), want)
		}
		c.Release()
		b.Release()
		p.Release()
	}
	for reason, constants := range map[string][]metalshim.Constant{
		"given twice":       {metalshim.BoolConstant(3, true), metalshim.BoolConstant(3, true)},
		"0 to 65535":        {metalshim.BoolConstant(-1, true)},
		"none of metalshim": {{Index: 3, Type: 77}},
		"":                  nil, // no value: any words of the system's
	} {
		if constants == nil {
			constants = []metalshim.Constant{metalshim.BoolConstant(3, true)}

		}
		_, err := l.NewPipeline(t.Context(), "scaled", constants)
		if err == nil || !strings.Contains(err.Error(), reason) || !strings.Contains(err.Error(), "scaled") {
			t.Errorf("%v: %v", constants, err)
		}
	}
}

func TestCompileFaults(t *testing.T) {
	d := open(t, Options{})
	_, err := d.NewLibrary(t.Context(), metalshim.Source{Name: "Bad", File: "bad.metal", Text: "#include <metal_stdlib>\nkernel void x(device flot* a [[buffer(0)]]) {}\n"})
	var ce *metalshim.CompileError
	if !errors.As(err, &ce) || len(ce.Diagnostics) == 0 {
		t.Fatalf("%v", err)
	}
	if g := ce.Diagnostics[0]; g.File != "bad.metal" || g.Line != 2 || g.Severity != "error" || !strings.Contains(ce.Log, g.Message) {
		t.Errorf("%+v, log %q", g, ce.Log)
	}
	for reason, src := range map[string]metalshim.Source{
		"language version":  {Name: "V", Text: addSource, CompileOptions: metalshim.CompileOptions{LanguageVersion: "three"}},
		"math mode 7":       {Name: "V", Text: addSource, CompileOptions: metalshim.CompileOptions{MathMode: 7}},
		"math functions -1": {Name: "V", Text: addSource, CompileOptions: metalshim.CompileOptions{MathFunctions: -1}},
		"is not UTF-8":      {Name: "V", Text: "\xff"},
		"bytes of source":   {Name: "V", Text: strings.Repeat(" ", maxSource+1)},
	} {
		if _, err := d.NewLibrary(t.Context(), src); err == nil || !strings.Contains(err.Error(), reason) {
			t.Errorf("%s: %v", reason, err)
		}
	}
	l := compile(t, d)
	_, err = l.NewPipeline(t.Context(), "sub", nil)
	var fe *metalshim.FunctionError
	if !errors.As(err, &fe) || !slices.Contains(fe.Names, "add") {
		t.Errorf("an absent function: %v", err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := l.NewPipeline(gone, "add", nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	l.Release()
	if _, err := l.NewPipeline(t.Context(), "add", nil); !errors.Is(err, metalshim.ErrReleased) {
		t.Errorf("released: %v", err)
	}
	if _, err := d.NewLibraryFromFile(t.Context(), "None", filepath.Join(t.TempDir(), "none.metallib")); err == nil || !strings.Contains(err.Error(), "none.metallib") {
		t.Errorf("an absent metallib: %v", err)
	}
}

func TestBufferFaults(t *testing.T) {
	d := open(t, Options{})
	for _, n := range []int{0, -1, math.MaxInt} {
		_, err := d.NewBuffer(n, metalshim.Shared)
		var ae *metalshim.AllocationError
		if !errors.As(err, &ae) || ae.Length != int64(n) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
	if _, err := d.NewBuffer(4, 1); err == nil || !strings.Contains(err.Error(), "storage mode") {
		t.Errorf("a mode of another kind: %v", err)
	}
	if _, err := d.NewBufferWithBytes(nil); err == nil {
		t.Error("no bytes are taken")
	}
	page := syscall.Getpagesize()
	memory, err := syscall.Mmap(-1, 0, 4*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := syscall.Munmap(memory); err != nil {
			t.Error(err)
		}
	}()
	for name, m := range map[string][]byte{"a byte off": memory[1 : page+1], "a part of a page": memory[:page-1], "none": nil} {
		if _, err := d.NewBufferNoCopy(m); err == nil {
			t.Errorf("memory that is %s is taken", name)
		}
	}
	b := must(d.NewBufferNoCopy(memory[page : 3*page]))(t)
	if b.Len() != 2*page || &b.Contents()[0] != &memory[page] {
		t.Error("the buffer is not the memory")
	}
	if live := d.Live(); live.Buffers != 1 || live.BufferBytes != int64(2*page) {
		t.Errorf("%+v", live)
	}
	// The device sees the memory itself.
	l := compile(t, d)
	add := must(l.NewPipeline(t.Context(), "add", nil))(t)
	a := must(d.NewBufferWithBytes(floats(1, 2)))(t)
	q := must(d.NewQueue())(t)
	addOnce(t, q, add, a, b, 2).Release()
	if got := string(memory[page : page+8]); got != string(floats(1, 2)) {
		t.Errorf("the memory holds %x", got)
	}
	for _, o := range []interface{ Release() }{q, a, add, l, b} {
		o.Release()
	}
	if b.Contents() != nil {
		t.Error("a released buffer shows its memory")
	}
}

// Several goroutines, each with a queue of its own.
func TestGoroutines(t *testing.T) {
	for range 2 {
		d := open(t, Options{})
		l := compile(t, d)
		add := must(l.NewPipeline(t.Context(), "add", nil))(t)
		var all sync.WaitGroup
		for g := range 8 {
			all.Go(func() {
				q, err1 := d.NewQueue()
				a, err2 := d.NewBufferWithBytes(floats(1, float32(g)))
				b, err3 := d.NewBufferWithBytes(floats(0, 0))
				if err := errors.Join(err1, err2, err3); err != nil {
					t.Error(err)
					return
				}
				for range 10 {
					addOnce(t, q, add, a, b, 2).Release()
				}
				if want := string(floats(10, float32(10*g))); string(b.Contents()) != want {
					t.Errorf("goroutine %d: %x", g, b.Contents())
				}
				a.Release()
				b.Release()
				q.Release()
			})
		}
		all.Wait()
		add.Release()
		l.Release()
	}
}

func TestDevices(t *testing.T) {
	d := open(t, Options{})
	list := must(Devices(t.Context(), options(t, Options{})))(t)
	i := slices.IndexFunc(list, func(c Choice) bool { return c.RegistryID == d.Info().RegistryID })
	if i < 0 || list[i].Name != d.Info().Name || list[i].Family != d.Family() {
		t.Fatalf("%+v lacks %s", list, d.Info().Name)
	}
	if text := list[i].String(); !strings.HasPrefix(text, fmt.Sprintf("%s (%d), ", d.Info().Name, d.Info().RegistryID)) || !strings.HasSuffix(text, ", "+d.Family().String()) {
		t.Errorf("%q", text)
	}
	for _, wanted := range []string{d.Info().Name, fmt.Sprint(d.Info().RegistryID)} {
		same := open(t, Options{Device: wanted})
		if same.Info().RegistryID != d.Info().RegistryID {
			t.Errorf("%s is %+v", wanted, same.Info())
		}
	}
	_, err := Open(t.Context(), options(t, Options{Device: "no such GPU"}))
	if !errors.Is(err, metalshim.ErrNoDevice) || !strings.Contains(err.Error(), d.Info().Name) {
		t.Errorf("%v", err)
	}
}

func TestFacts(t *testing.T) {
	d := open(t, Options{LanguageVersion: "3.0"})
	f := must(d.Facts())(t)
	if f.Device != d.Info().Name || f.Language != "3.0" || f.PhysicalMemory < 1<<20 || f.WorkingSet == 0 || f.Thermal < 0 || f.Thermal > ThermalCritical || strings.Count(f.System, ".") != 2 {
		t.Errorf("%+v", f)
	}
	t.Log(f)
}
