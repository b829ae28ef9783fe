package diff

import (
	"io"
	"strings"
	"testing"

	"github.com/introgen/introgen/results/table"
)

// FuzzText: whatever a text holds, it is judged or refused.
func FuzzText(f *testing.F) {
	for _, seed := range []string{
		"", "BenchmarkX 1 10 ns/op\n", "model: a\nBenchmarkX/cache=cold 1 NaN ns/op\nBenchmarkX/cache=warm 1 -Inf ns/op 0 B/s\n",
		"Unit n assume=exact better=lower\nBenchmarkX 1 1 n\nBenchmarkX 1 2 n\nmodel:\nBenchmarkX-8 1 3 n\n",
		"Unit \nUnit x y\nBenchmark\nBenchmarkX\nBenchmarkX 1\nBenchmarkX 1e99 1 x\nBenchmarkX 99999999999999999999 1 x\n",
		"BenchmarkX 1 1e308 ns/op\nBenchmarkX 1 -1e308 ns/op\nBenchmarkX 1 5e-324 MB/s\n",
		"Unit ns/op better=higher\nUnit ns/op better=lower\nBenchmarkX// 1 1 ns/op\nBenchmark/= 1 1 ns/op\n",
	} {
		f.Add(seed, "BenchmarkX 1 10 ns/op\n", "/cache", true)
	}
	f.Fuzz(func(t *testing.T, a, b, by string, mixed bool) {
		one, err := Text("a", strings.NewReader(a))
		if err != nil {
			t.Fatal(err)
		}
		two, err := Text("b", strings.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range []Options{{Mixed: mixed}, {By: by}, {Filter: by}} {
			r, err := Judge([]Source{one, two}, o)
			if err != nil {
				continue
			}
			r.Regressions(0)
			for _, s := range table.Styles {
				if err := r.Document().Write(io.Discard, s); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}
