package quant

// The formats of 256 elements a block, "super-blocks" of 16 or 32 elements
// that have small integer scales of their own.

// decodeQ2_K reads blocks of {scales [16]u8; qs [64]u8; d, dmin f16}. Sixteen
// elements share a scale byte: y = d·(s&15)·q - dmin·(s>>4). A byte of qs holds
// one element from each of four runs of 32.
func decodeQ2_K(dst []float32, src []byte) {
	for ; len(dst) >= 256; dst, src = dst[256:], src[84:] {
		scales, qs := src[:16], src[16:80]
		d, dmin := halfAt(src[80:]), halfAt(src[82:])
		for s, sc := range scales {
			dl, ml := d*float32(int(sc&15)), dmin*float32(int(sc>>4))
			// Scale s covers elements 16s to 16s+15.
			q, shift := qs[s/8*32+s%2*16:][:16], s%8/2*2
			y := dst[16*s:][:16]
			for i, b := range q {
				y[i] = float32(dl*float32(int(b>>shift&3))) - ml
			}
		}
	}
}

// decodeQ3_K reads blocks of {hmask [32]u8; qs [64]u8; scales [12]u8; d f16}.
// Sixteen elements share a 6-bit scale: y = d·(s-32)·q, where q is two bits of
// qs, less 4 when the element's bit in hmask is clear.
func decodeQ3_K(dst []float32, src []byte) {
	for ; len(dst) >= 256; dst, src = dst[256:], src[110:] {
		hmask, qs, packed := src[:32], src[32:96], src[96:108]
		d := halfAt(src[108:])
		for s := range 16 {
			// The low four bits of scales 0-7 and 8-15 are the nibbles of
			// packed[0:8]; the high two bits lie in packed[8:12].
			low := packed[s%8] >> (s / 8 * 4) & 15
			high := packed[8+s%4] >> (s / 4 * 2) & 3
			dl := d * float32(int(low|high<<4)-32)
			q, shift := qs[s/8*32+s%2*16:][:16], s%8/2*2
			h, bit := hmask[s%2*16:][:16], s/2
			y := dst[16*s:][:16]
			for i, b := range q {
				y[i] = dl * float32(int(b>>shift&3)+int(h[i]>>bit&1)<<2-4)
			}
		}
	}
}

// scaleMin unpacks the i-th of eight pairs of 6-bit scale and minimum from the
// 12 bytes that Q4_K and Q5_K pack them into: the first four pairs lie in the
// low six bits of bytes 0-3 and 4-7, the low nibbles of the last four in bytes
// 8-11 and their upper two bits in the upper bits of bytes 0-7.
func scaleMin(packed []byte, i int) (scale, minimum float32) {
	if i < 4 {
		return float32(int(packed[i] & 63)), float32(int(packed[i+4] & 63))
	}
	s := packed[i+4]&15 | packed[i-4]>>6<<4
	m := packed[i+4]>>4 | packed[i]>>6<<4
	return float32(int(s)), float32(int(m))
}

// decodeQ4_K reads blocks of {d, dmin f16; scales [12]u8; qs [128]u8}. Thirty-two
// elements share a scale and a minimum: y = d·s·q - dmin·m. A run of 32 bytes
// of qs holds 32 elements in the low nibbles and the next 32 in the high ones.
func decodeQ4_K(dst []float32, src []byte) {
	for ; len(dst) >= 256; dst, src = dst[256:], src[144:] {
		d, dmin := halfAt(src), halfAt(src[2:])
		packed, qs := src[4:16], src[16:144]
		for s := range 8 {
			sc, m := scaleMin(packed, s)
			dl, ml := d*sc, dmin*m
			q, shift := qs[s/2*32:][:32], s%2*4
			y := dst[32*s:][:32]
			for i, b := range q {
				y[i] = float32(dl*float32(int(b>>shift&15))) - ml
			}
		}
	}
}

// decodeQ5_K reads blocks of {d, dmin f16; scales [12]u8; qh [32]u8; qs [128]u8}:
// Q4_K with a fifth bit, which is bit s of qh for the s-th run of 32.
func decodeQ5_K(dst []float32, src []byte) {
	for ; len(dst) >= 256; dst, src = dst[256:], src[176:] {
		d, dmin := halfAt(src), halfAt(src[2:])
		packed, qh, qs := src[4:16], src[16:48], src[48:176]
		for s := range 8 {
			sc, m := scaleMin(packed, s)
			dl, ml := d*sc, dmin*m
			q, shift := qs[s/2*32:][:32], s%2*4
			y := dst[32*s:][:32]
			for i, b := range q {
				y[i] = float32(dl*float32(int(b>>shift&15)+int(qh[i]>>s&1)<<4)) - ml
			}
		}
	}
}

// decodeQ6_K reads blocks of {ql [128]u8; qh [64]u8; scales [16]i8; d f16}.
// Sixteen elements share a scale: y = d·s·(q-32). In each half of 128 elements
// the runs of 32 take their low four bits from the low nibbles of ql[0:32] and
// ql[32:64], then from the high ones, and their upper two bits from qh.
func decodeQ6_K(dst []float32, src []byte) {
	for ; len(dst) >= 256; dst, src = dst[256:], src[210:] {
		ql, qh, scales := src[:128], src[128:192], src[192:208]
		d := halfAt(src[208:])
		for s, sc := range scales {
			dl := d * float32(int8(sc))
			half, run, part := s/8, s%8/2, s%2
			l := ql[half*64+run%2*32+part*16:][:16]
			h := qh[half*32+part*16:][:16]
			y := dst[16*s:][:16]
			for i, b := range l {
				q := int(b>>(run/2*4)&15) | int(h[i]>>(run*2)&3)<<4
				y[i] = dl * float32(q-32)
			}
		}
	}
}
