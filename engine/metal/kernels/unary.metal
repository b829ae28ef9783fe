// Functions of one element, and copies that change the layout.
#include <metal_stdlib>
using namespace metal;

static float silu(float x) { return x / (1.0f + exp(-x)); }

// gelu is the approximation by tanh, whose fast variant overflows where x is large.
static float gelu(float x) {
    return 0.5f * x * (1.0f + precise::tanh(0.7978845608028654f * (x + 0.044715f * x * x * x)));
}

// A thread takes two elements, half of the array apart.
#define UNARY(name, expression)                                         \
    kernel void name(                                                   \
        constant size_t &n [[buffer(0)]],                               \
        device const float *in [[buffer(1)]],                           \
        device float *out [[buffer(2)]],                                \
        uint t [[thread_position_in_grid]]                              \
    ) {                                                                 \
        const uint count = uint(n);                                     \
        const uint half_count = (count + 1) / 2;                        \
        if (t >= half_count) {                                          \
            return;                                                     \
        }                                                               \
        float x = in[t];                                                \
        out[t] = expression;                                            \
        const uint second = t + half_count;                             \
        if (second < count) {                                           \
            x = in[second];                                             \
            out[second] = expression;                                   \
        }                                                               \
    }

// The angles reach 4095 radians, where the fast variants have lost their
// digits.
UNARY(cos_f32, precise::cos(x))
UNARY(sin_f32, precise::sin(x))
UNARY(silu_f32, silu(x))
UNARY(gelu_f32, gelu(x))

// The same of half precision: a thread takes four elements.
#define UNARY_HALF(name, expression)                                    \
    kernel void name(                                                   \
        constant size_t &n [[buffer(0)]],                               \
        device const half *in [[buffer(1)]],                            \
        device half *out [[buffer(2)]],                                 \
        uint t [[thread_position_in_grid]]                              \
    ) {                                                                 \
        const uint count = uint(n);                                     \
        const uint threads = (count + 3) / 4;                           \
        if (t >= threads) {                                             \
            return;                                                     \
        }                                                               \
        for (uint i = t; i < count; i += threads) {                     \
            const float x = float(in[i]);                               \
            out[i] = half(expression);                                  \
        }                                                               \
    }

UNARY_HALF(cos_f16, precise::cos(x))
UNARY_HALF(sin_f16, precise::sin(x))

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

// The same of a tensor that is not contiguous: a thread makes one element.
#define UNARY_STRIDED(name, expression)                                 \
    kernel void name(                                                   \
        constant size_t &n [[buffer(0)]],                               \
        constant size_t &rank [[buffer(1)]],                            \
        constant size_t *dims [[buffer(2)]],                            \
        constant size_t *strides [[buffer(3)]],                         \
        device const float *in [[buffer(4)]],                           \
        device float *out [[buffer(5)]],                                \
        uint t [[thread_position_in_grid]]                              \
    ) {                                                                 \
        if (t >= uint(n)) {                                             \
            return;                                                     \
        }                                                               \
        const float x = in[element(t, uint(rank), dims, strides)];      \
        out[t] = expression;                                            \
    }

UNARY_STRIDED(silu_f32_strided, silu(x))

// Makes a tensor contiguous: a thread finds and copies one element.
kernel void copy_f32_strided(
    constant size_t &n [[buffer(0)]],
    constant size_t &rank [[buffer(1)]],
    constant size_t *dims [[buffer(2)]],
    constant size_t *strides [[buffer(3)]],
    device const float *in [[buffer(4)]],
    device float *out [[buffer(5)]],
    uint group [[threadgroup_position_in_grid]],
    uint threads [[threads_per_threadgroup]],
    uint simdgroup [[simdgroup_index_in_threadgroup]],
    uint lane [[thread_index_in_simdgroup]]
) {
    const uint count = uint(n), last = uint(rank) - 1;
    const uint first = group * threads + simdgroup * 32; // of the simdgroup
    if (first + lane >= count) {
        return;
    }
    // Where rows are whole simdgroups, one search serves 32 elements.
    const bool shared_row = first % 32 == 0 && uint(dims[last]) % 32 == 0;
    uint i = shared_row ? first : first + lane, at = 0;
    for (uint d = last + 1; d-- > 0;) {
        const uint size = uint(dims[d]);
        const uint rest = i / size;
        at += (i - rest * size) * uint(strides[d]);
        i = rest;
    }
    device float *to = out + first;
    if (!shared_row) {
        to[lane] = in[at];
    } else if (strides[last] == 1) {
        to[lane] = (in + at)[lane];
    } else {
        to[lane] = in[at + lane * uint(strides[last])];
    }
}

// Copies rows × columns elements between two strides. The grid has a row in x
// and a column in y, so that neighbouring threads would touch different rows.
// The threads of a threadgroup are therefore dealt out anew, whole simdgroups
// along one row: w rows of h columns as before, but columns first.
kernel void copy2d_f32(
    constant long &rows [[buffer(0)]],
    constant long &columns [[buffer(1)]],
    constant long &in_stride [[buffer(2)]],
    constant long &out_stride [[buffer(3)]],
    device const float *in [[buffer(4)]],
    device float *out [[buffer(5)]],
    uint3 group [[threadgroup_position_in_grid]],
    uint3 full [[dispatch_threads_per_threadgroup]],
    uint3 size [[threads_per_threadgroup]],
    uint simdgroup [[simdgroup_index_in_threadgroup]],
    uint lane [[thread_index_in_simdgroup]]
) {
    const uint first_row = group.x * full.x, first_column = group.y * full.y;
    if (size.y % 32 == 0) {
        const uint r = simdgroup * 32 / size.y;
        const uint c = first_column + simdgroup * 32 - r * size.y;
        const uint row = first_row + r;
        if (row < uint(rows) && c + lane < uint(columns)) {
            device const float *from = in + row * in_stride + c;
            device float *to = out + row * out_stride + c;
            to[lane] = from[lane];
        }
        return;
    }
    const uint place = simdgroup * 32 + lane;
    const uint r = place / size.y;
    const uint row = first_row + r, column = first_column + place - r * size.y;
    if (row < uint(rows) && column < uint(columns)) {
        out[row * out_stride + column] = in[row * in_stride + column];
    }
}
