package kernel

//go:noescape
func quantizeAVX2(q *int16, scale, sum *float32, x *float32, blocks, tokens int)

//go:noescape
func mulQ8AVX2(dst *float32, w *byte, q *int16, scale *float32, rows, blocks, add int)

//go:noescape
func mulQ41AVX2(dst *float32, w *byte, q *int16, scale, sum *float32, rows, blocks, add int)

//go:noescape
func pack8Q8AVX2(dst, src *byte, blocks, scales int)

//go:noescape
func pack8Q41AVX2(dst, src *byte, blocks, scales int)

//go:noescape
func tileQ8AVX2(dst *float32, stride int, w *byte, q *int16, scale *float32, rows, blocks, tokens, add int, sums *float32, ahead *byte)

//go:noescape
func tileQ41AVX2(dst *float32, stride int, w *byte, q *int16, scale, sum *float32, rows, blocks, tokens, add int, sums *float32, ahead *byte)

//go:noescape
func widenNibblesAVX2(dst, src *byte, blocks int, values *nibbleValues)

//go:noescape
func widenQ50AVX2(dst, src *byte, blocks int)

//go:noescape
func expandQ4KAVX2(s *super, src *byte)

//go:noescape
func expandQ5KAVX2(s *super, src *byte)

//go:noescape
func expandQ6KAVX2(s *super, src *byte)

//go:noescape
func mulSuperAVX2(s *super, x *int16, scale, sum *float32) float32

//go:noescape
func mulQ4KAVX2(dst *float32, w *byte, q *int16, scale, sum *float32, rows, supers, add int)

//go:noescape
func tileKAVX2(dst *float32, stride int, w *byte, q *int16, scale, sum *float32, rows, supers, tokens, add int, sums *float32, ahead *byte)

//go:noescape
func dotAVX2(a, b *float32, n int) float32

//go:noescape
func scaleByAVX2(dst, x, w *float32, n int, s float32)

//go:noescape
func swiGLUAVX2(dst, gate, up *float32, n int)

//go:noescape
func ropeAVX2(x, cos, sin *float32, n int)

//go:noescape
func geGLUAVX2(dst, gate, up *float32, n int)

//go:noescape
func ropeHalvesAVX2(x, y, cos, sin *float32, n int)

//go:noescape
func maxAVX2(x *float32, n int) (top float32, bits uint32)

//go:noescape
func scoresAVX2(dst, q *float32, k *byte, tiles, blocks int)

//go:noescape
func powersAVX2(x *float32, n int, top float32) (sum float32)

//go:noescape
func weighAVX2(out, w *float32, v *byte, n, blocks int)

// packQ8AVX2 packs the rows of a tile, eight at a time.
func packQ8AVX2(dst, src *byte, blocks int) {
	pack8Q8AVX2(dst, src, blocks, q8Scales)
	pack8Q8AVX2(behind(dst, TileRows), behind(src, TileRows/2*q8Bytes*blocks), blocks, q8Scales)
}

// packQ41AVX2 is the same for Q4_1, whose rows are four bytes in a line.
func packQ41AVX2(dst, src *byte, blocks int) {
	pack8Q41AVX2(dst, src, blocks, q41Scales)
	pack8Q41AVX2(behind(dst, 4*TileRows/2), behind(src, TileRows/2*q41Bytes*blocks), blocks, q41Scales-TileRows)
}

// avx2 is the set for AVX2 with FMA, and with conversion of binary16, which
// every processor with AVX2 has.
func avx2() *Set {
	r := &routines{
		quantize: quantizeAVX2,
		mulQ8:    mulQ8AVX2, mulQ41: mulQ41AVX2,
		packQ8: packQ8AVX2, packQ41: packQ41AVX2,
		tileQ8: tileQ8AVX2, tileQ41: tileQ41AVX2,
		nibbles: nibbleRoutines{widen: widenNibblesAVX2, widenQ50: widenQ50AVX2},
		supers: superRoutines{
			expandQ4K: expandQ4KAVX2, expandQ5K: expandQ5KAVX2, expandQ6K: expandQ6KAVX2,
			mulQ4K: mulQ4KAVX2,
			mul:    mulSuperAVX2, tile: tileKAVX2,
		},
		dot: dotAVX2, scaleBy: scaleByAVX2, swiGLU: swiGLUAVX2, rope: ropeAVX2, max: maxAVX2,
		scores: scoresAVX2, powers: powersAVX2, weigh: weighAVX2,
		geGLU: geGLUAVX2, ropeHalves: ropeHalvesAVX2,
	}
	return r.set("avx2")
}
