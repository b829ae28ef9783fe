package lanes

import (
	"fmt"
	"maps"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// openKernel holds what a math mode leaves open: sums of sixteen terms that
// another order would round otherwise, products and sums, sums over lanes, and
// conversions. Each lane writes 32 words.
const openKernel = `typedef _Float16 half; typedef __bf16 bf;
static inline uint bits(float v) { return __builtin_bit_cast(uint, v); }
static inline ulong pack(float a, float b) { float2 v = {a, b}; return __builtin_bit_cast(ulong, v); }
KERNEL {
  const float *d = IN(float, 0) + 16 * (sg * 32 + lane);
  uint *o = OUT(uint, 1) + 32 * (sg * 32 + lane);
  half h = 0; bf b = 0; float s = 0, p = 0, q = 0, dot = 0;
  for (int k = 0; k < 16; k++) { h += (half)d[k]; b += (bf)d[k]; s += d[k]; }
  for (int k = 0; k < 8; k++) { p = d[k] * d[k + 8] + p; q = q - d[k] * d[k + 8]; }
  for (uint k = 0; k < IN(uint, 2)[0]; k++) dot += d[k % 16] * d[(k + 5) % 16];
  o[0] = bits((float)h); o[1] = bits((float)b); o[2] = bits(s); o[3] = bits(p); o[4] = bits(q); o[5] = bits(dot);
  o[6] = bits(msl_sy_fadd(d[0])); o[7] = bits(msl_sy_fmul(1 + d[1] / 4096)); o[8] = bits(msl_sy_fmax(d[2])); o[9] = bits(msl_sy_fmin(d[3]));
  o[10] = bits(msl_sy_fpadd(d[4])); o[11] = bits(msl_sy_fxadd(d[5]));
  half hp = (half)d[6] * (half)d[7] + (half)d[8]; o[12] = bits((float)hp);
  bf bp = (bf)d[6] * (bf)d[7] + (bf)d[8]; o[13] = bits((float)bp);
  o[14] = bits(d[0] * d[1] - d[2] * d[3]); o[15] = bits(d[9] / d[10]); o[16] = bits(d[9] / d[12] + d[10] / d[12]);
  float t = d[0] * d[1]; o[17] = bits(t + d[2]); o[18] = bits(t);
  o[19] = (uint)(int)(d[11] * 1e9f); o[20] = (uint)(d[12] * 1e9f); o[21] = (uint)(int)(short)(int)d[13];
  float4 v = {d[0], d[1], d[2], d[3]}, w = {d[4], d[5], d[6], d[7]}, u = v * w + v; o[22] = bits(u[0] + u[1] + u[2] + u[3]);
  ulong c = msl_sy_mma(pack(d[0], d[1]), pack(d[2], d[3]), pack(d[4], d[5])); o[23] = (uint)c; o[24] = (uint)(c >> 32);
  half hd = (half)((double)d[14] * 0.333251953125); o[25] = bits((float)hd);
}`

// single rounds once to float.
func single(v float64) uint32 { return math.Float32bits(float32(v)) }

// fusedGo is a multiply-add that rounds once: what it is given has so few bits
// that the sum is exact in double.
func fusedGo(x, y, z float32) float32 { return float32(float64(x)*float64(y) + float64(z)) }

// wantOpen computes openKernel's words for the lanes of a simdgroup, by the rules
// of settle and sg.h alone.
func wantOpen(x [][]float32, times int) [][]uint32 {
	out := make([][]uint32, len(x))
	half := func(v float64) float64 { return toHalf(v) }
	tree := func(at int, op func(a, b float32) float32, of func(v float32) float32) uint32 {
		v := make([]float32, 32)
		for i := range v {
			v[i] = of(x[i][at])
		}
		for n := 16; n > 0; n /= 2 {
			for i := range n {
				v[i] = op(v[i], v[i+n])
			}
		}
		return math.Float32bits(v[0])
	}
	scan := func(at int) []float32 {
		v := make([]float32, 32)
		for i := range v {
			v[i] = x[i][at]
		}
		for n := 1; n < 32; n *= 2 {
			for i := 31; i >= n; i-- {
				v[i] += v[i-n]
			}
		}
		return v
	}
	same := func(v float32) float32 { return v }
	for l, r := range x {
		o := make([]uint32, 32)
		var h float64
		var b, s, p, q, dot float32
		for _, v := range r {
			h, b, s = half(h+half(float64(v))), toBfloat(b+toBfloat(v)), s+v
		}
		for k := range 8 {
			p, q = fusedGo(r[k], r[k+8], p), fusedGo(-r[k], r[k+8], q)
		}
		for k := range times {
			dot = fusedGo(r[k%16], r[(k+5)%16], dot)
		}
		o[0], o[1], o[2], o[3], o[4], o[5] = single(h), math.Float32bits(b), math.Float32bits(s), math.Float32bits(p), math.Float32bits(q), math.Float32bits(dot)
		o[6] = tree(0, func(a, b float32) float32 { return a + b }, same)
		o[7] = tree(1, func(a, b float32) float32 { return a * b }, func(v float32) float32 { return 1 + v/4096 })
		o[8] = tree(2, func(a, b float32) float32 { return max(a, b) }, same)
		o[9] = tree(3, func(a, b float32) float32 { return min(a, b) }, same)
		o[10] = math.Float32bits(scan(4)[l])
		if l > 0 {
			o[11] = math.Float32bits(scan(5)[l-1])
		}
		o[12] = single(half(half(half(float64(r[6]))*half(float64(r[7]))) + half(float64(r[8]))))
		o[13] = math.Float32bits(toBfloat(toBfloat(toBfloat(r[6])*toBfloat(r[7])) + toBfloat(r[8])))
		o[14] = math.Float32bits(fusedGo(r[0], r[1], -(r[2] * r[3])))
		o[15], o[16] = math.Float32bits(r[9]/r[10]), math.Float32bits(r[9]/r[12]+r[10]/r[12])
		t := r[0] * r[1]
		o[17], o[18] = math.Float32bits(t+r[2]), math.Float32bits(t)
		wide := r[11] * 1e9
		o[19] = uint32(int32(max(min(float64(wide), math.MaxInt32), math.MinInt32)))
		wide = r[12] * 1e9
		o[20] = uint32(max(min(float64(wide), math.MaxUint32), 0))
		o[21] = uint32(int32(int16(int32(r[13]))))
		var u [4]float32
		for k := range u {
			u[k] = fusedGo(r[k], r[k+4], r[k])
		}
		o[22] = math.Float32bits(((u[0] + u[1]) + u[2]) + u[3])
		for e := range 2 {
			row, col := (l>>2)&4+(l>>1)&3, (l>>1)&4+(l&1)<<1+e
			lane := func(i, j, at int) float32 { return x[(i&4)<<2|(i&3)<<1|(j&4)<<1|(j>>1)&1][at+j&1] }
			acc := lane(row, col, 4)
			for k := range 8 {
				acc = fusedGo(lane(row, k, 0), lane(k, col, 2), acc)
			}
			o[23+e] = math.Float32bits(acc)
		}
		o[25] = single(half(float64(r[14]) * 0.333251953125))
		out[l] = o
	}
	return out
}

// openTargets are processors whose instructions differ: without and with FMA,
// conversions of half, 512 bits, rounding to bfloat; the last is this one.
func openTargets(t *testing.T) []string {
	if !strings.Contains(string(clangRun(t, "", "-print-target-triple")), "x86_64") {
		return []string{"native"}
	}
	all := []string{"x86-64-v2", "x86-64-v3", "cooperlake", "native"}
	info, _ := os.ReadFile("/proc/cpuinfo")
	needs := map[string]string{"x86-64-v2": " sse4_2 ", "x86-64-v3": " avx2 ", "cooperlake": " avx512_bf16 "}
	return slices.DeleteFunc(all, func(s string) bool { return !strings.Contains(strings.ReplaceAll(string(info), "\n", " "), needs[s]) })
}

// openGroups and openTimes are how many simdgroups run openKernel, and how often
// its loop goes round.
const openGroups, openTimes = 3, 23

// openData are openKernel's numbers and what is right.
func openData() (in []float32, want []uint32) {
	r := rand.New(rand.NewPCG(11, 11))
	in = make([]float32, openGroups*32*16)
	for i := range in { // 12 bits and a range of 2^8: products and sums are exact in double
		in[i] = float32(r.IntN(4096)-2048+i%3) * float32(math.Ldexp(1, -5-r.IntN(4)))
		if in[i] == 0 {
			in[i] = 1
		}
	}
	for g := range openGroups {
		x := make([][]float32, 32)
		for l := range x {
			x[l] = in[16*(32*g+l):][:16]
		}
		for _, o := range wantOpen(x, openTimes) {
			want = append(want, o...)
		}
	}
	return in, want
}

func checkOpen(t *testing.T, p program, in []float32, want []uint32) {
	t.Helper()
	got := make([]uint32, len(want))
	p.run(t, dispatch{tgd: [3]uint32{openGroups * 32}, bufs: []any{in, got, []uint32{openTimes}}})
	for i, w := range want {
		if got[i] != w {
			t.Errorf("lane %d, word %d: %#x (%v), want %#x (%v)", i/32, i%32, got[i], math.Float32frombits(got[i]), w, math.Float32frombits(w))
			return
		}
	}
}

// TestSameOnEveryProcessor runs openKernel as every processor would that this
// machine can stand for, and holds each bit to wantOpen. What is optimised for a
// processor with arithmetic on half runs here by code made for this one.
func TestSameOnEveryProcessor(t *testing.T) {
	in, want := openData()
	check := func(t *testing.T, p program) { t.Helper(); checkOpen(t, p, in, want) }
	for _, lane := range append(openTargets(t), "sapphirerapids") {
		ir := oneLaneFor(t, openKernel, targetFlag(t, lane))
		options := []Options{{Scalar: true}, {}}
		if lane == "x86-64-v2" {
			options = append(options, Options{Scalar: true, NoFused: true}, Options{NoFused: true})
		}
		for _, o := range options {
			if lane != "sapphirerapids" {
				t.Run(fmt.Sprintf("%s/%+v", lane, o), func(t *testing.T) { check(t, build(t, ir, o, targetFlag(t, lane))) })
				continue
			}
			t.Run(fmt.Sprintf("optimised for %s/%+v", lane, o), func(t *testing.T) {
				if targetFlag(t, "native") != "-march=native" {
					t.Skip("SKIP: needs an x86-64 processor")
				}
				check(t, buildOptimised(t, ir, o, "-march="+lane))
			})
		}
	}
}

// targetFlag chooses a processor for clang.
func targetFlag(t *testing.T, name string) string {
	if strings.Contains(string(clangRun(t, "", "-print-target-triple")), "x86_64") {
		return "-march=" + name
	}
	return "-mcpu=" + name
}

// buildOptimised has the transformed kernel optimised for another processor, and
// makes code for this one of the result.
func buildOptimised(t *testing.T, ir string, o Options, march string) program {
	t.Helper()
	out, err := Transform(ir, o)
	if err != nil {
		t.Fatal(err)
	}
	args := []string{march, "-S", "-emit-llvm"}
	optimised := string(clangRun(t, out, append(append(args, Flags...), "-", "-o", "-")...))
	return link(t, regexp.MustCompile(` "(?:target-cpu|target-features|tune-cpu)"="[^"]*"`).ReplaceAllString(optimised, ""))
}

// TestNothingIsLeftOpen: no flag that lets a code generator choose, and no name
// of a processor, is in what the pass writes.
func TestNothingIsLeftOpen(t *testing.T) {
	open := regexp.MustCompile(`.*\b(?:` + strings.Join(slices.Sorted(maps.Keys(fastFlags)), "|") + `|fmuladd|target-cpu|target-features|tune-cpu)\b.*`)
	for name, src := range map[string]string{"open": openKernel, "operations": opsKernel, "arithmetic": arithmeticKernel} {
		ir := oneLane(t, src)
		if name == "open" && !strings.Contains(ir, "contract") {
			t.Error("the kernel leaves nothing open by itself")
		}
		for _, o := range []Options{{Scalar: true}, {}} {
			out, err := Transform(ir, o)
			if err != nil {
				t.Fatal(err)
			}
			if line := open.FindString(out); line != "" {
				t.Errorf("%s, scalar=%v: %s", name, o.Scalar, line)
			}
		}
	}
}

// TestHalfWithoutInstructions converts every half, and what lies between two of
// them, as a processor does that has no instruction for it.
func TestHalfWithoutInstructions(t *testing.T) {
	if targetFlag(t, "native") != "-march=native" {
		t.Skip("SKIP: needs an x86-64 processor")
	}
	src := `typedef _Float16 half; KERNEL { uint t = (g->tgp[0] * g->tgd[0]) + sg * 32 + lane;
		OUT(float, 1)[t] = (float)__builtin_bit_cast(half, IN(unsigned short, 0)[t]);
		OUT(unsigned short, 3)[t] = __builtin_bit_cast(unsigned short, (half)IN(float, 2)[t]);
		OUT(unsigned short, 5)[t] = __builtin_bit_cast(unsigned short, (half)IN(double, 4)[t]); }`
	value := func(b int) float64 {
		e, m := b>>10&31, float64(b&1023)
		v := math.Ldexp(m, -24)
		if e > 0 {
			v = math.Ldexp(1024+m, e-25)
		}
		return math.Copysign(v, 1-2*float64(b>>15))
	}
	halves, floats, doubles := make([]uint16, 65536), make([]float32, 65536), make([]float64, 65536)
	wantF, wantH := make([]float64, 65536), make([]uint16, 65536)
	for b := range halves {
		halves[b] = uint16(b)
		wantF[b], wantH[b] = value(b), uint16(b)
		switch {
		case b&0x7fff == 0x7c00:
			wantF[b] = math.Inf(1 - 2*(b>>15))
			floats[b], doubles[b] = float32(wantF[b]), wantF[b]
		case b&0x7fff > 0x7c00:
			wantF[b] = math.NaN()
			floats[b], doubles[b] = math.Float32frombits(uint32(b>>15)<<31|0x7f800000|uint32(b&1023)<<13), math.NaN()
			wantH[b] |= 0x200
		default: // between this half and the one above, by turns: the middle, just below it, just above it
			mid := (value(b) + value(b+1)) / 2
			if b&0x7fff == 0x7bff {
				mid = math.Copysign(65520, value(b))
			}
			tiny := []float64{0, -math.Abs(mid) * 0x1p-23, math.Abs(mid) * 0x1p-23}[b%3]
			v := mid + math.Copysign(tiny, tiny*mid)
			floats[b], doubles[b] = float32(v), mid+math.Copysign(tiny*0x1p-28, tiny*mid)
			if up := b%3 == 2 || b%3 == 0 && b&1 == 1; up {
				wantH[b]++
			}
		}
	}
	for _, march := range []string{"-march=x86-64-v2", "-march=native"} {
		p := build(t, oneLaneFor(t, src, march), Options{}, march)
		gotF, gotH, gotD := make([]float32, 65536), make([]uint16, 65536), make([]uint16, 65536)
		p.run(t, dispatch{tgd: [3]uint32{1024}, ntg: [3]uint32{64}, bufs: []any{halves, gotF, floats, gotH, doubles, gotD}})
		for b := range halves {
			if float64(gotF[b]) != wantF[b] && !math.IsNaN(wantF[b]) || math.IsNaN(wantF[b]) && !math.IsNaN(float64(gotF[b])) {
				t.Fatalf("%s: half %#x is %v, want %v", march, b, gotF[b], wantF[b])
			}
			if gotH[b] != wantH[b] {
				t.Fatalf("%s: %v gives half %#x, want %#x", march, floats[b], gotH[b], wantH[b])
			}
			if gotD[b] != wantH[b] && !math.IsNaN(doubles[b]) {
				t.Fatalf("%s: double %v gives half %#x, want %#x", march, doubles[b], gotD[b], wantH[b])
			}
		}
	}
}

// TestFusedWithoutInstruction holds the multiply-add that is written out to the
// processor's, or the C library's, where the second rounding would matter, and at
// the ends of float's range.
func TestFusedWithoutInstruction(t *testing.T) {
	ir := oneLane(t, `KERNEL { uint t = (g->tgp[0] * g->tgd[0]) + sg * 32 + lane;
		OUT(float, 1)[t] = __builtin_fmaf(IN(float, 0)[3 * t], IN(float, 0)[3 * t + 1], IN(float, 0)[3 * t + 2]); }`)
	r := rand.New(rand.NewPCG(5, 11))
	const n = 65536
	in := make([]float32, 3*n)
	special := []float32{0, float32(math.Copysign(0, -1)), 1, -1, math.MaxFloat32, -math.MaxFloat32, 0x1p-126, 0x1.fffffep-126,
		float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN())}
	for i := range n {
		x, y := math.Float32frombits(r.Uint32()&^(1<<30)|1<<29), math.Float32frombits(r.Uint32()&^(1<<30)|1<<29)
		z := x * y
		switch i % 8 {
		case 0: // half a unit of the product away, or nearly
			z = float32(math.Ldexp(1, -25+r.IntN(3))) * z
		case 1:
			z = -z
		case 2:
			x, y, z = special[r.IntN(len(special))], special[r.IntN(len(special))], special[r.IntN(len(special))]
		case 3: // a product of few bits between two floats near z, with a far smaller rest
			z = float32(1 + r.IntN(1<<20))
			x, y = 0x1p-12*float32(1+r.IntN(3)), 0x1p-13+0x1p-36*float32(r.IntN(3))
		default:
			z *= float32(r.IntN(1<<20)) * 0x1p-10
		}
		in[3*i], in[3*i+1], in[3*i+2] = x, y, z
	}
	run := func(o Options) []float32 {
		out := make([]float32, n)
		build(t, ir, o).run(t, dispatch{tgd: [3]uint32{1024}, ntg: [3]uint32{n / 1024}, bufs: []any{in, out}})
		return out
	}
	want := run(Options{})
	for _, o := range []Options{{NoFused: true}, {NoFused: true, Scalar: true}} {
		for i, g := range run(o) {
			if w := want[i]; math.Float32bits(g) != math.Float32bits(w) && !(g != g && w != w) {
				t.Fatalf("%+v: %v * %v + %v is %v, want %v", o, in[3*i], in[3*i+1], in[3*i+2], g, w)
			}
		}
	}
	exact := 0
	for i, w := range want {
		x, y, z := new(big.Float).SetPrec(1000), new(big.Float).SetPrec(1000), new(big.Float).SetPrec(1000)
		if v := in[3*i : 3*i+3]; math.IsInf(float64(v[0]-v[0]+v[1]-v[1]+v[2]-v[2]), 0) || slices.ContainsFunc(v, func(f float32) bool { return f-f != 0 }) {
			continue
		}
		x.SetFloat64(float64(in[3*i]))
		y.SetFloat64(float64(in[3*i+1]))
		z.SetFloat64(float64(in[3*i+2]))
		s, _ := x.Add(x.Mul(x, y), z).Float32()
		if s != w {
			t.Fatalf("%v * %v + %v is %v, exactly %v", in[3*i], in[3*i+1], in[3*i+2], w, s)
		}
		exact++
	}
	if exact < n/2 {
		t.Errorf("only %d sums were compared", exact)
	}
}
