// Numbers of one type to another.
#include <metal_stdlib>
using namespace metal;

// A thread takes as many elements as fit into eight bytes of what is read, equally far
// apart in the array.
#define CAST(name, from, to)                                            \
    kernel void name(                                                   \
        constant size_t &n [[buffer(0)]],                               \
        device const from *in [[buffer(1)]],                            \
        device to *out [[buffer(2)]],                                   \
        uint t [[thread_position_in_grid]]                              \
    ) {                                                                 \
        constexpr uint each = 8 / sizeof(from);                         \
        const uint count = uint(n);                                     \
        const uint threads = (count + each - 1) / each;                 \
        if (t >= threads) {                                             \
            return;                                                     \
        }                                                               \
        for (uint i = t; i < count; i += threads) {                     \
            out[i] = to(in[i]);                                         \
        }                                                               \
    }

CAST(cast_u32_f32, uint, float)
CAST(cast_u32_f16, uint, half)
CAST(cast_f32_f16, float, half)
CAST(cast_f16_f32, half, float)
