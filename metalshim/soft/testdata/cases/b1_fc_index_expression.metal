// Kernel k, 32 threads; buffer 0 is the output, buffer 1 in[i] = i - 15.5.
// Right: out[i] = 3 in[i]. llama.cpp writes all its function constants so.
#include <metal_stdlib>
using namespace metal;
#define BASE 10
constant int N [[function_constant(BASE + 1)]];
kernel void k(device float* out [[buffer(0)]], device const float* in [[buffer(1)]], uint i [[thread_position_in_grid]]) {
  out[i] = in[i] * N;
}
