package stats

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/introgen/introgen/figures"
)

// Quantile is a value below which a part of a sample lies, and how well it is known.
type Quantile struct {
	Q     float64 `json:"q"` // 0.9 of the 90th percentile
	N     int     `json:"n"`
	Value float64 `json:"value"`
	// Lo and Hi enclose the quantile of what was sampled with at least 95 % where
	// Decidable; else both are Value.
	Lo        float64 `json:"lo"`
	Hi        float64 `json:"hi"`
	Decidable bool    `json:"decidable"`
	Why       string  `json:"why,omitempty"` // it is not decidable
}

// Quantiles are those of x, one for each of qs, which are from 0 to 1.
//
// The value lies between the two order statistics around (n−1)·q, in proportion:
// the 7th of the definitions in R. J. Hyndman, Y. Fan, Sample quantiles in
// statistical packages, The American Statistician 50, 1996, which is what
// numpy.quantile does unless told otherwise, to the last bit.
//
// The interval is from one order statistic to another, and assumes nothing but that
// the values were drawn one by one from the same distribution: how many of n values
// lie below a quantile is binomial. At either end it leaves out at most 2.5 %. (W. J.
// Conover, Practical Nonparametric Statistics, 3rd ed., section 3.2.) There is none
// where even the smallest or the largest value would leave out more, which
// LeastForQuantile tells, and none of the extremes.
func Quantiles(x []float64, qs ...float64) []Quantile {
	out := make([]Quantile, len(qs))
	why := unusable("sample", x, false)
	sorted := slices.Sorted(slices.Values(x))
	for i, q := range qs {
		switch out[i] = (Quantile{Q: q, N: len(x), Why: why}); {
		case math.IsNaN(q) || q < 0 || q > 1:
			out[i].Q, out[i].Why = 0, fmt.Sprintf("quantile %v: from 0 to 1 is wanted", q)
		case why == "":
			out[i].of(sorted)
		}
	}
	return out
}

// of computes the quantile of values in ascending order, of which there is at least
// one.
func (q *Quantile) of(sorted []float64) {
	q.Value = interpolated(sorted, q.Q)
	q.Lo, q.Hi = q.Value, q.Value
	if q.Q == 0 || q.Q == 1 {
		q.Why = "the extremes have no interval: what was not sampled may lie beyond them"
		return
	}
	n := len(sorted)
	lo, hi := below(n, q.Q), n-below(n, 1-q.Q)+1
	if lo < 1 || hi > n {
		q.Why = fmt.Sprintf("%s: a 95 %% interval of p%s needs %d", figures.Number(n, "sample"), strconv.FormatFloat(100*q.Q, 'g', 6, 64), LeastForQuantile(q.Q))
		return
	}
	q.Lo, q.Hi, q.Decidable = sorted[lo-1], sorted[hi-1], true
}

// interpolated computes as numpy's linear method does, which from the middle on
// counts from the upper value, so that equal values give that value.
func interpolated(sorted []float64, q float64) float64 {
	at := float64(len(sorted)-1) * q
	i := int(at)
	if i >= len(sorted)-1 {
		return sorted[len(sorted)-1]
	}
	a, b, t := sorted[i], sorted[i+1], at-float64(i)
	if t >= 0.5 {
		return b - float64((b-a)*(1-t)) // the conversion keeps product and difference two steps, as numpy's are
	}
	return a + float64((b-a)*t)
}

// below is the largest k for which fewer than k of n values lie below the quantile
// with a probability of at most half of Alpha; 0 where there is none.
func below(n int, q float64) int {
	all, _ := math.Lgamma(float64(n) + 1)
	middle := float64(n) * q
	// What lies twelve standard deviations off is nothing beside the level.
	from, sum := max(0, int(middle-12*math.Sqrt(middle*(1-q)))-12), 0.0
	for k := from; k < n; k++ {
		in, _ := math.Lgamma(float64(k) + 1)
		out, _ := math.Lgamma(float64(n-k) + 1)
		sum += math.Exp(all - in - out + float64(k)*math.Log(q) + float64(n-k)*math.Log1p(-q))
		if sum > Alpha/2 {
			return k
		}
	}
	return n
}

// LeastForQuantile is the least number of samples for which a quantile has a 95 %
// interval: 6 for the median, 36 for p90 and 368 for p99. Of the extremes none has.
func LeastForQuantile(q float64) int {
	far := max(q, 1-q)
	if !(far < 1) {
		return math.MaxInt
	}
	return int(math.Ceil(math.Log(Alpha/2) / math.Log(far)))
}
