// Kernels of 32 threads; buffer 0 is the output, buffer 1 in[i] = i - 15.5.
// Right: out[i] = trunc(in[i]) + 2 for each: what C++ does not have for vectors.
#include <metal_stdlib>
using namespace metal;
#define KERNEL(name, ...) kernel void name(device float* out [[buffer(0)]], device const float* in [[buffer(1)]], uint i [[thread_position_in_grid]]) { float x = in[i]; __VA_ARGS__; }
template <typename V> V conv(float4 v) { return (V) v; }
template <typename V> V deduced(V like, float4 v) { return V(v); }
template <typename V> float4 back(V v) { return float4(v); }
template <typename T> struct Traits { typedef vec<T, 2> pair; using four = vec<T, 4>; typedef typename metal::conditional_t<true, int4, float> type; };
template <typename T> using four_of = vec<T, 4>;
struct A { typedef int4 v4i; struct B { using v2 = metal::int2; }; };
namespace ns { namespace in { typedef int4 v4i; } using in::v4i; }
struct Member { float2 v; int4 w; Member(float a, float b) : v(a, b), w(0, 1, 2, 3) {} Member(float a) : v(a), w(1) {} };
template <typename T, enable_if_t<(sizeof(T) < 8), bool> = true> T brackets(T a) { return a; }
template <typename T, enable_if_t<sizeof(T) < 8, bool> = true> T angle(T a) { return a; }
template <typename T, int N, typename = enable_if_t<N < 8>> T compared(T a) { return a + N; }
template <int N> struct Less { template <typename T, bool small = N < 4> T operator()(T a) { return small ? a : T(0); } };
template <typename T> typename Traits<T>::four member(float4 v) { return typename Traits<T>::four(v); }
template <typename T> float other(float4 v) { typedef typename Traits<T>::type W; return W(v).x; }
template <typename V> float two(float a, float b) { V v(a, b); return v.x + v.y; }
template <typename V> float sum(float a) { V v = V(a, 1); return v.x + v.y; }
template <typename V> float negated(float4 v) { return -(-(V)v).x; }
template <typename T> float either(T a) { return float(T(a)); }
typedef bfloat bf16; using fp16 = half;
constant float2 outer(1.0, 2.0);

KERNEL(c_cast, out[i] = float(conv<int4>(float4(x)).x) + 2)
KERNEL(functional_cast, out[i] = float(deduced(int4(0), float4(x)).y) + 2)
KERNEL(nested_casts, out[i] = ((float4)(int4)float4(x)).x + 2)
KERNEL(casts_and_calls, out[i] = (float4(int4(float4(x))) + (float4)(int4(2))).z)
KERNEL(minus_cast, out[i] = -(float4(2) - (-(float4)(int4)float4(x) + 4)).x + 4 + 2 - 2 + 0 * (float) x; out[i] = -(-(int4)float4(x)).x + 2)
KERNEL(not_cast, out[i] = trunc(x) + 2 * float((!(bool4)float4(0)).x))
KERNEL(cast_member, out[i] = ((int4)float4(x)).w + 2)
KERNEL(scalar_cast, out[i] = (float)(int4(float4(x))).x + 2)
KERNEL(alias_member, out[i] = float(A::v4i(float4(x)).x) + float(A::B::v2(2).y))
KERNEL(alias_cast, out[i] = float(((A::v4i)float4(x)).x) + 2)
KERNEL(alias_namespace, out[i] = float(ns::v4i(float4(x)).x) + float(ns::in::v4i(2).x))
KERNEL(alias_template, out[i] = float(four_of<int>(float4(x)).x) + four_of<float>(1, 2, 3, 4).y)
KERNEL(alias_traits, out[i] = float(Traits<int>::four(float4(x)).x) + Traits<float>::pair(1, 2).y)
KERNEL(dependent, out[i] = float(member<int>(float4(x)).x) + 2)
KERNEL(dependent_typedef, out[i] = other<int>(float4(x)) + 2)
KERNEL(direct, float2 v(trunc(x), 2.0f); out[i] = v.x + v.y)
KERNEL(direct_several, float4 v(trunc(x)), w(float2(1, 2), 3, 4), u = v + w; out[i] = u.y)
KERNEL(direct_const, const int4 v(float4(x)); out[i] = v.x + 2)
KERNEL(direct_vec, metal::vec<float, 2> v(trunc(x), 2); out[i] = v.x + v.y)
KERNEL(direct_alias, A::v4i v(float4(x)); out[i] = v.x + 2)
KERNEL(direct_outer, out[i] = trunc(x) + outer.y)
KERNEL(direct_template, out[i] = two<float2>(trunc(x), 2))
KERNEL(template_two, out[i] = sum<float2>(trunc(x)) + 1)
KERNEL(template_minus, out[i] = negated<int4>(float4(x)) + 2)
KERNEL(template_scalar, out[i] = trunc(either(x)) + 2 * either(half(1)))
KERNEL(qualified, metal::vec<float, 2> v = metal::vec<float, 2>(trunc(x), 2); out[i] = v.x + v.y)
KERNEL(qualified_global, ::metal::float2 v = ::metal::float2(trunc(x), 2); out[i] = v.x + v.y)
KERNEL(initializers, Member m(trunc(x), 2); out[i] = m.v.x + m.v.y + Member(1).w.x - 1 + m.w.x)
KERNEL(less, out[i] = brackets(angle(trunc(x))) + Less<3>()(2.0))
KERNEL(less_parameter, out[i] = compared<float, 2>(trunc(x)))
KERNEL(array_reference, float4 a[2] = {float4(trunc(x)), float4(2)}; float4 (&r)[2] = a; float4 (*p)[2] = &a; thread float4 (&s)[2] = a; out[i] = r[0].x + (*p)[1].y + 0 * s[0].x)
KERNEL(in_conditions, if (int2 v = int2(1, 2); v.y == 2) out[i] = trunc(x) + v.y)
KERNEL(sixteen_bits, bf16 b = bf16(fp16(trunc(x))); half h = half(bfloat(2)) + (half)b; h = fp16(b) + half(bf16(2.0)); out[i] = h)
