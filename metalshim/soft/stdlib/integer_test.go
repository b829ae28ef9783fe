package stdlib_test

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"strings"
	"testing"
)

// integerType is one of MSL's integer types.
type integerType struct {
	name   string
	bits   int
	signed bool
}

var integerTypes = []integerType{
	{"char", 8, true}, {"uchar", 8, false}, {"short", 16, true}, {"ushort", 16, false},
	{"int", 32, true}, {"uint", 32, false}, {"long", 64, true}, {"ulong", 64, false},
}

func (ty integerType) limits() (low, high *big.Int) {
	one := big.NewInt(1)
	if !ty.signed {
		return big.NewInt(0), new(big.Int).Sub(new(big.Int).Lsh(one, uint(ty.bits)), one)
	}
	high = new(big.Int).Sub(new(big.Int).Lsh(one, uint(ty.bits-1)), one)
	return new(big.Int).Not(high), high
}

// wrap is v modulo 2^bits, in the type's range.
func (ty integerType) wrap(v *big.Int) *big.Int {
	m := new(big.Int).Lsh(big.NewInt(1), uint(ty.bits))
	r := new(big.Int).Mod(v, m)
	if _, high := ty.limits(); r.Cmp(high) > 0 {
		r.Sub(r, m)
	}
	return r
}

func (ty integerType) saturate(v *big.Int) *big.Int {
	low, high := ty.limits()
	switch {
	case v.Cmp(low) < 0:
		return low
	case v.Cmp(high) > 0:
		return high
	}
	return v
}

// pattern is v's bits.
func (ty integerType) pattern(v *big.Int) uint64 {
	m := new(big.Int).Lsh(big.NewInt(1), uint(ty.bits))
	return new(big.Int).Mod(v, m).Uint64()
}

func (ty integerType) from(pattern uint64) *big.Int {
	return ty.wrap(new(big.Int).SetUint64(pattern))
}

func floorShift(v *big.Int, n uint) *big.Int { return new(big.Int).Rsh(v, n) }

// integerFunctions are of x, y and z; the reference is in whole numbers
// without bounds, wrapped to the type at the end.
var integerFunctions = []struct {
	expression string
	f          func(ty integerType, x, y, z *big.Int) *big.Int
	only       int // bits; 0: all types
}{
	{"abs(x)", func(_ integerType, x, _, _ *big.Int) *big.Int { return new(big.Int).Abs(x) }, 0},
	{"absdiff(x, y)", func(_ integerType, x, y, _ *big.Int) *big.Int {
		d := new(big.Int).Sub(x, y)
		return d.Abs(d)
	}, 0},
	{"addsat(x, y)", func(ty integerType, x, y, _ *big.Int) *big.Int { return ty.saturate(new(big.Int).Add(x, y)) }, 0},
	{"subsat(x, y)", func(ty integerType, x, y, _ *big.Int) *big.Int { return ty.saturate(new(big.Int).Sub(x, y)) }, 0},
	{"hadd(x, y)", func(_ integerType, x, y, _ *big.Int) *big.Int { return floorShift(new(big.Int).Add(x, y), 1) }, 0},
	{"rhadd(x, y)", func(_ integerType, x, y, _ *big.Int) *big.Int {
		s := new(big.Int).Add(x, y)
		return floorShift(s.Add(s, big.NewInt(1)), 1)
	}, 0},
	{"mulhi(x, y)", func(ty integerType, x, y, _ *big.Int) *big.Int {
		return floorShift(new(big.Int).Mul(x, y), uint(ty.bits))
	}, 0},
	{"madhi(x, y, z)", func(ty integerType, x, y, z *big.Int) *big.Int {
		p := floorShift(new(big.Int).Mul(x, y), uint(ty.bits))
		return p.Add(p, z)
	}, 0},
	{"madsat(x, y, z)", func(ty integerType, x, y, z *big.Int) *big.Int {
		p := new(big.Int).Mul(x, y)
		return ty.saturate(p.Add(p, z))
	}, 32},
	{"mul24(x, y)", func(ty integerType, x, y, _ *big.Int) *big.Int {
		return new(big.Int).Mul(low24(ty, x), low24(ty, y))
	}, 32},
	{"mad24(x, y, z)", func(ty integerType, x, y, z *big.Int) *big.Int {
		p := new(big.Int).Mul(low24(ty, x), low24(ty, y))
		return p.Add(p, z)
	}, 32},
	{"clz(x)", func(ty integerType, x, _, _ *big.Int) *big.Int {
		return big.NewInt(int64(bits.LeadingZeros64(ty.pattern(x)) - (64 - ty.bits)))
	}, 0},
	{"ctz(x)", func(ty integerType, x, _, _ *big.Int) *big.Int {
		return big.NewInt(int64(min(bits.TrailingZeros64(ty.pattern(x)), ty.bits)))
	}, 0},
	{"popcount(x)", func(ty integerType, x, _, _ *big.Int) *big.Int {
		return big.NewInt(int64(bits.OnesCount64(ty.pattern(x))))
	}, 0},
	{"reverse_bits(x)", func(ty integerType, x, _, _ *big.Int) *big.Int {
		return ty.from(bits.Reverse64(ty.pattern(x)) >> (64 - ty.bits))
	}, 0},
	{"rotate(x, y)", func(ty integerType, x, y, _ *big.Int) *big.Int {
		n := ty.pattern(y) % uint64(ty.bits)
		p := ty.pattern(x)
		return ty.from((p<<n | p>>(uint64(ty.bits)-n)) & (1<<ty.bits - 1))
	}, 0},
	{"extract_bits(x, 3u, 4u)", func(ty integerType, x, _, _ *big.Int) *big.Int {
		v := int64(ty.pattern(x) >> 3 & 15)
		if ty.signed && v >= 8 {
			v -= 16
		}
		return big.NewInt(v)
	}, 0},
	{"insert_bits(x, y, 2u, 5u)", func(ty integerType, x, y, _ *big.Int) *big.Int {
		return ty.from(ty.pattern(x)&^(31<<2) | ty.pattern(y)&31<<2)
	}, 0},
	{"min(x, y)", func(_ integerType, x, y, _ *big.Int) *big.Int {
		if y.Cmp(x) < 0 {
			return y
		}
		return x
	}, 0},
	{"max(x, y)", func(_ integerType, x, y, _ *big.Int) *big.Int {
		if y.Cmp(x) > 0 {
			return y
		}
		return x
	}, 0},
	{"median3(x, y, z)", func(_ integerType, x, y, z *big.Int) *big.Int { return middle(x, y, z) }, 0},
	{"min3(x, y, z)", func(_ integerType, x, y, z *big.Int) *big.Int { return least(x, least(y, z)) }, 0},
	{"max3(x, y, z)", func(_ integerType, x, y, z *big.Int) *big.Int { return most(x, most(y, z)) }, 0},
	{"clamp(x, min(y, z), max(y, z))", func(_ integerType, x, y, z *big.Int) *big.Int { return least(most(x, least(y, z)), most(y, z)) }, 0},
}

func least(a, b *big.Int) *big.Int {
	if a.Cmp(b) < 0 {
		return a
	}
	return b
}

func most(a, b *big.Int) *big.Int {
	if a.Cmp(b) > 0 {
		return a
	}
	return b
}

func middle(a, b, c *big.Int) *big.Int { return most(least(a, b), least(most(a, b), c)) }

func low24(ty integerType, v *big.Int) *big.Int {
	p := int64(ty.pattern(v) & 0xffffff)
	if ty.signed && p >= 1<<23 {
		p -= 1 << 24
	}
	return big.NewInt(p)
}

// TestInteger asks every integer function for every integer type, as a scalar
// and in a vector.
func TestInteger(t *testing.T) {
	const n = 128
	var text strings.Builder
	for _, ty := range integerTypes {
		fmt.Fprintf(&text, "kernel void whole_%s(device const %[1]s* a, device %[1]s* r, uint i [[thread_position_in_grid]]) {\n"+
			" %[1]s x0 = a[i], y0 = a[%[2]d + i], z0 = a[%[3]d + i];\n", ty.name, n, 2*n)
		for k, f := range integerFunctions {
			if f.only != 0 && f.only != ty.bits {
				continue
			}
			fmt.Fprintf(&text, " { %s s, v; { %[1]s x = x0, y = y0, z = z0; s = %[2]s; }", ty.name, f.expression)
			fmt.Fprintf(&text, " { %s2 x = {1, x0}, y = {1, y0}, z = {1, z0}; v = (%s).y; } r[%d + i] = s == v ? s : %[1]s(77); }\n", ty.name, f.expression, k*n)
		}
		text.WriteString("}\n")
	}
	l := library(t, text.String())
	r := rand.New(rand.NewPCG(1, 2))
	for _, ty := range integerTypes {
		low, high := ty.limits()
		args := make([]*big.Int, 3*n)
		for i := range args {
			switch special := []*big.Int{low, high, big.NewInt(0), big.NewInt(1), ty.wrap(big.NewInt(-1)), big.NewInt(5)}; {
			case i%3 == 0:
				args[i] = special[r.IntN(len(special))]
			default:
				args[i] = ty.from(r.Uint64() >> (64 - ty.bits) >> r.IntN(ty.bits))
			}
		}
		raw := make([]byte, 3*n*ty.bits/8)
		put := func(b []byte, i int, p uint64) {
			for k := range ty.bits / 8 {
				b[i*ty.bits/8+k] = byte(p >> (8 * k))
			}
		}
		for i, v := range args {
			put(raw, i, ty.pattern(v))
		}
		out := make([]byte, len(integerFunctions)*n*ty.bits/8)
		call(t, l, "whole_"+ty.name, n, 64, raw, out)
		for k, f := range integerFunctions {
			if f.only != 0 && f.only != ty.bits {
				continue
			}
			for i := range n {
				x, y, z := args[i], args[n+i], args[2*n+i]
				var p uint64
				for b := range ty.bits / 8 {
					p |= uint64(out[(k*n+i)*ty.bits/8+b]) << (8 * b)
				}
				if got, want := ty.from(p), ty.wrap(f.f(ty, x, y, z)); got.Cmp(want) != 0 {
					t.Errorf("%s: %s of %v, %v, %v is %v, want %v", ty.name, f.expression, x, y, z, got, want)
					break
				}
			}
		}
	}
}

// TestRelationalAndGeometric checks values that follow from the definitions.
func TestRelationalAndGeometric(t *testing.T) {
	l := library(t, `
kernel void relations(device const float* x, device int* r, device float* g, uint i [[thread_position_in_grid]]) {
  float v = x[i]; half h = half(v); bfloat b = bfloat(v);
  device int* o = r + i * 16;
  o[0] = isnan(v); o[1] = isinf(v); o[2] = isfinite(v); o[3] = isnormal(v); o[4] = signbit(v);
  o[5] = isnan(h) * 16 + isinf(h) * 8 + isfinite(h) * 4 + isnormal(h) * 2 + signbit(h);
  o[6] = isnan(b) * 16 + isinf(b) * 8 + isfinite(b) * 4 + isnormal(b) * 2 + signbit(b);
  o[7] = isordered(v, 1.0f) * 2 + isunordered(v, 1.0f);
  float3 f = float3(v, 1, 2);
  o[8] = any(isnan(f)) * 2 + all(isfinite(f)); o[9] = all(f > float3(0)) * 2 + any(f < float3(0));
  o[10] = select(3, 4, v > 0.0f); o[11] = (int)select(float2(1, 2), float2(3, 4), float2(v, 0) > float2(0)).x;
  o[12] = select(float2(1, 2), float2(3, 4), bool2(false, true)).y == 4; o[13] = all(bool4(true)) + any(bool4(false)) * 2;
  device float* q = g + i * 32;
  float3 a = float3(1, 2, 3), c = float3(-2, 0.5, 4);
  q[0] = dot(a, c); q[1] = length(c); q[2] = length_squared(c); q[3] = distance(a, c); q[4] = distance_squared(a, c);
  float3 u = normalize(c); q[5] = u.x; q[6] = u.y; q[7] = u.z;
  float3 k = cross(a, c); q[8] = k.x; q[9] = k.y; q[10] = k.z;
  float3 m = reflect(a, float3(0, 1, 0)); q[11] = m.x; q[12] = m.y; q[13] = m.z;
  float3 w = refract(normalize(float3(1, -1, 0)), float3(0, 1, 0), 0.5f); q[14] = w.x; q[15] = w.y;
  q[16] = refract(float3(1, 0, 0), float3(0, 1, 0), 2.0f).x;
  q[17] = faceforward(a, c, float3(1, 0, 0)).x; q[18] = faceforward(a, c, float3(-1, 0, 0)).x;
  q[19] = dot(half4(1, 2, 3, 4), half4(1)); q[20] = fast::length(float2(3, 4)); q[21] = precise::normalize(float2(0, 2)).y;
}`)
	values := []float32{1, -1, 0, float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()), float32(math.Copysign(0, -1)), 0x1p-20, 0x1p-126}
	in := make([]float32, 32)
	copy(in, values)
	r, g := pack(make([]int32, 32*16)), pack(make([]float32, 32*32))
	call(t, l, "relations", 32, 32, pack(in), r, g)
	ints, floats := unpack[int32](r), unpack[float32](g)
	b2i := func(b bool) int32 {
		if b {
			return 1
		}
		return 0
	}
	for i, v32 := range values {
		v := float64(v32)
		class := func(f format) int32 {
			x := f.round(v)
			normal := !math.IsNaN(x) && !math.IsInf(x, 0) && math.Abs(x) >= math.Ldexp(1, 2-1<<(f.exponent-1))
			return b2i(math.IsNaN(x))*16 + b2i(math.IsInf(x, 0))*8 + b2i(!math.IsNaN(x) && !math.IsInf(x, 0))*4 + b2i(normal)*2 + b2i(math.Signbit(x))
		}
		finite := !math.IsNaN(v) && !math.IsInf(v, 0)
		want := []int32{b2i(math.IsNaN(v)), b2i(math.IsInf(v, 0)), b2i(finite), b2i(finite && math.Abs(v) >= 0x1p-126), b2i(math.Signbit(v)),
			class(half), class(bfloat), b2i(!math.IsNaN(v))*2 + b2i(math.IsNaN(v)),
			b2i(math.IsNaN(v))*2 + b2i(finite), b2i(v > 0)*2 + b2i(v < 0), 3 + b2i(v > 0), 1 + 2*b2i(v > 0), 1, 1}
		if math.IsNaN(v) { // a NaN's sign is nobody's business
			want[4], want[5], want[6] = ints[i*16+4], ints[i*16+5]&1|16, ints[i*16+6]&1|16
		}
		for k, w := range want {
			if ints[i*16+k] != w {
				t.Errorf("relation %d of %v is %d, want %d", k, v, ints[i*16+k], w)
			}
		}
	}
	norm := math.Sqrt(4 + 0.25 + 16)
	s := math.Sqrt(0.5)
	want := []float64{-2 + 1 + 12, norm, norm * norm, math.Sqrt(9 + 2.25 + 1), 12.25, -2 / norm, 0.5 / norm, 4 / norm,
		2*4 - 3*0.5, 3*-2 - 1*4, 0.5 + 4, 1, -2, 3, 0.5 * s, -math.Sqrt(1 - 0.25*0.5), 0, 1, -1, 10, 5, 1}
	for k, w := range want {
		if off := single.off(float64(floats[k]), w); off > 3 {
			t.Errorf("geometric result %d is %v, want %v", k, floats[k], w)
		}
	}
}
