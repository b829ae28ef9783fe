package kernel

import "math"

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
func dotNEON(a, b *float32, n int) float32

//go:noescape
func scaleByNEON(dst, x, w *float32, n int, s float32)

//go:noescape
func swiGLUNEON(dst, gate, up *float32, n int)

//go:noescape
func ropeNEON(x, cos, sin *float32, n int)

//go:noescape
func attendNEON(out, q, k, v, scores *float32, dim, n int, scale float32)

//go:noescape
func maxNEON(x *float32, n int) (top float32, bits uint32)

// prefetchLines asks for n cache lines.
//
//go:noescape
func prefetchLines(p *byte, n int)

const (
	mulRows = 4  // rows that the Mul routines do together
	lanes   = 16 // values that the vector routines do together
)

// neon is the set of ARMv8.0. Its functions cut slices to the whole vectors and
// tiles that the assembly takes, and give what is left to the twins.
func neon() *Set {
	return &Set{
		Name: "neon",
		Quantize: func(p *Panel, t, b0 int, x []float32) {
			if n := len(x) / Block; n > 0 {
				i := b0*p.Tokens + t
				_ = p.Scale[i+(n-1)*p.Tokens]
				quantizeNEON(&p.Q[i*Block], &p.Scale[i], &p.Sum[i], &x[0], n, p.Tokens)
			}
		},
		MulQ8: func(dst []float32, w []byte, p *Panel, rows int, add bool) {
			n := rows &^ (mulRows - 1)
			if n > 0 {
				mulQ8NEON(&dst[0], &w[0], &p.Q[0], &p.Scale[0], n, p.Blocks, one(add))
			}
			if n < rows {
				mulQ8(dst[n:], w[n*p.Blocks*q8Bytes:], p, rows-n, add)
			}
		},
		MulQ41: func(dst []float32, w []byte, p *Panel, rows int, add bool) {
			n := rows &^ (mulRows - 1)
			if n > 0 {
				mulQ41NEON(&dst[0], &w[0], &p.Q[0], &p.Scale[0], &p.Sum[0], n, p.Blocks, one(add))
			}
			if n < rows {
				mulQ41(dst[n:], w[n*p.Blocks*q41Bytes:], p, rows-n, add)
			}
		},
		PackQ8:  func(dst, src []byte, blocks int) { packQ8NEON(&dst[0], &src[0], blocks) },
		PackQ41: func(dst, src []byte, blocks int) { packQ41NEON(&dst[0], &src[0], blocks) },
		TileQ8: func(dst []float32, stride int, w []byte, p *Panel, rows int, add bool, scratch []float32, ahead []byte) {
			tileQ8NEON(&dst[0], 4*stride, &w[0], &p.Q[0], &p.Scale[0], rows, p.Blocks, p.Tokens, one(add), &scratch[0], first(ahead, w))
		},
		TileQ41: func(dst []float32, stride int, w []byte, p *Panel, rows int, add bool, scratch []float32, ahead []byte) {
			tileQ41NEON(&dst[0], 4*stride, &w[0], &p.Q[0], &p.Scale[0], &p.Sum[0], rows, p.Blocks, p.Tokens, one(add), &scratch[0], first(ahead, w))
		},
		Dot: dotAny,
		RMSNorm: func(dst, x, w []float32, eps float32) {
			s := rmsScale(dotAny(x, x), len(x), eps)
			n := len(x) &^ (lanes - 1)
			if n > 0 {
				scaleByNEON(&dst[0], &x[0], &w[0], n, s)
			}
			scaleBy(dst[n:], x[n:], w[n:], s)
		},
		SwiGLU: func(dst, gate, up []float32) {
			n := len(gate) &^ (lanes - 1)
			if n > 0 {
				swiGLUNEON(&dst[0], &gate[0], &up[0], n)
			}
			swiGLU(dst[n:], gate[n:], up[n:])
		},
		Rope: func(x, cos, sin []float32) {
			n := len(cos) &^ (lanes - 1)
			if n > 0 {
				ropeNEON(&x[0], &cos[0], &sin[0], n)
			}
			rope(x[n:], cos[n:], sin[n:])
		},
		Attend: func(out, q, k, v, scores []float32, scale float32) {
			if len(q)%lanes != 0 {
				attend(out, q, k, v, scores, scale)
				return
			}
			attendNEON(&out[0], &q[0], &k[0], &v[0], &scores[0], len(q), len(scores), scale)
		},
		Max: func(x []float32) (float32, bool) {
			n := len(x) &^ (lanes - 1)
			if n == 0 {
				return maxOf(x)
			}
			top, bits := maxNEON(&x[0], n)
			finite := bits < math.Float32bits(float32(math.Inf(1)))
			if n < len(x) {
				t, f := maxOf(x[n:])
				top, finite = max(top, t), finite && f
			}
			return top, finite
		},
		Prefetch: func(b []byte) {
			if len(b) > 0 {
				prefetchLines(&b[0], (len(b)+63)/64)
			}
		},
	}
}

// dotAny is the dot product of any length.
func dotAny(a, b []float32) float32 {
	n := len(a) &^ (lanes - 1)
	sum := dot(a[n:], b[n:len(a)])
	if n > 0 {
		sum += dotNEON(&a[0], &b[0], n)
	}
	return sum
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
