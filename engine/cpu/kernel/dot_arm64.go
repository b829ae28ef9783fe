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
	r := neonRoutines()
	r.mulQ8, r.mulQ41 = mulQ8Dot, mulQ41Dot
	r.tileQ8, r.tileQ41 = tileQ8Dot, tileQ41Dot
	return r.set("dotprod")
}
