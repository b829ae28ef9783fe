// Kernel k, 32 threads; buffer 0 is the output, buffer 1 in[i] = i - 15.5.
// Right: out[i] = in[i]: "<" within a template's list (MLX, mistral.rs).
#include <metal_stdlib>
using namespace metal;
template <typename E, enable_if_t<sizeof(E) < 8, bool> = true> E g(E a) { return a; }
kernel void k(device float* out [[buffer(0)]], device const float* in [[buffer(1)]], uint i [[thread_position_in_grid]]) {
  out[i] = g(in[i]);
}
