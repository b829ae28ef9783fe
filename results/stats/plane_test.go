package stats

import (
	"math"
	"strings"
	"testing"
)

func TestPlaneThroughPointsOnIt(t *testing.T) {
	p := FitPlane([]float64{0, 1, 0, 4}, []float64{0, 0, 1, 2}, []float64{3, 5, 10, 25})
	if p.N != 4 || !nearly(p.Intercept, 3) || !nearly(p.U, 2) || !nearly(p.V, 7) || p.Worst > 1e-12 {
		t.Errorf("got %+v, want 3 + 2u + 7v", p)
	}
}

// The figures are numpy 2's: linalg.lstsq of the rows (1, u, v)/y and ones.
func TestPlaneWeighsByRelativeSize(t *testing.T) {
	p := FitPlane([]float64{100, 100, 400, 400, 1300, 1300}, []float64{5, 80, 8, 110, 6, 66}, []float64{5.1, 8.3, 16, 20.5, 47, 49.5})
	for _, c := range []struct{ got, want float64 }{
		{p.Intercept, 1.3715621068875852}, {p.U, 0.035193122711522994}, {p.V, 0.043321746233449525}, {p.Worst, 0.014138411437984333},
		{p.Residuals[0], -0.0014651265696098426}, {p.Residuals[5], -0.009640635889147764},
	} {
		if math.Abs(c.got-c.want) > 1e-10*math.Abs(c.want) {
			t.Errorf("got %v, want %v", c.got, c.want)
		}
	}
}

func TestNoPlane(t *testing.T) {
	for _, c := range []struct {
		u, v, y []float64
		why     string
	}{
		{nil, nil, nil, "no samples"},
		{[]float64{1}, []float64{1, 2}, []float64{1}, "1 u, 2 v and 1 y"},
		{[]float64{1, 2, 3}, []float64{2, 4, 6}, []float64{1, 2, 3}, "on a line"},
		{[]float64{1, 2, 3}, []float64{5, 5, 5}, []float64{1, 2, 3}, "on a line"},
		{[]float64{1, 2}, []float64{3, 5}, []float64{1, 2}, "on a line"},
		{[]float64{1, 2, 5}, []float64{3, 5, 4}, []float64{1, 0, 2}, "y 2 is 0"},
		{[]float64{1, 2, 5}, []float64{3, math.NaN(), 4}, []float64{1, 1, 2}, "v 2 is not a number"},
	} {
		if p := FitPlane(c.u, c.v, c.y); p.N != 0 || !strings.Contains(p.Why, c.why) {
			t.Errorf("%v, %v, %v: %+v, want %q", c.u, c.v, c.y, p, c.why)
		}
	}
}
