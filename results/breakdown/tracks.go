package breakdown

import (
	"cmp"
	"container/heap"
	"maps"
	"slices"
	"time"

	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/trace"
	"github.com/introgen/introgen/trace/names"
)

// A recorded program has threads, and its phases are cut by what it says, not by
// what they do. So a part of its phase is not the sum of spans, but what the wall
// clock did: each moment counts once, for one span. On one track that is the
// innermost, which began last; of several tracks it is that of the part which
// stands first in order of rank, and of these the one that began first.

// rank orders the parts of which several go on at once on different tracks.
var rank = [parts + 2]int{made: 1, madePipeline: 2, weights: 3, encode: 4, commit: 5, wait: 6, recorded: 7}

// madePipeline is made where a pipeline is told apart from a library.
const madePipeline = made + 1

// work is a span that is a part of a phase, with when it ends.
type work struct {
	span trace.Record
	end  time.Duration
	part part
}

// stretch is a piece of the wall clock that one span has.
type stretch struct {
	from, to time.Duration
	work     int // of the list
}

// track is what one track does: open spans in the order of their begin.
type track struct {
	open []int
}

// innermost is the span that began last and is open; ended ones are dropped.
func (t *track) innermost(ended []bool) (int, bool) {
	for len(t.open) > 0 {
		last := t.open[len(t.open)-1]
		if !ended[last] {
			return last, true
		}
		t.open = t.open[:len(t.open)-1]
	}
	return 0, false
}

// stretches divides the wall clock among spans. It takes n·log n steps whatever
// the number of tracks.
func stretches(all []work) []stretch {
	type moment struct {
		at     time.Duration
		work   int
		begins bool
	}
	moments := make([]moment, 0, 2*len(all))
	for i, w := range all {
		if w.end > w.span.Start {
			moments = append(moments, moment{w.span.Start, i, true}, moment{w.end, i, false})
		}
	}
	slices.SortStableFunc(moments, func(a, b moment) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(all[a.work].span.ID, all[b.work].span.ID))
	})
	tracks, ended := map[int32]*track{}, make([]bool, len(all))
	first := &candidates{all: all}
	current := func(i int) bool {
		on, ok := tracks[all[i].span.Track].innermost(ended)
		return ok && on == i
	}
	var out []stretch
	for k := 0; k < len(moments); {
		at := moments[k].at
		for ; k < len(moments) && moments[k].at == at; k++ {
			m := moments[k]
			t := tracks[all[m.work].span.Track]
			if t == nil {
				t = &track{}
				tracks[all[m.work].span.Track] = t
			}
			if m.begins {
				t.open = append(t.open, m.work)
				heap.Push(first, m.work)
				continue
			}
			ended[m.work] = true
			if next, ok := t.innermost(ended); ok {
				heap.Push(first, next) // it is what its track does again
			}
		}
		if k == len(moments) {
			break
		}
		for first.Len() > 0 && !current(first.of[0]) {
			heap.Pop(first)
		}
		if first.Len() == 0 {
			continue
		}
		now := stretch{at, moments[k].at, first.of[0]}
		if n := len(out); n > 0 && out[n-1].to == at && out[n-1].work == now.work {
			out[n-1].to = now.to
			continue
		}
		out = append(out, now)
	}
	return out
}

// candidates are spans by their rank; some may not be what their track does any
// more.
type candidates struct {
	all []work
	of  []int
}

func (c *candidates) Len() int      { return len(c.of) }
func (c *candidates) Swap(i, j int) { c.of[i], c.of[j] = c.of[j], c.of[i] }
func (c *candidates) Push(x any)    { c.of = append(c.of, x.(int)) }
func (c *candidates) Pop() any {
	last := c.of[len(c.of)-1]
	c.of = c.of[:len(c.of)-1]
	return last
}

func (c *candidates) Less(i, j int) bool {
	a, b := c.all[c.of[i]], c.all[c.of[j]]
	return cmp.Or(cmp.Compare(rank[a.part], rank[b.part]), cmp.Compare(a.span.ID, b.span.ID)) < 0
}

// clocked is what the wall clock did within a phase.
type clocked struct {
	sums   [parts + 2]time.Duration
	shares map[trace.ID]time.Duration // of the libraries and pipelines
}

// partOfProgram is the part that a span of a program is.
func partOfProgram(s trace.Record) part {
	p := partOf[s.Name]
	if p == awaited {
		return none // an engine's
	}
	if p == made && s.Name == KindPipeline {
		return madePipeline
	}
	return p
}

// clock is what the wall clock did within each of the tops, by their place.
func (b *Builder) clock() []clocked {
	if len(b.clocks) == len(b.tops) && len(b.tops) > 0 {
		return b.clocks
	}
	all := b.allWorks()
	var phases []int
	for i, t := range b.tops {
		if j, ok := b.find(t.span.ID); ok && !b.places[j].round && follow(t.span) {
			phases = append(phases, i)
		}
	}
	slices.SortStableFunc(phases, func(x, y int) int { return cmp.Compare(b.tops[x].span.Start, b.tops[y].span.Start) })
	b.clocks, b.waits = make([]clocked, len(b.tops)), nil
	k := 0
	for _, s := range stretches(all) {
		if all[s.work].part == wait {
			b.waits = append(b.waits, interval{s.from, s.to})
		}
		for k < len(phases) && b.ends(b.tops[phases[k]].span) <= s.from {
			k++
		}
		for i := k; i < len(phases) && b.tops[phases[i]].span.Start < s.to; i++ {
			p := b.tops[phases[i]].span
			from, to := max(s.from, p.Start), min(s.to, b.ends(p))
			if to <= from {
				continue
			}
			w, c := all[s.work], &b.clocks[phases[i]]
			c.sums[w.part] += to - from
			if w.part >= made {
				if c.shares == nil {
					c.shares = map[trace.ID]time.Duration{}
				}
				c.shares[w.span.ID] += to - from
			}
		}
	}
	return b.clocks
}

// allWorks are the works, those that are open too, in the order of their numbers.
func (b *Builder) allWorks() []work {
	all := slices.Clone(b.works)
	for _, open := range b.open {
		for _, s := range open {
			if p := partOfProgram(s); p != none && (b.program || recording.Beside(s)) {
				if p >= made {
					b.compiles[s.ID] = s
				}
				all = append(all, work{s, b.ends(s), p})
			}
		}
	}
	slices.SortFunc(all, func(x, y work) int { return cmp.Compare(x.span.ID, y.span.ID) })
	return all
}

// worked keeps what a program did in a phase, or what was compiled beside an engine.
func (b *Builder) worked(s trace.Record) {
	b.clocks = nil
	p := partOfProgram(s)
	if p == none {
		return
	}
	b.works = append(b.works, work{s, s.End, p})
	if p >= made {
		b.compiles[s.ID] = s
	}
}

// begun counts what lies across the end of a phase in the phase in which it began:
// the wall clock counts its time in each.
func (r *Round) begun(across Phase) {
	i := len(r.Phases) - 1
	for i > 0 && r.Phases[i].Start > across.Start {
		i--
	}
	if i < 0 {
		return
	}
	p := &r.Phases[i]
	p.Waits += across.Waits
	if across.Name == names.SpanWait {
		p.Waits++
	}
	for _, c := range across.Compiles {
		p.begun(c)
	}
}

// follow says whether a span that lies in nothing else can be a phase.
func follow(s trace.Record) bool { return partOf[s.Name] == none && !names.OfDevice(s.Name) }

// byClock gives a phase of a program the parts that the wall clock had.
func (b *Builder) byClock(top int, p *Phase, gpu []interval) {
	c := b.clock()[top]
	p.Weights, p.Encode, p.Commit, p.Wait = c.sums[weights], c.sums[encode], c.sums[commit], c.sums[wait]
	// What it committed may run on in the next phase, where it is waited for.
	p.Overlap = p.GPU - common(gpu, b.waits)
	b.share(p, c.shares)
}

// share gives the phase what of the wall clock the libraries and pipelines have that
// other threads make: its own ones, and those that began before it.
func (b *Builder) share(p *Phase, shares map[trace.ID]time.Duration) {
	own := map[trace.ID]bool{}
	for i := range p.Compiles {
		if x := &p.Compiles[i]; b.program || x.Beside {
			own[x.span] = true
			x.beside = x.Time - shares[x.span]
		}
	}
	for _, id := range slices.Sorted(maps.Keys(shares)) {
		if !own[id] {
			x := b.compile(b.compiles[id])
			x.beside, x.carried = x.Time-shares[id], true
			p.Carried = append(p.Carried, x)
		}
	}
}
