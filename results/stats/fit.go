package stats

import (
	"fmt"
	"math"
	"slices"
)

// Line is y = Intercept + Slope·x through points, most of which it goes near.
type Line struct {
	N         int     `json:"n"`
	Slope     float64 `json:"slope"`
	SlopeLo   float64 `json:"slope_lo"` // SlopeLo and SlopeHi enclose it with 95 % where Decidable;
	SlopeHi   float64 `json:"slope_hi"` // else they are the smallest and the largest of two points
	Intercept float64 `json:"intercept"`
	Decidable bool    `json:"decidable"`
	// Effect is whether the slope differs from 0: the interval is without it.
	Effect bool   `json:"effect"`
	Why    string `json:"why,omitempty"` // it is not decidable
}

const (
	leastForFit = 6
	quantile975 = 1.959963984540054 // of the standard normal distribution
)

// Fit returns the line of Theil and Sen: its slope is the median of the slopes
// between all pairs of points with different x, its intercept the median of y
// less the slope times the median of x. Up to 29 % of the points may be
// anything. The interval of the slope is Sen's, from the variance of Kendall's
// S with its correction for points of equal x. (P. K. Sen, Estimates of the
// regression coefficient based on Kendall's tau, JASA 63, 1968.)
func Fit(x, y []float64) Line {
	l := Line{N: min(len(x), len(y))}
	switch {
	case len(x) != len(y):
		l.Why = fmt.Sprintf("%d values of x, %d of y", len(x), len(y))
	case len(x) > mostPairs:
		l.Why = fmt.Sprintf("%d points are more than the %d that a line is laid through", len(x), mostPairs)
	default:
		if l.Why = unusable("x of point", x, false); l.Why == "" {
			l.Why = unusable("y of point", y, false)
		}
	}
	if l.Why != "" {
		return l
	}
	var slopes []float64
	for i := range x {
		for j := i + 1; j < len(x); j++ {
			if x[i] != x[j] {
				slopes = append(slopes, (y[j]-y[i])/(x[j]-x[i]))
			}
		}
	}
	if len(slopes) == 0 {
		l.Why = "all points have the same x: there is no slope"
		return l
	}
	slices.Sort(slopes)
	sx, sy := slices.Sorted(slices.Values(x)), slices.Sorted(slices.Values(y))
	l.Slope = median(slopes)
	l.Intercept = median(sy) - l.Slope*median(sx)
	l.SlopeLo, l.SlopeHi = slopes[0], slopes[len(slopes)-1]
	if len(x) < leastForFit {
		l.Why = fmt.Sprintf("%d points: an interval of the slope needs %d", len(x), leastForFit)
		return l
	}
	half := quantile975 * math.Sqrt(kendallVariance(sx, sy))
	lo := int(math.RoundToEven((float64(len(slopes))-half)/2)) - 1
	hi := int(math.RoundToEven((float64(len(slopes)) + half) / 2))
	if lo < 0 || hi >= len(slopes) {
		l.Why = fmt.Sprintf("%d points with %d slopes between them: too few for a 95 %% interval", len(x), len(slopes))
		return l
	}
	l.SlopeLo, l.SlopeHi, l.Decidable = slopes[lo], slopes[hi], true
	l.Effect = l.SlopeLo > 0 || l.SlopeHi < 0
	return l
}

// kendallVariance is the variance of S where x and y both have groups of equal
// values.
func kendallVariance(sortedX, sortedY []float64) float64 {
	n := float64(len(sortedX))
	vx, _ := tieVariance(sortedX)
	vy, _ := tieVariance(sortedY)
	return max(0, vx+vy-n*(n-1)*(2*n+5)/18)
}
