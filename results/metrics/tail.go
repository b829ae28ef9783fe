package metrics

import (
	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/steps"
)

// The slow decode steps of a round, of which a median says nothing.
var (
	P90 = Metric{Key: "p90", Name: "step p90", Bench: "Decode/step=p90", later: true, Of: tail(func(s steps.Steps) float64 { return s.P90.Value }),
		Text: "the 90th percentile of the decode steps after the first, as numpy computes it; of fewer than 11 it lies between the two longest"}
	P99 = Metric{Key: "p99", Name: "step p99", Bench: "Decode/step=p99", later: true, Of: tail(func(s steps.Steps) float64 { return s.P99.Value }),
		Text: "the same, the 99th percentile; of fewer than 101 it lies between the two longest"}
	Max = Metric{Key: "max", Name: "longest step", Bench: "Decode/step=max", later: true, Of: tail(func(s steps.Steps) float64 { return float64(s.Max) }),
		Text: "the longest of the decode steps after the first, where there are at least two"}
)

// Tail are the figures of the slow steps. Those of two sets of runs can be compared
// where their rounds have as many steps: the longest of more steps is longer.
var Tail = []Metric{P90, P99, Max}

// tail is a figure of decode steps that are enough for percentiles. What a program
// repeats without a mark has none.
func tail(of func(steps.Steps) float64) func(breakdown.Round) (float64, bool) {
	return func(r breakdown.Round) (float64, bool) {
		if len(r.Later()) < steps.Least {
			return 0, false
		}
		return of(steps.Of(r)), true
	}
}
