package kernel

//go:noescape
func mulQ8Dot(dst *float32, w *byte, q *int16, scale *float32, rows, blocks, add int)

//go:noescape
func mulQ41Dot(dst *float32, w *byte, q *int16, scale, sum *float32, rows, blocks, add int)

//go:noescape
func tileQ8Dot(dst *float32, stride int, w *byte, q *int16, scale *float32, rows, blocks, tokens, add int, sums *float32, ahead *byte)

//go:noescape
func tileQ41Dot(dst *float32, stride int, w *byte, q *int16, scale, sum *float32, rows, blocks, tokens, add int, sums *float32, ahead *byte)

// dotprod is the set of processors with FEAT_DotProd, which is nearly all since
// 2018: NEON's, but for the products.
func dotprod() *Set {
	s := neon()
	s.Name = "dotprod"
	s.MulQ8 = func(dst []float32, w []byte, p *Panel, rows int, add bool) {
		n := rows &^ (mulRows - 1)
		if n > 0 {
			mulQ8Dot(&dst[0], &w[0], &p.Q[0], &p.Scale[0], n, p.Blocks, one(add))
		}
		if n < rows {
			mulQ8(dst[n:], w[n*p.Blocks*q8Bytes:], p, rows-n, add)
		}
	}
	s.MulQ41 = func(dst []float32, w []byte, p *Panel, rows int, add bool) {
		n := rows &^ (mulRows - 1)
		if n > 0 {
			mulQ41Dot(&dst[0], &w[0], &p.Q[0], &p.Scale[0], &p.Sum[0], n, p.Blocks, one(add))
		}
		if n < rows {
			mulQ41(dst[n:], w[n*p.Blocks*q41Bytes:], p, rows-n, add)
		}
	}
	s.TileQ8 = func(dst []float32, stride int, w []byte, p *Panel, rows int, add bool, scratch []float32, ahead []byte) {
		tileQ8Dot(&dst[0], 4*stride, &w[0], &p.Q[0], &p.Scale[0], rows, p.Blocks, p.Tokens, one(add), &scratch[0], first(ahead, w))
	}
	s.TileQ41 = func(dst []float32, stride int, w []byte, p *Panel, rows int, add bool, scratch []float32, ahead []byte) {
		tileQ41Dot(&dst[0], 4*stride, &w[0], &p.Q[0], &p.Scale[0], &p.Sum[0], rows, p.Blocks, p.Tokens, one(add), &scratch[0], first(ahead, w))
	}
	return s
}
