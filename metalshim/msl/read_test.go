package msl

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// written is the text of preprocessed tokens.
func written(tokens []macroToken) string {
	var b strings.Builder
	for _, t := range plain(tokens) {
		b.WriteString(t.space + t.text)
	}
	return b.String()
}

// TestPreprocess: the expected texts follow from the C standard (ISO C 6.10);
// those with a number are its own examples.
func TestPreprocess(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"object", "#define N 4\nN+N", "4+4"},
		{"function", "#define F(a, b) a b\nF(1, (2, 3)) F", "1 (2, 3) F"},
		{"over lines", "#define F(a, b) a b\nF(1,\n 2)", "1 2"},
		{"strings", "#define S(x) \"kernel_\" #x \"_\" #x\nS(f32) S( a  b )", `"kernel_" "f32" "_" "f32" "kernel_" "a b" "_" "a b"`},
		{"strings in strings", "#define S(x) #x\nS(\"a\\n\")", `"\"a\\n\""`},
		{"paste", "#define NAME(a) a##_##f32 a##1\nNAME(cos)", "cos_f32 cos1"},
		{"pasted again", "#define AB 7\n#define P(a, b) a##b\nP(A, B)", "7"},
		{"arguments first", "#define N 4\n#define ID(x) x\n#define S(x) #x\nID(N) S(N)", `4 "N"`},
		{"three dots", "#define F(n, ...) n<__VA_ARGS__>\nF(a, b, c) F(a)", "a<b, c> a<>"},
		{"an empty end", "#define F(n, ...) f(n, ##__VA_ARGS__)\nF(a) F(a, b)", "f(a) f(a, b)"},
		{"6.10.3.4", "#define f(a) a*g\n#define g f\nf(2)(9)", "2*f(9)"},
		{"6.10.3.5", "#define x 3\n#define f(a) f(x * (a))\n#undef x\n#define x 2\n#define g f\n#define z z[0]\nf(z) f(y+1) g(x)",
			"f(2 * (z[0])) f(2 * (y+1)) f(2 * (2))"},
		{"itself", "#define a a b\na", "a b"},
		{"no argument", "#define F() 1\nF() F( ) F", "1 1 F"},
		{"continued", "#define F(a) \\\n  a + \\\n  1\nF(2)", "2 + 1"},
		{"comments", "#define N /* not 3 */ 4 // nor 5 \\\n N is gone\nN", "4"},
		{"comment marks in strings", "\"//\" '\"' \"/*\"", `"//" '"' "/*"`},
		{"if", "#if defined(__HAVE_BFLOAT__) && __METAL_VERSION__ >= 310\nyes\n#else\nno\n#endif", "yes"},
		{"elif", "#if 0\na\n#elif NONE\nb\n#elif 1\nc\n#elif 1\nd\n#else\ne\n#endif", "c"},
		{"nested", "#ifdef NONE\n#if 1\na\n#else\nb\n#endif\n#else\n#ifndef NONE\nc\n#endif\n#endif d", "c"},
		{"arithmetic", "#if (1 + 2 * 3 == 7) && !(-1 > 0) && 0x10 != 15L\nyes\n#endif", "yes"},
		{"not to be read", "#if )(\na\n#endif\n#if 1 2\nb\n#endif", ""},
		{"operators", "#if 310 / 100 == 3 && 310 % 100 == 10 && (1 << 3 | 2) == 10 && (6 & 3 ^ 1) == 3 && 16 >> 2 == 4 && ~0 == -1 && +1\nyes\n#endif", "yes"},
		{"choice", "#if __METAL_VERSION__ > 300 ? 0 ? 0 : 1 : 0\nyes\n#endif\n#if 0 ? 1 : 0\nno\n#endif", "yes"},
		{"precedence", "#if 1 | 2 == 2 && (2 - 1 - 1 == 0) && 8 / 2 / 2 == 2\nyes\n#endif", "yes"},
		{"characters", "#if 'A' == 65 && '\\n' == 10\nyes\n#endif", "yes"},
		{"words", "#if true and not false and not defined(NONE)\nyes\n#endif", "yes"},
		{"division by zero", "#if 1 || 1 / 0\nyes\n#endif", "yes"},
		{"elifdef", "#ifdef NONE\na\n#elifdef __METAL__\nb\n#else\nc\n#endif\n#if 0\n#elifndef NONE\nd\n#endif", "b d"},
		{"headers", "#if __has_include(<metal_stdlib>) && !__has_include(\"a.h\") && !__has_include(<a.h>)\nyes\n#endif", "yes"},
		{"headers asked for", "#if defined(__has_include) && defined __has_include\n#if __has_include ( <simd/simd.h> )\nyes\n#endif\n#endif", "yes"},
		{"a compiler", "#if defined(__clang__) && __cplusplus >= 201402L\nyes\n#endif", "yes"},
		{"mark of byte order", "\ufeff#ifdef __METAL__\nyes\n#endif", "yes"},
		{"defined outside", "#if 0\n#define N 1\n#endif\nN", "N"},
		{"pragma", "_Pragma(\"unroll\") for", "for"},
		{"include", "#include <metal_stdlib>\nx", "x"},
		{"attribute", "#define A(n) [[buffer(n)]]\nA(2) a[b[0]]", "[[buffer(2)]] a[b[0]]"},
	} {
		p, err := preprocess(c.in)
		if got := strings.Join(strings.Fields(written(p.out)), " "); got != c.want || err != nil {
			t.Errorf("%s: %q, %v; want %q", c.name, got, err, c.want)
		}
	}
}

func TestReadKeepsLines(t *testing.T) {
	p, err := preprocess("a /* 1\n2 */ b\n#define F(x) \\\n x\n\nF(\nc) // 7 \\\nstill 7\nd")
	if err != nil {
		t.Fatal(err)
	}
	text := written(p.out)
	if line := strings.Count(text[:strings.Index(text, "d")], "\n") + 1; line != 9 {
		t.Errorf("d stands in line %d, want 9: %q", line, text)
	}
	_, err = Read("x.metal", "\n\nkernel void f(device float *a [[buffer(99)]]) {}")
	var e *Error
	if !errors.As(err, &e) || e.Line != 3 || e.File != "x.metal" {
		t.Errorf("error %v, want one in line 3 of x.metal", err)
	}
}

const sample = `
#define UNARY(F, T, NAME) kernel void NAME##_##T(constant size_t &n [[buffer(0)]], device const T *in [[buffer(1)]], device T *out [[buffer(2)]], uint t [[thread_position_in_grid]]) { if (t >= n) return; out[t] = F(in[t]); }
UNARY(cos, float, cos)
uint strided(uint i) { for (uint d = 0; d < 4; d++) { i /= 2; } return i; }
template <typename T> void choose(device T *out, uint t) { out[t] = out[strided(t)]; }
kernel void where(device float *out, uint2 t [[thread_position_in_grid]]) { choose<float>(out, t.x); }
kernel void two(device float *out, uint t [[thread_position_in_grid]]) { out[t] = 1; if (t) out[t + 1] = 1; }
template <typename T> [[kernel]] void many(device T *out, constant bool &b [[function_constant(has)]], uint t [[thread_position_in_grid]]) { for (uint i = t; i < 9; i += 2) out[i] = 1; }
#define INIT(name, ...) template [[host_name("many_" #name)]] [[kernel]] decltype(many<__VA_ARGS__>) many<__VA_ARGS__>;
INIT(f32, float)
INIT(f16, half);
constant bool has [[function_constant(7)]];
`

func TestRead(t *testing.T) {
	l, err := Read("sample.metal", sample)
	if err != nil {
		t.Fatal(err)
	}
	single := map[string]bool{"cos_float": true, "where": true, "two": false, "many_f32": false, "many_f16": false}
	for _, k := range l.Kernels {
		if want, ok := single[k.Name]; !ok || k.Single != want {
			t.Errorf("kernel %s stores one element: %v", k.Name, k.Single)
		}
		delete(single, k.Name)
	}
	if len(single) > 0 {
		t.Errorf("not found: %v", single)
	}
	k, ok := l.Kernel("many_f16")
	if !ok || !slices.Equal(k.Params, []Param{
		{Kind: Buffer, Index: 0, Text: "device T *out"},
		{Kind: Buffer, Index: 1, Text: "constant bool &b", Optional: true},
		{Kind: "thread_position_in_grid", Index: -1, Text: "uint t"},
	}) {
		t.Errorf("parameters %+v", k.Params)
	}
	if _, ok := l.Kernel("many"); ok {
		t.Error("a template is taken for a kernel")
	}
	if len(l.Constants) != 1 || l.Constants[0] != (FunctionConstant{Index: 7, Name: "has", Type: "bool"}) {
		t.Errorf("constants %+v", l.Constants)
	}
}

// TestIncludes: a source that is more than one text cannot be read; the standard
// library's headers, and what is not in use, do not matter.
func TestIncludes(t *testing.T) {
	const k = "kernel void f(device float *a [[buffer(0)]]) { a[0] = 1; }\n"
	for text, want := range map[string]string{
		"#include <metal_stdlib>\n#include <simd/simd.h>\n":      "",
		"#if 0\n#include \"a.h\"\n#endif\n":                      "",
		"// #include \"a.h\"\n":                                  "",
		"#include \"a.h\"\n":                                     `x.metal: #include "a.h": a library is one text`,
		"#  import  \"/a/b.metal\"\n":                            `x.metal: #import "/a/b.metal": a library is one text`,
		"#define A 1\n#ifdef A\n#include \"a\" // why\n#endif\n": `#include "a": a library`,
	} {
		l, err := Read("x.metal", text+k)
		if want == "" && (err != nil || len(l.Kernels) != 1) || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// TestHostile: what grows without bounds ends in an error, soon.
func TestHostile(t *testing.T) {
	double := "#define X0 x x\n"
	for i := range 40 {
		double += fmt.Sprintf("#define X%d X%d X%d\n", i+1, i, i)
	}
	if _, err := Read("x", double+"X40"); !errors.Is(err, errTooLarge) {
		t.Errorf("doubling: %v", err)
	}
	for name, text := range map[string]string{
		"brackets":   "#define F(x) x\n" + strings.Repeat("F(", 10000) + strings.Repeat(")", 10000),
		"conditions": strings.Repeat("#if 1\n", 10000),
		"operators":  "#if " + strings.Repeat("!", 10000) + "1\n#endif",
		"open":       "#define F(x) x\nF(" + strings.Repeat("(", 10000),
		"comment":    "/*" + strings.Repeat("/*", 1000),
		"short":      "/*",
		"string":     `"\`,
		"directive":  "#",
		"define":     "#define\n#define F(\nF(",
		"paste":      "#define P(a) ##a## a##\nP() P(1)",
		"elsewhere":  "#else\n#elif 1\n#endif\nx",
	} {
		if _, err := Read(name, text); err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(sample)
	f.Add("#define F(x, ...) x##__VA_ARGS__ #x\nF(F(1), 2)\n#if defined F && (1<2)\n/* a\n*/\n#elif 1\n#endif")
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1<<14 {
			return
		}
		l, err := Read("x.metal", text)
		if err == nil && l == nil {
			t.Error("neither a library nor an error")
		}
	})
}

// TestUndecided: a condition that only a compiler can answer is remembered, so
// that what seems to be missing is not told without it.
func TestUndecided(t *testing.T) {
	const k = "kernel void f(device float *a [[buffer(0)]]) { a[0] = 1; }\n"
	for text, want := range map[string]string{
		k: "",
		"#if __has_builtin(__builtin_fma)\n" + k + "#endif\n":       "__has_builtin",
		"#if 1 || __has_feature(x)\n" + k + "#endif\n":              "__has_feature",
		"#ifdef __APPLE__\n" + k + "#endif\n":                       "__APPLE__",
		"#ifndef _X_H\n#define _X_H\n" + k + "#endif\n":             "",
		"#if defined(__X) || 1\n" + k + "#define __X\n#endif\n":     "",
		"#if 0\n#if __has_builtin(x)\n#endif\n#endif\n" + k:         "",
		"#if X\n#elif __ARM_NEON || __has_builtin(x)\n#endif\n" + k: "__has_builtin, __ARM_NEON",
	} {
		l, err := Read("x.metal", text)
		if err != nil || strings.Join(l.Undecided, ", ") != want {
			t.Errorf("%q: %+v, %v; want %q undecided", text, l, err, want)
		}
	}
}
