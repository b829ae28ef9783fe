//go:build linux && (amd64 || arm64)

package standin_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/introgen/introgen/metalshim"
	"github.com/introgen/introgen/metalshim/apple"
	"github.com/introgen/introgen/metalshim/apple/objc"
	"github.com/introgen/introgen/metalshim/apple/standin"
	"github.com/introgen/introgen/metalshim/soft"
	"github.com/introgen/introgen/trace/names"
)

const manySource = `#include <metal_stdlib>
using namespace metal;
constant bool twice [[function_constant(3)]];
kernel void scale(device float *a [[buffer(0)]], constant float &by [[buffer(1)]], threadgroup float *t [[threadgroup(0)]],
                  uint i [[thread_position_in_grid]], uint l [[thread_position_in_threadgroup]]) {
  t[l] = a[i] * by;
  a[i] = twice ? t[l] * FACTOR : t[l];
}
`

// everything uses all that the driver can do.
func everything(t *testing.T, path string, o standin.Options, a apple.Options, calls map[string]int64) {
	ctx := t.Context()
	dev := opened(t, soft.Options{})
	g := &gate{}
	served := o
	served.Plant = func(p standin.Point, n int, name string) *standin.Failure {
		g.pass(p)
		if o.Plant == nil {
			return nil
		}
		return o.Plant(p, n, name)
	}
	s, err := standin.Serve(path, dev, served)
	if err != nil {
		t.Fatal(err)
	}
	a.Libraries = objc.Libraries{Runtime: path, Foundation: path, Metal: path}
	list, err := apple.Devices(ctx, a)
	if err != nil || len(list) != 1 || !list[0].Default {
		t.Errorf("devices %+v, %v", list, err)
	}
	d, err := apple.Open(ctx, a)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Facts(); err != nil {
		t.Error(err)
	}
	if _, err := d.NewLibrary(ctx, metalshim.Source{Name: "Bad", Text: "kernel void x( {"}); err == nil {
		t.Error("no error from a source that does not compile")
	}
	src := metalshim.Source{Name: "Many", Text: manySource}
	src.Macros = map[string]string{"FACTOR": "2.0f"}
	fromSource := must(d.NewLibrary(ctx, src))(t)
	file := filepath.Join(t.TempDir(), "one.metallib")
	if err := os.WriteFile(file, []byte("MTLB"+addSource), 0o600); err != nil {
		t.Fatal(err)
	}
	fromFile := must(d.NewLibraryFromFile(ctx, "File", file))(t)
	add := must(fromFile.NewPipeline(ctx, "add", nil))(t)
	archivePath := filepath.Join(t.TempDir(), "archive")
	constants := []metalshim.Constant{metalshim.BoolConstant(3, true)}
	for _, want := range []string{names.CacheUnknown, names.CacheArchive} {
		x := must(d.NewArchive(archivePath))(t)
		l := must(x.NewLibrary(ctx, src))(t)
		p := must(l.NewPipeline(ctx, "scale", constants))(t)
		if got := p.Evidence().State; got != want {
			t.Errorf("archive: %q, want %q", got, want)
		}
		if err := x.Save(); err != nil {
			t.Error(err)
		}
		for _, o := range []interface{ Release() }{p, l, x} {
			o.Release()
		}
	}
	beside(t, s, d, g, !slices.Contains(o.Lacks, "maximumConcurrentCompilationTaskCount"))
	scale := must(fromSource.NewPipeline(ctx, "scale", constants))(t)
	memory, err := unix.Mmap(-1, 0, os.Getpagesize(), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(memory)
	shared, private := must(d.NewBufferWithBytes(make([]byte, 64)))(t), must(d.NewBuffer(64, metalshim.Private))(t)
	noCopy := must(d.NewBufferNoCopy(memory))(t)
	fence, queue := must(d.NewFence())(t), must(d.NewQueue())(t)

	c := must(queue.NewCommandBuffer())(t)
	b := must(c.NewBlit())(t)
	b.SetLabel("fill")
	b.Fill(noCopy, 0, 64, 0x3f) // 0x3f3f3f3f is 0.747…
	b.Copy(private, 0, noCopy, 0, 64)
	b.Copy(shared, 0, private, 0, 64)
	b.UpdateFence(fence)
	failed := b.EndEncoding()
	e := must(c.NewEncoder(metalshim.Concurrent))(t)
	e.SetLabel("compute")
	e.WaitForFence(fence)
	e.SetPipeline(scale)
	e.SetBuffer(0, shared, 0)
	e.SetBytes(1, []byte{0, 0, 0, 0x40}) // 2
	e.SetThreadgroupMemory(0, 64)
	one, all := metalshim.Size{X: 1, Y: 1, Z: 1}, metalshim.Size{X: 16, Y: 1, Z: 1}
	for _, err := range []error{failed, e.DispatchThreadgroups(one, all)} {
		if err != nil {
			t.Error(err)
		}
	}
	e.MemoryBarrier(metalshim.BarrierBuffers)
	e.SetPipeline(add)
	e.SetBuffer(0, shared, 0)
	e.SetBuffer(1, shared, 0)
	e.SetBytes(2, []byte{16, 0, 0, 0})
	failed = e.DispatchThreads(all, all)
	e.UpdateFence(fence)
	for _, err := range []error{failed, e.EndEncoding()} {
		if err != nil {
			t.Error(err)
		}
	}
	b = must(c.NewBlit())(t)
	b.WaitForFence(fence)
	for _, err := range []error{b.EndEncoding(), c.Commit()} {
		if err != nil {
			t.Error(err)
		}
	}
	if err := c.Wait(ctx); (err != nil) != (o.Plant != nil) {
		t.Errorf("the command buffer: %v", err)
	}
	if o.Plant == nil && string(memory[:4]) != "\x3f\x3f\x3f\x3f" {
		t.Errorf("memory that is not copied: % x", memory[:4])
	}
	// 0.747… × 2 × 2 + the same is 8 times it: three more in the exponent,
	// whose lowest bit is the highest of the second byte.
	if got := shared.Contents()[:4]; o.Plant == nil && string(got) != "\x3f\x3f\xbf\x40" {
		t.Errorf("% x", got)
	}
	for _, o := range []interface{ Release() }{c, queue, fence, noCopy, private, shared, scale, add, fromFile, fromSource} {
		o.Release()
	}
	if n := d.Live(); n != (metalshim.Counts{}) {
		t.Errorf("left behind: %+v", n)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	for name, n := range s.Calls() {
		calls[name] += n
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
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

// Every message that the driver declares is sent in these runs, and no other.
func TestDriverSendsWhatItDeclares(t *testing.T) {
	path := built(t)
	calls := map[string]int64{}
	older := []string{"setMathMode:", "architecture", "newResidencySetWithDescriptor:error:", "shouldMaximizeConcurrentCompilation",
		"setShouldMaximizeConcurrentCompilation:", "maximumConcurrentCompilationTaskCount"}
	lost := func(p standin.Point, _ int, _ string) *standin.Failure {
		if p == standin.AtCommit {
			return &standin.DeviceLost
		}
		return nil
	}
	for name, o := range map[string]standin.Options{
		"macOS 15": {Architecture: "applegpu_g13g"}, "macOS 13": {Version: [3]int64{13, 0, 0}, Lacks: older}, "device lost": {Plant: lost},
	} {
		t.Run(name, func(t *testing.T) { everything(t, path, o, apple.Options{}, calls) })
	}
	declared := map[string]bool{}
	selectors, err := apple.Selectors()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range selectors {
		declared[s.String()] = true
		if n, ok := calls[s.String()]; !ok {
			t.Errorf("%v has no body in the stand-in", s)
		} else if n == 0 {
			t.Errorf("%v was not sent", s)
		}
	}
	for name, n := range calls {
		if n > 0 && !declared[name] {
			t.Errorf("%s was sent %d times, but the driver does not declare it", name, n)
		}
	}
	t.Logf("%d messages", len(declared))
}
