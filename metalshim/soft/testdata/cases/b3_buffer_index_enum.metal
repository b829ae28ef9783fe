// Kernel k, 32 threads; buffer 0 is the output, buffer 1 in[i] = i - 15.5.
// Right: out[i] = in[i]: Xcode's own template numbers buffers by an enum; constants and expressions are as good.
#include <metal_stdlib>
using namespace metal;
enum Slot { SlotOut = 0, SlotIn = 1 };
kernel void k(device float* out [[buffer(SlotOut)]], device const float* in [[buffer(SlotIn)]], uint i [[thread_position_in_grid]]) { out[i] = in[i]; }
