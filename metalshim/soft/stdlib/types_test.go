package stdlib_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// TestTypes is answered by the compiler: sizes, alignments, traits and limits
// as the specification's tables have them.
func TestTypes(t *testing.T) {
	var b strings.Builder
	size := map[string]int{"bool": 1, "char": 1, "uchar": 1, "short": 2, "ushort": 2, "int": 4, "uint": 4, "long": 8, "ulong": 8,
		"half": 2, "bfloat": 2, "float": 4, "size_t": 8, "ptrdiff_t": 8, "int8_t": 1, "uint16_t": 2, "int32_t": 4, "uint64_t": 8}
	for name, n := range size {
		fmt.Fprintf(&b, "static_assert(sizeof(%[1]s) == %[2]d && alignof(%[1]s) == %[2]d, \"%[1]s\");\n", name, n)
	}
	for _, name := range strings.Fields("char uchar short ushort int uint long ulong half bfloat float") {
		n := size[name]
		for k := 2; k <= 4; k++ {
			whole := n * k
			if k == 3 {
				whole = n * 4
			}
			fmt.Fprintf(&b, "static_assert(sizeof(%[1]s%[2]d) == %[3]d && alignof(%[1]s%[2]d) == %[3]d, \"%[1]s%[2]d\");\n", name, k, whole)
			fmt.Fprintf(&b, "static_assert(sizeof(packed_%[1]s%[2]d) == %[3]d && alignof(packed_%[1]s%[2]d) == %[4]d, \"packed_%[1]s%[2]d\");\n", name, k, n*k, n)
		}
	}
	for _, name := range []string{"float", "half"} {
		for c := 2; c <= 4; c++ {
			for r := 2; r <= 4; r++ {
				fmt.Fprintf(&b, "static_assert(sizeof(%[1]s%[2]dx%[3]d) == %[4]d, \"%[1]s%[2]dx%[3]d\");\n", name, c, r, c*size[name]*[]int{2, 4, 4}[r-2])
			}
		}
	}
	library(t, b.String()+`
static_assert(sizeof(bool2) == 2 && sizeof(bool3) == 4 && sizeof(bool4) == 4, "bool");
static_assert(is_same_v<decltype(1.0 * 1.0f), float>, "a number without suffix is a float");
static_assert(is_same_v<decltype(1.0h), half> && is_same_v<decltype(half(1) * half(2)), half> && is_same_v<decltype(half(1) * 1.0f), float>, "half");
static_assert(is_same_v<decltype(bfloat(1) * bfloat(2)), bfloat> && is_same_v<decltype(bfloat(1) * 1.0f), float>, "bfloat");
static_assert(is_floating_point<half>::value && is_floating_point_v<bfloat> && !is_floating_point_v<int> && is_integral_v<uchar> && is_signed_v<half> && is_unsigned_v<uint>, "traits");
static_assert(is_same_v<enable_if_t<true, int>, int> && is_same_v<conditional_t<false, int, float>, float> && is_same_v<remove_cv_t<const volatile int>, int>, "traits");
static_assert(is_same_v<remove_reference_t<int&>, int> && is_same_v<make_unsigned_t<int>, uint> && is_pointer_v<device int*> && is_same_v<metal::vec<float, 3>, float3>, "traits");
static_assert(vec_elements<float3>::value == 3 && true_type::value && !false_type() && bool_constant<true>(), "traits");
static_assert(numeric_limits<int>::max() == INT_MAX && numeric_limits<int>::min() == INT_MIN && numeric_limits<uint>::max() == UINT_MAX && numeric_limits<long>::lowest() == LONG_MIN, "limits");
static_assert(numeric_limits<uchar>::max() == UCHAR_MAX && numeric_limits<char>::min() == SCHAR_MIN && numeric_limits<short>::max() == SHRT_MAX, "limits");
static_assert(numeric_limits<float>::max() == FLT_MAX && numeric_limits<float>::lowest() == -FLT_MAX && numeric_limits<float>::min() == 0x1p-126f && numeric_limits<float>::epsilon() == 0x1p-23f, "limits");
static_assert(numeric_limits<half>::max() == 65504.0h && numeric_limits<half>::min() == 0x1p-14h && numeric_limits<half>::epsilon() == HALF_EPSILON, "limits");
static_assert(numeric_limits<bfloat>::max() == BFLOAT_MAX && numeric_limits<bfloat>::epsilon() == 0x1p-7bf && numeric_limits<float>::infinity() == INFINITY, "limits");
static_assert(M_PI_F > 3.14159f && M_PI_F < 3.1416f && M_SQRT2_F * M_SQRT1_2_F > 0.9999f && M_LOG2E_F * M_LN2_F > 0.9999f && CHAR_BIT == 8, "macros");
constexpr const uniform<int> steps = make_uniform(24);
static_assert(steps / make_uniform(7) == 3 && is_same_v<decltype(make_uniform(1.0h) * 2.0h), half>, "uniform");
#if __METAL_VERSION__ < 310 || !defined(__HAVE_BFLOAT__) || !defined(__METAL__)
#error version
#endif
`)
}

// TestConversions checks construction, casts, swizzles, as_type and packed
// vectors by value.
func TestConversions(t *testing.T) {
	l := library(t, `
struct Pair { packed_float3 a; float b; };
kernel void convert(device float* o, device Pair* p, device const uchar* bytes) {
  int k = 0;
  float4 v = float4(1, float2(2, 3), 4.0h);
  o[k++] = v.x; o[k++] = v.y; o[k++] = v.z; o[k++] = v.w;
  float3 w = v.wzy; w.xz = float2(7, 8); o[k++] = w.x; o[k++] = w.y; o[k++] = w.z;
  int3 n = int3(float3(1.9, -1.9, 2.5)); o[k++] = n.x; o[k++] = n.y; o[k++] = n.z;
  uchar4 u = uchar4(v * 60); o[k++] = u.w;
  half2 h = half2(v.xy * 1000.7f); o[k++] = h.x; o[k++] = h.y;
  bfloat2 b = bfloat2(h); o[k++] = b.x; o[k++] = b.y;
  o[k++] = (float2(3.5)).y; o[k++] = ((float3) 2).z; o[k++] = ((int2) float2(2.7, -2.7)).y; o[k++] = static_cast<float>(static_cast<half>(bfloat(1.5)));
  o[k++] = as_type<float>(0x40490fdbu); o[k++] = as_type<uint>(1.0f) == 0x3f800000u; o[k++] = as_type<half2>(0x3c004000u).x; o[k++] = as_type<uchar4>(0x01020304u).w;
  o[k++] = as_type<ushort>(half(-2)); o[k++] = as_type<float2>(as_type<ulong>(float2(5, 6))).y;
  bool3 t = bool3(float3(0, 0.5, -1)); o[k++] = t.x + t.y * 2 + t.z * 4; o[k++] = float2(bool2(true, false)).x;
  Pair q = *p; q.a += float3(1, 2, 3); q.a = packed_float3(q.a * 2.0f); p[1] = q; o[k++] = q.a[1] + q.a.z + q.b;
  packed_char4 c = *(device const packed_char4*)(bytes + 1); o[k++] = c[0]; o[k++] = float4(c).w;
  vec<half, 4> y = vec<half, 4>(1, 2, 3, 4); o[k++] = y.wzyx[0];
  using F4 = vec<float, 4>; o[k++] = F4(v.xy, v.xy).w;
  float2 neg = -float2(1, 2) + 2 * float2(1, 2); o[k++] = neg.y; float2 inc = 1; inc += float2(1, 2); inc *= 2; o[k++] = inc.y;
  int4 cmp = int4(1, 2, 3, 4) > int4(2); bool4 m = float4(1, 2, 3, 4) > float4(2); o[k++] = m.y + m.z * 2 + all(m || !m) * 4; o[k++] = any(cmp != 0) + all(int4(1, 2, 3, 4) > int4(0)) * 2;
  uint2 sh = uint2(1, 2) << 3; o[k++] = sh.x + sh.y; o[k++] = (ushort4(65535) + ushort4(2)).x; o[k++] = int(short(40000));
  o[k++] = uint(3.99f); o[k++] = float(0xffffffffu); o[k++] = half(1.0 / 3.0); o[k++] = bfloat(1.0 / 3.0);
  o[k++] = metal::float2(1, 2).y; o[k++] = float4(1).w; o[k++] = float4(0).x;
}`)
	o := pack(make([]float32, 64))
	pairs := pack([]float32{1, 2, 3, 10, 0, 0, 0, 0})
	call(t, l, "convert", 1, 1, o, pairs, []byte{0, 0xff, 2, 3, 0x80, 0, 0, 0})
	third := half.round(1.0 / 3)
	thirdB := bfloat.round(float64(float32(1.0 / 3)))
	want := []float64{1, 2, 3, 4, 7, 3, 8, 1, -1, 2, 240, half.round(float64(float32(1000.7))), half.round(float64(float32(2001.4))),
		bfloat.round(half.round(float64(float32(1000.7)))), bfloat.round(half.round(float64(float32(2001.4)))),
		3.5, 2, -2, 1.5, float64(float32(math.Pi)), 1, 2, 1, 0xc000, 6, 6, 1, 8 + 12 + 10, -1, -128, 4, 2, 2, 6, 6, 3, 24, 1, -25536,
		3, 4294967296, third, thirdB, 2, 1, 0}
	got := unpack[float32](o)
	for k, w := range want {
		if float64(got[k]) != w {
			t.Errorf("result %d is %v, want %v", k, got[k], w)
		}
	}
	if p := unpack[float32](pairs); p[4] != 4 || p[5] != 8 || p[6] != 12 || p[7] != 10 {
		t.Errorf("packed pair %v, want 4 8 12 10", p[4:])
	}
}

// TestMatrix checks every operation on matrices by value.
func TestMatrix(t *testing.T) {
	l := library(t, `
template <typename M> void put(M m, int c, int r, device float*& o) { for (int i = 0; i < c; i++) for (int j = 0; j < r; j++) *o++ = m[i][j]; }
kernel void matrices(device float* o) {
  float2x3 a = float2x3(float3(1, 2, 3), float3(4, 5, 6));
  float3x2 b = float3x2(1, 2, 3, 4, 5, 6);
  put(a + a, 2, 3, o); put(a - 2.0f * a, 2, 3, o); put(-a, 2, 3, o); put(a * b, 3, 3, o); put(b * a, 2, 2, o); put(transpose(a), 3, 2, o);
  float3 v = a * float2(1, 2); *o++ = v.x; *o++ = v.y; *o++ = v.z;
  float2 w = float3(1, 2, 3) * a; *o++ = w.x; *o++ = w.y;
  put(float3x3(2.0f), 3, 3, o);
  *o++ = determinant(float2x2(1, 2, 3, 5)); *o++ = determinant(float3x3(float3(2, 0, 1), float3(1, 3, 2), float3(1, 1, 4)));
  *o++ = determinant(float4x4(float4(1, 2, 3, 4), float4(0, 2, 5, 6), float4(1, 0, 3, 7), float4(2, 1, 0, 4)));
  half4x4 h = half4x4(half4(1, 2, 3, 4), half4(5, 6, 7, 8), half4(9, 10, 11, 12), half4(13, 14, 15, 16));
  float4x4 f = float4x4(h); f[1][2] += 0.5f; f[3] = float4(1); put(f, 4, 4, o);
  f *= 2.0f; f -= float4x4(h); *o++ = f[1].z; *o++ = f == f; *o++ = f != f; h = f; *o++ = h[1].z;
  float4 q = float4(1, 1, 1, 1) * float4x4(h); *o++ = q.y;
}`)
	o := pack(make([]float32, 128))
	call(t, l, "matrices", 1, 1, o)
	var want []float64
	// columns of a: (1,2,3) (4,5,6); of b: (1,2) (3,4) (5,6)
	a := [][]float64{{1, 2, 3}, {4, 5, 6}}
	b := [][]float64{{1, 2}, {3, 4}, {5, 6}}
	for _, s := range []float64{2, -1, -1} {
		for _, c := range a {
			for _, v := range c {
				want = append(want, s*v)
			}
		}
	}
	product := func(a, b [][]float64) {
		for _, column := range b {
			for r := range a[0] {
				var sum float64
				for k := range a {
					sum += a[k][r] * column[k]
				}
				want = append(want, sum)
			}
		}
	}
	product(a, b)
	product(b, a)
	want = append(want, 1, 4, 2, 5, 3, 6)
	want = append(want, 9, 12, 15, 14, 32)
	want = append(want, 2, 0, 0, 0, 2, 0, 0, 0, 2)
	// 1·5 − 3·2; 2(12−2) − 1(0−1) + 1(0−3); by expansion 15
	want = append(want, -1, 18, det4([4][4]float64{{1, 2, 3, 4}, {0, 2, 5, 6}, {1, 0, 3, 7}, {2, 1, 0, 4}}))
	for i := range 12 {
		v := float64(i + 1)
		if i == 6 {
			v += 0.5
		}
		want = append(want, v)
	}
	want = append(want, 1, 1, 1, 1)
	want = append(want, 8, 1, 0, 8)
	want = append(want, 5+6+8+8)
	got := unpack[float32](o)
	for k, w := range want {
		if float64(got[k]) != w {
			t.Errorf("element %d is %v, want %v", k, got[k], w)
		}
	}
}

// det4 is a determinant by Gauss elimination.
func det4(m [4][4]float64) float64 {
	d := 1.0
	for i := range m {
		p := i
		for r := i; r < 4; r++ {
			if math.Abs(m[r][i]) > math.Abs(m[p][i]) {
				p = r
			}
		}
		if p != i {
			m[i], m[p] = m[p], m[i]
			d = -d
		}
		d *= m[i][i]
		for r := i + 1; r < 4; r++ {
			f := m[r][i] / m[i][i]
			for c := i; c < 4; c++ {
				m[r][c] -= f * m[i][c]
			}
		}
	}
	return math.Round(d*1e9) / 1e9
}
