package kernel

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/introgen/introgen/engine/quant"
)

// benchRows and benchBlocks are a matrix that fits the second-level cache, with
// rows about as long as the real model's, and whole blocks of every type.
const (
	benchRows   = 512
	benchBlocks = 24
)

// report turns time into multiply-adds and bytes of weights a nanosecond.
func report(b *testing.B, macs, bytes int) {
	ns := float64(b.Elapsed().Nanoseconds())
	b.ReportMetric(float64(macs)*float64(b.N)/ns, "MAC/ns")
	b.ReportMetric(float64(bytes)*float64(b.N)/ns, "GB/s")
}

// benchTypes are the types of a set in the order of their ids.
func benchTypes(s *Set) []quant.Type { return slices.Sorted(maps.Keys(s.Formats)) }

func BenchmarkMul(b *testing.B) {
	for _, s := range sets(b) {
		for _, typ := range benchTypes(s) {
			b.Run(fmt.Sprint(s.Name, "/", typ), func(b *testing.B) {
				r := rand.New(rand.NewPCG(1, 1))
				w, p := blocks(r, typ, benchRows, benchBlocks), panel(r, 1, benchBlocks)
				dst := make([]float32, benchRows)
				for b.Loop() {
					s.Formats[typ].Mul(dst, w, p, benchRows, false)
				}
				report(b, benchRows*benchBlocks*Block, len(w))
			})
		}
	}
}

func BenchmarkPack(b *testing.B) {
	for _, s := range sets(b) {
		for _, typ := range benchTypes(s) {
			b.Run(fmt.Sprint(s.Name, "/", typ), func(b *testing.B) {
				f := s.Formats[typ]
				w := blocks(rand.New(rand.NewPCG(1, 1)), typ, TileRows, benchBlocks)
				dst := make([]byte, TileRows*f.TileBytes(benchBlocks*Block))
				for b.Loop() {
					f.Pack(dst, w, benchBlocks)
				}
				report(b, TileRows*benchBlocks*Block, len(w))
			})
		}
	}
}

func BenchmarkTile(b *testing.B) {
	for _, s := range sets(b) {
		for _, typ := range benchTypes(s) {
			for _, tokens := range []int{1, 4, 13, 64} {
				b.Run(fmt.Sprint(s.Name, "/", typ, "/", tokens), func(b *testing.B) {
					r := rand.New(rand.NewPCG(1, 1))
					f, p := s.Formats[typ], panel(r, tokens, benchBlocks)
					n := TileRows * f.TileBytes(benchBlocks*Block)
					tiles := bytesAligned(benchRows / TileRows * n)
					for i := 0; i < len(tiles); i += n {
						f.Pack(tiles[i:], blocks(r, typ, TileRows, benchBlocks), benchBlocks)
					}
					dst, scratch := make([]float32, benchRows*tokens), Aligned(tokens*TileRows)
					for b.Loop() {
						f.Tile(dst, benchRows, tiles, p, benchRows, false, scratch, tiles)
					}
					report(b, benchRows*benchBlocks*Block*tokens, len(tiles))
				})
			}
		}
	}
}

func BenchmarkVector(b *testing.B) {
	for _, s := range sets(b) {
		r := rand.New(rand.NewPCG(1, 1))
		const n = 576
		x, y, z := normal(r, n, 1), normal(r, n, 1), make([]float32, n)
		p := NewPanel(Aligned, 1, n)
		p.Shape(1, n)
		for _, c := range []struct {
			name string
			f    func()
		}{
			{"quantize 576", func() { s.Quantize(p, 0, 0, x) }},
			{"dot 576", func() { s.Dot(x, y) }},
			{"norm 576", func() { s.RMSNorm(z, x, y, 1e-5) }},
			{"swiglu 576", func() { s.SwiGLU(z, x, y) }},
			{"geglu 576", func() { s.GeGLU(z, x, y) }},
			{"rope of halves 64", func() { s.RopeHalves(z[:64], x[:32], y[:32]) }},
			{"rope 64", func() { s.Rope(z[:64], x[:64], y[:64]) }},
			{"max 576", func() { s.Max(x) }},
		} {
			b.Run(s.Name+"/"+c.name, func(b *testing.B) {
				for b.Loop() {
					c.f()
				}
			})
		}
	}
}

// BenchmarkAttention attends to positions of heads of 64 with so many queries, as decoding does
// with those that share a head of keys, and a prompt with those of several tokens.
func BenchmarkAttention(b *testing.B) {
	const dim = 64
	for _, s := range sets(b) {
		for _, n := range []int{33, 512, 4096} {
			r := rand.New(rand.NewPCG(1, 1))
			h := newHead(normal(r, n*dim, 1), normal(r, n*dim, 1), dim)
			for _, rows := range []int{1, 4, 48} {
				b.Run(fmt.Sprintf("%s/%d positions/%d queries", s.Name, n, rows), func(b *testing.B) {
					a, q, out := NewAttention(Aligned, rows, dim), normal(r, dim, 1), make([]float32, dim)
					for b.Loop() {
						a.Reset(rows)
						for i := range rows {
							a.Query(i, q, 0.125, 0, n)
						}
						a.Over(s, h.k, h.v, 0, n)
						for i := range rows {
							a.Result(i, out)
						}
					}
					report(b, 2*rows*n*dim, 2*n*CacheTileBytes(dim)/CacheTile)
				})
			}
		}
	}
}

// bytesAligned returns n bytes that begin on a cache line.
func bytesAligned(n int) []byte {
	x := Aligned((n + 3) / 4)
	return unsafe.Slice((*byte)(unsafe.Pointer(&x[0])), n)
}
