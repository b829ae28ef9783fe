package breakdowntest

import (
	"time"

	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/trace"
	"github.com/introgen/introgen/trace/names"
)

// Beside is an engine's run that compiles on two threads beside the one that
// generates, each span as change leaves it, nil as it is. Times are milliseconds:
//
//	main      device 0-10 | read 10-20 | build 20-220          | prefill 220-400  | step 400-450
//	  waits                 Cast a 30-90, Gemm g 100-200         Gemm h 230-300    Sdpa s 410-440
//	track 1   LIB Cast 5-60, PIPE a 60-80, PIPE g 150-210, PIPE h 250-300
//	track 2   LIB Gemm 6-150, LIB Sdpa 150-420, PIPE s 420-435; PIPE unused 440-445
func Beside(change func(*trace.Record)) *recording.File {
	c := recording.NewCollector()
	at := func(ms float64) time.Duration { return time.Duration(ms * 1e6) }
	put := func(e recording.Event) { c.Add(e) }
	put(&recording.Header{Format: recording.Format, Version: recording.Version, Command: "metal", Knobs: []recording.Knob{{Name: "compile", Value: "early"}},
		View: recording.View{Label: "metal", Trace: true}})
	put(&recording.Device{Driver: "soft", Name: "soft"})
	next := trace.ID(0)
	add := func(track int32, in trace.ID, name, detail string, n int64, from, to float64) trace.ID {
		next++
		s := trace.Record{ID: next, Parent: in, Name: name, Detail: detail, N: n, Track: track, Start: at(from), End: at(to)}
		if change != nil {
			change(&s)
		}
		put(&recording.Span{Record: s})
		switch name {
		case names.SpanLibrary:
			put(&recording.Library{Span: next, Name: detail, SourceBytes: int(n), Kernels: 2, Cache: names.CacheMiss})
		case names.SpanPipeline:
			made := recording.MadeIn(s)
			put(&recording.Pipeline{Span: next, Library: made.Library, Function: made.Function, Cache: names.CacheMiss})
		}
		return next
	}
	add(0, 0, names.SpanArguments, "", 0, 0, 1)
	device := add(0, 0, names.SpanDevice, "", 0, 1, 10)
	add(1, device, names.SpanLibrary, "Cast", 100, 5, 60)
	add(2, device, names.SpanLibrary, "Gemm", 200, 6, 150)
	round := add(0, 0, names.SpanRound, "", 1, 10, 450)
	add(0, round, names.SpanRead, "mmap", 0, 10, 20)
	build := add(0, round, names.SpanBuild, "", 0, 20, 220)
	encode := add(0, build, names.SpanEncoder, "compute", 0, 25, 210)
	add(0, encode, names.SpanAwait, "Cast a", 0, 30, 90)
	add(1, build, names.SpanPipeline, "Cast a", 0, 60, 80)
	add(0, encode, names.SpanAwait, "Gemm g", 0, 100, 200)
	add(1, build, names.SpanPipeline, "Gemm g", 0, 150, 210)
	add(2, build, names.SpanLibrary, "Sdpa", 300, 150, 420)
	prefill := add(0, round, names.SpanPrefill, "", 13, 220, 400)
	add(0, prefill, names.SpanAwait, "Gemm h", 0, 230, 300)
	add(1, prefill, names.SpanPipeline, "Gemm h", 0, 250, 300)
	step := add(0, round, names.SpanStep, "", 1, 400, 450)
	add(0, step, names.SpanAwait, "Sdpa s", 0, 410, 440)
	add(2, step, names.SpanPipeline, "Sdpa s", 0, 420, 435)
	add(2, step, names.SpanPipeline, "Sdpa unused", 0, 440, 445)
	put(&recording.Round{Number: 1, Span: round, Prompt: 13, IDs: []int32{1, 2}})
	put(&recording.Evidence{What: recording.EvidenceMetalCache, LibraryMisses: 3, PipelineMisses: 5})
	put(&recording.End{At: int64(at(451))})
	return c.File()
}
