package shimtest

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/introgen/introgen/metalshim"
)

// Compiles has d make libraries and pipelines from many goroutines at once: of a
// library of each goroutine's own, and of one that all share. Every source is made
// by text, of a kernel "twice" with a function constant 0 of type uint; number tells
// sources apart. What is made is given back.
func Compiles(t *testing.T, d metalshim.Device, text func(number int) string) {
	t.Helper()
	ctx := context.Background()
	compiled := func(number int) (metalshim.Library, error) {
		return d.NewLibrary(ctx, metalshim.Source{Name: fmt.Sprintf("Library%d", number), Text: text(number),
			CompileOptions: metalshim.CompileOptions{MathMode: metalshim.MathFast}})
	}
	shared, err := compiled(0)
	if err != nil {
		t.Fatal(err)
	}
	defer shared.Release()
	var all sync.WaitGroup
	for n := range 4 {
		all.Go(func() {
			own, err := compiled(1 + n%3) // two of them are the same
			if err != nil {
				t.Error(err)
				return
			}
			defer own.Release()
			for i, l := range []metalshim.Library{own, shared, shared} {
				constant := metalshim.UIntConstant(0, uint32(n*i))
				p, err := l.NewPipeline(ctx, "twice", []metalshim.Constant{constant})
				if err != nil {
					t.Error(err)
					continue
				}
				if p.Name() != "twice" || p.Library() != l.Name() || len(p.Constants()) != 1 || p.Constants()[0] != constant {
					t.Errorf("%s %s with %v was made", p.Library(), p.Name(), p.Constants())
				}
				p.Release()
			}
			if _, err := shared.NewPipeline(ctx, "absent", nil); err == nil {
				t.Error("a function that is not there was made")
			}
		})
	}
	all.Wait()
}

// Kernel is a source for Compiles.
func Kernel(number int) string {
	return fmt.Sprintf(`#include <metal_stdlib>
using namespace metal;
constant uint more [[function_constant(0)]];
kernel void twice(device uint *out [[buffer(0)]], uint i [[thread_position_in_grid]]) { out[i] = out[i] * 2 + more + %du; }
`, number)
}
