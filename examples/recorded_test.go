package examples_test

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/introgen/introgen/engine/metal/kernels/candle"
	"github.com/introgen/introgen/results/recording"
)

// A recorded candle gives what it gives by itself, and each of its operations is
// recorded by the kernel that candle has for it (candle-metal-kernels 0.11.0: tiles of
// gemm by transposition and size, mul_mv for one row and mul_mm for more, reductions
// and elementwise kernels by their types).
func TestCandleRecorded(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIP: needs time to build")
	}
	program := built(t, "candle-ops", "debug")
	path := filepath.Join(t.TempDir(), "ops.introgen")
	cmd := exec.CommandContext(t.Context(), "../bin/introgen", "record", "--quiet", "-o", path, "--", program)
	cmd.Env = append(os.Environ(), "INTROGEN_KEEP=0")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if alone := output(t, program); string(out) != alone {
		t.Errorf("recorded it writes\n%s\nby itself\n%s", out, alone)
	}
	f, err := recording.Open(path)
	if err != nil || len(f.Runs) != 1 || len(f.Warnings) > 0 || f.Broken != "" {
		t.Fatalf("%v, %+v", err, f)
	}
	got := map[string]int64{}
	for _, k := range f.Runs[0].Kernels {
		got[k.Name] = k.Dispatches
	}
	want := map[string]int64{
		"gemm_nn_f32_f32_64_32_32_2_2": 1, "gemm_nt_f32_f32_32_32_16_2_2": 1, // matmul, matmul_batched
		"affine_f32": 1, "softmax_f32": 1, "rmsnorm_f32": 1, "rope_i_f32": 1, "silu_f32": 1, "fast_sum_f32": 1,
		"fast_argmax_f32": 1, "cast_u32_f32": 1, // argmax
		"is_u32_f32": 1, "copy2d_f32": 2, // gather, cat
		"cast_f32_f16": 1, "exp_f16": 1, "cast_f16_f32": 1, // half
		"kernel_mul_mv_q8_0_f32": 1, "kernel_mul_mm_q8_0_f32": 1, "kernel_mul_mm_q4_0_f32": 1, "kernel_mul_mv_q6_K_f32": 1,
		"sdpa_vector_float_64": 1,
	}
	delete(got, "blit") // copies between the CPU and the device
	if !maps.Equal(got, want) {
		t.Errorf("dispatched %v, want %v", got, want)
	}
	dir, err := candle.Dir()
	if err != nil {
		t.Fatal(err)
	}
	if sets, err := candle.List(dir); err != nil || len(sets) == 0 {
		t.Logf("libraries are not called by candle's files: introgen kernels fetch brings them (%v)", err)
		return
	}
	var libraries []string
	for _, l := range f.Runs[0].Libraries {
		libraries = append(libraries, l.Name)
	}
	slices.Sort(libraries)
	if want := []string{"Affine", "Cast", "Gemm", "Indexing", "Quantized", "Reduce", "Sdpa", "Unary"}; !slices.Equal(libraries, want) {
		t.Errorf("libraries %q, want %q", libraries, want)
	}
}
