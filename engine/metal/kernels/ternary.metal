// One of two values for each element, by a condition.
#include <metal_stdlib>
using namespace metal;

// Which of the three inputs lie as the output does, one element after another.
constant bool condition_contiguous [[function_constant(0)]];
constant bool true_contiguous [[function_constant(1)]];
constant bool false_contiguous [[function_constant(2)]];

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

kernel void where_u8_f32(
    constant size_t &n [[buffer(0)]],
    constant size_t &rank [[buffer(1)]],
    constant size_t *dims [[buffer(2)]],
    constant size_t *condition_strides [[buffer(3)]],
    constant size_t *true_strides [[buffer(4)]],
    constant size_t *false_strides [[buffer(5)]],
    device const uchar *condition [[buffer(6)]],
    device const float *if_true [[buffer(7)]],
    device const float *if_false [[buffer(8)]],
    device float *out [[buffer(9)]],
    uint t [[thread_position_in_grid]]
) {
    const uint count = uint(n);
    const uint half_count = (count + 1) / 2;
    if (t >= half_count) {
        return;
    }
    for (uint i = t; i < count; i += half_count) {
        const uint c = condition_contiguous ? i : element(i, uint(rank), dims, condition_strides);
        const uint a = true_contiguous ? i : element(i, uint(rank), dims, true_strides);
        const uint b = false_contiguous ? i : element(i, uint(rank), dims, false_strides);
        const float on = if_true[a], off = if_false[b];
        out[i] = condition[c] != 0 ? on : off;
    }
}
