package array

import "math"

// halfToFloat is the value of an IEEE 754 binary16.
func halfToFloat(h uint16) float64 {
	sign := 1.0
	if h&0x8000 != 0 {
		sign = -1
	}
	exponent, mantissa := int(h>>10&31), float64(h&1023)
	switch exponent {
	case 0:
		return sign * math.Ldexp(mantissa, -24)
	case 31:
		if mantissa != 0 {
			return math.NaN()
		}
		return math.Inf(int(sign))
	}
	return sign * math.Ldexp(mantissa+1024, exponent-25)
}

// floatToHalf rounds to the nearest binary16, ties to even.
func floatToHalf(v float64) uint16 {
	var sign uint16
	if math.Signbit(v) {
		sign = 0x8000
	}
	v = math.Abs(v)
	switch {
	case v != v:
		return sign | 0x7e00
	case v >= 65520: // halfway from the largest to what would follow
		return sign | 0x7c00
	case v < math.Ldexp(1, -14):
		return sign | uint16(math.RoundToEven(math.Ldexp(v, 24)))
	}
	_, e := math.Frexp(v) // v = f·2^e, f in [½, 1)
	m := uint16(math.RoundToEven(math.Ldexp(v, 11-e)))
	return sign | (uint16(e+13)<<10 + m) // the leading one of m adds one to the exponent
}

// floatToBfloat rounds to the nearest bfloat16, ties to even.
func floatToBfloat(v float64) uint16 {
	if v != v {
		return 0x7fc0
	}
	_, e := math.Frexp(v)
	e = max(e, -125) // below, the steps stay those of the smallest normal number
	kept := math.RoundToEven(math.Ldexp(v, 8-e))
	return uint16(math.Float32bits(float32(math.Ldexp(kept, e-8))) >> 16)
}
