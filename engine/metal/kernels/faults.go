package kernels

import "fmt"

// faults are what candle 0.11.0's kernels do outside of their buffers, by
// function (candle-metal-kernels/src/metal_src/quantized.metal, and
// src/kernels/quantized.rs, which launches them). Found by running each over
// matrices that end where memory does.
var faults = func() map[string]string {
	f := map[string]string{
		// N_SIMDGROUP × N_DST rows a threadgroup; align is 4.
		"kernel_mul_mv_q2_K_f32": "candle launches a threadgroup for each 4 rows and the kernel makes 8, so that half of the threadgroups read and write behind the matrix and the result, whatever their size",
	}
	for format, rows := range map[string]int{"q4_0": 8, "q4_1": 8, "q5_0": 8, "q5_1": 8, "q8_0": 8, "q3_K": 4, "q4_K": 4, "q5_K": 4, "q6_K": 2} {
		f["kernel_mul_mv_"+format+"_f32"] = fmt.Sprintf("the kernel reads %d rows at once, so that it reads behind a matrix whose rows are no multiple of %d", rows, rows)
	}
	return f
}()

// Fault is what candle's kernel of that name is known to do outside of its
// buffers, in words, or "".
func Fault(function string) string { return faults[function] }
