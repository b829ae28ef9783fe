// <metal_integer>, <metal_relational> and <metal_geometric>, for scalars and
// vectors.
namespace metal {
#define MSL_EACH1(name, type, condition, expression) \
  template <class T, class = enable_if_t<condition>> MSL_FN constexpr type name(T x) { \
    if constexpr (msl_v::is<T>) { \
      type r = {}; \
      for (int i = 0; i < msl_v::count<T>; i++) r[i] = name((msl_v::el<T>)x[i]); \
      return r; \
    } else return expression; \
  }
#define MSL_EACH2(name, expression) \
  template <class T, class = enable_if_t<is_integral_v<msl_v::el<T>>>> MSL_FN constexpr T name(T x, T y) { \
    if constexpr (msl_v::is<T>) { \
      T r = {}; \
      for (int i = 0; i < msl_v::count<T>; i++) r[i] = name((msl_v::el<T>)x[i], (msl_v::el<T>)y[i]); \
      return r; \
    } else { expression } \
  }
#define MSL_EACH3(name, expression) \
  template <class T, class = enable_if_t<is_integral_v<msl_v::el<T>>>> MSL_FN constexpr T name(T x, T y, T z) { \
    if constexpr (msl_v::is<T>) { \
      T r = {}; \
      for (int i = 0; i < msl_v::count<T>; i++) r[i] = name((msl_v::el<T>)x[i], (msl_v::el<T>)y[i], (msl_v::el<T>)z[i]); \
      return r; \
    } else return expression; \
  }
#define MSL_IS_INT is_integral_v<msl_v::el<T>>
#define MSL_BITS int(sizeof(T) * 8)
#define MSL_U make_unsigned_t<T>

MSL_FN float abs(float x) { return __builtin_fabsf(x); }
MSL_FN half abs(half x) { return as_type<half>((ushort)(as_type<ushort>(x) & 0x7fff)); }
MSL_BFLOAT B abs(B x) { return as_type<bfloat>((ushort)(as_type<ushort>(x) & 0x7fff)); }
template <class T, class = enable_if_t<is_integral_v<T>>> MSL_FN constexpr T abs(T x) { return x < T(0) ? T(-x) : x; }
template <class V, class = enable_if_t<msl_v::is<V>>, class = void> MSL_FN V abs(V v) {
  V r;
  for (int i = 0; i < msl_v::count<V>; i++) r[i] = abs((msl_v::el<V>)v[i]);
  return r;
}
MSL_EACH1(clz, T, MSL_IS_INT, (x == 0 ? T(MSL_BITS) : sizeof(T) == 8 ? T(__builtin_clzl((ulong)x)) : T(__builtin_clz((uint)(MSL_U)x) - (32 - MSL_BITS))))
MSL_EACH1(ctz, T, MSL_IS_INT, (x == 0 ? T(MSL_BITS) : T(__builtin_ctzl((ulong)x))))
MSL_EACH1(popcount, T, MSL_IS_INT, T(__builtin_popcountl((ulong)(MSL_U)x)))
MSL_EACH1(reverse_bits, T, MSL_IS_INT,
  (sizeof(T) == 8 ? T(__builtin_bitreverse64((ulong)x)) : sizeof(T) == 4 ? T(__builtin_bitreverse32((uint)x))
   : sizeof(T) == 2 ? T(__builtin_bitreverse16((ushort)x)) : T(__builtin_bitreverse8((uchar)x))))
MSL_EACH2(absdiff, return x > y ? T((MSL_U)x - (MSL_U)y) : T((MSL_U)y - (MSL_U)x);)
MSL_EACH2(addsat, T r; return !__builtin_add_overflow(x, y, &r) ? r : y < T(0) ? numeric_limits<T>::min() : numeric_limits<T>::max();)
MSL_EACH2(subsat, T r; return !__builtin_sub_overflow(x, y, &r) ? r : is_unsigned_v<T> || y > T(0) ? numeric_limits<T>::min() : numeric_limits<T>::max();)
MSL_EACH2(hadd, return T((x & y) + ((x ^ y) >> 1));)
MSL_EACH2(rhadd, return T((x | y) - ((x ^ y) >> 1));)
MSL_EACH2(mulhi,
  if constexpr (sizeof(T) == 8) { if constexpr (is_signed_v<T>) return T((__int128)x * y >> 64); else return T((unsigned __int128)x * y >> 64); }
  else return T(((conditional_t<is_signed_v<T>, long, ulong>)x * y) >> (MSL_BITS & 63));)
MSL_EACH2(rotate, int n = int(y) & (MSL_BITS - 1); return n == 0 ? x : T((MSL_U)x << n | (MSL_U)x >> (MSL_BITS - n));)
MSL_EACH2(mul24, return T(is_signed_v<T> ? T(((int)x << 8 >> 8) * ((int)y << 8 >> 8)) : T(((uint)x & 0xffffff) * ((uint)y & 0xffffff)));)
MSL_EACH3(madhi, T(mulhi(x, y) + z))
MSL_EACH3(mad24, T(mul24(x, y) + z))
template <class T> MSL_FN constexpr T msl_madsat(T x, T y, T z) {
  __int128 r = (__int128)x * y + z;
  return r > numeric_limits<T>::max() ? numeric_limits<T>::max() : r < numeric_limits<T>::min() ? numeric_limits<T>::min() : T(r);
}
MSL_EACH3(madsat, msl_madsat(x, y, z))
template <class T> MSL_FN constexpr T extract_bits(T x, uint offset, uint n) {
  if constexpr (msl_v::is<T>) {
    T r = {};
    for (int i = 0; i < msl_v::count<T>; i++) r[i] = extract_bits((msl_v::el<T>)x[i], offset, n);
    return r;
  } else return n == 0 ? T(0) : T(T((MSL_U)x << (MSL_BITS - offset - n)) >> (MSL_BITS - n));
}
template <class T> MSL_FN constexpr T insert_bits(T base, T insert, uint offset, uint n) {
  if constexpr (msl_v::is<T>) {
    T r = {};
    for (int i = 0; i < msl_v::count<T>; i++) r[i] = insert_bits((msl_v::el<T>)base[i], (msl_v::el<T>)insert[i], offset, n);
    return r;
  } else {
    ulong mask = n >= 64 ? ~0ul : ((1ul << n) - 1) << offset;
    return T(((ulong)base & ~mask) | ((ulong)insert << offset & mask));
  }
}

// ---- relational. A comparison of clang's vectors gives integers, 0 or −1;
// these functions take such a mask for MSL's bool vector.
namespace msl_v {
template <class V> using mask = conditional_t<count<V> == 2, bool2, conditional_t<count<V> == 3, bool3, conditional_t<count<V> == 4, bool4, bool>>>;
}
// The rewriter writes a > msl_each > b for a > b, and msl_not->* a for !a, where it
// matters whether the result is a vector of bool.
struct msl_each_t {};
constexpr msl_each_t msl_each;
template <class A> struct msl_left { A a; };
#define MSL_COMPARE(op) \
  template <class A> MSL_FN constexpr msl_left<A> operator op(A a, msl_each_t) { return {a}; } \
  template <class A, class B> MSL_FN constexpr auto operator op(msl_left<A> l, B b) { \
    if constexpr (is_pointer_v<A> && is_integral_v<B>) return l.a op (A)b; \
    else { \
      auto r = msl_v::plain(l.a) op msl_v::plain(b); \
      if constexpr (msl_v::is<decltype(r)>) return msl_v::mask<decltype(r)>(r); \
      else return r; \
    } \
  }
MSL_COMPARE(<) MSL_COMPARE(>) MSL_COMPARE(<=) MSL_COMPARE(>=) MSL_COMPARE(==) MSL_COMPARE(!=)
struct msl_not_t {};
constexpr msl_not_t msl_not;
template <class A> MSL_FN constexpr auto operator->*(msl_not_t, A a) {
  if constexpr (msl_v::is<A>) return !msl_v::mask<A>(a);
  else return !a;
}
template <class T> MSL_FN bool all(T v) {
  if constexpr (!msl_v::is<T>) return v;
  else {
    bool r = true;
    for (int i = 0; i < msl_v::count<T>; i++) r = r && v[i];
    return r;
  }
}
template <class T> MSL_FN bool any(T v) {
  if constexpr (!msl_v::is<T>) return v;
  else {
    bool r = false;
    for (int i = 0; i < msl_v::count<T>; i++) r = r || v[i];
    return r;
  }
}
template <class A, class B, class C, class T = msl_common_t<A, B>> MSL_FN T select(A a, B b, C c) {
  if constexpr (msl_v::is<T> && msl_v::is<C>) {
    T x = msl_v::convert<T>(a), y = msl_v::convert<T>(b);
    for (int i = 0; i < msl_v::count<T>; i++) x[i] = c[i] ? y[i] : x[i];
    return x;
  } else return c ? msl_v::convert<T>(b) : msl_v::convert<T>(a);
}
#define MSL_CLASSIFY(name, expression) \
  MSL_FN bool name(float x) { uint u = __builtin_bit_cast(uint, x), a = u & 0x7fffffff; return expression; } \
  MSL_FN bool name(half x) { return name((float)x); } \
  MSL_BFLOAT bool name(B x) { return name((float)x); } \
  template <class V, class = enable_if_t<msl_v::is<V>>> MSL_FN msl_v::mask<V> name(V v) { \
    msl_v::mask<V> r; \
    for (int i = 0; i < msl_v::count<V>; i++) r[i] = name((msl_v::el<V>)v[i]); \
    return r; \
  } \
  template <class I, class = enable_if_t<is_integral_v<I>>, class = void> MSL_FN bool name(I v) { return name((float)v); }
MSL_CLASSIFY(isnan, (a > 0x7f800000 && u == u))
MSL_CLASSIFY(isinf, (a == 0x7f800000 && u == u))
MSL_CLASSIFY(isfinite, (a < 0x7f800000 && u == u))
MSL_CLASSIFY(signbit, (u >> 31 && a == a))
MSL_FN bool isnormal(float x) { uint a = __builtin_bit_cast(uint, x) & 0x7fffffff; return a >= 0x00800000 && a < 0x7f800000; }
MSL_FN bool isnormal(half x) { ushort a = as_type<ushort>(x) & 0x7fff; return a >= 0x0400 && a < 0x7c00; }
MSL_BFLOAT bool isnormal(B x) { ushort a = as_type<ushort>(x) & 0x7fff; return a >= 0x0080 && a < 0x7f80; }
template <class T> MSL_FN auto isordered(T x, T y) { return !isnan(x) && !isnan(y); }
template <class T> MSL_FN auto isunordered(T x, T y) { return isnan(x) || isnan(y); }

// ---- geometric
template <class P, class Q, class V = msl_common_t<P, Q>, class = enable_if_t<msl_v::is<V>>> MSL_FN msl_v::el<V> dot(P p, Q q) {
  V a = msl_v::convert<V>(p), b = msl_v::convert<V>(q);
  msl_v::el<V> r = a[0] * b[0];
  for (int i = 1; i < msl_v::count<V>; i++) r += a[i] * b[i];
  return r;
}
template <class V> MSL_FN msl_v::el<V> length_squared(V v) { return dot(v, v); }
template <class V> MSL_FN msl_v::el<V> length(V v) { return sqrt(dot(v, v)); }
template <class V> MSL_FN msl_v::el<V> distance(V a, V b) { return length(a - b); }
template <class V> MSL_FN msl_v::el<V> distance_squared(V a, V b) { return length_squared(a - b); }
template <class V> MSL_FN V normalize(V v) { return v * rsqrt(dot(v, v)); }
template <class T> MSL_FN vec<T, 3> cross(vec<T, 3> a, vec<T, 3> b) { return a.yzx * b.zxy - a.zxy * b.yzx; }
template <class V> MSL_FN V faceforward(V n, V i, V ref) { return dot(ref, i) < 0 ? n : -n; }
template <class V> MSL_FN V reflect(V i, V n) { return i - n * (dot(n, i) * msl_v::el<V>(2)); }
template <class V> MSL_FN V refract(V i, V n, msl_v::el<V> eta) {
  typedef msl_v::el<V> E;
  E d = dot(n, i), k = E(1) - eta * eta * (E(1) - d * d);
  if (k < E(0)) return V(E(0));
  return i * eta - n * (eta * d + sqrt(k));
}
#define MSL_USE(name) using metal::name;
namespace fast { MSL_PRECISIONS(MSL_USE) }
namespace precise { MSL_PRECISIONS(MSL_USE) }
} // namespace metal
