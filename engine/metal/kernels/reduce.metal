// Kernels that reduce rows, a threadgroup a row, and the rotary embedding.
//
// A reduction is taken over each simdgroup first; the results of up to 32
// simdgroups meet in threadgroup memory, and every simdgroup then reduces them
// once more for itself. So one barrier is enough.
#include <metal_stdlib>
using namespace metal;

// out = in / rms(in) · alpha, with rms = sqrt(mean of squares + eps).
// The host sends 8 bytes for each size; the low 4 are read.
kernel void rmsnorm_f32(
    constant uint &columns [[buffer(1)]],
    device const float *in [[buffer(2)]],
    device float *out [[buffer(3)]],
    device const float *alpha [[buffer(4)]],
    constant float &eps [[buffer(5)]],
    uint row [[threadgroup_position_in_grid]],
    uint place [[thread_position_in_threadgroup]],
    uint threads [[threads_per_threadgroup]],
    uint lane [[thread_index_in_simdgroup]],
    uint simdgroup [[simdgroup_index_in_threadgroup]],
    uint simdgroups [[simdgroups_per_threadgroup]]
) {
    threadgroup float sums[32];
    device const float *x = in + size_t(row) * columns;
    device float *y = out + size_t(row) * columns;
    float sum = 0.0f;
    for (uint i = place; i < columns; i += threads) {
        sum = fma(x[i], x[i], sum);
    }
    sum = simd_sum(sum);
    if (lane == 0) {
        sums[simdgroup] = sum;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    // A lone simdgroup may have fewer than 32 lanes, but then there is one sum.
    sum = simd_sum(lane < simdgroups ? sums[lane] : 0.0f);
    const float scale = rsqrt(sum / float(columns) + eps);
    for (uint i = place; i < columns; i += threads) {
        y[i] = x[i] * scale * alpha[i];
    }
}

kernel void softmax_f32(
    constant uint &columns [[buffer(1)]],
    device const float *in [[buffer(2)]],
    device float *out [[buffer(3)]],
    uint row [[threadgroup_position_in_grid]],
    uint place [[thread_position_in_threadgroup]],
    uint threads [[threads_per_threadgroup]],
    uint lane [[thread_index_in_simdgroup]],
    uint simdgroup [[simdgroup_index_in_threadgroup]],
    uint simdgroups [[simdgroups_per_threadgroup]]
) {
    threadgroup float maxima[32];
    threadgroup float sums[32];
    device const float *x = in + size_t(row) * columns;
    device float *y = out + size_t(row) * columns;
    // The start is finite, so that a masked element, −∞, weighs exp(−∞) = 0.
    float most = -FLT_MAX;
    for (uint i = place; i < columns; i += threads) {
        most = max(most, x[i]);
    }
    most = simd_max(most);
    float sum = 0.0f;
    for (uint i = place; i < columns; i += threads) {
        sum += exp(x[i] - most);
    }
    sum = simd_sum(sum);
    if (lane == 0) {
        maxima[simdgroup] = most;
        sums[simdgroup] = sum;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    const bool there = lane < simdgroups;
    const float part = there ? maxima[lane] : -FLT_MAX;
    most = simd_max(part);
    sum = simd_sum(there ? sums[lane] * exp(part - most) : 0.0f);
    const float scale = 1.0f / sum;
    for (uint i = place; i < columns; i += threads) {
        y[i] = exp(x[i] - most) * scale;
    }
}

// The index of the largest of each group's elements, the smallest index among
// equals.
kernel void fast_argmax_f32(
    constant uint &rank [[buffer(1)]],
    constant uint *dims [[buffer(2)]],
    constant uint &per_group [[buffer(3)]],
    device const float *in [[buffer(4)]],
    device uint *out [[buffer(5)]],
    uint group [[threadgroup_position_in_grid]],
    uint place [[thread_position_in_threadgroup]],
    uint threads [[threads_per_threadgroup]],
    uint lane [[thread_index_in_simdgroup]],
    uint simdgroup [[simdgroup_index_in_threadgroup]],
    uint simdgroups [[simdgroups_per_threadgroup]]
) {
    threadgroup float values[32];
    threadgroup uint indices[32];
    const uint start = group * per_group;
    float best = -FLT_MAX;
    uint at = start;
    for (uint i = start + place; i < start + per_group; i += threads) {
        const float v = in[i];
        at = v > best ? i : at;
        best = v > best ? v : best;
    }
    float most = simd_max(best);
    uint first = simd_min(best == most ? at : UINT_MAX);
    if (lane == 0) {
        values[simdgroup] = most;
        indices[simdgroup] = first;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    const float part = lane < simdgroups ? values[lane] : -FLT_MAX;
    most = simd_max(part);
    first = simd_min(lane < simdgroups && part == most ? indices[lane] : UINT_MAX);
    if (place == 0) {
        out[group] = first % dims[rank - 1];
    }
}

// Turns each pair (2t, 2t+1) of a head by the angle of its token. The tables
// hold a row for each token; a batch of sequences, stride_b elements each,
// advances through further rows.
kernel void rope_i_f32(
    constant size_t &heads [[buffer(0)]],
    constant size_t &head_size [[buffer(1)]],
    constant size_t &stride_b [[buffer(2)]],
    device const float2 *in [[buffer(3)]],
    device const float *cos_table [[buffer(4)]],
    device const float *sin_table [[buffer(5)]],
    device float2 *out [[buffer(6)]],
    uint t [[thread_position_in_grid]]
) {
    const uint pairs = uint(head_size) / 2;
    if (t >= uint(heads) * pairs) {
        return;
    }
    uint j = t % pairs;
    if (stride_b > 0) {
        j += 2 * t / uint(stride_b) * pairs;
    }
    const float2 v = in[t];
    const float c = cos_table[j], s = sin_table[j];
    out[t] = float2(v.x * c - v.y * s, v.x * s + v.y * c);
}

// Turns each pair of a head's halves, (i, i + dim/2), as rope_i_f32 turns
// neighbours.
kernel void rope_f32(
    constant size_t &heads [[buffer(0)]],
    constant size_t &head_size [[buffer(1)]],
    constant size_t &dim [[buffer(2)]],
    constant size_t &stride_b [[buffer(3)]],
    device const float *in [[buffer(4)]],
    device const float *cos_table [[buffer(5)]],
    device const float *sin_table [[buffer(6)]],
    device float *out [[buffer(7)]],
    uint t [[thread_position_in_grid]]
) {
    const uint pairs = uint(head_size) / 2, apart = uint(dim) / 2;
    if (t >= uint(heads) * pairs) {
        return;
    }
    uint j = t % pairs;
    if (stride_b > 0) {
        j += 2 * t / uint(stride_b) * pairs;
    }
    // Rows of pairs lie as densely as rows of values, in half of the space.
    const uint row = t / apart;
    const uint first = row * uint(dim) + (t - row * apart), second = first + apart;
    const float a = in[first], b = in[second], c = cos_table[j], s = sin_table[j];
    out[first] = a * c - b * s;
    out[second] = a * s + b * c;
}
