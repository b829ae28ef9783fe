package compare

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"github.com/introgen/introgen/results/answers/samples"
	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/metrics"
	"github.com/introgen/introgen/results/stats"
	"github.com/introgen/introgen/trace/names"
)

// Costs are what the time to the goal of a series is made of, which is the second
// token where it is known. Each is a median over its runs, and a sum is one of medians, so that the parts of
// whatever is said add up; the table's lines are the same medians.
type Costs struct {
	Goal     breakdown.Goal // with the median time: to a token from opening the file, else from the program's start
	Program  bool           // whether it is one that was recorded
	Compiled Made           // what was compiled until then
	Loaded   Made           // what came from the cache until then
	// Phases are the phases without both, by a name that says so where it
	// matters.
	Phases map[string]time.Duration
	// Start is the time from the start of the process, 0 where it is not known,
	// and Before what came before opening the file.
	Start  time.Duration
	Before map[string]time.Duration
}

// Made are libraries and pipelines, their times sums of medians.
type Made struct {
	FromCache                   bool
	Libraries, Pipelines        time.Duration
	LibraryCount, PipelineCount int
	FirstToken                  int     // libraries before the first token, or before what a program repeats
	ByLibrary                   []Named // in the order in which they were needed
}

// Named is something that was compiled, or taken from the cache, such as a library
// with its pipelines.
type Named struct {
	Name string
	Time time.Duration
}

// Time is that of all of them.
func (m Made) Time() time.Duration { return m.Libraries + m.Pipelines }

// Heads are the libraries that make up most of it, three at most, in the order
// in which they were needed, and their part of it. Pipelines count with their
// library.
func (m Made) Heads() ([]Named, float64) {
	bySize := slices.Clone(m.ByLibrary)
	slices.SortStableFunc(bySize, func(a, b Named) int { return cmp.Compare(b.Time, a.Time) })
	var sum time.Duration
	n := 0
	for n < min(3, len(bySize)) && part(sum, m.Time()) < most {
		sum += bySize[n].Time
		n++
	}
	heads := bySize[:n]
	index := func(h Named) int {
		return slices.IndexFunc(m.ByLibrary, func(x Named) bool { return x.Name == h.Name })
	}
	slices.SortFunc(heads, func(a, b Named) int { return cmp.Compare(index(a), index(b)) })
	return heads, part(sum, m.Time())
}

// medians gathers times by a key, one a run.
type medians[K comparable] struct {
	order []K
	by    map[K][]float64
}

func (m *medians[K]) add(run int, k K, t time.Duration) {
	if m.by == nil {
		m.by = map[K][]float64{}
	}
	v, ok := m.by[k]
	if !ok {
		m.order = append(m.order, k)
	}
	for len(v) <= run {
		v = append(v, 0)
	}
	v[run] += float64(t)
	m.by[k] = v
}

// of is the median over so many runs, of which those without the key count 0.
func (m *medians[K]) of(k K, runs int) time.Duration {
	v := m.by[k]
	for len(v) < runs {
		v = append(v, 0)
	}
	return time.Duration(stats.Median(v))
}

// place is where something was made: a library's own line of the table.
type place struct {
	stage, library string
	pipeline       bool
}

// CostsOf takes the first rounds of a series apart, as far as they reached their
// goal; it is not ok where none has.
func CostsOf(s samples.Series) (Costs, bool) {
	var wholes, starts []float64
	var phases, before, loaded, weights medians[string]
	compiled := map[string]bool{}
	var made [2]medians[place] // compiled, loaded
	c := Costs{Loaded: Made{FromCache: true}}
	n := 0
	for _, x := range s.Samples {
		r := x.Rounds[0]
		goal, ok := r.Goal()
		until := slices.DeleteFunc(slices.Clone(r.Phases), func(p breakdown.Phase) bool {
			return p.Start >= goal.Until || r.Program() && p.End <= goal.Until-goal.Time // before it opened the file
		})
		if !ok || goal.Time <= 0 || n > 0 && goal.Name != c.Goal.Name || slices.ContainsFunc(until, func(p breakdown.Phase) bool { return p.Lost }) {
			continue // what is missing may have been compiling
		}
		c.Goal, c.Program = goal, r.Program()
		wholes = append(wholes, float64(goal.Time))
		if t, ok := r.FromStart(2); ok {
			starts = append(starts, float64(t))
		}
		for _, p := range r.Before {
			before.add(n, calledBefore(p.Kind), p.Time)
		}
		for _, m := range []*Made{&c.Compiled, &c.Loaded} { // counts are those of the last run
			m.LibraryCount, m.PipelineCount, m.FirstToken = 0, 0, 0
		}
		for _, p := range until {
			if p.Name == breakdown.KindRecording {
				continue
			}
			name := p.Name
			own, compiles := p.Own(), p.Compiles
			switch {
			case name == names.SpanStep:
				name = metrics.First.Name
			case name == names.SpanRepeat:
				name = metrics.Repeat1.Name
			case name == names.SpanPhase: // as the program calls it, which may be anything
				name = strconv.Quote(p.Title())
			}
			if r.Program() {
				own, compiles = p.Before(goal.Until)
			}
			phases.add(n, name, own)
			weights.add(n, name, p.Weights)
			for _, k := range compiles {
				m, of := &c.Compiled, &made[0]
				if k.FromCache() {
					m, of = &c.Loaded, &made[1]
					loaded.add(n, name, k.Wall())
				} else {
					compiled[name] = true
				}
				of.add(n, place{stageOf(p), k.Library, !k.IsLibrary()}, k.Wall())
				if k.Start >= p.Start { // else it is counted where it began
					m.count(p, k)
				}
			}
		}
		n++
	}
	if n == 0 {
		return c, false
	}
	c.Goal.Time = time.Duration(stats.Median(wholes))
	if len(starts) == n {
		c.Start = time.Duration(stats.Median(starts))
	}
	c.Before, c.Phases = before.all(n), map[string]time.Duration{}
	for name, own := range phases.all(n) {
		moved := weights.of(name, n)
		switch {
		case compiled[name]:
			name += " without compiling"
		case part(loaded.of(name, n), own) >= worthSaying:
			name += " without loading compiled code"
		}
		if part(moved, own) >= dominates {
			name += ", most of it bringing the weights to the device"
		}
		c.Phases[name] = own
	}
	c.Compiled.sum(&made[0], n)
	c.Loaded.sum(&made[1], n)
	return c, true
}

func (m *medians[K]) all(runs int) map[K]time.Duration {
	out := map[K]time.Duration{}
	for _, k := range m.order {
		out[k] = m.of(k, runs)
	}
	return out
}

func (m *Made) count(p breakdown.Phase, k breakdown.Compile) {
	switch {
	case !k.IsLibrary():
		m.PipelineCount++
	default:
		m.LibraryCount++
		if !names.IsStep(p.Name) {
			m.FirstToken++
		}
	}
}

func (m *Made) sum(of *medians[place], runs int) {
	for _, k := range of.order {
		t := of.of(k, runs)
		if k.pipeline {
			m.Pipelines += t
		} else {
			m.Libraries += t
		}
		i := slices.IndexFunc(m.ByLibrary, func(h Named) bool { return h.Name == k.library })
		if i < 0 {
			i = len(m.ByLibrary)
			m.ByLibrary = append(m.ByLibrary, Named{Name: k.library})
		}
		m.ByLibrary[i].Time += t
	}
}

// calledBefore is how something before the first round is called.
func calledBefore(span string) string {
	switch span {
	case names.SpanTokenizer:
		return "making the tokenizer ready"
	case names.SpanDevice:
		return "making the device ready"
	case breakdown.PhaseStart:
		return "what the program does before it opens the file"
	case breakdown.Unattributed:
		return "something before opening the file that nothing explains"
	}
	return span
}
