package breakdown

import (
	"cmp"
	"slices"
	"time"
)

// interval is a stretch of a run's clock.
type interval struct{ from, to time.Duration }

// union merges what overlaps, in order.
func union(in []interval) []interval {
	slices.SortFunc(in, func(a, b interval) int { return cmp.Compare(a.from, b.from) })
	var out []interval
	for _, i := range in {
		if n := len(out); n > 0 && i.from <= out[n-1].to {
			out[n-1].to = max(out[n-1].to, i.to)
			continue
		}
		out = append(out, i)
	}
	return out
}

func length(in []interval) time.Duration {
	var sum time.Duration
	for _, i := range in {
		sum += i.to - i.from
	}
	return sum
}

// common is the length of what two unions share.
func common(a, b []interval) time.Duration {
	var sum time.Duration
	for len(a) > 0 && len(b) > 0 {
		if from, to := max(a[0].from, b[0].from), min(a[0].to, b[0].to); to > from {
			sum += to - from
		}
		if a[0].to < b[0].to {
			a = a[1:]
		} else {
			b = b[1:]
		}
	}
	return sum
}
