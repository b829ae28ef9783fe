package stdlib_test

import (
	"fmt"
	"math"
	"math/bits"
	"strings"
	"testing"
)

// simdThreads is what the tests of simdgroup operations run: three whole
// simdgroups and one of 13 lanes.
const simdThreads = 3*32 + 13

// lanesOf lists the existing threads of thread i's simdgroup.
func lanesOf(i int) (first, end int) { return i &^ 31, min(i|31+1, simdThreads) }

// simdOps are operations with their meaning: f gives the result for the lane
// at position at of the values of those lanes that take part.
var simdOps = []struct {
	call string
	f    func(v []float64, at int) float64
	// floats and ints say for which types it is defined.
	floats, ints bool
}{
	{"simd_sum(v)", fold(func(a, b float64) float64 { return a + b }), true, true},
	{"simd_product(v)", fold(func(a, b float64) float64 { return a * b }), true, true},
	{"simd_max(v)", fold(math.Max), true, true},
	{"simd_min(v)", fold(math.Min), true, true},
	{"simd_and(v)", foldInt(func(a, b int64) int64 { return a & b }), false, true},
	{"simd_or(v)", foldInt(func(a, b int64) int64 { return a | b }), false, true},
	{"simd_xor(v)", foldInt(func(a, b int64) int64 { return a ^ b }), false, true},
	{"simd_prefix_inclusive_sum(v)", prefix(0, true, func(a, b float64) float64 { return a + b }), true, true},
	{"simd_prefix_exclusive_sum(v)", prefix(0, false, func(a, b float64) float64 { return a + b }), true, true},
	{"simd_prefix_inclusive_product(v)", prefix(1, true, func(a, b float64) float64 { return a * b }), true, true},
	{"simd_prefix_exclusive_product(v)", prefix(1, false, func(a, b float64) float64 { return a * b }), true, true},
	{"simd_broadcast_first(v)", func(v []float64, _ int) float64 { return v[0] }, true, true},
}

func fold(f func(a, b float64) float64) func([]float64, int) float64 {
	return func(v []float64, _ int) float64 {
		r := v[0]
		for _, x := range v[1:] {
			r = f(r, x)
		}
		return r
	}
}

func foldInt(f func(a, b int64) int64) func([]float64, int) float64 {
	return fold(func(a, b float64) float64 { return float64(f(int64(a), int64(b))) })
}

func prefix(first float64, inclusive bool, f func(a, b float64) float64) func([]float64, int) float64 {
	return func(v []float64, at int) float64 {
		if inclusive {
			at++
		}
		r := first
		for _, x := range v[:at] {
			r = f(r, x)
		}
		return r
	}
}

// TestSimdReductions runs every reduction and prefix for every type, with all
// lanes and with those of odd number alone, in whole simdgroups and in a
// partial one. The values are small, so that every type holds every result.
func TestSimdReductions(t *testing.T) {
	types := strings.Fields("float half bfloat int uint short ushort char uchar")
	var text strings.Builder
	for _, ty := range types {
		float := ty == "float" || ty == "half" || ty == "bfloat"
		fmt.Fprintf(&text, "kernel void cross_%s(device const float* x, device float* o, uint i [[thread_position_in_grid]]) {\n %[1]s v = %[1]s(x[i]);\n", ty)
		for k, op := range simdOps {
			if float && !op.floats {
				continue
			}
			fmt.Fprintf(&text, " o[%d + i] = float(%s); if (i %% 2 == 1) o[%d + i] = float(%[2]s); else o[%[3]d + i] = -77;\n",
				2*k*simdThreads, op.call, (2*k+1)*simdThreads)
		}
		text.WriteString("}\n")
	}
	l := library(t, text.String())
	x := make([]float32, simdThreads)
	for i := range x {
		x[i] = 1
		if i%11 == 3 {
			x[i] = 2
		}
	}
	for _, ty := range types {
		float := ty == "float" || ty == "half" || ty == "bfloat"
		o := pack(make([]float32, 2*len(simdOps)*simdThreads))
		call(t, l, "cross_"+ty, simdThreads, simdThreads, pack(x), o)
		got := unpack[float32](o)
		for k, op := range simdOps {
			if float && !op.floats {
				continue
			}
			for i := range simdThreads {
				first, end := lanesOf(i)
				for divergent := range 2 {
					want := -77.0
					if divergent == 0 || i%2 == 1 {
						var v []float64
						at := 0
						for j := first; j < end; j++ {
							if divergent == 0 || j%2 == 1 {
								if j == i {
									at = len(v)
								}
								v = append(v, float64(x[j]))
							}
						}
						want = op.f(v, at)
					}
					if g := got[(2*k+divergent)*simdThreads+i]; float64(g) != want {
						t.Fatalf("%s: %s in lane %d of %d, divergent %d: %v, want %v", ty, op.call, i%32, end-first, divergent, g, want)
					}
				}
			}
		}
	}
}

// TestSimdShuffles checks where each shuffle takes its value from, for types
// of every size.
func TestSimdShuffles(t *testing.T) {
	ops := []struct {
		call string
		from func(lane int) int // lane it comes from; out of range: its own
	}{
		{"simd_shuffle(v, ushort(31 - l))", func(l int) int { return 31 - l }},
		{"simd_shuffle_xor(v, 5)", func(l int) int { return l ^ 5 }},
		{"simd_shuffle_down(v, 3)", func(l int) int { return l + 3 }},
		{"simd_shuffle_up(v, 4)", func(l int) int { return l - 4 }},
		{"simd_shuffle_rotate_down(v, 7)", func(l int) int { return (l + 7) % 32 }},
		{"simd_shuffle_rotate_up(v, 7)", func(l int) int { return (l + 25) % 32 }},
		{"simd_broadcast(v, 9)", func(int) int { return 9 }},
		{"quad_broadcast(v, 2)", func(l int) int { return l&^3 + 2 }},
		{"quad_shuffle(v, ushort(3 - (l & 3)))", func(l int) int { return l ^ 3 }},
		{"quad_shuffle_xor(v, 1)", func(l int) int { return l ^ 1 }},
		{"quad_shuffle_up(v, 1)", func(l int) int { return max(l-1, l&^3) }},
		{"quad_shuffle_down(v, 1)", func(l int) int { return min(l+1, l|3) }},
	}
	types := strings.Fields("float half bfloat int uchar bool float2 half4 float4 ulong")
	var text strings.Builder
	for _, ty := range types {
		last := "r"
		if n := ty[len(ty)-1]; n >= '2' && n <= '4' {
			last = fmt.Sprintf("r[%c - 1]", n)
		}
		fmt.Fprintf(&text, "kernel void move_%s(device float* o, uint i [[thread_position_in_grid]], uint l [[thread_index_in_simdgroup]]) {\n %[1]s v = %[1]s(i & 127);\n", ty)
		if ty == "bool" {
			text.WriteString(" v = i % 3 == 1;\n")
		}
		for k, op := range ops {
			fmt.Fprintf(&text, " { %s r = %s; o[%d + i] = float(%s); }\n", ty, op.call, k*simdThreads, last)
		}
		text.WriteString("}\n")
	}
	text.WriteString(`
kernel void fills(device float* o, uint i [[thread_position_in_grid]]) {
  o[i] = simd_shuffle_and_fill_down(float(i), 1000.0f + i, 3); o[128 + i] = simd_shuffle_and_fill_up(float(i), 1000.0f + i, 3);
  o[256 + i] = simd_shuffle_and_fill_down(float(i), 1000.0f + i, 2, 8); o[384 + i] = simd_shuffle_and_fill_up(float(i), 1000.0f + i, 2, 8);
  o[512 + i] = quad_sum(float(i)); o[640 + i] = quad_max(int(i)); o[768 + i] = quad_min(float(i)); o[896 + i] = quad_product(float(i % 4 + 1));
}
kernel void votes(device uint* o, uint i [[thread_position_in_grid]], uint l [[thread_index_in_simdgroup]]) {
  o[i] = uint(simd_vote::vote_t(simd_ballot(l % 3 == 0))); o[128 + i] = simd_all(l < 40) + 2 * simd_all(l < 12) + 4 * simd_any(l > 11) + 8 * simd_any(l > 40);
  o[256 + i] = uint(simd_vote::vote_t(simd_active_threads_mask())) ; o[384 + i] = 7;
  if (l > 4 && l % 2 == 0) { o[384 + i] = simd_is_first(); o[512 + i] = uint(simd_vote::vote_t(simd_ballot(l < 9))); o[640 + i] = simd_all(l > 4) + 2 * simd_any(l == 5); o[768 + i] = simd_active_threads_mask().all(); }
}`)
	l := library(t, text.String())
	for _, ty := range types {
		o := pack(make([]float32, len(ops)*simdThreads))
		call(t, l, "move_"+ty, simdThreads, simdThreads, o)
		got := unpack[float32](o)
		for k, op := range ops {
			for i := range simdThreads {
				first, end := lanesOf(i)
				from := first + op.from(i%32)
				if from < first || from >= first+32 {
					from = i
				}
				if from >= end {
					continue // that lane does not exist: any value
				}
				want := float32(from & 127)
				if ty == "bool" {
					want = float32((from%3)&1) * float32(1-(from%3)>>1)
				}
				if g := got[k*simdThreads+i]; g != want {
					t.Fatalf("%s: %s in lane %d: %v, want %v", ty, op.call, i%32, g, want)
				}
			}
		}
	}
	o := pack(make([]float32, 1024))
	call(t, l, "fills", 128, 128, o)
	got := unpack[float32](o)
	for i := range 128 {
		lane, in := i%32, i%8
		fill := func(ok bool, v, f int) float32 {
			if ok {
				return float32(v)
			}
			return float32(1000 + f)
		}
		q := float32(i &^ 3)
		for k, want := range []float32{
			fill(lane+3 < 32, i+3, i+3-32), fill(lane >= 3, i-3, i-3+32),
			fill(in+2 < 8, i+2, i+2-8), fill(in >= 2, i-2, i-2+8), 4*q + 6, q + 3, q, 24,
		} {
			if g := got[k*128+i]; g != want {
				t.Errorf("fill or quad %d, lane %d: %v, want %v", k, lane, g, want)
			}
		}
	}
	v := pack(make([]uint32, 1024))
	call(t, l, "votes", 128, 128, v)
	votes := unpack[uint32](v)
	var third, even uint32
	for lane := range 32 {
		if lane%3 == 0 {
			third |= 1 << lane
		}
		if lane == 6 || lane == 8 {
			even |= 1 << lane
		}
	}
	for i := range 128 {
		lane := uint32(i % 32)
		want := []uint32{third, 1 + 4, math.MaxUint32, 7, 0, 0, 0}
		if lane > 4 && lane%2 == 0 {
			want[3], want[4], want[5] = 0, even, 1
			if bits.TrailingZeros32(even) == int(lane) {
				want[3] = 1
			}
		}
		for k, w := range want {
			if g := votes[k*128+i]; g != w {
				t.Errorf("vote %d, lane %d: %#x, want %#x", k, lane, g, w)
			}
		}
	}
}

// TestDivergence runs simdgroup operations where lanes have parted: under if
// and else with different operations, in loops that lanes leave at different
// times by their condition, break, continue and return, and after an early
// return, in whole and partial simdgroups. The reference runs lane by lane
// with the sets of lanes that are together.
func TestDivergence(t *testing.T) { inBothForms(t, divergence) }

func divergence(t *testing.T) {
	l := library(t, `
kernel void branches(device float* o, uint i [[thread_position_in_grid]], uint l [[thread_index_in_simdgroup]]) {
  float r;
  if (l & 1) { if (l & 2) r = simd_sum(float(l)); else r = -simd_sum(1.0f); } else r = simd_max(float(i)) * 1000;
  o[i] = r + simd_sum(1.0f);
}
kernel void loops(device float* o, uint i [[thread_position_in_grid]], uint l [[thread_index_in_simdgroup]]) {
  float s = 0;
  for (uint k = 0; k <= l / 4; k++) { if (k == 2 && l % 2) continue; s += simd_sum(1.0f) * 100 + k; if (k == 5 && l % 3 == 0) break; }
  o[i] = s;
}
kernel void leaves(device float* o, device const int* n, uint i [[thread_position_in_grid]]) {
  o[i] = -1;
  if (int(i) >= *n) return;
  o[i] = simd_sum(float(i));
}
kernel void leavesLate(device float* o, uint i [[thread_position_in_grid]], uint l [[thread_index_in_simdgroup]]) {
  float s = 0;
  for (uint k = 0; k < 6; k++) { s += simd_sum(1.0f); o[i] = s; if (k == l % 7) return; if (l % 5 == 0 && k == 3) { s += 1000 * simd_max(float(k)); } }
  o[i] = s + 0.5f;
}
kernel void until(device float* o, uint i [[thread_position_in_grid]], uint l [[thread_index_in_simdgroup]]) {
  int c = 0; float s = 0;
  while (true) { c++; float m = simd_max(float(l * 7 % 32 + c)); if (m > float(40 + l % 3)) break; s += m; }
  o[i] = s * 100 + c;
}
kernel void barriers(device float* o, device const int* n, uint i [[thread_position_in_threadgroup]], uint l [[thread_index_in_simdgroup]]) {
  threadgroup float t[128];
  t[i] = i; threadgroup_barrier(mem_flags::mem_threadgroup);
  float s = 0;
  for (int k = 0; k < *n; k++) {
    float v = t[(i + k) % 109]; threadgroup_barrier(mem_flags::mem_threadgroup);
    if (i % 3 == uint(k % 3)) t[i] = v + simd_sum(1.0f);
    simdgroup_barrier(mem_flags::mem_none); threadgroup_barrier(mem_flags::mem_threadgroup);
    s += t[108 - i]; threadgroup_barrier(mem_flags::mem_none);
  }
  o[i] = s;
}
kernel void switches(device float* o, uint i [[thread_position_in_grid]], uint l [[thread_index_in_simdgroup]]) {
  float r = 0;
  switch (l % 4) { case 0: r = simd_sum(1.0f); break; case 1: r = 10; case 2: r += simd_sum(2.0f); break; default: r = simd_min(float(l)); }
  o[i] = r;
}`)
	// members are the threads of i's simdgroup for which f holds.
	members := func(i int, f func(j int) bool) (out []int) {
		first, end := lanesOf(i)
		for j := first; j < end; j++ {
			if f(j) {
				out = append(out, j)
			}
		}
		return out
	}
	count := func(i int, f func(j int) bool) float64 { return float64(len(members(i, f))) }
	all := func(int) bool { return true }
	check := func(kernel string, want func(i int) float64, args ...[]byte) {
		t.Helper()
		o := pack(make([]float32, simdThreads))
		call(t, l, kernel, simdThreads, simdThreads, append([][]byte{o}, args...)...)
		for i, g := range unpack[float32](o) {
			if w := want(i); float64(g) != w {
				t.Errorf("%s: thread %d has %v, want %v", kernel, i, g, w)
				return
			}
		}
	}
	check("branches", func(i int) float64 {
		whole := count(i, all)
		switch i % 4 {
		case 1:
			return -count(i, func(j int) bool { return j%4 == 1 }) + whole
		case 3:
			s := whole
			for _, j := range members(i, func(j int) bool { return j%4 == 3 }) {
				s += float64(j % 32)
			}
			return s
		}
		even := members(i, func(j int) bool { return j%2 == 0 })
		return float64(even[len(even)-1])*1000 + whole
	})
	check("loops", func(i int) float64 {
		s := 0.0
		in := func(j, k int) bool { // thread j reaches the sum in trip k
			lane := j % 32
			return k <= lane/4 && !(lane%3 == 0 && k > 5 && (k != 2 || true)) && !(k == 2 && lane%2 == 1)
		}
		for k := 0; k <= i%32/4; k++ {
			if in(i, k) {
				s += count(i, func(j int) bool { return in(j, k) })*100 + float64(k)
			}
		}
		return s
	})
	for _, n := range []int32{1, 20, 32, 40, 100, 109} {
		check("leaves", func(i int) float64 {
			if i >= int(n) {
				return -1
			}
			s := 0.0
			for _, j := range members(i, func(j int) bool { return j < int(n) }) {
				s += float64(j)
			}
			return s
		}, pack([]int32{n}))
	}
	check("leavesLate", func(i int) float64 {
		s := 0.0
		for k := range 6 {
			s += count(i, func(j int) bool { return k <= j%32%7 })
			if k == i%32%7 {
				return s
			}
			if i%32%5 == 0 && k == 3 {
				s += 1000 * 3
			}
		}
		return s + 0.5
	})
	check("until", func(i int) float64 {
		live := members(i, all)
		s, result := map[int]float64{}, 0.0
		for c := 1; len(live) > 0; c++ {
			m := 0
			for _, j := range live {
				m = max(m, j%32*7%32+c)
			}
			var next []int
			for _, j := range live {
				if m > 40+j%32%3 {
					if j == i {
						result = s[j]*100 + float64(c)
					}
					continue
				}
				s[j] += float64(m)
				next = append(next, j)
			}
			live = next
		}
		return result
	})
	const trips = 7
	mem, sums := make([]float64, simdThreads), make([]float64, simdThreads)
	for i := range mem {
		mem[i] = float64(i)
	}
	for k := range trips {
		v := make([]float64, simdThreads)
		for i := range v {
			v[i] = mem[(i+k)%109]
		}
		for i := range v {
			if i%3 == k%3 {
				mem[i] = v[i] + count(i, func(j int) bool { return j%3 == k%3 })
			}
		}
		for i := range sums {
			sums[i] += mem[108-i]
		}
	}
	check("barriers", func(i int) float64 { return sums[i] }, pack([]int32{trips}))
	check("switches", func(i int) float64 {
		switch i % 4 {
		case 0:
			return count(i, func(j int) bool { return j%4 == 0 })
		case 3:
			return float64(members(i, func(j int) bool { return j%4 == 3 })[0] % 32)
		}
		// Whether lanes that fall through from case 1 meet those of case 2 is
		// open; they do here.
		r := 2 * count(i, func(j int) bool { return j%4 == 1 || j%4 == 2 })
		if i%4 == 1 {
			r += 10
		}
		return r
	})
}
