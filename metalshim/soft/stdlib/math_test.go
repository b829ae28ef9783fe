package stdlib_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/introgen/introgen/metalshim"
)

// unary are the functions of one argument: what they are in double precision,
// how far the result may be off (units in the last place; 0.5 is correctly
// rounded, 0 exact), and where they are asked.
type unary struct {
	name      string
	f         func(float64) float64
	ulps      float64
	low, high float64
}

func rsqrt(x float64) float64 { return 1 / math.Sqrt(x) }

func sinpi(x float64) float64 {
	r := math.Remainder(x, 2)
	if r > 0.5 {
		r = 1 - r
	} else if r < -0.5 {
		r = -1 - r
	}
	return math.Sin(math.Pi * r)
}

func cospi(x float64) float64 { return sinpi(x + 0.5) }

func sign(x float64) float64 {
	switch {
	case x > 0:
		return 1
	case x < 0:
		return -1
	case x == 0:
		return x
	}
	return 0
}

func saturate(x float64) float64 {
	if math.IsNaN(x) {
		return 0
	}
	return min(max(x, 0), 1)
}

func fract(x float64) float64 { return x - math.Floor(x) }

var unaries = []unary{
	{"exp", math.Exp, 2, -100, 90}, {"exp2", math.Exp2, 2, -130, 130}, {"exp10", func(x float64) float64 { return math.Pow(10, x) }, 1, -40, 40},
	{"log", math.Log, 1, 0x1p-126, 1e38}, {"log2", math.Log2, 1, 0x1p-126, 1e38}, {"log10", math.Log10, 2, 0x1p-126, 1e38},
	{"sin", math.Sin, 1, -4100, 4100}, {"cos", math.Cos, 1, -4100, 4100}, {"tan", math.Tan, 2, -100, 100},
	{"sinpi", sinpi, 1, -1000, 1000}, {"cospi", cospi, 1, -1000, 1000},
	{"tanpi", func(x float64) float64 { return sinpi(x) / cospi(x) }, 3, -10, 10},
	{"asin", math.Asin, 1, -1, 1}, {"acos", math.Acos, 1, -1, 1}, {"atan", math.Atan, 1, -1e6, 1e6},
	{"sinh", math.Sinh, 2, -88, 88}, {"cosh", math.Cosh, 2, -88, 88}, {"tanh", math.Tanh, 4, -12, 12},
	{"asinh", math.Asinh, 2, -1e30, 1e30}, {"acosh", math.Acosh, 2, 1, 1e30}, {"atanh", math.Atanh, 2, -1, 1},
	{"sqrt", math.Sqrt, 0.5, 0, 1e38}, {"rsqrt", rsqrt, 1.5, 0x1p-126, 1e38},
	{"ceil", math.Ceil, 0, -1e9, 1e9}, {"floor", math.Floor, 0, -1e9, 1e9}, {"trunc", math.Trunc, 0, -1e9, 1e9},
	{"round", math.Round, 0, -1e9, 1e9}, {"rint", math.RoundToEven, 0, -1e9, 1e9}, {"fract", fract, 0.5, -1e9, 1e9},
	{"fabs", math.Abs, 0, -1e38, 1e38}, {"abs", math.Abs, 0, -1e38, 1e38},
	{"saturate", saturate, 0, -3, 3}, {"sign", sign, 0, -1e38, 1e38},
}

// inputs are n arguments of the range, rounded to the format: its special
// values, then numbers spread over the whole and over the orders of magnitude.
func inputs(f format, low, high float64, n int, seed uint64) []float64 {
	r := rand.New(rand.NewPCG(seed, 7))
	out := []float64{0, math.Copysign(0, -1), 1, -1, 0.5, -0.5, 1.5, 2.5, -2.5, math.Inf(1), math.Inf(-1), math.NaN(), low, high}
	for len(out) < n {
		v := low + (high-low)*r.Float64()
		if len(out)%2 == 0 {
			v = math.Exp2(r.Float64()*40-20) * sign(v)
			v = min(max(v, low), high)
		}
		out = append(out, v)
	}
	for i := range out {
		out[i] = f.round(out[i])
		if a := math.Abs(out[i]); f.exponent == 8 && a < 0x1p-126 && a > 0 {
			out[i] = 0
		}
	}
	return out
}

const samples = 512

// TestUnary asks every function of one argument for float, half and bfloat,
// as a scalar and in a vector of 3, and under precise:: and fast::.
func TestUnary(t *testing.T) {
	var b strings.Builder
	b.WriteString("template <typename T, typename T3> void all(device const T* x, device T* y, uint i) {\n")
	for k, u := range unaries {
		fmt.Fprintf(&b, "{ T v = x[%d * %d + i]; T r = %s(v); T3 w = 0; w.y = v; w = %s(w); y[%d * %d + i] = as_bits(r) == as_bits(T(w.y)) ? r : T(12345); }\n",
			k, samples, u.name, u.name, k, samples)
	}
	b.WriteString("}\n")
	text := "template <typename T> ushort as_bits(T v) { return as_type<ushort>(v); }\nuint as_bits(float v) { return as_type<uint>(v); }\n" + b.String()
	for _, s := range []string{"float", "half", "bfloat"} {
		text += fmt.Sprintf("kernel void all_%s(device const %s* x, device %s* y, uint i [[thread_position_in_grid]]) { all<%s, %s3>(x, y, i); }\n", s, s, s, s, s)
	}
	for _, space := range []string{"precise", "fast"} {
		text += "kernel void all_" + space + "(device const float* x, device float* y, uint i [[thread_position_in_grid]]) {\n"
		for k, u := range unaries {
			text += fmt.Sprintf("y[%d * %d + i] = %s::%s(x[%d * %d + i]);\n", k, samples, space, u.name, k, samples)
		}
		text += "}\n"
	}
	l := library(t, text)
	for _, c := range []struct {
		kernel string
		f      format
	}{{"all_float", single}, {"all_precise", single}, {"all_fast", single}, {"all_half", half}, {"all_bfloat", bfloat}} {
		var in []float64
		for k, u := range unaries {
			low, high := u.low, u.high
			if c.f == half {
				low, high = max(low, -60000), min(high, 60000)
			}
			in = append(in, inputs(c.f, low, high, samples, uint64(k))...)
		}
		out := evaluate(t, l, c.kernel, c.f, samples, len(in), in)
		for k, u := range unaries {
			worst := 0.0
			for i := range samples {
				x, got := in[k*samples+i], out[k*samples+i]
				want := u.f(x)
				if u.name == "fract" {
					want = min(want, 1-math.Ldexp(1, -c.f.mantissa-1)) // the number below 1
				}
				if u.name == "tanpi" && math.IsInf(want, 0) {
					want = math.Copysign(want, got) // a pole has no sign
				}
				allowed := u.ulps
				if c.f != single {
					// Rounded once from single precision.
					allowed = 0.5 + max(u.ulps, 1)*0x1p-10
				}
				if off := c.f.off(got, want); off > allowed {
					t.Errorf("%s: %s(%v) = %v, want %v: off by %.2f ulp, allowed %.3g", c.kernel, u.name, x, got, want, off, allowed)
					break
				} else {
					worst = max(worst, off)
				}
			}
			if testing.Verbose() {
				t.Logf("%s %s: worst %.3f ulp", c.kernel, u.name, worst)
			}
		}
	}
}

// evaluate runs a kernel whose arguments are arrays of the format, inputs and
// then one output of outputs numbers.
func evaluate(t *testing.T, l metalshim.Library, kernel string, f format, threads, outputs int, in ...[]float64) []float64 {
	t.Helper()
	encode := func(v []float64) []byte {
		if f == single {
			s := make([]float32, len(v))
			for i := range v {
				s[i] = float32(v[i])
			}
			return pack(s)
		}
		s := make([]uint16, len(v))
		for i := range v {
			s[i] = f.bits(v[i])
		}
		return pack(s)
	}
	var args [][]byte
	for _, v := range in {
		args = append(args, encode(v))
	}
	args = append(args, encode(make([]float64, outputs)))
	call(t, l, kernel, threads, 64, args...)
	out := make([]float64, outputs)
	last := args[len(args)-1]
	if f == single {
		for i, v := range unpack[float32](last) {
			out[i] = float64(v)
		}
		return out
	}
	for i, v := range unpack[uint16](last) {
		out[i] = f.value(v)
	}
	return out
}
