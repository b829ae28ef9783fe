package kernel

import (
	"testing"

	"github.com/introgen/introgen/kernel/array"
	"github.com/introgen/introgen/metalshim"
)

// TestElementOf: sizes and alignments are those of the specification's tables 2.2 to 2.5.
func TestElementOf(t *testing.T) {
	for typ, want := range map[string]element{
		"device const float *": {array.F32, 4}, "constant uint &": {array.U32, 4}, "const device half4 *": {array.F16, 8},
		"device float3*": {array.F32, 16}, "device packed_float3 *": {array.F32, 12}, "device metal::bfloat *": {array.BF16, 2},
		"device atomic_uint *": {array.U32, 4}, "constant int64_t& ": {array.I64, 8}, "device uchar2 *": {array.U8, 2},
		"device T *": {}, "constant Params &": {}, "device float **": {}, "float": {}, "device uint8_t *": {array.U8, 1}, "device vec<float, 4> *": {},
		"device float5 *": {}, "device int32_t4 *": {}, "": {},
	} {
		if got, known := elementOf(typ); got != want || known != (want != element{}) {
			t.Errorf("%q: %v, %t; want %v", typ, got, known, want)
		}
	}
}

func TestDeclared(t *testing.T) {
	for text, want := range map[string][2]string{
		"device const float *x": {"device const float *", "x"}, "constant uint& n": {"constant uint&", "n"},
		"constant float (&a)[4]": {"constant float (&a)[4]", ""}, "uint3 gid": {"uint3", "gid"}, "device half *a [2]": {"device half *[2]", "a"}, "uint": {"uint", ""},
	} {
		if typ, name := declared(text); typ != want[0] || name != want[1] {
			t.Errorf("%q: %q and %q, want %q", text, typ, name, want)
		}
	}
}

func TestParseSize(t *testing.T) {
	for text, want := range map[string]metalshim.Size{"64": {X: 64, Y: 1, Z: 1}, "64x4": {X: 64, Y: 4, Z: 1}, "1x2x3": {X: 1, Y: 2, Z: 3}, "4294967295": {X: 1<<32 - 1, Y: 1, Z: 1}} {
		if got, err := ParseSize(text); err != nil || got != want {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "0", "-1", "1x", "x1", "1x2x3x4", "4294967296", "65536x65536", "99999999999999999999", "1.5", "9223372036854775807x9"} {
		if got, err := ParseSize(text); err == nil {
			t.Errorf("%s: %v", text, got)
		}
	}
}

// TestConstant: each type takes what it holds, and nothing else.
func TestConstant(t *testing.T) {
	for _, c := range []struct {
		typ, text string
		want      metalshim.Constant
		refused   bool
	}{
		{"bool", "true", metalshim.BoolConstant(3, true), false}, {"int", "-5", metalshim.IntConstant(3, -5), false},
		{"uint32_t", "4294967295", metalshim.UIntConstant(3, 1<<32-1), false}, {"float", "1.5", metalshim.FloatConstant(3, 1.5), false},
		{"short", "-1", metalshim.Constant{Index: 3, Type: metalshim.Short, Bits: 0xffff}, false},
		{"bool", "2", metalshim.Constant{}, true}, {"int", "2147483648", metalshim.Constant{}, true}, {"uchar", "256", metalshim.Constant{}, true},
		{"uint", "-1", metalshim.Constant{}, true}, {"float", "1e99", metalshim.Constant{}, true}, {"int", "1.5", metalshim.Constant{}, true}, {"float4", "1", metalshim.Constant{}, true},
	} {
		got, err := constant(Constant{3, "c", c.typ}, c.text)
		if (err != nil) != c.refused || err == nil && got != c.want {
			t.Errorf("%s %s: %v, %v; want %v", c.typ, c.text, got, err, c.want)
		}
	}
}
