package kernel

import "unsafe"

// The KV cache has 16 bits a value, relative to the largest of each block of 32 values
// of a position, as a [Panel] has activations. Sixteen positions stand together: a
// tile is, for each block, the 16 scales and then the values: of keys column by column,
// so that a vector register holds one column of 16 positions, and of values position by position.
const (
	// CacheTile is the number of positions in a tile.
	CacheTile = 16
	// tileScales is the bytes of a tile's scales of a block.
	tileScales = 4 * CacheTile
	// CacheBlock is the bytes of a tile's block.
	CacheBlock = tileScales + 2*Block*CacheTile
)

// CacheTileBytes is the bytes of a tile of heads of so many values, which are padded
// to whole blocks.
func CacheTileBytes(dim int) int { return (dim + Block - 1) / Block * CacheBlock }

// PutKey writes the blocks of the one token of p as position i of a tile of keys, from
// block b0 on.
func PutKey(tile []byte, i, b0 int, p *Panel) {
	checkPut("PutKey", tile, i, b0, p)
	for b, scale := range p.Scale[:p.Blocks] {
		scales, values := block(tile[(b0+b)*CacheBlock:])
		scales[i] = scale
		columns := values[i:]
		for c, q := range p.Q[b*Block : (b+1)*Block] {
			columns[c*CacheTile] = q
		}
	}
}

// PutValue writes the blocks of the one token of p as position i of a tile of values, from
// block b0 on.
func PutValue(tile []byte, i, b0 int, p *Panel) {
	checkPut("PutValue", tile, i, b0, p)
	for b, scale := range p.Scale[:p.Blocks] {
		scales, values := block(tile[(b0+b)*CacheBlock:])
		scales[i] = scale
		copy(values[i*Block:(i+1)*Block], p.Q[b*Block:(b+1)*Block])
	}
}

// block views the scales and values of a block of a tile.
func block(at []byte) (scales []float32, values []int16) {
	return unsafe.Slice((*float32)(unsafe.Pointer(&at[0])), CacheTile),
		unsafe.Slice((*int16)(unsafe.Pointer(&at[tileScales])), Block*CacheTile)
}

// scores is the twin of Set.Scores.
func scores(dst []float32, q []float32, k []byte, queries, tiles, blocks int) {
	checkScores(dst, q, k, queries, tiles, blocks)
	for t := range tiles {
		for r := range queries {
			var sum [CacheTile]float32
			for b := range blocks {
				scales, values := block(k[(t*blocks+b)*CacheBlock:])
				var part [CacheTile]float32
				for c := range Block {
					x := q[(b*Block+c)*QueryRows+r]
					for i, v := range values[c*CacheTile : (c+1)*CacheTile] {
						part[i] += x * float32(v)
					}
				}
				for i, s := range scales {
					sum[i] += part[i] * s
				}
			}
			copy(dst[r*Span+t*CacheTile:], sum[:])
		}
	}
}

// powers is the twin of Set.Powers.
func powers(x []float32, top float32) (sum float32) {
	checkPowers(x)
	for i, v := range x {
		x[i] = exp(v - top)
		sum += x[i]
	}
	return sum
}

// weigh is the twin of Set.Weigh.
func weigh(out, w []float32, v []byte, queries, n, blocks int) {
	checkWeigh(out, w, v, queries, n, blocks)
	for r := range queries {
		for b := range blocks {
			y := out[(r*blocks+b)*Block:][:Block]
			for p := range n {
				scales, values := block(v[(p/CacheTile*blocks+b)*CacheBlock:])
				i := p % CacheTile
				f := w[r*Span+p] * scales[i]
				for c, x := range values[i*Block : (i+1)*Block] {
					y[c] += f * float32(x)
				}
			}
		}
	}
}

// checkPut checks what PutKey and PutValue are given.
func checkPut(kernel string, tile []byte, i, b0 int, p *Panel) {
	p.check(kernel)
	if p.Tokens != 1 {
		wrongSize(kernel, "number of tokens", p.Tokens, 1)
	}
	need(kernel, "position", i, 0)
	need(kernel, "positions of a tile", CacheTile, i+1)
	need(kernel, "first block", b0, 0)
	need(kernel, "length of the tile", len(tile), (b0+p.Blocks)*CacheBlock)
}

// checkScores checks what Set.Scores is given.
func checkScores(dst, q []float32, k []byte, queries, tiles, blocks int) {
	const name = "Scores"
	need(name, "number of queries", queries, 1)
	need(name, "rows of queries", QueryRows, queries)
	need(name, "number of tiles", tiles, 1)
	need(name, "number of blocks", blocks, 1)
	need(name, "span", Span, tiles*CacheTile)
	need(name, "length of dst", len(dst), QueryRows*Span)
	need(name, "length of q", len(q), QueryRows*blocks*Block)
	need(name, "length of k", len(k), tiles*blocks*CacheBlock)
}

// checkPowers checks what Set.Powers is given.
func checkPowers(x []float32) {
	need("Powers", "length of x", len(x), 1)
	if len(x)%CacheTile != 0 {
		wrongSize("Powers", "length of x", len(x), len(x)&^(CacheTile-1)+CacheTile)
	}
}

// checkWeigh checks what Set.Weigh is given.
func checkWeigh(out, w []float32, v []byte, queries, n, blocks int) {
	const name = "Weigh"
	need(name, "number of queries", queries, 1)
	need(name, "rows of queries", QueryRows, queries)
	need(name, "number of positions", n, 1)
	need(name, "number of blocks", blocks, 1)
	need(name, "span", Span, n)
	need(name, "length of out", len(out), QueryRows*blocks*Block)
	need(name, "length of w", len(w), QueryRows*Span)
	need(name, "length of v", len(v), (n+CacheTile-1)/CacheTile*blocks*CacheBlock)
}
