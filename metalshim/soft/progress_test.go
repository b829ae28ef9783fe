package soft

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/introgen/introgen/metalshim"
)

// stuck are kernels of several simdgroups that wait for each other and never come to
// an end, or of which one faults meanwhile.
const stuck = `
#include <metal_stdlib>
using namespace metal;
#define KERNEL(name) kernel void name(device atomic_uint* x [[buffer(0)]], uint sg [[simdgroup_index_in_threadgroup]], uint l [[thread_index_in_threadgroup]])
#define GET(a) atomic_load_explicit(a, memory_order_relaxed)
__attribute__((noinline)) void wait_for(device atomic_uint* a, uint v) { while (GET(a) != v) {} }
KERNEL(never) { while (GET(x) != 77) {} }
KERNEL(one_never) { if (sg == 2) while (GET(x) != 77) {} }
KERNEL(called) { wait_for(x, 77); }
KERNEL(first_faults) { if (sg == 0) { while (GET(x + 1) == 0) {} atomic_store_explicit(x + (1u << 28) + 3, 1u, memory_order_relaxed); } else { atomic_store_explicit(x + 1, 1u, memory_order_relaxed); while (GET(x) != 77) {} } }
KERNEL(last_faults) { if (sg == 3) atomic_store_explicit(x + (1u << 28) + 3, 1u, memory_order_relaxed); while (GET(x) != 77) {} }
KERNEL(call_faults) { if (sg == 0) { while (GET(x + 1) == 0) {} atomic_store_explicit(x + (1u << 28) + 3, 1u, memory_order_relaxed); } else { atomic_store_explicit(x + 1, 1u, memory_order_relaxed); wait_for(x, 77); } }
KERNEL(good) { if (l == 0) atomic_store_explicit(x, 5u, memory_order_relaxed); }
`

// TestStuckTogether: simdgroups that run on several threads end with their command
// buffer, and the next one runs.
func TestStuckTogether(t *testing.T) {
	testDevice(t)
	d, err := Open(context.Background(), Options{CacheDir: shared.dir, KernelLimit: 300 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	lib := compile(t, d, "stuck", stuck)
	dispatch := func(kernel string) (metalshim.Buffer, error) {
		x := buffer32(t, d, make([]float32, 16)...)
		return x, run(t, d, func(e metalshim.Encoder) error {
			e.SetPipeline(pipe(t, lib, kernel))
			e.SetBuffer(0, x, 0)
			return e.DispatchThreads(one(256), one(128))
		})
	}
	for _, c := range []struct {
		kernel string
		is     error
	}{
		{"never", metalshim.ErrTimeout}, {"one_never", metalshim.ErrTimeout}, {"called", metalshim.ErrTimeout},
		{"first_faults", metalshim.ErrPageFault}, {"last_faults", metalshim.ErrPageFault}, {"call_faults", metalshim.ErrPageFault},
	} {
		for range 2 {
			begun := time.Now()
			_, err := dispatch(c.kernel)
			if !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.kernel) {
				t.Errorf("%s: %v, want %v", c.kernel, err, c.is)
			}
			if took := time.Since(begun); took > 20*time.Second {
				t.Errorf("%s took %v", c.kernel, took)
			}
			if x, err := dispatch("good"); err != nil || words(5)[0] != x.Contents()[0] {
				t.Errorf("after %s: %v, %v", c.kernel, err, x.Contents()[:4])
			}
		}
	}
}
