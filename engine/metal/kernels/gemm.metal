// Products of float matrices in batches: D[m,n] = A[m,k] · B, where B lies as
// [k,n] (nn) or as [n,k] (nt).
//
// A threadgroup makes a tile of BM × BN of D. Its simdgroups share the rows; a
// lane keeps the columns lane, lane+32 … of all the rows of its simdgroup in
// registers. So every element of B's tile is read once by one lane for many
// multiplications, and every element of A's by all lanes at once.
#include <metal_stdlib>
using namespace metal;

struct GemmParams {
    int M, N, K;
    int lda, ldb, ldd;
    int tiles_n, tiles_m;
    long batch_stride_a, batch_stride_b, batch_stride_d;
    int swizzle_log, k_iterations, batch_ndim;
};

constant bool has_batch [[function_constant(10)]];
// Whether M, N and K are whole tiles, so that no edge needs a check.
constant bool align_m [[function_constant(200)]];
constant bool align_n [[function_constant(201)]];
constant bool align_k [[function_constant(202)]];

template <typename T, int BM, int BN, int BK, int WM, int WN, bool TRANS_B>
[[kernel, max_total_threads_per_threadgroup(WM * WN * 32)]] void gemm(
    device const T *A [[buffer(0)]],
    device const T *B [[buffer(1)]],
    device T *D [[buffer(3)]],
    constant GemmParams &p [[buffer(4)]],
    constant long *batch_strides [[buffer(7)]],
    uint3 group [[threadgroup_position_in_grid]],
    uint simdgroup [[simdgroup_index_in_threadgroup]],
    uint lane [[thread_index_in_simdgroup]]
) {
    constexpr int simdgroups = WM * WN;
    constexpr int rows = BM / simdgroups;  // of a simdgroup
    constexpr int columns = BN / 32;       // of a lane
    // Rows of B's tile are one longer than needed: writing it transposed would
    // otherwise hit one memory bank 32 times.
    threadgroup float tile_a[BM * BK];
    threadgroup float tile_b[BK * (BN + 1)];

    if (int(group.x) >= p.tiles_n || int(group.y) >= p.tiles_m) {
        return;
    }
    const int row0 = int(group.y) * BM, column0 = int(group.x) * BN;
    const int M = align_m ? BM : min(BM, p.M - row0);
    const int N = align_n ? BN : min(BN, p.N - column0);
    const long z = long(group.z);
    A += z * (has_batch ? batch_strides[0] : p.batch_stride_a) + long(row0) * p.lda;
    B += z * (has_batch ? batch_strides[1] : p.batch_stride_b) + (TRANS_B ? long(column0) * p.ldb : long(column0));
    D += z * p.batch_stride_d + long(row0) * p.ldd + column0;

    // The loops over this array are unrolled, so that it stays in registers.
    float sum[rows][columns];
    _Pragma("unroll")
    for (int i = 0; i < rows; i++) {
        _Pragma("unroll")
        for (int j = 0; j < columns; j++) {
            sum[i][j] = 0.0f;
        }
    }
    for (int k0 = 0; k0 < p.K; k0 += BK) {
        const int K = align_k ? BK : min(BK, p.K - k0);
        threadgroup_barrier(mem_flags::mem_threadgroup);
        // 32/BK rows of A at a time, or one; lanes run along k.
        for (int r = int(simdgroup) * (32 / BK); r < BM; r += simdgroups * (32 / BK)) {
            const int i = r + int(lane) / BK, k = int(lane) % BK;
            tile_a[i * BK + k] = i < M && k < K ? float(A[long(i) * p.lda + k0 + k]) : 0.0f;
        }
        if (TRANS_B) {
            for (int r = int(simdgroup) * (32 / BK); r < BN; r += simdgroups * (32 / BK)) {
                const int j = r + int(lane) / BK, k = int(lane) % BK;
                tile_b[k * (BN + 1) + j] = j < N && k < K ? float(B[long(j) * p.ldb + k0 + k]) : 0.0f;
            }
        } else {
            for (int k = int(simdgroup); k < BK; k += simdgroups) {
                for (int j = int(lane); j < BN; j += 32) {
                    tile_b[k * (BN + 1) + j] = k < K && j < N ? float(B[long(k0 + k) * p.ldb + j]) : 0.0f;
                }
            }
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        threadgroup const float *a = tile_a + int(simdgroup) * rows * BK;
        if (int(simdgroup) * rows < M) {
            for (int k = 0; k < BK; k++) {
                float b[columns];
                _Pragma("unroll")
                for (int j = 0; j < columns; j++) {
                    b[j] = tile_b[k * (BN + 1) + int(lane) + 32 * j];
                }
                _Pragma("unroll")
                for (int i = 0; i < rows; i++) {
                    _Pragma("unroll")
                    for (int j = 0; j < columns; j++) {
                        sum[i][j] = fma(a[i * BK + k], b[j], sum[i][j]);
                    }
                }
            }
        }
    }
    _Pragma("unroll")
    for (int i = 0; i < rows; i++) {
        const int row = int(simdgroup) * rows + i;
        _Pragma("unroll")
        for (int j = 0; j < columns; j++) {
            const int column = int(lane) + 32 * j;
            if (row < M && column < N) {
                D[long(row) * p.ldd + column] = T(sum[i][j]);
            }
        }
    }
}

#define GEMM(T, name, BM, BN, BK, WM, WN, TRANS_B)                                                   \
    template [[host_name(name "_" #BM "_" #BN "_" #BK "_" #WM "_" #WN)]] [[kernel]]                 \
    decltype(gemm<T, BM, BN, BK, WM, WN, TRANS_B>) gemm<T, BM, BN, BK, WM, WN, TRANS_B>;

#define GEMM_FLOAT(BM, BN, BK, WM, WN)                                                              \
    GEMM(float, "gemm_nn_f32_f32", BM, BN, BK, WM, WN, false)                                       \
    GEMM(float, "gemm_nt_f32_f32", BM, BN, BK, WM, WN, true)

GEMM_FLOAT(32, 32, 16, 2, 2)
GEMM_FLOAT(64, 32, 32, 2, 2)
GEMM_FLOAT(32, 64, 16, 1, 2)
GEMM_FLOAT(64, 64, 16, 2, 2)

// Of half precision there are the rotary tables alone.
GEMM(half, "gemm_nn_f16_f16", 32, 32, 16, 2, 2, false)
GEMM(half, "gemm_nn_f16_f16", 64, 64, 16, 1, 2, false)
