package stdlib_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// minimum and maximum are MSL's fmin and fmax: a NaN gives way to a number.
func minimum(x, y float64) float64 {
	if math.IsNaN(x) || y < x {
		return y
	}
	return x
}

func maximum(x, y float64) float64 {
	if math.IsNaN(x) || x < y {
		return y
	}
	return x
}

func step(edge, x float64) float64 {
	if x < edge {
		return 0
	}
	return 1
}

func fdim(x, y float64) float64 {
	switch {
	case math.IsNaN(x) || math.IsNaN(y):
		return math.NaN()
	case x > y:
		return x - y
	}
	return 0
}

var binaries = []struct {
	name      string
	f         func(x, y float64) float64
	ulps      float64
	low, high float64
}{
	{"pow", math.Pow, 1, 0.01, 100}, {"powr", math.Pow, 1, 0.01, 100}, {"atan2", math.Atan2, 1, -100, 100},
	{"fmod", math.Mod, 0, -1000, 1000}, {"copysign", math.Copysign, 0, -1e9, 1e9}, {"fdim", fdim, 0.5, -1000, 1000},
	{"divide", func(x, y float64) float64 { return x / y }, 2, -1000, 1000},
	{"step", step, 0, -10, 10}, {"min", minimum, 0, -1000, 1000}, {"max", maximum, 0, -1000, 1000},
	{"fmin", minimum, 0, -1000, 1000}, {"fmax", maximum, 0, -1000, 1000},
}

// TestBinary asks every function of two arguments for float, half and bfloat,
// as a scalar, in a vector of 2, and under precise:: and fast::.
func TestBinary(t *testing.T) {
	var text strings.Builder
	for _, s := range []string{"float", "half", "bfloat"} {
		fmt.Fprintf(&text, "kernel void two_%s(device const %[1]s* x, device const %[1]s* y, device %[1]s* z, uint i [[thread_position_in_grid]]) {\n", s)
		for k, b := range binaries {
			at := fmt.Sprintf("%d * %d + i", k, samples)
			fmt.Fprintf(&text, "{ %s a = x[%s], b = y[%[2]s], r = %[3]s(a, b); %[1]s2 v = %[3]s(%[1]s2(a, 1), %[1]s2(b, 1));\n", s, at, b.name)
			fmt.Fprintf(&text, "  %s p = precise::%s(a, b), f = fast::%[2]s(a, b); z[%[3]s] = (isnan(r) || (r == v.x && r == p && r == f)) ? r : %[1]s(12345); }\n", s, b.name, at)
		}
		text.WriteString("}\n")
	}
	l := library(t, text.String())
	for _, c := range []struct {
		kernel string
		f      format
	}{{"two_float", single}, {"two_half", half}, {"two_bfloat", bfloat}} {
		var x, y []float64
		for k, b := range binaries {
			low, high := b.low, b.high
			if c.f == half {
				low, high = max(low, -60000), min(high, 60000)
			}
			p := inputs(c.f, low, high, samples, uint64(k))
			q := inputs(c.f, low, high, samples, uint64(k+100))
			for i := range q { // specials meet specials
				q[i] = q[(i*5+i/14)%samples]
			}
			x, y = append(x, p...), append(y, q...)
		}
		out := evaluate(t, l, c.kernel, c.f, samples, len(x), x, y)
		for k, b := range binaries {
			for i := range samples {
				p, q, got := x[k*samples+i], y[k*samples+i], out[k*samples+i]
				if b.name == "powr" && !(p > 0 && !math.IsInf(p, 0) && !math.IsInf(q, 0)) {
					continue // undefined
				}
				if b.name == "fmod" && c.f.exponent == 8 && math.Abs(b.f(p, q)) < 0x1p-126 {
					continue
				}
				want, allowed := b.f(p, q), b.ulps
				if b.name == "divide" && (math.IsInf(q, 0) || math.IsInf(p, 0) || q == 0 || p == 0) {
					if math.IsNaN(want) != math.IsNaN(got) || math.IsInf(want, 0) != math.IsInf(got, 0) {
						t.Errorf("%s: divide(%v, %v) = %v, want %v", c.kernel, p, q, got, want)
					}
					continue // the sign of zero is given up under fast math
				}
				if c.f != single {
					allowed = 0.5 + max(b.ulps, 1)*0x1p-8
				}
				if off := c.f.off(got, want); off > allowed {
					t.Errorf("%s: %s(%v, %v) = %v, want %v: off by %.2f ulp, allowed %.3g", c.kernel, b.name, p, q, got, want, off, allowed)
					break
				}
			}
		}
	}
}

// TestSeveralResults covers the functions with results through references or
// of another type, and those of three arguments.
func TestSeveralResults(t *testing.T) { onEveryProcessor(t, severalResults) }

func severalResults(t *testing.T) {
	l := library(t, `
kernel void several(device const float* x, device float* y, device int* n, uint i [[thread_position_in_grid]]) {
  float v = x[i], c, w; int e;
  device float* r = y + i * 32;
  r[0] = sincos(v, c); r[1] = c;
  r[2] = modf(v, w); r[3] = w;
  r[4] = frexp(v, e); n[i * 8] = e;
  r[5] = ldexp(v, 3); r[6] = ldexp(v, -140); r[7] = ldexp(v, 100);
  n[i * 8 + 1] = ilogb(v);
  r[8] = nextafter(v, INFINITY); r[9] = nextafter(v, -INFINITY);
  r[10] = fma(v, 1.0000001f, -v);
  r[11] = min3(v, 1.0f, 2.0f); r[12] = max3(v, 1.0f, 2.0f); r[13] = median3(v, 1.0f, 2.0f);
  r[14] = clamp(v, -1.0f, 1.0f);
  r[15] = mix(2.0f, 4.0f, v);
  r[16] = smoothstep(0.0f, 2.0f, v);
  r[17] = fmedian3(3.0f, v, 4.0f);
  float2 s2, c2; s2 = sincos(float2(v, 1), c2); r[18] = s2.x; r[19] = c2.x;
  r[20] = fma(float2(v, 1), float2(2, 1), float2(1, 1)).x;
  half h = half(v), hc; r[21] = sincos(h, hc); r[22] = hc;
  r[23] = fma(half(3), half(0.333251953125h), half(-1));
  r[24] = fma(bfloat(3), bfloat(0.333984375f), bfloat(-1));
  r[25] = ldexp(half(1.5), 4); r[26] = ldexp(bfloat(1.5), -4);
  n[i * 8 + 2] = ilogb(half(v));
  r[27] = precise::clamp(v, 0.0f, 1.0f); r[28] = fast::max(v, 0.0f);
  r[29] = clamp(float3(v, 5, -5), float3(-2), float3(2)).x;
  r[30] = max(float4(v), 0.5f).z;
  r[31] = min(half4(v), half4(0.5)).w;
}`)
	xs := []float64{0, 1, -1, 0.75, 3.25, -2.5, 1e10, -1e-10, 0x1p-126, 100, 0.4999}
	in := make([]float32, 64)
	for i := range in {
		in[i] = float32(xs[i%len(xs)])
	}
	y, n := pack(make([]float32, 64*32)), pack(make([]int32, 64*8))
	call(t, l, "several", 64, 64, pack(in), y, n)
	got, ints := unpack[float32](y), unpack[int32](n)
	single32 := func(v float64) float64 { return float64(float32(v)) }
	for i := range xs {
		v := float64(in[i])
		h := half.round(v)
		whole, frac := math.Modf(v)
		m, e := math.Frexp(v)
		want := map[int]float64{
			0: math.Sin(v), 1: math.Cos(v), 2: frac, 3: whole, 4: m, 5: v * 8, 7: v * 0x1p100,
			10: math.FMA(v, float64(float32(1.0000001)), -v),
			11: min(v, 1), 12: max(v, 2), 13: min(max(v, 1), 2), 14: min(max(v, -1), 1), 15: 2 + 2*v, 17: min(max(v, 3), 4),
			18: math.Sin(v), 19: math.Cos(v), 20: single32(2*v + 1),
			23: half.round(3*half.round(0.333251953125) - 1), 24: bfloat.round(3*bfloat.round(0.333984375) - 1),
			25: 24, 26: 1.5 / 16, 27: min(max(v, 0), 1), 28: max(v, 0), 29: min(max(v, -2), 2), 30: max(v, 0.5), 31: min(h, 0.5),
		}
		if math.Abs(v) < 60000 {
			want[21], want[22] = half.round(math.Sin(h)), half.round(math.Cos(h))
		}
		if u := min(max(v/2, 0), 1); true {
			want[16] = u * u * (3 - 2*u)
		}
		if r := v * 0x1p-140; math.Abs(r) >= 0x1p-126 || r == 0 {
			want[6] = r
		}
		if math.Abs(v) > 0x1p-125 { // beside denormals there is nothing to be said
			want[8] = float64(math.Nextafter32(in[i], float32(math.Inf(1))))
			want[9] = float64(math.Nextafter32(in[i], float32(math.Inf(-1))))
		}
		for k, w := range want {
			allowed := 1.0
			if k >= 2 && k <= 5 || k >= 8 && k <= 14 || k >= 23 {
				allowed = 0
			}
			if off := single.off(float64(got[i*32+k]), w); off > allowed+0.01 {
				t.Errorf("result %d of %v is %v, want %v", k, v, got[i*32+k], w)
			}
		}
		wantInts := []int32{int32(e), int32(e - 1), 0}
		if v == 0 {
			wantInts[1] = math.MinInt32
		}
		if _, e := math.Frexp(h); h != 0 && !math.IsInf(h, 0) {
			wantInts[2] = int32(e - 1)
		} else {
			wantInts[2] = ints[i*8+2]
		}
		for k, w := range wantInts {
			if ints[i*8+k] != w {
				t.Errorf("integer %d of %v is %d, want %d", k, v, ints[i*8+k], w)
			}
		}
	}
}

// TestArithmeticRounds shows that half and bfloat round after each operation,
// and that float flushes denormals, on every processor.
func TestArithmeticRounds(t *testing.T) {
	inBothForms(t, func(t *testing.T) { onEveryProcessor(t, arithmeticRounds) })
}

func arithmeticRounds(t *testing.T) {
	l := library(t, `
template <typename T> void ops(device const T* x, device const T* y, device T* z, uint i) {
  T a = x[i], b = y[i];
  z[i] = a + b; z[i + 512] = a - b; z[i + 1024] = a * b; z[i + 1536] = a / b; z[i + 2048] = T(float(a) * 1.001f); z[i + 2560] = T((int)(a * T(8)));
}
kernel void ops_half(device const half* x, device const half* y, device half* z, uint i [[thread_position_in_grid]]) { ops(x, y, z, i); }
kernel void ops_bfloat(device const bfloat* x, device const bfloat* y, device bfloat* z, uint i [[thread_position_in_grid]]) { ops(x, y, z, i); }
kernel void chain(device const half* x, device half* z, uint i [[thread_position_in_grid]]) { half s = 0; for (int k = 0; k < 16; k++) s += x[i * 16 + k]; z[i] = s; }
kernel void fuse(device const half* x, device half* z, uint i [[thread_position_in_grid]]) { z[i] = fma(x[i], x[i + 1], x[i + 2]); }
kernel void flush(device const float* x, device float* z, uint i [[thread_position_in_grid]]) { z[i] = x[i] * 0.5f; z[i + 32] = x[i] + x[i]; }
`)
	for _, c := range []struct {
		kernel string
		f      format
	}{{"ops_half", half}, {"ops_bfloat", bfloat}} {
		x, y := inputs(c.f, -100, 100, samples, 1), inputs(c.f, -100, 100, samples, 2)
		z := evaluate(t, l, c.kernel, c.f, samples, 6*samples, x, y)
		for i := range samples {
			a, b := x[i], y[i]
			if math.IsNaN(a) || math.IsInf(a, 0) || b == 0 {
				continue
			}
			for k, want := range []float64{a + b, a - b, a * b, a / b, float64(float32(a) * 1.001), math.Trunc(c.f.round(a * 8))} {
				got := z[k*samples+i]
				allowed := 0.5
				if k == 3 {
					allowed = 0.502 // the quotient may be formed with a reciprocal
				}
				if off := c.f.off(got, want); off > allowed || k != 3 && got != c.f.round(want) && !(math.IsNaN(got) && math.IsNaN(want)) && c.f.exponent != 8 {
					t.Errorf("%s: operation %d of %v and %v is %v, want %v rounded once", c.kernel, k, a, b, got, want)
				}
			}
		}
	}
	// A sum of halves that float would not round away.
	x := make([]float64, 32*16)
	for i := range x {
		x[i] = half.round(float64(i%16)*0.37 + 64)
	}
	for i, got := range evaluate(t, l, "chain", half, 32, 32, x) {
		var want float64
		for k := range 16 {
			want = half.round(want + x[i*16+k])
		}
		if got != want {
			t.Fatalf("sum %d is %v, want %v", i, got, want)
		}
	}
	for i, got := range evaluate(t, l, "fuse", half, 32, 32, x) {
		if want := half.round(x[i]*x[i+1] + x[i+2]); got != want {
			t.Errorf("fma of halves %d is %v, want %v rounded once", i, got, want)
		}
	}
	tiny := []float64{0x1p-126, 0x1p-127, 0x1.8p-126, 1}
	in := make([]float64, 32)
	copy(in, tiny)
	z := evaluate(t, l, "flush", single, 32, 64, in)
	for i, want := range [][2]float64{{0, 0x1p-125}, {0, 0}, {0, 0x1.8p-125}, {0.5, 2}} {
		if z[i] != want[0] || z[i+32] != want[1] {
			t.Errorf("%v: half %v, double %v, want %v", tiny[i], z[i], z[i+32], want)
		}
	}
}
