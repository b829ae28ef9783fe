package breakdown

import (
	"reflect"
	"testing"
	"time"

	"github.com/introgen/introgen/results/breakdown/breakdowntest"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/trace"
	"github.com/introgen/introgen/trace/names"
)

// TestMetal adds up a round by hand: once told span by span with parts still
// open, as while it runs, and once as collected from its file.
func TestMetal(t *testing.T) {
	const ms = time.Millisecond
	span := func(id, in trace.ID, name, detail string, n int64, from, to int) recording.Event {
		end := time.Duration(to) * ms
		if to < 0 {
			end = -1
		}
		return &recording.Span{Record: trace.Record{ID: id, Parent: in, Name: name, Detail: detail, N: n, Start: time.Duration(from) * ms, End: end}}
	}
	count := func(in trace.ID, name string, at time.Duration, v int64) recording.Event {
		return &recording.Count{Sample: trace.Sample{Span: in, Name: name, Value: v, At: at}}
	}
	events := []recording.Event{
		&recording.Header{},
		span(1, 0, names.SpanRound, "", 1, 0, -1),
		span(2, 1, names.SpanBuild, "", 0, 0, 10),
		span(3, 2, names.SpanLibrary, "Cast", 40, 1, 5),
		span(4, 2, names.SpanWeights, "token_embd.weight", 0, 5, 8),
		span(5, 1, names.SpanPrefill, "", 13, 10, -1),
		span(6, 5, names.SpanEncoder, "compute", 0, 11, -1),
		span(7, 6, names.SpanLibrary, "Gemm", 0, 12, 32),
		&recording.Library{Span: 3, Name: "Cast", Kernels: 7, SourceBytes: 40, Cache: "hit"},
		&recording.Library{Span: 7, Name: "Gemm", Cache: "miss"},
		span(8, 6, names.SpanRecord, "", 0, 32, -1),
		span(5, 1, names.SpanPrefill, "", 13, 10, 100),
		span(6, 5, names.SpanEncoder, "compute", 0, 11, 60),
		span(8, 6, names.SpanRecord, "", 0, 32, 33),
		span(9, 6, names.SpanPipeline, "Gemm gemm_nn", 0, 33, 36),
		span(10, 5, names.SpanCommit, "", 0, 60, 62),
		span(11, 5, names.SpanEncoder, "blit", 0, 62, 65),
		span(12, 5, names.SpanWait, "", 0, 65, 95),
		span(13, 5, names.SpanGPU, "", 0, 50, 90),
		count(5, names.CountDispatches, 60*ms, 900), count(5, names.CountDispatches, 65*ms, 4), count(6, names.CountEncoders, 59*ms, 2), count(5, names.CountCommandBuffers, 65*ms, 1),
		count(1, names.CountDispatches, 5*ms, 5), // in no phase
		&recording.Pipeline{Span: 9, Library: "Gemm", Function: "gemm_nn", Cache: "miss"},
		span(14, 1, names.SpanRecord, "", 0, 100, 101),
		span(15, 1, names.SpanStep, "", 1, 101, -1), // cut off
		span(16, 15, names.SpanCommit, "", 0, 102, 103),
		&recording.Kernel{Name: "k", Dispatches: 3, Time: int64(5 * ms)},
	}
	library := func(name string, bytes, kernels int, cache string, from, took int) Compile {
		return Compile{Library: name, SourceBytes: bytes, Kernels: kernels, Cache: cache, Told: true, Start: time.Duration(from) * ms, Time: time.Duration(took) * ms}
	}
	cast, gemm := library("Cast", 40, 7, "hit", 1, 4), library("Gemm", 0, 0, "miss", 12, 20)
	nn := Compile{Library: "Gemm", Function: "gemm_nn", Cache: "miss", Told: true, Start: 33 * ms, Time: 3 * ms}
	build := Phase{ID: 2, Name: names.SpanBuild, End: 10 * ms, Compiles: []Compile{cast}, Weights: 3 * ms}
	prefill := Phase{ID: 5, Name: names.SpanPrefill, N: 13, Start: 10 * ms, End: 100 * ms, Compiles: []Compile{gemm, nn}, Recording: 1 * ms,
		Encode: (49 - 20 - 3 - 1 + 3) * ms, Commit: 2 * ms, Wait: 30 * ms, GPU: 40 * ms, Overlap: 15 * ms, Dispatches: 904, Encoders: 2, CommandBuffers: 1}
	want := Metal{
		Phases:    []DevicePhase{{1, names.SpanBuild, build}, {1, names.SpanPrefill, prefill}},
		Libraries: []Compile{cast, gemm},
		Pipelines: []Compile{nn},
		Kernels:   []recording.Kernel{{Name: "k", Dispatches: 3, Time: int64(5 * ms)}},
	}
	c := recording.NewCollector()
	for _, e := range events {
		c.Add(e)
	}
	f := c.File()
	if got := Take(f.Runs[0]).Metal(); !reflect.DeepEqual(got, want) {
		t.Errorf("collected:\n%+v, want\n%+v", got, want)
	}
	b := NewBuilder()
	for _, e := range events {
		b.Event(e)
	}
	rounds := b.Rounds()
	if len(rounds) != 1 || !reflect.DeepEqual(rounds[0].Phases[:2], []Phase{build, prefill}) {
		t.Errorf("as they come:\n%+v, want\n%+v", rounds, want)
	}
}

// TestAsItGoes: a round is the same as soon as it has ended as when its run has been
// read, whether spans are told open or with their end.
func TestAsItGoes(t *testing.T) {
	f, err := recording.Open("../recorded/experiment-states.introgen")
	if err != nil {
		t.Fatal(err)
	}
	for _, run := range append(f.Runs, breakdowntest.Metal(3, 4, 40)) {
		whole, b := Take(run), NewBuilder()
		for _, s := range run.Spans {
			if open := s; !names.OfDevice(s.Name) {
				open.End = -1
				b.Event(&recording.Span{Record: open})
			}
		}
		for _, s := range run.Spans {
			b.Event(&recording.Span{Record: s})
		}
		for _, c := range run.Samples {
			b.Event(&recording.Count{Sample: c})
		}
		for i := range run.Libraries {
			b.Event(&run.Libraries[i])
		}
		for i := range run.Pipelines {
			b.Event(&run.Pipelines[i])
		}
		for i := range run.Rounds {
			if got, want := b.Ended(&run.Rounds[i]), whole.Told[i]; got.Wall() != want.Wall() || !reflect.DeepEqual(got.Phases, want.Phases) {
				t.Errorf("round %d is\n%+v as it ends, and\n%+v when it is read", i+1, got, want)
			}
		}
	}
}
