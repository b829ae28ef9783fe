// Package passestest makes a traced run of the CPU engine for tests.
package passestest

import (
	"time"

	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/trace"
	"github.com/introgen/introgen/trace/names"
)

const ms = int64(time.Millisecond)

// Run is a round of a prefill of two passes and of two decode steps, by two threads, with
// times in whole milliseconds. The products are of 4 MB and 8 million operations,
// the norms of 1 kB and 1000.
func Run() *recording.Run {
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
			{ID: 2, Layer: 0, Name: "ffn_down", Library: "avx2", Kernel: "pack_tile_q8_0", Read: 4e6, Written: 1000, Ops: 800e6},
			{ID: 3, Layer: 0, Name: "attn_norm", Library: "avx2", Kernel: "rms_norm", Read: 500, Written: 500, Ops: 1000},
			{ID: 4, Layer: 0, Name: "ffn_down", Library: "avx2", Kernel: "mul_q8_0", Read: 4e6 - 200, Written: 200, Ops: 8e6},
			{ID: 5, Layer: 1, Name: "ffn_down", Library: "avx2", Kernel: "mul_q8_0", Read: 4e6 - 200, Written: 200, Ops: 8e6},
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
