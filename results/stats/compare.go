package stats

import (
	"math"
	"slices"
	"strings"

	"golang.org/x/perf/benchmath"
)

// Comparison is the judgement on two samples that are not paired.
type Comparison struct {
	N1          int     `json:"n1"`
	N2          int     `json:"n2"`
	P           float64 `json:"p"`
	Significant bool    `json:"significant"`
	// Delta is the second median over the first, less 1; 0 where that has no
	// meaning.
	Delta float64 `json:"delta"`
	// MDE is the smallest effect (0.05: 5 % more) that samples of this size and
	// noise show in 80 % of cases; 0 where none can be found, however large.
	MDE  float64 `json:"mde"`
	Note string  `json:"note,omitempty"` // what benchmath warns of, or what is wrong with the samples
}

// Compare tests whether a and b come from one distribution: Mann and Whitney's
// U test as benchmath.AssumeNothing applies it. It knows nothing of the order
// in which the samples were taken.
func Compare(a, b []float64) Comparison {
	c := Comparison{N1: len(a), N2: len(b), P: 1}
	if c.Note = unusable("a's sample", a, false); c.Note == "" {
		c.Note = unusable("b's sample", b, false)
	}
	if c.Note != "" {
		return c
	}
	sa, sb := benchmath.NewSample(slices.Clone(a), &thresholds), benchmath.NewSample(slices.Clone(b), &thresholds)
	r := benchmath.AssumeNothing.Compare(sa, sb)
	c.P, c.Significant = r.P, r.P <= r.Alpha
	var notes []string
	for _, w := range r.Warnings {
		notes = append(notes, w.Error())
	}
	c.Note = strings.Join(notes, "; ")
	if m := median(sa.Values); m > 0 {
		c.Delta = median(sb.Values)/m - 1
	}
	c.MDE = smallestShift(sa.Values, sb.Values)
	return c
}

// mostRatios bounds the memory: a thousand samples a side.
const mostRatios = 1_000_000

// smallestShift is the smallest effect that the U test would have found: from
// the width of the interval that belongs to the test, that of the ratio of the
// two samples (the set of ratios that the test does not refuse; Hollander,
// Wolfe, Chicken, Nonparametric Statistical Methods, 4.3).
func smallestShift(a, b []float64) float64 {
	if unusable("", a, true)+unusable("", b, true) != "" || len(a)*len(b) > mostRatios {
		return 0
	}
	d := make([]float64, 0, len(a)*len(b))
	for _, x := range a {
		for _, y := range b {
			d = append(d, math.Log(y)-math.Log(x))
		}
	}
	slices.Sort(d)
	lo, hi, ok := interval{d, rankSum(len(a), len(b))}.bounds()
	if !ok {
		return 0
	}
	return math.Expm1(powered * (hi - lo) / 2)
}
