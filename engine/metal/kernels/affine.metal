// x · mul + add, for each element.
#include <metal_stdlib>
using namespace metal;

// A thread takes two elements, half of the array apart, so that neighbouring
// threads touch neighbouring memory.
kernel void affine_f32(
    constant size_t &n [[buffer(0)]],
    constant float &mul [[buffer(1)]],
    constant float &add [[buffer(2)]],
    device const float *in [[buffer(3)]],
    device float *out [[buffer(4)]],
    uint t [[thread_position_in_grid]]
) {
    const uint count = uint(n);
    const uint half_count = (count + 1) / 2;
    if (t >= half_count) {
        return;
    }
    out[t] = fma(in[t], mul, add);
    const uint second = t + half_count;
    if (second < count) {
        out[second] = fma(in[second], mul, add);
    }
}
