// 32 threads; buffer 0 is the output, buffer 1 int dividends, buffer 2 int divisors, all the
// same in the kernels whose name begins with u_, where element 0 counts.
// Right: the quotient or the remainder, 1000 where the divisor is 0, and 2000 for the least
// number by -1.
#include <metal_stdlib>
using namespace metal;
#define LEAST(T) T(T(1) << (sizeof(T) * 8 - 1))
template <class T> int quotient(T a, T b) { T q = a / b; return b == 0 ? 1000 : T(-1) < T(0) && b == T(-1) && a == LEAST(T) ? 2000 : int(q); }
template <class T> int rest(T a, T b) { T q = a % b; return b == 0 ? 1000 : T(-1) < T(0) && b == T(-1) && a == LEAST(T) ? 2000 : int(q); }
#define KERNELS(T) \
  kernel void q_##T(device int* out [[buffer(0)]], device const T* a [[buffer(1)]], device const T* b [[buffer(2)]], uint i [[thread_position_in_grid]]) { out[i] = quotient<T>(a[i], b[i]); } \
  kernel void r_##T(device int* out [[buffer(0)]], device const T* a [[buffer(1)]], device const T* b [[buffer(2)]], uint i [[thread_position_in_grid]]) { out[i] = rest<T>(a[i], b[i]); } \
  kernel void uq_##T(device int* out [[buffer(0)]], device const T* a [[buffer(1)]], constant T* b [[buffer(2)]], uint i [[thread_position_in_grid]]) { out[i] = quotient<T>(a[i], b[0]); } \
  kernel void ur_##T(device int* out [[buffer(0)]], constant T* a [[buffer(1)]], constant T* b [[buffer(2)]], uint i [[thread_position_in_grid]]) { out[i] = rest<T>(a[0], b[0]); } \
  kernel void v_##T(device int* out [[buffer(0)]], device const vec<T, 4>* a [[buffer(1)]], device const vec<T, 4>* b [[buffer(2)]], uint i [[thread_position_in_grid]]) { \
    vec<T, 4> q = a[i / 4] / b[i / 4]; T x = a[i / 4][i % 4], y = b[i / 4][i % 4]; \
    out[i] = y == 0 ? 1000 : T(-1) < T(0) && y == T(-1) && x == LEAST(T) ? 2000 : int(q[i % 4]); }
KERNELS(char)
KERNELS(uchar)
KERNELS(short)
KERNELS(ushort)
KERNELS(int)
KERNELS(uint)
KERNELS(long)
KERNELS(ulong)
