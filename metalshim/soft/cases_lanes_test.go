package soft

import (
	"encoding/binary"
	"math"
	"strings"
	"testing"
)

// TestCasesLanes are sources that the lanes pass or the running of kernels had trouble
// with.
func TestCasesLanes(t *testing.T) {
	cases(t, []sourceCase{
		{file: "d1_function_not_inlined", want: func(i int, in []float32) float64 { return float64(in[i]) * float64(in[i]) }},
		{file: "d2_self_call", tolerance: 1e-5, want: func(i int, in []float32) float64 { return math.Sin(float64(in[i])) }},
		{file: "d3_uniform_division_by_zero", buffers: map[int][]byte{1: words(0)}, want: func(int, []float32) float64 { return 7 }},
		{file: "d4_simdgroup_progress", threads: 128, integers: true, buffers: map[int][]byte{1: words(0)},
			want: func(i int, _ []float32) float64 { return float64(i / 32) }},
	})
}

// number is a type of integers, as MSL names it.
type number struct {
	name   string
	bytes  int
	signed bool
}

// divisionCase divides numbers of one type: by zero and the least number by -1 among them.
func divisionCase(kernel string, n number) sourceCase {
	least, mask := int64(-1)<<(8*n.bytes-1), ^uint64(0)>>(64-8*n.bytes)
	values := func(signed ...int64) (held []int64, contents []byte) {
		for i := range 32 {
			v := uint64(signed[i%len(signed)]) & mask
			h := int64(v)
			if n.signed {
				h = int64(v<<(64-8*n.bytes)) >> (64 - 8*n.bytes)
			}
			held = append(held, h)
			contents = append(contents, binary.LittleEndian.AppendUint64(nil, v)[:n.bytes]...)
		}
		return held, contents
	}
	dividends, a := values(100, least, 7, least, -1, 0, 55)
	divisors, b := values(0, -1, 3, 0, 7, -1, -5, 11, 2)
	switch {
	case strings.HasPrefix(kernel, "uq"):
		divisors, b = values(0)
	case strings.HasPrefix(kernel, "ur"):
		dividends, a = values(least)
		divisors, b = values(-1)
	}
	return sourceCase{file: "d_divisions", kernel: kernel + "_" + n.name, integers: true, buffers: map[int][]byte{1: a, 2: b},
		want: func(i int, _ []float32) float64 {
			x, y := dividends[i], divisors[i]
			switch {
			case y == 0:
				return 1000
			case n.signed && y == -1 && x == least:
				return 2000
			case n.signed && strings.HasSuffix(kernel, "r"):
				return float64(int32(x % y))
			case n.signed:
				return float64(int32(x / y))
			case strings.HasSuffix(kernel, "r"):
				return float64(int32(uint64(x) % uint64(y)))
			}
			return float64(int32(uint64(x) / uint64(y)))
		}}
}

// TestDivisionsHaveAQuotient: in MSL a division by zero is no fault.
func TestDivisionsHaveAQuotient(t *testing.T) {
	var table []sourceCase
	for _, n := range []number{{"char", 1, true}, {"uchar", 1, false}, {"short", 2, true}, {"ushort", 2, false},
		{"int", 4, true}, {"uint", 4, false}, {"long", 8, true}, {"ulong", 8, false}} {
		for _, kernel := range []string{"q", "r", "uq", "ur", "v"} {
			table = append(table, divisionCase(kernel, n))
		}
	}
	cases(t, table)
}

// TestCallsThatStay: functions that clang does not make part of the kernel.
func TestCallsThatStay(t *testing.T) {
	timesPlus := func(factor, sum float64) func(int, []float32) float64 {
		return func(i int, in []float32) float64 { return factor*float64(in[i]) + sum }
	}
	reversed := func(i int, in []float32) float64 { return float64(in[len(in)-1-i]) }
	simd := func(i int, in []float32) (sum float64) {
		for _, v := range in[i/32*32 : i/32*32+32] {
			sum += 2 * float64(v)
		}
		return sum
	}
	before := func(i int, in []float32) (sum float64) {
		for _, v := range in[:i] {
			sum += 2 * float64(v)
		}
		return sum
	}
	fibonacci := func(i int, _ []float32) float64 {
		a, b := 0, 1
		for range i % 16 {
			a, b = b, a+b
		}
		return float64(a)
	}
	var table []sourceCase
	for kernel, want := range map[string]func(int, []float32) float64{
		"nested": timesPlus(2, 1), "structs": timesPlus(10, 0), "pairs": timesPlus(2, 0), "quads": timesPlus(2, 12),
		"stores": timesPlus(1, 0), "references": timesPlus(3, 0), "arrays": timesPlus(1, 12), "looped": before,
		"threadgroups": reversed, "barriers": reversed, "simds": simd, "tree": fibonacci,
		"masked":   func(i int, in []float32) float64 { return float64(in[i]) + max(0, float64(in[i])) },
		"mixes":    func(i int, in []float32) float64 { return 4*float64(in[i]) + 3 + float64(i) },
		"truths":   func(i int, _ []float32) float64 { return float64(min(1, i/16)) },
		"uniforms": func(_ int, in []float32) float64 { return float64(in[0]) + 0.5 },
		"big":      func(i int, _ []float32) float64 { return float64(i) },
		"mutual":   func(i int, _ []float32) float64 { return float64(i + 100 - i%2*100) },
		"twofold":  func(i int, _ []float32) float64 { return float64(2*(i%8) + 3) },
	} {
		table = append(table, sourceCase{file: "d_calls", kernel: kernel, threads: 64, tolerance: 1e-6, want: want})
	}
	table = append(table, sourceCase{file: "d_calls", kernel: "counts", threads: 64, integers: true,
		want: func(i int, _ []float32) float64 { return float64(64 * max(0, 1-i)) }})
	cases(t, table)
}

// TestPointersInStructures: arrays of pointers within structures.
func TestPointersInStructures(t *testing.T) {
	a := func(i int) float64 { return float64(3*i + 1) }
	b := func(i int) float64 { return float64(-2 * i) }
	in := func(i int) float64 { return float64(i) - 15.5 }
	shifted := func(i int) float64 { return a(i + 1) }
	held := func(f func(int) float64) []byte {
		var v []uint32
		for i := range 65 {
			v = append(v, math.Float32bits(float32(f(i))))
		}
		return words(v...)
	}
	of := []func(int) float64{a, b, in, shifted}
	two := func(i int, _ []float32) float64 { return of[i%2](i) }
	four := func(i int, _ []float32) float64 { return 3 * of[i%4](i) }
	swaps := func(i int, _ []float32) float64 {
		if i%3 == 0 {
			return b(i)
		}
		return a(i)
	}
	nests := func(i int, _ []float32) float64 { return 2 * of[i/2%2+i%2](i) }
	loops := func(i int, _ []float32) (sum float64) {
		p := [2]func(int) float64{a, b}
		for k := range i + 1 {
			sum += p[k%2](k)
			if k%5 == 4 {
				p[0], p[1] = p[1], p[0]
			}
		}
		return sum
	}
	var table []sourceCase
	for kernel, want := range map[string]func(int, []float32) float64{
		"picks": two, "passes": two, "picks4": four, "passes4": four, "swaps": swaps, "nests": nests, "loops": loops,
	} {
		table = append(table, sourceCase{file: "d_pointers", kernel: kernel, threads: 64, buffers: map[int][]byte{2: held(a), 3: held(b)}, want: want})
	}
	cases(t, table)
}

// TestSimdgroupsOfOneThreadgroupRunTogether: they wait for each other by atomics.
func TestSimdgroupsOfOneThreadgroupRunTogether(t *testing.T) {
	var table []sourceCase
	for kernel, want := range map[string]func(int) int{
		"ascending":   func(i int) int { return i/32 + 1 },
		"descending":  func(i int) int { return 8 - i/32 },
		"ring":        func(i int) int { return 10*8 + i/32 },
		"producer":    func(i int) int { return 3 * (255 - i) },
		"lock":        func(i int) int { return 8 },
		"rounds":      func(i int) int { return 8 * 9 / 2 * 3 },
		"called":      func(i int) int { return 8 - i/32 },
		"by_volatile": func(i int) int { return 8 - i/32 },
	} {
		table = append(table, sourceCase{file: "d_progress", kernel: kernel, threads: 256, integers: true, buffers: map[int][]byte{1: make([]byte, 64)},
			want: func(i int, _ []float32) float64 { return float64(want(i)) }})
	}
	cases(t, table)
}

// words are integers of 32 bits as they lie in a buffer.
func words(values ...uint32) []byte {
	out := make([]byte, 0, 4*len(values))
	for _, v := range values {
		out = binary.LittleEndian.AppendUint32(out, v)
	}
	return out
}
