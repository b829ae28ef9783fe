// <metal_simdgroup_matrix>: 8×8 matrices spread over a simdgroup. Lane l holds
// row ((l/4) & 4) + ((l/2) & 3), columns ((l/2) & 4) + 2 (l & 1) and the next,
// which is how Apple's GPUs lay them out and what code that uses
// thread_elements relies on.
extern "C" {
MSL_SYNC ulong msl_sy_mma(ulong a, ulong b, ulong c);
MSL_SYNC ulong msl_sy_mld32(const void* p, ulong ld); MSL_SYNC uint msl_sy_mld16(const void* p, ulong ld);
MSL_SYNC ulong msl_sy_mldt32(const void* p, ulong ld); MSL_SYNC uint msl_sy_mldt16(const void* p, ulong ld);
MSL_SYNC void msl_sy_mst32(ulong v, void* p, ulong ld); MSL_SYNC void msl_sy_mst16(uint v, void* p, ulong ld);
MSL_SYNC void msl_sy_mstt32(ulong v, void* p, ulong ld); MSL_SYNC void msl_sy_mstt16(uint v, void* p, ulong ld);
}
namespace metal {
template <class T> struct __is_valid_simdgroup_type : bool_constant<is_floating_point_v<T> || (is_integral_v<T> && sizeof(T) <= 4 && !is_same_v<T, bool>)> {};
namespace msl_s {
MSL_FN uint row(uint l) { return (l >> 2 & 4) + (l >> 1 & 3); }
MSL_FN uint column(uint l) { return (l >> 1 & 4) + ((l & 1) << 1); }
}
template <class T, int C, int R> struct simdgroup_matrix {
  static_assert(C == 8 && R == 8 && is_floating_point_v<T>, "simdgroup matrices are 8 by 8, of float, half or bfloat");
  vec<T, 2> e;
  simdgroup_matrix() = default;
  MSL_FN explicit simdgroup_matrix(T d) { // d on the diagonal
    uint r = msl_s::row(msl_lane()), c = msl_s::column(msl_lane());
    e[0] = r == c ? d : T(0);
    e[1] = r == c + 1 ? d : T(0);
  }
  MSL_FN vec<T, 2>& thread_elements() { return e; }
  MSL_FN const vec<T, 2>& thread_elements() const { return e; }
};
typedef simdgroup_matrix<float, 8, 8> simdgroup_float8x8;
typedef simdgroup_matrix<half, 8, 8> simdgroup_half8x8;
typedef simdgroup_matrix<bfloat, 8, 8> simdgroup_bfloat8x8;

template <class T, int C, int R = C> MSL_FN simdgroup_matrix<T, C, R> make_filled_simdgroup_matrix(T v) {
  simdgroup_matrix<T, C, R> m;
  m.e[0] = v;
  m.e[1] = v;
  return m;
}
template <class T, int C, int R = C> MSL_FN simdgroup_matrix<T, C, R> make_diagonal_simdgroup_matrix(T v) { return simdgroup_matrix<T, C, R>(v); }
template <class T, class U> MSL_FN void simdgroup_load(simdgroup_matrix<T, 8, 8>& m, const U* p, ulong ld = 8, ulong2 origin = 0, bool transpose = false) {
  p += transpose ? origin.x * ld + origin.y : origin.y * ld + origin.x;
  if constexpr (is_same_v<T, U> && sizeof(T) == 4) m.e = __builtin_bit_cast(vec<T, 2>, transpose ? msl_sy_mldt32(p, ld) : msl_sy_mld32(p, ld));
  else if constexpr (is_same_v<T, U>) m.e = __builtin_bit_cast(vec<T, 2>, transpose ? msl_sy_mldt16(p, ld) : msl_sy_mld16(p, ld));
  else {
    uint r = msl_s::row(msl_lane()), c = msl_s::column(msl_lane());
    m.e[0] = (T)p[transpose ? c * ld + r : r * ld + c];
    m.e[1] = (T)p[transpose ? (c + 1) * ld + r : r * ld + c + 1];
  }
}
template <class T, class U> MSL_FN void simdgroup_store(const simdgroup_matrix<T, 8, 8>& m, U* p, ulong ld = 8, ulong2 origin = 0, bool transpose = false) {
  p += transpose ? origin.x * ld + origin.y : origin.y * ld + origin.x;
  if constexpr (is_same_v<T, U> && sizeof(T) == 4) {
    if (transpose) msl_sy_mstt32(__builtin_bit_cast(ulong, m.e), p, ld);
    else msl_sy_mst32(__builtin_bit_cast(ulong, m.e), p, ld);
  } else if constexpr (is_same_v<T, U>) {
    if (transpose) msl_sy_mstt16(__builtin_bit_cast(uint, m.e), p, ld);
    else msl_sy_mst16(__builtin_bit_cast(uint, m.e), p, ld);
  } else {
    uint r = msl_s::row(msl_lane()), c = msl_s::column(msl_lane());
    p[transpose ? c * ld + r : r * ld + c] = (U)m.e[0];
    p[transpose ? (c + 1) * ld + r : r * ld + c + 1] = (U)m.e[1];
  }
}
namespace msl_s {
template <class T> MSL_FN ulong wide(vec<T, 2> e) { return __builtin_bit_cast(ulong, msl_v::convert<float2>(e)); }
template <class D, class A, class B> MSL_FN void multiply(simdgroup_matrix<D, 8, 8>& d, const simdgroup_matrix<A, 8, 8>& a, const simdgroup_matrix<B, 8, 8>& b, ulong c) {
  d.e = msl_v::convert<vec<D, 2>>(__builtin_bit_cast(float2, msl_sy_mma(wide<A>(a.e), wide<B>(b.e), c)));
}
}
// Products and sums are formed in float and rounded once.
template <class D, class A, class B, class C> MSL_FN void simdgroup_multiply_accumulate(simdgroup_matrix<D, 8, 8>& d, const simdgroup_matrix<A, 8, 8>& a, const simdgroup_matrix<B, 8, 8>& b, const simdgroup_matrix<C, 8, 8>& c) {
  msl_s::multiply(d, a, b, msl_s::wide<C>(c.e));
}
template <class D, class A, class B> MSL_FN void simdgroup_multiply(simdgroup_matrix<D, 8, 8>& d, const simdgroup_matrix<A, 8, 8>& a, const simdgroup_matrix<B, 8, 8>& b) {
  msl_s::multiply(d, a, b, 0);
}
template <class A, class B> MSL_FN simdgroup_matrix<A, 8, 8> operator*(const simdgroup_matrix<A, 8, 8>& a, const simdgroup_matrix<B, 8, 8>& b) {
  simdgroup_matrix<A, 8, 8> d;
  msl_s::multiply(d, a, b, 0);
  return d;
}
} // namespace metal
