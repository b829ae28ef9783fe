package soft

import (
	"math"
	"testing"
)

// TestCasesOfTheLibrary: what <metal_stdlib> and its like have.
func TestCasesOfTheLibrary(t *testing.T) {
	times := func(n float64) func(int, []float32) float64 {
		return func(i int, in []float32) float64 { return n * float64(in[i]) }
	}
	plus := func(n float64) func(int, []float32) float64 {
		return func(i int, in []float32) float64 { return float64(in[i]) + n }
	}
	cases(t, []sourceCase{
		{file: "a1_vec_compare_is_minus_one", want: func(i int, in []float32) float64 {
			if in[i] > 0 {
				return 1
			}
			return 0
		}},
		{file: "a2_template_vec_cast_reinterprets", want: func(i int, in []float32) float64 { return math.Trunc(float64(in[i])) }},
		{file: "a7_platform_macro", want: func(int, []float32) float64 { return 1 }},
		{file: "c1_static_cast_vector_element", want: func(i int, _ []float32) float64 { return float64(i) }},
		{file: "c2_constant_vector_at_program_scope", want: times(4)},
		{file: "c3_constant_matrix_at_program_scope", want: times(2)},
		{file: "c4_constexpr_vector", want: times(4)},
		{file: "c5_array", want: plus(4)},
		{file: "c6_packed_members", want: plus(3)},
		{file: "c7_fma_vector_scalar", want: func(i int, in []float32) float64 { return 2*float64(in[i]) + 1 }},
		{file: "c8_pack_unpack", tolerance: 1e-6, want: func(int, []float32) float64 { return 128.0/255 + 1 }},
		{file: "c9_quad_functions", want: func(i int, in []float32) float64 {
			sum := 0.0
			for k := i &^ 3; k <= i; k++ {
				sum += float64(in[k])
			}
			return sum
		}},
		{file: "c10_simd_h_types", want: same},
		{file: "c11_brace_vector_argument", want: func(i int, in []float32) float64 { return float64(in[i]) + float64(i) + 3 }},
		{file: "c13_name_clashes", want: same},
		{file: "c14_bfloat_overloads", want: func(i int, in []float32) float64 { return math.Abs(float64(in[i])) }},
		{file: "c15_assert", want: same},
		{file: "c16_uniform", want: times(4)},
		{file: "c17_initializer_list", want: same},
		{file: "c18_os_log", want: same},
		{file: "c21_traits", want: same},
	})
}
