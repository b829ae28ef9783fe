package quant

import (
	"math"
	"strings"
	"testing"
)

// TestSizes holds the block sizes against the constants of ggml (QK and the
// sizes of the block structs in ggml-common.h), written out here.
func TestSizes(t *testing.T) {
	for _, c := range []struct {
		name         string
		typ          Type
		elems, bytes int
		decode       bool
	}{
		{"F32", F32, 1, 4, true}, {"F16", F16, 1, 2, true}, {"BF16", BF16, 1, 2, true},
		{"Q4_0", Q4_0, 32, 2 + 16, true}, {"Q4_1", Q4_1, 32, 2 + 2 + 16, true},
		{"Q5_0", Q5_0, 32, 2 + 4 + 16, true}, {"Q5_1", Q5_1, 32, 2 + 2 + 4 + 16, true},
		{"Q8_0", Q8_0, 32, 2 + 32, true},
		{"Q2_K", Q2_K, 256, 16 + 64 + 2 + 2, true}, {"Q3_K", Q3_K, 256, 32 + 64 + 12 + 2, true},
		{"Q4_K", Q4_K, 256, 2 + 2 + 12 + 128, true}, {"Q5_K", Q5_K, 256, 2 + 2 + 12 + 32 + 128, true},
		{"Q6_K", Q6_K, 256, 128 + 64 + 16 + 2, true},
		{"Q8_1", 9, 32, 4 + 4 + 32, false}, {"Q8_K", 15, 256, 4 + 256 + 32, false},
		{"I8", 24, 1, 1, false}, {"F64", 28, 1, 8, false}, {"NVFP4", 40, 64, 4 + 32, false},
		{"IQ4_NL", IQ4_NL, 32, 2 + 16, true}, {"IQ4_XS", IQ4_XS, 256, 2 + 2 + 128 + 4, true},
		{"IQ3_XXS", IQ3_XXS, 256, 2 + 3*32, true}, {"IQ3_S", IQ3_S, 256, 2 + 64 + 8 + 32 + 4, true},
		{"IQ2_XXS", IQ2_XXS, 256, 2 + 64, true}, {"IQ2_XS", IQ2_XS, 256, 2 + 64 + 8, true}, {"IQ2_S", IQ2_S, 256, 2 + 64 + 16, true},
		{"IQ1_S", IQ1_S, 256, 2 + 32 + 16, true}, {"IQ1_M", IQ1_M, 256, 32 + 16 + 8, true},
		{"TQ1_0", TQ1_0, 256, 2 + 4 + 48, true}, {"TQ2_0", TQ2_0, 256, 64 + 2, true}, {"MXFP4", MXFP4, 32, 1 + 16, true},
	} {
		elems, bytes := c.typ.Block()
		if elems != c.elems || bytes != c.bytes || c.typ.String() != c.name || !c.typ.Known() || c.typ.CanDecode() != c.decode {
			t.Errorf("%v: blocks of %d elements in %d bytes, decoded %v; want %s, %d in %d, %v",
				c.typ, elems, bytes, c.typ.CanDecode(), c.name, c.elems, c.bytes, c.decode)
		}
		for _, name := range []string{c.name, strings.ToLower(c.name)} {
			if got, err := ParseType(name); err != nil || got != c.typ {
				t.Errorf("ParseType(%q) = %v, %v", name, got, err)
			}
		}
	}
	for _, withdrawn := range []Type{4, 5, 31, 32, 33, 36, 37, 38, 42, math.MaxUint32} {
		elems, bytes := withdrawn.Block()
		if withdrawn.Known() || withdrawn.CanDecode() || withdrawn.CanEncode() || elems != 0 || bytes != 0 {
			t.Errorf("%v counts as known", withdrawn)
		}
	}
}

func TestRowBytes(t *testing.T) {
	for _, c := range []struct {
		typ  Type
		n    int
		want int
		err  string
	}{
		{Q8_0, 576, 612, ""}, {Q4_1, 1536, 960, ""}, {Q6_K, 512, 420, ""}, {F32, 3, 12, ""},
		{Q8_0, 33, 0, "whole blocks of 32"}, {Q4_K, 576, 0, "whole blocks of 256"},
		{Q8_0, 0, 0, "at least one"}, {Q8_0, -32, 0, "at least one"},
		{F32, math.MaxInt, 0, "overflows"}, {Q8_0, math.MaxInt &^ 31, 0, "overflows"},
		{4, 32, 0, "not a known format"},
	} {
		got, err := c.typ.RowBytes(c.n)
		if got != c.want || !says(err, c.err) {
			t.Errorf("%v.RowBytes(%d) = %d, %v; want %d and %q", c.typ, c.n, got, err, c.want, c.err)
		}
	}
}

// says reports whether err contains want, or is nil when want is empty.
func says(err error, want string) bool {
	if want == "" {
		return err == nil
	}
	return err != nil && strings.Contains(err.Error(), want)
}

func TestRefuses(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(-1))
	block := func(at int, v float32) []float32 {
		b := make([]float32, 64)
		b[at] = v
		return b
	}
	for _, c := range []struct {
		what string
		err  error
		want string
	}{
		{"short source", Dequantize(make([]float32, 32), Q8_0, make([]byte, 33)), "take 34 bytes, not 33"},
		{"long source", Dequantize(make([]float32, 32), Q8_0, make([]byte, 35)), "take 34 bytes, not 35"},
		{"half a block", Dequantize(make([]float32, 16), Q8_0, make([]byte, 17)), "whole blocks of 32"},
		{"nothing", Dequantize(nil, Q8_0, nil), "at least one"},
		{"unknown type", Dequantize(make([]float32, 1), 77, make([]byte, 4)), "type 77"},
		{"type without decoder", Dequantize(make([]float32, 64), 40, make([]byte, 36)), "NVFP4 has no decoder; types that can be read are F32, F16, Q4_0"},
		{"type without encoder", Quantize(make([]byte, 20), Q4_1, make([]float32, 32)), "Q4_1 has no encoder"},
		{"short target", Quantize(make([]byte, 17), Q4_0, make([]float32, 32)), "take 18 bytes, not 17"},
		{"NaN to Q8_0", Quantize(make([]byte, 68), Q8_0, block(40, nan)), "element 40 is NaN"},
		{"Inf to Q8_0", Quantize(make([]byte, 68), Q8_0, block(7, inf)), "element 7 is -Inf"},
		{"NaN to Q4_0", Quantize(make([]byte, 36), Q4_0, block(63, nan)), "element 63 is NaN"},
		{"scale of Q8_0", Quantize(make([]byte, 68), Q8_0, block(32, 9e6)), "the block at element 32 needs the scale"},
		{"scale of Q4_0", Quantize(make([]byte, 36), Q4_0, block(1, -1e6)), "the block at element 0 needs the scale"},
		{"large F16", Quantize(make([]byte, 128), F16, block(3, 65520)), "element 3 is 65520"},
		{"name", func() error { _, err := ParseType("q9_9"); return err }(), `"q9_9" is not known`},
	} {
		if !says(c.err, c.want) {
			t.Errorf("%s: error %v; want one that says %q", c.what, c.err, c.want)
		}
	}
	if err := Quantize(make([]byte, 4), F16, []float32{65504, inf}); err != nil {
		t.Errorf("F16 holds 65504 and infinity, but: %v", err)
	}
}

// TestTinyBlock: where 1/d overflows the stored scale is 0, and so is the block.
func TestTinyBlock(t *testing.T) {
	src := make([]float32, 32)
	src[3] = 1e-40
	for _, typ := range []Type{Q8_0, Q4_0} {
		_, size := typ.Block()
		raw := make([]byte, size)
		if err := Quantize(raw, typ, src); err != nil {
			t.Fatal(err)
		}
		got := make([]float32, 32)
		if err := Dequantize(got, typ, raw); err != nil {
			t.Fatal(err)
		}
		for i, v := range got {
			if v != 0 {
				t.Errorf("%v: element %d is %v, want 0", typ, i, v)
			}
		}
	}
}

func TestCheckScales(t *testing.T) {
	for _, v := range vectors(t, ".decode", decodable...) {
		elems, size := v.typ.Block()
		// The vectors of plain numbers end with or contain infinities; take
		// what is finite from them.
		raw := v.raw
		if elems == 1 {
			raw = raw[:6*size]
		}
		if v.typ == MXFP4 { // elements of exponents that are drawn overflow
			raw = raw[:size]
		}
		if err := CheckScales(v.typ, raw); err != nil {
			t.Errorf("%v: finite scales are refused: %v", v.typ, err)
		}
		if err := CheckScales(v.typ, raw[:len(raw)-1]); !says(err, "whole blocks") && size > 1 {
			t.Errorf("%v: half a block gives %v", v.typ, err)
		}
		for _, at := range scaleBytes(v.typ) {
			for _, bad := range [][]byte{{0, 0x7c}, {0, 0xfc}, {1, 0x7e}} { // inf, -inf, NaN as binary16
				if v.typ == F32 || v.typ == BF16 { // the upper half of a float32
					bad = []byte{0x80, bad[1] | 0x7f}
				}
				damaged := append([]byte(nil), raw...)
				copy(damaged[3*size+at:], bad)
				copy(damaged[4*size+at:], bad)
				if err := CheckScales(v.typ, damaged); !says(err, "block 3 ") {
					t.Errorf("%v with a bad number in block 3 at byte %d: %v", v.typ, at, err)
				}
			}
		}
	}
	if err := CheckScales(40, make([]byte, 36)); !says(err, "no decoder") {
		t.Errorf("NVFP4: %v", err)
	}
}

// TestCheckSpreadScales: of IQ1_M, whose scale is the upper nibbles of four words, and
// of MXFP4, whose scale is an exponent.
func TestCheckSpreadScales(t *testing.T) {
	block := make([]byte, 2*56)
	for i, b := range []byte{0x10, 0x20, 0x30, 0x70} { // 0x7321, a NaN's exponent needs 0x7c
		block[56+49+2*i] = b
	}
	if err := CheckScales(IQ1_M, block); err != nil {
		t.Errorf("IQ1_M of scale 0x7321: %v", err)
	}
	block[56+49+4] = 0xc0 // 0x7c21
	if err := CheckScales(IQ1_M, block); !says(err, "block 1 (byte 56 of the tensor)") {
		t.Errorf("IQ1_M of scale 0x7c21: %v", err)
	}
	small := make([]byte, 3*17)
	small[17], small[17+5] = 253, 0x04 // 2^125 times 4
	if err := CheckScales(MXFP4, small); err != nil {
		t.Errorf("MXFP4 of 2^127: %v", err)
	}
	small[17+5] = 0x70 // 12 times 2^125
	if err := CheckScales(MXFP4, small); !says(err, "an element of MXFP4 block 1 (byte 17") {
		t.Errorf("MXFP4 of 12 times 2^125: %v", err)
	}
}

// scaleBytes is where ggml-common.h puts the binary16 members of a block, and
// for plain numbers the two bytes with the exponent.
func scaleBytes(t Type) []int {
	switch t {
	case F32:
		return []int{2}
	case Q4_1, Q5_1, Q4_K, Q5_K:
		return []int{0, 2}
	case Q2_K:
		return []int{80, 82}
	case Q3_K:
		return []int{108}
	case Q6_K:
		return []int{208}
	case TQ1_0:
		return []int{52}
	case TQ2_0:
		return []int{64}
	case IQ1_M, MXFP4: // TestCheckSpreadScales
		return nil
	}
	return []int{0}
}
