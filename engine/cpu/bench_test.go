package cpu_test

import (
	"fmt"
	"testing"

	"github.com/introgen/introgen/engine/cpu"
	"github.com/introgen/introgen/engine/cpu/kernel"
	"github.com/introgen/introgen/engine/transformer/transformertest"
	"github.com/introgen/introgen/models"
	"github.com/introgen/introgen/models/modeltest"
)

// BenchmarkModel passes the prompt, and decodes 20 tokens behind it, on the
// real files; a decode's figure is for one token.
func BenchmarkModel(b *testing.B) {
	for _, exact := range transformertest.Files {
		path := modeltest.Path(b, exact.File)
		m := model(b, path)
		for _, set := range kernel.Names() {
			for threads := 1; threads <= 2; threads++ {
				for _, pack := range []cpu.Pack{cpu.PackOff, cpu.PackOn} {
					name := fmt.Sprintf("%v/%s/%dthreads/packed=%v/", m.Blocks[0].Q.Type, set, threads, pack == cpu.PackOn)
					e := newEngine(b, m, cpu.Options{Set: set, Threads: threads, Pack: pack})
					b.Run(name+"prefill", func(b *testing.B) {
						for b.Loop() {
							if _, err := e.Step(transformertest.Prompt, 0); err != nil {
								b.Fatal(err)
							}
						}
					})
					b.Run(name+"decode", func(b *testing.B) {
						for i := 0; b.Loop(); i++ {
							at := i % 20
							if _, err := e.Step(transformertest.Greedy[at:at+1], len(transformertest.Prompt)+at); err != nil {
								b.Fatal(err)
							}
						}
						b.ReportMetric(float64(m.Bytes())*float64(b.N)/float64(b.Elapsed().Nanoseconds()), "GB/s")
					})
				}
			}
		}
	}
}

// BenchmarkContext passes prompts of growing lengths, and decodes behind them, with the best
// instruction set: what a long context costs.
func BenchmarkContext(b *testing.B) {
	m := model(b, modeltest.Path(b, models.StandIn))
	for _, n := range []int{128, 512, 1024, 4096} {
		ids := make([]int32, n)
		for i := range ids {
			ids[i] = int32((i*7919 + 13) % m.Vocab)
		}
		e := newEngine(b, m, cpu.Options{Threads: 2, Context: n + 1})
		b.Run(fmt.Sprint("prefill/", n), func(b *testing.B) {
			for b.Loop() {
				if _, err := e.Step(ids, 0); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(n*b.N)/b.Elapsed().Seconds(), "tokens/s")
		})
		b.Run(fmt.Sprint("decode/", n), func(b *testing.B) {
			if _, err := e.Step(ids, 0); err != nil {
				b.Fatal(err)
			}
			b.ResetTimer()
			for b.Loop() {
				if _, err := e.Step(ids[:1], n); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(m.Bytes()+e.CacheBytes())*float64(b.N)/float64(b.Elapsed().Nanoseconds()), "GB/s")
		})
	}
}
