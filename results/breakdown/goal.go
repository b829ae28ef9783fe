package breakdown

import (
	"slices"
	"time"

	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/trace"
	"github.com/introgen/introgen/trace/names"
)

// Goal is what a run is waited for: the second token, by which everything has been
// compiled that a generation needs. Of a program nobody may know of tokens: then it
// is the end of the first of the steps that it repeats behind its first output, or
// where it repeats nothing that output, and of one that wrote before it called
// Metal, or nothing, its end.
type Goal struct {
	Name string // "the second token"
	Time time.Duration
	// Until is when it was reached, on the run's clock.
	Until time.Duration
}

// The names of goals.
const (
	GoalToken2 = "the second token"
	GoalStep   = "the end of the first step"
	GoalOutput = "the first output"
	GoalEnd    = "the end of the program"
)

// Brief is how the goal is called in few words.
func (g Goal) Brief() string {
	if g.Name == GoalToken2 {
		return "token 2"
	}
	return g.Name
}

// Goal is that of the round; it is not ok where the round did not reach it.
func (r Round) Goal() (Goal, bool) {
	if t, ok := r.Token(2); ok {
		step, _ := r.Step(1)
		return Goal{GoalToken2, t, step.End}, true
	}
	step := slices.IndexFunc(r.Phases, func(p Phase) bool { return p.Name == names.SpanRepeat && p.N == 1 && !p.Open })
	switch {
	case !r.program || r.Number != 1:
		return Goal{}, false
	case step >= 0:
		until := r.Phases[step].End
		return Goal{GoalStep, until - r.Start, until}, true
	case r.FirstMetal != figures.Missing && r.FirstOutput >= r.FirstMetal:
		return Goal{GoalOutput, r.FirstOutput - r.Start, r.FirstOutput}, true
	case !r.Open:
		return Goal{GoalEnd, r.End - r.Start, r.End}, true
	}
	return Goal{}, false
}

// Before is what of the phase lies before the moment: its own time without
// compiling, and what it began to compile, as far as the wall clock had got.
func (p Phase) Before(until time.Duration) (own time.Duration, compiles []Compile) {
	own = min(p.End, until) - p.Start - p.Recording
	for _, some := range [][]Compile{p.Compiles, p.Carried} {
		for _, c := range some {
			if c.Start >= until {
				continue
			}
			wall := min(c.Wall(), until-max(c.Start, p.Start))
			c.beside = c.Time - wall
			own -= wall
			compiles = append(compiles, c)
		}
	}
	return max(0, own), compiles
}

// split makes a round of each generation of a program that marks several: one
// begins with the phases that lead to its prefill.
func split(r Round) []Round {
	var begins []int
	for i, p := range r.Phases {
		if p.Name != names.SpanPrefill {
			continue
		}
		for i > 0 && slices.Contains(leading, r.Phases[i-1].Name) {
			i--
		}
		begins = append(begins, i)
	}
	if len(begins) < 2 {
		return []Round{r}
	}
	var out []Round
	for k := range begins {
		one, from, to := r, begins[k], len(r.Phases)
		if one.Number = k + 1; k > 0 {
			one.Start, one.Before, one.FirstMetal, one.FirstOutput = r.Phases[from].Start, nil, figures.Missing, figures.Missing
		} else {
			from = 0
		}
		if k+1 < len(begins) {
			to = begins[k+1]
			one.End, one.Open = r.Phases[to].Start, false
		}
		one.Phases = slices.Clone(r.Phases[from:to])
		var steps, repeats int64
		for i, p := range one.Phases {
			switch p.Name { // numbered through the run
			case names.SpanStep:
				steps++
				one.Phases[i].N = steps
			case names.SpanRepeat:
				repeats++
				one.Phases[i].N = repeats
			}
		}
		out = append(out, one)
	}
	return out
}

// leading are the phases that lead to a prefill.
var leading = []string{names.SpanRead, names.SpanBuild, names.SpanEncodePrompt}

// Life is how long a program ran; figures.Missing where its end is not recorded,
// and of an engine's run.
func (r *Run) Life() time.Duration {
	if len(r.Rounds) == 0 || r.Header.Program == nil || r.Rounds[len(r.Rounds)-1].Open {
		return figures.Missing
	}
	return r.Rounds[len(r.Rounds)-1].End - r.Rounds[0].Start
}

// byID are the rounds of each span: one, or of a program as many as it marks.
func byID(rounds []Round) map[trace.ID][]Round {
	out := map[trace.ID][]Round{}
	for _, r := range rounds {
		out[r.ID] = append(out[r.ID], r)
	}
	return out
}
