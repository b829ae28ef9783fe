package lanes

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// opsKernel applies every operation on 32-bit values to the lanes of a mask.
const opsKernel = `
#define EACH(n, v) OUT(uint, 2)[(n) * 32 + lane] = (v)
#define EACHF(n, v) OUT(float, 3)[(n) * 32 + lane] = (v)
KERNEL {
  uint v = IN(uint, 0)[lane], m = IN(uint, 0)[32], s = IN(uint, 0)[33 + lane], u = IN(uint, 0)[65];
  float f = IN(float, 1)[lane];
  if (m >> lane & 1) {
    EACH(0, msl_sy_iadd(v)); EACH(1, msl_sy_imul(v)); EACH(2, msl_sy_and(v)); EACH(3, msl_sy_or(v)); EACH(4, msl_sy_xor(v));
    EACH(5, msl_sy_smax(v)); EACH(6, msl_sy_smin(v)); EACH(7, msl_sy_umax(v)); EACH(8, msl_sy_umin(v));
    EACH(9, msl_sy_ipadd(v)); EACH(10, msl_sy_ixadd(v)); EACH(11, msl_sy_ipmul(v)); EACH(12, msl_sy_ixmul(v));
    EACH(13, msl_sy_sh(v, s)); EACH(14, (uint)(msl_sy_shl((ulong)v << 32 | s, s) >> 32)); EACH(15, msl_sy_bc(v, u)); EACH(16, (uint)msl_sy_bcl(v, u));
    EACH(17, msl_sy_first(v)); EACH(18, (uint)(msl_sy_firstl((ulong)v << 32) >> 32)); EACH(19, msl_sy_ballot(v & 1)); EACH(20, msl_sy_active());
    EACH(21, msl_sy_sh(v, lane + 5)); EACH(22, msl_sy_sh(v, lane - 3)); EACH(23, msl_sy_sh(v, lane ^ 9)); EACH(24, msl_sy_sh(v, lane + u)); EACH(25, msl_sy_sh(v, 4));
    EACHF(0, msl_sy_fadd(f)); EACHF(1, msl_sy_fmul(f)); EACHF(2, msl_sy_fmax(f)); EACHF(3, msl_sy_fmin(f));
    EACHF(4, msl_sy_fpadd(f)); EACHF(5, msl_sy_fxadd(f)); EACHF(6, msl_sy_fpmul(f)); EACHF(7, msl_sy_fxmul(f));
  }
}`

// wantOps computes what lane l gets of each integer operation.
func wantOps(v, s []uint32, m, u uint32, l int) []uint32 {
	on := func(i uint32) bool { return i < 32 && m>>i&1 == 1 }
	first := -1
	sum, mul, and, or, xor := uint32(0), uint32(1), ^uint32(0), uint32(0), uint32(0)
	smax, smin, umax, umin := int32(math.MinInt32), int32(math.MaxInt32), uint32(0), ^uint32(0)
	psum, pmul, bal := uint32(0), uint32(1), uint32(0)
	for i := range 32 {
		if !on(uint32(i)) {
			continue
		}
		if first < 0 {
			first = i
		}
		if i < l {
			psum, pmul = psum+v[i], pmul*v[i]
		}
		sum, mul, and, or, xor = sum+v[i], mul*v[i], and&v[i], or|v[i], xor^v[i]
		smax, smin, umax, umin = max(smax, int32(v[i])), min(smin, int32(v[i])), max(umax, v[i]), min(umin, v[i])
		bal |= v[i] & 1 << i
	}
	from := func(q uint32, other int) uint32 {
		if on(q) {
			return v[q]
		}
		return v[other]
	}
	self := uint32(l)
	return []uint32{sum, mul, and, or, xor, uint32(smax), uint32(smin), umax, umin, psum + v[l], psum, pmul * v[l], pmul,
		from(s[l], l), from(s[l], l), from(u, first), from(u, first), v[first], v[first], bal, m,
		from(self+5, l), from(self-3, l), from(self^9, l), from(self+u, l), from(4, l)}
}

func TestOperations(t *testing.T) {
	forms(t, opsKernel, func(t *testing.T, p program) {
		r := rand.New(rand.NewPCG(7, 7))
		for _, m := range []uint32{^uint32(0), 1, 1 << 31, 0x55555555, 0x0000fff0, 0x80000001, r.Uint32(), r.Uint32()} {
			in := make([]uint32, 66)
			f := make([]float32, 32)
			for i := range 32 {
				in[i] = r.Uint32()
				in[33+i] = r.Uint32() % 40
				f[i] = float32(r.IntN(16)-8) / 4
			}
			if m&2 != 0 {
				f[3] = float32(math.NaN())
			}
			in[32], in[65] = m, r.Uint32()%35
			out, outf := make([]uint32, 26*32), make([]float32, 8*32)
			p.run(t, dispatch{tgd: [3]uint32{32}, bufs: []any{in, f, out, outf}})
			for l := range 32 {
				if m>>l&1 == 0 {
					continue
				}
				for k, w := range wantOps(in[:32], in[33:65], m, in[65], l) {
					if g := out[32*k+l]; g != w {
						t.Fatalf("mask %08x, operation %d, lane %d: %#x, want %#x", m, k, l, g, w)
					}
				}
				checkFloats(t, f, m, l, func(k int) float32 { return outf[32*k+l] })
			}
		}
	})
}

func checkFloats(t *testing.T, f []float32, m uint32, l int, got func(int) float32) {
	t.Helper()
	sum, mul, top, low, psum, pmul := 0.0, 1.0, math.NaN(), math.NaN(), 0.0, 1.0
	for i := range 32 {
		if m>>i&1 == 0 {
			continue
		}
		v := float64(f[i])
		if i < l {
			psum, pmul = psum+v, pmul*v
		}
		sum, mul = sum+v, mul*v
		if !(v <= top) && !math.IsNaN(v) {
			top = v
		}
		if !(v >= low) && !math.IsNaN(v) {
			low = v
		}
	}
	v := float64(f[l])
	for k, w := range []float64{sum, mul, top, low, psum + v, psum, pmul * v, pmul} {
		g := float64(got(k))
		if math.IsNaN(w) && math.IsNaN(g) {
			continue
		}
		if !(math.Abs(g-w) <= 1e-5*(1+math.Abs(w))) {
			t.Fatalf("mask %08x, float operation %d, lane %d: %v, want %v", m, k, l, g, w)
		}
	}
}

// TestMatrices multiplies 8x8 matrices that were loaded and stored in all ways.
func TestMatrices(t *testing.T) {
	src := `
static inline ulong pack(float a, float b) { float2 v = {a, b}; return __builtin_bit_cast(ulong, v); }
static inline float half_of(uint v, int k) { return (float)__builtin_bit_cast(_Float16, (unsigned short)(v >> (16 * k))); }
KERNEL {
  ulong ld = IN(uint, 0)[0];
  ulong a = msl_sy_mld32(IN(float, 1), ld), b = msl_sy_mldt32(IN(float, 2), ld);
  uint h = msl_sy_mld16(IN(short, 3), ld), ht = msl_sy_mldt16(IN(short, 3), ld);
  ulong c = pack(half_of(h, 0), half_of(h, 1));
  for (uint i = 0; i < IN(uint, 0)[1]; i++) c = msl_sy_mma(a, b, c);
  msl_sy_mst32(c, OUT(float, 4), 8); msl_sy_mstt32(c, OUT(float, 5), 9);
  msl_sy_mst16(ht, OUT(short, 6), 8); msl_sy_mstt16(ht, OUT(short, 7), 10);
  OUT(ulong, 8)[lane] = c;
}`
	forms(t, src, func(t *testing.T, p program) {
		r := rand.New(rand.NewPCG(3, 3))
		ld, times := 11, 3
		a, b, h := make([]float32, 8*ld), make([]float32, 8*ld), make([]uint16, 8*ld)
		half := make([]float64, 8*ld)
		for i := range a {
			a[i], b[i] = float32(r.IntN(9)-4), float32(r.IntN(9)-4)
			k := r.IntN(8) // a half that is a power of two
			h[i], half[i] = uint16(15+k-4)<<10, math.Ldexp(1, k-4)
		}
		c, ct := make([]float32, 64), make([]float32, 72)
		hh, ht := make([]uint16, 64), make([]uint16, 80)
		lanes := make([]float32, 64)
		p.run(t, dispatch{tgd: [3]uint32{32}, bufs: []any{[]uint32{uint32(ld), uint32(times)}, a, b, h, c, ct, hh, ht, lanes}})
		for i := range 8 {
			for j := range 8 {
				w := half[i*ld+j]
				for k := range 8 {
					w += float64(times) * float64(a[i*ld+k]) * float64(b[j*ld+k])
				}
				if g := float64(c[8*i+j]); g != w {
					t.Fatalf("element %d,%d: %v, want %v", i, j, g, w)
				}
				if g := float64(ct[9*j+i]); g != w {
					t.Fatalf("transposed element %d,%d: %v, want %v", i, j, g, w)
				}
				if hh[8*i+j] != h[j*ld+i] || ht[10*j+i] != h[j*ld+i] {
					t.Fatalf("half element %d,%d: %#x and %#x, want %#x", i, j, hh[8*i+j], ht[10*j+i], h[j*ld+i])
				}
			}
		}
		for l := range 32 { // the layout that Metal's thread_elements shows
			row, col := (l>>2)&4+(l>>1)&3, (l>>1)&4+(l&1)<<1
			if lanes[2*l] != c[8*row+col] || lanes[2*l+1] != c[8*row+col+1] {
				t.Fatalf("lane %d does not hold row %d, columns %d and %d", l, row, col, col+1)
			}
		}
	})
}

// TestPositions checks x, y and z, which the runtime hands over in the frame.
func TestPositions(t *testing.T) {
	forms(t, `KERNEL { uint t = sg * 32 + lane; OUT(uint, 0)[t] = x + 100 * y + 10000 * z + IN(uint, 1)[x]; OUT(uint, 2)[g->tgp[0] * g->tgd[0] + x] = t; }`,
		func(t *testing.T, p program) {
			for _, d := range [][3]uint32{{64, 1, 1}, {32, 2, 2}, {8, 8, 1}, {3, 5, 2}, {40, 2, 1}, {2, 30, 1}} {
				n := d[0] * d[1] * d[2]
				got, in, last := make([]uint32, n), make([]uint32, d[0]), make([]uint32, d[0])
				for i := range in {
					in[i] = uint32(i * i)
				}
				p.run(t, dispatch{tgd: d, bufs: []any{got, in, last}})
				for i := range n {
					x, y, z := i%d[0], i/d[0]%d[1], i/d[0]/d[1]
					if w := x + 100*y + 10000*z + x*x; got[i] != w {
						t.Fatalf("threadgroup %v, thread %d: %d, want %d", d, i, got[i], w)
					}
				}
				for x, g := range last {
					if w := n - d[0] + uint32(x); g != w {
						t.Fatalf("threadgroup %v, x %d: last writer %d, want %d", d, x, g, w)
					}
				}
			}
		})
}

// TestMemory reads and writes every element size with every kind of address,
// at the very ends of the buffers.
func TestMemory(t *testing.T) {
	for _, c := range []struct{ typ, bits string }{{"uchar", "8"}, {"unsigned short", "16"}, {"uint", "32"}, {"ulong", "64"}, {"float4", "128"}} {
		src := fmt.Sprintf(`typedef %s T; KERNEL { uint t = sg * 32 + lane, n = g->tgd[0];
			OUT(T, 0)[t] = IN(T, 1)[t]; OUT(T, 2)[n - 1 - t] = IN(T, 1)[n - 1 - t];
			OUT(T, 3)[3 * t] = IN(T, 1)[t / 4]; OUT(T, 3)[3 * t + 1] = IN(T, 1)[IN(uint, 4)[t]]; OUT(T, 3)[3 * t + 2] = IN(T, 1)[5];
			if (lane & 1) OUT(T, 5)[IN(uint, 4)[t]] = IN(T, 1)[(int)t - 1]; }`, c.typ)
		t.Run(c.bits, func(t *testing.T) {
			forms(t, src, func(t *testing.T, p program) {
				var size int
				fmt.Sscan(c.bits, &size)
				size /= 8
				const n = 77
				r := rand.New(rand.NewPCG(5, 5))
				in, perm := make([]byte, n*size), r.Perm(n)
				for i := range in {
					in[i] = byte(r.Uint32())
				}
				if c.typ == "float4" {
					for i := range in {
						in[i] &= 0x3f // no NaN that a move could change
					}
				}
				idx := make([]uint32, n)
				for i := range idx {
					idx[i] = uint32(perm[i])
				}
				o0, o2, o3, o5 := make([]byte, n*size), make([]byte, n*size), make([]byte, 3*n*size), make([]byte, n*size)
				p.run(t, dispatch{tgd: [3]uint32{n}, bufs: []any{o0, in, o2, o3, idx, o5}})
				at := func(b []byte, i int) string { return fmt.Sprintf("%x", b[i*size:(i+1)*size]) }
				for i := range n {
					for k, g := range map[string]string{at(o0, i): at(in, i), at(o2, i): at(in, i), at(o3, 3*i): at(in, i/4),
						at(o3, 3*i+1): at(in, int(idx[i])), at(o3, 3*i+2): at(in, 5)} {
						if k != g {
							t.Fatalf("thread %d: %s, want %s", i, k, g)
						}
					}
					w := fmt.Sprintf("%x", make([]byte, size))
					if i%32&1 == 1 {
						w = at(in, i-1)
					}
					if g := at(o5, int(idx[i])); g != w {
						t.Fatalf("thread %d stored %s, want %s", i, g, w)
					}
				}
			})
		})
	}
}

// arithmeticKernel divides, rounds to 16-bit floats, and adds up atomically.
const arithmeticKernel = `typedef _Float16 half; typedef __bf16 bf;
KERNEL { uint t = sg * 32 + lane; int a = IN(int, 0)[t], b = IN(int, 0)[t + 64];
  int *o = OUT(int, 1) + 8 * t;
  if (b != 0) { o[0] = a / b; o[1] = a % b; o[2] = (uint)a / (uint)b; o[3] = (uint)a % (uint)b; }
  half h = (half)(a * 0.37f), k = (half)(b * 0.11f); o[4] = (int)((float)(half)(h + k) * 64);
  bf p = (bf)(a * 0.37f), q = (bf)(b * 0.11f); o[5] = (int)((float)(bf)(p + q) * 64);
  if (t % 3) o[6] = __atomic_fetch_add(OUT(uint, 2), a & 7, 0) >= 0;
  __atomic_fetch_max(OUT(int, 2) + 1 + t % 2, a, 0);
  o[7] = __builtin_popcount(a) + __builtin_clz(b | 1); }`

// TestArithmetic compares 16-bit floats, divisions and atomics with Go's.
func TestArithmetic(t *testing.T) { forms(t, arithmeticKernel, checkArithmetic) }

func checkArithmetic(t *testing.T, p program) {
	t.Helper()
	r := rand.New(rand.NewPCG(9, 9))
	in := make([]int32, 128)
	for i := range in {
		in[i] = int32(r.IntN(400) - 200)
	}
	in[64+7], in[64+40] = 0, 0
	got, atom := make([]int32, 8*64), []int32{0, -1 << 31, -1 << 31}
	p.run(t, dispatch{tgd: [3]uint32{64}, bufs: []any{in, got, atom}})
	want := []int32{0, -1 << 31, -1 << 31}
	for i := range 64 {
		a, b := in[i], in[64+i]
		o := got[8*i:]
		if b != 0 && (o[0] != a/b || o[1] != a%b || o[2] != int32(uint32(a)/uint32(b)) || o[3] != int32(uint32(a)%uint32(b))) {
			t.Fatalf("thread %d: %d and %d give %v", i, a, b, o[:4])
		}
		if i%3 != 0 {
			want[0] += a & 7
		}
		want[1+i%2] = max(want[1+i%2], a)
		h, k := toHalf(float64(float32(a)*0.37)), toHalf(float64(float32(b)*0.11))
		if w := int32(toHalf(h+k) * 64); o[4] != w {
			t.Fatalf("thread %d: half %d, want %d", i, o[4], w)
		}
		x, y := toBfloat(float32(a)*0.37), toBfloat(float32(b)*0.11)
		if w := int32(toBfloat(x+y) * 64); o[5] != w {
			t.Fatalf("thread %d: bfloat %d, want %d", i, o[5], w)
		}
		w := int32(0)
		for v := uint32(a); v != 0; v &= v - 1 {
			w++
		}
		for v := uint32(b | 1); v>>31 == 0; v <<= 1 {
			w++
		}
		if o[7] != w {
			t.Fatalf("thread %d: bits %d, want %d", i, o[7], w)
		}
	}
	for i, w := range want {
		if atom[i] != w {
			t.Errorf("atomic %d: %d, want %d", i, atom[i], w)
		}
	}
}

// toHalf rounds to the nearest number with 11 significant bits.
func toHalf(v float64) float64 {
	if v == 0 {
		return 0
	}
	_, e := math.Frexp(v)
	return math.Ldexp(math.RoundToEven(math.Ldexp(v, 11-e)), e-11)
}

// toBfloat rounds to the nearest number whose lower 16 bits are zero.
func toBfloat(v float32) float32 {
	b := math.Float32bits(v)
	return math.Float32frombits((b + 0x7fff + b>>16&1) &^ 0xffff)
}
