package msl

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// squeeze makes runs of white space single blanks, so that tests see tokens.
func squeeze(s string) string { return strings.Join(strings.Fields(s), " ") }

// rewritten is the rewritten source without the entries of kernels.
func rewritten(t *testing.T, source string) string {
	t.Helper()
	cxx, _, err := Rewrite(source)
	if err != nil {
		t.Fatal(err)
	}
	text, _, _ := strings.Cut(cxx, "\n# 1 \"<kernels>\"")
	return squeeze(text)
}

func TestLex(t *testing.T) {
	source := "# 1 \"f\"\nint a = 1.5e-3f + x->y; // no comment is left by then\n  #pragma unroll\n\"s\\\"t\" 'c' 0x1p-2 a>>b .5 ... ::"
	tokens, rest := lex(source)
	var b strings.Builder
	var texts []string
	for _, tok := range tokens {
		b.WriteString(tok.space + tok.text)
		texts = append(texts, tok.text)
	}
	if b.String()+rest != source {
		t.Error("the tokens do not add up to the source")
	}
	for _, want := range []string{"1.5e-3f", "->", `"s\"t"`, "'c'", "0x1p-2", ".5", "...", "::"} {
		if !slices.Contains(texts, want) {
			t.Errorf("no token %s in %q", want, texts)
		}
	}
	if slices.Contains(texts, "pragma") || slices.Contains(texts, ">>") {
		t.Errorf("a pragma or >> is a token: %q", texts)
	}
}

func TestRewriteText(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"address spaces", "void f(device float* a, constant int& b, thread half& c, threadgroup T* d);",
			"void f( float* a, const int& b, half& c, T* d);"},
		{"vector", "x = float4(a, b) + metal::half2(1);", "x = msl_mk<float4>(a, b) + metal::msl_mk<half2>(1);"},
		{"vector conversion operator", "operator float4() const;", "operator float4() const;"},
		{"template vector", "x = vec<T, 4>(a);", "x = msl_mk<vec<T, 4> >(a);"},
		{"template vector as a type", "vec<T, 4> x;", "vec<T, 4> x;"},
		{"alias", "using F = vec<T, 2>; F x = F(1, 2);", "using F = vec<T, 2>; F x = msl_mk<F>(1, 2);"},
		{"typedef", "typedef float2 F; y = F(1);", "typedef float2 F; y = msl_mk<F>(1);"},
		{"template's parameter that is a vector", "template <typename F, typename F4, int N> void f(device F* a) { x = F4(y * 2); z = F(1); } template void f<half, half4, 4>(device half*);",
			"template <typename F, typename F4, int N> void f( F* a) { x = msl_mk<F4>(y * 2); z = F(1); } template void f<half, half4, 4>( half*);"},
		{"template's parameter that is none", "template <class T> struct S { T f() { return T(1); } }; S<half> s;", "template <class T> struct S { T f() { return T(1); } }; S<half> s;"},
		{"cast", "y = (float4) x * 2;", "y = ::metal::msl_castop<float4>()->* x * 2;"},
		{"cast after return", "return (float2)x;", "return ::metal::msl_castop<float2>()->* x;"},
		{"argument", "f(float4);  g<int>(float2); sizeof(float4) * 2;", "f(float4); g<int>(float2); sizeof(float4) * 2;"},
		{"initialiser list", "y = (float2){1, 2};", "y = (float2){1, 2};"},
		{"static_cast", "static_cast<half>(b)", "::metal::msl_static_cast<half>(b)"},
		{"numbers", "1.0 2.f 3. 1e5 0x1p3 0x1e 4 7u .5 1.5h 2.0bf 0x1p-7bf 3H", "1.0f 2.f 3.f 1e5f 0x1p3f 0x1e 4 7u .5f half(1.5) bfloat(2.0) bfloat(0x1p-7) half(3)"},
		{"members", "s.x + v.xyz", "s.x + v.xyz"},
		{"attributes", "struct A { float x [[user(a)]]; };", "struct A { float x ; };"},
		{"array of array", "a[b[0]] = 1;", "a[b[0]] = 1;"},
		{"defaulted", "struct S { S() = default; S() threadgroup = default; int i; };", "struct S { S() = default; int i; };"},
		{"threadgroup variable", "{ threadgroup float a[4], b; }",
			"{ typedef float msl_t_a[4], msl_t_b; static thread_local ::metal::msl_threadgroup_memory<msl_t_a> msl_s_a; msl_t_a& a = msl_s_a.get();" +
				" static thread_local ::metal::msl_threadgroup_memory<msl_t_b> msl_s_b; msl_t_b& b = msl_s_b.get(); }"},
		{"threadgroup variable of a template", "{ threadgroup S<T, 2> a[N * 2]; }",
			"{ typedef S<T, 2> msl_t_a[N * 2]; static thread_local ::metal::msl_threadgroup_memory<msl_t_a> msl_s_a; msl_t_a& a = msl_s_a.get(); }"},
		{"threadgroup pointer", "{ threadgroup float* p = q; threadgroup T (&r)[2] = s; }", "{ float* p = q; T (&r)[2] = s; }"},
		{"function constant", "constant bool a [[function_constant(7)]]; constant bool b = is_function_constant_defined(a) ? a : false;",
			`extern const bool msl_fcd_7; extern const bool a __asm__("msl_fc_7") ; const bool b = msl_fcd_7 ? a : false;`},
	} {
		if got := rewritten(t, c.in); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

func TestDuplicates(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"function", "void f(device int* a) { g(); } void f(threadgroup int* a) { g(); } int z;", "void f( int* a) { g(); } int z;"},
		{"template", "template <class T> T f(device T* a) { return *a; } template <class T> T f(thread T* a) { return *a; }",
			"template <class T> T f( T* a) { return *a; }"},
		{"member", "struct S { void f(device int* a) {} void f(threadgroup int* a) {} void h(device int*); void h(thread int*); };",
			"struct S { void f( int* a) {} void h( int*); };"},
		{"namespace", "namespace n { void f(device int* a) {} void f(thread int* a) {} } void f(device int* a) {}",
			"namespace n { void f( int* a) {} } void f( int* a) {}"},
		{"specialisation", "template <class T> struct P<device T*> { }; template <class T> struct P<constant T*> { }; template <class T> struct P<thread T*> { };",
			"template <class T> struct P< T*> { }; template <class T> struct P<const T*> { };"},
		{"const twice", "void f(const device int* a) {} void f(const constant int* a) {}", "void f(const int* a) {}"},
		{"written twice", "void f(device int* a) {} void f(device int* a) {}", "void f( int* a) {} void f( int* a) {}"},
	} {
		if got := rewritten(t, c.in); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

func TestKernels(t *testing.T) {
	cxx, l, err := Rewrite(`
kernel void plain(device const float* x [[buffer(3)]], constant S& s, threadgroup float* t [[threadgroup(1)]],
    device int* y, uint2 p [[thread_position_in_grid]], uint l [[ thread_index_in_simdgroup ]]) {}
template <typename T, int N = (2 > 1)>
[[kernel, max_total_threads_per_threadgroup(N * 32)]] void made(device T* x [[buffer(0)]], device T* m [[buffer(10), function_constant(has)]]) {}
template [[host_name("made_f" "_2")]] [[kernel]] decltype(made<float, 2>) made<float, 2>;
template [[host_name("made_h_3")]] kernel void made<half, (3 > 2)>(device half* x, device half* m);
[[host_name("other")]] [[kernel]] [[max_total_threads_per_threadgroup(64)]] void third() {}
`)
	if err != nil {
		t.Fatal(err)
	}
	want := []Kernel{
		{Name: "plain", Function: "plain", Symbol: "msl_k_0", Params: []Param{
			{Buffer, 3, "device const float* x", false, true}, {Buffer, 0, "constant S& s", false, false}, {Threadgroup, 1, "threadgroup float* t", false, true},
			{Buffer, 1, "device int* y", false, false}, {"thread_position_in_grid", -1, "uint2 p", false, false}, {"thread_index_in_simdgroup", -1, "uint l", false, false}}},
		{Name: "made_f_2", Function: "made", Symbol: "msl_k_1", Limited: true, Params: []Param{{Buffer, 0, "device T* x", false, true}, {Buffer, 10, "device T* m", true, true}}},
		{Name: "made_h_3", Function: "made", Symbol: "msl_k_2", Limited: true, Params: []Param{{Buffer, 0, "device T* x", false, true}, {Buffer, 10, "device T* m", true, true}}},
		{Name: "other", Function: "third", Symbol: "msl_k_3", Limited: true},
	}
	if !reflect.DeepEqual(l.Kernels, want) {
		t.Errorf("kernels\n%+v\nwant\n%+v", l.Kernels, want)
	}
	for _, w := range []string{
		"static void plain(",
		"struct msl_limit_made { static constexpr unsigned value = (N * 32); };",
		"::msl_k::call<(plain), ::msl_k::A< ::msl_k::BUF, 3>, ::msl_k::A< ::msl_k::BUF, 0>, ::msl_k::A< ::msl_k::TGM, 1>, ::msl_k::A< ::msl_k::BUF, 1>, ::msl_k::A< ::msl_k::TPIG, 0>, ::msl_k::A< ::msl_k::TIISG, 0>>",
		"call<(made<float, 2>)",
		"msl_k_1_limit() { return msl_limit_made<float, 2>::value; }",
		"call<(made<half, (3 > 2)>)",
		"msl_k_3_limit() { return (64); }",
	} {
		if !strings.Contains(squeeze(cxx), w) {
			t.Errorf("the text lacks %s", w)
		}
	}
	if strings.Contains(cxx, "[[") || strings.Contains(cxx, "kernel void") {
		t.Error("an attribute or the word kernel is left")
	}
}

func TestErrors(t *testing.T) {
	for _, c := range []struct {
		in, want string
		line     int
	}{
		{"# 1 \"a.metal\"\n\nkernel void f(device int* x [[buffer(31)]]) {}", "buffer index \"31\": it must be a number from 0 to 30", 2},
		{"# 1 \"a.metal\"\nkernel void f(\n  texture2d<float> x [[texture(0)]]) {}", "attribute [[texture(0)]] is not supported", 2},
		{"# 1 \"b.metal\"\n# 7 \"a.metal\"\nkernel void f;", "kernel without a parameter list", 7},
		{"# 1 \"a.metal\"\nconstant int a [[function_constant(70000)]];", "0 to 65535", 1},
		{"# 1 \"a.metal\"\ntemplate <class T", "without end", 1},
		{"# 1 \"a.metal\"\nkernel void f(int a", "without end", 1},
	} {
		_, _, err := Rewrite(c.in)
		var e *Error
		if !errors.As(err, &e) || !strings.Contains(e.Reason, c.want) || e.File != "a.metal" || e.Line != c.line {
			t.Errorf("%q: %v, want %q at a.metal:%d", c.in, err, c.want, c.line)
		}
	}
}

// Lines keep their places, whatever is taken away.
func TestRewriteKeepsLines(t *testing.T) {
	source := "# 1 \"a\"\nvoid f(device int* a) {\n}\nvoid f(thread int* a) {\n\n}\ntemplate [[host_name(\"x\")]] [[kernel]]\nvoid g<int>();\nlast"
	cxx, _, err := Rewrite(source)
	if err != nil {
		t.Fatal(err)
	}
	before, _, _ := strings.Cut(source, "last")
	after, _, _ := strings.Cut(cxx, "last")
	if strings.Count(before, "\n") != strings.Count(after, "\n") {
		t.Errorf("last stands in line %d, was %d", strings.Count(after, "\n"), strings.Count(before, "\n"))
	}
}

// No input makes the time grow faster than its length by much.
func TestHostileLength(t *testing.T) {
	for _, unit := range []string{"template <", "vec<", "[[", "(", "{", "threadgroup a", "kernel ", "struct a {", "template [[kernel]]", "constant int a [[function_constant(1)]]"} {
		source := strings.Repeat(unit, 200_000/len(unit))
		begun := time.Now()
		Rewrite(source)
		if took := time.Since(begun); took > 10*time.Second {
			t.Errorf("%q repeated: %v", unit, took)
		}
	}
}

func FuzzRewrite(f *testing.F) {
	f.Add("# 1 \"a\"\nkernel void f(device float* x [[buffer(0)]], uint i [[thread_position_in_grid]]) { threadgroup float a[2]; x[i] = float2(1, 2).x; }")
	f.Add("template <class T> [[kernel]] void f(device T* x); template [[host_name(\"a\")]] [[kernel]] void f<int>(device int*);")
	f.Add("constant bool a [[function_constant(1)]]; struct S { S() thread = default; void f(device int*) {} void f(thread int*) {} };")
	f.Add("((((([[[[{{{{<<<<")
	f.Fuzz(func(t *testing.T, source string) {
		cxx, _, err := Rewrite(source)
		if err == nil && cxx == "" {
			t.Error("neither text nor error")
		}
	})
}
