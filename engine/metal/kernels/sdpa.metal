// Attention of one token: out = softmax(scale · q·kᵀ) · v for each head, with
// groups of heads sharing keys and values.
//
// A lane keeps the dimensions lane, lane+32 … of a head. A simdgroup takes its
// keys in rounds of up to 32: the score of the round's i-th key goes to lane i,
// so that one exponential serves 32 keys, and what went before is rescaled
// once a round. The simdgroups' parts meet in threadgroup memory.
#include <metal_stdlib>
using namespace metal;

// The host states whether there is a mask; there is none here.
constant bool has_mask [[function_constant(20)]];

// parts is how many simdgroups' parts fit in 32 KiB of threadgroup memory, with
// room for their sums and maxima.
template <int D>
struct Shape {
    static constant constexpr uint parts = D > 256 ? 12 : D > 128 ? 24 : 32;
};

// part is softmax-weighted values before their division: sum of e^(s−most)·v,
// the sum of the weights, and the largest score.
template <int D>
struct Part {
    float out[D / 32];
    float sum, most;
};

// attend takes the keys first, first+step … below count, in runs of run keys.
template <int D>
static Part<D> attend(
    device const float *q, device const float *k, device const float *v,
    uint first, uint run, uint step, uint count, float scale, float softcap, uint lane
) {
    Part<D> p;
    float query[D / 32];
    for (int i = 0; i < D / 32; i++) {
        query[i] = q[lane + 32 * i] * scale;
        p.out[i] = 0.0f;
    }
    p.sum = 0.0f;
    p.most = -FLT_MAX;
    for (uint start = first; start < count; start += step) {
        const uint keys = min(run, count - start);
        float score = -INFINITY;
        for (uint j = 0; j < keys; j++) {
            device const float *key = k + size_t(start + j) * D;
            float s = 0.0f;
            for (int i = 0; i < D / 32; i++) {
                s = fma(query[i], key[lane + 32 * i], s);
            }
            s = simd_sum(s);
            score = lane == j ? s : score;
        }
        if (softcap != 1.0f) {
            score = lane < keys ? tanh(score) * softcap : score;
        }
        const float most = max(p.most, simd_max(score));
        const float weight = exp(score - most);
        const float factor = exp(p.most - most);
        p.sum = fma(p.sum, factor, simd_sum(weight));
        p.most = most;
        for (int i = 0; i < D / 32; i++) {
            p.out[i] *= factor;
        }
        for (uint j = 0; j < keys; j++) {
            device const float *value = v + size_t(start + j) * D;
            const float w = simd_broadcast(weight, ushort(j));
            for (int i = 0; i < D / 32; i++) {
                p.out[i] = fma(w, value[lane + 32 * i], p.out[i]);
            }
        }
    }
    return p;
}

// meet puts the parts of count simdgroups together; what simdgroup 0 gets is
// the whole.
template <int D>
static Part<D> meet(
    Part<D> p, threadgroup float *outs, threadgroup float *sums, threadgroup float *maxima,
    uint count, uint simdgroup, uint lane
) {
    if (simdgroup < count) {
        for (int i = 0; i < D / 32; i++) {
            outs[simdgroup * D + lane + 32 * i] = p.out[i];
        }
        if (lane == 0) {
            sums[simdgroup] = p.sum;
            maxima[simdgroup] = p.most;
        }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (simdgroup == 0) {
        const bool there = lane < count;
        const float part = there ? maxima[lane] : -FLT_MAX;
        p.most = simd_max(part);
        const float factor = there ? exp(part - p.most) : 0.0f;
        p.sum = simd_sum(there ? sums[lane] * factor : 0.0f);
        for (int i = 0; i < D / 32; i++) {
            p.out[i] = 0.0f;
        }
        for (uint j = 0; j < count; j++) {
            const float w = simd_broadcast(factor, ushort(j));
            for (int i = 0; i < D / 32; i++) {
                p.out[i] = fma(w, outs[j * D + lane + 32 * i], p.out[i]);
            }
        }
    }
    return p;
}

template <int D>
[[kernel]] void sdpa_vector(
    device const float *q [[buffer(0)]],
    device const float *k [[buffer(1)]],
    device const float *v [[buffer(2)]],
    device float *out [[buffer(3)]],
    constant int &group [[buffer(4)]],
    constant int &keys [[buffer(5)]],
    constant size_t &key_stride [[buffer(6)]],
    constant size_t &value_stride [[buffer(7)]],
    constant float &scale [[buffer(8)]],
    constant float &softcap [[buffer(9)]],
    uint3 at [[threadgroup_position_in_grid]],
    uint simdgroup [[simdgroup_index_in_threadgroup]],
    uint simdgroups [[simdgroups_per_threadgroup]],
    uint lane [[thread_index_in_simdgroup]]
) {
    threadgroup float outs[Shape<D>::parts * D];
    threadgroup float sums[32];
    threadgroup float maxima[32];
    const uint head = at.y;
    const uint shared_head = head / uint(group);
    // Few keys stay with few simdgroups: at least 8 each.
    const uint count = uint(keys);
    const uint most = min(simdgroups, Shape<D>::parts);
    const uint run = min(max((count + most - 1) / most, 8u), 32u);
    const uint busy = min((count + run - 1) / run, most);
    Part<D> p = attend<D>(
        q + head * D, k + shared_head * key_stride, v + shared_head * value_stride,
        simdgroup < busy ? simdgroup * run : count, run, busy * run, count, scale, softcap, lane);
    p = meet<D>(p, outs, sums, maxima, busy, simdgroup, lane);
    if (simdgroup == 0) {
        const float r = 1.0f / p.sum;
        for (int i = 0; i < D / 32; i++) {
            out[head * D + lane + 32 * i] = p.out[i] * r;
        }
    }
}

// The first of two passes over many keys: block z of 32 takes keys 8z to 8z+7
// and those 256, 512 … further on, and leaves its part.
template <int D>
[[kernel]] void sdpa_vector_2pass_1(
    device const float *q [[buffer(0)]],
    device const float *k [[buffer(1)]],
    device const float *v [[buffer(2)]],
    device float *partial [[buffer(3)]],
    device float *sums_out [[buffer(4)]],
    device float *maxima_out [[buffer(5)]],
    constant int &group [[buffer(6)]],
    constant int &keys [[buffer(7)]],
    constant size_t &key_stride [[buffer(8)]],
    constant size_t &value_stride [[buffer(9)]],
    constant float &scale [[buffer(10)]],
    constant float &softcap [[buffer(11)]],
    uint3 at [[threadgroup_position_in_grid]],
    uint3 grid [[threadgroups_per_grid]],
    uint simdgroup [[simdgroup_index_in_threadgroup]],
    uint simdgroups [[simdgroups_per_threadgroup]],
    uint lane [[thread_index_in_simdgroup]]
) {
    threadgroup float outs[Shape<D>::parts * D];
    threadgroup float sums[32];
    threadgroup float maxima[32];
    const uint head = at.y, block = at.z;
    const uint shared_head = head / uint(group);
    // Each simdgroup takes every simdgroups-th run of the block.
    Part<D> p = attend<D>(
        q + head * D, k + shared_head * key_stride, v + shared_head * value_stride,
        (simdgroup * grid.z + block) * 8, 8, simdgroups * grid.z * 8, uint(keys), scale, softcap, lane);
    p = meet<D>(p, outs, sums, maxima, simdgroups, simdgroup, lane);
    if (simdgroup == 0) {
        const uint row = head * grid.z + block;
        for (int i = 0; i < D / 32; i++) {
            partial[row * D + lane + 32 * i] = p.out[i];
        }
        if (lane == 0) {
            sums_out[row] = p.sum;
            maxima_out[row] = p.most;
        }
    }
}

// The second pass puts the 32 blocks together.
template <int D>
[[kernel]] void sdpa_vector_2pass_2(
    device const float *partial [[buffer(0)]],
    device const float *sums [[buffer(1)]],
    device const float *maxima [[buffer(2)]],
    device float *out [[buffer(3)]],
    uint3 at [[threadgroup_position_in_grid]],
    uint simdgroup [[simdgroup_index_in_threadgroup]],
    uint lane [[thread_index_in_simdgroup]]
) {
    if (simdgroup != 0) {
        return;
    }
    const uint head = at.y;
    const float part = maxima[head * 32 + lane];
    const float factor = exp(part - simd_max(part));
    const float r = 1.0f / simd_sum(sums[head * 32 + lane] * factor);
    float o[D / 32];
    for (int i = 0; i < D / 32; i++) {
        o[i] = 0.0f;
    }
    for (uint j = 0; j < 32; j++) {
        const float w = simd_broadcast(factor, ushort(j));
        for (int i = 0; i < D / 32; i++) {
            o[i] = fma(w, partial[(head * 32 + j) * D + lane + 32 * i], o[i]);
        }
    }
    for (int i = 0; i < D / 32; i++) {
        out[head * D + lane + 32 * i] = o[i] * r;
    }
}

#define SDPA(D)                                                            \
    template [[host_name("sdpa_vector_float_" #D)]] [[kernel]]             \
    decltype(sdpa_vector<D>) sdpa_vector<D>;                               \
    template [[host_name("sdpa_vector_2pass_1_float_" #D)]] [[kernel]]     \
    decltype(sdpa_vector_2pass_1<D>) sdpa_vector_2pass_1<D>;               \
    template [[host_name("sdpa_vector_2pass_2_float_" #D)]] [[kernel]]     \
    decltype(sdpa_vector_2pass_2<D>) sdpa_vector_2pass_2<D>;

SDPA(32)
SDPA(64)
SDPA(96)
SDPA(128)
SDPA(256)
SDPA(512)
