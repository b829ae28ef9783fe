package quant

import (
	"encoding/binary"
	"math"
	"testing"
)

// FuzzDequantize: any type and any bytes end in an error or in as many numbers
// as were asked for; a block whose scales CheckScales accepts decodes to finite
// numbers; and those numbers, encoded, come back as exact as the type allows.
func FuzzDequantize(f *testing.F) {
	for _, v := range vectors(f, ".decode", decodable...) {
		elems, size := v.typ.Block()
		f.Add(uint32(v.typ), uint16(2*elems), v.raw[:2*size])
		f.Add(uint32(v.typ), uint16(elems+1), v.raw[:size])
	}
	f.Add(uint32(20), uint16(32), make([]byte, 18))
	f.Add(uint32(math.MaxUint32), uint16(0), []byte{})
	f.Fuzz(func(t *testing.T, id uint32, n uint16, src []byte) {
		typ, dst := Type(id), make([]float32, n)
		err := Dequantize(dst, typ, src)
		want, sizeErr := typ.RowBytes(int(n))
		if ok := sizeErr == nil && want == len(src) && typ.CanDecode(); ok != (err == nil) {
			t.Fatalf("%v, %d elements, %d bytes: error %v", typ, n, len(src), err)
		}
		if err != nil {
			return
		}
		finite := true
		for _, v := range dst {
			finite = finite && !math.IsNaN(float64(v)) && !math.IsInf(float64(v), 0)
		}
		if checked := CheckScales(typ, src) == nil; checked && !finite {
			t.Fatalf("%v: CheckScales accepts what decodes to %v", typ, dst)
		}
		if !finite {
			return
		}
		for _, to := range []Type{F32, F16, Q8_0, Q4_0} {
			comesBack(t, to, dst)
		}
	})
}

// comesBack encodes src and decodes it again.
func comesBack(t *testing.T, typ Type, src []float32) {
	size, err := typ.RowBytes(len(src))
	if err != nil {
		return
	}
	raw, got := make([]byte, size), make([]float32, len(src))
	if err := Quantize(raw, typ, src); err != nil {
		return // a scale or number too large for binary16
	}
	if err := Dequantize(got, typ, raw); err != nil {
		t.Fatal(err)
	}
	for i := range src {
		if x, y := float64(src[i]), float64(got[i]); math.Abs(x-y) > limit(typ, x, i, raw) {
			t.Fatalf("%v: element %d was %v and came back as %v", typ, i, x, y)
		}
	}
}

// limit is how far element i, which was x, may be off: half a step of its
// block, and what rounding the scale to binary16 adds.
func limit(typ Type, x float64, i int, raw []byte) float64 {
	if typ == F32 {
		return 0
	}
	if typ == F16 {
		return math.Max(math.Abs(x)*0x1p-11, 0x1p-25)
	}
	per, size := typ.Block()
	d := math.Abs(halfValue(binary.LittleEndian.Uint16(raw[i/per*size:])))
	// The true scale differs from d by at most half a unit; times the largest
	// integer, 127 or 8. Q4_0 cuts 8 to 7, a whole step.
	unit := math.Max(d*0x1p-11, 0x1p-25)
	if typ == Q4_0 {
		return (d + unit + 8*unit) * (1 + 1e-5)
	}
	return ((d+unit)/2 + 127*unit) * (1 + 1e-5)
}
