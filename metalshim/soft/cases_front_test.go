package soft

import (
	"strings"
	"testing"

	"github.com/introgen/introgen/metalshim"
)

func same(i int, in []float32) float64     { return float64(in[i]) }
func reversed(i int, in []float32) float64 { return float64(in[len(in)-1-i]) }

// TestCasesOfThreadgroupMemory: whatever the spelling of its declaration, the threads
// of a threadgroup share a variable.
func TestCasesOfThreadgroupMemory(t *testing.T) {
	table := []sourceCase{
		{file: "a3_threadgroup_initialiser_is_private", threads: 64, want: reversed},
		{file: "a4_threadgroup_attribute_is_private", threads: 64, want: reversed},
		{file: "a5_threadgroup_after_qualifier_is_private", threads: 64, want: func(i int, in []float32) float64 { return float64(in[63-i]) + 1 }},
	}
	for kernel := range strings.FieldsSeq(`braces zeros two_zeros mixed aligned aligned_after attribute_first attribute_last attribute_list
		is_static volatile_after type_first type_first_two in_macro other_macro several structs struct_first constructed of_template
		two_dimensions vectors qualified deduced in_function in_template in_member in_block in_lambda pointers`) {
		table = append(table, sourceCase{file: "a_threadgroup_spellings", kernel: kernel, threads: 64, want: reversed})
	}
	cases(t, table)
}

// TestCasesOfTheLanguage: what a source says in MSL that is no C++.
func TestCasesOfTheLanguage(t *testing.T) {
	three := func(i int, in []float32) float64 { return 3 * float64(in[i]) }
	cases(t, []sourceCase{
		{file: "b1_fc_index_expression", constants: []metalshim.Constant{metalshim.IntConstant(11, 3)}, want: three},
		{file: "b2_fc_index_leading_zero", constants: []metalshim.Constant{metalshim.IntConstant(1, 3)}, want: three},
		{file: "b3_buffer_index_enum", want: same},
		{file: "b4_template_functional_cast", want: func(i int, in []float32) float64 { return float64(in[i]) + 2 }},
		{file: "b5_template_cast_half", want: same},
		{file: "b10_instantiation_deduced", buffers: map[int][]byte{1: float32s(0, 1, 2, 3)}, want: func(i int, _ []float32) float64 { return float64(i % 4) }},
		{file: "b10_instantiation_deduced", kernel: "k8", buffers: map[int][]byte{1: float32s(0, 1, 2, 3, 4, 5, 6, 7)}, want: func(i int, _ []float32) float64 { return float64(i % 8) }},
		{file: "b11_kernel_overloads_with_limit", want: func(int, []float32) float64 { return 5 }},
		{file: "b12_pragma_macro", want: func(i int, in []float32) float64 {
			return float64(in[i] + in[(i+1)%32] + in[(i+2)%32] + in[(i+3)%32])
		}},
		{file: "b15_kernel_named_like_library", kernel: "transpose", want: reversed},
		{file: "b16_coherent", want: same},
		{file: "b17_vertex_in_same_file", want: same},
		{file: "b18_maybe_unused_parameter", want: same},
	})
}
