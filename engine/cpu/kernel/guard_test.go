//go:build unix

package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/introgen/introgen/engine/cpu/pages/pagestest"
)

// A guard is memory that a kernel is given in place of ordinary slices: each
// copy ends at a page that is not mapped, or begins behind one. What the kernel
// reads or writes beyond ends the test with the fault's address.
type guard struct {
	*pagestest.Arena
	end bool
}

// guards runs f with memory that ends at an unmapped page, and with memory that
// begins behind one.
func guards(t *testing.T, f func(t *testing.T, g guard)) {
	a := pagestest.New(t)
	for _, end := range []bool{true, false} {
		f(t, guard{a, end})
		a.Free()
	}
}

func (g guard) bytes(from []byte) []byte {
	b := g.Beginning
	if g.end {
		b = g.Ending
	}
	to := b(len(from))
	copy(to, from)
	return to
}

func (g guard) floats(from []float32) []float32 {
	if len(from) == 0 {
		return nil
	}
	return pagestest.Floats(g.bytes(unsafe.Slice((*byte)(unsafe.Pointer(&from[0])), 4*len(from))))
}

func (g guard) panel(p *Panel) *Panel {
	q := NewPanel(func(n int) []float32 { return g.floats(make([]float32, n)) }, p.Tokens, p.Blocks*Block)
	q.Tokens, q.Blocks = p.Tokens, p.Blocks
	copy(q.Q, p.Q)
	copy(q.Scale, p.Scale)
	copy(q.Sum, p.Sum)
	return q
}

// guardLengths are all lengths around whole vectors, and longer ones.
var guardLengths = func() []int {
	var all []int
	for n := 1; n <= 70; n++ {
		all = append(all, n)
	}
	return append(all, 95, 96, 97, 127, 128, 129, 255, 256, 257, 575, 576, 577, 960, 1023, 1024, 1025, 2047, 2048, 2049, 5632, 8192)
}()

// same fails the test where a kernel gave something else under guard pages than
// it gives in ordinary memory.
func same(t *testing.T, what string, got, want []float32) {
	t.Helper()
	for i, w := range want {
		if math.Float32bits(got[i]) != math.Float32bits(w) {
			t.Fatalf("%s: value %d is %v under guard pages, %v elsewhere", what, i, got[i], w)
		}
	}
}

func TestVectorsUnderGuard(t *testing.T) {
	for _, s := range sets(t) {
		t.Run(s.Name, func(t *testing.T) {
			guards(t, func(t *testing.T, g guard) {
				r := rand.New(rand.NewPCG(1, 9))
				for _, n := range guardLengths {
					a, b, out := normal(r, n, 1), normal(r, n, 1), make([]float32, n)
					ga, gb, gout := g.floats(a), g.floats(b), g.floats(out)
					same(t, fmt.Sprint("dot ", n), []float32{s.Dot(ga, gb)}, []float32{s.Dot(a, b)})
					s.RMSNorm(out, a, b, 1e-5)
					s.RMSNorm(gout, ga, gb, 1e-5)
					same(t, fmt.Sprint("norm ", n), gout, out)
					s.SwiGLU(out, a, b)
					s.SwiGLU(gout, ga, gb)
					same(t, fmt.Sprint("swiglu ", n), gout, out)
					s.GeGLU(out, a, b)
					s.GeGLU(gout, ga, gb)
					same(t, fmt.Sprint("geglu ", n), gout, out)
					top, ok := s.Max(a)
					gtop, gok := s.Max(ga)
					if top != gtop || ok != gok {
						t.Fatalf("max %d: %v %v, want %v %v", n, gtop, gok, top, ok)
					}
					if cos, gcos := normal(r, n&^1, 1), []float32(nil); n > 1 {
						gcos = g.floats(cos)
						gsin := g.floats(b[:n&^1])
						s.Rope(a, cos, b[:n&^1])
						s.Rope(ga, gcos, gsin)
						same(t, fmt.Sprint("rope ", n), ga, a)
					}
					if h := n / 2; h > 0 {
						gcos, gsin := g.floats(out[:h]), g.floats(b[:h])
						s.RopeHalves(a[:2*h], out[:h], b[:h])
						s.RopeHalves(ga[:2*h], gcos, gsin)
						same(t, fmt.Sprint("rope of halves ", h), ga, a)
					}
					s.Prefetch(g.bytes(make([]byte, n)))
					g.Free()
				}
			})
		})
	}
}

// TestAttendUnderGuard: the kernels of attention keep to the tiles, the scores and the sums.
func TestAttendUnderGuard(t *testing.T) {
	for _, s := range sets(t) {
		t.Run(s.Name, func(t *testing.T) {
			guards(t, func(t *testing.T, g guard) {
				r := rand.New(rand.NewPCG(2, 9))
				for _, dim := range []int{1, 2, 6, 31, 32, 33, 64, 96, 100, 256, 320} {
					for _, n := range []int{1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 18, 31, 32, 33, 63, 64, 65, Span - 1, Span} {
						h := newHead(normal(r, n*dim, 1), normal(r, n*dim, 1), dim)
						nb, tiles := (dim+Block-1)/Block, (n+CacheTile-1)/CacheTile
						q, out, dst := normal(r, QueryRows*nb*Block, 1), normal(r, QueryRows*nb*Block, 1), make([]float32, QueryRows*Span)
						gout, gdst := g.floats(out), g.floats(dst)
						queries := 1 + n%QueryRows
						s.Scores(dst, q, h.k, queries, tiles, nb)
						s.Scores(gdst, g.floats(q), g.bytes(h.k), queries, tiles, nb)
						same(t, fmt.Sprintf("scores %d of %d", n, dim), gdst, dst)
						w, gw := dst[:tiles*CacheTile], g.floats(dst[:tiles*CacheTile])
						sum, gsum := s.Powers(w, 1), s.Powers(gw, 1)
						same(t, fmt.Sprintf("powers %d of %d", n, dim), append(gw, gsum), append(slices.Clone(w), sum))
						v := h.v[:(n-1)/CacheTile*nb*CacheBlock+nb*CacheBlock]
						s.Weigh(out, dst, v, queries, n, nb)
						s.Weigh(gout, g.floats(dst), g.bytes(v), queries, n, nb)
						same(t, fmt.Sprintf("weigh %d of %d", n, dim), gout, out)
						g.Free()
					}
				}
			})
		})
	}
}

func TestQuantizeUnderGuard(t *testing.T) {
	for _, s := range sets(t) {
		t.Run(s.Name, func(t *testing.T) {
			guards(t, func(t *testing.T, g guard) {
				r := rand.New(rand.NewPCG(3, 9))
				for tokens := 1; tokens <= 5; tokens++ {
					for _, nb := range []int{1, 2, 3, 4, 7, 8, 9, 17} {
						p := NewPanel(Aligned, tokens, nb*Block)
						p.Shape(tokens, nb*Block)
						gp := g.panel(p)
						for tok := range tokens {
							for b0 := range nb { // a block alone, and then all to the end
								x := normal(r, (nb-b0)*Block, 1)
								s.Quantize(p, tok, b0, x[:Block])
								s.Quantize(gp, tok, b0, g.floats(x[:Block]))
								s.Quantize(p, tok, b0, x)
								s.Quantize(gp, tok, b0, g.floats(x))
							}
						}
						same(t, "scale", gp.Scale, p.Scale)
						same(t, "sum", gp.Sum, p.Sum)
						if !slices.Equal(gp.Q, p.Q) {
							t.Fatalf("%d tokens of %d blocks: other values", tokens, nb)
						}
						g.Free()
					}
				}
			})
		})
	}
}

// guardBlocks are the blocks of a row of the format.
func guardBlocks(f Format) []int {
	all := []int{1, 2, 3, 4, 5, 8, 9, 16, 17, 33, 64, 65, 257}
	for i, n := range all {
		all[i] = whole(f, n)
	}
	return slices.Compact(all)
}

func TestMulUnderGuard(t *testing.T) {
	for _, s := range sets(t) {
		for typ, f := range s.Formats {
			t.Run(fmt.Sprint(s.Name, " ", typ), func(t *testing.T) {
				guards(t, func(t *testing.T, g guard) {
					r := rand.New(rand.NewPCG(4, uint64(typ)))
					for _, nb := range guardBlocks(f) {
						for rows := 0; rows <= 21; rows++ {
							w, p, dst := blocks(r, typ, rows, nb), panel(r, 1, nb), normal(r, rows, 1)
							gw, gp, gdst := g.bytes(w), g.panel(p), g.floats(dst)
							for _, add := range []bool{true, false} {
								f.Mul(dst, w, p, rows, add)
								f.Mul(gdst, gw, gp, rows, add)
								same(t, fmt.Sprintf("%d rows of %d blocks, add %v", rows, nb, add), gdst, dst)
							}
							g.Free()
						}
					}
				})
			})
		}
	}
}

func TestTileAndPackUnderGuard(t *testing.T) {
	for _, s := range sets(t) {
		for typ, f := range s.Formats {
			t.Run(fmt.Sprint(s.Name, " ", typ), func(t *testing.T) {
				guards(t, func(t *testing.T, g guard) {
					r := rand.New(rand.NewPCG(5, uint64(typ)))
					for _, nb := range guardBlocks(f) {
						for _, rows := range []int{0, TileRows, 2 * TileRows, 3 * TileRows} {
							for _, tokens := range []int{1, 2, 3, 4, 5, 7, 8, 9, 16, 63, 64} {
								if nb > 33 && (tokens > 5 || rows > TileRows) {
									continue // longer rows change nothing of tokens
								}
								w, p := blocks(r, typ, rows, nb), panel(r, tokens, nb)
								from, to := f.RowBytes(nb*Block), f.TileBytes(nb*Block)
								tiles, gtiles, gw := make([]byte, rows*to), g.bytes(make([]byte, rows*to)), g.bytes(w)
								for i := 0; i < rows; i += TileRows {
									f.Pack(tiles[i*to:], w[i*from:], nb)
									f.Pack(gtiles[i*to:(i+TileRows)*to:(i+TileRows)*to], gw[i*from:(i+TileRows)*from:(i+TileRows)*from], nb)
								}
								if !slices.Equal(tiles, gtiles) {
									t.Fatalf("%d rows of %d blocks: other tiles", rows, nb)
								}
								stride := rows + r.IntN(3)
								dst := normal(r, (tokens-1)*stride+rows, 1)
								gdst, gp := g.floats(dst), g.panel(p)
								for _, add := range []bool{true, false} {
									f.Tile(dst, stride, tiles, p, rows, add, make([]float32, tokens*TileRows), nil)
									f.Tile(gdst, stride, gtiles, gp, rows, add, g.floats(make([]float32, tokens*TileRows)), gw[len(gw)-min(len(gw), r.IntN(99)):])
									same(t, fmt.Sprintf("%d rows of %d blocks, %d tokens, add %v", rows, nb, tokens, add), gdst, dst)
									if f.PackTile == nil || rows != TileRows {
										continue
									}
									f.PackTile(dst, stride, w, tiles, p, add, make([]float32, tokens*TileRows), nil)
									f.PackTile(gdst, stride, gw, gtiles, gp, add, g.floats(make([]float32, tokens*TileRows)), nil)
									same(t, fmt.Sprintf("packed and multiplied: %d blocks, %d tokens, add %v", nb, tokens, add), gdst, dst)
								}
								g.Free()
							}
						}
					}
				})
			})
		}
	}
}
