// Kernel k, 32 threads; buffer 0 is the output, buffer 1 in[i] = i - 15.5.
// Right: out[i] = 3 in[i]: 01 is index 1 (MLX conv.metal).
#include <metal_stdlib>
using namespace metal;
constant int N [[function_constant(01)]];
kernel void k(device float* out [[buffer(0)]], device const float* in [[buffer(1)]], uint i [[thread_position_in_grid]]) {
  out[i] = in[i] * N;
}
