package signatures

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/introgen/introgen/engine/metal/forward"
	"github.com/introgen/introgen/engine/metal/kernels"
)

// smol is the experiment's model, of fewer layers.
func smol() forward.Config {
	c := forward.Experiment()
	c.Layers = 2
	return c
}

var files = map[string]string{"Affine": "affine.metal", "Binary": "binary.metal", "Cast": "cast.metal", "Gemm": "mlx_gemm.metal",
	"Indexing": "indexing.metal", "Quantized": "quantized.metal", "Reduce": "reduce.metal",
	"Sdpa": "scaled_dot_product_attention.metal", "Ternary": "ternary.metal", "Unary": "unary.metal"}

// tables are the argument tables of candle 0.11.0's kernels, as the reference of
// its dispatches writes them down: u, i for 64 bits, w for 32, f for a float, b
// for a bool, * for an array of the type before it, < for an input buffer and >
// for an output, ? behind one that hangs on a function constant, m for threadgroup
// memory. A dot numbers its threads in rows, a colon in rows and columns.
var tables = map[string]string{
	"Cast cast_u32_f32":                 "u < > .",
	"Gemm gemm_nn_f32_f32_64_32_32_2_2": "< < <? > s* <? w*? u*?",
	"Gemm gemm_nt_f32_f32_32_32_16_2_2": "< < <? > s* <? w*? u*?",
	"Gemm gemm_nn_f32_f32_32_32_16_2_2": "< < <? > s* <? w*? u*?",
	"Gemm gemm_nt_f32_f32_32_64_16_1_2": "< < <? > s* <? w*? u*?",
	"Gemm gemm_nn_f32_f32_64_64_16_2_2": "< < <? > s* <? w*? u*?",
	"Gemm gemm_nt_f32_f32_64_32_32_2_2": "< < <? > s* <? w*? u*?",
	"Gemm gemm_nt_f32_f32_64_64_16_2_2": "< < <? > s* <? w*? u*?",
	"Unary cos_f32":                     "u < > .",
	"Unary sin_f32":                     "u < > .",
	"Unary silu_f32":                    "u < > .",
	"Unary copy_f32_strided":            "u u u* u* < > .",
	"Unary copy2d_f32":                  "i i i i < > :",
	"Binary badd_f32":                   "u < < > .",
	"Binary bmul_f32":                   "u < < > .",
	"Affine affine_f32":                 "u f f < > .",
	"Indexing is_u32_f32":               "u u u u u b u* u* < < > .",
	"Reduce rope_i_f32":                 "u u u < < < > .",
	"Reduce rmsnorm_f32":                "w w < > < f",
	"Reduce softmax_f32":                "w w < >",
	"Reduce fast_argmax_f32":            "w w w* w < >",
	"Ternary where_u8_f32":              "u u u* u* u* u* < < < > .",
	"Quantized kernel_mul_mm_q8_0_f32":  "< < > i i u u u i u u u u i i w w m",
	"Quantized kernel_mul_mv_q8_0_f32":  "< < > i i i u u u i i i u u u i i w w",
	"Sdpa sdpa_vector_float_64":         "< < < > w w u u f f <? w? w?",
	"Sdpa sdpa_vector_2pass_1_float_64": "< < < > > > w w u u f f <? w? w?",
	"Sdpa sdpa_vector_2pass_2_float_64": "< < < >",
}

// sources writes a set that declares the tables.
func sources(change map[string]string) map[string][]byte {
	types := map[string]string{"u": "size_t", "i": "int64_t", "w": "uint", "f": "float", "b": "bool", "s": "GEMMParams"}
	out := map[string][]byte{}
	for _, file := range files {
		out[file] = []byte("#include <metal_stdlib>\nconstant bool has [[function_constant(20)]];\nstruct GEMMParams { int M; };\n")
	}
	all := map[string]string{}
	for name, table := range tables {
		all[name] = table
	}
	for name, table := range change {
		all[name] = table
	}
	for name, table := range all {
		library, function, _ := strings.Cut(name, " ")
		var params []string
		loop := "for (uint i = 0; i < 2; i++) "
		for i, c := range strings.Fields(table) {
			c, optional := strings.CutSuffix(c, "?")
			base, array := strings.CutSuffix(c, "*")
			p := fmt.Sprintf("constant %s &a%d", types[base], i)
			switch {
			case array:
				p = fmt.Sprintf("constant %s *a%d", types[base], i)
			case c == "<":
				p = fmt.Sprintf("device const float *a%d", i)
			case c == ">":
				p = fmt.Sprintf("device float* a%d", i)
			case c == "m":
				p = "threadgroup float *shared [[threadgroup(0)]]"
			case c == ".":
				p = "uint t [[thread_position_in_grid]]"
			case c == ":":
				p = "uint2 t [[thread_position_in_grid]]"
			case c == "1":
				loop = ""
				continue
			}
			if optional {
				p += " [[function_constant(has)]]"
			}
			params = append(params, p)
		}
		if table == "-" {
			continue
		}
		text := fmt.Sprintf("kernel void %s(%s) { %sout[0] = 1; }\n", function, strings.Join(params, ", "), loop)
		out[files[library]] = append(out[files[library]], text...)
	}
	return out
}

func set(t *testing.T, texts map[string][]byte) *kernels.Set {
	t.Helper()
	s, err := kernels.New("theirs", "", "", texts)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestAgrees: the tables of candle 0.11.0 fit, and so do the project's own
// kernels.
func TestAgrees(t *testing.T) {
	for _, s := range []*kernels.Set{set(t, sources(nil)), kernels.OwnSet()} {
		if err := Check(s, smol()); err != nil {
			t.Errorf("%s: %v", s, err)
		}
	}
	// Every kernel that can be launched is in the tables, and no other.
	calls, err := forward.Calls(smol())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range calls {
		if tables[c.Library+" "+c.Function] == "" {
			t.Errorf("%s %s is launched", c.Library, c.Function)
		}
	}
	if len(calls) != len(tables) {
		t.Errorf("%d kernels are launched, %d have tables", len(calls), len(tables))
	}
}

// TestDiffers: each way in which other versions of candle differ, and what is
// said of it.
func TestDiffers(t *testing.T) {
	for _, c := range []struct{ kernel, table, want string }{
		// 0.9.1 and 0.8.4
		{"Unary cos_f32", "u < > . 1", "a thread stores one element; a thread is launched for each two"},
		{"Gemm gemm_nn_f32_f32_64_32_32_2_2", "-", "there is no such function"},
		{"Quantized kernel_mul_mm_q8_0_f32", "< < > i i u u i u u u i i w w m", "argument 15 is passed, and it has none|argument 16 is passed, and it has none"},
		{"Reduce fast_argmax_f32", "u u u* u < >", "argument 0 is `constant size_t &a0`; 4 bytes are passed|argument 1 is `constant size_t &a1`; 4 bytes are passed|argument 2 is `constant size_t *a2`; elements of 4 bytes are passed|argument 3 is `constant size_t &a3`; 4 bytes are passed"},
		{"Reduce rope_i_f32", "u u < < < > .", "argument 2 is `device const float *a2`; a value is passed|argument 6 is passed, and it has none"},
		// others that may come
		{"Affine affine_f32", "u f f f < > .", "argument 3 is `constant float &a3`; a buffer is passed|argument 4 is `device const float *a4`; the result is to be written there|argument 5, `device float* a5`, is not passed"},
		{"Affine affine_f32", "u w f < > .", "argument 1 is `constant uint &a1`; a value of type float is passed"},
		{"Affine affine_f32", "u f u < > .", "argument 2 is `constant size_t &a2`; 4 bytes are passed"},
		{"Unary copy2d_f32", "i i i i < > .", "its threads are numbered by `uint t`; a grid of rows and columns is launched"},
		{"Unary copy_f32_strided", "u u u* u* < > :", "its threads are numbered by `uint2 t`; a row of threads is launched"},
		{"Unary copy_f32_strided", "u u u u* < > .", "argument 2 is `constant size_t &a2`; an array is passed"},
		{"Reduce softmax_f32", "w w < > m", "threadgroup memory 0, `threadgroup float *shared`, is not set"},
		{"Binary badd_f32", "u > < < .", "argument 3 is `device const float *a3`; the result is to be written there"},
		{"Unary silu_f32", "> u < .", "argument 0 is `device float* a0`; 8 bytes are passed, which cannot be written|argument 1 is `constant size_t &a1`; a buffer is passed|argument 2 is `device const float *a2`; the result is to be written there"},
	} {
		library, function, _ := strings.Cut(c.kernel, " ")
		var want []string
		for w := range strings.SplitSeq(c.want, "|") {
			want = append(want, fmt.Sprintf("%s (%s): %s", c.kernel, files[library], w))
		}
		found, err := Differences(set(t, sources(map[string]string{c.kernel: c.table})), smol())
		var got []string
		for _, d := range found {
			got = append(got, d.String())
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s %s:\n%s\n%v; want\n%s", function, c.table, strings.Join(got, "\n"), err, strings.Join(want, "\n"))
		}
	}
}

func TestConstants(t *testing.T) {
	texts := sources(nil)
	name := files["Gemm"]
	texts[name] = append(texts[name], "constant int batches [[function_constant(10)]];\n"...)
	var e *Error
	if err := Check(set(t, texts), smol()); !errors.As(err, &e) || len(e.Differences) != 7 ||
		!strings.Contains(err.Error(), "kernels theirs do not fit") || !strings.Contains(err.Error(), "function constant 10 is `int batches`; a bool is passed") {
		t.Errorf("error %v", err)
	}
}

// TestUnreadable: what this package cannot read is the compiler's to judge.
func TestUnreadable(t *testing.T) {
	texts := sources(nil)
	texts["unary.metal"] = []byte("kernel void f(device float *a [[what(3)]]) {}")
	if err := Check(set(t, texts), smol()); err != nil {
		t.Error(err)
	}
	config := smol()
	config.Layers = 0
	if err := Check(set(t, texts), config); err == nil {
		t.Error("a model that has no plan is accepted")
	}
}

func TestDeclared(t *testing.T) {
	for text, want := range map[string]declaration{
		"constant size_t &n":                 {base: "size_t", constant: true},
		"device const T* x":                  {base: "T", pointer: true, constant: true, device: true},
		"const device half4 *x":              {base: "half4", pointer: true, constant: true, device: true},
		"device float *out":                  {base: "float", pointer: true, device: true},
		"const constant GEMMParams* p":       {base: "GEMMParams", pointer: true, constant: true},
		"uint2 idx":                          {base: "uint2"},
		"constant metal::uint3 & x":          {base: "metal::uint3", constant: true},
		"":                                   {},
		"device const typename X::type *out": {base: "X::type", pointer: true, constant: true, device: true},
	} {
		if got := declared(text); got != want {
			t.Errorf("%q: %+v, want %+v", text, got, want)
		}
	}
}
