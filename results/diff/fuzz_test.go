package diff

import (
	"encoding/binary"
	"io"
	"regexp"
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
		inUTF16("Unit misses assume=exact\nBenchmarkX-8 1 10 ns/op 5 misses 5 misses\n", binary.LittleEndian), "\xff\xfe\x00\xd8",
		"pkg: a\nBenchmarkX 1 -1 ns/op\npkg: b\nBenchmarkX 0 1 ns/op\nBenchmarkX-4 1 0 ns/op\n",
		"Unit ns/op better=higher\nUnit ns/op better=lower\nBenchmarkX// 1 1 ns/op\nBenchmark/= 1 1 ns/op\n",
	} {
		f.Add(seed, "BenchmarkX 1 10 ns/op\n", "/cache", true)
	}
	f.Fuzz(func(t *testing.T, a, b, by string, mixed bool) {
		one, err := Text("a", strings.NewReader(a))
		if err != nil {
			return // in no encoding that is read
		}
		two, err := Text("b", strings.NewReader(b))
		if err != nil {
			return
		}
		for _, o := range []Options{{Mixed: mixed}, {By: by}, {Filter: by}} {
			r, err := Judge([]Source{one, two}, o)
			if err != nil {
				continue
			}
			r.Check(Gate{Limit: "0%", Allow: regexp.MustCompile("B")})
			for _, s := range table.Styles {
				if err := r.Document().Write(io.Discard, s); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}
