package remedy

import (
	"slices"
	"time"

	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/results/start"
)

// each is one compile of a run, also where another one was of the same.
type each struct {
	made
	at time.Duration
}

func eachOf(c start.Compile) each { return each{madeOf(c), c.Start} }

// without leaves out the compiles that are picked of each run; it is not ok where there
// are none in the first.
func (m *model) without(key, title string, pick func(*run) []start.Compile) (candidate, bool) {
	gone := map[*run]map[each]bool{}
	for i := range m.runs {
		r := &m.runs[i]
		gone[r] = map[each]bool{}
		for _, c := range pick(r) {
			gone[r][eachOf(c)] = true
		}
	}
	c := m.of(key, title, change{compile: func(r *run, _ outlook, x start.Compile, t time.Duration) time.Duration {
		if gone[r][eachOf(x)] {
			return 0
		}
		return t
	}})
	c.Command, c.Sure = nil, Arithmetic
	return c, len(gone[&m.runs[0]]) > 0
}

// once keeps what was made.
func (m *model) once() (candidate, bool) {
	again := func(r *run) (out []start.Compile) {
		seen := map[made]bool{}
		for _, c := range r.start.Compiles {
			if seen[madeOf(c)] {
				out = append(out, c)
			}
			seen[madeOf(c)] = true
		}
		return out
	}
	c, ok := m.without(Once, "keep what was made: some of it is made more than once", again)
	c.Costs = "the memory of what is kept"
	c.Rests = "what has the name and the constants of something before is the same: " + firstOf(titles(again(&m.runs[0])), 4)
	return c, ok
}

// unused makes no pipelines that the run did not dispatch, of a program of which all
// that it dispatched is known.
func (m *model) unused() (candidate, bool) {
	never := func(r *run) (out []start.Compile) {
		kernels := map[string]bool{}
		for _, k := range r.taken.Kernels {
			kernels[k.Name] = true
		}
		lost := r.taken.End == nil || r.taken.End.Lost+r.taken.End.LostSlots > 0 || r.taken.LostSpans() > 0
		if len(kernels) == 0 || kernels[""] || kernels["?"] || lost {
			return nil
		}
		for _, c := range r.start.Compiles {
			if !c.IsLibrary() && !kernels[c.Function] {
				out = append(out, c)
			}
		}
		return out
	}
	c, ok := m.without(Unused, "make a pipeline where it is first dispatched: some never are", never)
	out := never(&m.runs[0])
	c.Costs = "a wait where another input needs one of them"
	c.Rests = "the run dispatched everything but " + figures.Number(len(out), "pipeline") + ": " + firstOf(titles(out), 4)
	return c, ok && m.header.Program != nil
}

func titles(all []start.Compile) (out []string) {
	for _, c := range all {
		out = append(out, title(c))
	}
	slices.Sort(out)
	return slices.Compact(out)
}
