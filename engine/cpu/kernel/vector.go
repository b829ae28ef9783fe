package kernel

import "math"

// dot is the twin of Set.Dot.
func dot(a, b []float32) float32 {
	need("Dot", "length of b", len(b), len(a))
	b = b[:len(a)]
	var s [4]float32
	n := len(a) &^ 3
	for i := 0; i < n; i += 4 {
		s[0] += a[i] * b[i]
		s[1] += a[i+1] * b[i+1]
		s[2] += a[i+2] * b[i+2]
		s[3] += a[i+3] * b[i+3]
	}
	for i := n; i < len(a); i++ {
		s[0] += a[i] * b[i]
	}
	return s[0] + s[1] + (s[2] + s[3])
}

// rmsNorm is the twin of Set.RMSNorm.
func rmsNorm(dst, x, w []float32, eps float32) {
	checkThree("RMSNorm", dst, x, w)
	scaleBy(dst, x, w, rmsScale(dot(x, x), len(x), eps))
}

// rmsScale returns the factor of an RMS norm from the sum of squares. Where that
// overflows it is NaN, which is found: 0 would make zeros of large values.
func rmsScale(squares float32, n int, eps float32) float32 {
	if squares > math.MaxFloat32 {
		return float32(math.NaN())
	}
	return float32(1 / math.Sqrt(float64(squares)/float64(n)+float64(eps)))
}

// scaleBy writes x * s * w to dst.
func scaleBy(dst, x, w []float32, s float32) {
	for i, v := range x {
		dst[i] = v * s * w[i]
	}
}

// swiGLU is the twin of Set.SwiGLU.
func swiGLU(dst, gate, up []float32) {
	checkThree("SwiGLU", dst, gate, up)
	for i, g := range gate {
		dst[i] = g / (1 + exp(-g)) * up[i]
	}
}

// The tanh of GELU by e to a power: (1+tanh(u))/2 is 1/(1+exp(-2u)). So gelu(x) is
// x / (1+exp(x*(geluLinear + geluCubic*x²))).
const (
	geluLinear = -1.5957691216057308   // -2 sqrt(2/pi)
	geluCubic  = geluLinear * 0.044715 // -0.0713548162726
)

// geGLU is the twin of Set.GeGLU.
func geGLU(dst, gate, up []float32) {
	checkThree("GeGLU", dst, gate, up)
	for i, g := range gate {
		dst[i] = g / (1 + exp(g*(geluLinear+geluCubic*g*g))) * up[i]
	}
}

func exp(x float32) float32 { return float32(math.Exp(float64(x))) }

// rope is the twin of Set.Rope.
func rope(x, cos, sin []float32) {
	checkRope(x, cos, sin)
	for i := 0; i+1 < len(cos); i += 2 {
		a, b := x[i], x[i+1]
		x[i], x[i+1] = a*cos[i]+b*sin[i], b*cos[i+1]+a*sin[i+1]
	}
}

// ropeHalves is the twin of Set.RopeHalves.
func ropeHalves(x, cos, sin []float32) {
	checkRopeHalves(x, cos, sin)
	turn(x, x[len(cos):], cos, sin)
}

// turn turns the pairs of x[i] and y[i].
func turn(x, y, cos, sin []float32) {
	for i, c := range cos {
		a, b := x[i], y[i]
		x[i], y[i] = a*c-b*sin[i], b*c+a*sin[i]
	}
}

// maxOf is the twin of Set.Max. Magnitudes are compared as integers, where
// infinity and NaN are larger than all numbers.
func maxOf(x []float32) (top float32, finite bool) {
	need("Max", "length of x", len(x), 1)
	top = x[0]
	var bits uint32
	for _, v := range x {
		bits = max(bits, math.Float32bits(v)&^(1<<31))
		if v > top {
			top = v
		}
	}
	return top, bits < math.Float32bits(float32(math.Inf(1)))
}
