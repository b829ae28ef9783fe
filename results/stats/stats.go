// Package stats judges samples: what their middle is and how well it is known,
// whether two samples differ, whether a run drifted, whether it has two modes.
//
// It is opinionated. Nothing is assumed about distributions, since timings
// have tails and modes; the level is 5 % everywhere, two-sided. Where
// golang.org/x/perf/benchmath has the method it is benchmath that computes, so
// that benchstat agrees to the last digit. What benchmath lacks and this
// package adds works on pairs, on order, or on shape.
//
// No function panics or returns an error: a sample that cannot be judged (too
// few values, NaN, an infinity, a zero where a ratio is wanted) gives a result
// that says Why in words, has false in all its verdicts and only finite
// numbers, so that every result can be printed and written as JSON.
package stats

import (
	"fmt"
	"math"
	"slices"

	"golang.org/x/perf/benchmath"

	"github.com/introgen/introgen/figures"
)

// Alpha is the level of every test: one in twenty verdicts about equal things
// is wrong. Confidence is that of every interval.
const (
	Alpha      = 0.05
	Confidence = 1 - Alpha
)

// LeastForInterval is the least number of samples for which a 95 % interval of
// the median exists without assumptions (1 − 2·2⁻⁶ = 96.9 %, 1 − 2·2⁻⁵ is
// below 95 %); for pairs it is the same number for the same reason.
// LeastForCompare is the least number on each of two sides at which a
// difference, however large, can reach the level (2 of 8!/(4!·4!) orders).
const (
	LeastForInterval = 6
	LeastForCompare  = 4
)

// powered turns half the width of a 95 % interval into the smallest effect
// that is found in 80 % of runs of the same size and noise: (1.960 + 0.842) /
// 1.960 where estimates are normal. That the quotient holds from 6 pairs, and
// from 4 samples a side, on is what TestSmallestEffect shows.
const powered = 1.43

// Summary is the middle of a sample.
type Summary struct {
	N      int     `json:"n"`
	Median float64 `json:"median"`
	// Lo and Hi enclose the median with at least 95 % where Decidable; else
	// they are Min and Max, which is all that is known.
	Lo        float64 `json:"lo"`
	Hi        float64 `json:"hi"`
	Min       float64 `json:"min"`
	Max       float64 `json:"max"`
	Decidable bool    `json:"decidable"`
	Why       string  `json:"why,omitempty"` // it is not decidable
}

// Summarize returns the median of x and its interval from order statistics, as
// benchmath.AssumeNothing computes both.
func Summarize(x []float64) Summary {
	if why := unusable("sample", x, false); why != "" {
		return Summary{N: len(x), Why: why}
	}
	sorted := slices.Sorted(slices.Values(x))
	b := benchmath.AssumeNothing.Summary(benchmath.NewSample(sorted, &thresholds), Confidence)
	s := Summary{N: len(x), Median: b.Center, Lo: b.Lo, Hi: b.Hi, Min: sorted[0], Max: sorted[len(x)-1], Decidable: true}
	if math.IsInf(b.Lo, 0) || math.IsInf(b.Hi, 0) {
		s.Lo, s.Hi, s.Decidable = s.Min, s.Max, false
		s.Why = fmt.Sprintf("%s: a 95 %% interval of the median needs %d", figures.Number(len(x), "sample"), LeastForInterval)
	}
	return s
}

// Median is the middle of x, or of an even number the mean of the two in the
// middle, as Summarize and benchstat have it; 0 of none, and of what is no sample.
func Median(x []float64) float64 {
	if unusable("sample", x, false) != "" {
		return 0
	}
	return median(slices.Sorted(slices.Values(x)))
}

// Lower is which of n things in order is in the middle, of an even number the
// lower of the two. Where a run, a step or a count stands for others it must be one
// that there was, and it is this one that does.
func Lower(n int) int { return (n - 1) / 2 }

// Spread is half the width of the interval as a part of the median: what
// stands behind ± in a table. It is 0 where there is no interval.
func (s Summary) Spread() float64 {
	if !s.Decidable || s.Median == 0 {
		return 0
	}
	return max(s.Hi-s.Median, s.Median-s.Lo) / math.Abs(s.Median)
}

var thresholds = benchmath.Thresholds{CompareAlpha: Alpha}

// largest bounds samples so that no difference, square or ratio of two of them
// overflows.
const largest = 1e100

// unusable says what is wrong with x, "" where nothing is. positive is whether
// logarithms of it are needed.
func unusable(what string, x []float64, positive bool) string {
	if len(x) == 0 {
		return "no samples"
	}
	for i, v := range x {
		switch {
		case math.IsNaN(v):
			return fmt.Sprintf("%s %d is not a number", what, i+1)
		case math.Abs(v) > largest:
			return fmt.Sprintf("%s %d is %v: nothing that is measured is so large", what, i+1, v)
		case positive && v <= 0:
			return fmt.Sprintf("%s %d is %v: a ratio needs values above 0", what, i+1, v)
		case positive && v < 1/largest:
			return fmt.Sprintf("%s %d is %v: nothing that is measured is so small", what, i+1, v)
		}
	}
	return ""
}

// median of values in ascending order, of which there is at least one.
func median(sorted []float64) float64 {
	n := len(sorted)
	return sorted[(n-1)/2] + (sorted[n/2]-sorted[(n-1)/2])/2
}
