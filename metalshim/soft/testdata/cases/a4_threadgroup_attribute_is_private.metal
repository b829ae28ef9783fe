// Kernel k, 64 threads in one threadgroup; buffer 0 is the output.
// Right: 64 threads in one group: out[i] = in[63-i].
#include <metal_stdlib>
using namespace metal;
kernel void k(device float* out [[buffer(0)]], device const float* in [[buffer(1)]], uint i [[thread_position_in_threadgroup]]) {
  threadgroup __attribute__((aligned(16))) float sh[64];
  sh[i] = in[i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[i] = sh[63 - i];
}
