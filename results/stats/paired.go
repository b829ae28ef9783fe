package stats

import (
	"fmt"
	"math"
	"slices"
)

// Ratio is what b is to a, from pairs that were measured next to each other.
type Ratio struct {
	N           int     `json:"n"`     // pairs
	Ratio       float64 `json:"ratio"` // b/a: 1.05 is 5 % more
	Lo          float64 `json:"lo"`    // Lo and Hi enclose it with at least 95 % where Decidable;
	Hi          float64 `json:"hi"`    // else they are the smallest and the largest ratio of a pair
	P           float64 `json:"p"`     // of the signed-rank test that nothing differs
	Significant bool    `json:"significant"`
	Decidable   bool    `json:"decidable"`
	// MDE is the smallest effect (0.05: 5 % more) that a run of this size and
	// noise finds in 80 % of cases; 0 where none can be found, however large.
	MDE float64 `json:"mde"`
	Why string  `json:"why,omitempty"` // it is not decidable
}

// mostPairs bounds the work, which grows with the square.
const mostPairs = 4000

// Paired returns the ratio b[i]/a[i] of pairs, one pair a block of an
// interleaved plan. What slows a block as a whole cancels out of its ratio, so
// that drift of the machine, which an unpaired test takes for noise, does not
// count.
//
// The estimate is that of Hodges and Lehmann on the logarithms: the median of
// the means of all pairs of log ratios, each with itself too. Its interval is
// the set of ratios that Wilcoxon's signed-rank test does not refuse at 5 %,
// from the exact distribution up to 60 pairs; P is that test's for a ratio of
// 1, so that P ≤ 5 % and an interval without 1 are the same statement. (J. L.
// Hodges, E. L. Lehmann, Ann. Math. Stat. 34, 1963; the interval: J. W. Tukey;
// both as in Hollander, Wolfe, Chicken, Nonparametric Statistical Methods,
// 3.1–3.3.) It assumes that log ratios scatter symmetrically, which ratios of
// interchangeable runs do. Equal values make it wider, never narrower.
func Paired(a, b []float64) Ratio {
	r := Ratio{N: min(len(a), len(b)), P: 1}
	switch {
	case len(a) != len(b):
		r.Why = fmt.Sprintf("%d values cannot be paired with %d", len(a), len(b))
	case len(a) > mostPairs:
		r.Why = fmt.Sprintf("%d pairs are more than the %d that are compared", len(a), mostPairs)
	default:
		if r.Why = unusable("a's sample", a, true); r.Why == "" {
			r.Why = unusable("b's sample", b, true)
		}
	}
	if r.Why != "" {
		return r
	}
	d := make([]float64, r.N)
	for i := range d {
		d[i] = math.Log(b[i]) - math.Log(a[i])
	}
	means := make([]float64, 0, r.N*(r.N+1)/2)
	for i := range d {
		for j := i; j < r.N; j++ {
			means = append(means, (d[i]+d[j])/2)
		}
	}
	slices.Sort(means)
	distribution := signedRank(r.N)
	in := interval{means, distribution}
	r.P = in.p()
	r.Ratio = math.Exp(median(means))
	lo, hi, ok := in.bounds()
	r.Lo, r.Hi, r.Decidable = math.Exp(lo), math.Exp(hi), ok
	if !ok {
		r.Why = fmt.Sprintf("%d pairs: a 95 %% interval of a paired ratio needs %d", r.N, LeastForInterval)
		return r
	}
	r.Significant = r.P <= Alpha
	r.MDE = math.Expm1(powered * (hi - lo) / 2)
	return r
}

// interval is made of the sorted estimates that a rank statistic counts: the
// statistic for an effect of e is the number of estimates below e.
type interval struct {
	estimates    []float64
	distribution func(int) float64
}

// bounds are those of the 95 % interval, or of all estimates where there is
// none.
func (in interval) bounds() (lo, hi float64, ok bool) {
	k := critical(in.distribution)
	n := len(in.estimates)
	if k == 0 {
		return in.estimates[0], in.estimates[n-1], false
	}
	return in.estimates[k-1], in.estimates[n-k], true
}

// p is the two-sided p-value of no effect. An estimate of exactly 0 counts
// against a difference from both sides.
func (in interval) p() float64 {
	var below, above int
	for _, e := range in.estimates {
		if e <= 0 {
			below++
		}
		if e >= 0 {
			above++
		}
	}
	return min(1, 2*in.distribution(min(below, above)))
}
