package stdlib_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// TestAtomics lets many threadgroups work on the same memory: what is lost
// or doubled would show.
func TestAtomics(t *testing.T) {
	var text strings.Builder
	for _, ty := range []string{"int", "uint"} {
		fmt.Fprintf(&text, `
kernel void count_%[1]s(device atomic_%[1]s* a, device %[1]s* seen, uint i [[thread_position_in_grid]], uint l [[thread_position_in_threadgroup]]) {
  threadgroup atomic_%[1]s local;
  if (l == 0) atomic_store_explicit(&local, 0, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  seen[atomic_fetch_add_explicit(a, 1, memory_order_relaxed)] = 1;
  atomic_fetch_sub_explicit(a + 1, 2, memory_order_relaxed);
  atomic_fetch_max_explicit(a + 2, %[1]s(i * 7 %% 1000), memory_order_relaxed);
  atomic_fetch_min_explicit(a + 3, %[1]s(i * 7 %% 1000) - 500, memory_order_relaxed);
  atomic_fetch_or_explicit(a + 4, %[1]s(1u << (i %% 32)), memory_order_relaxed);
  atomic_fetch_and_explicit(a + 5, ~%[1]s(1u << (i %% 31)), memory_order_relaxed);
  atomic_fetch_xor_explicit(a + 6, %[1]s(i), memory_order_relaxed);
  atomic_fetch_add_explicit(&local, %[1]s(l), memory_order_relaxed);
  %[1]s old = atomic_load_explicit(a + 7, memory_order_relaxed);
  while (!atomic_compare_exchange_weak_explicit(a + 7, &old, old + 3, memory_order_relaxed, memory_order_relaxed)) {}
  if (atomic_exchange_explicit(a + 8 + i / 64, 1, memory_order_relaxed) == 0) atomic_fetch_add_explicit(a + 40, 1, memory_order_relaxed);
  atomic_thread_fence(mem_flags::mem_device, memory_order_seq_cst, thread_scope_device);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (l == 0) atomic_fetch_add_explicit(a + 41, atomic_load_explicit(&local, memory_order_relaxed), memory_order_relaxed);
}`, ty)
	}
	l := library(t, text.String()+`
kernel void others(device atomic_float* f, device atomic_bool* b, device atomic_ulong* u, device atomic_float* c, uint i [[thread_position_in_grid]]) {
  atomic_fetch_add_explicit(f, 0.5f, memory_order_relaxed); atomic_fetch_sub_explicit(f + 1, 0.25f, memory_order_relaxed);
  atomic_store_explicit(f + 2, 1.5f, memory_order_relaxed); atomic_exchange_explicit(f + 3, 2.5f, memory_order_relaxed);
  float old = atomic_load_explicit(c, memory_order_relaxed);
  while (!atomic_compare_exchange_weak_explicit(c, &old, old + 1.0f, memory_order_relaxed, memory_order_relaxed)) {}
  atomic_store_explicit(b, true, memory_order_relaxed); if (atomic_load_explicit(b, memory_order_relaxed)) atomic_store_explicit(b + 1, true, memory_order_relaxed);
  atomic_max_explicit(u, ulong(i) << 33, memory_order_relaxed); atomic_min_explicit(u + 1, ulong(i + 5) << 33, memory_order_relaxed);
}`)
	const n = 2048
	var xor uint32
	for i := range uint32(n) {
		xor ^= i
	}
	for _, ty := range []string{"int", "uint"} {
		start := make([]uint32, 48)
		start[1], start[5] = 2*n, math.MaxUint32
		a, seen := pack(start), pack(make([]uint32, n))
		call(t, l, "count_"+ty, n, 64, a, seen)
		got := unpack[uint32](a)
		low := int32(-500)
		if ty == "uint" {
			low = 0 // what it starts from
		}
		for k, want := range map[int]uint32{0: n, 1: 0, 2: 999, 3: uint32(low), 4: math.MaxUint32, 5: 1 << 31, 6: xor, 7: 3 * n, 40: n / 64, 41: n / 64 * 64 * 63 / 2} {
			if got[k] != want {
				t.Errorf("%s: counter %d is %#x, want %#x", ty, k, got[k], want)
			}
		}
		for i, s := range unpack[uint32](seen) {
			if s != 1 {
				t.Fatalf("%s: nobody got the number %d", ty, i)
			}
		}
	}
	f, b, u, c := pack([]float32{0, 0, 0, 0}), make([]byte, 4), pack([]uint64{0, math.MaxUint64}), pack([]float32{0})
	call(t, l, "others", n, 64, f, b, u, c)
	if g := unpack[float32](f); g[0] != n/2 || g[1] != -n/4 || g[2] != 1.5 || g[3] != 2.5 {
		t.Errorf("floats %v", g)
	}
	if g := unpack[float32](c)[0]; g != n {
		t.Errorf("compare and exchange of floats counted %v, want %d", g, n)
	}
	if b[0] != 1 || b[1] != 1 {
		t.Errorf("bools %v", b)
	}
	if g := unpack[uint64](u); g[0] != (n-1)<<33 || g[1] != 5<<33 {
		t.Errorf("ulongs %#x", g)
	}
}

// TestSimdgroupMatrix checks loads, stores and products of 8×8 matrices
// against plain loops, for each element type, with strides, origins and
// transposition.
func TestSimdgroupMatrix(t *testing.T) {
	types := []struct {
		name string
		f    format
	}{{"float", single}, {"half", half}, {"bfloat", bfloat}}
	var text strings.Builder
	for _, ty := range types {
		fmt.Fprintf(&text, `
kernel void product_%[1]s(device const %[1]s* a, device const %[1]s* b, device %[1]s* o, uint l [[thread_index_in_simdgroup]]) {
  simdgroup_%[1]s8x8 x, y, z, w; simdgroup_float8x8 acc(0);
  simdgroup_load(x, a, 10); simdgroup_load(y, b, 12, ulong2(2, 1)); simdgroup_load(w, b, 12, ulong2(1, 2), true);
  simdgroup_multiply(z, x, y); simdgroup_store(z, o);
  simdgroup_multiply_accumulate(z, x, w, z); simdgroup_store(z, o + 64);
  for (int k = 0; k < 3; k++) simdgroup_multiply_accumulate(acc, x, y, acc);
  threadgroup float t[64]; simdgroup_store(acc, t, 8, ulong2(0, 0), true);
  simdgroup_barrier(mem_flags::mem_threadgroup);
  o[128 + l] = %[1]s(t[l]); o[160 + l] = %[1]s(t[32 + l]);
  simdgroup_store(simdgroup_%[1]s8x8(%[1]s(3)), o + 192); simdgroup_store(make_filled_simdgroup_matrix<%[1]s, 8, 8>(%[1]s(2)), o + 256, 8, ulong2(0, 0), true);
  x.thread_elements()[0] += %[1]s(1); x.thread_elements()[1] = %[1]s(l); simdgroup_store(x, o + 320);
  z = x * y; simdgroup_store(z, o + 384);
}`, ty.name)
	}
	l := library(t, text.String())
	for _, ty := range types {
		a, b := make([]float64, 80), make([]float64, 144)
		for i := range a {
			a[i] = float64(i*7%13) - 6
		}
		for i := range b {
			b[i] = float64(i*5%11) - 5
		}
		got := evaluate(t, l, "product_"+ty.name, ty.f, 32, 448, a, b)
		x := func(r, c int) float64 { return a[r*10+c] }
		y := func(r, c int) float64 { return b[(r+1)*12+c+2] }
		// The origin of a transposed load is given in columns and rows of the
		// matrix, so it is x along the memory's rows here too.
		w := func(r, c int) float64 { return b[(1+c)*12+2+r] }
		product := func(x, y func(r, c int) float64, r, c int) (s float64) {
			for k := range 8 {
				s += x(r, k) * y(k, c)
			}
			return s
		}
		changed := func(r, c int) float64 {
			// The lane that holds this element, and which of its two it is.
			lane := r&4<<2 | r&3<<1 | c&4<<1 | c&2>>1
			if c&1 == 0 {
				return x(r, c) + 1
			}
			return float64(lane)
		}
		for r := range 8 {
			for c := range 8 {
				xy := ty.f.round(product(x, y, r, c))
				diagonal := 0.0
				if r == c {
					diagonal = 3
				}
				for k, want := range []float64{
					xy, ty.f.round(xy + product(x, w, r, c)), ty.f.round(3 * product(x, y, c, r)), diagonal, 2, changed(r, c), ty.f.round(product(changed, y, r, c)),
				} {
					if g := got[k*64+r*8+c]; g != want {
						t.Errorf("%s: matrix %d, row %d, column %d: %v, want %v", ty.name, k, r, c, g, want)
					}
				}
			}
		}
	}
}
