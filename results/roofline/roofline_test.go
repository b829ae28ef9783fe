package roofline

import (
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/table"
	"github.com/introgen/introgen/system/terminal"
)

// traced is a run of three kernels, whose figures can be told by hand: one reads
// weights at 8 of 10 GB/s, one computes at 90 of 100 GFLOP/s, and one touches little
// and is quicker than memory.
func traced() breakdown.Metal {
	m := breakdown.Metal{
		Kernels: []recording.Kernel{
			{Name: "small", Dispatches: 10, Time: int64(time.Millisecond), Read: 10e6, Written: 5e6, Ops: 1e6},
			{Name: "vector", Dispatches: 20, Time: int64(100 * time.Millisecond), Read: 790e6, Written: 10e6, Ops: 1600e6},
			{Name: "matrix", Dispatches: 2, Time: int64(10 * time.Millisecond), Read: 8e6, Written: 2e6, Ops: 900e6},
			{Name: "mystery", Dispatches: 3, Time: int64(time.Microsecond), Read: 7, Unknown: 1},
		},
		Pipelines: []breakdown.Compile{{Library: "Quantized", Function: "vector"}},
		Memory:    &recording.Limit{What: recording.LimitMemory, Threads: 2, Best: 10e9, Median: 9e9, Samples: 10, Kernel: "avx2", Cache: 32e6},
		Float32:   &recording.Limit{What: recording.LimitFloat32, Threads: 1, Best: 100e9, Median: 90e9, Samples: 8, Kernel: "neon"},
	}
	for layer := range 2 {
		m.Operations = append(m.Operations,
			&recording.Operation{ID: 4*layer + 1, Layer: layer, Name: "ffn_up", Library: "Quantized", Kernel: "vector", Read: 20e6, Written: 1e6, Ops: 1},
			&recording.Operation{ID: 4*layer + 2, Layer: layer, Name: "ffn_up", Library: "Quantized", Kernel: "matrix", Read: 4e6, Written: 1e6, Ops: 1},
			&recording.Operation{ID: 4*layer + 3, Layer: layer, Name: "ffn_norm", Library: "Reduce", Kernel: "small", Read: 1e6, Written: 0.5e6},
			&recording.Operation{ID: 4*layer + 4, Layer: layer, Name: "ffn_norm", Library: "Reduce", Kernel: "small", Read: 0.9e6, Written: 0.5e6})
	}
	return m
}

func TestByHand(t *testing.T) {
	r := OfMetal(traced())
	if r.Memory != 10e9 || r.Arithmetic != 100e9 || r.Cache != 32e6 || !r.Known() || len(r.Kernels) != 4 {
		t.Fatalf("%+v", r)
	}
	near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-12*math.Abs(b) }
	for i, want := range []struct {
		library, name         string
		bytes, ops, intensity float64
		memory, floats        float64
		inCache               bool
		bound                 string
	}{
		// 800 MB in 0.1 s; two layers of 21 MB are more than the cache.
		{"Quantized", "vector", 8e9, 16e9, 2, 0.8, 0.16, false, Memory},
		// 10 MB and 900 Mflop in 0.01 s.
		{"Quantized", "matrix", 1e9, 90e9, 90, 0.1, 0.9, true, Arithmetic},
		// 15 MB in 1 ms: half as quick again as memory, of 3 MB in both layers.
		{"Reduce", "small", 15e9, 1e9, 1.0 / 15, 1.5, 0.01, true, Memory},
		{"", "mystery", 0, 0, 0, 0, 0, false, ""},
	} {
		k := r.Kernels[i]
		if k.Library != want.library || k.Name != want.name || !near(k.BytesPerSecond(), want.bytes) || !near(k.OpsPerSecond(), want.ops) || !near(k.Intensity(), want.intensity) ||
			!near(k.MemoryShare, want.memory) || !near(k.ArithmeticShare, want.floats) || k.InCache != want.inCache || k.Bound != want.bound {
			t.Errorf("%+v, by hand %+v", k, want)
		}
	}
}

// TestTable: what a reader sees, with limits and without.
func TestTable(t *testing.T) {
	show := func(m breakdown.Metal, style table.Style) string {
		d := &table.Document{}
		OfMetal(m).Add(d)
		var b strings.Builder
		if err := d.Write(&b, style); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(b.String()) {
			if w := terminal.Width(strings.TrimSuffix(line, "\n")); w > 80 && style == table.Plain {
				t.Errorf("%d columns: %s", w, line)
			}
		}
		return b.String()
	}
	want := `kernels
kernel   disp.       ms    share  GB/s    %  GFLOP/s   %  bound
vector      20    100.0   90.1 %  8.00   80     16.0  16  memory
matrix       2     10.0   9.01 %  1.00   10     90.0  90  floats
small       10     1.00  0.901 %  15.0  150     1.00   1  cache
mystery      3  0.00100   <0.1 %     –    –        –   –  –
all         35    111.0    100 %     –    –        –   –  –
The % are of the 10.0 GB/s that 2 threads read of memory (avx2), and of the
  100.0 GFLOP/s that 1 thread makes in registers (neon): the best of 10 and 8
  rounds of this run.
bound: what limits a kernel. It is memory below 10.0 operations for each byte,
  and floats above; "cache" in place of memory where what it touches in a pass
  fits into the last-level cache of 32.0 MB, since it may be quicker than memory
  is.
`
	if got := show(traced(), table.Plain); got != want {
		t.Errorf("the table is\n%s\nwant\n%s", got, want)
	}
	csv := show(traced(), table.CSV)
	if want := "vector,20,100.0,"; !strings.Contains(csv, want) || !strings.Contains(csv, "kernel,dispatches,device ms,share %,GB/s,of memory %,GFLOP/s,of float32 %,bound\n") {
		t.Errorf("as CSV it is\n%s", csv)
	}
	m := traced()
	m.Memory = nil
	if got := show(m, table.Plain); !strings.HasPrefix(got, "kernels\nkernel   dispatches  device ms    share  GB/s  GFLOP/s\n") || strings.Contains(got, "bound") {
		t.Errorf("without a limit it is\n%s", got)
	}
	for i := range m.Kernels {
		m.Kernels[i].Time = 0
	}
	if got := show(m, table.Plain); !strings.HasPrefix(got, "kernels\nkernel   dispatches      GB    GFLOP\nvector           20   0.800     1.60\n") || !strings.Contains(got, "\nThe device does not tell how long") {
		t.Errorf("of a device that tells no times it is\n%s", got)
	}
	busy := traced()
	busy.Float32.Best, busy.Memory.Best = 80e9, 7e9
	if got := show(busy, table.Plain); !strings.Contains(got, "Beyond a limit: vector, matrix. The machine was busier") {
		t.Errorf("of a limit that was measured too low it says\n%s", got)
	}
}

// FuzzTable: of whatever a recording says there are tables, in every style.
func FuzzTable(f *testing.F) {
	header := `{"k":"header","format":"introgen recording","version":1}` + "\n"
	for _, text := range []string{
		`{"k":"span","id":1,"in":0,"name":"gpu","n":1,"start":5,"end":20}` + "\n" +
			`{"k":"operation","id":1,"layer":0,"name":"attn_q","kernel":"k","read_bytes":9,"written_bytes":4,"operations":70}` + "\n" +
			`{"k":"executed","span":1,"operations":[1],"start_ns":[6],"ns":[8]}` + "\n",
		`{"k":"executed","span":1,"operations":[1,2],"start_ns":[6],"ns":[8]}` + "\n",
		`{"k":"operation","id":9,"layer":-1,"name":"x","kernel":"k","read_bytes":0,"written_bytes":0,"operations":0,"unknown":true}` + "\n",
		"",
	} {
		f.Add(header + text + `{"k":"kernel","name":"k","dispatches":1,"ns":8,"read_bytes":9,"written_bytes":4,"operations":70}` + "\n" +
			`{"k":"limit","what":"memory read","threads":1,"best":2e9,"median":1e9,"samples":3,"kernel":"go","cache_bytes":5}` + "\n" +
			`{"k":"limit","what":"float32","threads":1,"best":2e9,"median":1e9,"samples":3,"kernel":"go"}` + "\n" +
			`{"k":"end","at_ns":30,"code":0,"major_faults":0,"minor_faults":0,"span_cost_ps":0}` + "\n")
	}
	f.Fuzz(func(t *testing.T, text string) {
		file, err := recording.Read(strings.NewReader(text), "fuzz")
		if err != nil {
			return
		}
		for _, run := range file.Runs {
			r, d := Of(breakdown.Take(run)), &table.Document{}
			for _, k := range append(r.Kernels, r.All()) {
				if b := k.BytesPerSecond(); math.IsNaN(b) || math.IsNaN(k.MemoryShare) || math.IsNaN(k.ArithmeticShare) || math.IsNaN(k.Intensity()) {
					t.Fatalf("%+v", k)
				}
			}
			r.Add(d)
			for _, s := range table.Styles {
				if err := d.Write(io.Discard, s); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}

// TestHostile: names and numbers out of a recording break neither lines nor widths.
func TestHostile(t *testing.T) {
	m := traced()
	for i := range m.Kernels {
		k := &m.Kernels[i]
		k.Name = "</script>\u202e\x1b[2J\n=cmd|" + strings.Repeat("x", 1<<16) + string(rune('a'+i))
		k.Dispatches, k.Time, k.Read, k.Written, k.Ops, k.Unknown = 1<<53, int64(1), 1<<53, 1<<53, 1<<53, 0
	}
	m.Memory.Best, m.Float32.Best = 1, 1
	r := OfMetal(m)
	d := &table.Document{}
	r.Add(d)
	for _, s := range table.Styles {
		var b strings.Builder
		if err := d.Write(&b, s); err != nil {
			t.Fatal(err)
		}
		if text := b.String(); strings.ContainsAny(text, "\x1b\u202e") {
			t.Errorf("%s: a character that commands a terminal comes through", s)
		}
	}
	if none := OfMetal(breakdown.Metal{}); none.Known() || len(none.Kernels) > 0 || none.All().Known {
		t.Errorf("of nothing it makes %+v", none)
	}
}
