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
    uint t [[thread_position_in_grid]]
) {
    if (t >= uint(n)) {
        return;
    }
    const uint width = uint(right);
    const uint row = t / width;
    const uint left = row / uint(id_count);
    const uint id = ids[row - left * uint(id_count)];
    if (id == 0xFFFFFFFFu) { // no row: a padding entry
        out[t] = 0.0f;
        return;
    }
    // A table may have more than 2³² elements, so its offset has 64 bits.
    const size_t from = size_t(left) * rows + min(id, uint(rows) - 1);
    out[t] = in[from * width + (t - row * width)];
}
