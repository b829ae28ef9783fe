package quant

import "encoding/binary"

// The formats of 32 elements a block. Products are rounded by an explicit
// conversion before something is added, so that no compiler fuses them and
// every platform gives the same bits.

// decodeQ4_0 reads blocks of {d f16; qs [16]u8}: y = d·(q-8). The low nibbles
// of qs are the first 16 elements, the high ones the last 16; so in all
// formats of this file.
func decodeQ4_0(dst []float32, src []byte) {
	for ; len(dst) >= 32; dst, src = dst[32:], src[18:] {
		d, qs, y := halfAt(src), src[2:18], dst[:32]
		for i, b := range qs {
			y[i] = d * float32(int(b&15)-8)
			y[i+16] = d * float32(int(b>>4)-8)
		}
	}
}

// decodeQ4_1 reads blocks of {d, m f16; qs [16]u8}: y = d·q + m.
func decodeQ4_1(dst []float32, src []byte) {
	for ; len(dst) >= 32; dst, src = dst[32:], src[20:] {
		d, m, qs, y := halfAt(src), halfAt(src[2:]), src[4:20], dst[:32]
		for i, b := range qs {
			y[i] = float32(d*float32(int(b&15))) + m
			y[i+16] = float32(d*float32(int(b>>4))) + m
		}
	}
}

// decodeQ5_0 reads blocks of {d f16; qh u32; qs [16]u8}: y = d·(q-16), where
// bit i of qh is the fifth bit of element i.
func decodeQ5_0(dst []float32, src []byte) {
	for ; len(dst) >= 32; dst, src = dst[32:], src[22:] {
		d, qh, qs, y := halfAt(src), binary.LittleEndian.Uint32(src[2:]), src[6:22], dst[:32]
		for i, b := range qs {
			y[i] = d * float32(int(b&15)+int(qh>>i&1)<<4-16)
			y[i+16] = d * float32(int(b>>4)+int(qh>>(i+16)&1)<<4-16)
		}
	}
}

// decodeQ5_1 reads blocks of {d, m f16; qh u32; qs [16]u8}: y = d·q + m.
func decodeQ5_1(dst []float32, src []byte) {
	for ; len(dst) >= 32; dst, src = dst[32:], src[24:] {
		d, m, y := halfAt(src), halfAt(src[2:]), dst[:32]
		qh, qs := binary.LittleEndian.Uint32(src[4:]), src[8:24]
		for i, b := range qs {
			y[i] = float32(d*float32(int(b&15)+int(qh>>i&1)<<4)) + m
			y[i+16] = float32(d*float32(int(b>>4)+int(qh>>(i+16)&1)<<4)) + m
		}
	}
}

// decodeQ8_0 reads blocks of {d f16; qs [32]i8}: y = d·q.
func decodeQ8_0(dst []float32, src []byte) {
	for ; len(dst) >= 32; dst, src = dst[32:], src[34:] {
		d, qs, y := halfAt(src), src[2:34], dst[:32]
		for i, b := range qs {
			y[i] = d * float32(int8(b))
		}
	}
}
