// <simd/simd.h>: the same types by the names that a program's own side has for them. The front
// end writes msl_simd for the namespace simd: a program that does not ask for this header may give
// the name to something else.
namespace msl_simd {
#define MSL_SIMD(T) using ::T##2; using ::T##3; using ::T##4;
MSL_NUMBERS(MSL_SIMD)
using ::bool2; using ::bool3; using ::bool4;
#define MSL_SIMD_MATRICES(T) \
  using metal::T##2x2; using metal::T##2x3; using metal::T##2x4; using metal::T##3x2; using metal::T##3x3; \
  using metal::T##3x4; using metal::T##4x2; using metal::T##4x3; using metal::T##4x4;
MSL_SIMD_MATRICES(float)
MSL_SIMD_MATRICES(half)
#define MSL_SIMD_PACKED(T) using metal::packed_##T##2; using metal::packed_##T##3; using metal::packed_##T##4;
MSL_NUMBERS(MSL_SIMD_PACKED)
}
#define MSL_SIMD_C(T) \
  typedef T##2 simd_##T##2; typedef T##3 simd_##T##3; typedef T##4 simd_##T##4; \
  typedef T##2 vector_##T##2; typedef T##3 vector_##T##3; typedef T##4 vector_##T##4; \
  typedef metal::packed_vec<T, 2> simd_packed_##T##2; typedef metal::packed_vec<T, 4> simd_packed_##T##4;
MSL_NUMBERS(MSL_SIMD_C)
typedef bool2 simd_bool2; typedef bool3 simd_bool3; typedef bool4 simd_bool4;
#define MSL_SIMD_CMATRIX(T, S) typedef metal::T##S simd_##T##S; typedef metal::T##S matrix_##T##S;
#define MSL_SIMD_CMATRICES(T) \
  MSL_SIMD_CMATRIX(T, 2x2) MSL_SIMD_CMATRIX(T, 2x3) MSL_SIMD_CMATRIX(T, 2x4) MSL_SIMD_CMATRIX(T, 3x2) MSL_SIMD_CMATRIX(T, 3x3) \
  MSL_SIMD_CMATRIX(T, 3x4) MSL_SIMD_CMATRIX(T, 4x2) MSL_SIMD_CMATRIX(T, 4x3) MSL_SIMD_CMATRIX(T, 4x4)
MSL_SIMD_CMATRICES(float)
MSL_SIMD_CMATRICES(half)
