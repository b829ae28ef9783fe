package start

import (
	"slices"
	"time"
)

// Step is a part of what a goal waited for, one behind the other.
type Step struct {
	Compile  int // −1: the main thread's own work
	From, To time.Duration
}

// Path is the chain that the goal waited for in the replay, in order: where one of
// its compiles is made quicker, or begins sooner, the goal is reached sooner.
func (s *Start) Path(r Schedule, goal int) []Step {
	var out []Step
	g := s.Goals[goal]
	for i := g.after - 1; i >= g.from; i-- {
		c := s.Pieces[i].Compile
		if c < 0 || r.Tasks[c].Thread == 0 || r.Waited[i] == 0 {
			from, to := r.Begin[i], r.Begin[i+1]
			if c < 0 && len(out) > 0 && out[len(out)-1].Compile < 0 && out[len(out)-1].From == to {
				out[len(out)-1].From = from
			} else if to > from {
				out = append(out, Step{c, from, to})
			}
			continue
		}
		first := c
		for ; c >= 0; c = r.Tasks[c].after {
			out = append(out, Step{c, r.Tasks[c].From, r.Tasks[c].To})
			if first = c; r.Tasks[c].From <= r.Begin[g.from] {
				break
			}
			if after := r.Tasks[c].after; after >= 0 && r.Tasks[after].To < r.Tasks[c].From {
				break // it was let go later
			}
		}
		// It was let go where the main thread had got to: on with what that did before.
		for i > g.from && r.Begin[i] > r.Tasks[first].From {
			i--
		}
	}
	slices.Reverse(out)
	return out
}
