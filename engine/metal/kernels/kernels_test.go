package kernels_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/introgen/introgen/engine/metal/kernels"
	"github.com/introgen/introgen/engine/metal/plan"
	"github.com/introgen/introgen/engine/metal/reference"
	"github.com/introgen/introgen/engine/quant"
	"github.com/introgen/introgen/metalshim"
)

// ownBench opens the project's kernels on a device.
func ownBench(t testing.TB) (*bench, *rand.Rand) {
	t.Helper()
	set, err := kernels.Open(kernels.Own)
	if err != nil {
		t.Fatal(err)
	}
	return newBench(t, openDevice(t), set), rand.New(rand.NewPCG(1, 2))
}

// sizes are edges of vectors, simdgroups and threadgroups, and random ones.
func sizes(r *rand.Rand, most int) []int {
	s := []int{1, 2, 3, 31, 32, 33, 63, 64, 65, 1000, 1023, 1024, 1025, 2047}
	for range 4 {
		s = append(s, 1+r.IntN(most))
	}
	return s
}

// apply sets the sizes that an extent gives on a device of 1024 threads.
func apply(c *reference.Call, e plan.Extent) {
	c.Grid, c.Group, c.InThreads = e.Sizes(1024)
}

func TestElementwise(t *testing.T) {
	b, r := ownBench(t)
	for _, n := range sizes(r, 5000) {
		for _, f := range []struct{ library, function string }{{"Unary", "cos_f32"}, {"Unary", "sin_f32"}, {"Unary", "silu_f32"}} {
			c := reference.Call{Function: f.function}
			c.Args[0], c.Args[1], c.Args[2] = u64s(n), noise(r, n), room(n+3)
			if f.function != "silu_f32" {
				angles := make([]float32, n)
				for i := range angles {
					angles[i] = 4095 * r.Float32()
				}
				c.Args[1] = f32s(angles...)
			}
			apply(&c, plan.Pairs(n))
			b.check(t, f.library, c, []int{0}, []int{2})
		}
		for _, function := range []string{"badd_f32", "bmul_f32"} {
			c := reference.Call{Function: function}
			c.Args[0], c.Args[1], c.Args[2], c.Args[3] = u64s(n), noise(r, n), noise(r, n), room(n+3)
			apply(&c, plan.Pairs(n))
			b.check(t, "Binary", c, []int{0}, []int{3})
		}
		c := reference.Call{Function: "affine_f32"}
		c.Args[0], c.Args[1], c.Args[2] = u64s(n), f32s(float32(r.NormFloat64())), f32s(float32(r.NormFloat64()))
		c.Args[3], c.Args[4] = noise(r, n), room(n+3)
		apply(&c, plan.Pairs(n))
		b.check(t, "Affine", c, []int{0, 1, 2}, []int{4})

		c = reference.Call{Function: "cast_u32_f32"}
		whole := make([]int, n)
		for i := range whole {
			whole[i] = r.IntN(1 << 24)
		}
		c.Args[0], c.Args[1], c.Args[2] = u64s(n), i32s(whole...), room(n+3)
		apply(&c, plan.Pairs(n))
		b.check(t, "Cast", c, []int{0}, []int{2})
	}
}

func TestSiluExtremes(t *testing.T) {
	b, _ := ownBench(t)
	c := reference.Call{Function: "silu_f32"}
	c.Args[0], c.Args[1], c.Args[2] = u64s(6), f32s(-100, -30, -1e-3, 0, 30, 100), room(6)
	apply(&c, plan.Pairs(6))
	b.check(t, "Unary", c, []int{0}, []int{2})
}

// shape4 is four random dimensions, and strides of a transposed layout of them.
func shape4(r *rand.Rand) (dims, strides []int, elements, reach int) {
	dims = []int{1 + r.IntN(3), 1 + r.IntN(9), 1 + r.IntN(20), 1 + r.IntN(64)}
	a, h, t, d := dims[0], dims[1], dims[2], dims[3]
	switch r.IntN(3) {
	case 0: // tokens × heads read as heads × tokens
		strides = []int{h * t * d, d, h * d, 1}
	case 1: // as it lies
		strides = []int{h * t * d, t * d, d, 1}
	default: // the last two exchanged, with room between rows
		strides = []int{h * t * d * 2, t * d * 2, 2, 2 * t}
	}
	elements = a * h * t * d
	reach = 1
	for i, n := range dims {
		reach += (n - 1) * strides[i]
	}
	return dims, strides, elements, reach
}

func TestCopies(t *testing.T) {
	b, r := ownBench(t)
	for range 20 {
		dims, strides, n, reach := shape4(r)
		c := reference.Call{Function: "copy_f32_strided"}
		c.Args[0], c.Args[1], c.Args[2], c.Args[3] = u64s(n), u64s(4), u64s(dims...), u64s(strides...)
		c.Args[4], c.Args[5] = noise(r, reach), room(n+3)
		apply(&c, plan.Linear(n))
		b.check(t, "Unary", c, []int{0, 1, 2, 3}, []int{5})
	}
	for range 30 {
		rows, cols := 1+r.IntN(20), 1+r.IntN(200)
		if r.IntN(2) == 0 { // heads × tokens × head dimension, as the cache has
			rows, cols = 1+r.IntN(9), 64*(1+r.IntN(40))
		}
		from, to := cols+r.IntN(5), cols+r.IntN(300)
		c := reference.Call{Function: "copy2d_f32"}
		c.Args[0], c.Args[1], c.Args[2], c.Args[3] = u64s(rows), u64s(cols), u64s(from), u64s(to)
		c.Args[4], c.Args[5] = noise(r, rows*from), room(rows*to)
		apply(&c, plan.Plane(rows, cols))
		b.check(t, "Unary", c, []int{0, 1, 2, 3}, []int{5})
	}
}

func TestLookup(t *testing.T) {
	b, r := ownBench(t)
	for _, right := range []int{1, 31, 64, 576} {
		rows, ids := 1+r.IntN(50), 1+r.IntN(20)
		chosen := make([]int, ids)
		for i := range chosen {
			chosen[i] = r.IntN(rows)
		}
		chosen[r.IntN(ids)] = math.MaxUint32 // a padding entry
		chosen[r.IntN(ids)] = rows + 5       // beyond the table: its last row
		c := reference.Call{Function: "is_u32_f32"}
		n := ids * right
		for i, v := range []int{n, 1, rows, right, ids} {
			c.Args[i] = u64s(v)
		}
		c.Args[5], c.Args[6], c.Args[7] = []byte{1}, u64s(rows, right), u64s(right, 1)
		c.Args[8], c.Args[9], c.Args[10] = noise(r, rows*right), i32s(chosen...), room(n+3)
		apply(&c, plan.Linear(n))
		b.check(t, "Indexing", c, []int{0, 1, 2, 3, 4, 5, 6, 7}, []int{10})
	}
}

func TestWhere(t *testing.T) {
	b, r := ownBench(t)
	for bits := range 8 {
		heads, tokens, keys := 1+r.IntN(9), 1+r.IntN(20), 1+r.IntN(40)
		n := heads * tokens * keys
		c := reference.Call{Function: "where_u8_f32"}
		whole := []int{n, tokens * keys, keys, 1}
		strides := [][]int{{0, 0, keys, 1}, {0, 0, 0, 0}, {n, tokens * keys, 1, tokens}}
		for i := range 3 {
			contiguous := bits>>i&1 == 1
			c.Constants = append(c.Constants, metalshim.BoolConstant(i, contiguous))
			if contiguous {
				strides[i] = whole
			}
			c.Args[3+i] = u64s(strides[i]...)
		}
		mask := make([]byte, n)
		for i := range mask {
			mask[i] = byte(r.IntN(3))
		}
		onTrue := noise(r, n)
		copy(onTrue, f32s(float32(math.Inf(-1))))
		c.Args[0], c.Args[1], c.Args[2] = u64s(n), u64s(4), u64s(1, heads, tokens, keys)
		c.Args[6], c.Args[7], c.Args[8], c.Args[9] = mask, onTrue, noise(r, n), room(n+3)
		apply(&c, plan.Pairs(n))
		b.check(t, "Ternary", c, []int{0, 1, 2, 3, 4, 5}, []int{9})
	}
}

func TestRope(t *testing.T) {
	b, r := ownBench(t)
	for _, s := range []struct{ heads, tokens, dim int }{{9, 13, 64}, {3, 1, 64}, {9, 1, 64}, {1, 1, 2}, {4, 7, 32}, {5, 33, 128}} {
		n := s.heads * s.tokens * s.dim
		c := reference.Call{Function: "rope_i_f32"}
		c.Args[0], c.Args[1], c.Args[2] = u64s(s.heads), u64s(s.tokens*s.dim), u64s(0)
		c.Args[3], c.Args[4], c.Args[5], c.Args[6] = noise(r, n), noise(r, n), noise(r, n), room(n+3)
		apply(&c, plan.Linear(n/2))
		b.check(t, "Reduce", c, []int{0, 1, 2}, []int{6})
	}
	// Two sequences of two heads each, with tables of their own.
	c := reference.Call{Function: "rope_i_f32"}
	c.Args[0], c.Args[1], c.Args[2] = u64s(4), u64s(6*32), u64s(2*6*32)
	c.Args[3], c.Args[4], c.Args[5], c.Args[6] = noise(r, 4*6*32), noise(r, 2*6*16), noise(r, 2*6*16), room(4*6*32)
	apply(&c, plan.Linear(4*6*16))
	b.check(t, "Reduce", c, []int{0, 1, 2}, []int{6})
}

func TestReductions(t *testing.T) {
	b, r := ownBench(t)
	for _, cols := range append(sizes(r, 3000), 13, 576, 1536, 4096) {
		rows := 1 + r.IntN(5)
		c := reference.Call{Function: "rmsnorm_f32"}
		c.Args[0], c.Args[1] = u64s(rows*cols), u64s(cols)
		c.Args[2], c.Args[3], c.Args[4], c.Args[5] = noise(r, rows*cols), room(rows*cols+3), noise(r, cols), f32s(1e-5)
		apply(&c, plan.Rows(rows, cols))
		b.check(t, "Reduce", c, []int{0, 1, 5}, []int{3})

		c = reference.Call{Function: "softmax_f32"}
		x := noise(r, rows*cols)
		for i := range rows * cols { // masked elements, but not a whole row of them
			if i%cols != 0 && r.IntN(4) == 0 {
				copy(x[4*i:], f32s(float32(math.Inf(-1))))
			}
		}
		c.Args[0], c.Args[1], c.Args[2], c.Args[3] = u64s(rows*cols), u64s(cols), x, room(rows*cols+3)
		apply(&c, plan.Rows(rows, cols))
		b.check(t, "Reduce", c, []int{0, 1}, []int{3})
	}
}

func TestArgmax(t *testing.T) {
	b, r := ownBench(t)
	for _, n := range append(sizes(r, 60000), 49152) {
		values := make([]float32, n)
		for i := range values { // few different values, so that there are equals
			values[i] = float32(r.IntN(5)) - 9
		}
		c := reference.Call{Function: "fast_argmax_f32"}
		c.Args[0], c.Args[1], c.Args[2], c.Args[3] = i32s(n), i32s(1), i32s(n), i32s(n)
		c.Args[4], c.Args[5] = f32s(values...), room(2)
		apply(&c, plan.Rows(1, n))
		b.check(t, "Reduce", c, []int{0, 1, 2, 3}, []int{5})
	}
	// Three groups of 70: indices count from each group's start.
	c := reference.Call{Function: "fast_argmax_f32"}
	c.Args[0], c.Args[1], c.Args[2], c.Args[3] = i32s(210), i32s(2), i32s(3, 70), i32s(70)
	c.Args[4], c.Args[5] = noise(r, 210), room(4)
	apply(&c, plan.Rows(3, 70))
	b.check(t, "Reduce", c, []int{0, 1, 2, 3}, []int{5})
}

func TestGemm(t *testing.T) {
	b, r := ownBench(t)
	check := func(tile [5]int, trans string, batch, m, n, k int) {
		b.check(t, "Gemm", gemmCall(r, tile, trans, batch, m, n, k), []int{4, 6, 7}, []int{3})
	}
	// Each set of aligned sides is a pipeline of its own, and a second's work
	// for the compiler: whole tiles and none for all variants, and the
	// mixtures that a forward pass needs.
	odd := func(n, tile int) int {
		if n%tile == 0 {
			n++
		}
		return n
	}
	for _, tile := range [][5]int{{32, 32, 16, 2, 2}, {64, 32, 32, 2, 2}, {32, 64, 16, 1, 2}, {64, 64, 16, 2, 2}} {
		for _, trans := range []string{"nn", "nt"} {
			check(tile, trans, 2, 2*tile[0], 2*tile[1], 2*tile[2])
			check(tile, trans, 1, 70, 33, 1)
			check(tile, trans, 1, odd(1+r.IntN(150), tile[0]), odd(1+r.IntN(150), tile[1]), odd(1+r.IntN(100), tile[2]))
		}
	}
	check([5]int{64, 32, 32, 2, 2}, "nn", 1, 4096, 32, 1)
	check([5]int{32, 32, 16, 2, 2}, "nt", 9, 13, 13, 64)
	check([5]int{32, 32, 16, 2, 2}, "nn", 9, 13, 64, 13)
	check([5]int{32, 64, 16, 1, 2}, "nt", 9, 40, 40, 64)
	check([5]int{64, 32, 32, 2, 2}, "nn", 9, 40, 64, 40)
}

// gemmCall is a product whose rows lie a little apart and whose batches are
// strided by argument 7, where there are several.
func gemmCall(r *rand.Rand, tile [5]int, trans string, batch, m, n, k int) reference.Call {
	lda, ldb, ldd := k+r.IntN(3), n+r.IntN(3), n+r.IntN(3)
	sizeB := k * ldb
	if trans == "nt" {
		ldb = k + r.IntN(3)
		sizeB = n * ldb
	}
	strideA, strideB, strideD := m*lda+r.IntN(9), sizeB+r.IntN(9), m*ldd
	c := reference.Call{
		Function: fmt.Sprintf("gemm_%s_f32_f32_%d_%d_%d_%d_%d", trans, tile[0], tile[1], tile[2], tile[3], tile[4]),
		Constants: []metalshim.Constant{
			metalshim.BoolConstant(10, batch > 1), metalshim.BoolConstant(100, false), metalshim.BoolConstant(110, false),
			metalshim.BoolConstant(200, m%tile[0] == 0), metalshim.BoolConstant(201, n%tile[1] == 0), metalshim.BoolConstant(202, k%tile[2] == 0),
			metalshim.BoolConstant(300, false),
		},
	}
	tilesN, tilesM := (n+tile[1]-1)/tile[1], (m+tile[0]-1)/tile[0]
	c.Args[0], c.Args[1], c.Args[3] = noise(r, batch*strideA), noise(r, batch*strideB), room(batch*strideD)
	p := append(i32s(m, n, k, lda, ldb, ldd, tilesN, tilesM), u64s(strideA, strideB, strideD)...)
	c.Args[4] = append(p, i32s(0, k/tile[2], 1, 0)...)
	c.Args[6], c.Args[7] = i32s(batch), u64s(strideA, strideB)
	c.Grid, c.Group = size(tilesN, tilesM, batch), size(32, tile[4], tile[3])
	return c
}

// blocks is rows × cols weights in a format: random bits, with scales that are
// ordinary numbers.
func blocks(r *rand.Rand, t *testing.T, f plan.Format, rows, cols int) []byte {
	t.Helper()
	b := make([]byte, rows*cols/f.Elems*f.Bytes)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	halves := map[string][]int{
		"q4_0": {0}, "q4_1": {0, 2}, "q5_0": {0}, "q5_1": {0, 2}, "q8_0": {0}, "q2_K": {80, 82}, "q3_K": {108},
		"q4_K": {0, 2}, "q5_K": {0, 2}, "q6_K": {208},
	}[f.Name]
	for at := 0; at < len(b); at += f.Bytes {
		for _, h := range halves {
			v := quant.FloatToHalf(float32(0.02 * r.NormFloat64()))
			b[at+h], b[at+h+1] = byte(v), byte(v>>8)
		}
		v := float32(r.NormFloat64())
		switch f.Name {
		case "f32":
			copy(b[at:], f32s(v))
		case "f16":
			h := quant.FloatToHalf(v)
			b[at], b[at+1] = byte(h), byte(h>>8)
		case "bf16":
			h := math.Float32bits(v)
			b[at], b[at+1] = byte(h>>16), byte(h>>24)
		}
	}
	return b
}

func TestMatrixVector(t *testing.T) {
	b, r := ownBench(t)
	for _, f := range plan.Formats() {
		t.Run(f.Name, func(t *testing.T) {
			for _, n := range []int{1, 4, 7, 8, 9, 192, 1 + r.IntN(100)} {
				k := 256 * (1 + r.IntN(3))
				if f.Elems <= 32 {
					k = 32 * (1 + r.IntN(40))
				}
				b.check(t, "Quantized", mvCall(r, t, f, n, k), []int{3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18}, []int{2})
			}
		})
	}
}

func mvCall(r *rand.Rand, t *testing.T, f plan.Format, n, k int) reference.Call {
	c := reference.Call{Function: f.MV()}
	c.Args[0], c.Args[1], c.Args[2] = blocks(r, t, f, n, k), noise(r, k), room(n+3)
	row := k / f.Elems * f.Bytes
	for i, v := range []int{k, n, 1, f.Bytes, row, row * n, k, 1, 1, 4, 4 * k, 4 * k, n, 1} {
		c.Args[3+i] = u64s(v)
	}
	c.Args[17], c.Args[18] = i32s(1), i32s(1)
	grid, group := f.VectorGrid(n)
	c.Grid, c.Group = grid, group
	return c
}

func TestMatrixMatrix(t *testing.T) {
	b, r := ownBench(t)
	for _, f := range plan.Formats() {
		t.Run(f.Name, func(t *testing.T) {
			for _, s := range [][2]int{{64, 32}, {1, 2}, {65, 33}, {192, 13}, {1 + r.IntN(150), 2 + r.IntN(80)}} {
				k := 256 * (1 + r.IntN(2))
				if f.Elems <= 32 {
					k = 32 * (1 + r.IntN(20))
				}
				b.check(t, "Quantized", mmCall(r, t, f, s[0], s[1], k), []int{3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}, []int{2})
			}
		})
	}
}

func mmCall(r *rand.Rand, t *testing.T, f plan.Format, n, tokens, k int) reference.Call {
	c := reference.Call{Function: f.MM(), ThreadgroupBytes: 8192}
	row := k / f.Elems * f.Bytes
	c.Args[0], c.Args[1], c.Args[2] = blocks(r, t, f, n, k), noise(r, tokens*k), room(tokens*n+3)
	for i, v := range []int{k, 1, row, row * n, row * n, 1, 4, 4 * k, 4 * k * tokens, 4 * k * tokens, n, tokens} {
		c.Args[3+i] = u64s(v)
	}
	c.Args[15], c.Args[16] = i32s(1), i32s(1)
	c.Grid, c.Group = size((tokens+31)/32, (n+63)/64, 1), size(128, 1, 1)
	return c
}

func TestAttention(t *testing.T) {
	b, r := ownBench(t)
	for _, dim := range []int{32, 64, 96, 128, 256} {
		t.Run(fmt.Sprint(dim), func(t *testing.T) {
			for _, keys := range []int{1, 2, 7, 8, 9, 14, 31, 33, 64, 255, 257, 1000, 1023, 1 + r.IntN(1000)} {
				cap := 1.0
				if keys%2 == 0 {
					cap = 5
				}
				b.check(t, "Sdpa", attentionCall(r, fmt.Sprintf("sdpa_vector_float_%d", dim), dim, keys, 4, cap), []int{4, 5, 6, 7, 8, 9}, []int{3})
			}
			for _, keys := range []int{1024, 1025, 1500} {
				first := attentionCall(r, fmt.Sprintf("sdpa_vector_2pass_1_float_%d", dim), dim, keys, 6, 1)
				b.check(t, "Sdpa", first, []int{6, 7, 8, 9, 10, 11}, []int{3, 4, 5})
				second := reference.Call{Function: fmt.Sprintf("sdpa_vector_2pass_2_float_%d", dim), Grid: size(1, 9, 1), Group: size(1024, 1, 1)}
				if err := reference.Run(&first); err != nil {
					t.Fatal(err)
				}
				second.Args[0], second.Args[1], second.Args[2], second.Args[3] = first.Args[3], first.Args[4], first.Args[5], room(9*dim+3)
				b.check(t, "Sdpa", second, nil, []int{3})
			}
		})
	}
}

// attentionCall is attention of 9 heads over 3 of keys. Its scalars begin at
// argument first.
func attentionCall(r *rand.Rand, function string, dim, keys, first int, softcap float64) reference.Call {
	const heads, group = 9, 3
	stride := keys*dim + 32*r.IntN(3)
	c := reference.Call{Function: function, Constants: []metalshim.Constant{metalshim.BoolConstant(20, false)}}
	c.Args[0], c.Args[1], c.Args[2] = noise(r, heads*dim), noise(r, heads/group*stride), noise(r, heads/group*stride)
	c.Args[first], c.Args[first+1], c.Args[first+2], c.Args[first+3] = i32s(group), i32s(keys), u64s(stride), u64s(stride)
	c.Args[first+4], c.Args[first+5] = f32s(float32(1/math.Sqrt(float64(dim)))), f32s(float32(softcap))
	if first == 4 {
		c.Args[3] = room(heads*dim + 3)
		c.Grid, c.Group = size(1, heads, 1), size(1024, 1, 1)
		return c
	}
	c.Args[3], c.Args[4], c.Args[5] = room(heads*32*dim), room(heads*32), room(heads*32)
	c.Grid, c.Group = size(1, heads, 32), size(256, 1, 1)
	return c
}
