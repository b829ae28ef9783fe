// Kernel k, 32 threads; buffer 0 is the output, buffer 1 in[i] = i - 15.5.
// Right: sum of four neighbours: a macro in "#pragma unroll" (llama.cpp, whisper.cpp).
#include <metal_stdlib>
using namespace metal;
#define MIN(a, b) ((a) < (b) ? (a) : (b))
kernel void k(device float* out [[buffer(0)]], device const float* in [[buffer(1)]], uint i [[thread_position_in_grid]]) {
  float s = 0;
#pragma unroll(MIN(8, 4))
  for (int j = 0; j < 4; ++j) s += in[(i + j) & 31];
  out[i] = s;
}
