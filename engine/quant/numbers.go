package quant

import (
	"encoding/binary"
	"fmt"
	"math"
)

// HalfToFloat widens an IEEE 754 binary16 number. Every value is exact; the
// payload of a NaN is kept.
func HalfToFloat(h uint16) float32 {
	sign := uint32(h&0x8000) << 16
	exp := uint32(h>>10) & 31
	man := uint32(h & 0x3ff)
	switch exp {
	case 0: // zero or subnormal: man · 2^-24
		return math.Float32frombits(sign | math.Float32bits(float32(int32(man))*0x1p-24))
	case 31: // infinity or NaN
		return math.Float32frombits(sign | 0x7f800000 | man<<13)
	}
	return math.Float32frombits(sign | (exp+127-15)<<23 | man<<13)
}

// FloatToHalf narrows to IEEE 754 binary16, rounding to nearest, ties to even.
// From 65520 on the result is infinite; a NaN stays a NaN, made quiet.
func FloatToHalf(f float32) uint16 {
	b := math.Float32bits(f)
	sign := uint16(b>>16) & 0x8000
	a := b & 0x7fffffff
	switch {
	case a > 0x7f800000: // NaN
		return sign | 0x7e00 | uint16(a>>13)&0x3ff
	case a >= 0x477ff000: // 65520, halfway between the largest half and 2^16
		return sign | 0x7c00
	case a < 0x38800000: // below 2^-14: subnormal in binary16
		// The numbers in [0.5, 1) are spaced by 2^-24, the unit of binary16's
		// subnormals, so that this addition rounds as wanted.
		return sign | uint16(math.Float32bits(math.Float32frombits(a)+0.5)-0x3f000000)
	}
	a += 0xfff + a>>13&1 // round half to even; a carry moves the exponent on
	return sign | uint16((a-0x38000000)>>13)
}

// halfAt reads the little-endian binary16 number at the start of b.
func halfAt(b []byte) float32 { return HalfToFloat(uint16(b[0]) | uint16(b[1])<<8) }

// putHalf writes f as a little-endian binary16 number at the start of b.
func putHalf(b []byte, f float32) {
	h := FloatToHalf(f)
	b[0], b[1] = byte(h), byte(h>>8)
}

func decodeF32(dst []float32, src []byte) {
	for i := range dst {
		dst[i] = math.Float32frombits(binary.LittleEndian.Uint32(src[4*i:]))
	}
}

func decodeF16(dst []float32, src []byte) {
	for i := range dst {
		dst[i] = halfAt(src[2*i:])
	}
}

// decodeBF16 reads bfloat16: the upper half of a float32.
func decodeBF16(dst []float32, src []byte) {
	for i := range dst {
		dst[i] = math.Float32frombits(uint32(binary.LittleEndian.Uint16(src[2*i:])) << 16)
	}
}

func encodeF32(dst []byte, src []float32) error {
	for i, v := range src {
		binary.LittleEndian.PutUint32(dst[4*i:], math.Float32bits(v))
	}
	return nil
}

func encodeF16(dst []byte, src []float32) error {
	for i, v := range src {
		h := FloatToHalf(v)
		if h&0x7fff == 0x7c00 && !math.IsInf(float64(v), 0) {
			return fmt.Errorf("element %d is %v: the largest finite F16 is 65504", i, v)
		}
		binary.LittleEndian.PutUint16(dst[2*i:], h)
	}
	return nil
}
