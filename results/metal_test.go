package results

import (
	"math"
	"strings"
	"testing"
	"time"
)

// experiment is the cold start of the experiment: its libraries, with the
// slowest pipelines.
func experiment() MetalTrace {
	at := func(ms float64) time.Duration { return time.Duration(math.Round(ms*1e3)) * time.Microsecond }
	return MetalTrace{
		Libraries: []LibraryRow{
			{"Cast", 4096, 72, 1, at(77.5), "miss"}, {"Gemm", 65536, 60, 3, at(3828.6), "miss"},
			{"Reduce", 70000, 90, 4, at(4333.7), "miss"}, {"Sdpa", 90000, 118, 1, at(2130.6), "hit"},
		},
		Pipelines: []PipelineRow{
			{"Cast", "cast_u32_f32", at(0.9), "miss"}, {"Gemm", "gemm_nn_f32_f32_64_32_32_2_2", at(0.1), "miss"},
			{"Reduce", "rmsnorm_f32", at(0.1), "miss"}, {"Reduce", "softmax_f32", at(0.3), "miss"},
		},
		Phases: []MetalPhase{{Round: 1, Name: "decode step 1", Wall: at(2144.1), Compile: at(2130.7), Encode: at(5), Commit: at(1.5), Wait: at(4.9),
			GPU: at(6), Dispatches: 604, Encoders: 14, CommandBuffers: 13}},
		Kernels: []KernelRow{{"kernel_mul_mv_q8_0_f32", 4220, at(282)}, {"sdpa_vector_float_64", 600, at(18)}},
	}
}

func TestMetalTrace(t *testing.T) {
	tr := experiment()
	lib, pipe := tr.Sums()
	if lib != 10370400*time.Microsecond || pipe != 1400*time.Microsecond {
		t.Errorf("sums are %v and %v, want 10.3704s and 1.4ms", lib, pipe)
	}
	if l, f, d := tr.LongestChain(); l != "Reduce" || f != "softmax_f32" || d != 4334*time.Millisecond {
		t.Errorf("the longest chain is %s, %s, %v; want Reduce, softmax_f32, 4.334s", l, f, d)
	}
	if got := tr.Phases[0].Unattributed(); got != 2*time.Millisecond {
		t.Errorf("unattributed is %v, want 2ms", got)
	}
	var b strings.Builder
	if err := WriteMetalTrace(&b, tr); err != nil {
		t.Fatal(err)
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
