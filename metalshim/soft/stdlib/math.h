// <metal_math> and <metal_common>. Every function is computed in single
// precision; half and bfloat arguments are widened and the result is rounded
// once. The accuracy keeps the limits of the specification's table for
// precise functions (8.2: exp 4 ulp, tanh 5 ulp, the others of the C library
// within 1 ulp), which are tighter than those for the fast ones, so that
// metal::, fast:: and precise:: may share one text. exp, exp2 and tanh, which
// stand in every attention and activation, are free of branches and calls, so
// that all lanes compute them at once.
namespace metal {
namespace msl_m {
MSL_FN float bits(uint u) { return __builtin_bit_cast(float, u); }
MSL_FN uint bits(float f) { return __builtin_bit_cast(uint, f); }

// power2 is 2^n for −126 ≤ n ≤ 127.
MSL_FN float power2(int n) { return bits((uint)(n + 127) << 23); }

// expf and exp2f: e^x = 2^n · e^f with |f| ≤ ln 2 / 2, e^f by the polynomial of
// Cephes' expf (Moshier), error below 1 ulp; results under the smallest normal
// number are 0, as denormals are flushed.
MSL_FN float exp_reduced(float f, float n) {
#pragma clang fp reassociate(off) contract(off)
  float p = 1.9875691500e-4f;
  p = __builtin_fmaf(p, f, 1.3981999507e-3f);
  p = __builtin_fmaf(p, f, 8.3334519073e-3f);
  p = __builtin_fmaf(p, f, 4.1665795894e-2f);
  p = __builtin_fmaf(p, f, 1.6666665459e-1f);
  p = __builtin_fmaf(p, f, 5.0000001201e-1f);
  p = __builtin_fmaf(p, f * f, f) + 1.0f;
  // Two steps, because 2^128 is no float.
  int k = (int)n;
  return p * power2(k >> 1) * power2(k - (k >> 1));
}
MSL_FN float exp(float x) {
#pragma clang fp reassociate(off) contract(off)
  float y = x < -87.4f ? -87.4f : x;
  y = y > 88.8f ? 88.8f : y;
  float n = __builtin_rintf(y * 1.44269504088896341f);
  float f = __builtin_fmaf(n, -0.693359375f, y);
  f = __builtin_fmaf(n, 2.12194440e-4f, f);
  float r = exp_reduced(f, n);
  r = x < -87.33654f ? 0.0f : r;
  r = x > 88.72283f ? __builtin_inff() : r;
  return x != x ? x : r;
}
MSL_FN float exp2(float x) {
#pragma clang fp reassociate(off) contract(off)
  float y = x < -127.0f ? -127.0f : x;
  y = y > 128.5f ? 128.5f : y;
  float n = __builtin_rintf(y);
  float r = exp_reduced((y - n) * 0.693147180559945309f, n);
  r = x < -126.0f ? 0.0f : r;
  r = x >= 128.0f ? __builtin_inff() : r;
  return x != x ? x : r;
}
// tanh: below 0.625 Cephes' polynomial in x², above 1 − 2 / (e^2x + 1).
MSL_FN float tanh(float x) {
#pragma clang fp reassociate(off) contract(off)
  float a = __builtin_fabsf(x), z = a * a;
  float p = -5.70498872745e-3f;
  p = __builtin_fmaf(p, z, 2.06390887954e-2f);
  p = __builtin_fmaf(p, z, -5.37397155531e-2f);
  p = __builtin_fmaf(p, z, 1.33314422036e-1f);
  p = __builtin_fmaf(p, z, -3.33332819422e-1f);
  float small = __builtin_fmaf(p * z, a, a);
  float large = 1.0f - 2.0f / (exp(2.0f * a) + 1.0f);
  float r = __builtin_copysignf(a < 0.625f ? small : large, x);
  return x != x ? x : r;
}
// rsqrt is not left to the processor's estimate, which has no infinity at 0.
MSL_FN float rsqrt(float x) {
#pragma clang fp reciprocal(off)
  return 1.0f / __builtin_sqrtf(x);
}
// fract stays below 1, in each type.
MSL_FN float fract(float x, float most) {
  float f = x - __builtin_floorf(x);
  return f > most ? most : f;
}
// sinpi and cospi reduce exactly, to |r| ≤ 1/2 half turns.
MSL_FN float sinpi(float x) {
  float r = x - 2.0f * __builtin_rintf(x * 0.5f);
  r = r > 0.5f ? 1.0f - r : r < -0.5f ? -1.0f - r : r;
  return (float)__builtin_sin((double)r * 3.14159265358979323846);
}
MSL_FN float cospi(float x) {
  float r = __builtin_fabsf(x - 2.0f * __builtin_rintf(x * 0.5f));
  return (float)__builtin_sin((0.5 - (double)r) * 3.14159265358979323846);
}
MSL_FN float ldexp(float x, int n) {
#pragma clang fp reassociate(off)
  n = n > 260 ? 260 : n < -260 ? -260 : n;
  int a = n / 3, b = n - 2 * a;
  return x * power2(a) * power2(a) * power2(b);
}
MSL_FN int exponent(float x) { return (int)(bits(x) >> 23 & 255) - 127; }
MSL_FN float nextafter(float x, float y) {
  if (x != x || y != y) return x + y;
  if (x == y) return y;
  if (x == 0.0f) return __builtin_copysignf(bits(1u), y);
  uint u = bits(x);
  return bits((x < y) == (x > 0.0f) ? u + 1 : u - 1);
}
}

// Functions of bfloat are templates, so that a source may add its own.
#define MSL_BFLOAT template <class B, enable_if_t<is_same_v<B, bfloat>, int> = 0> MSL_FN

// One argument: name(x) for float x, and from it all the other types.
#define MSL_LIFT1(name) \
  MSL_FN half name(half x) { return (half)name((float)x); } \
  MSL_BFLOAT B name(B x) { return (B)name((float)x); } \
  template <class V, class = enable_if_t<msl_v::is<V>>> MSL_FN V name(V v) { \
    V r; \
    for (int i = 0; i < msl_v::count<V>; i++) r[i] = name((msl_v::el<V>)v[i]); \
    return r; \
  } \
  template <class I, class = enable_if_t<is_integral_v<I>>, class = void> MSL_FN float name(I v) { return name((float)v); }
#define MSL_MATH1(name, expression) \
  MSL_FN float name(float x) { return expression; } \
  MSL_LIFT1(name)
MSL_MATH1(exp, msl_m::exp(x))
MSL_MATH1(exp2, msl_m::exp2(x))
MSL_MATH1(exp10, (float)__builtin_exp2((double)x * 3.32192809488736234787))
MSL_MATH1(log, __builtin_logf(x))
MSL_MATH1(log2, __builtin_log2f(x))
MSL_MATH1(log10, __builtin_log10f(x))
MSL_MATH1(sin, __builtin_sinf(x))
MSL_MATH1(cos, __builtin_cosf(x))
MSL_MATH1(tan, __builtin_tanf(x))
MSL_MATH1(sinpi, msl_m::sinpi(x))
MSL_MATH1(cospi, msl_m::cospi(x))
MSL_MATH1(tanpi, msl_m::sinpi(x) / msl_m::cospi(x))
MSL_MATH1(asin, __builtin_asinf(x))
MSL_MATH1(acos, __builtin_acosf(x))
MSL_MATH1(atan, __builtin_atanf(x))
MSL_MATH1(sinh, __builtin_sinhf(x))
MSL_MATH1(cosh, __builtin_coshf(x))
MSL_MATH1(tanh, msl_m::tanh(x))
MSL_MATH1(asinh, __builtin_asinhf(x))
MSL_MATH1(acosh, __builtin_acoshf(x))
MSL_MATH1(atanh, __builtin_atanhf(x))
MSL_MATH1(sqrt, __builtin_sqrtf(x))
MSL_MATH1(rsqrt, msl_m::rsqrt(x))
MSL_MATH1(ceil, __builtin_ceilf(x))
MSL_MATH1(floor, __builtin_floorf(x))
MSL_MATH1(trunc, __builtin_truncf(x))
MSL_MATH1(round, __builtin_roundf(x))
MSL_MATH1(rint, __builtin_rintf(x))
MSL_FN float fract(float x) { return msl_m::fract(x, 0x1.fffffep-1f); }
MSL_FN half fract(half x) { return (half)msl_m::fract((float)x, 0x1.ffcp-1f); }
MSL_BFLOAT B fract(B x) { return (bfloat)msl_m::fract((float)x, 0x1.fep-1f); }
template <class V, class = enable_if_t<msl_v::is<V>>> MSL_FN V fract(V v) {
  V r;
  for (int i = 0; i < msl_v::count<V>; i++) r[i] = fract((msl_v::el<V>)v[i]);
  return r;
}
MSL_MATH1(fabs, __builtin_fabsf(x))
MSL_MATH1(saturate, (x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f))
MSL_MATH1(sign, (x > 0.0f ? 1.0f : x < 0.0f ? -1.0f : x == x ? x : 0.0f))

// common is the type that two arguments are computed in: the vector if one is
// a vector, else what C++'s conversions give.
template <class A, class B, bool = msl_v::is<A>, bool = msl_v::is<B>> struct msl_common {
  typedef decltype(true ? A() : B()) type;
};
template <class A> struct msl_common<A, A, false, false> { typedef A type; };
template <class A, class B> struct msl_common<A, B, true, false> { typedef A type; };
template <class A, class B> struct msl_common<A, B, false, true> { typedef B type; };
template <class A, class B> struct msl_common<A, B, true, true> { typedef A type; };
template <class A, class B> using msl_common_t = typename msl_common<msl_v::bare<A>, msl_v::bare<B>>::type;

// Two arguments: name(x, y) for floats, and from it all the other types.
#define MSL_MATH2(name, expression) \
  MSL_FN float name(float x, float y) { return expression; } \
  template <class A, class B, class C = msl_common_t<A, B>> MSL_FN C name(A a, B b) { \
    if constexpr (msl_v::is<C>) { \
      C x = msl_v::convert<C>(a), y = msl_v::convert<C>(b), r; \
      for (int i = 0; i < msl_v::count<C>; i++) r[i] = (msl_v::el<C>)name((float)x[i], (float)y[i]); \
      return r; \
    } else if constexpr (is_integral_v<C>) return (C)name((float)a, (float)b); \
    else return (C)name((float)a, (float)b); \
  }
MSL_MATH2(pow, __builtin_powf(x, y))
MSL_MATH2(powr, __builtin_powf(x, y))
MSL_MATH2(atan2, __builtin_atan2f(x, y))
MSL_MATH2(fmod, __builtin_fmodf(x, y))
MSL_MATH2(copysign, __builtin_copysignf(x, y))
MSL_MATH2(fdim, (x > y ? x - y : x <= y ? 0.0f : x + y))
MSL_MATH2(divide, x / y)
MSL_MATH2(step, (y < x ? 0.0f : 1.0f))
MSL_FN float nextafter(float x, float y) { return msl_m::nextafter(x, y); }

// Results through a reference.
#define MSL_OUT(name, second, expression) \
  MSL_FN float name(float x, second& out) { expression } \
  MSL_FN half name(half h, conditional_t<is_same_v<second, int>, int, half>& o) { second t; half r = (half)name((float)h, t); o = (msl_v::bare<decltype(o)>)t; return r; }
MSL_OUT(sincos, float, out = __builtin_cosf(x); return __builtin_sinf(x);)
MSL_OUT(modf, float, out = __builtin_truncf(x); return __builtin_isinf(x) ? __builtin_copysignf(0.0f, x) : x - out;)
MSL_OUT(frexp, int,
  if (x == 0.0f || x != x || __builtin_isinf(x)) { out = 0; return x; }
  float y = __builtin_fabsf(x) < 0x1p-126f ? x * 0x1p64f : x; int less = y == x ? 0 : 64;
  out = msl_m::exponent(y) + 1 - less;
  return msl_m::bits((msl_m::bits(y) & 0x807fffffu) | 0x3f000000u);)
template <class V, class = enable_if_t<msl_v::is<V>>> MSL_FN V sincos(V v, V& c) {
  c = cos(v);
  return sin(v);
}
template <class V, class = enable_if_t<msl_v::is<V>>> MSL_FN V modf(V v, V& whole) {
  whole = trunc(v);
  return v - whole;
}
MSL_FN float ldexp(float x, int n) { return msl_m::ldexp(x, n); }
MSL_FN half ldexp(half x, int n) { return (half)msl_m::ldexp((float)x, n); }
MSL_BFLOAT B ldexp(B x, int n) { return (bfloat)msl_m::ldexp((float)x, n); }
template <class V, class K, class = enable_if_t<msl_v::is<V>>> MSL_FN V ldexp(V v, K n) {
  V r;
  for (int i = 0; i < msl_v::count<V>; i++) r[i] = ldexp((msl_v::el<V>)v[i], (int)n[i]);
  return r;
}
MSL_FN int ilogb(float x) {
  if (x == 0.0f) return -2147483647 - 1;
  if (x != x || __builtin_isinf(x)) return 2147483647;
  return __builtin_fabsf(x) < 0x1p-126f ? msl_m::exponent(x * 0x1p64f) - 64 : msl_m::exponent(x);
}
MSL_FN int ilogb(half x) { return ilogb((float)x); }
MSL_BFLOAT int ilogb(B x) { return ilogb((float)x); }

// fma rounds once, in the type of its arguments.
MSL_FN float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
MSL_FN half fma(half a, half b, half c) { return (half)((double)a * (double)b + (double)c); }
MSL_BFLOAT B fma(B a, B b, B c) { return (bfloat)__builtin_fmaf((float)a, (float)b, (float)c); }
template <class P, class Q, class R, class V = msl_common_t<msl_common_t<P, Q>, R>, class = enable_if_t<msl_v::is<V>>> MSL_FN V fma(P p, Q q, R s) {
  V a = msl_v::convert<V>(p), b = msl_v::convert<V>(q), c = msl_v::convert<V>(s);
  V r;
  for (int i = 0; i < msl_v::count<V>; i++) r[i] = fma((msl_v::el<V>)a[i], (msl_v::el<V>)b[i], (msl_v::el<V>)c[i]);
  return r;
}

// ---- minimum, maximum and what is made of them, for all types
template <class T> MSL_FN constexpr T msl_min(T x, T y) {
  if constexpr (msl_v::is<T>) {
    T r = x;
    for (int i = 0; i < msl_v::count<T>; i++) r[i] = msl_min((msl_v::el<T>)x[i], (msl_v::el<T>)y[i]);
    return r;
  } else if constexpr (is_floating_point_v<T>) return y < x || x != x ? y : x;
  else return y < x ? y : x;
}
template <class T> MSL_FN constexpr T msl_max(T x, T y) {
  if constexpr (msl_v::is<T>) {
    T r = x;
    for (int i = 0; i < msl_v::count<T>; i++) r[i] = msl_max((msl_v::el<T>)x[i], (msl_v::el<T>)y[i]);
    return r;
  } else if constexpr (is_floating_point_v<T>) return x < y || x != x ? y : x;
  else return x < y ? y : x;
}
#define MSL_MINMAX(name, which) \
  template <class A, class B, class C = msl_common_t<A, B>> MSL_FN constexpr C name(A a, B b) { \
    return which(msl_v::convert<C>(a), msl_v::convert<C>(b)); \
  }
MSL_MINMAX(min, msl_min)
MSL_MINMAX(max, msl_max)
MSL_MINMAX(fmin, msl_min)
MSL_MINMAX(fmax, msl_max)
template <class T> MSL_FN constexpr T min3(T a, T b, T c) { return msl_min(a, msl_min(b, c)); }
template <class T> MSL_FN constexpr T max3(T a, T b, T c) { return msl_max(a, msl_max(b, c)); }
template <class T> MSL_FN constexpr T median3(T a, T b, T c) { return msl_max(msl_min(a, b), msl_min(msl_max(a, b), c)); }
template <class T> MSL_FN constexpr T fmin3(T a, T b, T c) { return min3(a, b, c); }
template <class T> MSL_FN constexpr T fmax3(T a, T b, T c) { return max3(a, b, c); }
template <class T> MSL_FN constexpr T fmedian3(T a, T b, T c) { return median3(a, b, c); }
template <class T, class L, class H> MSL_FN constexpr T clamp(T v, L low, H high) {
  return msl_min(msl_max(v, msl_v::convert<T>(low)), msl_v::convert<T>(high));
}
template <class P, class Q, class A, class T = msl_common_t<P, Q>> MSL_FN T mix(P p, Q q, A a) {
  T x = msl_v::convert<T>(p), y = msl_v::convert<T>(q);
  return x + (y - x) * msl_v::convert<T>(a);
}
template <class L, class H, class X, class T = msl_common_t<msl_common_t<L, H>, X>> MSL_FN T smoothstep(L l, H h, X v) {
  T low = msl_v::convert<T>(l), high = msl_v::convert<T>(h), x = msl_v::convert<T>(v);
  T t = clamp((x - low) / (high - low), msl_v::el<T>(0), msl_v::el<T>(1));
  return t * t * (msl_v::el<T>(3) - msl_v::el<T>(2) * t);
}

#define MSL_PRECISIONS(DO) \
  DO(exp) DO(exp2) DO(exp10) DO(log) DO(log2) DO(log10) DO(sin) DO(cos) DO(tan) DO(sinpi) DO(cospi) DO(tanpi) DO(asin) DO(acos) \
  DO(atan) DO(atan2) DO(sinh) DO(cosh) DO(tanh) DO(asinh) DO(acosh) DO(atanh) DO(sqrt) DO(rsqrt) DO(ceil) DO(floor) DO(trunc) \
  DO(round) DO(rint) DO(fract) DO(fabs) DO(saturate) DO(sign) DO(pow) DO(powr) DO(fmod) DO(copysign) DO(fdim) DO(divide) \
  DO(step) DO(sincos) DO(modf) DO(frexp) DO(ldexp) DO(ilogb) DO(fma) DO(min) DO(max) DO(fmin) DO(fmax) DO(min3) DO(max3) \
  DO(median3) DO(fmin3) DO(fmax3) DO(fmedian3) DO(clamp) DO(mix) DO(smoothstep) DO(abs) DO(normalize) DO(length) DO(distance)
} // namespace metal
