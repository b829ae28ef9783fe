package peer

import (
	"math"
	"slices"
)

// Resolution is the step of the milliseconds that most engines print.
const Resolution = 0.1

// Spread is the median of several blocks with its smallest and largest value.
type Spread struct {
	N             int
	Mid, Min, Max float64
}

// SpreadOf summarises values, those of blocks without one (NaN) left out. Of none it
// is a Spread with N = 0.
func SpreadOf(values []float64) Spread {
	values = slices.DeleteFunc(slices.Clone(values), math.IsNaN)
	if len(values) == 0 {
		return Spread{}
	}
	return Spread{N: len(values), Mid: Median(values), Min: slices.Min(values), Max: slices.Max(values)}
}

func Median(values []float64) float64 {
	s := slices.Sorted(slices.Values(values))
	n := len(s)
	if n == 0 {
		return math.NaN()
	}
	return (s[(n-1)/2] + s[n/2]) / 2
}

// GroupedMedian is the median of values that were rounded to multiples of
// width: the point that halves the data if those that share a value are spread
// evenly over their interval (the statistic that Python calls median_grouped).
// The plain median of times of 3 ms printed with one decimal would jump by 3 %.
func GroupedMedian(values []float64, width float64) float64 {
	s := slices.Sorted(slices.Values(values))
	n := len(s)
	if n == 0 {
		return math.NaN()
	}
	x := s[n/2]
	same := func(v float64) bool { return math.Abs(v-x) < width/2 }
	below := slices.IndexFunc(s, same)
	count := 0
	for _, v := range s[below:] {
		if !same(v) {
			break
		}
		count++
	}
	return x - width/2 + width*(float64(n)/2-float64(below))/float64(count)
}

// Ratios divides block by block, since only times of the same block compare.
// Blocks that either side lacks (NaN) are left out, and so are divisors of 0.
func Ratios(of, by []float64) []float64 {
	var out []float64
	for i := range min(len(of), len(by)) {
		if r := of[i] / by[i]; !math.IsNaN(r) && !math.IsInf(r, 0) {
			out = append(out, r)
		}
	}
	return out
}
