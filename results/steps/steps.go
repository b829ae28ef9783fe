// Package steps has the decode steps of a round or of a run as a distribution: their
// percentiles, how well these are known, and the steps that stalled, each with what
// else happened in it. The first step of a round stands apart: it may have to compile.
package steps

import (
	"slices"
	"time"

	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/stats"
	"github.com/introgen/introgen/trace/names"
)

// Steps are decode steps; of a recorded program that marks none what it repeats.
type Steps struct {
	Name    string        // names.SpanStep or names.SpanRepeat
	First   time.Duration // of the first round, if there are several; figures.Missing where it is not recorded
	Later   []time.Duration
	Numbers []int64 // which step of its round each of Later is
	// Percentiles of Later in nanoseconds, and the longest of Later; 0 where there
	// are none.
	P50, P90, P99 stats.Quantile
	Max           time.Duration
}

// Least is how many later steps a round has at least that has percentiles: of one
// step there is nothing to be said but how long it took.
const Least = 2

// Of are the steps of a round.
func Of(r breakdown.Round) Steps { return of([]breakdown.Round{r}) }

// OfRun are the steps of all rounds that speak for a run, as for its median decode
// step: those after the first, or the only one. Which round a step is of cannot be
// told any more.
func OfRun(r *breakdown.Run) Steps { return of(r.Later()) }

func of(rounds []breakdown.Round) Steps {
	s := Steps{Name: names.SpanStep, First: figures.Missing}
	for _, r := range rounds {
		all := phases(r)
		for _, p := range all {
			s.Name = p.Name
			switch {
			case p.N > 1:
				s.Later, s.Numbers = append(s.Later, p.Time()), append(s.Numbers, p.N)
			case p.N == 1 && s.First == figures.Missing:
				s.First = p.Time()
			}
		}
	}
	q := stats.Quantiles(s.Values(), 0.5, 0.9, 0.99)
	s.P50, s.P90, s.P99 = q[0], q[1], q[2]
	if len(s.Later) > 0 {
		s.Max = slices.Max(s.Later)
	}
	return s
}

// phases are the steps of a round that have ended.
func phases(r breakdown.Round) []breakdown.Phase {
	if all := r.Steps(); len(all) > 0 {
		return all
	}
	return r.Repeats()
}

// Values are the later steps in nanoseconds, in order.
func (s Steps) Values() []float64 {
	out := make([]float64, len(s.Later))
	for i, t := range s.Later {
		out[i] = float64(t)
	}
	return out
}

// Sum is that of the later steps.
func (s Steps) Sum() time.Duration {
	var sum time.Duration
	for _, t := range s.Later {
		sum += t
	}
	return sum
}

// Enough says whether there are so many that percentiles say something.
func (s Steps) Enough() bool { return len(s.Later) >= Least }
