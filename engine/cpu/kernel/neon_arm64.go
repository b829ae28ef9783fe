package kernel

//go:noescape
func mulQ8NEON(dst *float32, w *byte, q *int16, scale *float32, rows, blocks, add int)

//go:noescape
func mulQ41NEON(dst *float32, w *byte, q *int16, scale, sum *float32, rows, blocks, add int)

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
	return s
}

// one is 1 for true: assembly compares a word.
func one(b bool) int {
	if b {
		return 1
	}
	return 0
}
