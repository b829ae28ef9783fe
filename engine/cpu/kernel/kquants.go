package kernel

import (
	"github.com/introgen/introgen/engine/quant"
)

// The formats of 256 columns, super-blocks of sub-blocks that have small integers as
// scales (engine/quant has their layouts). A value is d*s*q - dmin*m, where s is the
// scale of its 16 columns and m the minimum of its 32: what has them for more columns,
// repeats them, and what has no minimum, has zeros.
const (
	superBlocks  = 8 // blocks of 32 columns
	superColumns = superBlocks * Block
	superBytes   = (superBlocks + 1) * q8Bytes // of a super, and of a row's super-block in tile order
	superSide    = superBlocks * q8Bytes       // where in a super the block of scales begins
)

var (
	q4kForm = Form{superColumns, 144, superBytes}
	q5kForm = Form{superColumns, 176, superBytes}
	q6kForm = Form{superColumns, 210, superBytes}
)

// A super is a super-block of one row with a byte for each number, in nine blocks of
// Q8_0: the values, of which each block has d as its scale; and a block whose scale is
// dmin, and which has two scales for each of the eight blocks, then, for each, its
// minimum and a zero.
type super [superBytes]byte

// An expander writes a super-block of a row as a super.
type expander func(s *super, src []byte)

func expandQ4K(s *super, src []byte) {
	src = src[:144]
	s.scalesQ4K(src)
	for b := range superBlocks {
		for i, c := range src[16+b/2*Block:][:Block] {
			s[b*q8Bytes+2+i] = c >> (b % 2 * 4) & 15
		}
	}
}

func expandQ5K(s *super, src []byte) {
	src = src[:176]
	s.scalesQ4K(src)
	for b := range superBlocks {
		for i, c := range src[48+b/2*Block:][:Block] {
			s[b*q8Bytes+2+i] = c>>(b%2*4)&15 | src[16+i]>>b&1<<4
		}
	}
}

// scalesQ4K unpacks what Q4_K and Q5_K begin with: d, dmin, and 12 bytes of 6-bit
// scales and minima. The first four of each are the low bits of bytes 0 to 3 and 4 to
// 7; the last four are the nibbles of bytes 8 to 11, and their upper bits the upper
// bits of bytes 0 to 7.
func (s *super) scalesQ4K(src []byte) {
	s.scale(src[0:2])
	packed := src[4:16]
	for i := range 4 {
		s.subs(i, packed[i]&63, packed[4+i]&63)
		s.subs(4+i, packed[8+i]&15|packed[i]>>6<<4, packed[8+i]>>4|packed[4+i]>>6<<4)
	}
	copy(s[superSide:], src[2:4])
}

// subs writes the scale and the minimum of block b.
func (s *super) subs(b int, scale, least byte) {
	side := s[superSide+2:]
	side[2*b], side[2*b+1], side[16+2*b], side[16+2*b+1] = scale, scale, least, 0
}

// scale writes d to all blocks.
func (s *super) scale(d []byte) {
	for b := range superBlocks {
		copy(s[b*q8Bytes:], d[:2])
	}
}

func expandQ6K(s *super, src []byte) {
	src = src[:210]
	s.scale(src[208:210])
	clear(s[superSide:])
	copy(s[superSide+2:], src[192:208])
	for b := range superBlocks {
		part, run := b/4, b%4
		low, high := src[64*part+run%2*Block:][:Block], src[128+32*part:][:Block]
		for i := range Block {
			s[b*q8Bytes+2+i] = low[i]>>(run/2*4)&15 | high[i]>>(2*run)&3<<4 - 32
		}
	}
}

// superFormat is the twins of a format of super-blocks.
func superFormat(typ quant.Type, form Form, expand expander) Format {
	mul, pack, tile := names(typ)
	return Format{
		Form: form,
		Mul: func(dst []float32, w []byte, p *Panel, rows int, add bool) {
			checkMul(mul, form, dst, w, p, rows)
			var s super
			for r := range rows {
				var sum float32
				for b := 0; b < p.Blocks; b += superBlocks {
					expand(&s, w)
					sum += s.mul(p, b)
					w = w[form.Row:]
				}
				store(&dst[r], sum, add)
			}
		},
		Pack: func(dst, src []byte, blocks int) {
			checkPack(pack, form, dst, src, blocks)
			supers := blocks / superBlocks
			var rows [TileRows]super
			for b := range supers {
				for r := range rows {
					expand(&rows[r], src[(r*supers+b)*form.Row:])
				}
				packSupers(dst[b*TileRows*superBytes:], &rows)
			}
		},
		Tile: func(dst []float32, stride int, w []byte, p *Panel, rows int, add bool, scratch []float32, ahead []byte) {
			checkTile(tile, form, dst, stride, w, p, rows, scratch)
			tileK(dst, stride, w, p, rows, add, scratch, ahead)
		},
	}
}

// mul is the product with blocks b to b+7 of a panel of one token.
func (s *super) mul(p *Panel, b int) float32 {
	var sum float32
	side := s[superSide+2:]
	least := half(s[superSide:])
	for i := range superBlocks {
		d := half(s[i*q8Bytes:]) * p.Scale[b+i]
		for h := range 2 {
			w, q := s[i*q8Bytes+2+16*h:][:16], p.Q[(b+i)*Block+16*h:][:16]
			var dot int32
			for k, c := range w {
				dot += int32(int8(c)) * int32(q[k])
			}
			sum += d * float32(int32(int8(side[2*i+h]))) * float32(dot)
		}
		sum -= least * float32(int32(side[16+2*i])) * p.Sum[b+i]
	}
	return sum
}

// packSupers makes the tile of 16 rows' super-blocks: nine blocks of a Q8_0 tile.
func packSupers(dst []byte, rows *[TileRows]super) {
	var all [TileRows * superBytes]byte
	for r := range rows {
		copy(all[r*superBytes:], rows[r][:])
	}
	packQ8(dst, all[:], superBlocks+1)
}

// tileK is the twin of what all formats of super-blocks have as Tile.
func tileK(dst []float32, stride int, w []byte, p *Panel, rows int, add bool, scratch []float32, _ []byte) {
	for r0 := 0; r0 < rows; r0 += TileRows {
		sums := scratch[:p.Tokens*TileRows]
		clear(sums)
		for b := range p.Blocks {
			in, i := w[b/superBlocks*TileRows*superBytes:][:TileRows*superBytes], b%superBlocks
			block, side := (*[q8Tile]byte)(in[i*q8Tile:]), (*[q8Tile]byte)(in[superBlocks*q8Tile:])
			for r := range TileRows {
				d := half(block[q8Scales+2*r:])
				s0 := d * float32(int32(int8(side[2*TileRows*i+2*r])))
				s1 := d * float32(int32(int8(side[2*TileRows*i+2*r+1])))
				least := half(side[q8Scales+2*r:]) * float32(int32(side[2*TileRows*(superBlocks+i)+2*r]))
				for t := range p.Tokens {
					at := b*p.Tokens + t
					q := (*[Block]int16)(p.Q[at*Block:])
					var dot [2]int32
					for k := range q {
						dot[k/16] += int32(int8(block[k/2*2*TileRows+2*r+k%2])) * int32(q[k])
					}
					sums[t*TileRows+r] += p.Scale[at]*(s0*float32(dot[0])+s1*float32(dot[1])) - least*p.Sum[at]
				}
			}
		}
		storeTile(dst[r0:], stride, sums, add)
		w = w[min(len(w), p.Blocks/superBlocks*TileRows*superBytes):]
	}
}
