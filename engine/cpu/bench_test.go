package cpu_test

import (
	"fmt"
	"testing"

	"github.com/introgen/introgen/engine/cpu"
	"github.com/introgen/introgen/engine/cpu/kernel"
	"github.com/introgen/introgen/engine/transformer/transformertest"
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
