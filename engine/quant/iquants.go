package quant

import "encoding/binary"

// The IQ formats: elements are points of a grid (grids.go), or of a table of 16.

// tableIQ4 is what the nibbles of IQ4_NL and IQ4_XS stand for.
var tableIQ4 = [16]int8{-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113}

// decodeIQ4_NL reads blocks of {d f16; qs [16]u8}: y = d·table[q], nibbles as in Q4_0.
func decodeIQ4_NL(dst []float32, src []byte) {
	for ; len(dst) >= 32; dst, src = dst[32:], src[18:] {
		tabled(dst[:32], src[2:18], halfAt(src), &tableIQ4)
	}
}

// tabled writes 32 elements, d times what the nibbles stand for.
func tabled(dst []float32, qs []byte, d float32, table *[16]int8) {
	for i, b := range qs {
		dst[i] = d * float32(table[b&15])
		dst[i+16] = d * float32(table[b>>4])
	}
}

// decodeIQ4_XS reads blocks of {d f16; high u16; low [4]u8; qs [128]u8}: thirty-two
// elements share a 6-bit scale, four bits of it in low and two in high:
// y = d·(s-32)·table[q].
func decodeIQ4_XS(dst []float32, src []byte) {
	for ; len(dst) >= 256; dst, src = dst[256:], src[136:] {
		d, high := halfAt(src), binary.LittleEndian.Uint16(src[2:])
		for s := range 8 {
			sc := int(src[4+s/2]>>(s%2*4)&15) | int(high>>(2*s)&3)<<4
			tabled(dst[32*s:][:32], src[8+16*s:][:16], d*float32(sc-32), &tableIQ4)
		}
	}
}

// decodeIQ2_XXS reads blocks of {d f16; [8]{points [4]u8; u32}}: 32 elements are four
// points; the number holds seven signs for each and, on top, the scale:
// y = d·(s+1/2)/4·point.
func decodeIQ2_XXS(dst []float32, src []byte) {
	for ; len(dst) >= 256; dst, src = dst[256:], src[66:] {
		d := halfAt(src)
		for s := range 8 {
			in := src[2+8*s:][:8]
			bits := binary.LittleEndian.Uint32(in[4:])
			db := d * (0.5 + float32(bits>>28)) * 0.25
			for j := range 4 {
				signed(dst[32*s+8*j:], point(gridIQ2XXS, int(in[j]), 8), db, eighth(bits>>(7*j)))
			}
		}
	}
}

// decodeIQ2_XS reads blocks of {d f16; qs [32]u16; scales [8]u8}: nine bits of a
// number are a point, the others seven signs; sixteen elements share a 4-bit scale as
// in IQ2_XXS.
func decodeIQ2_XS(dst []float32, src []byte) {
	for ; len(dst) >= 256; dst, src = dst[256:], src[74:] {
		d, scales := halfAt(src), src[66:74]
		for j := range 32 {
			q := binary.LittleEndian.Uint16(src[2+2*j:])
			db := d * (0.5 + float32(scales[j/4]>>(j/2%2*4)&15)) * 0.25
			signed(dst[8*j:], point(gridIQ2XS, int(q&511), 8), db, eighth(uint32(q>>9)))
		}
	}
}

// decodeIQ2_S reads blocks of {d f16; qs [32]u8; signs [32]u8; qh [8]u8; scales [8]u8}:
// a point's number has two more bits in qh, and eight signs; scales as in IQ2_XS.
func decodeIQ2_S(dst []float32, src []byte) {
	for ; len(dst) >= 256; dst, src = dst[256:], src[82:] {
		d, qs, signs, qh, scales := halfAt(src), src[2:34], src[34:66], src[66:74], src[74:82]
		for j, q := range qs {
			n := int(q) | int(qh[j/4]>>(j%4*2)&3)<<8
			db := d * (0.5 + float32(scales[j/4]>>(j/2%2*4)&15)) * 0.25
			signed(dst[8*j:], point(gridIQ2S, n, 8), db, signs[j])
		}
	}
}

// decodeIQ3_XXS reads blocks of {d f16; qs [64]u8; [8]u32}: 32 elements are eight
// points of four; signs and scale as in IQ2_XXS: y = d·(s+1/2)/2·point.
func decodeIQ3_XXS(dst []float32, src []byte) {
	for ; len(dst) >= 256; dst, src = dst[256:], src[98:] {
		d, qs := halfAt(src), src[2:66]
		for s := range 8 {
			bits := binary.LittleEndian.Uint32(src[66+4*s:])
			db := d * (0.5 + float32(bits>>28)) * 0.5
			for j := range 8 {
				signs := eighth(bits>>(7*(j/2))) >> (j % 2 * 4)
				signed(dst[32*s+4*j:], point(gridIQ3XXS, int(qs[8*s+j]), 4), db, signs)
			}
		}
	}
}

// decodeIQ3_S reads blocks of {d f16; qs [64]u8; qh [8]u8; signs [32]u8; scales [4]u8}:
// a point's number has a ninth bit in qh, 32 elements share a 4-bit scale:
// y = d·(2s+1)·point.
func decodeIQ3_S(dst []float32, src []byte) {
	for ; len(dst) >= 256; dst, src = dst[256:], src[110:] {
		d, qs, qh, signs, scales := halfAt(src), src[2:66], src[66:74], src[74:106], src[106:110]
		for j, q := range qs {
			n := int(q) | int(qh[j/8]>>(j%8)&1)<<8
			db := d * float32(1+2*int(scales[j/16]>>(j/8%2*4)&15))
			signed(dst[4*j:], point(gridIQ3S, n, 4), db, signs[j/2]>>(j%2*4))
		}
	}
}

// decodeIQ1_S reads blocks of {d f16; qs [32]u8; qh [8]u16}: 32 elements are four
// points, whose numbers have three more bits in qh; qh also holds their scale and,
// in its highest bit, the sign of what is added: y = d·(2s+1)·(point ± 1/8).
func decodeIQ1_S(dst []float32, src []byte) {
	for ; len(dst) >= 256; dst, src = dst[256:], src[50:] {
		d, qs := halfAt(src), src[2:34]
		for j, q := range qs {
			h := binary.LittleEndian.Uint16(src[34+j/4*2:])
			n := int(q) | int(h>>(j%4*3)&7)<<8
			shifted(dst[8*j:], n, d*float32(2*int(h>>12&7)+1), h&0x8000 != 0)
		}
	}
}

// decodeIQ1_M reads blocks of {qs [32]u8; qh [16]u8; scales [4]u16}: a nibble of qh has
// three more bits of a point's number and the sign of what is added; sixteen elements
// share a scale of three bits, and the highest nibbles of scales are d.
func decodeIQ1_M(dst []float32, src []byte) {
	for ; len(dst) >= 256; dst, src = dst[256:], src[56:] {
		qs, qh, d := src[:32], src[32:48], HalfToFloat(halfOfIQ1M(src))
		for j, q := range qs {
			h := qh[j/2] >> (j % 2 * 4)
			sc := binary.LittleEndian.Uint16(src[48+j/8*2:]) >> (j / 2 % 4 * 3) & 7
			shifted(dst[8*j:], int(q)|int(h&7)<<8, d*float32(2*int(sc)+1), h&8 != 0)
		}
	}
}

// halfOfIQ1M puts together the scale of a block of IQ1_M.
func halfOfIQ1M(block []byte) (h uint16) {
	for i := range 4 {
		h |= binary.LittleEndian.Uint16(block[48+2*i:]) >> 12 << (4 * i)
	}
	return h
}

// shifted writes d times what a point of IQ1's grid is, an eighth more or less.
func shifted(dst []float32, n int, d float32, less bool) {
	delta := float32(0.125)
	if less {
		delta = -delta
	}
	p := point(gridIQ1S, n, 8)
	for i := range p {
		dst[i] = d * (float32(int8(p[i])) + delta)
	}
}
