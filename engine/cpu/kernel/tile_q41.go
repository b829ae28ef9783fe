package kernel

import "encoding/binary"

// A block of a Q4_1 tile: 4 lines of 64 bytes, a 32-bit word for each row.
// Line l has columns 8l to 8l+7: nibble s of the word's low half is column
// 8l+2s, nibble s of its high half is column 8l+2s+1. So shifting a line right
// by 4s and masking leaves columns 8l+2s and 8l+2s+1 as two 16-bit numbers.
// Then the 16 rows' scales and their minima, halves.
const (
	q41Tile   = TileRows * q41Bytes
	q41Scales = TileRows * Block / 2
	q41Minima = q41Scales + 2*TileRows
)

// packQ41 is the twin of Pack for Q4_1.
func packQ41(dst, src []byte, blocks int) {
	checkPack("PackQ41", q41Form, dst, src, blocks)
	for b := range blocks {
		out := (*[q41Tile]byte)(dst[b*q41Tile:])
		for r := range TileRows {
			in := (*[q41Bytes]byte)(src[(r*blocks+b)*q41Bytes:])
			copy(out[q41Scales+2*r:], in[0:2])
			copy(out[q41Minima+2*r:], in[2:4])
			for l := range 4 {
				var word uint32
				for s := range 4 {
					word |= uint32(nibble(in, 8*l+2*s))<<(4*s) | uint32(nibble(in, 8*l+2*s+1))<<(16+4*s)
				}
				binary.LittleEndian.PutUint32(out[64*l+4*r:], word)
			}
		}
	}
}

// nibble returns column k of a block of Q4_1.
func nibble(block *[q41Bytes]byte, k int) byte {
	return block[4+k%16] >> (k / 16 * 4) & 15
}

// tileQ41 is the twin of Tile for Q4_1.
func tileQ41(dst []float32, stride int, w []byte, p *Panel, rows int, add bool, scratch []float32, _ []byte) {
	checkTile("TileQ41", q41Form, dst, stride, w, p, rows, scratch)
	for r0 := 0; r0 < rows; r0 += TileRows {
		sums := scratch[:p.Tokens*TileRows]
		clear(sums)
		for b := range p.Blocks {
			block := (*[q41Tile]byte)(w[(r0*p.Blocks+b*TileRows)*q41Bytes:])
			var scale, least [TileRows]float32
			for r := range scale {
				scale[r] = half(block[q41Scales+2*r : q41Scales+2*r+2])
				least[r] = half(block[q41Minima+2*r : q41Minima+2*r+2])
			}
			for t := range p.Tokens {
				i := b*p.Tokens + t
				q := (*[Block]int16)(p.Q[i*Block:])
				var dots [TileRows]int32
				for l := range 4 {
					for r := range dots {
						word := binary.LittleEndian.Uint32(block[64*l+4*r:])
						for s := range 4 {
							dots[r] += int32(word>>(4*s)&15)*int32(q[8*l+2*s]) + int32(word>>(16+4*s)&15)*int32(q[8*l+2*s+1])
						}
					}
				}
				for r, d := range dots {
					sums[t*TileRows+r] += scale[r]*p.Scale[i]*float32(d) + least[r]*p.Sum[i]
				}
			}
		}
		storeTile(dst[r0:], stride, sums, add)
	}
}
