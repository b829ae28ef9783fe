package threads

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/table"
	"github.com/introgen/introgen/trace"
	"github.com/introgen/introgen/trace/names"
)

const ms = int64(time.Millisecond)

// run is a round of a prefill of two passes and of two decode steps, by two threads, with
// times in whole milliseconds. The products are of 4 MB and 8 million operations,
// the norms of 1 kB and 1000.
func run() *recording.Run {
	span := func(id, in trace.ID, name string, n, start, end int64) trace.Record {
		return trace.Record{ID: id, Parent: in, Name: name, N: n, Start: time.Duration(start * ms), End: time.Duration(end * ms)}
	}
	times := func(e *recording.Executed, each ...[3]int64) *recording.Executed { // operation, start, time
		for _, x := range each {
			e.Operations, e.Start, e.Time = append(e.Operations, int(x[0])), append(e.Start, x[1]*ms), append(e.Time, x[2]*ms)
		}
		return e
	}
	return &recording.Run{
		Header: recording.Header{Command: "cpu"},
		Spans: []trace.Record{
			span(1, 0, names.SpanRound, 1, 0, 100), span(2, 1, names.SpanPrefill, 100, 10, 40), span(3, 1, names.SpanRecord, 0, 40, 42),
			span(4, 1, names.SpanStep, 1, 50, 60), span(5, 1, names.SpanStep, 2, 60, 80),
		},
		Rounds: []recording.Round{{Number: 1, Span: 1, Prompt: 100, IDs: []int32{1, 2, 3}}},
		Operations: []*recording.Operation{
			{ID: 1, Layer: -1, Name: "token_embd", Kernel: "expand_q8_0", Read: 100, Written: 300},
			{ID: 2, Layer: 0, Name: "ffn_down", Kernel: "pack_tile_q8_0 avx2", Read: 4e6, Written: 1000, Ops: 800e6},
			{ID: 3, Layer: 0, Name: "attn_norm", Kernel: "rms_norm avx2", Read: 500, Written: 500, Ops: 1000},
			{ID: 4, Layer: 0, Name: "ffn_down", Kernel: "mul_q8_0 avx2", Read: 4e6 - 200, Written: 200, Ops: 8e6},
			{ID: 5, Layer: 1, Name: "ffn_down", Kernel: "mul_q8_0 avx2", Read: 4e6 - 200, Written: 200, Ops: 8e6},
		},
		Executed: []*recording.Executed{
			// Two passes of the same operations: 5 ms and 10 ms from the first thread's begin to the last one's end.
			times(&recording.Executed{Span: 2}, [3]int64{1, 10, 1}, [3]int64{2, 11, 4}, [3]int64{1, 20, 1}, [3]int64{2, 21, 2}, [3]int64{2, 25, 2}),
			times(&recording.Executed{Span: 2, Track: 1}, [3]int64{2, 12, 4}, [3]int64{2, 21, 10}),
			times(&recording.Executed{Span: 4}, [3]int64{1, 50, 1}, [3]int64{3, 51, 1}, [3]int64{4, 52, 2}, [3]int64{5, 55, 2}),
			times(&recording.Executed{Span: 4, Track: 1}, [3]int64{3, 51, 2}, [3]int64{4, 53, 1}, [3]int64{5, 54, 1}),
			// The second thread slept.
			times(&recording.Executed{Span: 5}, [3]int64{1, 60, 1}, [3]int64{3, 61, 1}, [3]int64{4, 62, 8}, [3]int64{5, 70, 8}),
		},
		Limits: []*recording.Limit{
			{What: recording.LimitMemory, Threads: 2, Best: 2e9, Median: 1e9, Samples: 3, Kernel: "avx2", Cache: 1e6},
			{What: recording.LimitFloat32, Threads: 2, Best: 100e9, Median: 50e9, Samples: 3, Kernel: "avx2"},
			{What: recording.LimitObserved, Threads: 1, Best: 2e6, Median: 1e6, Samples: 3, Kernel: "clock"},
		},
	}
}

func TestOf(t *testing.T) {
	got := Of(breakdown.Take(run()))
	if got == nil || len(got.Phases) != 2 || got.Number != 2 || got.Observations != 7+0+4+3+4 || got.Writing != 2*time.Millisecond {
		t.Fatalf("%+v", got)
	}
	prefill, step := got.Phases[0], got.Phases[1]
	hold := func(p Phase, name, kernel string, times, working, elapsed int64, read, written, ops float64) {
		t.Helper()
		for _, o := range p.Operations {
			if o.Name == name && strings.HasPrefix(o.Kernel, kernel) {
				if o.Times != times || o.Working != time.Duration(working*ms) || o.Elapsed != time.Duration(elapsed*ms) || float64(o.Read) != read || float64(o.Written) != written || float64(o.Ops) != ops {
					t.Errorf("%s: %+v", p.Name, o)
				}
				return
			}
		}
		t.Errorf("%s: no %s", p.Name, name)
	}
	if prefill.Name != names.SpanPrefill || prefill.Times != 1 || prefill.Wall != 30*time.Millisecond || prefill.Busy[0] != 10*time.Millisecond || prefill.Busy[1] != 14*time.Millisecond {
		t.Errorf("%+v", prefill)
	}
	hold(prefill, "token_embd", "expand", 2, 2, 2, 200, 600, 0)
	hold(prefill, "ffn_down", "pack_tile", 2, 4+2+2+4+10, 5+10, 8e6, 2000, 1600e6)
	if step.Name != names.SpanStep || step.Times != 2 || step.Wall != 30*time.Millisecond || step.Busy[0] != 24*time.Millisecond || step.Busy[1] != 4*time.Millisecond {
		t.Errorf("%+v", step)
	}
	hold(step, "attn_norm", "rms_norm", 2, 4, 3, 1000, 1000, 2000)
	hold(step, "ffn_down", "mul", 4, 2+1+2+1+8+8, 2+3+8+8, 16e6-800, 800, 32e6)
	if whole := step.Whole(); whole.Read+whole.Written != 16e6+2000+800 || whole.Ops != 32e6+2000 || whole.Elapsed != 30*time.Millisecond || whole.Working != 28*time.Millisecond {
		t.Errorf("%+v", whole)
	}
	// 18 observations of a microsecond, of 2 threads in 60 ms.
	if each, share, ok := got.Cost(); each != time.Microsecond || math.Abs(share-18e-6/0.12) > 1e-12 || !ok {
		t.Errorf("%v, %v, %v", each, share, ok)
	}
}

// TestTables: shares are those of the limits, and what is quicker than memory is said
// to be in the cache only where it fits.
func TestTables(t *testing.T) {
	r := run()
	write := func() string {
		t.Helper()
		d, b := &table.Document{}, strings.Builder{}
		Of(breakdown.Take(r)).Add(d)
		if err := d.Write(&b, table.Plain); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	has := func(text, want string) bool { // whatever the widths
		return strings.Contains(" "+strings.Join(strings.Fields(text), " ")+" ", strings.Join(strings.Fields(want), " "))
	}
	text := write()
	for _, want := range []string{
		"decode step, 2 times, operations over all layers and 2 threads\n",
		// 16 MB in 21 ms are 0.762 GB/s of 2; 32 million operations 1.52 GFLOP/s of 100.
		"ffn_down   mul_q8_0     22.0  78.6 %   0.762   38.1 %     1.52   1.52 %\n",
		// 2000 bytes in 3 ms.
		"attn_norm  rms_norm     4.00  14.3 %   <0.01   <0.1 %    <0.01   <0.1 %\n",
		// 8 MB in 15 ms, 1600 million operations.
		"ffn_down   pack_tile_q8_0  22.0  91.7 %   0.533   26.7 %    106.7    107 %\n",
		"     0       10.0  33.3 %            24.0  80.0 %\n",
		"     1       14.0  46.7 %            4.00  13.3 %\n",
		"18 observations of 1000 ns took 0.0150 % of the threads' time",
		"2.00 GB/s that 2 threads read", "computes at more than 100 % of float32",
	} {
		if !has(text, want) {
			t.Errorf("there is no %q in\n%s", want, text)
		}
	}
	for _, line := range strings.Split(text, "\n") {
		if len(line) > table.Width {
			t.Errorf("a line of %d characters: %s", len(line), line)
		}
	}
	r.Limits[0].Best = 0.5e9 // less than what ffn_down reads
	if text := write(); !has(text, "0.762 152 %") || !has(text, "does not fit into the cache") {
		t.Errorf("4 MB are said to fit into a cache of 1 MB:\n%s", text)
	}
	r.Limits[0].Cache = 4e6 + 1000
	if text := write(); !has(text, "0.762 cache") {
		t.Errorf("4 MB are not said to fit into a cache of as much:\n%s", text)
	}
	r.Limits = nil
	if text := write(); strings.Contains(text, "memory") || strings.Contains(text, "float32") || strings.Contains(text, "tracing") || !strings.Contains(text, "0.762") {
		t.Errorf("without limits:\n%s", text)
	}
}

// TestMany: a file that names a hundred thousand operations, on the last thread that it may
// name, is summed up at once, and not shown by as many threads.
func TestMany(t *testing.T) {
	r := run()
	e := &recording.Executed{Span: 4, Track: 1 << 16}
	for id := 6; id < 100_000; id++ {
		r.Operations = append(r.Operations, &recording.Operation{ID: id, Name: fmt.Sprint("x", id), Kernel: "y"})
		e.Operations, e.Start, e.Time = append(e.Operations, id), append(e.Start, 50*ms), append(e.Time, 0)
	}
	r.Executed = append(r.Executed, e)
	began := time.Now()
	got := Of(breakdown.Take(r))
	if took := time.Since(began); took > 20*time.Second || len(got.Phases[1].Operations) != 3+100_000-6 {
		t.Errorf("%d operations in %v", len(got.Phases[1].Operations), took)
	}
	if rows := len(got.busy().Rows); rows != mostThreads {
		t.Errorf("%d threads are shown", rows)
	}
}

// TestNothing: of runs without executed operations, or without times, there is
// nothing to say; operations of no phase do not count.
func TestNothing(t *testing.T) {
	r := run()
	for _, e := range r.Executed {
		e.Start, e.Time = nil, nil
	}
	if got := Of(breakdown.Take(r)); got != nil {
		t.Errorf("%+v", got)
	}
	r = run()
	for _, e := range r.Executed {
		e.Span = 77
	}
	if got := Of(breakdown.Take(r)); got != nil {
		t.Errorf("%+v", got)
	}
	r = run()
	r.Operations = nil
	if got := Of(breakdown.Take(r)); got == nil || len(got.Phases[0].Operations) != 0 {
		t.Errorf("%+v", got)
	}
}
