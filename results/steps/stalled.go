package steps

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/results/breakdown"
)

// Stalled is a round with stalls.
type Stalled struct {
	Round  int
	Name   string        // of the steps: names.SpanStep or names.SpanRepeat
	Of     int           // later steps
	Stalls []Stall       // the longest first, with what happened in each alone
	Around []Cause       // what the readings of the machine around the round say
	More   time.Duration // how much longer the stalls took together than as many medians
}

// StalledRounds are the rounds of a run that have stalls, in order.
func StalledRounds(r *breakdown.Run) []Stalled {
	var out []Stalled
	operations := sync.OnceValue(func() *tracing { return traced(r) })
	for _, round := range r.Rounds {
		stalls := ofRound(r, round, operations)
		if len(stalls) == 0 {
			continue
		}
		s := Stalled{Round: round.Number, Name: stalls[0].Name, Of: len(Of(round).Later), Stalls: stalls}
		for i, one := range stalls {
			s.More += one.Time - one.Median
			alone := slices.IndexFunc(one.With, Cause.OfMachine)
			if alone < 0 {
				continue
			}
			for _, c := range one.With[alone:] {
				if !slices.Contains(s.Around, c) {
					s.Around = append(s.Around, c)
				}
			}
			stalls[i].With = one.With[:alone]
		}
		slices.SortStableFunc(stalls, func(a, b Stall) int { return cmp.Compare(b.Time, a.Time) })
		out = append(out, s)
	}
	return out
}

// OfMachine says whether the cause is one of the machine, and so of all that ran at
// the time.
func (c Cause) OfMachine() bool { return c.Kind > Unexplained }

// Lines say it: first how many steps of the round stalled and what happened around
// all of them, then of the longest each in which something happened, then the others
// of these.
func (s Stalled) Lines(longest int) []string {
	out := []string{fmt.Sprintf("stalls in round %d: %d of %s took over %d × their median, together %s ms more%s",
		s.Round, len(s.Stalls), figures.Number(s.Of, "step"), Limit, figures.Milliseconds(s.More), with(s.Around))}
	var without []string
	for _, one := range s.Stalls[:min(longest, len(s.Stalls))] {
		if len(one.With) > 0 {
			out = append(out, one.Brief()+with(one.With))
		} else {
			without = append(without, fmt.Sprintf("%s (%s ms)", one.Title, figures.Milliseconds(one.Time)))
		}
	}
	if n := len(without); n > 0 {
		out = append(out, fmt.Sprintf("%s: nothing that is recorded happened in %s", strings.Join(without, ", "), figures.Verb(n, "it", "them")))
	}
	if more := len(s.Stalls) - longest; more > 0 {
		out = append(out, fmt.Sprintf("and %d more, the shortest of which took %s ms", more, figures.Milliseconds(s.Stalls[len(s.Stalls)-1].Time)))
	}
	return out
}
