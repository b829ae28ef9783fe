package quant

import (
	"fmt"
	"math"
)

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
