package kernel

//go:noescape
func quantizeAVX512(q *int16, scale, sum *float32, x *float32, blocks, tokens int)

//go:noescape
func mulQ8AVX512(dst *float32, w *byte, q *int16, scale *float32, rows, blocks, add int)

//go:noescape
func mulQ41AVX512(dst *float32, w *byte, q *int16, scale, sum *float32, rows, blocks, add int)

//go:noescape
func packQ8AVX512(dst, src *byte, blocks int)

//go:noescape
func packQ41AVX512(dst, src *byte, blocks int)

//go:noescape
func tileQ8AVX512(dst *float32, stride int, w *byte, q *int16, scale *float32, rows, blocks, tokens, add int, sums *float32, ahead *byte)

//go:noescape
func packTileQ8AVX512(dst *float32, stride int, w, room *byte, q *int16, scale *float32, blocks, tokens, add int, sums *float32, ahead *byte)

//go:noescape
func tileQ41AVX512(dst *float32, stride int, w *byte, q *int16, scale, sum *float32, rows, blocks, tokens, add int, sums *float32, ahead *byte)

//go:noescape
func tile1Q8AVX512(dst *float32, w *byte, q *int16, scale *float32, rows, blocks, add int, ahead *byte)

//go:noescape
func tile1Q41AVX512(dst *float32, w *byte, q *int16, scale, sum *float32, rows, blocks, add int, ahead *byte)

//go:noescape
func tileKAVX512(dst *float32, stride int, w *byte, q *int16, scale, sum *float32, rows, supers, tokens, add int, sums *float32, ahead *byte)

//go:noescape
func mulQ4KAVX512(dst *float32, w *byte, q *int16, scale, sum *float32, rows, supers, add int)

//go:noescape
func mulQ5KAVX512(dst *float32, w *byte, q *int16, scale, sum *float32, rows, supers, add int)

//go:noescape
func mulQ6KAVX512(dst *float32, w *byte, q *int16, scale, sum *float32, rows, supers, add int)

//go:noescape
func mulQ40AVX512(dst *float32, w *byte, q *int16, scale *float32, rows, blocks, add int)

//go:noescape
func mulQ50AVX512(dst *float32, w *byte, q *int16, scale *float32, rows, blocks, add int)

//go:noescape
func mulNibblesAVX512(dst *float32, w *byte, q *int16, scale *float32, rows, blocks, add int, values *nibbleValues)

//go:noescape
func dotAVX512(a, b *float32, n int) float32

//go:noescape
func scaleByAVX512(dst, x, w *float32, n int, s float32)

//go:noescape
func swiGLUAVX512(dst, gate, up *float32, n int)

//go:noescape
func ropeAVX512(x, cos, sin *float32, n int)

//go:noescape
func geGLUAVX512(dst, gate, up *float32, n int)

//go:noescape
func ropeHalvesAVX512(x, y, cos, sin *float32, n int)

//go:noescape
func maxAVX512(x *float32, n int) (top float32, bits uint32)

//go:noescape
func scoresAVX512(dst, q *float32, k *byte, tiles, blocks int)

//go:noescape
func powersAVX512(x *float32, n int, top float32) (sum float32)

//go:noescape
func weighAVX512(out, w *float32, v *byte, n, blocks int)

//go:noescape
func scores1AVX512(dst, q *float32, k *byte, tiles, blocks int)

//go:noescape
func weigh1AVX512(out, w *float32, v *byte, n, blocks int)

// avx512 is the set for AVX-512 with F, BW, DQ, VL and VNNI.
func avx512() *Set {
	r := &routines{
		quantize: quantizeAVX512,
		mulQ8:    mulQ8AVX512, mulQ41: mulQ41AVX512,
		packQ8: packQ8AVX512, packQ41: packQ41AVX512,
		tileQ8: tileQ8AVX512, tileQ41: tileQ41AVX512,
		nibbles: nibbleRoutines{
			widen: widenNibblesAVX2, widenQ50: widenQ50AVX2,
			mul: mulNibblesAVX512, mulQ40: mulQ40AVX512, mulQ50: mulQ50AVX512,
		},
		supers: superRoutines{
			expandQ4K: expandQ4KAVX2, expandQ5K: expandQ5KAVX2, expandQ6K: expandQ6KAVX2,
			mulQ4K: mulQ4KAVX512, mulQ5K: mulQ5KAVX512, mulQ6K: mulQ6KAVX512,
			mul: mulSuperAVX2, tile: tileKAVX512,
		},
		packTileQ8: packTileQ8AVX512,
		tile1Q8:    tile1Q8AVX512, tile1Q41: tile1Q41AVX512,
		dot: dotAVX512, scaleBy: scaleByAVX512, swiGLU: swiGLUAVX512, rope: ropeAVX512, max: maxAVX512,
		scores: scoresAVX512, powers: powersAVX512, weigh: weighAVX512,
		scores1: scores1AVX512, weigh1: weigh1AVX512,
		geGLU: geGLUAVX512, ropeHalves: ropeHalvesAVX512,
	}
	return r.set("avx512")
}
