package metalshim

import (
	"reflect"
	"strings"
	"testing"
)

func TestSizeCount(t *testing.T) {
	for _, c := range []struct {
		s    Size
		want int
	}{
		{Size{1, 1, 1}, 1},
		{Size{32, 2, 2}, 128},
		{Size{0, 1, 1}, -1},
		{Size{1, -1, 1}, -1},
		{Size{1 << 16, 1 << 16, 1}, -1},
		{Size{1<<32 - 1, 1, 1}, 1<<32 - 1},
		{Size{1 << 62, 1 << 62, 1 << 62}, -1},
	} {
		if got := c.s.Count(); got != c.want {
			t.Errorf("%v.Count() = %d, want %d", c.s, got, c.want)
		}
	}
}

func TestInfoString(t *testing.T) {
	for _, c := range []struct {
		info Info
		want string
	}{
		{Info{Driver: "soft", Name: "soft", Detail: "clang 19.1.7, EPYC, 2 cores"}, "metal (soft: clang 19.1.7, EPYC, 2 cores)"},
		{Info{Driver: "apple", Name: "Apple M2"}, "metal (apple: Apple M2)"},
		{Info{Driver: "soft", Name: "soft"}, "metal (soft)"},
	} {
		if got := c.info.String(); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

// The numbers are MTLDataType's in Apple's MTLArgument.h.
func TestConstants(t *testing.T) {
	for _, c := range []struct {
		c     Constant
		typ   int
		bytes string
		text  string
	}{
		{BoolConstant(10, true), 53, "\x01", "10:bool=1"},
		{BoolConstant(200, false), 53, "\x00", "200:bool=0"},
		{IntConstant(3, -2), 29, "\xfe\xff\xff\xff", "3:int=-2"},
		{UIntConstant(4, 7), 33, "\x07\x00\x00\x00", "4:uint=7"},
		{FloatConstant(5, 1), 3, "\x00\x00\x80\x3f", "5:float=1"},
		{Constant{6, Short, 0xffff}, 37, "\xff\xff", "6:short=-1"},
		{Constant{7, UChar, 200}, 49, "\xc8", "7:uchar=200"},
	} {
		if int(c.c.Type) != c.typ || string(c.c.Bytes()) != c.bytes || c.c.String() != c.text {
			t.Errorf("%v: type %d, bytes %q", c.c, int(c.c.Type), c.c.Bytes())
		}
	}
}

func TestErrorTexts(t *testing.T) {
	for _, c := range []struct {
		err  error
		want []string
	}{
		{&CompileError{Library: "Gemm", Diagnostics: []Diagnostic{{"gemm.metal", 3, 7, "error", "no type named 'flot'"}}},
			[]string{"metal library Gemm does not compile", "gemm.metal:3:7: error: no type named 'flot'"}},
		{&FunctionError{Library: "Gemm", Function: "x", Names: []string{"a", "b"}}, []string{`has no function "x"; it has a, b`}},
		{&AllocationError{Length: 0}, []string{"at least 1"}},
		{&AllocationError{Length: 10, Limit: 9}, []string{"10 bytes", "allows 9"}},
		{&AllocationError{Length: 10, Limit: 20}, []string{"memory limit of 20"}},
		{&EncodeError{"k", "buffer 3 is not set"}, []string{"metal dispatch of k: buffer 3 is not set"}},
		{&CommandError{Kernel: "k", Err: ErrTimeout}, []string{"in kernel k", "time limit"}},
	} {
		for _, w := range c.want {
			if !strings.Contains(c.err.Error(), w) {
				t.Errorf("%q lacks %q", c.err, w)
			}
		}
	}
}

func TestDiagnostics(t *testing.T) {
	text := `gemm.metal:12:7: error: use of undeclared identifier 'x'
   12 |   y = x;
      |       ^
<metal_math>:3:1: note: candidate function
a:b.metal:4:5: fatal error: too many errors
C.metal:1:1: warning: unused
3 errors generated.
`
	want := []Diagnostic{
		{"gemm.metal", 12, 7, "error", "use of undeclared identifier 'x'"},
		{"<metal_math>", 3, 1, "note", "candidate function"},
		{"a:b.metal", 4, 5, "error", "too many errors"},
		{"C.metal", 1, 1, "warning", "unused"},
	}
	if got := Diagnostics(text); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
}
