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
// token where it is known. A time is a median over its runs, and a sum of times one
// of medians, so that they add up; the table's lines are the same medians. A share is
// taken within each run, and is the median of those: medians of parts come from other
// runs than that of the whole, and may be more than it.
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

	wholes, starts []float64            // run by run: to the goal, and from the start of the process
	parts          map[string][]float64 // run by run, by the names of Phases and Before
}

// Made are libraries and pipelines, their times sums of medians.
type Made struct {
	FromCache                   bool
	Beside                      bool // made beside the thread that generates: their times are what that waited for them
	Libraries, Pipelines        time.Duration
	LibraryCount, PipelineCount int
	FirstToken                  int     // libraries before the first token, or before what a program repeats
	ByLibrary                   []Named // in the order in which they were needed
	// Share is the part of the time to the goal that all of them take, LibraryShare
	// and PipelineShare what either takes.
	Share, LibraryShare, PipelineShare float64

	allRuns, libraryRuns, pipelineRuns []float64            // run by run
	byLibrary                          map[string][]float64 // run by run
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
	var sum []float64
	n := 0
	for n < min(3, len(bySize)) && share(sum, m.allRuns) < most {
		sum = plus(sum, m.byLibrary[bySize[n].Name])
		n++
	}
	heads := bySize[:n]
	index := func(h Named) int {
		return slices.IndexFunc(m.ByLibrary, func(x Named) bool { return x.Name == h.Name })
	}
	slices.SortFunc(heads, func(a, b Named) int { return cmp.Compare(index(a), index(b)) })
	return heads, share(sum, m.allRuns)
}

// share is the median of the parts that something takes of a whole run by run.
func share(of, whole []float64) float64 {
	var parts []float64
	for i := range min(len(of), len(whole)) {
		parts = append(parts, of[i]/max(1, whole[i]))
	}
	if len(parts) == 0 {
		return 0
	}
	return stats.Median(parts)
}

// plus adds run by run.
func plus(a, b []float64) []float64 {
	out := slices.Clone(b)
	for i := range a {
		out[i] += a[i]
	}
	return out
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

// runs are the times of so many runs, of which those without the key count 0.
func (m *medians[K]) runs(k K, runs int) []float64 {
	v := make([]float64, runs)
	copy(v, m.by[k])
	return v
}

// of is the median over so many runs.
func (m *medians[K]) of(k K, runs int) time.Duration {
	return time.Duration(stats.Median(m.runs(k, runs)))
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
			m.LibraryCount, m.PipelineCount, m.FirstToken, m.Beside = 0, 0, 0, false
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
			if r.Program() || len(p.Carried) > 0 {
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
				m.Beside = m.Beside || k.Beside
				if !k.Carried() { // else it is counted where it began
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
		c.Start, c.starts = time.Duration(stats.Median(starts)), starts
	}
	c.wholes, c.parts = wholes, map[string][]float64{}
	c.Before, c.Phases = before.all(n), map[string]time.Duration{}
	for name := range c.Before {
		c.parts[name] = before.runs(name, n)
	}
	for name, own := range phases.all(n) {
		runs := phases.runs(name, n)
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
		c.Phases[name], c.parts[name] = own, runs
	}
	for i, m := range []*Made{&c.Compiled, &c.Loaded} {
		m.sum(&made[i], n)
		m.Share, m.LibraryShare, m.PipelineShare = share(m.allRuns, wholes), share(m.libraryRuns, wholes), share(m.pipelineRuns, wholes)
	}
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
	m.allRuns, m.libraryRuns, m.pipelineRuns = make([]float64, runs), make([]float64, runs), make([]float64, runs)
	m.byLibrary = map[string][]float64{}
	for _, k := range of.order {
		t, each := of.of(k, runs), of.runs(k, runs)
		m.allRuns, m.byLibrary[k.library] = plus(m.allRuns, each), plus(m.byLibrary[k.library], each)
		if k.pipeline {
			m.Pipelines += t
			m.pipelineRuns = plus(m.pipelineRuns, each)
		} else {
			m.Libraries += t
			m.libraryRuns = plus(m.libraryRuns, each)
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
	case names.SpanArchive:
		return "opening the archive of compiled code"
	case breakdown.PhaseStart:
		return "what the program does before it opens the file"
	case breakdown.Unattributed:
		return "something before opening the file that nothing explains"
	}
	return span
}
