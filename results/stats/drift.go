package stats

import (
	"fmt"
	"math"
	"slices"

	"github.com/introgen/introgen/figures"
)

// Trend is the judgement on whether samples rise or fall in the order in which
// they were taken.
type Trend struct {
	N   int     `json:"n"`
	Tau float64 `json:"tau"` // Kendall's, −1 (falls always) to 1
	P   float64 `json:"p"`
	// Change is how much the samples changed from the first to the last, as a
	// part of their median: the median slope over all pairs (Theil, Sen) times
	// the length.
	Change  float64 `json:"change"`
	Drifted bool    `json:"drifted"` // P ≤ 5 %
	Why     string  `json:"why,omitempty"`
}

const leastForTrend = 5 // 2 of 5! orders are 1.7 %, 2 of 4! are 8.3 %

// Drift tests samples in the order in which they were taken: Mann's test of
// Kendall's tau against time (H. B. Mann, Nonparametric tests against trend,
// Econometrica 13, 1945). The distribution is exact up to 60 samples without
// ties, else normal with the correction for ties. The samples must be
// independent: steps that follow each other within milliseconds are not.
func Drift(x []float64) Trend {
	t := Trend{N: len(x), P: 1}
	if t.Why = unusable("sample", x, false); t.Why == "" && len(x) < leastForTrend {
		t.Why = fmt.Sprintf("%s: a trend needs %d", figures.Number(len(x), "sample"), leastForTrend)
	}
	if t.Why == "" && len(x) > mostPairs {
		t.Why = fmt.Sprintf("%d samples are more than the %d that are looked at", len(x), mostPairs)
	}
	if t.Why != "" {
		return t
	}
	n := len(x)
	s, slopes := 0, make([]float64, 0, n*(n-1)/2)
	for i := range x {
		for j := i + 1; j < n; j++ {
			switch {
			case x[j] > x[i]:
				s++
			case x[j] < x[i]:
				s--
			}
			slopes = append(slopes, (x[j]-x[i])/float64(j-i))
		}
	}
	slices.Sort(slopes)
	sorted := slices.Sorted(slices.Values(x))
	pairs, m := n*(n-1)/2, float64(n)
	variance, tied := tieVariance(sorted)
	if untied := float64(pairs) - tied; untied > 0 {
		t.Tau = float64(s) / math.Sqrt(float64(pairs)*untied)
	}
	switch {
	case variance == 0: // all equal
	case tied == 0 && n <= exactTrend:
		t.P = min(1, 2*discordant(n)((pairs-abs(s))/2))
	default:
		t.P = min(1, 2*normal(-max(0, math.Abs(float64(s))-1)/math.Sqrt(variance)))
	}
	if mid := median(sorted); mid != 0 {
		t.Change = median(slopes) * (m - 1) / math.Abs(mid)
	}
	t.Drifted = t.P <= Alpha
	return t
}

// tieVariance is the variance of Kendall's S where values are equal in groups,
// and how many pairs are tied. (Kendall, Rank Correlation Methods, chapter 4.)
func tieVariance(sorted []float64) (variance, tied float64) {
	term := func(t float64) float64 { return t * (t - 1) * (2*t + 5) }
	variance = term(float64(len(sorted)))
	for i := 0; i < len(sorted); {
		j := i
		for j < len(sorted) && sorted[j] == sorted[i] {
			j++
		}
		t := float64(j - i)
		variance -= term(t)
		tied += t * (t - 1) / 2
		i = j
	}
	return variance / 18, tied
}

func abs(x int) int { return max(x, -x) }
