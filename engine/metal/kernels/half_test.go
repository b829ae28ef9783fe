package kernels_test

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/introgen/introgen/engine/metal/forward"
	"github.com/introgen/introgen/engine/metal/reference"
	"github.com/introgen/introgen/engine/quant"
)

// halves are numbers of half precision.
func halves(v ...float32) []byte {
	var b []byte
	for _, x := range v {
		b = binary.LittleEndian.AppendUint16(b, quant.FloatToHalf(x))
	}
	return b
}

// checkHalf is check of n results of half precision: candle's kernels compute in it
// too, so that one is wrong by an ulp or two.
func (b *bench) checkHalf(t *testing.T, library string, c reference.Call, set []int, out, n int) {
	t.Helper()
	want := c
	want.Args[out] = slices.Clone(c.Args[out])
	if err := reference.Run(&want); err != nil {
		t.Fatal(err)
	}
	b.run(t, library, &c, set, []int{out})
	at := func(b []byte, i int) float64 {
		return float64(quant.HalfToFloat(binary.LittleEndian.Uint16(b[2*i:])))
	}
	for i := range n {
		if g, w := at(c.Args[out], i), at(want.Args[out], i); g != w && !(math.Abs(g-w) <= 2e-3*max(1, math.Abs(w))) {
			t.Errorf("%s: element %d of %d is %v, the reference has %v", c.Function, i, n, g, w)
			return
		}
	}
	for i := 2 * n; i < len(want.Args[out]); i++ {
		if c.Args[out][i] != want.Args[out][i] {
			t.Errorf("%s: byte %d behind %d results was written", c.Function, i, n)
			return
		}
	}
}

func TestHalf(t *testing.T) { each(t, testHalf) }

// testHalf runs the kernels of rotary tables of half precision: positions beyond those
// that it can tell apart, and beyond those that it has.
func testHalf(t *testing.T, b *bench, r *rand.Rand) {
	for _, n := range sizes(r, 5000) {
		numbers := make([]int, n)
		angles, values := make([]float32, n), make([]float32, n)
		for i := range numbers {
			numbers[i] = r.IntN(1 << (1 + r.IntN(18)))
			angles[i], values[i] = 4095*r.Float32(), float32(r.NormFloat64())
		}
		values[0] = float32(math.Inf(-1))
		for _, c := range []struct {
			library, function string
			in                []byte
			size              int
		}{
			{"Cast", "cast_u32_f16", i32s(numbers...), 4}, {"Cast", "cast_f32_f16", f32s(values...), 4},
			{"Unary", "cos_f16", halves(angles...), 2}, {"Unary", "sin_f16", halves(angles...), 2},
		} {
			call := reference.Call{Function: c.function}
			call.Args[0], call.Args[1], call.Args[2] = u64s(n), c.in, halves(make([]float32, (n+3)/2*2)...)
			apply(&call, forward.Linear((n+8/c.size-1)/(8/c.size)))
			b.checkHalf(t, c.library, call, []int{0}, 2, n)
		}
		c := reference.Call{Function: "cast_f16_f32"}
		c.Args[0], c.Args[1], c.Args[2] = u64s(n), halves(values...), room(n+3)
		apply(&c, forward.Linear((n+3)/4))
		b.check(t, "Cast", c, []int{0}, []int{2})
	}
	for _, s := range []struct {
		tile    [5]int
		m, n, k int
	}{{[5]int{64, 64, 16, 1, 2}, 640, 32, 1}, {[5]int{64, 64, 16, 1, 2}, 100, 64, 1}, {[5]int{32, 32, 16, 2, 2}, 9, 16, 1}} {
		c := gemmCall(r, s.tile, "nn", 1, s.m, s.n, s.k)
		c.Function = "gemm_nn_f16_f16" + c.Function[len("gemm_nn_f32_f32"):]
		p := append(i32s(s.m, s.n, s.k, s.k, s.n, s.n), c.Args[4][24:32]...)
		p = append(p, u64s(s.m*s.k, s.k*s.n, s.m*s.n)...)
		c.Args[4] = append(p, c.Args[4][56:]...)
		c.Args[7] = u64s(s.m*s.k, s.k*s.n)
		positions, frequencies := make([]float32, s.m*s.k), make([]float32, s.k*s.n)
		for i := range positions {
			positions[i] = float32(i)
		}
		for i := range frequencies {
			frequencies[i] = r.Float32()
		}
		n := s.m * s.n
		c.Args[0], c.Args[1], c.Args[3] = halves(positions...), halves(frequencies...), halves(make([]float32, n+2)...)
		b.checkHalf(t, "Gemm", c, []int{4, 6, 7}, 3, n)
	}
}

func TestBias(t *testing.T) { each(t, testBias) }

// testBias adds a row to each of several, and a mask to each head's scores.
func testBias(t *testing.T, b *bench, r *rand.Rand) {
	for range 20 {
		rows, cols, heads := 1+r.IntN(20), 1+r.IntN(300), 1+r.IntN(4)
		for _, v := range []struct{ dims, left, right []int }{
			{[]int{1, rows, cols}, []int{rows * cols, cols, 1}, []int{0, 0, 1}},
			{[]int{1, heads, rows, cols}, []int{heads * rows * cols, rows * cols, cols, 1}, []int{0, 0, cols, 1}},
		} {
			n := 1
			for _, d := range v.dims {
				n *= d
			}
			c := reference.Call{Function: "badd_f32_rstrided"}
			c.Args[0], c.Args[1], c.Args[2] = u64s(n), u64s(len(v.dims)), u64s(v.dims...)
			c.Args[3], c.Args[4] = u64s(v.left...), u64s(v.right...)
			c.Args[5], c.Args[6], c.Args[7] = noise(r, n), noise(r, rows*cols), room(n+3)
			apply(&c, forward.Pairs(n))
			b.check(t, "Binary", c, []int{0, 1, 2, 3, 4}, []int{7})
		}
	}
}
