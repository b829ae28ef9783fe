// Whole numbers to float.
#include <metal_stdlib>
using namespace metal;

kernel void cast_u32_f32(
    constant size_t &n [[buffer(0)]],
    device const uint *in [[buffer(1)]],
    device float *out [[buffer(2)]],
    uint t [[thread_position_in_grid]]
) {
    const uint count = uint(n);
    const uint half_count = (count + 1) / 2;
    if (t >= half_count) {
        return;
    }
    out[t] = float(in[t]);
    const uint second = t + half_count;
    if (second < count) {
        out[second] = float(in[second]);
    }
}
