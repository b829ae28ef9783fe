// Construction and conversion of vectors (Metal Shading Language
// Specification 2.2, 2.19, 2.20). The rewriter writes msl_mk<float4>(…) for
// float4(…), msl_castop<float4>()->* x for (float4) x, and msl_static_cast for
// static_cast: clang's vectors know none of the three in C++.
namespace metal {
namespace msl_v {
// convert makes a value of type To, scalar or vector, of one of type From.
template <class To, class From> MSL_FN constexpr To convert(From v) {
  if constexpr (is_same_v<To, From>) return v;
  else if constexpr (is<To> && is<From>) {
    if constexpr ((is_same_v<el<To>, half> && is_same_v<el<From>, bfloat>) || (is_same_v<el<To>, bfloat> && is_same_v<el<From>, half>))
      return __builtin_convertvector(__builtin_convertvector(v, vec<float, count<From>>), To);
    else if constexpr (is_same_v<el<To>, bool>) {
      To r;
      for (int i = 0; i < count<To>; i++) r[i] = v[i] != el<From>(0);
      return r;
    } else if constexpr (is_same_v<el<From>, bool>) {
      To r;
      for (int i = 0; i < count<To>; i++) r[i] = v[i] ? el<To>(1) : el<To>(0);
      return r;
    } else return __builtin_convertvector(v, To);
  } else if constexpr (is<To>) {
    el<To> s = convert<el<To>>(v);
    if constexpr (count<To> == 2) return To{s, s};
    else if constexpr (count<To> == 3) return To{s, s, s};
    else return To{s, s, s, s};
  } else if constexpr ((is_same_v<To, half> && is_same_v<From, bfloat>) || (is_same_v<To, bfloat> && is_same_v<From, half>)) return (To)(float)v;
  else return (To)v;
}
// at is element I of v. A constant expression cannot take an element of one of clang's
// vectors, but can take the bits of a vector of one.
template <int I, class V> MSL_FN constexpr el<V> at(V v) {
  if constexpr (!is<V>) return v;
  else if constexpr (is_same_v<el<V>, bool>) return v[I];
  else {
    if (__builtin_is_constant_evaluated()) return __builtin_bit_cast(el<V>, __builtin_shufflevector(v, v, I));
    return v[I];
  }
}
// pick is element K of the arguments' elements, one argument after the other.
template <int K, class A, class... R> MSL_FN constexpr auto pick(A a, R... rest) {
  constexpr int n = is<A> ? count<A> : 1;
  if constexpr (K < n) return at<K>(a);
  else return pick<K - n>(rest...);
}
template <class V, class... A> MSL_FN constexpr V picked(A... a) {
  typedef el<V> E;
  if constexpr (count<V> == 2) return V{convert<E>(pick<0>(a...)), convert<E>(pick<1>(a...))};
  else if constexpr (count<V> == 3) return V{convert<E>(pick<0>(a...)), convert<E>(pick<1>(a...)), convert<E>(pick<2>(a...))};
  else return V{convert<E>(pick<0>(a...)), convert<E>(pick<1>(a...)), convert<E>(pick<2>(a...)), convert<E>(pick<3>(a...))};
}
template <class V, int I> MSL_FN constexpr void fill(V&) {}
template <class V, int I, class A, class... R> MSL_FN constexpr void fill(V& v, A a, R... rest) {
  if constexpr (is<A>) {
    for (int k = 0; k < count<A>; k++) v[I + k] = convert<el<V>>(el<A>(a[k]));
    fill<V, I + count<A>>(v, rest...);
  } else {
    v[I] = convert<el<V>>(a);
    fill<V, I + 1>(v, rest...);
  }
}
template <class... A> constexpr int total = ((is<A> ? count<A> : 1) + ... + 0);
// plain reads packed vectors as plain ones.
template <class T> MSL_FN constexpr T plain(T v) { return v; }
template <class T, int N> MSL_FN constexpr vec<T, N> plain(packed_vec<T, N> v) { return v; }
}

template <class V, class... A> MSL_FN constexpr V msl_mk(A... a) {
  if constexpr (sizeof...(A) != 1 && !msl_v::is<V>) return V(a...); // a template's parameter, in an instance where it is no vector
  else if constexpr (sizeof...(A) == 0) {
    V v = {};
    return v;
  } else if constexpr (sizeof...(A) == 1) return msl_v::convert<V>(msl_v::plain(a)...);
  else {
    static_assert(msl_v::total<decltype(msl_v::plain(a))...> == msl_v::count<V>, "wrong number of elements for this vector");
    if constexpr (sizeof...(A) == msl_v::count<V>) return V{msl_v::convert<msl_v::el<V>>(a)...};
    else {
      if (__builtin_is_constant_evaluated()) return msl_v::picked<V>(msl_v::plain(a)...);
      V v = {};
      msl_v::fill<V, 0>(v, msl_v::plain(a)...);
      return v;
    }
  }
}
template <class V> struct msl_castop {
  template <class A> friend MSL_FN constexpr V operator->*(msl_castop, A a) { return msl_v::convert<V>(msl_v::plain(a)); }
};
// A cast to a value takes one, since no reference can be bound to an element of one of
// clang's vectors.
template <class T, class U, enable_if_t<!__is_reference(T), int> = 0> MSL_FN constexpr T msl_static_cast(U u) {
  if constexpr (msl_v::is<T>) return msl_v::convert<T>(msl_v::plain(u));
  else if constexpr ((is_same_v<T, bfloat> && is_same_v<U, half>) || (is_same_v<T, half> && is_same_v<U, bfloat>)) return (T)(float)u;
  else return static_cast<T>(u);
}
template <class T, class U, enable_if_t<__is_reference(T), int> = 0> MSL_FN constexpr T msl_static_cast(U&& u) {
  return static_cast<T>(static_cast<U&&>(u));
}
template <class To, class From> MSL_FN constexpr To as_type(From f) {
  static_assert(sizeof(To) == sizeof(From), "as_type between types of different size");
  return __builtin_bit_cast(To, f);
}

// A uniform is a value that is the same in all threads of a group (Metal's header
// metal_uniform): a promise to the compiler, and here the value.
template <class T> using uniform = T;
template <class T> MSL_FN constexpr T make_uniform(T v) { return v; }

// msl_threadgroup_memory holds a variable in threadgroup memory, never
// constructed, as in Metal.
template <class T> struct alignas(alignof(T) > 16 ? alignof(T) : 16) msl_threadgroup_memory {
  char bytes[sizeof(T)];
  MSL_FN T& get() { return *reinterpret_cast<T*>(bytes); }
};
// msl_store stores what a declaration initializes it with, arrays too.
template <class T, class U> MSL_FN void msl_store(T& to, const U& from) {
  static_assert(sizeof(T) == sizeof(U), "an initializer of another type");
  __builtin_memcpy((void*)&to, (const void*)&from, sizeof(T));
}
} // namespace metal
using metal::as_type;
using metal::msl_mk;
