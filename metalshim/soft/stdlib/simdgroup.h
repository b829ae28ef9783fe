// <metal_compute> and <metal_simdgroup>: barriers and operations across the
// lanes of a simdgroup. The msl_sy_ functions are opaque here; the lanes pass
// puts in what they do to a whole simdgroup. A lane that does not execute the
// call takes no part. There is one width: 32 lanes.
#define MSL_SYNC __attribute__((convergent, nomerge, nothrow))
extern "C" {
MSL_SYNC float msl_sy_fadd(float); MSL_SYNC float msl_sy_fmul(float); MSL_SYNC float msl_sy_fmax(float); MSL_SYNC float msl_sy_fmin(float);
MSL_SYNC uint msl_sy_iadd(uint); MSL_SYNC uint msl_sy_imul(uint); MSL_SYNC uint msl_sy_and(uint); MSL_SYNC uint msl_sy_or(uint); MSL_SYNC uint msl_sy_xor(uint);
MSL_SYNC int msl_sy_smax(int); MSL_SYNC int msl_sy_smin(int); MSL_SYNC uint msl_sy_umax(uint); MSL_SYNC uint msl_sy_umin(uint);
MSL_SYNC float msl_sy_fpadd(float); MSL_SYNC float msl_sy_fpmul(float); MSL_SYNC uint msl_sy_ipadd(uint); MSL_SYNC uint msl_sy_ipmul(uint);
MSL_SYNC float msl_sy_fxadd(float); MSL_SYNC float msl_sy_fxmul(float); MSL_SYNC uint msl_sy_ixadd(uint); MSL_SYNC uint msl_sy_ixmul(uint);
MSL_SYNC uint msl_sy_sh(uint v, uint lane); MSL_SYNC ulong msl_sy_shl(ulong v, uint lane);
MSL_SYNC uint msl_sy_bc(uint v, uint lane); MSL_SYNC ulong msl_sy_bcl(ulong v, uint lane);
MSL_SYNC uint msl_sy_first(uint v); MSL_SYNC ulong msl_sy_firstl(ulong v);
MSL_SYNC uint msl_sy_ballot(uint p); MSL_SYNC uint msl_sy_active(void);
MSL_SYNC void msl_sy_tgbar(void); MSL_SYNC void msl_sy_sgbar(void);
__attribute__((const, nothrow)) uint msl_lane(void);
}
namespace metal {
// ---- barriers: every one orders device and threadgroup memory, whatever the
// flags say, because code in the field relies on it.
MSL_FN void threadgroup_barrier(mem_flags) { msl_sy_tgbar(); }
MSL_FN void threadgroup_barrier(mem_flags, thread_scope) { msl_sy_tgbar(); }
MSL_FN void simdgroup_barrier(mem_flags) { msl_sy_sgbar(); }
MSL_FN void simdgroup_barrier(mem_flags, thread_scope) { msl_sy_sgbar(); }

// ---- reductions and prefixes. Half and bfloat go through float and are
// rounded once.
#define MSL_CROSS(name, f, s, u) \
  template <class T> MSL_FN T name(T v) { \
    if constexpr (msl_v::is<T>) { \
      T r; \
      for (int i = 0; i < msl_v::count<T>; i++) r[i] = name((msl_v::el<T>)v[i]); \
      return r; \
    } else if constexpr (is_floating_point_v<T>) return (T)f((float)v); \
    else { \
      static_assert(sizeof(T) <= 4, "simdgroup reductions take types of up to 32 bits"); \
      if constexpr (is_signed_v<T>) return (T)s((int)v); \
      else return (T)u((uint)v); \
    } \
  }
MSL_CROSS(simd_sum, msl_sy_fadd, msl_sy_iadd, msl_sy_iadd)
MSL_CROSS(simd_product, msl_sy_fmul, msl_sy_imul, msl_sy_imul)
MSL_CROSS(simd_max, msl_sy_fmax, msl_sy_smax, msl_sy_umax)
MSL_CROSS(simd_min, msl_sy_fmin, msl_sy_smin, msl_sy_umin)
MSL_CROSS(simd_prefix_inclusive_sum, msl_sy_fpadd, msl_sy_ipadd, msl_sy_ipadd)
MSL_CROSS(simd_prefix_inclusive_product, msl_sy_fpmul, msl_sy_ipmul, msl_sy_ipmul)
MSL_CROSS(simd_prefix_exclusive_sum, msl_sy_fxadd, msl_sy_ixadd, msl_sy_ixadd)
MSL_CROSS(simd_prefix_exclusive_product, msl_sy_fxmul, msl_sy_ixmul, msl_sy_ixmul)
#define MSL_CROSS_BITS(name, op) \
  template <class T> MSL_FN T name(T v) { \
    if constexpr (msl_v::is<T>) { \
      T r; \
      for (int i = 0; i < msl_v::count<T>; i++) r[i] = name((msl_v::el<T>)v[i]); \
      return r; \
    } else { \
      static_assert(is_integral_v<T> && sizeof(T) <= 4, "bitwise simdgroup reductions take integers of up to 32 bits"); \
      return (T)op((uint)v); \
    } \
  }
MSL_CROSS_BITS(simd_and, msl_sy_and)
MSL_CROSS_BITS(simd_or, msl_sy_or)
MSL_CROSS_BITS(simd_xor, msl_sy_xor)
// The compiler's own functions take the bits of a float too.
#define MSL_CROSS_ANY(name) \
  template <class T> MSL_FN T bits_##name(T v) { \
    if constexpr (is_same_v<T, float>) return as_type<float>(simd_##name(as_type<uint>(v))); \
    else return simd_##name(v); \
  }
namespace msl_s { MSL_CROSS_ANY(and) MSL_CROSS_ANY(or) MSL_CROSS_ANY(xor) }

// ---- shuffles: any type of 1 to 16 bytes (vectors of 3 take those of 4)
namespace msl_s {
struct pair { ulong a, b; };
struct quad { pair a, b; };
template <class T, class F32, class F64> MSL_FN T each(T v, F32 f, F64 g) {
  if constexpr (sizeof(T) == 32) {
    quad p = __builtin_bit_cast(quad, v);
    p.a.a = g(p.a.a); p.a.b = g(p.a.b); p.b.a = g(p.b.a); p.b.b = g(p.b.b);
    return __builtin_bit_cast(T, p);
  } else if constexpr (sizeof(T) == 16) {
    pair p = __builtin_bit_cast(pair, v);
    p.a = g(p.a); p.b = g(p.b);
    return __builtin_bit_cast(T, p);
  } else if constexpr (sizeof(T) == 8) return __builtin_bit_cast(T, g(__builtin_bit_cast(ulong, v)));
  else if constexpr (sizeof(T) == 4) return __builtin_bit_cast(T, f(__builtin_bit_cast(uint, v)));
  else if constexpr (sizeof(T) == 2) return __builtin_bit_cast(T, (ushort)f(__builtin_bit_cast(ushort, v)));
  else if constexpr (is_same_v<T, bool>) return f(v) != 0;
  else return __builtin_bit_cast(T, (uchar)f(__builtin_bit_cast(uchar, v)));
}
template <class T> MSL_FN T from(T v, uint lane) {
  return each(v, [=](uint x) MSL_LAMBDA { return msl_sy_sh(x, lane); }, [=](ulong x) MSL_LAMBDA { return msl_sy_shl(x, lane); });
}
}
template <class T> MSL_FN T simd_shuffle(T v, ushort lane) { return msl_s::from(v, lane); }
template <class T> MSL_FN T simd_shuffle_xor(T v, ushort mask) { return msl_s::from(v, msl_lane() ^ mask); }
// A lane beyond the last, or before the first, keeps its own value.
template <class T> MSL_FN T simd_shuffle_down(T v, ushort delta) { return msl_s::from(v, msl_lane() + delta); }
template <class T> MSL_FN T simd_shuffle_up(T v, ushort delta) { return msl_s::from(v, msl_lane() - delta); }
template <class T> MSL_FN T simd_shuffle_rotate_down(T v, ushort delta) { return msl_s::from(v, (msl_lane() + delta) & 31); }
template <class T> MSL_FN T simd_shuffle_rotate_up(T v, ushort delta) { return msl_s::from(v, (msl_lane() - delta) & 31); }
// The lanes that shift in come from the filling data, by groups of modulo.
template <class T> MSL_FN T simd_shuffle_and_fill_down(T v, T fill, ushort delta, ushort modulo = 32) {
  uint l = msl_lane(), in = l % modulo, at = l - in + (in + delta) % modulo;
  T a = msl_s::from(v, at), b = msl_s::from(fill, at);
  return in + delta < modulo ? a : b;
}
template <class T> MSL_FN T simd_shuffle_and_fill_up(T v, T fill, ushort delta, ushort modulo = 32) {
  uint l = msl_lane(), in = l % modulo, at = l - in + (in + modulo - delta % modulo) % modulo;
  T a = msl_s::from(v, at), b = msl_s::from(fill, at);
  return in >= delta ? a : b;
}
template <class T> MSL_FN T simd_broadcast(T v, ushort lane) {
  return msl_s::each(v, [=](uint x) MSL_LAMBDA { return msl_sy_bc(x, lane); }, [=](ulong x) MSL_LAMBDA { return msl_sy_bcl(x, lane); });
}
template <class T> MSL_FN T simd_broadcast_first(T v) {
  return msl_s::each(v, [](uint x) MSL_LAMBDA { return msl_sy_first(x); }, [](ulong x) MSL_LAMBDA { return msl_sy_firstl(x); });
}

// ---- votes
struct simd_vote {
  typedef ulong vote_t;
  vote_t votes;
  MSL_FN explicit simd_vote(vote_t v = 0) : votes(v) {}
  MSL_FN explicit operator vote_t() const { return votes; }
  MSL_FN bool all() const { return votes == 0xffffffffu; }
  MSL_FN bool any() const { return votes != 0; }
};
MSL_FN simd_vote simd_ballot(bool p) { return simd_vote(msl_sy_ballot(p)); }
MSL_FN simd_vote simd_active_threads_mask() { return simd_vote(msl_sy_active()); }
MSL_FN bool simd_all(bool p) { return msl_sy_ballot(!p) == 0; }
MSL_FN bool simd_any(bool p) { return msl_sy_ballot(p) != 0; }
MSL_FN bool simd_is_first() { return msl_sy_first(msl_lane()) == msl_lane(); }
MSL_FN bool simd_is_helper_thread() { return false; }

// ---- the same across the four lanes of a quad
template <class T> MSL_FN T quad_shuffle(T v, ushort lane) { return msl_s::from(v, (msl_lane() & 28) + (lane & 3)); }
template <class T> MSL_FN T quad_broadcast(T v, ushort lane) { return quad_shuffle(v, lane); }
template <class T> MSL_FN T quad_shuffle_xor(T v, ushort mask) { return msl_s::from(v, msl_lane() ^ (mask & 3)); }
template <class T> MSL_FN T quad_shuffle_down(T v, ushort d) { uint l = msl_lane(); return msl_s::from(v, (l & 3) + d < 4 ? l + d : l); }
template <class T> MSL_FN T quad_shuffle_up(T v, ushort d) { uint l = msl_lane(); return msl_s::from(v, (l & 3) >= d ? l - d : l); }
template <class T> MSL_FN T quad_sum(T v) { v += quad_shuffle_xor(v, 1); return v + quad_shuffle_xor(v, 2); }
template <class T> MSL_FN T quad_product(T v) { v *= quad_shuffle_xor(v, 1); return v * quad_shuffle_xor(v, 2); }
template <class T> MSL_FN T quad_max(T v) { v = max(v, quad_shuffle_xor(v, 1)); return max(v, quad_shuffle_xor(v, 2)); }
template <class T> MSL_FN T quad_min(T v) { v = min(v, quad_shuffle_xor(v, 1)); return min(v, quad_shuffle_xor(v, 2)); }
template <class T> MSL_FN T quad_and(T v) { v &= quad_shuffle_xor(v, 1); return v & quad_shuffle_xor(v, 2); }
template <class T> MSL_FN T quad_or(T v) { v |= quad_shuffle_xor(v, 1); return v | quad_shuffle_xor(v, 2); }
template <class T> MSL_FN T quad_xor(T v) { v ^= quad_shuffle_xor(v, 1); return v ^ quad_shuffle_xor(v, 2); }
#define MSL_QUAD_PREFIX(kind, op, neutral) \
  template <class T> MSL_FN T quad_prefix_inclusive_##kind(T v) { \
    uint in = msl_lane() & 3; \
    T a = quad_shuffle_up(v, 1); \
    v = in >= 1 ? T(a op v) : v; \
    T b = quad_shuffle_up(v, 2); \
    return in >= 2 ? T(b op v) : v; \
  } \
  template <class T> MSL_FN T quad_prefix_exclusive_##kind(T v) { \
    T before = quad_shuffle_up(quad_prefix_inclusive_##kind(v), 1); \
    return (msl_lane() & 3) == 0 ? msl_v::convert<T>(msl_v::el<T>(neutral)) : before; \
  }
MSL_QUAD_PREFIX(sum, +, 0)
MSL_QUAD_PREFIX(product, *, 1)
template <class T> MSL_FN T quad_shuffle_rotate_down(T v, ushort d) { uint l = msl_lane(); return msl_s::from(v, (l & 28) + ((l + d) & 3)); }
template <class T> MSL_FN T quad_shuffle_rotate_up(T v, ushort d) { uint l = msl_lane(); return msl_s::from(v, (l & 28) + ((l - d) & 3)); }
template <class T> MSL_FN T quad_shuffle_and_fill_down(T v, T fill, ushort d, ushort modulo = 4) {
  uint l = msl_lane(), q = l & 3, in = q % modulo, at = l - in + (in + d) % modulo;
  T a = msl_s::from(v, at), b = msl_s::from(fill, at);
  return in + d < modulo ? a : b;
}
template <class T> MSL_FN T quad_shuffle_and_fill_up(T v, T fill, ushort d, ushort modulo = 4) {
  uint l = msl_lane(), q = l & 3, in = q % modulo, at = l - in + (in + modulo - d % modulo) % modulo;
  T a = msl_s::from(v, at), b = msl_s::from(fill, at);
  return in >= d ? a : b;
}
// The active lanes of this lane's quad.
struct quad_vote {
  typedef uint vote_t;
  vote_t votes;
  MSL_FN explicit quad_vote(vote_t v = 0) : votes(v) {}
  MSL_FN explicit operator vote_t() const { return votes; }
  MSL_FN bool all() const { return votes == 15; }
  MSL_FN bool any() const { return votes != 0; }
};
namespace msl_s { MSL_FN uint of_quad(uint votes) { return votes >> (msl_lane() & 28) & 15; } }
MSL_FN quad_vote quad_ballot(bool p) { return quad_vote(msl_s::of_quad(msl_sy_ballot(p))); }
MSL_FN quad_vote quad_active_threads_mask() { return quad_vote(msl_s::of_quad(msl_sy_active())); }
MSL_FN bool quad_all(bool p) { return msl_s::of_quad(msl_sy_ballot(!p)) == 0; }
MSL_FN bool quad_any(bool p) { return msl_s::of_quad(msl_sy_ballot(p)) != 0; }
MSL_FN bool quad_is_first() { return (msl_lane() & 3) == (uint)__builtin_ctz(msl_s::of_quad(msl_sy_active()) | 16u); }
MSL_FN bool quad_is_helper_thread() { return false; }
template <class T> MSL_FN T quad_broadcast_first(T v) { return msl_s::from(v, (msl_lane() & 28) + (__builtin_ctz(msl_s::of_quad(msl_sy_active()) | 16u) & 3)); }
} // namespace metal
