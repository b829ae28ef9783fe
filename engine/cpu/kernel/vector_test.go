package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// lengths covers whole vectors, tails and nothing but a tail.
var lengths = []int{1, 2, 7, 8, 15, 16, 17, 31, 32, 33, 48, 63, 64, 65, 96, 100, 128, 576, 1000, 1536}

func TestDot(t *testing.T) {
	for _, s := range sets(t) {
		r := rand.New(rand.NewPCG(1, 1))
		for _, n := range lengths {
			a, b := normal(r, n+1, 1)[1:], normal(r, n, 1)
			var want, size float64
			for i := range a {
				want += float64(a[i]) * float64(b[i])
				size += math.Abs(float64(a[i]) * float64(b[i]))
			}
			near(t, s.Name+" dot", s.Dot(a, b), want, size, 1e-6)
		}
	}
}

func TestRMSNorm(t *testing.T) {
	for _, s := range sets(t) {
		r := rand.New(rand.NewPCG(2, 1))
		for _, n := range lengths {
			x, w, dst := normal(r, n, math.Exp(5*r.NormFloat64())), normal(r, n, 1), make([]float32, n+1)
			s.RMSNorm(dst, x, w, 1e-5)
			var sum float64
			for _, v := range x {
				sum += float64(v) * float64(v)
			}
			f := 1 / math.Sqrt(sum/float64(n)+1e-5)
			for i, v := range x {
				want := float64(v) * f * float64(w[i])
				near(t, s.Name+" norm", dst[i], want, math.Abs(want), 2e-6)
			}
			if dst[n] != 0 {
				t.Fatalf("%s: wrote past the end of %d", s.Name, n)
			}
		}
	}
}

// A norm that overflows is NaN, not 0, and x may be its own result.
func TestRMSNormOverflow(t *testing.T) {
	for _, s := range sets(t) {
		for _, n := range lengths {
			x, w := normal(rand.New(rand.NewPCG(9, 1)), n, 1), normal(rand.New(rand.NewPCG(9, 2)), n, 1)
			want := make([]float32, n)
			s.RMSNorm(want, x, w, 1e-5)
			s.RMSNorm(x, x, w, 1e-5)
			if !slices.Equal(x, want) {
				t.Fatalf("%s: %d values are normed otherwise in place", s.Name, n)
			}
			x[n/2] = 1e20
			s.RMSNorm(x, x, w, 1e-5)
			if slices.ContainsFunc(x, func(v float32) bool { return v == v }) {
				t.Fatalf("%s: squares of %d values overflow, and go unseen", s.Name, n)
			}
		}
	}
}

func TestSwiGLU(t *testing.T) {
	for _, s := range sets(t) {
		r := rand.New(rand.NewPCG(3, 1))
		for _, n := range lengths {
			gate, up, dst := normal(r, n, 10), normal(r, n, 1), make([]float32, n+1)
			gate[0] = [...]float32{-500, -90, -87.5, 0, 88, 500}[r.IntN(6)]
			s.SwiGLU(dst, gate, up)
			for i, g := range gate {
				want := float64(g) / (1 + math.Exp(-float64(g))) * float64(up[i])
				// Below -87, 1+exp(-g) leaves float32's range: then anything from
				// the true value to 0 will do.
				near(t, s.Name+" swiglu", dst[i], want, math.Abs(want)+1e-29, 2e-6)
			}
			if dst[n] != 0 {
				t.Fatalf("%s: wrote past the end of %d", s.Name, n)
			}
		}
	}
}

func TestRope(t *testing.T) {
	for _, s := range sets(t) {
		r := rand.New(rand.NewPCG(4, 1))
		for _, n := range []int{2, 6, 8, 14, 16, 18, 32, 50, 64, 80, 128} {
			x := normal(r, n+2, 1)
			cos, sin := make([]float32, n), make([]float32, n)
			want := make([]float64, n)
			for i := 0; i < n; i += 2 {
				sn, cs := math.Sincos(7 * r.Float64())
				cos[i], cos[i+1], sin[i], sin[i+1] = float32(cs), float32(cs), float32(-sn), float32(sn)
				a, b := float64(x[i]), float64(x[i+1])
				want[i], want[i+1] = a*cs-b*sn, a*sn+b*cs
			}
			old := slices.Clone(x)
			s.Rope(x, cos, sin)
			for i, w := range want {
				near(t, s.Name+" rope", x[i], w, 3, 1e-6)
			}
			if !slices.Equal(x[n:], old[n:]) {
				t.Fatalf("%s: turned more than %d values", s.Name, n)
			}
		}
	}
}

// The bound is 2e-6 of the value, as SwiGLU's, and for negative gates 3e-7 more for
// each unit of the exponent: rounding the exponent moves the power in proportion to it.
func TestGeGLU(t *testing.T) {
	for _, s := range sets(t) {
		r := rand.New(rand.NewPCG(7, 1))
		for _, n := range lengths {
			gate, up, dst := normal(r, n, math.Exp(r.NormFloat64())), normal(r, n, 1), make([]float32, n+1)
			gate[0] = [...]float32{-1e30, -500, -9, -5.5, -1, 0, 1e-20, 1, 5.5, 9, 500, 1e30}[r.IntN(12)]
			s.GeGLU(dst, gate, up)
			for i, g := range gate {
				x := float64(g)
				u := math.Sqrt(2/math.Pi) * (x + 0.044715*x*x*x)
				// x/2 (1+tanh(u)), without the difference of 1 and nearly 1.
				want := x / (1 + math.Exp(-2*u)) * float64(up[i])
				below := max(0, min(88, -2*u))
				near(t, s.Name+" geglu", dst[i], want, math.Abs(want)+1e-29, 2e-6+3e-7*below)
			}
			if dst[n] != 0 {
				t.Fatalf("%s: wrote past the end of %d", s.Name, n)
			}
		}
	}
}

// Values of torch.nn.functional.gelu(x, approximate="tanh") in float64, of torch 2.6.0.
func TestGELUValues(t *testing.T) {
	gate := []float32{-9.0, -5.5, -3.0, -1.0, -0.5, -0.001, 0.0, 0.001, 0.5, 1.0, 2.5, 6.0, 100.0, -20.0, 1.5, -0.75, 3.25}
	want := []float64{0, -5.927640267522349e-09, -0.0036373920817729943, -0.1588080093917233, -0.15428599017485606, -0.0004996010814972463, 0.0, 0.0005003989660002051, 0.34571400982514394, 0.8411919906082768, 2.484915733910001, 5.9999999999156035, 100.0, 0, 1.3995715769802328, -0.17003944483437966, 3.2484313728552525}
	one := make([]float32, len(gate))
	for i := range one {
		one[i] = 1
	}
	for _, s := range sets(t) {
		dst := make([]float32, len(gate))
		s.GeGLU(dst, gate, one)
		for i, w := range want {
			near(t, fmt.Sprint(s.Name, " gelu of ", gate[i]), dst[i], w, math.Abs(w), 1e-5)
		}
	}
}

func TestRopeHalves(t *testing.T) {
	for _, s := range sets(t) {
		r := rand.New(rand.NewPCG(8, 1))
		for _, half := range []int{1, 3, 4, 8, 15, 16, 17, 20, 32, 48, 64, 128} {
			x := normal(r, 2*half+2, 1)
			cos, sin := make([]float32, half), make([]float32, half)
			want := make([]float64, 2*half)
			for i := range half {
				sn, cs := math.Sincos(7 * r.Float64())
				cos[i], sin[i] = float32(cs), float32(sn)
				a, b := float64(x[i]), float64(x[half+i])
				want[i], want[half+i] = a*cs-b*sn, a*sn+b*cs
			}
			old := slices.Clone(x)
			s.RopeHalves(x, cos, sin)
			for i, w := range want {
				near(t, s.Name+" rope of halves", x[i], w, 3, 1e-6)
			}
			if !slices.Equal(x[2*half:], old[2*half:]) {
				t.Fatalf("%s: turned more than %d pairs", s.Name, half)
			}
		}
	}
}

func TestMax(t *testing.T) {
	for _, s := range sets(t) {
		r := rand.New(rand.NewPCG(6, 1))
		for _, n := range lengths {
			x := normal(r, n, 1)
			for i := range x {
				x[i] -= 5 // all below zero, nearly
			}
			if top, ok := s.Max(x); top != slices.Max(x) || !ok {
				t.Fatalf("%s: largest of %d is %v, %v; want %v", s.Name, n, top, ok, slices.Max(x))
			}
			for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
				y := slices.Clone(x)
				y[r.IntN(n)] = float32(bad)
				if _, ok := s.Max(y); ok {
					t.Fatalf("%s: %v among %d values goes unseen", s.Name, bad, n)
				}
			}
		}
	}
}
