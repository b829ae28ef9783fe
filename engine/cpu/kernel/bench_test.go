package kernel

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/introgen/introgen/engine/quant"
)

// benchRows and benchBlocks are a matrix that fits the second-level cache, with
// rows as long as the real model's.
const (
	benchRows   = 512
	benchBlocks = 18
)

// report turns time into multiply-adds and bytes of weights a nanosecond.
func report(b *testing.B, macs, bytes int) {
	ns := float64(b.Elapsed().Nanoseconds())
	b.ReportMetric(float64(macs)*float64(b.N)/ns, "MAC/ns")
	b.ReportMetric(float64(bytes)*float64(b.N)/ns, "GB/s")
}

func BenchmarkMul(b *testing.B) {
	for _, s := range sets(b) {
		for _, k := range []struct {
			typ quant.Type
			f   func([]float32, []byte, *Panel, int, bool)
		}{{quant.Q8_0, s.MulQ8}, {quant.Q4_1, s.MulQ41}} {
			b.Run(fmt.Sprint(s.Name, "/", k.typ), func(b *testing.B) {
				r := rand.New(rand.NewPCG(1, 1))
				w, p := blocks(r, k.typ, benchRows, benchBlocks), panel(r, 1, benchBlocks)
				dst := make([]float32, benchRows)
				for b.Loop() {
					k.f(dst, w, p, benchRows, false)
				}
				report(b, benchRows*benchBlocks*Block, len(w))
			})
		}
	}
}

func BenchmarkPack(b *testing.B) {
	for _, s := range sets(b) {
		for _, k := range []struct {
			typ quant.Type
			f   func(dst, src []byte, n int)
		}{{quant.Q8_0, s.PackQ8}, {quant.Q4_1, s.PackQ41}} {
			b.Run(fmt.Sprint(s.Name, "/", k.typ), func(b *testing.B) {
				w := blocks(rand.New(rand.NewPCG(1, 1)), k.typ, TileRows, benchBlocks)
				dst := make([]byte, len(w))
				for b.Loop() {
					k.f(dst, w, benchBlocks)
				}
				report(b, 0, len(w))
			})
		}
	}
}

func BenchmarkTile(b *testing.B) {
	for _, s := range sets(b) {
		for _, k := range []struct {
			typ quant.Type
			f   func([]float32, int, []byte, *Panel, int, bool, []float32, []byte)
		}{{quant.Q8_0, s.TileQ8}, {quant.Q4_1, s.TileQ41}} {
			for _, tokens := range []int{1, 4, 13, 64} {
				b.Run(fmt.Sprint(s.Name, "/", k.typ, "/", tokens), func(b *testing.B) {
					r := rand.New(rand.NewPCG(1, 1))
					w, p := blocks(r, k.typ, benchRows, benchBlocks), panel(r, tokens, benchBlocks)
					tiles := bytesAligned(len(w))
					copy(tiles, w)
					dst, scratch := make([]float32, benchRows*tokens), Aligned(tokens*TileRows)
					for b.Loop() {
						k.f(dst, benchRows, tiles, p, benchRows, false, scratch, tiles)
					}
					report(b, benchRows*benchBlocks*Block*tokens, len(w))
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
		k, v := normal(r, 33*64, 1), normal(r, 33*64, 1)
		scores := make([]float32, 33)
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
			{"attend 33 positions of 64", func() { s.Attend(z[:64], x[:64], k, v, scores, 0.125) }},
		} {
			b.Run(s.Name+"/"+c.name, func(b *testing.B) {
				for b.Loop() {
					c.f()
				}
			})
		}
	}
}

// bytesAligned returns n bytes that begin on a cache line.
func bytesAligned(n int) []byte {
	x := Aligned((n + 3) / 4)
	return unsafe.Slice((*byte)(unsafe.Pointer(&x[0])), n)
}
