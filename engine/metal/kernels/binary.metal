// Sum, product and comparison of two tensors, element by element.
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

// element is where element i of a tensor of these dimensions lies.
static uint element(uint i, uint rank, constant size_t *dims, constant size_t *strides) {
    uint at = 0;
    for (uint d = rank; d-- > 0;) {
        const uint size = uint(dims[d]);
        const uint rest = i / size;
        at += (i - rest * size) * uint(strides[d]);
        i = rest;
    }
    return at;
}

// The same where an operand is not contiguous: at_left and at_right are where
// element i of the result finds its operands. A thread takes as many elements as
// fit into eight bytes of an operand.
#define BINARY_STRIDED(name, type, result, at_left, at_right, expression) \
    kernel void name(                                                   \
        constant size_t &n [[buffer(0)]],                               \
        constant size_t &rank [[buffer(1)]],                            \
        constant size_t *dims [[buffer(2)]],                            \
        constant size_t *left_strides [[buffer(3)]],                    \
        constant size_t *right_strides [[buffer(4)]],                   \
        device const type *left [[buffer(5)]],                          \
        device const type *right [[buffer(6)]],                         \
        device result *out [[buffer(7)]],                               \
        uint t [[thread_position_in_grid]]                              \
    ) {                                                                 \
        const uint count = uint(n);                                     \
        const uint half_count = (count + 1) / 2;                        \
        if (t >= half_count) {                                          \
            return;                                                     \
        }                                                               \
        for (uint i = t; i < count; i += half_count) {                  \
            const type l = left[at_left], r = right[at_right];          \
            out[i] = expression;                                        \
        }                                                               \
    }

#define LEFT element(i, uint(rank), dims, left_strides)

#define RIGHT element(i, uint(rank), dims, right_strides)

BINARY_STRIDED(badd_f32_rstrided, float, float, i, RIGHT, l + r)
BINARY_STRIDED(bmul_f32_lstrided, float, float, LEFT, i, l * r)
BINARY_STRIDED(eq_u32_lss, uint, uchar, LEFT, 0, l == r ? 1 : 0)
BINARY_STRIDED(eq_u32_cs, uint, uchar, i, 0, l == r ? 1 : 0)
