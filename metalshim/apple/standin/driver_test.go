//go:build linux && (amd64 || arm64)

package standin_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/introgen/introgen/metalshim"
	"github.com/introgen/introgen/metalshim/apple"
	"github.com/introgen/introgen/metalshim/apple/objc"
	"github.com/introgen/introgen/metalshim/apple/standin"
	"github.com/introgen/introgen/metalshim/soft"
	"github.com/introgen/introgen/metalshim/soft/clang"
)

// built is the path of the stand-in, or the test is skipped.
func built(t testing.TB) string {
	t.Helper()
	path, err := standin.Build(context.Background())
	if errors.Is(err, standin.ErrCompiler) {
		t.Skipf("SKIP: needs a C compiler: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// opened is the soft driver's device, or the test is skipped.
func opened(t testing.TB, o soft.Options) *soft.Device {
	t.Helper()
	d, err := soft.Open(context.Background(), o)
	var absent *clang.Error
	if errors.As(err, &absent) {
		t.Skipf("SKIP: needs clang 19: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if n := d.Live(); n != (metalshim.Counts{}) {
			t.Errorf("the soft device's objects are alive: %+v", n)
		}
		d.Close()
	})
	return d
}

// driven is the apple driver over the stand-in over dev. At the end of the
// test both must have nothing left.
func driven(t testing.TB, dev metalshim.Device, o standin.Options, a apple.Options) *apple.Device {
	t.Helper()
	path := built(t)
	s, err := standin.Serve(path, dev, o)
	if err != nil {
		t.Fatal(err)
	}
	a.Libraries = objc.Libraries{Runtime: path, Foundation: path, Metal: path}
	d, err := apple.Open(context.Background(), a)
	if err != nil {
		s.Close()
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if n := d.Live(); n != (metalshim.Counts{}) {
			t.Errorf("the apple device's objects are alive: %+v", n)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

const addSource = `#include <metal_stdlib>
using namespace metal;
kernel void add(device float *a [[buffer(0)]], device const float *b [[buffer(1)]], constant uint &n [[buffer(2)]],
                uint i [[thread_position_in_grid]]) {
  if (i < n) a[i] += b[i];
}
`

func TestDriver(t *testing.T) {
	ctx := context.Background()
	d := driven(t, opened(t, soft.Options{}), standin.Options{}, apple.Options{})
	t.Log(d.Info())
	l, err := d.NewLibrary(ctx, metalshim.Source{Name: "Add", Text: addSource})
	if err != nil {
		t.Fatal(err)
	}
	p, err := l.NewPipeline(ctx, "add", nil)
	if err != nil {
		t.Fatal(err)
	}
	q, err := d.NewQueue()
	if err != nil {
		t.Fatal(err)
	}
	a, err := d.NewBufferWithBytes([]byte{0, 0, 128, 63, 0, 0, 0, 64})
	if err != nil {
		t.Fatal(err)
	}
	c, err := q.NewCommandBuffer()
	if err != nil {
		t.Fatal(err)
	}
	e, err := c.NewEncoder(metalshim.Concurrent)
	if err != nil {
		t.Fatal(err)
	}
	e.SetPipeline(p)
	e.SetBuffer(0, a, 0)
	e.SetBuffer(1, a, 0)
	e.SetBytes(2, []byte{2, 0, 0, 0})
	if err := e.DispatchThreads(metalshim.Size{X: 2, Y: 1, Z: 1}, metalshim.Size{X: 2, Y: 1, Z: 1}); err != nil {
		t.Error(err)
	}
	if err := e.EndEncoding(); err != nil {
		t.Error(err)
	}
	if err := c.Commit(); err != nil {
		t.Error(err)
	}
	if err := c.Wait(ctx); err != nil {
		t.Error(err)
	}
	if got := string(a.Contents()); got != "\x00\x00\x00\x40\x00\x00\x80\x40" {
		t.Errorf("% x", got)
	}
	for _, x := range []interface{ Release() }{c, a, q, p, l} {
		x.Release()
	}
}

// A device of an earlier family refuses a kernel that needs a later one.
func TestFamilies(t *testing.T) {
	const text = `#include <metal_stdlib>
using namespace metal;
kernel void plain(device float *a [[buffer(0)]]) { a[0] = 1; }
kernel void shuffles(device float *a [[buffer(0)]]) { a[0] = simd_shuffle(a[0], 1); }
kernel void reduces(device float *a [[buffer(0)]]) { a[0] = simd_sum(a[0]); }
`
	for _, c := range []struct {
		o       standin.Options
		refused []string
	}{
		{standin.Options{AppleFamily: 5}, []string{"shuffles", "reduces"}},
		{standin.Options{Intel: true}, []string{"shuffles", "reduces"}},
		{standin.Options{AppleFamily: 6}, []string{"reduces"}},
		{standin.Options{}, nil},
	} {
		t.Run(fmt.Sprintf("%+v", c.o.AppleFamily), func(t *testing.T) {
			d := driven(t, opened(t, soft.Options{}), c.o, apple.Options{})
			l := must(d.NewLibrary(t.Context(), metalshim.Source{Name: "Families", Text: text}))(t)
			defer l.Release()
			for _, name := range l.FunctionNames() {
				p, err := l.NewPipeline(t.Context(), name, nil)
				var family *apple.FamilyError
				if refused := slices.Contains(c.refused, name); refused != errors.As(err, &family) || !refused && err != nil {
					t.Errorf("%s: %v", name, err)
				}
				if err == nil {
					p.Release()
				}
			}
		})
	}
}
