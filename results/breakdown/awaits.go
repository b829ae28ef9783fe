package breakdown

import (
	"cmp"
	"slices"
	"time"

	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/trace"
	"github.com/introgen/introgen/trace/names"
)

// What an engine compiles beside the thread that generates costs that thread the
// time in which it waits. Each moment of such a wait counts for one library or
// pipeline: for the one that is waited for, while that or its library is being made,
// and before that for the one which keeps the threads from making it, which of
// several is the one that has the wall clock of a program (see stretches). A moment
// in which nothing is made is nobody's.

// byAwaits gives a phase of an engine's run what it waited for compiles beside it.
func (b *Builder) byAwaits(top int, p *Phase) { b.share(p, b.awaited()[top].shares) }

// leads says whether a top is what came before the first round, other than a warm-up:
// what was begun there early, for the rounds, counts in the first of them.
func (b *Builder) leads(top int) bool {
	s := b.tops[top].span
	return !b.program && top < b.first && s.Parent == 0 && s.Name != names.SpanWarmUp
}

// early is what was begun before the round where that is the first.
func (b *Builder) early(round trace.Record) (out []Compile) {
	if b.first == 0 || b.tops[b.first].span.ID != round.ID {
		return nil
	}
	for i, t := range b.tops[:b.first] {
		if !b.leads(i) {
			continue
		}
		for _, s := range slices.Concat(t.compiles, b.open[int32(i)]) {
			if recording.Beside(s) {
				s.End = b.ends(s)
				c := b.compile(s)
				c.beside = c.Time
				out = append(out, c)
			}
		}
	}
	return out
}

// lead puts what was begun early, for the round, at its begin.
func (r *Round) lead(early []Compile) {
	if len(r.Phases) == 0 {
		return
	}
	first := &r.Phases[0]
	for _, c := range early {
		first.begun(c)
	}
}

// begun counts a library or a pipeline in the phase, which has its share of it.
func (p *Phase) begun(c Compile) {
	if k := slices.IndexFunc(p.Carried, func(x Compile) bool { return x.span == c.span }); k >= 0 {
		c.beside = p.Carried[k].beside
		p.Carried = slices.Delete(p.Carried, k, k+1)
	}
	p.Compiles = append(p.Compiles, c)
	slices.SortStableFunc(p.Compiles, func(x, y Compile) int { return cmp.Compare(x.Start, y.Start) })
}

// shareAll gives the libraries and pipelines of an engine's run what of the wall
// clock they have in all phases.
func (b *Builder) shareAll(compiles []Compile) {
	if b.program || len(b.works) == 0 {
		return
	}
	shares := map[trace.ID]time.Duration{}
	for _, c := range b.awaited() {
		for id, share := range c.shares {
			shares[id] += share
		}
	}
	for i := range compiles {
		if c := &compiles[i]; c.Beside {
			c.beside = c.Time - shares[c.span]
		}
	}
}

// awaited is what was waited within each of the tops, by their place.
func (b *Builder) awaited() []clocked {
	if len(b.clocks) == len(b.tops) && len(b.tops) > 0 {
		return b.clocks
	}
	all := b.allWorks()
	of := map[recording.Made][]work{} // of a pipeline, or of a library alone
	for _, w := range all {
		key := recording.MadeIn(w.span)
		of[key] = append(of[key], w)
	}
	own := map[recording.Made][]stretch{} // that have been asked for
	stretched := func(key recording.Made) ([]work, []stretch) {
		if _, ok := own[key]; !ok {
			own[key] = stretches(of[key])
		}
		return of[key], own[key]
	}
	every := stretches(all)
	b.clocks = make([]clocked, len(b.tops))
	var last time.Duration
	for _, a := range b.allAwaits() {
		at, _ := b.find(a.ID)
		c := &b.clocks[b.places[at].top]
		if c.shares == nil {
			c.shares = map[trace.ID]time.Duration{}
		}
		rest := []interval{{max(a.Start, last), b.ends(a)}}
		if last = max(last, b.ends(a)); rest[0].to <= rest[0].from {
			continue
		}
		key := recording.MadeIn(trace.Record{Name: names.SpanPipeline, Detail: a.Detail})
		for _, k := range []recording.Made{{Library: key.Library}, key} {
			works, list := stretched(k)
			rest = given(rest, works, list, c.shares)
		}
		given(rest, all, every, c.shares)
	}
	return b.clocks
}

// allAwaits are the waits, those that are open too, in the order of their begin.
func (b *Builder) allAwaits() []trace.Record {
	all := slices.Clone(b.awaits)
	for _, open := range b.open {
		for _, s := range open {
			if s.Name == names.SpanAwait {
				all = append(all, s)
			}
		}
	}
	slices.SortFunc(all, func(x, y trace.Record) int {
		return cmp.Or(cmp.Compare(x.Start, y.Start), cmp.Compare(x.ID, y.ID))
	})
	return all
}

// given gives of the time what lies in the stretches to their works, and returns the
// rest. Both lists are in order, and nothing in either overlaps.
func given(times []interval, works []work, list []stretch, shares map[trace.ID]time.Duration) (rest []interval) {
	for _, t := range times {
		i, _ := slices.BinarySearchFunc(list, t.from, func(s stretch, at time.Duration) int {
			if s.to <= at {
				return -1
			}
			return 1
		})
		for ; i < len(list) && list[i].from < t.to; i++ {
			s := list[i]
			if from := max(s.from, t.from); from > t.from {
				rest = append(rest, interval{t.from, from})
			}
			shares[works[s.work].span.ID] += min(s.to, t.to) - max(s.from, t.from)
			t.from = min(s.to, t.to)
		}
		if t.from < t.to {
			rest = append(rest, t)
		}
	}
	return rest
}
