package waterfall_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/breakdown/breakdowntest"
	"github.com/introgen/introgen/results/plot"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/waterfall"
	"github.com/introgen/introgen/trace"
	"github.com/introgen/introgen/trace/names"
)

func lane(t *testing.T, lanes []plot.Lane, label string) plot.Lane {
	t.Helper()
	for _, l := range lanes {
		if l.Label == label {
			return l
		}
	}
	t.Fatalf("no lane %q", label)
	return plot.Lane{}
}

// The lanes of the experiment's cold run have the times that it printed.
func TestColdStart(t *testing.T) {
	f, err := recording.Open("../recorded/experiment-states.introgen")
	if err != nil {
		t.Fatal(err)
	}
	run := breakdown.Take(f.Runs[0])
	lanes := waterfall.Of(run, run.Rounds[0])
	for label, want := range map[string]float64{ // of experiment.txt
		"library Gemm": 3828.6, "library Reduce": 4333.7, "library Quantized": 789.1, "library Sdpa": 2130.6, "2 small libraries": 77.5 + 114.2,
	} {
		l := lane(t, lanes, label)
		if got := l.Time(); math.Abs(got-want) > 0.01 {
			t.Errorf("%s takes %v ms, want %v", label, got, want)
		}
		if l.Depth != 1 {
			t.Errorf("%s is set in by %d", label, l.Depth)
		}
	}
	var order []string
	for _, l := range lanes {
		if l.Depth == 0 {
			order = append(order, l.Label)
		}
	}
	if got, want := strings.Join(order, ", "), "read gguf, build model, prefill, decode step 1, decode steps 2 to 20"; got != want {
		t.Errorf("the phases are %s, want %s", got, want)
	}
}

// What the lanes of the host and of the device add up to is what the round's phases
// have of it, in which nothing counts twice; and no bar leaves its round.
func TestSumsAreThePhases(t *testing.T) {
	run := breakdown.Take(breakdowntest.Metal(2, 4, 40))
	for _, r := range run.Rounds {
		lanes := waterfall.Of(run, r)
		all := r.Together()
		for label, want := range map[string]time.Duration{"encode": all.Encode, "commit": all.Commit, "wait for the device": all.Wait, "device": all.GPU} {
			if got := lane(t, lanes, label).Time(); math.Abs(got-float64(want)/1e6) > 1e-9 {
				t.Errorf("round %d: %s takes %v ms, and the phases have %v", r.Number, label, got, want)
			}
		}
		for _, l := range lanes {
			if from, to, ok := l.Extent(); !ok || from < 0 || to > float64(r.Wall())/1e6+1e-9 {
				t.Errorf("round %d: %s goes from %v to %v of %v", r.Number, l.Label, from, to, r.Wall())
			}
		}
	}
}

// A round that is cut off, or whose span is missing, has what there is of it.
func TestNotWhole(t *testing.T) {
	run := &recording.Run{}
	run.Spans = []trace.Record{
		{ID: 1, Name: names.SpanRound, N: 1, Start: 10, End: -1},
		{ID: 2, Parent: 1, Name: names.SpanRead, Start: 10, End: 1_000_010},
		{ID: 3, Parent: 1, Name: names.SpanBuild, Start: 1_000_010, End: -1},
		{ID: 4, Parent: 3, Name: names.SpanLibrary, Detail: "Gemm", N: 1, Start: 1_000_010, End: 5_000_010},
	}
	taken := breakdown.Take(run)
	lanes := waterfall.Of(taken, taken.Rounds[0])
	if got := lane(t, lanes, "library Gemm"); got.Time() != 4 || got.Bars[0].Start != 1 {
		t.Errorf("Gemm: %+v", got)
	}
	missing := &recording.Run{Rounds: []recording.Round{{Span: 9, Number: 1}}}
	taken = breakdown.Take(missing)
	if lanes := waterfall.Of(taken, taken.Told[0]); lanes != nil {
		t.Errorf("a round without a span has %v", lanes)
	}
}
