package quant

import (
	"encoding/binary"
	"fmt"
	"math"
)

// Quantize encodes src as type t into dst: Q8_0 and Q4_0 as ggml's reference
// does (quantize_row_q8_0_ref, quantize_row_q4_0_ref), F16 rounded to nearest
// even, F32 as it is. src must fill whole blocks and dst have exactly their
// size. A value that the type cannot hold (not a number, infinite, or so large
// that the scale overflows) is an error that names it; dst is then undefined.
func Quantize(dst []byte, t Type, src []float32) error {
	f, err := sized(t, len(src), len(dst))
	if err != nil {
		return fmt.Errorf("quantize: %w", err)
	}
	if f.encode == nil {
		return fmt.Errorf("quantize: %s has no encoder; types that can be written are Q8_0, Q4_0, F16 and F32", f.name)
	}
	if err := f.encode(dst, src); err != nil {
		return fmt.Errorf("quantize: %w", err)
	}
	return nil
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

// largest returns the element of the greatest magnitude, the first of equals.
// first is the index of block[0] in the row, for the error.
func largest(block []float32, first int) (float32, error) {
	signed, most := block[0], float32(0)
	for i, v := range block {
		a := float32(math.Abs(float64(v)))
		if !(a <= math.MaxFloat32) {
			return 0, fmt.Errorf("element %d is %v: a block format holds finite numbers only", first+i, v)
		}
		if a > most {
			most, signed = a, v
		}
	}
	return signed, nil
}

// scale returns what a block's elements are multiplied by before they are
// rounded: 1/d, or 0 where d is 0 or so small that its inverse is infinite and
// the stored scale is 0 anyway.
func scale(d float32, first int) (float32, error) {
	if FloatToHalf(d)&0x7fff == 0x7c00 {
		return 0, fmt.Errorf("the block at element %d needs the scale %v: the largest F16 is 65504", first, d)
	}
	if d == 0 {
		return 0, nil
	}
	if id := 1 / d; !math.IsInf(float64(id), 0) {
		return id, nil
	}
	return 0, nil
}

// encodeQ8_0: d = max|x|/127, q = x/d rounded half away from zero.
func encodeQ8_0(dst []byte, src []float32) error {
	for b := 0; b*32 < len(src); b++ {
		x, out := src[32*b:][:32], dst[34*b:][:34]
		m, err := largest(x, 32*b)
		if err != nil {
			return err
		}
		d := float32(math.Abs(float64(m))) / 127
		id, err := scale(d, 32*b)
		if err != nil {
			return err
		}
		putHalf(out, d)
		for i, v := range x {
			// The sum is exact in float64, so that truncating it rounds the
			// product half away from zero as roundf does.
			p := float64(v * id)
			out[2+i] = byte(int8(p + math.Copysign(0.5, p)))
		}
	}
	return nil
}

// encodeQ4_0: d = x/-8 for the x of the greatest magnitude, so that it becomes
// 0; q = x/d + 8, rounded half up, at most 15.
func encodeQ4_0(dst []byte, src []float32) error {
	for b := 0; b*32 < len(src); b++ {
		x, out := src[32*b:][:32], dst[18*b:][:18]
		m, err := largest(x, 32*b)
		if err != nil {
			return err
		}
		d := m / -8
		id, err := scale(d, 32*b)
		if err != nil {
			return err
		}
		putHalf(out, d)
		for i := range 16 {
			low := min(15, int(float32(x[i]*id)+8.5))
			high := min(15, int(float32(x[i+16]*id)+8.5))
			out[2+i] = byte(low | high<<4)
		}
	}
	return nil
}
