package recording

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/introgen/introgen/trace"
)

// TestFeed: whatever is taken when, all that was recorded comes out, each span
// once when it has ended, and a parent before its children.
func TestFeed(t *testing.T) {
	rec := trace.New()
	feed := Feed{Recorder: rec}
	var all []Event
	take := func() string {
		var words []string
		feed.Take(func(e Event) {
			all = append(all, e)
			switch e := e.(type) {
			case *Span:
				state := "ended"
				if e.End < 0 {
					state = "open"
				}
				words = append(words, e.Name+" "+state)
			case *Count:
				words = append(words, fmt.Sprint(e.Name, " ", e.Value, " in ", e.Span))
			}
		})
		return strings.Join(words, ", ")
	}
	round := rec.Begin("round", "", 1)
	rec.Begin("build", "", 0).End()
	step := rec.Begin("step", "", 1)
	rec.Count("c", 7)
	for i, want := range []string{"round open, build ended, step open, c 7 in 3", "", "step ended, recording open", "round ended, recording ended"} {
		switch i {
		case 2:
			step.End()
			rec.Begin("recording", "", 0)
		case 3:
			round.End()
		}
		if got := take(); got != want {
			t.Errorf("time %d: %s, want %s", i, got, want)
		}
	}
	f := collect(append([]Event{&Header{}}, all...))
	if !reflect.DeepEqual(f.Runs[0].Spans, rec.Spans()) || !reflect.DeepEqual(f.Runs[0].Samples, rec.Samples()) {
		t.Errorf("collected are %+v, recorded %+v", f.Runs[0].Spans, rec.Spans())
	}
}

// What goes on beside is told in the order in which it ended, each span after the
// one that it lies in, whenever it is taken.
func TestFeedOfTracks(t *testing.T) {
	rec := trace.New()
	feed := Feed{Recorder: rec}
	var all []Event
	take := func() string {
		var words []string
		feed.Take(func(e Event) {
			all = append(all, e)
			if s := e.(*Span); s.End >= 0 {
				words = append(words, s.Detail)
			}
		})
		return strings.Join(words, " ")
	}
	phase := rec.Begin("build", "build", 0)
	a := rec.Track(1, nil).Begin("LIB", "a", 0)
	b := rec.Track(2, nil).Begin("LIB", "b", 0)
	if got := take(); got != "" {
		t.Errorf("ended have %q, and nothing did", got)
	}
	c := rec.Track(3, nil).Begin("LIB", "c", 0)
	inner := rec.Track(3, nil).Begin("inner", "inner", 0)
	d := rec.Track(4, nil).Begin("LIB", "d", 0)
	for _, s := range []trace.Span{d, b, inner, c, a} {
		s.End()
	}
	phase.End()
	if got := take(); got != "build d b inner c a" {
		t.Errorf("told as %q", got)
	}
	f := collect(append([]Event{&Header{}}, all...))
	if !reflect.DeepEqual(f.Runs[0].Spans, rec.Spans()) {
		t.Errorf("collected are %+v, recorded %+v", f.Runs[0].Spans, rec.Spans())
	}
}
