package soft

import "testing"

// The families are those of Apple's Metal Feature Set Tables.
func TestAppleFamily(t *testing.T) {
	l := compile(t, testDevice(t), "Families", `#include <metal_stdlib>
#include <metal_simdgroup_matrix>
using namespace metal;
kernel void plain(device float* a [[buffer(0)]], threadgroup float* t [[threadgroup(0)]], uint i [[thread_position_in_grid]], uint l [[thread_index_in_simdgroup]]) {
  t[l] = a[i]; threadgroup_barrier(mem_flags::mem_threadgroup); simdgroup_barrier(mem_flags::mem_none); a[i] = t[31 - l];
}
kernel void shuffles(device float* a [[buffer(0)]], uint i [[thread_position_in_grid]]) { a[i] = simd_shuffle_xor(a[i], 1) + simd_broadcast(a[i], 3); }
kernel void reduces(device float* a [[buffer(0)]], uint i [[thread_position_in_grid]]) { a[i] = simd_sum(a[i]) + simd_shuffle(a[i], 0); }
kernel void multiplies(device float* a [[buffer(0)]]) {
  simdgroup_float8x8 x, y, z(0);
  simdgroup_load(x, a, 8); simdgroup_load(y, a + 64, 8);
  simdgroup_multiply_accumulate(z, x, y, z);
  simdgroup_store(z, a, 8);
}
`)
	for name, want := range map[string]int{"plain": 0, "shuffles": 6, "reduces": 7, "multiplies": 7} {
		if got := pipe(t, l, name).(*pipeline).AppleFamily(); got != want {
			t.Errorf("%s: Apple%d, want Apple%d", name, got, want)
		}
	}
}
