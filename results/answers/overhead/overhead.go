// Package overhead answers what the instrument itself costs: runs with all of
// their spans against runs with those of the phases alone, and what a span costs
// times the spans in a decode step.
package overhead

import (
	"errors"
	"fmt"
	"time"

	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/results/answers/bench"
	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/stats"
	"github.com/introgen/introgen/results/table"
	"github.com/introgen/introgen/trace"
	"github.com/introgen/introgen/trace/names"
)

// Names of the plan's arms. An untraced run has no span for a decode step, nor
// anything below.
const (
	Untraced = "untraced"
	Traced   = "traced"
)

// MostShare is the part of a decode step that its spans may cost.
const MostShare = 0.01

// PerStep is the metric that both kinds of run have: the time from the end of
// the prefill to the check at the end of the round, by decode step, in the
// median of the rounds. What the harness does between steps is in it.
var PerStep = bench.Metric{Key: "per-step", Name: "per step", Help: "decoding as a whole, divided by its steps", Of: perStep}

func perStep(r *breakdown.Run) (float64, bool) {
	if len(r.Lost) > 0 {
		return 0, false // what is missing may be the check at the end
	}
	var times []float64
	for _, round := range r.Run.Rounds {
		steps := len(round.IDs) - 1
		var from, to time.Duration = -1, -1
		for _, s := range r.Spans {
			switch {
			case s.Parent != round.Span || s.End < 0:
			case s.Name == names.SpanPrefill:
				from = s.End
			case s.Name == names.SpanCheck:
				to = s.Start // the last one ends decoding
			}
		}
		if round.Error == "" && steps > 0 && from >= 0 && to > from {
			times = append(times, float64(to-from)/float64(steps))
		}
	}
	if len(times) == 0 {
		return 0, false
	}
	return stats.Median(times), true
}

// Answer is what the instrument costs.
type Answer struct {
	Arms *bench.Answer // by PerStep
	// Ratio is traced to untraced.
	Ratio stats.Ratio
	// Of the traced runs, their medians: what a span costs and how long a
	// step takes in nanoseconds, and how many spans and samples there are for
	// each step, within it and between it and the next.
	Span, Step, Spans float64
	// Share is Span × Spans / Step.
	Share float64
	Notes []string
}

// Within says whether a span times the spans of a step is at most MostShare of
// it.
func (a *Answer) Within() bool { return a.Share <= MostShare }

// Of answers from a plan with the arms Untraced and Traced.
func Of(f *breakdown.File) (*Answer, error) {
	by, err := bench.Of(f, []bench.Metric{PerStep})
	if err != nil {
		return nil, err
	}
	a := &Answer{Arms: by}
	for _, r := range by.Rows {
		if r.Arm == Traced {
			a.Ratio = r.Ratio
		}
	}
	var span, step, spans []float64
	for _, r := range f.File.Counted(Traced) {
		if r.End.SpanCost > 0 {
			span = append(span, float64(r.End.SpanCost)/1e3)
		}
		if len(r.Lost) > 0 {
			continue // so that spans cannot be counted
		}
		times, n := steps(r)
		if len(times) > 0 {
			step = append(step, stats.Median(times))
			spans = append(spans, float64(n)/float64(len(times)))
		}
	}
	if len(span) == 0 || len(step) == 0 {
		return nil, errors.New("no traced run that counts says what a span costs and has a decode step")
	}
	a.Span, a.Step, a.Spans = stats.Median(span), stats.Median(step), stats.Median(spans)
	a.Share = a.Span * a.Spans / a.Step
	a.judge()
	return a, nil
}

// steps are the times of a run's decode steps, and how many spans and samples
// were recorded in and between them.
func steps(r *recording.Run) (times []float64, recorded int) {
	type stretch struct{ from, to time.Duration }
	rounds := map[trace.ID]stretch{} // of decoding
	for _, s := range r.Spans {
		if s.Name != names.SpanStep || s.End < 0 {
			continue
		}
		times = append(times, float64(s.Duration()))
		at, seen := rounds[s.Parent]
		if !seen {
			at.from = s.Start
		}
		at.to = s.End
		rounds[s.Parent] = at
	}
	within := func(at time.Duration) bool {
		for _, s := range rounds {
			if at >= s.from && at < s.to {
				return true
			}
		}
		return false
	}
	for _, s := range r.Spans {
		if within(s.Start) {
			recorded++
		}
	}
	for _, s := range r.Samples {
		if within(s.At) {
			recorded++
		}
	}
	return times, recorded
}

func (a *Answer) judge() {
	verdict := "at most"
	if !a.Within() {
		verdict = "MORE than"
	}
	a.note("a span costs %s ns, a decode step of %s ms has %s spans and samples: %s of it, %s the %s that are allowed",
		figures.Text(a.Span, 1), figures.Milliseconds(time.Duration(a.Step)), figures.Count(a.Spans),
		figures.Percent(a.Share), verdict, figures.Exact(100*MostShare)+" %")
	switch r := a.Ratio; {
	case !r.Decidable:
	case r.Significant:
		a.note("traced runs take %s times as long as untraced ones, from %s to %s with 95 %% (p %s)", figures.Text(r.Ratio, 3), figures.Text(r.Lo, 3), figures.Text(r.Hi, 3), figures.Text(r.P, 3))
	default:
		a.note("no difference between traced and untraced runs is seen; the ratio lies between %s and %s with 95 %%, and an effect of %s or more would have been found in 4 of 5 cases",
			figures.Text(r.Lo, 3), figures.Text(r.Hi, 3), figures.Percent(r.MDE))
	}
}

func (a *Answer) note(format string, args ...any) {
	a.Notes = append(a.Notes, fmt.Sprintf(format, args...))
}

// Document is the answer as a table and sentences.
func (a *Answer) Document() *table.Document {
	var d table.Document
	d.Append(a.Arms.Document())
	for _, n := range a.Notes {
		d.Say("%s.", n)
	}
	return &d
}
