package main

import (
	"context"
	"io"
	"reflect"
	"testing"
	"time"

	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/trace"
	"github.com/introgen/introgen/trace/names"
)

// TestLimits: each limit is measured in a span of its own, and none of a run that is
// interrupted.
func TestLimits(t *testing.T) {
	g := &generation{session: newSession(trace.New(), nil, io.Discard)}
	whats := func(ctx context.Context, observed bool) (all []string) {
		for _, e := range g.limits(ctx, observed) {
			l := e.(*recording.Limit)
			all = append(all, l.What)
			if l.Threads < 1 || l.Samples < 1 || l.Median <= 0 || l.Best < l.Median {
				t.Errorf("%+v", l)
			}
		}
		return all
	}
	if got := whats(t.Context(), true); !reflect.DeepEqual(got, []string{"memory read", "float32", "observations"}) {
		t.Errorf("measured %q", got)
	}
	if got := whats(t.Context(), false); !reflect.DeepEqual(got, []string{"memory read", "float32"}) {
		t.Errorf("measured %q of Metal", got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got := whats(ctx, true); got != nil || len(g.told) > 0 {
		t.Errorf("interrupted, it measured %q and told %v", got, g.told)
	}
	spans := 0
	for _, s := range g.rec.Spans() {
		if s.Name == names.SpanLimits && s.Parent == 0 && s.End >= s.Start+time.Microsecond {
			spans++
		}
	}
	if spans != 3 {
		t.Errorf("%d spans of limits, not 3", spans)
	}
}
