package timeline

import (
	"bufio"
	"cmp"
	"maps"
	"slices"
	"strconv"

	"github.com/introgen/introgen/trace/names"
)

// importance orders what is left out first: what a device or a thread computed,
// then what was done for it, and at the last what everything lies in.
func importance(s *Slice) int {
	switch s.Kind {
	case KindOperation:
		return 0
	case names.SpanQueued, names.SpanEncoder, names.SpanWeights, names.SpanCommit, names.SpanWait, names.SpanGPU, names.SpanRecord, KindOutput:
		return 1
	}
	return 2
}

// Thin leaves the shortest slices out, operations first, until what Write writes is
// no longer than so many bytes, and says what is missing.
func (t *Timeline) Thin(most int) {
	sizes, counters, total := t.sizes()
	if total <= most {
		return
	}
	room := min(20_000, most/4) // for what is said of it
	for _, c := range slices.Backward(t.largest(counters)) {
		if sum(counters) <= most/4 {
			break
		}
		total -= counters[c]
		delete(counters, c)
		t.note("to keep the file below %s MB the counter %q, of %d readings, is left out", megabytes(most), c.Name, len(c.Points))
		for _, p := range t.Processes {
			p.Counters = slices.DeleteFunc(p.Counters, func(x *Counter) bool { return x == c })
		}
	}
	var all []*Slice // in their order, which is what decides between those that are alike
	for _, p := range t.Processes {
		for _, r := range p.Tracks {
			all = append(all, r.Slices...)
		}
	}
	slices.SortStableFunc(all, func(a, b *Slice) int {
		return cmp.Or(cmp.Compare(importance(a), importance(b)), cmp.Compare(a.End-a.Start, b.End-b.Start), cmp.Compare(a.Start, b.Start))
	})
	gone, left := map[*Slice]bool{}, map[string]*LeftOut{}
	for _, s := range all {
		if total <= most-room {
			break
		}
		total -= sizes[s]
		gone[s] = true
		x := left[s.Kind]
		if x == nil {
			x = &LeftOut{Kind: s.Kind}
			left[s.Kind] = x
		}
		x.Count, x.Time, x.Longest = x.Count+1, x.Time+s.End-s.Start, max(x.Longest, s.End-s.Start)
	}
	for _, p := range t.Processes {
		for _, r := range p.Tracks {
			r.Slices = slices.DeleteFunc(r.Slices, func(s *Slice) bool { return gone[s] })
		}
		p.Tracks = slices.DeleteFunc(p.Tracks, func(r *Track) bool { return len(r.Slices) == 0 })
	}
	t.wholeWays()
	for _, kind := range slices.Sorted(maps.Keys(left)) {
		x := left[kind]
		t.LeftOut = append(t.LeftOut, *x)
		t.note("to keep the file below %s MB the shortest of its slices are left out: %d of kind %q, none longer than %v, together %v", megabytes(most), x.Count, kind, x.Longest, x.Time)
	}
}

// wholeWays takes the arrows away of which an end is gone.
func (t *Timeline) wholeWays() {
	has := map[int][WayEnd + 1]bool{}
	each := func(do func(*Slice)) {
		for _, p := range t.Processes {
			for _, r := range p.Tracks {
				for _, s := range r.Slices {
					if s.Flow != 0 {
						do(s)
					}
				}
			}
		}
	}
	each(func(s *Slice) {
		ways := has[s.Flow]
		ways[s.Way] = true
		has[s.Flow] = ways
	})
	each(func(s *Slice) {
		ways := has[s.Flow]
		switch {
		case !ways[WayEnd] || !ways[WayBegin] && !ways[WayStep]:
			s.Flow = 0
		case !ways[WayBegin] && s.Way == WayStep:
			s.Way = WayBegin
		}
	})
}

func megabytes(n int) string { return strconv.FormatFloat(float64(n)/1e6, 'f', -1, 64) }

// largest are the counters, that with the most bytes at the end.
func (t *Timeline) largest(sizes map[*Counter]int) []*Counter {
	var all []*Counter
	for _, p := range t.Processes {
		all = append(all, p.Counters...)
	}
	slices.SortStableFunc(all, func(a, b *Counter) int { return cmp.Compare(sizes[a], sizes[b]) })
	return all
}

func sum[K comparable](of map[K]int) int {
	n := 0
	for _, x := range of {
		n += x
	}
	return n
}

// sizes is how many bytes each slice and each counter take in the file, and all of it.
func (t *Timeline) sizes() (of map[*Slice]int, counters map[*Counter]int, total int) {
	var n counting
	e := &encoder{w: bufio.NewWriterSize(&n, 1<<16)}
	written := func() int { return int(n) + e.w.Buffered() }
	of, counters = map[*Slice]int{}, map[*Counter]int{}
	e.head(t)
	for _, p := range t.Processes {
		e.process(p)
		for i, r := range p.Tracks {
			e.track(p, r, i)
			for _, s := range r.Slices {
				before := written()
				e.slice(p, r, s)
				of[s] = written() - before
			}
		}
		for _, c := range p.Counters {
			before := written()
			for _, x := range c.Points {
				e.point(p, c, x)
			}
			counters[c] = written() - before
		}
	}
	e.notes(t)
	return of, counters, written()
}

// counting counts bytes and keeps none.
type counting int

func (c *counting) Write(p []byte) (int, error) {
	*c += counting(len(p))
	return len(p), nil
}
