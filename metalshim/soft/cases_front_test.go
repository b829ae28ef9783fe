package soft

import (
	"strings"
	"testing"
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
	cases(t, []sourceCase{
		{file: "b4_template_functional_cast", want: func(i int, in []float32) float64 { return float64(in[i]) + 2 }},
		{file: "b5_template_cast_half", want: same},
	})
}
