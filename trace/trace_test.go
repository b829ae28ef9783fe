package trace

import (
	"slices"
	"sync"
	"testing"
	"time"
)

func TestSpansNest(t *testing.T) {
	r := New()
	round := r.Begin("round", "", 1)
	pre := r.Begin("prefill", "", 13)
	lib := r.Begin("LIB", "Gemm", 0)
	time.Sleep(2 * time.Millisecond)
	lib.End()
	r.Count("dispatches", 904)
	pre.End()
	step := r.Begin("step", "", 1)
	if got := r.Current(); got != step.ID() {
		t.Errorf("current span is %d, want %d", got, step.ID())
	}
	round.End() // closes the step too

	spans := r.Spans()
	want := []struct {
		name, detail string
		n            int64
		parent       ID
	}{{"round", "", 1, 0}, {"prefill", "", 13, 1}, {"LIB", "Gemm", 0, 2}, {"step", "", 1, 1}}
	if len(spans) != len(want) {
		t.Fatalf("%d spans, want %d", len(spans), len(want))
	}
	for i, w := range want {
		s := spans[i]
		if s.Name != w.name || s.Detail != w.detail || s.N != w.n || s.Parent != w.parent || s.ID != ID(i+1) {
			t.Errorf("span %d is %+v, want %+v", i, s, w)
		}
		if s.End < s.Start {
			t.Errorf("span %q was left open", s.Name)
		}
	}
	if spans[3].End != spans[0].End {
		t.Errorf("a span closed with its parent ends at %v, its parent at %v", spans[3].End, spans[0].End)
	}
	if d := spans[2].Duration(); d < 2*time.Millisecond {
		t.Errorf("a span around a sleep of 2 ms took %v", d)
	}
	if s := r.Samples(); len(s) != 1 || s[0].Span != pre.ID() || s[0].Value != 904 {
		t.Errorf("samples are %+v", s)
	}
	first := spans[0].End
	round.End()
	if got := r.Record(round.ID()).End; got != first {
		t.Errorf("a second End moved the end from %v to %v", first, got)
	}
}

func TestNilRecorderIsInert(t *testing.T) {
	var r *Recorder
	s := r.Begin("x", "", 0)
	r.Count("c", 1)
	if s.End() != 0 || r.Add(0, "x", "", 0, 0, 1) != 0 || r.Under(0, "x", "", 0).End() != 0 {
		t.Error("a nil recorder measured something")
	}
	if r.Spans() != nil || r.Samples() != nil || r.Current() != 0 {
		t.Error("a nil recorder holds something")
	}
}

func TestConcurrentUse(t *testing.T) {
	r := New()
	root := r.Begin("root", "", 0)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i := range 3000 {
				r.Under(root.ID(), "work", "", int64(i)).End()
			}
		})
	}
	wg.Wait()
	root.End()
	spans := r.Spans()
	if len(spans) != 12001 {
		t.Fatalf("%d spans, want 12001", len(spans))
	}
	for i, s := range spans {
		if s.ID != ID(i+1) || s.End < s.Start || (i > 0 && s.Parent != root.ID()) {
			t.Fatalf("span %d is %+v", i, s)
		}
	}
}

func TestSteadyStateAllocatesNothing(t *testing.T) {
	r := New()
	allocs := testing.AllocsPerRun(400, func() {
		r.Begin("step", "x", 1).End()
		r.Count("dispatches", 604)
	})
	if allocs != 0 {
		t.Errorf("a span allocates %v times", allocs)
	}
}

func BenchmarkSpan(b *testing.B) {
	r := New()
	b.ReportAllocs()
	for b.Loop() {
		if r.n == block { // stay in the first block: growth is not what is measured
			r.n = 0
		}
		r.Begin("step", "", 1).End()
	}
}

func BenchmarkCount(b *testing.B) {
	r := New()
	b.ReportAllocs()
	for b.Loop() {
		if len(r.samples) == cap(r.samples) {
			r.samples = r.samples[:0]
		}
		r.Count("dispatches", 1)
	}
}

// TestReadingOn reads a recorder bit by bit, over the edges of its blocks.
func TestReadingOn(t *testing.T) {
	r := New()
	for n := range 2*block + 3 {
		r.Begin("s", "", int64(n)).End()
		r.Count("c", int64(n))
	}
	all, samples := r.Spans(), r.Samples()
	for _, n := range []int{-1, 0, 1, block - 1, block, block + 1, 2 * block, 2*block + 2, 2*block + 3, 5 * block} {
		from := min(max(0, n), len(all))
		if got := r.SpansFrom(n); !slices.Equal(got, all[from:]) {
			t.Errorf("from %d on there are %d spans, want %d", n, len(got), len(all)-from)
		}
		if got := r.SamplesFrom(n); !slices.Equal(got, samples[from:]) {
			t.Errorf("from %d on there are %d samples, want %d", n, len(got), len(samples)-from)
		}
	}
	if len(all) != 2*block+3 || all[block].N != block {
		t.Errorf("%d spans", len(all))
	}
}
