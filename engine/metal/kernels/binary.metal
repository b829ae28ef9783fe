// Sum and product of two arrays, element by element.
#include <metal_stdlib>
using namespace metal;

// A thread takes two elements, half of the array apart.
#define BINARY(name, expression)                                        \
    kernel void name(                                                   \
        constant size_t &n [[buffer(0)]],                               \
        device const float *left [[buffer(1)]],                         \
        device const float *right [[buffer(2)]],                        \
        device float *out [[buffer(3)]],                                \
        uint t [[thread_position_in_grid]]                              \
    ) {                                                                 \
        const uint count = uint(n);                                     \
        const uint half_count = (count + 1) / 2;                        \
        if (t >= half_count) {                                          \
            return;                                                     \
        }                                                               \
        float l = left[t], r = right[t];                                \
        out[t] = expression;                                            \
        const uint second = t + half_count;                             \
        if (second < count) {                                           \
            l = left[second];                                           \
            r = right[second];                                          \
            out[second] = expression;                                   \
        }                                                               \
    }

BINARY(badd_f32, l + r)
BINARY(bmul_f32, l * r)
