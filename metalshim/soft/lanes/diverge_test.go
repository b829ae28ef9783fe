package lanes

import (
	"math"
	"testing"
)

// simd calls f for every simdgroup of a threadgroup with its first thread and
// the first thread after it.
func simd(threads int, f func(first, end int)) {
	for b := 0; b < threads; b += 32 {
		f(b, min(b+32, threads))
	}
}

// divergence: kernels whose lanes part, with what each thread must get. The
// expectation says in plain Go what the active lanes of each operation are.
var divergence = []struct {
	name, src string
	want      func(threads int, out []float32)
}{
	{"if_else", `KERNEL { uint t = sg * 32 + lane; float v = t, r;
		if (lane & 1) r = msl_sy_fadd(v); else r = msl_sy_fmax(v) * 1000;
		OUT(float, 0)[t] = r; }`,
		func(n int, out []float32) {
			simd(n, func(b, e int) {
				var sum, top float32
				for t := b; t < e; t++ {
					if t%2 == 1 {
						sum += float32(t)
					} else {
						top = float32(t)
					}
				}
				for t := b; t < e; t++ {
					out[t] = top * 1000
					if t%2 == 1 {
						out[t] = sum
					}
				}
			})
		}},
	{"same_operation_in_both_branches", `KERNEL { uint t = sg * 32 + lane, r;
		if (lane % 3 == 0) r = msl_sy_iadd(1); else r = msl_sy_iadd(1) + 100;
		OUT(float, 0)[t] = r; }`,
		func(n int, out []float32) {
			simd(n, func(b, e int) {
				third := 0
				for t := b; t < e; t++ {
					if t%32%3 == 0 {
						third++
					}
				}
				for t := b; t < e; t++ {
					out[t] = float32(e - b - third + 100)
					if t%32%3 == 0 {
						out[t] = float32(third)
					}
				}
			})
		}},
	{"loop_of_different_length", `KERNEL { uint t = sg * 32 + lane; float s = 0;
		for (uint i = 0; i <= lane / 4; i++) s += msl_sy_fadd(1.0f) * 100 + i;
		OUT(float, 0)[t] = s; }`,
		func(n int, out []float32) {
			simd(n, func(b, e int) {
				for t := b; t < e; t++ {
					for i := 0; i <= t%32/4; i++ {
						active := 0
						for u := b; u < e; u++ {
							if i <= u%32/4 {
								active++
							}
						}
						out[t] += float32(active*100 + i)
					}
				}
			})
		}},
	{"break_and_continue", `KERNEL { uint t = sg * 32 + lane; float s = 0;
		for (uint i = 0; i < 12; i++) {
			if (i > lane % 5 + 3) break;
			s += msl_sy_fadd(1.0f);
			if ((i + lane) & 1) { s += 0.5f; continue; }
			s += msl_sy_fmax((float)lane) * 10;
		}
		OUT(float, 0)[t] = s; }`,
		func(n int, out []float32) {
			simd(n, func(b, e int) {
				for i := 0; i < 12; i++ {
					active, top := 0, 0
					for t := b; t < e; t++ {
						if l := t % 32; i <= l%5+3 {
							active++
							if (i+l)%2 == 0 {
								top = l
							}
						}
					}
					for t := b; t < e; t++ {
						if l := t % 32; i <= l%5+3 {
							out[t] += float32(active)
							if (i+l)%2 == 1 {
								out[t] += 0.5
							} else {
								out[t] += float32(top * 10)
							}
						}
					}
				}
			})
		}},
	{"early_return", `KERNEL { uint t = sg * 32 + lane; if (t % 7 >= 4) return;
		OUT(float, 0)[t] = msl_sy_fadd((float)t) + msl_sy_active() % 65536; }`,
		func(n int, out []float32) {
			simd(n, func(b, e int) {
				var sum float32
				mask := uint32(0)
				for t := b; t < e; t++ {
					if t%7 < 4 {
						sum += float32(t)
						mask |= 1 << (t - b)
					}
				}
				for t := b; t < e; t++ {
					if t%7 < 4 {
						out[t] = sum + float32(mask%65536)
					}
				}
			})
		}},
	{"uniform_exit_of_divergent_loop", `KERNEL { uint t = sg * 32 + lane; int c = 0; float s = 0;
		while (true) { c++; float m = msl_sy_fmax((float)(lane * 7 % 32 + c)); if (m > (float)(40 + lane % 3)) break; s += m; }
		OUT(float, 0)[t] = s * 100 + c; }`,
		func(n int, out []float32) {
			simd(n, func(b, e int) {
				live := map[int]float32{}
				for t := b; t < e; t++ {
					live[t] = 0
				}
				for c := 1; len(live) > 0; c++ {
					m := 0
					for t := range live {
						m = max(m, t%32*7%32+c)
					}
					for t := range live {
						if m > 40+t%32%3 {
							out[t] = live[t]*100 + float32(c)
							delete(live, t)
						} else {
							live[t] += float32(m)
						}
					}
				}
			})
		}},
	{"nested", `KERNEL { uint t = sg * 32 + lane; float s = 0;
		for (uint i = 0; i < lane % 4 + 1; i++) {
			if (lane & 4) for (uint j = 0; j < i + lane % 3; j++) s += msl_sy_fadd(1.0f);
			else s -= msl_sy_fadd(1.0f);
			s += msl_sy_fadd(0.25f);
		}
		OUT(float, 0)[t] = s; }`,
		func(n int, out []float32) {
			simd(n, func(b, e int) {
				count := func(ok func(l int) bool) (k float32) {
					for t := b; t < e; t++ {
						if ok(t % 32) {
							k++
						}
					}
					return k
				}
				for t := b; t < e; t++ {
					l := t % 32
					for i := 0; i < l%4+1; i++ {
						if l&4 != 0 {
							for j := 0; j < i+l%3; j++ {
								out[t] += count(func(u int) bool { return i < u%4+1 && u&4 != 0 && j < i+u%3 })
							}
						} else {
							out[t] -= count(func(u int) bool { return i < u%4+1 && u&4 == 0 })
						}
						out[t] += 0.25 * count(func(u int) bool { return i < u%4+1 })
					}
				}
			})
		}},
	{"value_of_the_last_iteration", `KERNEL { uint t = sg * 32 + lane; uint i = 0; float u = 0;
		while (i * i < lane * 3) { u = i * 2.0f; i++; }
		OUT(float, 0)[t] = u * 1000 + i + 0.5f * msl_sy_umax(i); }`,
		func(n int, out []float32) {
			simd(n, func(b, e int) {
				top := 0
				last := func(l int) int {
					i := 0
					for i*i < l*3 {
						i++
					}
					return i
				}
				for t := b; t < e; t++ {
					top = max(top, last(t%32))
				}
				for t := b; t < e; t++ {
					i := last(t % 32)
					out[t] = float32(max(i-1, 0)*2*1000+i) + 0.5*float32(top)
				}
			})
		}},
	{"switch", `KERNEL { uint t = sg * 32 + lane; float r = 0;
		switch (lane % 5) { case 0: r = msl_sy_fadd(1.0f); break; case 1: r = 7; case 2: r += msl_sy_fmax((float)lane); break; case 4: r = -1; }
		OUT(float, 0)[t] = r; }`,
		func(n int, out []float32) {
			simd(n, func(b, e int) {
				zeros, top := 0, 0
				for t := b; t < e; t++ {
					switch t % 32 % 5 {
					case 0:
						zeros++
					case 1, 2:
						top = t % 32
					}
				}
				for t := b; t < e; t++ {
					out[t] = []float32{float32(zeros), float32(7 + top), float32(top), 0, -1}[t%32%5]
				}
			})
		}},
	{"barrier_in_uniform_loop", `KERNEL { uint t = sg * 32 + lane, n = g->tgd[0]; static thread_local float m[1024]; static thread_local int guard[3];
		m[t] = t; guard[t % 3] = 1; msl_sy_tgbar(); float s = 0;
		for (uint k = 0; k < 7; k++) {
			float v = m[(t + k) % n]; msl_sy_tgbar();
			if (t % 3 == k % 3) m[t] = v + msl_sy_fadd(1.0f);
			msl_sy_tgbar(); s += m[n - 1 - t];
		}
		OUT(float, 0)[t] = s * guard[0]; }`,
		func(n int, out []float32) {
			m := make([]float32, n)
			for t := range m {
				m[t] = float32(t)
			}
			for k := 0; k < 7; k++ {
				v := make([]float32, n)
				for t := range v {
					v[t] = m[(t+k)%n]
				}
				simd(n, func(b, e int) {
					c := float32(0)
					for t := b; t < e; t++ {
						if t%3 == k%3 {
							c++
						}
					}
					for t := b; t < e; t++ {
						if t%3 == k%3 {
							m[t] = v[t] + c
						}
					}
				})
				for t := range v {
					out[t] += m[n-1-t]
				}
			}
		}},
	{"barrier_after_early_return", `KERNEL { uint t = sg * 32 + lane, n = g->tgd[0]; static thread_local float m[1024];
		m[t] = t * 2; if (t % 11 == 3) return; msl_sy_tgbar();
		float v = m[n - 1 - t]; msl_sy_tgbar(); OUT(float, 0)[t] = v + msl_sy_fadd(1.0f); }`,
		func(n int, out []float32) {
			simd(n, func(b, e int) {
				c := float32(0)
				for t := b; t < e; t++ {
					if t%11 != 3 {
						c++
					}
				}
				for t := b; t < e; t++ {
					if t%11 != 3 {
						out[t] = float32(2*(n-1-t)) + c
					}
				}
			})
		}},
	{"private_array", `KERNEL { uint t = sg * 32 + lane; float a[9];
		for (uint i = 0; i < 9; i++) a[i] = i * t;
		for (uint i = 0; i < lane % 6; i++) a[(i * t + 1) % 9] += msl_sy_fadd(1.0f);
		float s = 0; for (uint i = 0; i < 9; i++) s += a[(i + lane) % 9] * (i + 1);
		OUT(float, 0)[t] = s; }`,
		func(n int, out []float32) {
			simd(n, func(b, e int) {
				for t := b; t < e; t++ {
					l := t % 32
					var a [9]float32
					for i := range a {
						a[i] = float32(i * t)
					}
					for i := 0; i < l%6; i++ {
						for u := b; u < e; u++ {
							if i < u%32%6 {
								a[(i*t+1)%9]++
							}
						}
					}
					for i := range a {
						out[t] += a[(i+l)%9] * float32(i+1)
					}
				}
			})
		}},
}

func TestDivergence(t *testing.T) {
	for _, c := range divergence {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			forms(t, c.src, func(t *testing.T, p program) {
				for _, n := range []int{1, 31, 32, 64, 80, 97} {
					got, want := make([]float32, n), make([]float32, n)
					p.run(t, dispatch{tgd: [3]uint32{uint32(n)}, bufs: []any{got}})
					c.want(n, want)
					for i := range want {
						if math.Abs(float64(got[i]-want[i])) > 1e-4*(1+math.Abs(float64(want[i]))) {
							t.Errorf("%d threads: thread %d got %v, want %v", n, i, got[i], want[i])
							break
						}
					}
				}
			})
		})
	}
}

// TestWatchdog stops kernels that never end by themselves.
func TestWatchdog(t *testing.T) {
	for name, src := range map[string]string{
		"spin":       `KERNEL { while (true) {} }`,
		"spin_store": `KERNEL { while (true) OUT(volatile uint, 0)[lane]++; }`,
		"wait":       `KERNEL { uint t = sg * 32 + lane; for (uint i = 0; IN(volatile uint, 0)[1] == 0; i++) if (msl_sy_iadd(i) == 3) OUT(uint, 0)[2] = t; }`,
		"barriers":   `KERNEL { while (IN(volatile uint, 0)[1] == 0) msl_sy_tgbar(); }`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			forms(t, src, func(t *testing.T, p program) {
				if !p.run(t, dispatch{tgd: [3]uint32{64}, stop: true, bufs: []any{make([]uint32, 64)}}) {
					t.Error("the kernel was not stopped")
				}
			})
		})
	}
}

// TestFlagNotAsked: a loop of known length does not look at the flag, so the
// kernel ends by itself.
func TestFlagNotAsked(t *testing.T) {
	forms(t, `KERNEL { uint s = lane; for (int i = 0; i < 1000; i++) s = s * 1664525 + 1013904223; OUT(uint, 0)[lane] = s; }`,
		func(t *testing.T, p program) {
			got := make([]uint32, 32)
			if p.run(t, dispatch{tgd: [3]uint32{32}, stop: true, bufs: []any{got}}) {
				t.Fatal("a loop of 1000 iterations was stopped")
			}
			for l, g := range got {
				s := uint32(l)
				for range 1000 {
					s = s*1664525 + 1013904223
				}
				if g != s {
					t.Fatalf("lane %d: %d, want %d", l, g, s)
				}
			}
		})
}
