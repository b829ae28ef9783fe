package main

import (
	"bytes"
	"context"
	"io"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/introgen/introgen/models"
	"github.com/introgen/introgen/models/modeltest"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/trace"
	"github.com/introgen/introgen/trace/names"
)

// TestLimits: each limit is measured in a span of its own, and none of a run that is
// interrupted.
func TestLimits(t *testing.T) {
	g := &generation{session: newSession(trace.New(), nil, io.Discard)}
	whats := func(ctx context.Context, observed bool) (all []string) {
		limits, err := g.limits(ctx, observed)
		if (err != nil) != (ctx.Err() != nil) {
			t.Errorf("the error is %v", err)
		}
		for _, e := range limits {
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
	if spans != 2 {
		t.Errorf("%d spans of limits, not 2", spans)
	}
}

// TestInterruptedTrace: a run that is interrupted behind its last pass measures no limits,
// and keeps what its threads did.
func TestInterruptedTrace(t *testing.T) {
	modeltest.Path(t, models.StandIn)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	path := filepath.Join(t.TempDir(), "x.introgen")
	out, errs := &cancelling{word: "round 1] decode steps", cancel: cancel}, &bytes.Buffer{}
	if code := run(ctx, []string{"introgen", "cpu", "1", "--tokens", "2", "--trace", "-o", path}, out, errs); code != exitInterrupted {
		t.Errorf("exit code %d, want %d: %s", code, exitInterrupted, errs)
	}
	f, err := recording.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if r := f.Runs[0]; len(r.Limits) > 0 || len(r.Executed) == 0 || len(f.Warnings) > 0 || slices.ContainsFunc(r.Spans, func(s trace.Record) bool { return s.Name == names.SpanLimits }) {
		t.Errorf("%d limits, %d times operations, warnings %q", len(r.Limits), len(r.Executed), f.Warnings)
	}
	if text := out.String(); !strings.Contains(text, "decode step, 2 times, operations") || strings.Contains(text, "float32") {
		t.Errorf("printed\n%s", text)
	}
}
