// Package breakdowntest makes runs for tests and benchmarks.
package breakdowntest

import (
	"fmt"
	"time"

	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/trace"
	"github.com/introgen/introgen/trace/names"
)

// Metal is a run on Metal of so many rounds, whose prefill and decode steps commit
// so many command buffers each; the first round compiles. A sweep with one
// operation a buffer has 605 of them in every step.
func Metal(rounds, steps, buffers int) *recording.Run {
	r := &recording.Run{Header: recording.Header{Command: "metal", View: recording.View{Label: "metal", Trace: true}}}
	var clock time.Duration
	begin := func(in trace.ID, name, detail string, n int) trace.ID {
		id := trace.ID(len(r.Spans) + 1)
		r.Spans = append(r.Spans, trace.Record{ID: id, Parent: in, Name: name, Detail: detail, N: int64(n), Start: clock, End: -1})
		return id
	}
	took := func(in trace.ID, name, detail string, n int, d time.Duration) trace.ID {
		id := begin(in, name, detail, n)
		clock += d
		r.Spans[id-1].End = clock
		return id
	}
	pass := func(in trace.ID, name string, n int, compiles bool) {
		phase := begin(in, name, "", n)
		for b := range buffers {
			encoder := begin(phase, names.SpanEncoder, "compute", 0)
			if library := fmt.Sprint("L", b%10); compiles && b < 30 {
				if b < 10 {
					r.Libraries = append(r.Libraries, recording.Library{Span: took(encoder, names.SpanLibrary, library, 100, time.Millisecond), Name: library, SourceBytes: 100, Cache: names.CacheMiss})
				}
				function := fmt.Sprint("f", b)
				id := took(encoder, names.SpanPipeline, library+" "+function, 0, time.Millisecond)
				r.Pipelines = append(r.Pipelines, recording.Pipeline{Span: id, Library: library, Function: function, Cache: names.CacheMiss})
			}
			clock += 10
			r.Spans[encoder-1].End = clock
			took(phase, names.SpanCommit, "", 1, 10)
			took(phase, names.SpanGPU, "", 1, 20)
			for _, counter := range []string{names.CountCommandBuffers, names.CountEncoders, names.CountDispatches} {
				r.Samples = append(r.Samples, trace.Sample{Span: phase, Name: counter, Value: 1, At: clock})
			}
		}
		took(phase, names.SpanWait, "", 0, 100)
		r.Spans[phase-1].End = clock
	}
	for n := 1; n <= rounds; n++ {
		round := begin(0, names.SpanRound, "", n)
		took(round, names.SpanRead, "", 0, 100)
		took(round, names.SpanBuild, "", 0, 100)
		pass(round, names.SpanPrefill, 13, n == 1)
		for step := 1; step <= steps; step++ {
			pass(round, names.SpanStep, step, false)
		}
		r.Spans[round-1].End = clock
		r.Rounds = append(r.Rounds, recording.Round{Number: n, Span: round, Prompt: 13, IDs: make([]int32, steps+1), Text: "t"})
	}
	r.End = &recording.End{At: int64(clock)}
	return r
}
