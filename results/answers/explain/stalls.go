package explain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/results/stats"
	"github.com/introgen/introgen/results/steps"
	"github.com/introgen/introgen/trace/names"
)

// What a program repeats without a mark need not be the same work each time, so that
// a long one is no stall.
var stalledSteps = Rule{
	Name: "stalled steps", Sure: Certain,
	Find: func(c *Case) (Facts, time.Duration) {
		f := StalledSteps{}
		var cost []float64
		var more, decode time.Duration
		runs := c.Arm.Samples
		if len(runs) == 0 {
			runs = c.Later.Samples
		}
		for _, x := range runs {
			var lost time.Duration
			for _, r := range x.Run.Rounds {
				if s := steps.Of(r); s.Name == names.SpanStep {
					f.Steps += len(s.Later)
					decode += s.Sum()
				}
			}
			for _, s := range steps.StalledRounds(x.Run) {
				if s.Name == names.SpanStep {
					lost += s.More
					f.add(s)
				}
			}
			more += lost
			cost = append(cost, float64(lost))
		}
		if decode <= 0 || float64(more) < least*float64(decode) {
			return nil, 0
		}
		f.Runs, f.Share = len(runs), float64(more)/float64(decode)
		slices.SortStableFunc(f.Beside, func(a, b Beside) int { return cmp.Compare(b.Stalls, a.Stalls) })
		return f, time.Duration(stats.Median(cost))
	},
}

// StalledSteps: decode steps took much longer than their round's median, by all runs.
type StalledSteps struct {
	Runs, Steps, Stalls int
	Longest             time.Duration
	Share               float64 // of all later steps, what the stalls took more than the median
	Beside              []Beside
}

// Beside is in how many stalls something happened.
type Beside struct {
	Kind   steps.Kind
	Stalls int
}

func (f *StalledSteps) add(s steps.Stalled) {
	f.Stalls += len(s.Stalls)
	for _, one := range s.Stalls {
		f.Longest = max(f.Longest, one.Time)
		seen := map[steps.Kind]bool{}
		for _, c := range slices.Concat(s.Around, one.With) {
			if seen[c.Kind] {
				continue // of several libraries
			}
			seen[c.Kind] = true
			i := slices.IndexFunc(f.Beside, func(b Beside) bool { return b.Kind == c.Kind })
			if i < 0 {
				i = len(f.Beside)
				f.Beside = append(f.Beside, Beside{Kind: c.Kind})
			}
			f.Beside[i].Stalls++
		}
	}
}

func (f StalledSteps) Text() string {
	beside := "nothing that is recorded happened beside them"
	if len(f.Beside) > 0 {
		var all []string
		for _, b := range f.Beside {
			all = append(all, fmt.Sprintf("%s (%d)", b.Kind, b.Stalls))
		}
		beside = "beside them: " + strings.Join(all, ", ")
	}
	return fmt.Sprintf("%d of %d decode steps took over %d × the median of their round, up to %s ms; what they took beyond it is %s of the decode time; %s",
		f.Stalls, f.Steps, steps.Limit, ms(f.Longest), figures.Percent(f.Share), beside)
}

func (f StalledSteps) Advice() string {
	if len(f.Beside) > 0 {
		switch f.Beside[0].Kind {
		case steps.OtherLoad, steps.Throttled:
			return "repeat when the machine is idle and cool; what stalled beside other work says nothing of the engine"
		case steps.Compiling:
			return "a warm-up must make these too: `introgen coverage` says what each part of one brings"
		}
	}
	return "`introgen show --as table` names the longest of them, with what happened in each"
}
