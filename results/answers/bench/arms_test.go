package bench_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/introgen/introgen/bench/plan"
	"github.com/introgen/introgen/bench/plan/plantest"
	"github.com/introgen/introgen/results/answers/bench"
	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/metrics"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/table"
	"github.com/introgen/introgen/trace"
	"github.com/introgen/introgen/trace/names"
)

// file is a plan of so many blocks; the time of a run is its arm's of the block.
func file(t *testing.T, blocks int, names []string, took func(arm string, block int) time.Duration) *recording.File {
	t.Helper()
	o := plan.Options{Max: blocks, Plan: recording.Plan{Seed: 1}}
	for _, n := range names {
		o.Plan.Arms = append(o.Plan.Arms, recording.Arm{Name: n, Args: []string{"cpu", "--prompt", "it's " + n}, Env: map[string]string{"X": n}})
	}
	o.Executor = &plantest.Executor{Answer: func(c plan.Child) plan.Outcome {
		d := took(c.Arm.Name, c.Block)
		if d == 0 {
			return plan.Outcome{Code: 1, Error: "introgen: no memory"}
		}
		return plantest.Good(c, d)
	}}
	f, err := plan.Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

const ms = time.Millisecond

// TestAnswer: runs of 100, 110, … 150 ms a block, the second arm 1.05 times
// that. A run of plantest's has its prefill and each of its two steps in a
// fourth of its time; it is over after three fourths for the first token.
func TestAnswer(t *testing.T) {
	f := file(t, 6, []string{"A", "B"}, func(arm string, block int) time.Duration {
		d := 90*ms + time.Duration(block)*10*ms
		if arm == "B" {
			d += d / 20
		}
		return d
	})
	a, err := bench.Of(breakdown.Of(f), bench.Metrics)
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Rows) != 10 {
		t.Fatalf("%d rows, want 5 metrics of 2 arms", len(a.Rows))
	}
	part := map[string]float64{"ttft": 0.5, "prefill": 0.25, "decode": 0.25, "total": 0.75, "process": 1}
	for _, r := range a.Rows {
		want := 125e6 * part[r.Metric.Key] // the median of 100, …, 150
		if r.Arm == "B" {
			want *= 1.05
			// All six ratios are alike: one of 2⁶ sign patterns on each side.
			if d := r.Ratio.Ratio - 1.05; d > 1e-6 || d < -1e-6 || r.Ratio.P != 2./64 || !r.Ratio.Significant || r.Ratio.N != 6 || r.Ratio.MDE > 1e-6 {
				t.Errorf("%s: ratio %+v", r.Metric.Key, r.Ratio)
			}
		} else if r.Ratio.N != 0 {
			t.Errorf("the first arm has a ratio to itself: %+v", r.Ratio)
		}
		if d := r.Summary.Median - want; d > 10 || d < -10 || r.Summary.N != 6 {
			t.Errorf("%s of %s: %+v, want a median of %v", r.Metric.Key, r.Arm, r.Summary, want)
		}
	}
	if got, want := strings.Join(a.Verdicts(), "\n"), `B (X=B cpu --prompt 'it'\''s B') takes 1.05× [1.05, 1.05] the time of A to token 1, `+
		`1.05× [1.05, 1.05] for the prefill, 1.05× [1.05, 1.05] for the decode step, 1.05× [1.05, 1.05] for the total, 1.05× [1.05, 1.05] for the process`; got != want {
		t.Errorf("the verdict is %q, want %q", got, want)
	}
	text := strings.Join(a.Notes, "\n")
	if !strings.Contains(text, "A, to token 1: the runs drifted by +40.0 % from the first to the last (p 0.00278)") {
		t.Errorf("notes are\n%s", text)
	}
	var b bytes.Buffer
	for _, s := range table.Styles {
		b.Reset()
		if err := a.Document().Write(&b, s); err != nil {
			t.Fatal(err)
		}
		if s == table.Plain {
			for line := range strings.Lines(b.String()) {
				if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > table.Width {
					t.Errorf("%d columns: %s", n, line)
				}
			}
			if !strings.HasPrefix(b.String(), `A: introgen X=A cpu --prompt 'it'\''s A'`+"\n") {
				t.Errorf("begins %.60q", b.String())
			}
		}
	}
}

// TestNotes: what went wrong, how often, and what cannot be decided.
func TestNotes(t *testing.T) {
	f := file(t, 2, []string{"A", "B"}, func(arm string, block int) time.Duration {
		if arm == "B" && block == 1 {
			return 0
		}
		return 100 * ms
	})
	f.Runs[0].Exit.Taint(recording.Taint{Code: recording.TaintLoad, Value: 0.9, Text: "other processes kept 0.9 of 2 cores busy"})
	first := f.Runs[0].Start.Arm
	a, err := bench.Of(breakdown.Of(f), []metrics.Metric{metrics.Decode})
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(a.Notes, "\n")
	for _, want := range []string{
		"B: 3 runs not counted",
		"B: ended with exit code 1: no memory (3 times)",
		"an interval needs 6 runs of each arm and there are 1, so nothing can be decided",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if want := "A: 1 run of 2 tainted: load 1× (other processes kept 0.9 of 2 cores busy)"; first == "A" && !strings.Contains(text, want) {
		t.Errorf("%q is not in\n%s", want, text)
	}
	if r := a.Rows[1]; r.Ratio.Decidable || r.Ratio.N != 1 {
		t.Errorf("ratio %+v", r.Ratio)
	}
}

func TestNothingToCompare(t *testing.T) {
	if _, err := bench.Of(breakdown.Of(&recording.File{Path: "x.introgen"}), bench.Metrics); err == nil || !strings.Contains(err.Error(), "x.introgen holds no plan") {
		t.Errorf("error %v", err)
	}
	f := &recording.File{Plan: &recording.Plan{Arms: []recording.Arm{{Name: "A", Args: []string{"cpu"}}}},
		Runs: []*recording.Run{{Start: &recording.Start{Arm: "A"}, Exit: &recording.Exit{Code: 1, Refused: "ended with exit code 1"}}}}
	if _, err := bench.Of(breakdown.Of(f), bench.Metrics); err == nil || !strings.Contains(err.Error(), "no run counts, so there is nothing to compare: A: ended with exit code 1") {
		t.Errorf("error %v", err)
	}
	if _, err := bench.Find("speed"); err == nil || err.Error() != `metric "speed" is not known: ttft, prefill, decode, total, process are allowed` {
		t.Errorf("error %v", err)
	}
}

// TestVerdicts: what is not told apart is named, and what cannot be decided.
func TestVerdicts(t *testing.T) {
	for _, c := range []struct {
		blocks int
		want   string
	}{
		{8, "B (X=B cpu --prompt 'it'\\''s B') is not told apart from A: decode step"},
		{2, "B (X=B cpu --prompt 'it'\\''s B') against A: undecided, since that needs 6 runs of each"},
	} {
		f := file(t, c.blocks, []string{"A", "B"}, func(arm string, block int) time.Duration {
			if (arm == "A") == (block%2 == 0) {
				return 110 * ms
			}
			return 100 * ms
		})
		a, err := bench.Of(breakdown.Of(f), []metrics.Metric{metrics.Decode})
		if err != nil {
			t.Fatal(err)
		}
		if got := a.Verdicts(); len(got) != 1 || got[0] != c.want {
			t.Errorf("%d blocks: %q, want %q", c.blocks, got, c.want)
		}
	}
	one := file(t, 1, []string{"A"}, func(string, int) time.Duration { return 100 * ms })
	if a, err := bench.Of(breakdown.Of(one), bench.Metrics); err != nil || len(a.Verdicts()) != 0 {
		t.Errorf("one arm: %v, %v", a.Verdicts(), err)
	}
}

// TestFigureIsMissing: what an arm has no figure of is not compared, and that is
// said; of what no arm has there is nothing to say.
func TestFigureIsMissing(t *testing.T) {
	f := file(t, 6, []string{"A", "B"}, func(string, int) time.Duration { return 100 * ms })
	for _, r := range f.Runs {
		r.Spans = slices.DeleteFunc(r.Spans, func(s trace.Record) bool {
			return s.Name == names.SpanPrefill || s.Name == names.SpanStep && r.Start.Arm == "B"
		})
	}
	a, err := bench.Of(breakdown.Of(f), bench.Metrics)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(a.Notes, "\n")
	if !strings.Contains(text, "B: no run has a figure of decode step, so nothing is compared by it") || strings.Contains(text, "figure of prefill") {
		t.Errorf("notes are\n%s", text)
	}
}
