package msl

import (
	"strings"
	"testing"
)

// TestOutline: what each declaration declares is told by C++'s grammar.
func TestOutline(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"struct S { int i; };", "S"},
		{"struct alignas(16) S { int i; } a, b[2];", "S a b"},
		{"struct __attribute__((packed)) S;", "S"},
		{"typedef struct { int d; } block;", "block"},
		{"typedef struct tag { int d; } block;", "tag block"},
		{"typedef float F[4];", "F"},
		{"typedef void (f)(int);", "f"},
		{"typedef vec<float, 4> F;", "F"},
		{"typedef decltype(g<int>) h;", "h"},
		{"using F = metal::vec<half, 2>;", "F"},
		{"template <typename T> using V = vec<T, 4>;", "V"},
		{"using namespace metal;", "-"},
		{"using metal::min;", "-"},
		{"enum A { B, C = 2, D };", "B C D A"},
		{"enum { B, C = f(1, 2) };", "B C"},
		{"enum class A : uint { B };", "A"},
		{"constant float a = 1, b[2] = {1, 2}, *c;", "a b c"},
		{"constant S<int, 2> a = {1};", "a"},
		{"constexpr constant static int N = sizeof(S) / 2;", "N"},
		{"constant bool f [[function_constant(2)]];", "-"},
		{"template <typename T> struct L { static T v; };", "L"},
		{"template <> struct L<int> { };", "-"},
		{"template <typename T> struct L<device T *> { };", "-"},
		{"int f(int a);", "f"},
		{"inline int f(int a, int b = g(2)) { return a; }", "f"},
		{"auto f(int a) -> int { return a; }", "f"},
		{"struct S f(int a) { return {a}; }", "f"},
		{"template <typename T, int N = (2 > 1)> T f(T x) { return x; }", "f"},
		{"template <> int f<int>(int x) { return x; }", "f"},
		{"int S::f(int x) { return x; }", "-"},
		{"S operator+(S a, S b) { return a; }", "-"},
		{"void begin(S a) { }", "-"},
		{"[[visible]] int f(int a) { return a; }", "-"},
		{"static_assert(sizeof(int) == 4, \"int\");", "-"},
		{"extern constant int a;", "-"},
		{"kernel void k(device int *x [[buffer(0)]]) { }", "k!"},
		{"[[host_name(\"other\")]] [[kernel]] void k(device int *x) { }", "other!"},
		{"[[kernel, max_total_threads_per_threadgroup(64)]] void k() { }", "k!"},
		{"template <typename T> [[kernel]] void k(device T *x) { }", "k"},
		{"template [[host_name(\"a\" \"_b\")]] [[kernel]] void k<float, (3 > 2)>(device float *x);", "a_b!"},
		{"template [[host_name(\"a\")]] kernel t k<float>;", "a!"},
		{"template struct L<int>;", "-"},
		{"vertex float4 v(uint i [[vertex_id]]) { return i; }", "v!-"},
		{"namespace n { int a; } int b;", "- a - b"},
		{"extern \"C\" { int a; }", "- a -"},
		{"namespace metal { int more(int a) { return a; } }", "- - -"},
		{"int a;; int b;;", "a b"},
	} {
		o, err := OutlineOf(c.in)
		if err != nil {
			t.Errorf("%s: %v", c.in, err)
			continue
		}
		var got []string
		for _, g := range o.Groups {
			for _, p := range g.Parts {
				text := strings.Join(p.Names, " ")
				if p.Kernel != "" {
					text = p.Kernel + "!"
					if p.Kept != "" {
						text += "-"
					}
				} else if p.Kept != "" {
					text = "-"
				}
				got = append(got, text)
			}
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%s: %s, want %s", c.in, text, c.want)
		}
	}
}

func TestOutlineErrors(t *testing.T) {
	for _, in := range []string{"int a", "void f() {", "}", "(]", "#if 1\nint a;", "#endif", "#include \"a.h\"\nint a;", "int a = R\"(x)\";", "int a = \"b\\\";", "#define S 'a\nint b;",
		"#define F(x) x\nF(\n#define G\nint a;)", "int a; # define B", "template <typename T"} {
		if _, err := OutlineOf(in); err == nil {
			t.Errorf("%q has an outline", in)
		}
	}
}

// TestPlaces: the bytes of a group are those of its declarations, whatever was joined
// or expanded.
func TestPlaces(t *testing.T) {
	const first, second, third = "int /* one\n */ a\\\nb;", "N(x,\n y)", "int z;"
	o, err := OutlineOf("\ufeff// before\n" + first + " // behind\n#define N(a, b) int a; \\\n  int b;\n" + second + " /* c */ " + third)
	if err != nil || len(o.Groups) != 3 {
		t.Fatal(err, len(o.Groups))
	}
	source := "\ufeff// before\n" + first + " // behind\n#define N(a, b) int a; \\\n  int b;\n" + second + " /* c */ " + third
	for i, want := range []string{first, second, third} {
		if got := source[o.Groups[i].From:o.Groups[i].To]; got != want {
			t.Errorf("group %d is %q, want %q", i, got, want)
		}
	}
	if d := o.Directives; len(d) != 1 || source[d[0].From:d[0].To] != "#define N(a, b) int a; \\\n  int b;" {
		t.Errorf("directives %+v", d)
	}
	if len(o.Groups[1].Parts) != 2 {
		t.Errorf("%+v", o.Groups[1].Parts)
	}
}
