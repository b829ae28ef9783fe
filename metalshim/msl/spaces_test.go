package msl

import (
	"errors"
	"strings"
	"testing"
)

// TestAddressSpacesRefused: where an address space would mean something else once it
// is gone, the source is refused, at its place.
func TestAddressSpacesRefused(t *testing.T) {
	for _, c := range []struct {
		in, want string
		line     int
	}{
		{"\nthreadgroup float a[4];", "threadgroup variable a: it must stand in a function's body", 2},
		{"struct S {\n threadgroup int n; };", "threadgroup variable n", 2},
		{"void f() {\n\n threadgroup float a[] = {1, 2}; }", "threadgroup variable a: its length must be stated", 3},
		{"void f() { threadgroup constexpr int a = 1; }", "it cannot be constexpr", 1},
		{"void f() { threadgroup float a[4], *p; }", "declare one variable at a time", 1},
		{"typedef threadgroup float shared;", "a name for a type in threadgroup memory", 1},
		{"int f(device int* a) { return *a; }\nint f(threadgroup int* a) { return *a + 1; }", "int f(threadgroup int* a): it is written for several address spaces", 2},
		{"int f(device int* a) { return *a; } int g;\nint f(const thread int* a) { return 1; } int f(const constant int* b) { return 2; }", "int f(const constant int* b)", 2},
		{"int g(device int* a) { return *a; } int h(thread int* b) { return -*b; }\nint f(device int* a) { return g(a); }\nint f(thread int* a) { return h(a); }", "int f(thread int* a)", 3},
		{"struct S { int v;\n int get() const device { return v; }\n int get() const thread { return -v; } };", "int get() const thread", 3},
	} {
		_, _, err := Rewrite("# 1 \"a.metal\"\n" + c.in)
		var e *Error
		if !errors.As(err, &e) || !strings.Contains(e.Reason, c.want) || e.Line != c.line {
			t.Errorf("%q: %v, want %q in line %d", c.in, err, c.want, c.line)
		}
	}
}

// TestOverloadsByAddressSpace: functions that do the same for each address space are
// one.
func TestOverloadsByAddressSpace(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"callees that do the same", "int g(device int* a) { return *a; } int h(thread int* b) { return *b; } int f(device int* a) { return g(a); } int f(thread int* a) { return h(a); }",
			"int g( int* a) { return *a; } int h( int* b) { return *b; } int f( int* a) { return g(a); }"},
		{"names of parameters", "int f(device int* a, int n) { return a[n]; } int f(threadgroup int* b, int i) { return b[i]; }", "int f( int* a, int n) { return a[n]; }"},
		{"casts in the body", "int f(device float* a) { return *(device int*)a; } int f(thread float* a) { return *(thread int*)a; }", "int f( float* a) { return *( int*)a; }"},
		{"another constant", "int f(device int* a) { return 1; } int f(constant int* a) { return 2; }", "int f( int* a) { return 1; } int f(const int* a) { return 2; }"},
		{"constructors", "struct S { S() thread {} S() threadgroup {} S(float x) thread : v(x) {} S(float y) device : v(y) {} float v; };", "struct S { S() {} S(float x) : v(x) {} float v; };"},
		{"constructors of constants", "struct S { constexpr S(int x) constant : v(x) {} template <class T> S(T x) constant {} int f() constant { return v; } int v; };",
			"struct S { constexpr S(int x) : v(x) {} template <class T> S(T x) {} int f() const { return v; } int v; };"},
		{"defaulted constructors", "struct S { S() thread = default; S() threadgroup = default; S(int); };", "struct S { S() = default; S(int); };"},
		{"one is defaulted", "struct S { S() threadgroup = default; S() thread : v(1) {} int v; };", "struct S { S() : v(1) {} int v; };"},
		{"a template's default", "template <class T, class = void> int f(device T* a, int n = 1) { return 1; } template <class T, class = void> int f(thread T* a, int n = 1) { return 1; }",
			"template <class T, class = void> int f( T* a, int n = 1) { return 1; }"},
		{"declaration and definition", "struct S { int f(device int*); int f(thread int*); }; int S::f(device int* a) { return 1; }", "struct S { int f( int*); }; int S::f( int* a) { return 1; }"},
	} {
		if got := rewritten(t, c.in); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}
