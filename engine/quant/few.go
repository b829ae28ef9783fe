package quant

import "math"

// The formats of ternary elements and of four-bit floats.

// decodeTQ1_0 reads blocks of {qs [48]u8; qh [4]u8; d f16}: a byte holds five elements
// (of qh: four) as a fraction in base 3, the first digit first: y = d·(digit-1). The
// first digits of 32 bytes come first, then their second ones; then those of the other
// 16, and of qh.
func decodeTQ1_0(dst []float32, src []byte) {
	for ; len(dst) >= 256; dst, src = dst[256:], src[54:] {
		d, y := halfAt(src[52:]), dst[:0]
		for _, part := range []struct {
			bytes  []byte
			digits int
		}{{src[:32], 5}, {src[32:48], 5}, {src[48:52], 4}} {
			shift := byte(1)
			for range part.digits {
				for _, b := range part.bytes {
					digit := int(b*shift) * 3 >> 8
					y = append(y, d*float32(digit-1))
				}
				shift *= 3
			}
		}
	}
}

// decodeTQ2_0 reads blocks of {qs [64]u8; d f16}: y = d·(q-1), two bits an element. A
// byte holds one element from each of four runs of 32.
func decodeTQ2_0(dst []float32, src []byte) {
	for ; len(dst) >= 256; dst, src = dst[256:], src[66:] {
		d := halfAt(src[64:])
		for i := range 256 {
			q := src[i/128*32+i%32] >> (i % 128 / 32 * 2) & 3
			dst[i] = d * float32(int(q)-1)
		}
	}
}

// tableMXFP4 is twice what the four-bit floats (E2M1) of the Open Compute Project's
// microscaling formats stand for.
var tableMXFP4 = [16]int8{0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12}

// decodeMXFP4 reads blocks of {e u8; qs [16]u8}: y = 2^(e-127)·float, nibbles as in Q4_0.
func decodeMXFP4(dst []float32, src []byte) {
	for ; len(dst) >= 32; dst, src = dst[32:], src[17:] {
		tabled(dst[:32], src[1:17], halfPower(src[0]), &tableMXFP4)
	}
}

// halfPower is 2^(e-128), half of what the exponent of a block of MXFP4 means.
func halfPower(e byte) float32 {
	if e < 2 { // subnormal
		return math.Float32frombits(0x00200000 << e)
	}
	return math.Float32frombits(uint32(e-1) << 23)
}
