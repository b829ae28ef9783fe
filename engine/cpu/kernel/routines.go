//go:build amd64 || arm64

package kernel

import "math"

// routines is the assembly of one instruction set. Each takes whole vectors and
// tiles only; the comments in the .s files say which sizes. The tile1 routines,
// for one token, and scores1 and weigh1, for one query, and packTileQ8 may be nil.
type routines struct {
	quantize func(q *int16, scale, sum *float32, x *float32, blocks, tokens int)
	mulQ8    func(dst *float32, w *byte, q *int16, scale *float32, rows, blocks, add int)
	mulQ41   func(dst *float32, w *byte, q *int16, scale, sum *float32, rows, blocks, add int)
	packQ8   func(dst, src *byte, blocks int)
	packQ41  func(dst, src *byte, blocks int)
	tileQ8   func(dst *float32, stride int, w *byte, q *int16, scale *float32, rows, blocks, tokens, add int, sums *float32, ahead *byte)
	tileQ41  func(dst *float32, stride int, w *byte, q *int16, scale, sum *float32, rows, blocks, tokens, add int, sums *float32, ahead *byte)
	// packTileQ8 packs and multiplies 16 rows; room has a block in tile order.
	packTileQ8 func(dst *float32, stride int, w, room *byte, q *int16, scale *float32, blocks, tokens, add int, sums *float32, ahead *byte)
	tile1Q8    func(dst *float32, w *byte, q *int16, scale *float32, rows, blocks, add int, ahead *byte)
	tile1Q41   func(dst *float32, w *byte, q *int16, scale, sum *float32, rows, blocks, add int, ahead *byte)
	nibbles    nibbleRoutines
	supers     superRoutines
	dot        func(a, b *float32, n int) float32
	scaleBy    func(dst, x, w *float32, n int, s float32)
	swiGLU     func(dst, gate, up *float32, n int)
	rope       func(x, cos, sin *float32, n int)

	geGLU      func(dst, gate, up *float32, n int)
	ropeHalves func(x, y, cos, sin *float32, n int)

	max    func(x *float32, n int) (top float32, bits uint32)
	scores func(dst, q *float32, k *byte, tiles, blocks int)
	powers func(x *float32, n int, top float32) (sum float32)
	weigh  func(out, w *float32, v *byte, n, blocks int)

	scores1 func(dst, q *float32, k *byte, tiles, blocks int)
	weigh1  func(out, w *float32, v *byte, n, blocks int)
}

const (
	mulRows = 4  // rows that the Mul routines do together
	lanes   = 16 // values that the vector routines do together
)

// set makes a Set of the routines: it cuts slices to what they take and gives
// what is left to the twins.
func (r *routines) set(name string) *Set {
	return &Set{
		Name: name,
		Quantize: func(p *Panel, t, b0 int, x []float32) {
			checkQuantize(p, t, b0, x)
			if n := len(x) / Block; n > 0 {
				i := b0*p.Tokens + t
				r.quantize(&p.Q[i*Block], &p.Scale[i], &p.Sum[i], &x[0], n, p.Tokens)
			}
		},
		Formats: r.formats(),
		Dot:     r.dotAny,
		RMSNorm: func(dst, x, w []float32, eps float32) {
			checkThree("RMSNorm", dst, x, w)
			s := rmsScale(r.dotAny(x, x), len(x), eps)
			n := len(x) &^ (lanes - 1)
			if n > 0 {
				r.scaleBy(&dst[0], &x[0], &w[0], n, s)
			}
			scaleBy(dst[n:], x[n:], w[n:], s)
		},
		SwiGLU: func(dst, gate, up []float32) {
			checkThree("SwiGLU", dst, gate, up)
			n := len(gate) &^ (lanes - 1)
			if n > 0 {
				r.swiGLU(&dst[0], &gate[0], &up[0], n)
			}
			swiGLU(dst[n:], gate[n:], up[n:])
		},
		Rope: func(x, cos, sin []float32) {
			checkRope(x, cos, sin)
			n := len(cos) &^ (lanes - 1)
			if n > 0 {
				r.rope(&x[0], &cos[0], &sin[0], n)
			}
			rope(x[n:], cos[n:], sin[n:])
		},
		GeGLU: func(dst, gate, up []float32) {
			checkThree("GeGLU", dst, gate, up)
			n := len(gate) &^ (lanes - 1)
			if n > 0 {
				r.geGLU(&dst[0], &gate[0], &up[0], n)
			}
			geGLU(dst[n:], gate[n:], up[n:])
		},
		RopeHalves: func(x, cos, sin []float32) {
			checkRopeHalves(x, cos, sin)
			y := x[len(cos):]
			n := len(cos) &^ (lanes - 1)
			if n > 0 {
				r.ropeHalves(&x[0], &y[0], &cos[0], &sin[0], n)
			}
			turn(x[n:], y[n:], cos[n:], sin[n:])
		},
		Scores: func(dst, q []float32, k []byte, queries, tiles, blocks int) {
			checkScores(dst, q, k, queries, tiles, blocks)
			f := r.scores
			if queries == 1 && r.scores1 != nil {
				f = r.scores1
			}
			f(&dst[0], &q[0], &k[0], tiles, blocks)
		},
		Powers: func(x []float32, top float32) float32 {
			checkPowers(x)
			return r.powers(&x[0], len(x), top)
		},
		Weigh: func(out, w []float32, v []byte, queries, n, blocks int) {
			checkWeigh(out, w, v, queries, n, blocks)
			f := r.weigh
			if queries == 1 && r.weigh1 != nil {
				f = r.weigh1
			}
			f(&out[0], &w[0], &v[0], n, blocks)
		},
		Max: func(x []float32) (float32, bool) {
			n := len(x) &^ (lanes - 1)
			if n == 0 {
				return maxOf(x)
			}
			top, bits := r.max(&x[0], n)
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
func (r *routines) dotAny(a, b []float32) float32 {
	need("Dot", "length of b", len(b), len(a))
	n := len(a) &^ (lanes - 1)
	sum := dot(a[n:], b[n:len(a)])
	if n > 0 {
		sum += r.dot(&a[0], &b[0], n)
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

// prefetchLines asks for n cache lines.
//
//go:noescape
func prefetchLines(p *byte, n int)
