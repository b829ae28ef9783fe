package remedy

import (
	"slices"
	"time"

	"github.com/introgen/introgen/results/start"
)

// excludes are remedies of which one takes the place of the other.
var excludes = [][]string{
	{Concurrent, Early, Behind, Split, Join},
	{Trim, Split, Join},
	{WarmUp, Archive, Metallib},
	{WarmUp, Trim}, // what is in the cache is compiled neither whole nor trimmed
	{Metallib, Trim},
}

// apart says whether two remedies cannot be combined.
func apart(a, b string) bool {
	return a == b || slices.ContainsFunc(excludes, func(group []string) bool { return slices.Contains(group, a) && slices.Contains(group, b) })
}

// combine finds the remedies that save the most together, adding one after the other:
// each time the one with which the first goal, and of those alike the last, is reached
// soonest, until one more saves too little. Work at install time is allowed or not. Of
// introgen's own engine they are those that it has, so that they can be measured
// together.
func (m *model) combine(all []candidate, install bool) *Combination {
	all = slices.DeleteFunc(slices.Clone(all), func(c candidate) bool { return !install && Installs(c.Key) || m.own() && Arguments(c.Key) == nil })
	if install && !slices.ContainsFunc(all, func(c candidate) bool { return Installs(c.Key) }) {
		return nil
	}
	var best *Combination
	var so change
	for {
		var next *candidate
		var reached []Saving
		for i := range all {
			c := &all[i]
			if best != nil && slices.ContainsFunc(best.Keys, func(k string) bool { return apart(k, c.Key) }) {
				continue
			}
			if s := m.savings(so.with(c.change)); better(s, reached) {
				next, reached = c, s
			}
		}
		if next == nil {
			break
		}
		more := slices.Clone(reached)
		if best != nil {
			for i := range more {
				more[i].Saves -= best.Savings[i].Saves
			}
		} else {
			best = &Combination{}
		}
		if !worth(more, m.goals()) {
			break
		}
		best.Keys, best.Savings = append(best.Keys, next.Key), reached
		best.Steps = append(best.Steps, more[0])
		best.Install += next.Install
		so = so.with(next.change)
	}
	if best == nil || len(best.Keys) == 0 {
		return nil
	}
	if args := Arguments(best.Keys...); args != nil && m.own() {
		best.Command = append(m.command(), args...)
	}
	return best
}

// better says whether savings are more than others: of the first goal, then of the
// last.
func better(a, b []Saving) bool {
	if b == nil {
		return true
	}
	if a[0].Saves != b[0].Saves {
		return a[0].Saves > b[0].Saves
	}
	return a[len(a)-1].Saves > b[len(b)-1].Saves
}

// goals are what is waited for, with the medians of the runs.
func (m *model) goals() (out []Goal) {
	for i, g := range m.runs[0].start.Goals {
		var all []time.Duration
		for _, r := range m.runs {
			all = append(all, r.start.Goals[i].Recorded)
		}
		out = append(out, Goal{g.Name, median(all)})
	}
	return out
}

// limit is the chain that is left of compiling with a thread for each compile, as soon
// as there is a device, where compiling beside others costs nothing.
func (m *model) limit() Limit {
	s := m.runs[0].start
	r := s.Replay(start.Rules{When: start.Early})
	last := len(s.Goals) - 1
	l := Limit{Goal: r.Goals[last]}
	longest := -1
	for _, i := range s.Until(s.Goals[last]) {
		c := s.Compiles[i]
		took := c.Time
		if c.Of >= 0 {
			took += s.Compiles[c.Of].Time
		}
		if longest < 0 || took > l.Chain {
			longest, l.Chain, l.Library, l.Function = i, took, c.Library, c.Function
		}
	}
	for _, x := range s.Path(r, last) {
		name := "the main thread"
		if x.Compile >= 0 {
			name = title(s.Compiles[x.Compile])
		}
		if n := len(l.Steps); n == 0 || l.Steps[n-1] != name {
			l.Steps = append(l.Steps, name)
		}
	}
	return l
}
