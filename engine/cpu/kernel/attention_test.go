package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// head is the keys and values of some positions, as the cache has them and as float64 has
// what is there.
type head struct {
	k, v   []byte
	keys   []float64 // [position][dim]
	values []float64
}

// newHead writes keys and values of so many values each to a cache.
func newHead(k, v []float32, dim int) *head {
	n, size := len(k)/dim, CacheTileBytes(dim)
	tiles := (n + CacheTile - 1) / CacheTile
	h := &head{k: bytesAligned(tiles * size), v: bytesAligned(tiles * size), keys: make([]float64, len(k)), values: make([]float64, len(v))}
	blocks := (dim + Block - 1) / Block
	p := NewPanel(Aligned, 1, blocks*Block)
	p.Shape(1, blocks*Block)
	row := make([]float32, blocks*Block)
	for i := range n {
		for _, c := range []struct {
			from []float32
			to   []float64
			tile []byte
			put  func([]byte, int, int, *Panel)
		}{{k, h.keys, h.k, PutKey}, {v, h.values, h.v, PutValue}} {
			copy(row, c.from[i*dim:(i+1)*dim])
			quantize(p, 0, 0, row)
			c.put(c.tile[i/CacheTile*size:], i%CacheTile, 0, p)
			for j := range dim {
				c.to[i*dim+j] = float64(p.Scale[j/Block]) * float64(p.Q[j])
			}
		}
	}
	return h
}

// want is the attention of q to positions from to to-1 in float64.
func (h *head) want(q []float32, scale float64, from, to int) []float64 {
	dim := len(q)
	p, top, sum := make([]float64, to), math.Inf(-1), 0.0
	for i := from; i < to; i++ {
		for j, x := range q {
			p[i] += float64(x) * h.keys[i*dim+j] * scale
		}
		top = max(top, p[i])
	}
	for i := from; i < to; i++ {
		p[i] = math.Exp(p[i] - top)
		sum += p[i]
	}
	out := make([]float64, dim)
	for i := from; i < to; i++ {
		for j := range out {
			out[j] += p[i] / sum * h.values[i*dim+j]
		}
	}
	return out
}

// attendAll is the attention of one query to all positions.
func attendAll(s *Set, h *head, q []float32, scale float32, n int) []float32 {
	a := NewAttention(Aligned, 1, len(q))
	a.Reset(1)
	a.Query(0, q, scale, 0, n)
	a.Over(s, h.k, h.v, 0, n)
	out := make([]float32, len(q))
	a.Result(0, out)
	return out
}

// What the cache keeps is within half a step of 16 bits of what was written.
func TestCacheKeeps(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 1))
	for _, dim := range []int{1, 6, 32, 40, 64, 256} {
		const n = 37
		k, v := normal(r, n*dim, 3), normal(r, n*dim, 3)
		h := newHead(k, v, dim)
		for i := range k {
			most := 0.0 // of the block
			for j := i / dim * dim; j < (i/dim+1)*dim; j++ {
				if j%dim/Block == i%dim/Block {
					most = max(most, math.Abs(float64(k[j])))
				}
			}
			near(t, "key", k[i], h.keys[i], most/most16, 0.51)
		}
		if len(h.k) != (n+CacheTile-1)/CacheTile*CacheTileBytes(dim) {
			t.Errorf("%d positions of %d values take %d bytes", n, dim, len(h.k))
		}
		blocks := (dim + Block - 1) / Block
		for i := range n {
			for j := range dim {
				scales, values := block(h.v[(i/CacheTile*blocks+j/Block)*CacheBlock:])
				if got := float64(scales[i%CacheTile]) * float64(values[i%CacheTile*Block+j%Block]); got != h.values[i*dim+j] {
					t.Fatalf("value %d of position %d is %v, written as %v", j, i, got, h.values[i*dim+j])
				}
				scales, values = block(h.k[(i/CacheTile*blocks+j/Block)*CacheBlock:])
				if got := float64(scales[i%CacheTile]) * float64(values[j%Block*CacheTile+i%CacheTile]); got != h.keys[i*dim+j] {
					t.Fatalf("value %d of key %d is %v, written as %v", j, i, got, h.keys[i*dim+j])
				}
			}
		}
	}
}

func TestAttend(t *testing.T) {
	for _, s := range sets(t) {
		r := rand.New(rand.NewPCG(5, 1))
		for _, dim := range []int{1, 6, 8, 16, 24, 32, 40, 48, 64, 80, 96, 128, 256} {
			for _, n := range []int{1, 2, 3, 4, 5, 13, 16, 17, 33, 100, Span, Span + 1, 3*Span + 5} {
				q := normal(r, dim, 1)
				h := newHead(normal(r, n*dim, 1), normal(r, n*dim, 1), dim)
				scale := float32(1 / math.Sqrt(float64(dim)))
				out := attendAll(s, h, q, scale, n)
				for j, w := range h.want(q, float64(scale), 0, n) {
					near(t, s.Name+" attention", out[j], w, 1, 3e-6)
				}
			}
		}
	}
}

// Queries that look at other positions each, positions in parts that are added up, and
// memory behind the positions that holds anything.
func TestAttendRanges(t *testing.T) {
	for _, s := range sets(t) {
		t.Run(s.Name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(16, 1))
			for range 60 {
				dim, rows, n := 1+r.IntN(100), 1+r.IntN(11), 2+r.IntN(3*Span)
				h := newHead(normal(r, n*dim, 1), normal(r, n*dim, 1), dim)
				for i := n; i%CacheTile != 0; i++ { // behind the last position
					nan := NewPanel(Aligned, 1, (dim+Block-1)/Block*Block)
					nan.Shape(1, (dim+Block-1)/Block*Block)
					for b := range nan.Scale {
						nan.Scale[b] = float32(math.NaN())
					}
					PutKey(h.k[i/CacheTile*CacheTileBytes(dim):], i%CacheTile, 0, nan)
					PutValue(h.v[i/CacheTile*CacheTileBytes(dim):], i%CacheTile, 0, nan)
				}
				parts := make([]*Attention, 1+r.IntN(3))
				queries, from, to := make([][]float32, rows), make([]int, rows), make([]int, rows)
				for i := range rows {
					queries[i] = normal(r, dim, 2)
					from[i] = r.IntN(n)
					to[i] = from[i] + 1 + r.IntN(n-from[i])
				}
				for p := range parts {
					a := NewAttention(Aligned, rows+p, dim)
					a.Reset(rows)
					for i, q := range queries {
						a.Query(i, q, 0.3, from[i], to[i])
					}
					a.Over(s, h.k, h.v, n*p/len(parts), n*(p+1)/len(parts))
					parts[p] = a
				}
				for _, p := range parts[1:] {
					parts[0].Add(p)
				}
				out := make([]float32, dim)
				for i, q := range queries {
					parts[0].Result(i, out)
					for j, w := range h.want(q, float64(float32(0.3)), from[i], to[i]) {
						near(t, fmt.Sprintf("query %d of %d, positions %d to %d of %d in %d parts, column %d of %d", i, rows, from[i], to[i], n, len(parts), j, dim), out[j], w, 1, 1e-5)
					}
				}
			}
		})
	}
}

// A NaN anywhere in the inputs reaches attention's result.
func TestAttendNotFinite(t *testing.T) {
	for _, s := range sets(t) {
		for _, n := range []int{1, 3, 17, Span + 3} {
			for at := range n {
				const dim = 64
				for _, inKey := range []bool{true, false} {
					q, k, v := make([]float32, dim), make([]float32, n*dim), make([]float32, n*dim)
					q[0] = 1
					if inKey {
						k[at*dim] = float32(math.NaN())
					} else {
						v[at*dim+5] = float32(math.NaN())
					}
					if out := attendAll(s, newHead(k, v, dim), q, 1, n); out[5] == out[5] {
						t.Fatalf("%s: NaN in position %d of %d is lost", s.Name, at, n)
					}
				}
			}
		}
	}
}

// The scores that attention makes powers of are at most 0, and some far below.
func TestPowers(t *testing.T) {
	for _, s := range sets(t) {
		r := rand.New(rand.NewPCG(17, 1))
		for _, n := range []int{16, 32, 48, 128} {
			x, top := normal(r, n, 20), float32(60)
			var want []float64
			sum := 0.0
			for _, v := range x {
				want = append(want, math.Exp(float64(v)-float64(top)))
				sum += want[len(want)-1]
			}
			near(t, s.Name+" sum", s.Powers(x, top), sum, sum, 3e-6)
			for i, w := range want {
				near(t, s.Name+" power", x[i], w, w+1e-30, 3e-6) // 1e-30: the smallest power may be 1e-38
			}
		}
	}
}
