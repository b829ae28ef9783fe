package trace

import (
	"context"
	"sync"
	"testing"
)

// Spans of a track lie in the phase of track 0 in which they began, also where that
// was in the middle of a call, and neither track closes what is open on the other.
func TestTracks(t *testing.T) {
	r := New()
	phase := r.Begin("build", "", 0)
	call := r.Begin("encode", "", 0)
	beside := r.Track(2, func(name string) bool { return name != "encode" })
	lib := beside.Begin("LIB", "Gemm", 0)
	inner := beside.Begin("inner", "", 0)
	phase.End() // and with it the call
	next := r.Begin("prefill", "", 0)
	if r.Current() != next.ID() {
		t.Errorf("the current span of track 0 is %d, want %d", r.Current(), next.ID())
	}
	lib.End() // and with it what lies in it
	pipe := r.Track(2, nil).Begin("PIPE", "Gemm f", 0)
	pipe.End()
	next.End()
	free := r.Track(1, nil).Begin("LIB", "Late", 0)
	free.End()

	want := []struct {
		id     ID
		name   string
		track  int32
		parent ID
	}{{phase.ID(), "build", 0, 0}, {call.ID(), "encode", 0, phase.ID()}, {lib.ID(), "LIB", 2, phase.ID()}, {inner.ID(), "inner", 2, lib.ID()},
		{next.ID(), "prefill", 0, 0}, {pipe.ID(), "PIPE", 2, next.ID()}, {free.ID(), "LIB", 1, 0}}
	spans := r.Spans()
	for i, w := range want {
		if s := spans[i]; s.ID != w.id || s.Name != w.name || s.Track != w.track || s.Parent != w.parent || s.End < s.Start {
			t.Errorf("span %d is %+v, want %+v", i, s, w)
		}
	}
	if spans[2].End <= spans[0].End || spans[3].End != spans[2].End || spans[1].End != spans[0].End {
		t.Errorf("tracks ended each other's spans: %+v", spans)
	}
	if (Track{}).Begin("x", "", 0).End() != 0 || (*Recorder)(nil).Track(1, nil).Begin("x", "", 0).End() != 0 {
		t.Error("a track of no recorder measured something")
	}
	if ctx := OnTrack(context.Background(), 3); TrackOf(ctx) != 3 || TrackOf(context.Background()) != 0 {
		t.Error("a context does not keep its track")
	}
}

func TestTracksAtOnce(t *testing.T) {
	r := New()
	root := r.Begin("root", "", 0)
	var wg sync.WaitGroup
	for n := range int32(4) {
		wg.Go(func() {
			on := r.Track(n+1, nil)
			for range 1000 {
				outer := on.Begin("outer", "", 0)
				on.Begin("inner", "", 0).End()
				outer.End()
			}
		})
	}
	for range 1000 {
		r.Begin("main", "", 0).End()
	}
	wg.Wait()
	root.End()
	spans := r.Spans()
	for i, s := range spans {
		switch {
		case s.End < s.Start:
			t.Fatalf("span %d was left open: %+v", i, s)
		case s.Name == "inner" && (spans[s.Parent-1].Name != "outer" || spans[s.Parent-1].Track != s.Track):
			t.Fatalf("span %d lies in %+v", i, spans[s.Parent-1])
		case s.Name == "main" && s.Parent != root.ID():
			t.Fatalf("span %d lies in %d", i, s.Parent)
		}
	}
	if len(spans) != 9001 {
		t.Errorf("%d spans, want 9001", len(spans))
	}
}
