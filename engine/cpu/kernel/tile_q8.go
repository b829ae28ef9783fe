package kernel

// A block of a Q8_0 tile: the 32 columns as 16 pairs, each pair of 16 rows next
// to each other (column 2p+j of row r is byte 32p+2r+j), then the 16 rows'
// scales, halves. Sign-extended to 16 bits, the 32 bytes of a pair are what
// VPDPWSSD and VPMADDWD take: two columns to a 32-bit lane, a row each.
const (
	q8Tile   = TileRows * q8Bytes
	q8Scales = TileRows * Block
)

// packQ8 is the twin of Pack for Q8_0.
func packQ8(dst, src []byte, blocks int) {
	checkPack("PackQ8", q8Form, dst, src, blocks)
	for b := range blocks {
		out := (*[q8Tile]byte)(dst[b*q8Tile:])
		for r := range TileRows {
			in := (*[q8Bytes]byte)(src[(r*blocks+b)*q8Bytes:])
			out[q8Scales+2*r], out[q8Scales+2*r+1] = in[0], in[1]
			for i := range Block {
				out[i/2*2*TileRows+2*r+i%2] = in[2+i]
			}
		}
	}
}

// tileQ8 is the twin of Tile for Q8_0.
func tileQ8(dst []float32, stride int, w []byte, p *Panel, rows int, add bool, scratch []float32, _ []byte) {
	checkTile("TileQ8", q8Form, dst, stride, w, p, rows, scratch)
	for r0 := 0; r0 < rows; r0 += TileRows {
		sums := scratch[:p.Tokens*TileRows]
		clear(sums)
		for b := range p.Blocks {
			block := (*[q8Tile]byte)(w[(r0*p.Blocks+b*TileRows)*q8Bytes:])
			var scale [TileRows]float32
			for r := range scale {
				scale[r] = half(block[q8Scales+2*r : q8Scales+2*r+2])
			}
			for t := range p.Tokens {
				i := b*p.Tokens + t
				q := (*[Block]int16)(p.Q[i*Block:])
				var dots [TileRows]int32
				for k := 0; k < Block; k += 2 {
					pair := block[k*TileRows : k*TileRows+2*TileRows]
					a, c := int32(q[k]), int32(q[k+1])
					for r := range dots {
						dots[r] += int32(int8(pair[2*r]))*a + int32(int8(pair[2*r+1]))*c
					}
				}
				for r, d := range dots {
					sums[t*TileRows+r] += scale[r] * p.Scale[i] * float32(d)
				}
			}
		}
		storeTile(dst[r0:], stride, sums, add)
	}
}

// storeTile writes or adds the sums of a tile, TileRows for each token.
func storeTile(dst []float32, stride int, sums []float32, add bool) {
	for t := range len(sums) / TileRows {
		for r, v := range sums[t*TileRows : (t+1)*TileRows] {
			store(&dst[t*stride+r], v, add)
		}
	}
}
