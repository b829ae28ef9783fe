package page

import (
	"cmp"
	"slices"
	"time"

	"github.com/introgen/introgen/trace"
)

// interval is a part of a run's clock.
type interval struct{ from, to time.Duration }

// union joins those that touch or overlap, in order of their begin.
func union(all []interval) []interval { return merged(all, 0) }

// merged joins those that are apart by no more than gap: what is narrower than a
// line cannot be drawn apart.
func merged(all []interval, gap time.Duration) []interval {
	all = slices.Clone(all)
	slices.SortFunc(all, func(a, b interval) int { return cmp.Compare(a.from, b.from) })
	var out []interval
	for _, x := range all {
		if n := len(out); n > 0 && x.from <= out[n-1].to+gap {
			out[n-1].to = max(out[n-1].to, x.to)
			continue
		}
		out = append(out, x)
	}
	return out
}

// without takes out of the intervals what the spans cover.
func without(all []interval, spans []trace.Record) []interval {
	holes := make([]interval, len(spans))
	for i, s := range spans {
		holes[i] = interval{s.Start, s.End}
	}
	holes = union(holes)
	var out []interval
	k := 0
	for _, x := range union(all) {
		for k > 0 && holes[k-1].to > x.from {
			k--
		}
		for ; k < len(holes) && holes[k].from < x.to; k++ {
			if holes[k].to <= x.from {
				continue
			}
			if holes[k].from > x.from {
				out = append(out, interval{x.from, holes[k].from})
			}
			x.from = holes[k].to
		}
		if x.from < x.to {
			out = append(out, x)
		}
	}
	return out
}
