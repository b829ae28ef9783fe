// Rows of a table, chosen by number.
#include <metal_stdlib>
using namespace metal;

// out[left, id, right] = in[left, ids[id], right]; a thread makes one element.
// The table is contiguous: arguments 1, 5, 6 and 7, which describe one that is
// not, are unused.
kernel void is_u32_f32(
    constant size_t &n [[buffer(0)]],
    constant size_t &rows [[buffer(2)]],
    constant size_t &right [[buffer(3)]],
    constant size_t &id_count [[buffer(4)]],
    device const float *in [[buffer(8)]],
    device const uint *ids [[buffer(9)]],
    device float *out [[buffer(10)]],
    uint group [[threadgroup_position_in_grid]],
    uint threads [[threads_per_threadgroup]],
    uint simdgroup [[simdgroup_index_in_threadgroup]],
    uint lane [[thread_index_in_simdgroup]]
) {
    const uint width = uint(right), count = uint(id_count);
    const uint first = group * threads + simdgroup * 32; // of the simdgroup
    if (first + lane >= uint(n)) {
        return;
    }
    // Where rows are whole simdgroups, one search serves 32 elements.
    const bool shared_row = first % 32 == 0 && width % 32 == 0;
    const uint i = shared_row ? first : first + lane;
    const uint row = i / width;
    const uint left = row / count;
    const uint id = ids[row - left * count];
    const bool padding = id == 0xFFFFFFFFu;
    // A table may have more than 2³² elements, so its offset has 64 bits.
    const size_t from = (size_t(left) * rows + min(id, uint(rows) - 1)) * width + (i - row * width);
    device float *to = out + first;
    if (shared_row) {
        device const float *source = in + from;
        to[lane] = padding ? 0.0f : source[lane];
    } else {
        to[lane] = padding ? 0.0f : in[from];
    }
}
