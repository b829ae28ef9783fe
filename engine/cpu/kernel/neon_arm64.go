package kernel

//go:noescape
func mulQ8NEON(dst *float32, w *byte, q *int16, scale *float32, rows, blocks, add int)

//go:noescape
func mulQ41NEON(dst *float32, w *byte, q *int16, scale, sum *float32, rows, blocks, add int)

//go:noescape
func packQ8NEON(dst, src *byte, blocks int)

//go:noescape
func packQ41NEON(dst, src *byte, blocks int)

//go:noescape
func tileQ8NEON(dst *float32, stride int, w *byte, q *int16, scale *float32, rows, blocks, tokens, add int, sums *float32, ahead *byte)

//go:noescape
func tileQ41NEON(dst *float32, stride int, w *byte, q *int16, scale, sum *float32, rows, blocks, tokens, add int, sums *float32, ahead *byte)

// mulRows is the number of rows that the Mul routines do together.
const mulRows = 4

// neon is the set of ARMv8.0. Its methods cut slices to the whole vectors and
// tiles that the assembly takes, and give what is left to the twins.
func neon() *Set {
	s := generic()
	s.Name = "neon"
	s.MulQ8 = func(dst []float32, w []byte, p *Panel, rows int, add bool) {
		n := rows &^ (mulRows - 1)
		if n > 0 {
			mulQ8NEON(&dst[0], &w[0], &p.Q[0], &p.Scale[0], n, p.Blocks, one(add))
		}
		if n < rows {
			mulQ8(dst[n:], w[n*p.Blocks*q8Bytes:], p, rows-n, add)
		}
	}
	s.MulQ41 = func(dst []float32, w []byte, p *Panel, rows int, add bool) {
		n := rows &^ (mulRows - 1)
		if n > 0 {
			mulQ41NEON(&dst[0], &w[0], &p.Q[0], &p.Scale[0], &p.Sum[0], n, p.Blocks, one(add))
		}
		if n < rows {
			mulQ41(dst[n:], w[n*p.Blocks*q41Bytes:], p, rows-n, add)
		}
	}
	s.PackQ8 = func(dst, src []byte, blocks int) { packQ8NEON(&dst[0], &src[0], blocks) }
	s.PackQ41 = func(dst, src []byte, blocks int) { packQ41NEON(&dst[0], &src[0], blocks) }
	s.TileQ8 = func(dst []float32, stride int, w []byte, p *Panel, rows int, add bool, scratch []float32, ahead []byte) {
		tileQ8NEON(&dst[0], 4*stride, &w[0], &p.Q[0], &p.Scale[0], rows, p.Blocks, p.Tokens, one(add), &scratch[0], first(ahead, w))
	}
	s.TileQ41 = func(dst []float32, stride int, w []byte, p *Panel, rows int, add bool, scratch []float32, ahead []byte) {
		tileQ41NEON(&dst[0], 4*stride, &w[0], &p.Q[0], &p.Scale[0], &p.Sum[0], rows, p.Blocks, p.Tokens, one(add), &scratch[0], first(ahead, w))
	}
	return s
}

// one is 1 for true: assembly compares a word.
func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

// first returns where ahead begins, or w where it is empty: to prefetch what is
// there already costs little.
func first(ahead, w []byte) *byte {
	if len(ahead) > 0 {
		return &ahead[0]
	}
	return &w[0]
}
