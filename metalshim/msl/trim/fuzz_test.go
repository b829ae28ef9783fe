package trim

import (
	"strings"
	"testing"
	"time"

	"github.com/introgen/introgen/metalshim/msl"
)

// hostile are pieces of sources that are written to be taken apart wrongly.
var hostile = []string{
	"kernel void a(device float *x) { x[0] = 1; } kernel void b(device float *x) { x[0] = 2; }",
	"#define K(n) kernel void n() {} kernel void n##2() {}\nK(a)\nK(b);",
	"#ifdef X\n#define K(n) kernel void n() {\n#else\n#define K(n) kernel void n() {}\n#endif\nK(a)\n#ifdef X\n}\n#endif\nkernel void b() {}",
	"#if __METAL_VERSION__ > 300\n#define E }\n#endif\nkernel void a() {} kernel void b() { E",
	"template <typename T> [[kernel]] void f(device T *x) {}\ntemplate [[host_name(\"a\")]] [[kernel]] void f<int>(device int *x);\ntemplate [[host_name(\"b\")]] [[kernel]] decltype(f<int>) f<int>;",
	"kernel void a() {} # define X\nkernel void b() {}",
	"kernel void a() { /* } */ } // {\nkernel void b() { \"}\"; '{'; }\\\n",
	"namespace n { enum { A, B = 2 } e; struct S { int i; } s[2], *t; typedef void (f)(int); kernel void a() {} }",
	"#define F(x) x\nkernel void a() {} F(\n#define G\nkernel void b() {})",
	"kernel void a() {\n#pragma unroll\nfor (;;) {}\n#if X\n}\n#else\n}\n#endif\nkernel void b() {}",
	"#ifndef N\n#define N 1\n#endif\n#if N\nkernel void a() {}\n#elif N > 1\nkernel void b() {}\n#endif\n#if 0\n}}}\n#endif",
	"/* a\n */ kernel void a() {} /* b\n\n */ #define K\n_Pragma(\"x\") kernel void b() {};;;\r\nint operator\"\"_x(int); R\"(}\")\"",
}

func FuzzTrim(f *testing.F) {
	for i, s := range hostile {
		f.Add(s, uint8(i))
		f.Add(s+"\n"+hostile[(i+1)%len(hostile)], uint8(1))
	}
	f.Fuzz(func(t *testing.T, text string, which uint8) {
		o, err := msl.OutlineOf(text)
		if err != nil {
			if r, err := Of("a.metal", text, nil); err == nil && r.Text != text {
				t.Errorf("what cannot be read has become %q", r.Text)
			}
			return
		}
		var keep []string
		if names := newTrimmer(o, nil).kernels(); len(names) > 0 {
			keep = []string{names[int(which)%len(names)]}
		}
		r, err := Of("a.metal", text, keep)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := strings.Count(r.Text, "\n"), strings.Count(text, "\n"); got != want {
			t.Errorf("%q has %d lines, its source %q %d", r.Text, got, text, want)
		}
		again, err := Of("a.metal", r.Text, keep)
		if err != nil {
			t.Fatalf("%q trimmed to %q cannot be trimmed again: %v", text, r.Text, err)
		}
		if again.Text != r.Text {
			t.Errorf("%q trimmed to %q and again to %q", text, r.Text, again.Text)
		}
	})
}

// TestHostileLength: no input takes time or memory that grows much faster than its
// length.
func TestHostileLength(t *testing.T) {
	for _, unit := range []string{"kernel void a() {}\n", "template <typename T> void f(T x) { g<h<T>>(); }\n", "#if X\n#define A B\n#else\n#define A C\n#endif\nA A A\n",
		"#ifdef A\n#endif\n", "namespace n {", "a < ", "int a = b < c, ", "[[a]] ", "#define A A A\nA\n", "_Pragma(\"x\") ", "enum { A, B };\n", "typedef int T;\n", "(", "}", "#pragma unroll\n", "\\\n", "/**/ "} {
		text := strings.Repeat(unit, 200_000/len(unit))
		begun := time.Now()
		if _, err := Trim("a.metal", text, nil); err != nil {
			t.Logf("%q: %v", unit, err)
		}
		if took := time.Since(begun); took > 20*time.Second {
			t.Errorf("%q repeated: %v", unit, took)
		}
	}
	long := `#define S "` + strings.Repeat("x", 1<<20) + `"` + "\n#define T S S S S S S S S S S\n#define U T T T T T T T T T T\nkernel void a() { U }\nkernel void b() {}\n"
	r, err := Of("a.metal", long, []string{"b"})
	if err != nil || r.Text != long || len(r.Stays) != 1 {
		t.Errorf("%d bytes, %v", len(r.Text), err)
	}
}
