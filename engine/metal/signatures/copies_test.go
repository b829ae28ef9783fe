package signatures

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/introgen/introgen/engine/metal/kernels"
)

// copied is a copy of the project's kernels under the names of candle's files, as
// somebody makes one who wants to change something.
func copied(t *testing.T, change func(file, text string) string) *kernels.Set {
	t.Helper()
	texts := map[string][]byte{}
	for _, f := range kernels.OwnSet().Files() {
		name := files[f.Library]
		texts[name] = []byte(change(name, f.Text))
	}
	return set(t, texts)
}

// TestCopies: a set is judged by what its functions take. What does not change
// that changes no verdict.
func TestCopies(t *testing.T) {
	in := func(file, from, to string) func(string, string) string {
		return func(name, text string) string {
			if name != file {
				return text
			}
			if !strings.Contains(text, from) {
				t.Errorf("%s has no %q", file, from)
			}
			return strings.Replace(text, from, to, 1)
		}
	}
	every := func(f func(string) string) func(string, string) string {
		return func(_, text string) string { return f(text) }
	}
	const eps, alpha = "    constant float &eps [[buffer(5)]],\n", "    device const float *alpha [[buffer(4)]],\n"
	for _, c := range []struct {
		name   string
		change func(file, text string) string
		want   string // "" where it fits
	}{
		{"nothing", every(func(s string) string { return s }), ""},
		{"a comment", in("affine.metal", "#include", "// a comment\n#include"), ""},
		{"comments everywhere", every(func(s string) string { return strings.ReplaceAll(s, ",", " /* x */ ,") }), ""},
		{"line ends of Windows", every(func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }), ""},
		{"indents", every(func(s string) string { return strings.ReplaceAll(s, "    ", "\t") }), ""},
		{"names", every(func(s string) string { return regexp.MustCompile(`\bin\b`).ReplaceAllString(s, "theirs") }), ""},
		{"another function", every(func(s string) string { return s + "\nkernel void theirs(device int *x) { x[0] = 1; }\n" }), ""},
		{"another body", in("affine.metal", "fma(in[t], mul, add)", "mul * in[t] + add"), ""},
		{"a value that is passed", in("reduce.metal", "    constant uint &columns [[buffer(1)]],", "    constant uint &all [[buffer(0)]],\n    constant uint &columns [[buffer(1)]],"), ""},
		{"a value that is not read", in("reduce.metal", eps, ""), ""},
		{"a result by reference", in("reduce.metal", "device uint *out [[buffer(5)]]", "device uint &out [[buffer(5)]]"), ""},
		{"arrays", every(func(s string) string {
			return regexp.MustCompile(`(device float|constant uint) \*(\w+)( ?\[\[)`).ReplaceAllString(s, "$1 $2[]$3")
		}), ""},
		{"vectors", in("affine.metal", "device const float *in", "device const packed_float4 *in"), ""},
		{"bytes", in("affine.metal", "device const float *in", "device const uchar *in"), ""},
		{"a structure", in("affine.metal", "device const float *in", "device const Pair *in"), ""},
		{"a condition", in("affine.metal", "kernel void", "#if __METAL_VERSION__ / 100 < 3\n#error old\n#endif\nkernel void"), ""},
		// What changes it is told, and nothing besides.
		{"elements of another size", in("affine.metal", "device float *out", "device half *out"),
			"Affine affine_f32 (affine.metal): argument 4 is `device half *out`; elements of type float are passed"},
		{"vectors of another size", in("affine.metal", "device const float *in", "device const half4 *in"),
			"Affine affine_f32 (affine.metal): argument 3 is `device const half4 *in`; elements of type float are passed"},
		{"elements of 8 bytes", in("indexing.metal", "device const uint *ids", "device const long *ids"),
			"Indexing is_u32_f32 (indexing.metal): argument 9 is `device const long *ids`; elements of type uint are passed"},
		{"integers as long as floats", in("affine.metal", "device const float *in", "device const int *in"), ""}, // it may copy them
		{"behind what only a compiler knows", in("affine.metal", "kernel void affine_f32", "#ifndef __APPLE_CPU__\n#define NAME affine\n#else\n#define NAME affine_f32\n#endif\nkernel void NAME"),
			"Affine affine_f32 (affine.metal): there is no such function, where __APPLE_CPU__, which only a compiler knows, is taken for undefined"},
		{"a value that is not passed", in("affine.metal", "    uint t", "    constant uint &more [[buffer(9)]],\n    uint t"),
			"Affine affine_f32 (affine.metal): argument 9, `constant uint &more`, is not passed"},
		{"a buffer less", in("reduce.metal", alpha, ""),
			"Reduce rmsnorm_f32 (reduce.metal): argument 4 is passed, and it has none"},
		{"no result", in("affine.metal", "    device float *out [[buffer(4)]],\n", ""),
			"Affine affine_f32 (affine.metal): argument 4 is passed, and it has none"},
		{"another name", in("affine.metal", "affine_f32", "affine"),
			"Affine affine_f32 (affine.metal): there is no such function"},
		{"a larger type", in("affine.metal", "constant float &add", "constant size_t &add"),
			"Affine affine_f32 (affine.metal): argument 2 is `constant size_t &add`; 4 bytes are passed"},
		{"places by their order", in("affine.metal", " [[buffer(1)]]", ""), ""},
		{"one moved by it", in("reduce.metal", "    constant uint &columns [[buffer(1)]],", "    constant uint &columns,"),
			"Reduce rmsnorm_f32 (reduce.metal): argument 1 is passed, and it has none"},
	} {
		found, err := Differences(copied(t, c.change), smol())
		if err != nil {
			t.Fatal(err)
		}
		var got, want []string
		for _, d := range found {
			got = append(got, fmt.Sprint(d))
		}
		if c.want != "" {
			want = []string{c.want}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", c.name, got, want)
		}
	}
}
