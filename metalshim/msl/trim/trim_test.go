package trim

import (
	"slices"
	"strings"
	"testing"

	"github.com/introgen/introgen/engine/metal/kernels"
	"github.com/introgen/introgen/engine/metal/kernels/candle"
	"github.com/introgen/introgen/metalshim/msl"
)

// squeeze makes runs of white space single blanks.
func squeeze(s string) string { return strings.Join(strings.Fields(s), " ") }

func TestTrim(t *testing.T) {
	const two = "kernel void a(device float *x [[buffer(0)]]) { x[0] = 1; }\nkernel void b(device float *x [[buffer(0)]]) { x[0] = 2; }\n"
	for _, c := range []struct {
		name, in string
		keep     string
		want     string
	}{
		{"plain kernels", two, "b", "kernel void b(device float *x [[buffer(0)]]) { x[0] = 2; }"},
		{"none", two, "", ""},
		{"comments stay", "// c\n/* d */ " + two + "// e\n", "a", "// c /* d */ kernel void a(device float *x [[buffer(0)]]) { x[0] = 1; } // e"},
		{"instances", "template <class T> [[kernel]] void f(device T *x) {}\ntemplate [[host_name(\"fa\")]] [[kernel]] void f<float>(device float *x);\ntemplate [[host_name(\"fb\")]] [[kernel]] decltype(f<int>) f<int>;", "fb",
			"template <class T> [[kernel]] void f(device T *x) {} template [[host_name(\"fb\")]] [[kernel]] decltype(f<int>) f<int>;"},
		{"templates without instances", "template <class T> [[kernel]] void f(device T *x) {}\ntemplate [[host_name(\"fa\")]] [[kernel]] void f<float>(device float *x);\n" + two, "a",
			"kernel void a(device float *x [[buffer(0)]]) { x[0] = 1; }"},
		{"made by a macro", "#define K(n, T) kernel void n##_##T(device T *x) { x[0] = 1; }\n#define BOTH(n) K(n, float) \\\n K(n, int)\nBOTH(a)\nBOTH(b);\n", "b_int",
			"#define K(n, T) kernel void n##_##T(device T *x) { x[0] = 1; } #define BOTH(n) K(n, float) \\ K(n, int) kernel void b_int(device int *x) { x[0] = 1; }"},
		{"helpers", "constant float c = 1; float g(float x) { return x; } struct S { float v; }; typedef float F; using G = F; enum { E, H };\nkernel void a(device G *x) { x[0] = c + E; } kernel void b(device S *x) { x[0].v = g(1); }", "a",
			"constant float c = 1; typedef float F; using G = F; enum { E, H }; kernel void a(device G *x) { x[0] = c + E; }"},
		{"function constants", "constant bool k [[function_constant(3)]]; constant bool l = k;\n" + two, "a",
			"constant bool k [[function_constant(3)]]; kernel void a(device float *x [[buffer(0)]]) { x[0] = 1; }"},
		{"the compiler's conditions", "#if defined(__HAVE_BFLOAT__)\nkernel void a(device bfloat *x) {}\nkernel void b(device bfloat *x) {}\n#else\nkernel void c(device half *x) {}\n#endif", "b",
			"#if defined(__HAVE_BFLOAT__) kernel void b(device bfloat *x) {} #else kernel void c(device half *x) {} #endif"},
		{"the compiler's helpers", "float g() { return 1; } float h() { return 1; }\n#if __METAL_VERSION__ < 200\nkernel void z(device float *x) { *x = g(); }\n#endif\n" + two, "a",
			"float g() { return 1; } #if __METAL_VERSION__ < 200 kernel void z(device float *x) { *x = g(); } #endif kernel void a(device float *x [[buffer(0)]]) { x[0] = 1; }"},
		{"macros of the compiler's conditions", "#ifdef __HAVE_BFLOAT__\n#define ALL(n) K(n, float) K(n, bfloat)\n#else\n#define ALL(n) K(n, float)\n#endif\n#define K(n, T) kernel void n##_##T(device T *x) { x[0] = 1; }\nALL(a)\nALL(b)\n", "a_float",
			"#ifdef __HAVE_BFLOAT__ #define ALL(n) K(n, float) K(n, bfloat) #else #define ALL(n) K(n, float) #endif #define K(n, T) kernel void n##_##T(device T *x) { x[0] = 1; } kernel void a_float(device float *x) { x[0] = 1; }"},
		{"what only some compilers have", "#ifdef __HAVE_BFLOAT__\n#define ALL(n) K(n, float) K(n, bfloat)\n#else\n#define ALL(n) K(n, float)\n#endif\n#define K(n, T) kernel void n##_##T(device T *x) { x[0] = 1; }\nALL(a)\nALL(b)\n", "a_bfloat",
			"#ifdef __HAVE_BFLOAT__ #define ALL(n) K(n, float) K(n, bfloat) #else #define ALL(n) K(n, float) #endif #define K(n, T) kernel void n##_##T(device T *x) { x[0] = 1; } ALL(a)"},
		{"loop pragmas", "kernel void a(device float *x) {\n#pragma unroll\nfor (int i = 0; i < 4; i++) x[i] = 1;\n}\n#pragma METAL fp math_mode(safe)\n" + strings.ReplaceAll(two, "void a", "void c"), "b",
			"#pragma METAL fp math_mode(safe) kernel void b(device float *x [[buffer(0)]]) { x[0] = 2; }"},
		{"definitions in a body", "kernel void a(device float *x) {\n#define N 4\nx[0] = N;\n}\nkernel void b(device float *x) { x[0] = N; }", "b",
			"#define N 4 kernel void b(device float *x) { x[0] = N; }"},
		{"namespaces", "namespace n { float g() { return 1; } kernel void a(device float *x) { *x = g(); } kernel void b(device float *x) {} }", "b",
			"namespace n { kernel void b(device float *x) {} }"},
		{"a condition across a kernel", "#if __METAL_VERSION__ > 300\nkernel void a(device float *x) {\n#else\nkernel void a(device int *x) {\n#endif\n}\n" + strings.ReplaceAll(two, "void a", "void c"), "b",
			"#if __METAL_VERSION__ > 300 kernel void a(device float *x) { #else kernel void a(device int *x) { #endif } kernel void b(device float *x [[buffer(0)]]) { x[0] = 2; }"},
		{"vertex functions stay", "vertex float4 v(uint i [[vertex_id]]) { return i; }\nkernel void t(texture2d<float> x [[texture(0)]]) {}\n" + two, "b",
			"vertex float4 v(uint i [[vertex_id]]) { return i; } kernel void b(device float *x [[buffer(0)]]) { x[0] = 2; }"},
		{"overloads", "float g(float x) { return x; } float g(int x) { return x; }\nkernel void a(device float *x) { *x = g(1); } kernel void b(device float *x) { *x = g(*x); }", "b",
			"float g(float x) { return x; } float g(int x) { return x; } kernel void b(device float *x) { *x = g(*x); }"},
	} {
		r, err := Of("a.metal", c.in, strings.Fields(c.keep))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got := squeeze(r.Text); got != squeeze(c.want) {
			t.Errorf("%s:\n got %s\nwant %s\nstays %v", c.name, got, squeeze(c.want), r.Stays)
		}
		if strings.Count(r.Text, "\n") != strings.Count(c.in, "\n") {
			t.Errorf("%s: lines are lost: %q", c.name, r.Text)
		}
		again, err := Trim("a.metal", r.Text, strings.Fields(c.keep))
		if err != nil || again != r.Text {
			t.Errorf("%s: trimmed again %q, %v", c.name, again, err)
		}
	}
}

func TestMissing(t *testing.T) {
	_, err := Trim("a.metal", "kernel void a() {} kernel void b() {}", []string{"a", "c"})
	if err == nil || err.Error() != "a.metal: it has no kernel c: it has a, b" {
		t.Errorf("error %v", err)
	}
}

// sets are the project's kernels, and candle's where they were fetched.
func sets(t testing.TB) []*kernels.Set {
	t.Helper()
	out := []*kernels.Set{kernels.OwnSet()}
	dir, err := candle.Dir()
	if err != nil {
		t.Fatal(err)
	}
	set, err := candle.Open(dir, candle.Experiment)
	if err != nil {
		t.Logf("SKIP: needs candle's kernels: %v", err)
		return out
	}
	return append(out, set)
}

// TestKernelsOfSets: of every library, each kernel alone is what msl.Read finds in
// what was trimmed to it, with the constants of the whole and no more text.
func TestKernelsOfSets(t *testing.T) {
	for _, set := range sets(t) {
		for _, f := range set.Files() {
			all, err := msl.Read(f.Name, f.Text)
			if err != nil {
				t.Fatal(err)
			}
			step := 1 + len(all.Kernels)/8 // all of them are compiled elsewhere
			for i := 0; i < len(all.Kernels); i += step {
				k := all.Kernels[i]
				r, err := Of(f.Name, f.Text, []string{k.Name})
				if err != nil {
					t.Fatal(err)
				}
				l, err := msl.Read(f.Name, r.Text)
				if err != nil {
					t.Fatalf("%s %s: %v", f.Name, k.Name, err)
				}
				got, ok := l.Kernel(k.Name)
				if !ok || got.Function != k.Function || r.Gone != len(all.Kernels)-len(l.Kernels) {
					t.Errorf("%s trimmed to %s has %d kernels; %v", f.Name, k.Name, len(l.Kernels), r.Stays)
				}
				// A kernel that a macro makes only where the compiler has bfloat cannot be told
				// from its neighbours.
				if (len(l.Kernels) > 1 || len(r.Stays) > 0) && !strings.Contains(k.Name, "bf16") {
					t.Errorf("%s trimmed to %s has %d kernels; %v", f.Name, k.Name, len(l.Kernels), r.Stays)
				}
				if !slices.Equal(l.Constants, all.Constants) {
					t.Errorf("%s trimmed to %s has the constants %v", f.Name, k.Name, l.Constants)
				}
			}
		}
	}
}

// TestWhole: what cannot be cut stays as it is, and says so.
func TestWhole(t *testing.T) {
	for _, c := range []struct{ in, why, missing string }{
		{"#include \"more.h\"\nkernel void a() {}", `it includes "more.h", which is another text`, ""},
		{"kernel void a() { f(R\"(x)\"); } kernel void b() {}", "a raw string stands in text", "a.metal: it has no kernel c: it has a, b"},
		{"#define F(x) x\nF(kernel void a() {}\n#define G\n)\nkernel void b() {}", "a directive stands within a macro's arguments", "a.metal: it has no kernel c: it has a, b"},
	} {
		r, err := Of("a.metal", c.in, nil)
		if err != nil || r.Text != c.in || len(r.Stays) != 1 || r.Stays[0].Why != c.why {
			t.Errorf("%q: %+v, %v", c.in, r, err)
		}
		_, err = Of("a.metal", c.in, []string{"c"})
		if (err == nil) != (c.missing == "") || err != nil && err.Error() != c.missing {
			t.Errorf("%q: error %v, want %q", c.in, err, c.missing)
		}
	}
}
