// A matrix of weights in blocks times one vector, or times several.
//
// The weights are [N,K], a row after the other. In every kernel a simdgroup
// decodes 32 neighbouring elements of a row at once, a lane each: lanes read
// neighbouring bytes of weights and neighbouring floats of the other operand.
#include <metal_stdlib>
using namespace metal;

// The weights are read once, from memory, and on a CPU what a loop is about to
// read has to be asked for early: where the weights are in no cache, that makes
// the vector kernels four times and the matrix kernels twice as fast. A GPU has
// other threads to run meanwhile, and Metal no word for it: its compiler
// defines neither of these macros.
#if defined(__x86_64__) || defined(__aarch64__)
#define PREFETCH(p) __builtin_prefetch((const void *)(p))
#else
#define PREFETCH(p)
#endif

// A block format says how many bytes a block has, of how many runs of 32
// elements it consists, and what element 32·run + lane is. The layouts are
// those of ggml (ggml-common.h, ggml-quants.c).

static float half_at(device const uchar *p) {
    return float(*(device const half *)p);
}

struct Q8_0 { // half d, int8 q[32]
    static constant constexpr uint bytes = 34, runs = 1;
    static float at(device const uchar *b, uint, uint lane) {
        return half_at(b) * float(((device const char *)b)[2 + lane]);
    }
};

// The formats of 4 and 5 bits keep elements l and l+16 in one byte of 16. They
// are loaded as four words, the same for all lanes, of which each lane then
// picks its own four bits.
static uint word_at(device const uchar *p) { // blocks lie at even addresses only
    device const ushort *h = (device const ushort *)p;
    return uint(h[0]) | (uint(h[1]) << 16);
}

static float nibble(device const uchar *q, uint lane) {
    const uint w0 = word_at(q), w1 = word_at(q + 4), w2 = word_at(q + 8), w3 = word_at(q + 12);
    const uint low = lane & 4 ? w1 : w0;
    const uint high = lane & 4 ? w3 : w2;
    const uint shift = (lane & 3) * 8 + (lane & 16) / 4;
    return float(((lane & 8 ? high : low) >> shift) & 15);
}

static float fifth_bit(device const uchar *h, uint lane) {
    return float((word_at(h) >> lane) & 1) * 16.0f;
}

struct Q4_0 { // half d, q[16]
    static constant constexpr uint bytes = 18, runs = 1;
    static float at(device const uchar *b, uint, uint lane) {
        return half_at(b) * (nibble(b + 2, lane) - 8.0f);
    }
};

struct Q4_1 { // half d, half m, q[16]
    static constant constexpr uint bytes = 20, runs = 1;
    static float at(device const uchar *b, uint, uint lane) {
        return fma(half_at(b), nibble(b + 4, lane), half_at(b + 2));
    }
};

struct Q5_0 { // half d, fifth bits[4], q[16]
    static constant constexpr uint bytes = 22, runs = 1;
    static float at(device const uchar *b, uint, uint lane) {
        return half_at(b) * (nibble(b + 6, lane) + fifth_bit(b + 2, lane) - 16.0f);
    }
};

struct Q5_1 { // half d, half m, fifth bits[4], q[16]
    static constant constexpr uint bytes = 24, runs = 1;
    static float at(device const uchar *b, uint, uint lane) {
        return fma(half_at(b), nibble(b + 8, lane) + fifth_bit(b + 4, lane), half_at(b + 2));
    }
};

struct Q2_K { // scales[16], q[64], half d, half dmin
    static constant constexpr uint bytes = 84, runs = 8;
    static float at(device const uchar *b, uint run, uint lane) {
        const uint low = b[2 * run], high = b[2 * run + 1];
        const uint scale = lane < 16 ? low : high;
        const uint q = (uint(b[16 + 32 * (run / 4) + lane]) >> (2 * (run % 4))) & 3;
        return half_at(b + 80) * float(scale & 15) * float(q) - half_at(b + 82) * float(scale >> 4);
    }
};

struct Q3_K { // high bits[32], q[64], scales[12], half d
    static constant constexpr uint bytes = 110, runs = 8;
    // Scale i of 16 has its low 4 bits in bytes 0–7 and its high 2 in bytes
    // 8–11.
    static int scale(device const uchar *s, uint i) {
        const uint low = i < 8 ? uint(s[i]) & 15 : uint(s[i - 8]) >> 4;
        const uint high = (uint(s[8 + i % 4]) >> (2 * (i / 4))) & 3;
        return int(low | (high << 4)) - 32;
    }
    static float at(device const uchar *b, uint run, uint lane) {
        const int first = scale(b + 96, 2 * run), second = scale(b + 96, 2 * run + 1);
        const int q = int((uint(b[32 + 32 * (run / 4) + lane]) >> (2 * (run % 4))) & 3);
        const int high = int((uint(b[lane]) >> run) & 1);
        return half_at(b + 108) * float(lane < 16 ? first : second) * float(q + 4 * high - 4);
    }
};

// The eight scales and minima of Q4_K and Q5_K, 6 bits each in 12 bytes.
static uint scale6(device const uchar *s, uint j) {
    return j < 4 ? uint(s[j]) & 63 : (uint(s[j + 4]) & 15) | ((uint(s[j - 4]) >> 6) << 4);
}

static uint minimum6(device const uchar *s, uint j) {
    return j < 4 ? uint(s[j + 4]) & 63 : (uint(s[j + 4]) >> 4) | ((uint(s[j]) >> 6) << 4);
}

struct Q4_K { // half d, half dmin, scales[12], q[128]
    static constant constexpr uint bytes = 144, runs = 8;
    static float at(device const uchar *b, uint run, uint lane) {
        const float d = half_at(b) * float(scale6(b + 4, run));
        const float m = half_at(b + 2) * float(minimum6(b + 4, run));
        const uint q = (uint(b[16 + 32 * (run / 2) + lane]) >> (4 * (run % 2))) & 15;
        return d * float(q) - m;
    }
};

struct Q5_K { // half d, half dmin, scales[12], high bits[32], q[128]
    static constant constexpr uint bytes = 176, runs = 8;
    static float at(device const uchar *b, uint run, uint lane) {
        const float d = half_at(b) * float(scale6(b + 4, run));
        const float m = half_at(b + 2) * float(minimum6(b + 4, run));
        const uint q = (uint(b[48 + 32 * (run / 2) + lane]) >> (4 * (run % 2))) & 15;
        const uint high = (uint(b[16 + lane]) >> run) & 1;
        return d * float(q | (high << 4)) - m;
    }
};

struct Q6_K { // q[128], high bits[64], int8 scales[16], half d
    static constant constexpr uint bytes = 210, runs = 8;
    static float at(device const uchar *b, uint run, uint lane) {
        device const char *scales = (device const char *)(b + 192);
        const int first = scales[2 * run], second = scales[2 * run + 1];
        const uint part = run % 4;
        const uint low = (uint(b[64 * (run / 4) + 32 * (part % 2) + lane]) >> (4 * (part / 2))) & 15;
        const uint high = (uint(b[128 + 32 * (run / 4) + lane]) >> (2 * part)) & 3;
        return half_at(b + 208) * float(lane < 16 ? first : second) * (float(low | (high << 4)) - 32.0f);
    }
};

// rows_mv makes ROWS rows from row0 on, so that x is loaded once for all of
// them. What lies far rows further on will be read soon.
template <typename Format, uint ROWS>
static void rows_mv(
    device const uchar *weights, device const float *x, device float *out,
    uint row0, uint rows, uint blocks, uint far, uint lane
) {
    const size_t row_bytes = size_t(blocks) * Format::bytes;
    device const uchar *row[ROWS];
    float sum[ROWS];
    for (uint r = 0; r < ROWS; r++) {
        row[r] = weights + min(row0 + r, rows - 1) * row_bytes;
        sum[r] = 0.0f;
    }
    for (uint b = 0; b < blocks; b++) {
        for (uint r = 0; r < ROWS; r++) {
            for (uint line = 0; line < Format::bytes; line += 64) {
                PREFETCH(row[r] + b * Format::bytes + far * row_bytes + line);
            }
        }
        for (uint run = 0; run < Format::runs; run++) {
            const float v = x[(b * Format::runs + run) * 32 + lane];
            for (uint r = 0; r < ROWS; r++) {
                sum[r] = fma(Format::at(row[r] + b * Format::bytes, run, lane), v, sum[r]);
            }
        }
    }
    for (uint r = 0; r < ROWS; r++) {
        const float total = simd_sum(sum[r]);
        if (lane == 0 && row0 + r < rows) {
            out[row0 + r] = total;
        }
    }
}

// One vector. A threadgroup has SIMDGROUPS simdgroups, each of which makes
// ROWS rows PASSES times.
template <typename Format, uint ROWS, uint PASSES, uint SIMDGROUPS>
[[kernel]] void mul_mv(
    device const uchar *weights [[buffer(0)]],
    device const float *x [[buffer(1)]],
    device float *out [[buffer(2)]],
    constant long &K [[buffer(3)]],
    constant long &N [[buffer(4)]],
    uint group [[threadgroup_position_in_grid]],
    uint simdgroup [[simdgroup_index_in_threadgroup]],
    uint lane [[thread_index_in_simdgroup]]
) {
    const uint row0 = (group * SIMDGROUPS + simdgroup) * ROWS * PASSES;
    const uint blocks = uint(K) / (32 * Format::runs);
    const uint far = 2 * SIMDGROUPS * ROWS * PASSES; // two threadgroups
    for (uint pass = 0; pass < PASSES && row0 + pass * ROWS < uint(N); pass++) {
        rows_mv<Format, ROWS>(weights, x, out, row0 + pass * ROWS, uint(N), blocks, far, lane);
    }
}

// Several vectors: 64 rows of weights × 32 vectors a threadgroup of four
// simdgroups. A simdgroup makes 16 rows, a lane one vector, so that each weight
// is read by all lanes at once for 32 multiplications. The weights are rounded
// to half, as candle's kernels keep them.
template <typename Format>
[[kernel]] void mul_mm(
    device const uchar *weights [[buffer(0)]],
    device const float *x [[buffer(1)]],
    device float *out [[buffer(2)]],
    constant long &K [[buffer(3)]],
    constant size_t &row_bytes [[buffer(5)]],
    constant size_t &vector_bytes [[buffer(10)]],
    constant long &N [[buffer(13)]],
    constant long &vectors [[buffer(14)]],
    threadgroup float *tile_w [[threadgroup(0)]],
    uint2 group [[threadgroup_position_in_grid]],
    uint simdgroup [[simdgroup_index_in_threadgroup]],
    uint lane [[thread_index_in_simdgroup]]
) {
    constexpr uint ROWS = 16;
    // Rows of 33, so that writing 32 neighbours of a vector meets 32 banks.
    threadgroup float tile_x[32 * 33];

    const uint vector0 = group.x * 32;
    const uint row0 = group.y * 64 + simdgroup * ROWS;
    const uint count = min(uint(vectors) - vector0, 32u);
    const uint rows = row0 < uint(N) ? min(uint(N) - row0, ROWS) : 0;
    threadgroup float *w = tile_w + simdgroup * ROWS * 32;

    float sum[ROWS];
    _Pragma("unroll")
    for (uint r = 0; r < ROWS; r++) {
        sum[r] = 0.0f;
    }
    for (uint k0 = 0; k0 < uint(K); k0 += 32) {
        const uint block = k0 / (32 * Format::runs);
        const uint run = k0 / 32 - block * Format::runs;
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (uint v = simdgroup; v < count; v += 4) {
            device const float *from = (device const float *)((device const uchar *)x + (vector0 + v) * vector_bytes);
            tile_x[lane * 33 + v] = from[k0 + lane];
        }
        for (uint r = 0; r < rows; r++) {
            device const uchar *b = weights + (row0 + r) * row_bytes + block * Format::bytes;
            PREFETCH(b + run * (Format::bytes / Format::runs) + 64 * row_bytes); // for the next threadgroup
            w[r * 32 + lane] = float(half(Format::at(b, run, lane)));
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (uint k = 0; k < 32; k += 4) {
            const float x0 = tile_x[k * 33 + lane], x1 = tile_x[k * 33 + 33 + lane];
            const float x2 = tile_x[k * 33 + 66 + lane], x3 = tile_x[k * 33 + 99 + lane];
            _Pragma("unroll")
            for (uint r = 0; r < ROWS; r++) {
                const float4 v = *(threadgroup const float4 *)(w + r * 32 + k);
                sum[r] = fma(v.x, x0, fma(v.y, x1, fma(v.z, x2, fma(v.w, x3, sum[r]))));
            }
        }
    }
    if (lane >= count) {
        return;
    }
    device float *to = out + size_t(vector0 + lane) * uint(N) + row0;
    _Pragma("unroll")
    for (uint r = 0; r < ROWS; r++) {
        if (r < rows) {
            to[r] = sum[r];
        }
    }
}

// The rows and simdgroups of the vector kernels are what the host launches.
#define MUL(Format, name, ROWS, PASSES, SIMDGROUPS)                                                  \
    template [[host_name("kernel_mul_mv_" name "_f32")]] [[kernel]]                                  \
    decltype(mul_mv<Format, ROWS, PASSES, SIMDGROUPS>) mul_mv<Format, ROWS, PASSES, SIMDGROUPS>;     \
    template [[host_name("kernel_mul_mm_" name "_f32")]] [[kernel]]                                  \
    decltype(mul_mm<Format>) mul_mm<Format>;

MUL(Q4_0, "q4_0", 4, 1, 2)
MUL(Q4_1, "q4_1", 4, 1, 2)
MUL(Q5_0, "q5_0", 4, 1, 2)
MUL(Q5_1, "q5_1", 4, 1, 2)
MUL(Q8_0, "q8_0", 4, 1, 2)
MUL(Q2_K, "q2_K", 2, 1, 2)
MUL(Q3_K, "q3_K", 2, 1, 2)
MUL(Q4_K, "q4_K", 2, 2, 1)
MUL(Q5_K, "q5_K", 2, 1, 2)
MUL(Q6_K, "q6_K", 1, 1, 2)
