// A float matrix times one vector, for each batch: gemv is out[r] = Σ_k
// matrix[r,k] · vector[k], and gemv_t out[c] = Σ_k matrix[k,c] · vector[k].
//
// In gemv a simdgroup is SM × SN threads. Its SN threads of a row take TN neighbouring
// columns each, of TM neighbouring rows, and go on by all that the BN
// simdgroups of a row take at once. What they have summed they put together by
// halves, and simdgroups of one row through threadgroup memory.
#include <metal_stdlib>
using namespace metal;

template <int BM, int BN, int SM, int SN, int TM, int TN>
[[kernel, max_total_threads_per_threadgroup(BM * BN * 32)]] void gemv(
    device const float *matrix [[buffer(0)]],
    device const float *vector [[buffer(1)]],
    device float *out [[buffer(3)]],
    constant int &columns [[buffer(4)]],
    constant int &rows [[buffer(5)]],
    constant int &ld [[buffer(6)]],
    constant long *vector_stride [[buffer(11)]],
    constant long *matrix_stride [[buffer(12)]],
    uint3 group [[threadgroup_position_in_grid]],
    uint simdgroup [[simdgroup_index_in_threadgroup]],
    uint lane [[thread_index_in_simdgroup]]
) {
    constexpr int step = BN * SN * TN; // columns that a row's threads take at once
    threadgroup float parts[BM * BN * SM * TM];

    const int z = int(group.z);
    matrix += z * matrix_stride[0];
    vector += z * vector_stride[0];
    out += long(z) * rows;

    const int across = int(simdgroup) % BN, down = int(simdgroup) / BN;
    const int local = (down * SM + int(lane) / SN) * TM; // of the threadgroup's rows
    const int row0 = int(group.x) * BM * SM * TM + local;
    const int column0 = (across * SN + int(lane) % SN) * TN;

    float sum[TM];
    _Pragma("unroll")
    for (int i = 0; i < TM; i++) {
        sum[i] = 0.0f;
    }
    for (int k = column0; k < columns; k += step) {
        float v[TN];
        _Pragma("unroll")
        for (int j = 0; j < TN; j++) {
            v[j] = k + j < columns ? vector[k + j] : 0.0f;
        }
        _Pragma("unroll")
        for (int i = 0; i < TM; i++) {
            // A row behind the last reads the last again, and stores nothing.
            device const float *row = matrix + long(min(row0 + i, rows - 1)) * ld + k;
            _Pragma("unroll")
            for (int j = 0; j < TN; j++) {
                sum[i] = fma(k + j < columns ? row[j] : 0.0f, v[j], sum[i]);
            }
        }
    }
    _Pragma("unroll")
    for (int i = 0; i < TM; i++) {
        _Pragma("unroll")
        for (ushort half_row = SN / 2; half_row > 0; half_row /= 2) {
            sum[i] += simd_shuffle_down(sum[i], half_row);
        }
    }
    const bool first = int(lane) % SN == 0;
    if (BN > 1) {
        if (first) {
            for (int i = 0; i < TM; i++) {
                parts[across * BM * SM * TM + local + i] = sum[i];
            }
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (int part = 1; part < BN && first && across == 0; part++) {
            for (int i = 0; i < TM; i++) {
                sum[i] += parts[part * BM * SM * TM + local + i];
            }
        }
    }
    if (first && across == 0) {
        for (int i = 0; i < TM; i++) {
            if (row0 + i < rows) {
                out[row0 + i] = sum[i];
            }
        }
    }
}

#define GEMV(BM, BN, SM, SN, TM, TN)                                                               \
    template [[host_name("gemv_float32_bm" #BM "_bn" #BN "_sm" #SM "_sn" #SN "_tm" #TM "_tn" #TN    \
                         "_nc0_axpby0")]] [[kernel]]                                                \
    decltype(gemv<BM, BN, SM, SN, TM, TN>) gemv<BM, BN, SM, SN, TM, TN>;

GEMV(1, 1, 8, 4, 4, 4)
GEMV(1, 1, 8, 4, 1, 4)
GEMV(1, 8, 1, 32, 4, 4)
GEMV(1, 8, 1, 32, 1, 4)
GEMV(4, 1, 1, 32, 4, 4)
GEMV(4, 1, 1, 32, 1, 4)
GEMV(8, 1, 1, 32, 4, 4)

// A simdgroup is SM × SN threads. Its SM threads of a column take TM neighbouring
// rows each, of TN neighbouring columns, and go on by all that they take at once.
// The BN simdgroups of a threadgroup have columns of their own.
template <int BN, int SM, int SN, int TM, int TN>
[[kernel, max_total_threads_per_threadgroup(BN * 32)]] void gemv_t(
    device const float *matrix [[buffer(0)]],
    device const float *vector [[buffer(1)]],
    device float *out [[buffer(3)]],
    constant int &rows [[buffer(4)]],
    constant int &columns [[buffer(5)]],
    constant int &ld [[buffer(6)]],
    constant long *vector_stride [[buffer(11)]],
    constant long *matrix_stride [[buffer(12)]],
    uint3 group [[threadgroup_position_in_grid]],
    uint simdgroup [[simdgroup_index_in_threadgroup]],
    uint lane [[thread_index_in_simdgroup]]
) {
    const int z = int(group.z);
    matrix += z * matrix_stride[0];
    vector += z * vector_stride[0];
    out += long(z) * columns;

    const int column0 = ((int(group.x) * BN + int(simdgroup)) * SN + int(lane) % SN) * TN;

    float sum[TN];
    _Pragma("unroll")
    for (int j = 0; j < TN; j++) {
        sum[j] = 0.0f;
    }
    for (int k = int(lane) / SN * TM; k < rows; k += SM * TM) {
        _Pragma("unroll")
        for (int i = 0; i < TM; i++) {
            // A row behind the last weighs nothing.
            const float v = k + i < rows ? vector[k + i] : 0.0f;
            device const float *row = matrix + long(min(k + i, rows - 1)) * ld;
            _Pragma("unroll")
            for (int j = 0; j < TN; j++) {
                sum[j] = fma(row[min(column0 + j, columns - 1)], v, sum[j]);
            }
        }
    }
    _Pragma("unroll")
    for (int j = 0; j < TN; j++) {
        _Pragma("unroll")
        for (ushort half_column = SM / 2; half_column > 0; half_column /= 2) {
            sum[j] += simd_shuffle_down(sum[j], half_column * SN);
        }
    }
    if (int(lane) / SN == 0) {
        for (int j = 0; j < TN; j++) {
            if (column0 + j < columns) {
                out[column0 + j] = sum[j];
            }
        }
    }
}

#define GEMV_T(BN, SM, SN, TM, TN)                                                                 \
    template [[host_name("gemv_t_float32_bm1_bn" #BN "_sm" #SM "_sn" #SN "_tm" #TM "_tn" #TN        \
                         "_nc0_axpby0")]] [[kernel]]                                                \
    decltype(gemv_t<BN, SM, SN, TM, TN>) gemv_t<BN, SM, SN, TM, TN>;

GEMV_T(2, 8, 4, 4, 1)
GEMV_T(2, 8, 4, 4, 4)
GEMV_T(4, 8, 4, 4, 4)
GEMV_T(16, 8, 4, 4, 4)
GEMV_T(16, 4, 8, 4, 4)
