package kernel

//go:noescape
func quantizeNEON(q *int16, scale, sum, x *float32, blocks, tokens int)

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

//go:noescape
func widenNibblesNEON(dst, src *byte, blocks int, values *nibbleValues)

//go:noescape
func widenQ50NEON(dst, src *byte, blocks int)

//go:noescape
func expandQ4KNEON(s *super, src *byte)

//go:noescape
func expandQ5KNEON(s *super, src *byte)

//go:noescape
func expandQ6KNEON(s *super, src *byte)

//go:noescape
func mulSuperNEON(s *super, x *int16, scale, sum *float32) float32

//go:noescape
func tileKNEON(dst *float32, stride int, w *byte, q *int16, scale, sum *float32, rows, supers, tokens, add int, sums *float32, ahead *byte)

//go:noescape
func dotNEON(a, b *float32, n int) float32

//go:noescape
func scaleByNEON(dst, x, w *float32, n int, s float32)

//go:noescape
func swiGLUNEON(dst, gate, up *float32, n int)

//go:noescape
func ropeNEON(x, cos, sin *float32, n int)

//go:noescape
func geGLUNEON(dst, gate, up *float32, n int)

//go:noescape
func ropeHalvesNEON(x, y, cos, sin *float32, n int)

//go:noescape
func scoresNEON(dst, q *float32, k *byte, tiles, blocks int)

//go:noescape
func powersNEON(x *float32, n int, top float32) (sum float32)

//go:noescape
func weighNEON(out, w *float32, v *byte, n, blocks int)

//go:noescape
func maxNEON(x *float32, n int) (top float32, bits uint32)

// neonRoutines is the assembly for ARMv8.0.
func neonRoutines() *routines {
	return &routines{
		quantize: quantizeNEON,
		mulQ8:    mulQ8NEON, mulQ41: mulQ41NEON,
		packQ8: packQ8NEON, packQ41: packQ41NEON,
		tileQ8: tileQ8NEON, tileQ41: tileQ41NEON,
		nibbles: nibbleRoutines{widen: widenNibblesNEON, widenQ50: widenQ50NEON},
		supers: superRoutines{
			expandQ4K: expandQ4KNEON, expandQ5K: expandQ5KNEON, expandQ6K: expandQ6KNEON,
			mul: mulSuperNEON, tile: tileKNEON,
		},
		dot: dotNEON, scaleBy: scaleByNEON, swiGLU: swiGLUNEON, rope: ropeNEON, max: maxNEON,
		scores: scoresNEON, powers: powersNEON, weigh: weighNEON,
		geGLU: geGLUNEON, ropeHalves: ropeHalvesNEON,
	}
}

// neon is the set of ARMv8.0.
func neon() *Set { return neonRoutines().set("neon") }
