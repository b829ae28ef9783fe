package stats

import (
	"fmt"
	"math"
)

// Line is y = Intercept + Slope·x through points whose y are measured to a part of
// themselves, as times are: the sum of the squares of the residuals, each as a part of
// its y, is the least there is.
type Line struct {
	N         int     `json:"n"`
	Intercept float64 `json:"intercept"`
	Slope     float64 `json:"slope"`
	// R2 is the part of the variance of y that the line explains, weighted as the
	// residuals are; 1 is all of it.
	R2 float64 `json:"r2"`
	// Residuals are y/line − 1, in the order of the points, and Worst is the largest
	// of their sizes: the points are linear within it.
	Residuals []float64 `json:"residuals,omitempty"`
	Worst     float64   `json:"worst"`
	Why       string    `json:"why,omitempty"` // there is no line
}

// FitLine fits a line to points, of which there must be two with different x. Every y
// is above 0. A line that is not above 0 at one of them has no residuals there to
// speak of: that is said, and the line has no N.
func FitLine(x, y []float64) Line {
	why := unusable("x", x, false)
	switch {
	case len(x) != len(y):
		why = fmt.Sprintf("%d x and %d y", len(x), len(y))
	case why == "":
		why = unusable("y", y, true)
	}
	if why != "" {
		return Line{Why: why}
	}
	// Weights 1/y²; the means first, so that large x cancel nothing.
	var weight, meanX, meanY float64
	for i := range x {
		w := 1 / (y[i] * y[i])
		weight, meanX, meanY = weight+w, meanX+w*x[i], meanY+w*y[i]
	}
	meanX, meanY = meanX/weight, meanY/weight
	var xx, xy, yy float64
	for i := range x {
		w, dx, dy := 1/(y[i]*y[i]), x[i]-meanX, y[i]-meanY
		xx, xy, yy = xx+w*dx*dx, xy+w*dx*dy, yy+w*dy*dy
	}
	if xx <= 0 || math.IsInf(xx, 0) {
		return Line{Why: "all points have the same x"}
	}
	l := Line{N: len(x), Slope: xy / xx, R2: 1}
	l.Intercept = meanY - l.Slope*meanX
	if yy > 0 {
		l.R2 = xy * xy / (xx * yy)
	}
	for i := range x {
		at := l.At(x[i])
		if at <= 0 {
			return Line{Why: fmt.Sprintf("the line is %v at x = %v, where it should be above 0", at, x[i])}
		}
		r := y[i]/at - 1
		l.Residuals = append(l.Residuals, r)
		l.Worst = max(l.Worst, math.Abs(r))
	}
	return l
}

// At is the line's y.
func (l Line) At(x float64) float64 { return l.Intercept + l.Slope*x }
