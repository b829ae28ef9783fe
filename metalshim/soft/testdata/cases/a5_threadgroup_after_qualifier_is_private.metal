// Kernel k, 64 threads in one threadgroup; buffer 0 is the output.
// Right: 64 threads in one group: out[i] = in[63-i] + 1.
#include <metal_stdlib>
using namespace metal;
kernel void k(device float* out [[buffer(0)]], device const float* in [[buffer(1)]], uint i [[thread_position_in_threadgroup]]) {
  volatile threadgroup float a[64];
  float threadgroup c[64];
  a[i] = in[i]; c[i] = 1;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[i] = a[63 - i] + c[63 - i];
}
