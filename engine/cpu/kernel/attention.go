package kernel

import "math"

const (
	// QueryRows is the number of queries that the kernels of attention do together: a
	// key is read, and made a float, once for all of them.
	QueryRows = 4
	// Span is the most positions whose scores are there at once: so few that they
	// stay in the first-level cache.
	Span = 128
)

// Attention is the attention of some queries, which share a head of keys and values,
// to some positions: what is known of it so far. Positions come in any number of
// parts; of each query the largest score is kept, the sum of the powers, and the sum of
// the values weighted with them, relative to that score, so that a later part with
// a larger one only scales what is there.
type Attention struct {
	rows, blocks int
	from, to     []int     // which positions a query looks at
	q            []float32 // [query/4][column][query%4]
	out          []float32 // [query][column]
	top, sum     []float32
	scores       []float32 // [query%4][Span]
}

// NewAttention makes room for so many queries of so many values, in memory from floats.
func NewAttention(floats func(n int) []float32, rows, dim int) *Attention {
	rows = (rows + QueryRows - 1) &^ (QueryRows - 1)
	blocks := (dim + Block - 1) / Block
	n := rows * blocks * Block
	return &Attention{
		blocks: blocks, from: make([]int, rows), to: make([]int, rows),
		q: floats(n), out: floats(n), top: floats(rows), sum: floats(rows), scores: floats(QueryRows * Span),
	}
}

// Reset begins anew with so many queries, which Query is to set.
func (a *Attention) Reset(rows int) {
	need("Attention", "number of queries", len(a.top), rows)
	a.rows = rows
	whole := (rows + QueryRows - 1) &^ (QueryRows - 1)
	for r := range whole {
		a.from[r], a.to[r] = 0, 0
		a.top[r], a.sum[r] = float32(math.Inf(-1)), 0
	}
	n := whole * a.blocks * Block
	clear(a.q[:n])
	clear(a.out[:n])
}

// Query sets query r to x*scale; it looks at positions from to to-1.
func (a *Attention) Query(r int, x []float32, scale float32, from, to int) {
	need("Attention", "number of queries", a.rows, r+1)
	need("Attention", "columns of a query", a.blocks*Block, len(x))
	a.from[r], a.to[r] = from, to
	q := a.q[r/QueryRows*QueryRows*a.blocks*Block+r%QueryRows:]
	for i, v := range x {
		q[i*QueryRows] = v * scale
	}
}

// Over adds positions from to to-1 of a head, whose tiles k and v are.
func (a *Attention) Over(s *Set, k, v []byte, from, to int) {
	for p := from &^ (CacheTile - 1); p < to; p += Span {
		for g := 0; g < a.rows; g += QueryRows {
			a.group(s, k, v, g, max(p, from), min(p+Span, to))
		}
	}
}

// group adds positions from to to-1, at most Span from a tile's first, to queries g and following.
func (a *Attention) group(s *Set, k, v []byte, g, from, to int) {
	lo, hi := to, from
	for r := g; r < g+QueryRows; r++ {
		if l, h := max(from, a.from[r]), min(to, a.to[r]); l < h {
			lo, hi = min(lo, l), max(hi, h)
		}
	}
	if lo >= hi {
		return
	}
	first := lo / CacheTile
	begin := first * CacheTile
	n := hi - begin
	tiles, bytes := (n+CacheTile-1)/CacheTile, a.blocks*CacheBlock
	columns := a.blocks * Block
	queries := min(QueryRows, a.rows-g)
	s.Scores(a.scores, a.q[g*columns:], k[first*bytes:], queries, tiles, a.blocks)
	for i := range queries {
		a.soften(s, g+i, a.scores[i*Span:][:tiles*CacheTile], max(from, a.from[g+i])-begin, min(to, a.to[g+i])-begin)
	}
	s.Weigh(a.out[g*columns:], a.scores, v[first*bytes:], queries, n, a.blocks)
}

// soften makes weights of the scores x of query r, of which those from l to h-1 count.
func (a *Attention) soften(s *Set, r int, x []float32, l, h int) {
	if l >= h {
		clear(x)
		return
	}
	largest, _ := s.Max(x[l:h])
	top := max(a.top[r], largest)
	none := float32(math.Inf(-1))
	for _, outside := range [...][]float32{x[:l], x[h:]} { // whatever lies there
		for i := range outside {
			outside[i] = none
		}
	}
	sum := s.Powers(x, top)
	clear(x[:l])
	clear(x[h:])
	if a.top[r] != top {
		if a.sum[r] != 0 {
			a.rescale(r, exp(a.top[r]-top))
		}
		a.top[r] = top
	}
	a.sum[r] += sum
}

// rescale multiplies what query r has so far.
func (a *Attention) rescale(r int, f float32) {
	a.sum[r] *= f
	columns := a.blocks * Block
	y := a.out[r*columns:][:columns]
	for i := range y {
		y[i] *= f
	}
}

// Add adds what b has seen, of the same queries and other positions.
func (a *Attention) Add(b *Attention) {
	columns := a.blocks * Block
	for r := range a.rows {
		top := max(a.top[r], b.top[r])
		if math.IsInf(float64(top), -1) { // neither has seen any
			continue
		}
		a.rescale(r, exp(a.top[r]-top))
		f := exp(b.top[r] - top)
		a.top[r], a.sum[r] = top, a.sum[r]+f*b.sum[r]
		y := a.out[r*columns:][:columns]
		for i, v := range b.out[r*columns:][:columns] {
			y[i] += f * v
		}
	}
}

// Result writes the attention of query r to dst.
func (a *Attention) Result(r int, dst []float32) {
	need("Attention", "columns of a query", a.blocks*Block, len(dst))
	f := 1 / a.sum[r]
	for i, v := range a.out[r*a.blocks*Block:][:len(dst)] {
		dst[i] = v * f
	}
}
