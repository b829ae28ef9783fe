package breakdown

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/trace"
	"github.com/introgen/introgen/trace/names"
)

// Run is a run that was read, taken apart.
type Run struct {
	*recording.Run
	Rounds []Round // those of which there is a span, in order
	Told   []Round // those that said how they ended, in order

	top       []Phase   // what lies in nothing, rounds too, in the order of their begin
	compiles  []Compile // all of the run
	end, last time.Duration

	accounted bool
	account   *Account
	failed    error
}

// Take takes a run apart.
func Take(run *recording.Run) *Run {
	b := build(run)
	r := &Run{Run: run, Rounds: b.Rounds(), end: b.end, last: b.last}
	at := map[trace.ID]int{}
	for i, round := range r.Rounds {
		at[round.ID] = i
	}
	for i := range run.Rounds {
		e := &run.Rounds[i]
		if n, ok := at[e.Span]; ok {
			r.Told = append(r.Told, r.Rounds[n])
		} else {
			one := b.round(b.spanOf(e))
			one.Number = e.Number
			r.Told = append(r.Told, one)
		}
	}
	for _, i := range b.within[0] {
		if s := b.tops[i].span; !names.OfDevice(s.Name) && !recording.Beside(s) {
			r.top = append(r.top, b.phase(i))
		}
	}
	slices.SortStableFunc(r.top, func(x, y Phase) int { return cmp.Compare(x.Start, y.Start) })
	for _, t := range b.tops {
		for _, s := range t.compiles {
			r.compiles = append(r.compiles, b.compile(s))
		}
	}
	b.shareAll(r.compiles)
	slices.SortStableFunc(r.compiles, func(x, y Compile) int { return cmp.Compare(x.Start, y.Start) })
	return r
}

// Top are the phases that lie in nothing, rounds too, in the order of their begin.
func (r *Run) Top() []Phase { return r.top }

// First is the first round of the run, where it is recorded.
func (r *Run) First() []Round {
	if len(r.Rounds) == 0 || r.Rounds[0].Number > 1 {
		return nil
	}
	return r.Rounds[:1]
}

// AfterFirst are the rounds after the first.
func (r *Run) AfterFirst() []Round {
	return slices.DeleteFunc(slices.Clone(r.Rounds), func(r Round) bool { return r.Number < 2 })
}

// Later are the rounds after the first, or of a run that made one round that. A run
// that made later ones, which are missing, has none.
func (r *Run) Later() []Round {
	if l := r.AfterFirst(); len(l) > 0 || r.several() {
		return l
	}
	return r.Rounds
}

// several says whether a run made more than one round, by what it was to do and
// by the events of its rounds.
func (r *Run) several() bool {
	text, _ := r.Header.Knob("rounds")
	n, err := strconv.Atoi(text)
	return err == nil && n > 1 || slices.ContainsFunc(r.Run.Rounds, func(e recording.Round) bool { return e.Number > 1 })
}

// Rounds takes a run's rounds apart, in order.
func Rounds(run *recording.Run) []Round { return build(run).Rounds() }

// File is a recording whose runs are taken apart once, when that is first asked
// for.
type File struct {
	*recording.File
	runs map[*recording.Run]*Run
}

// Of is a recording that nobody has asked for yet.
func Of(f *recording.File) *File { return &File{f, map[*recording.Run]*Run{}} }

// Run is a run of the recording, taken apart.
func (f *File) Run(run *recording.Run) *Run {
	if f.runs[run] == nil {
		f.runs[run] = Take(run)
	}
	return f.runs[run]
}

// Counted are the runs of the arm that count, taken apart; of every arm where it
// is "".
func (f *File) Counted(arm string) []*Run {
	var out []*Run
	for _, r := range f.File.Counted(arm) {
		out = append(out, f.Run(r))
	}
	return out
}
