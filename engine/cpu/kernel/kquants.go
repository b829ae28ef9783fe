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
	superQ       = superBlocks * q8Bytes
	superDMin    = 3 * superBlocks // where in the side bytes dmin lies
	superSide    = superDMin + 2
	superColumns = superBlocks * Block
	superTile    = superQ + superSide // bytes of a row's super-block in tile order
)

var (
	q4kForm = Form{superColumns, 144, superTile}
	q5kForm = Form{superColumns, 176, superTile}
	q6kForm = Form{superColumns, 210, superTile}
)

// A super is a super-block of one row with a byte for each number: q is its values as
// eight blocks of Q8_0 with d as the scale of each; side has, for each
// block, the scales of its two sub-blocks, int8, and its minimum, a byte; and then
// dmin, half.
type super struct {
	q    [superQ]byte
	side [superSide]byte
}

// An expander writes a super-block of a row as a super.
type expander func(s *super, src []byte)

func expandQ4K(s *super, src []byte) {
	src = src[:144]
	s.scalesQ4K(src)
	for b := range superBlocks {
		for i, c := range src[16+b/2*Block:][:Block] {
			s.q[b*q8Bytes+2+i] = c >> (b % 2 * 4) & 15
		}
	}
}

func expandQ5K(s *super, src []byte) {
	src = src[:176]
	s.scalesQ4K(src)
	for b := range superBlocks {
		for i, c := range src[48+b/2*Block:][:Block] {
			s.q[b*q8Bytes+2+i] = c>>(b%2*4)&15 | src[16+i]>>b&1<<4
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
	copy(s.side[superDMin:], src[2:4])
}

// subs writes the scale and the minimum of block b.
func (s *super) subs(b int, scale, least byte) {
	s.side[3*b], s.side[3*b+1], s.side[3*b+2] = scale, scale, least
}

// scale writes d to all blocks.
func (s *super) scale(d []byte) {
	for b := range superBlocks {
		copy(s.q[b*q8Bytes:], d[:2])
	}
}

func expandQ6K(s *super, src []byte) {
	src = src[:210]
	s.scale(src[208:210])
	clear(s.side[:])
	for b := range superBlocks {
		copy(s.side[3*b:], src[192+2*b:][:2])
		part, run := b/4, b%4
		low, high := src[64*part+run%2*Block:][:Block], src[128+32*part:][:Block]
		for i := range Block {
			s.q[b*q8Bytes+2+i] = low[i]>>(run/2*4)&15 | high[i]>>(2*run)&3<<4 - 32
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
				packSupers((*[TileRows * superTile]byte)(dst[b*TileRows*superTile:]), &rows)
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
	least := half(s.side[superDMin:])
	for i := range superBlocks {
		d := half(s.q[i*q8Bytes:]) * p.Scale[b+i]
		for h := range 2 {
			w, q := s.q[i*q8Bytes+2+16*h:][:16], p.Q[(b+i)*Block+16*h:][:16]
			var dot int32
			for k, c := range w {
				dot += int32(int8(c)) * int32(q[k])
			}
			sum += d * float32(int32(int8(s.side[3*i+h]))) * float32(dot)
		}
		sum -= least * float32(int32(s.side[3*i+2])) * p.Sum[b+i]
	}
	return sum
}

// Behind the eight Q8_0 tiles of a super-block's tile lie, for each block, the 16
// rows' scales of the first sub-block, of the second, and their minima; and then the
// rows' dmin, halves.
const (
	tileSide = TileRows * superQ
	tileDMin = tileSide + TileRows*superDMin
)

// packSupers is the tile of 16 rows' super-blocks.
func packSupers(dst *[TileRows * superTile]byte, rows *[TileRows]super) {
	var q [TileRows * superQ]byte
	for r := range rows {
		copy(q[r*superQ:], rows[r].q[:])
		packSide(dst[tileSide:], r, &rows[r].side)
	}
	packQ8(dst[:tileSide], q[:], superBlocks)
}

// packSide puts the side bytes of row r to their places in dst, which begins at
// those of the first block.
func packSide(dst []byte, r int, side *[superSide]byte) {
	dst = dst[:TileRows*superSide]
	for i, c := range side[:superDMin] {
		dst[i*TileRows+r] = c
	}
	copy(dst[superDMin*TileRows+2*r:], side[superDMin:])
}

// tileK is the twin of what all formats of super-blocks have as Tile.
func tileK(dst []float32, stride int, w []byte, p *Panel, rows int, add bool, scratch []float32, _ []byte) {
	for r0 := 0; r0 < rows; r0 += TileRows {
		sums := scratch[:p.Tokens*TileRows]
		clear(sums)
		for b := range p.Blocks {
			in, i := w[b/superBlocks*TileRows*superTile:][:TileRows*superTile], b%superBlocks
			block := (*[q8Tile]byte)(in[i*q8Tile:])
			for r := range TileRows {
				d := half(block[q8Scales+2*r:])
				side := in[tileSide+3*i*TileRows+r:]
				s0, s1 := d*float32(int32(int8(side[0]))), d*float32(int32(int8(side[TileRows])))
				least := half(in[tileDMin+2*r:]) * float32(int32(side[2*TileRows]))
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
		w = w[min(len(w), p.Blocks/superBlocks*TileRows*superTile):]
	}
}
