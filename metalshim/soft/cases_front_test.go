package soft

import (
	"context"
	"math"
	"os"
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
		{file: "b6_vec_direct_init", want: func(i int, in []float32) float64 { return float64(in[i]) + 1 }},
		{file: "b7_template_list_less_than", want: same},
		{file: "b8_qualified_vec", want: same},
		{file: "b14_nested_alias", want: func(i int, in []float32) float64 { return math.Trunc(float64(in[i])) }},
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

// of are cases of all the kernels of a file that are to do the same.
func of(c sourceCase, kernels string) (table []sourceCase) {
	for kernel := range strings.FieldsSeq(kernels) {
		c.kernel = kernel
		table = append(table, c)
	}
	return table
}

func TestCasesOfVectors(t *testing.T) {
	cases(t, of(sourceCase{file: "b_vectors", want: func(i int, in []float32) float64 { return math.Trunc(float64(in[i])) + 2 }},
		`c_cast functional_cast nested_casts casts_and_calls minus_cast not_cast cast_member scalar_cast alias_member alias_cast alias_namespace
		alias_template alias_traits dependent dependent_typedef direct direct_several direct_const direct_vec direct_alias direct_outer
		direct_template template_two template_minus template_scalar qualified qualified_global initializers less less_parameter
		array_reference in_conditions sixteen_bits`))
}

func TestCasesOfIndices(t *testing.T) {
	var constants []metalshim.Constant
	for i := 8; i <= 16; i++ {
		constants = append(constants, metalshim.IntConstant(i, 3))
	}
	cases(t, of(sourceCase{file: "b_indices", constants: constants, want: func(i int, in []float32) float64 { return 3 * float64(in[i]) }},
		"enumerators scoped unnamed held constants octal before chosen attributes spaced limited"))
}

func TestCasesOfDeclarations(t *testing.T) {
	cases(t, of(sourceCase{file: "b_declarations", buffers: map[int][]byte{2: float32s(1)}, want: same},
		`is_static static_first in_c declared ns::inner sqrt normalize dot positions unused coherent_all pragmas by_default by_parameters
		by_type over_two over_three plain_float plain_int bounded_4 accessed`))
	text, err := os.ReadFile("testdata/cases/b_declarations.metal")
	if err != nil {
		t.Fatal(err)
	}
	lib := compile(t, testDevice(t), "b_declarations", string(text))
	if n := pipe(t, lib, "bounded_4").MaxThreadsPerThreadgroup(); n != 32 {
		t.Errorf("bounded_4 allows %d threads, want 32", n)
	}
	for name, stage := range map[string]string{"vs": "vertex", "attributed": "vertex", "fs": "fragment", "shade_half": "fragment"} {
		_, err := lib.NewPipeline(context.Background(), name, nil)
		if err == nil || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), stage) {
			t.Errorf("%s: %v, want one that says it is a %s function", name, err, stage)
		}
	}
}
