package stats

import (
	"fmt"
	"math"
)

// Plane is y = Intercept + U·u + V·v, fitted so that the squares of the residuals are
// least, each as a part of its y.
type Plane struct {
	N         int     `json:"n"` // points; 0 where there is no plane
	Intercept float64 `json:"intercept"`
	U         float64 `json:"u"`
	V         float64 `json:"v"`
	// Residuals are y/plane − 1, in the order of the points, and Worst is the largest
	// of their sizes.
	Residuals []float64 `json:"residuals,omitempty"`
	Worst     float64   `json:"worst"`
	Why       string    `json:"why,omitempty"` // there is no plane
}

// leastAcross is the part of u's and v's variation that must not be common to both:
// below it, what one of them does cannot be told from what the other does.
const leastAcross = 1e-9

// FitPlane fits a plane to points, of which there must be three that do not lie on a
// line in u and v. Every y is above 0.
func FitPlane(u, v, y []float64) Plane {
	why := unusable("u", u, false)
	switch {
	case len(u) != len(y) || len(v) != len(y):
		why = fmt.Sprintf("%d u, %d v and %d y", len(u), len(v), len(y))
	case why == "":
		if why = unusable("v", v, false); why == "" {
			why = unusable("y", y, true)
		}
	}
	if why != "" {
		return Plane{Why: why}
	}
	// Weights 1/y²; the means first, so that large u and v cancel nothing.
	var weight, meanU, meanV, meanY float64
	for i := range y {
		w := 1 / (y[i] * y[i])
		weight, meanU, meanV, meanY = weight+w, meanU+w*u[i], meanV+w*v[i], meanY+w*y[i]
	}
	meanU, meanV, meanY = meanU/weight, meanV/weight, meanY/weight
	var uu, uv, vv, uy, vy float64
	for i := range y {
		w, du, dv, dy := 1/(y[i]*y[i]), u[i]-meanU, v[i]-meanV, y[i]-meanY
		uu, uv, vv, uy, vy = uu+w*du*du, uv+w*du*dv, vv+w*dv*dv, uy+w*du*dy, vy+w*dv*dy
	}
	across := uu*vv - uv*uv
	if !(across > leastAcross*uu*vv) || math.IsInf(across, 0) {
		return Plane{Why: "the points lie on a line in u and v"}
	}
	p := Plane{N: len(y), U: (uy*vv - vy*uv) / across, V: (vy*uu - uy*uv) / across}
	p.Intercept = meanY - p.U*meanU - p.V*meanV
	for i := range y {
		at := p.At(u[i], v[i])
		if at <= 0 {
			return Plane{Why: fmt.Sprintf("the plane is %v at u = %v, v = %v, where it should be above 0", at, u[i], v[i])}
		}
		r := y[i]/at - 1
		p.Residuals = append(p.Residuals, r)
		p.Worst = max(p.Worst, math.Abs(r))
	}
	return p
}

// At is the plane's y.
func (p Plane) At(u, v float64) float64 { return p.Intercept + p.U*u + p.V*v }
