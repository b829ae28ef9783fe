package stats

import (
	"math"
	"strings"
	"testing"
)

func nearly(a, b float64) bool { return math.Abs(a-b) <= 1e-12*max(1, math.Abs(b)) }

func TestLineThroughPointsOnIt(t *testing.T) {
	l := FitLine([]float64{1, 2, 4}, []float64{5, 7, 11})
	if l.N != 3 || !nearly(l.Intercept, 3) || !nearly(l.Slope, 2) || !nearly(l.R2, 1) || l.Worst > 1e-12 {
		t.Errorf("got %+v, want 3 + 2x", l)
	}
}

// By hand: weights 1, 1 and 1/16 of the points (0, 1), (1, 1), (2, 4). The normal
// equations are 33/16 a + 18/16 b = 36/16 and 18/16 a + 20/16 b = 24/16, so that
// a = (36·20 − 18·24)/(33·20 − 18²) = 288/336 and b = (33·24 − 18·36)/336 = 144/336.
func TestLineWeighsByRelativeSize(t *testing.T) {
	l := FitLine([]float64{0, 1, 2}, []float64{1, 1, 4})
	if !nearly(l.Intercept, 288.0/336) || !nearly(l.Slope, 144.0/336) {
		t.Errorf("got %v + %v x, want %v + %v x", l.Intercept, l.Slope, 288.0/336, 144.0/336)
	}
	// The line has 6/7, 9/7 and 12/7 there.
	for i, want := range []float64{1.0 / 6, -2.0 / 9, 4.0 / 3} {
		if !nearly(l.Residuals[i], want) {
			t.Errorf("residual %d is %v, want %v", i, l.Residuals[i], want)
		}
	}
	// Weighted, Σy = 36/16, Σy² = 3, so that y varies by 3 − (36/16)²/(33/16) = 6/11,
	// and the residuals in y, 1/7, −2/7 and 16/7, leave 1/49 + 4/49 + 16/49 = 3/7.
	if want := 1 - (3.0/7)/(6.0/11); !nearly(l.Worst, 4.0/3) || !nearly(l.R2, want) {
		t.Errorf("worst %v, want 4/3; r² %v, want %v", l.Worst, l.R2, want)
	}
}

func TestNoLine(t *testing.T) {
	for _, c := range []struct {
		x, y []float64
		why  string
	}{
		{nil, nil, "no samples"},
		{[]float64{1}, []float64{1, 2}, "1 x and 2 y"},
		{[]float64{2, 2}, []float64{1, 2}, "the same x"},
		{[]float64{1, 2}, []float64{1, 0}, "y 2 is 0"},
		{[]float64{1, math.NaN()}, []float64{1, 2}, "x 2 is not a number"},
		{[]float64{0, 1, 100}, []float64{1, 0.01, 1e-3}, ""},
	} {
		l := FitLine(c.x, c.y)
		if c.why != "" && (l.N != 0 || !strings.Contains(l.Why, c.why)) {
			t.Errorf("%v, %v: %+v, want %q", c.x, c.y, l, c.why)
		}
		for _, v := range append(l.Residuals, l.Intercept, l.Slope, l.R2, l.Worst) {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				t.Errorf("%v, %v: %+v is not finite", c.x, c.y, l)
			}
		}
	}
}
