// Package overhead answers what the instrument itself costs: runs with all of
// their spans against runs with those of the phases alone, and what a span costs
// times the spans in a decode step.
package overhead

import (
	"errors"
	"slices"
	"time"

	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/results/answers/bench"
	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/metrics"
	"github.com/introgen/introgen/results/stats"
	"github.com/introgen/introgen/results/table"
)

// Names of the plan's arms. An untraced run has no span for a decode step, nor
// anything below.
const (
	Untraced = "untraced"
	Traced   = "traced"
)

// MostShare is the part of a decode step that its spans may cost.
const MostShare = 0.01

// Answer is what the instrument costs.
type Answer struct {
	Arms *bench.Answer // by metrics.PerStep, which both kinds of run have
	// Ratio is traced to untraced.
	Ratio stats.Ratio
	// Of the traced runs, their medians: what a span costs and how long a
	// step takes in nanoseconds, and how many spans and samples there are for
	// each step, within it and between it and the next.
	Span, Step, Spans float64
	// Share is Span × Spans / Step.
	Share float64
	Notes table.Notes
}

// Within says whether a span times the spans of a step is at most MostShare of
// it.
func (a *Answer) Within() bool { return a.Share <= MostShare }

// Of answers from a plan with the arms Untraced and Traced.
func Of(f *breakdown.File) (*Answer, error) {
	by, err := bench.Of(f, []metrics.Metric{metrics.PerStep})
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
	for _, r := range f.Counted(Traced) {
		if r.End.SpanCost > 0 {
			span = append(span, float64(r.End.SpanCost)/1e3)
		}
		if len(r.Lost) > 0 {
			continue // so that spans cannot be counted
		}
		if took, ok := metrics.Decode.OfRun(r); ok {
			step, spans = append(step, took), append(spans, spansOfStep(r))
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

// spansOfStep is how many spans and samples were recorded in decode steps and
// between them, for each step.
func spansOfStep(r *breakdown.Run) float64 {
	type stretch struct{ from, to time.Duration }
	var decoding []stretch // of rounds
	steps, recorded := 0, 0
	for _, round := range r.Rounds {
		if s := round.Steps(); len(s) > 0 {
			steps += len(s)
			decoding = append(decoding, stretch{s[0].Start, s[len(s)-1].End})
		}
	}
	within := func(at time.Duration) bool {
		return slices.ContainsFunc(decoding, func(s stretch) bool { return at >= s.from && at < s.to })
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
	return float64(recorded) / float64(steps)
}

func (a *Answer) judge() {
	verdict := "at most"
	if !a.Within() {
		verdict = "MORE than"
	}
	a.Notes.Add("a span costs %s ns, a decode step of %s ms has %s spans and samples: %s of it, %s the %s that are allowed",
		figures.Text(a.Span, 1), figures.Milliseconds(time.Duration(a.Step)), figures.Count(a.Spans),
		figures.Percent(a.Share), verdict, figures.Exact(100*MostShare)+" %")
	switch r := a.Ratio; {
	case !r.Decidable:
	case r.Significant:
		a.Notes.Add("traced runs take %s times as long as untraced ones, from %s to %s with 95 %% (p %s)", figures.Text(r.Ratio, 3), figures.Text(r.Lo, 3), figures.Text(r.Hi, 3), figures.Text(r.P, 3))
	default:
		a.Notes.Add("no difference between traced and untraced runs is seen; the ratio lies between %s and %s with 95 %%, and an effect of %s or more would have been found in 4 of 5 cases",
			figures.Text(r.Lo, 3), figures.Text(r.Hi, 3), figures.Percent(r.MDE))
	}
}

// Document is the answer as a table and sentences.
func (a *Answer) Document() *table.Document {
	var d table.Document
	d.Append(a.Arms.Document())
	d.Sentences(a.Notes...)
	return &d
}
