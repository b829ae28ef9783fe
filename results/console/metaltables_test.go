package console

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/recording"
)

// experiment is the cold start of the experiment: its libraries, with the
// slowest pipelines.
func experiment() breakdown.Metal {
	at := func(ms float64) time.Duration { return time.Duration(math.Round(ms*1e3)) * time.Microsecond }
	library := func(name string, bytes, kernels int, ms float64, cache string) breakdown.Compile {
		return breakdown.Compile{Library: name, SourceBytes: bytes, Kernels: kernels, Time: at(ms), Cache: cache, Told: true}
	}
	pipeline := func(library, function string, ms float64) breakdown.Compile {
		return breakdown.Compile{Library: library, Function: function, Time: at(ms), Cache: "miss", Told: true}
	}
	return breakdown.Metal{
		Libraries: []breakdown.Compile{
			library("Cast", 4096, 72, 77.5, "miss"), library("Gemm", 65536, 60, 3828.6, "miss"),
			library("Reduce", 70000, 90, 4333.7, "miss"), library("Sdpa", 90000, 118, 2130.6, "hit"),
		},
		Pipelines: []breakdown.Compile{
			pipeline("Cast", "cast_u32_f32", 0.9), pipeline("Gemm", "gemm_nn_f32_f32_64_32_32_2_2", 0.1),
			pipeline("Reduce", "rmsnorm_f32", 0.1), pipeline("Reduce", "softmax_f32", 0.3),
		},
		Phases: []breakdown.DevicePhase{{Round: 1, Title: "decode step 1", Phase: breakdown.Phase{Name: "decode step", N: 1, End: at(2144.1),
			Compiles: []breakdown.Compile{library("Sdpa", 90000, 118, 2130.6, "hit"), pipeline("Sdpa", "sdpa_vector_float_64", 0.1)},
			Encode:   at(5), Commit: at(1.5), Wait: at(4.9), GPU: at(6), Dispatches: 604, Encoders: 14, CommandBuffers: 13}}},
		Kernels: []recording.Kernel{{Name: "kernel_mul_mv_q8_0_f32", Dispatches: 4220, Time: int64(at(282))}, {Name: "sdpa_vector_float_64", Dispatches: 600, Time: int64(at(18))}},
	}
}

func TestMetalTables(t *testing.T) {
	tr := experiment()
	lib, pipe := breakdown.Compiling(tr.Libraries), breakdown.Compiling(tr.Pipelines)
	if lib != 10370400*time.Microsecond || pipe != 1400*time.Microsecond {
		t.Errorf("sums are %v and %v, want 10.3704s and 1.4ms", lib, pipe)
	}
	if c := breakdown.LongestChain(tr.ByLibrary()); c.Library != "Reduce" || c.Function != "softmax_f32" || c.Time != 4334*time.Millisecond {
		t.Errorf("the longest chain is %+v; want Reduce, softmax_f32, 4.334s", c)
	}
	if got := tr.Phases[0].Unattributed(); got != 2*time.Millisecond {
		t.Errorf("unattributed is %v, want 2ms", got)
	}
	var b strings.Builder
	p := New(&b)
	if p.metal(tr); p.Err() != nil {
		t.Fatal(p.Err())
	}
	want := `library  source bytes  kernels  used  compile ms  cache
Cast             4096       72     1        77.5  miss
`
	if !strings.Contains(b.String(), want) {
		t.Errorf("the table is\n%s\nwithout\n%s", b.String(), want)
	}
	if want := "sdpa_vector_float_64           600       18.0  6.00 %"; !strings.Contains(b.String(), want) {
		t.Errorf("the table is\n%s\nwithout\n%s", b.String(), want)
	}
	for _, line := range strings.Split(b.String(), "\n") {
		if len(line) > 120 {
			t.Errorf("a line of %d characters: %s", len(line), line)
		}
	}
}
