package kernels_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/introgen/introgen/engine/metal/forward"
	"github.com/introgen/introgen/engine/metal/reference"
	"github.com/introgen/introgen/engine/quant"
	"github.com/introgen/introgen/metalshim"
)

func TestGemm(t *testing.T) { each(t, testGemm) }

func testGemm(t *testing.T, b *bench, r *rand.Rand) {
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
	tiles := [][5]int{{32, 32, 16, 2, 2}, {64, 32, 32, 2, 2}, {32, 64, 16, 1, 2}, {64, 64, 16, 2, 2}}
	if b.candle { // only what a forward pass needs: these take seconds each to compile
		tiles = nil
	}
	for _, tile := range tiles {
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

func TestGemv(t *testing.T) { each(t, testGemv) }

// testGemv runs each variant that candle's host chooses, at rows and columns
// below, at and above what a thread, a simdgroup and a threadgroup take.
func testGemv(t *testing.T, b *bench, r *rand.Rand) {
	for _, tile := range [][6]int{{1, 1, 8, 4, 4, 4}, {1, 1, 8, 4, 1, 4}, {1, 8, 1, 32, 4, 4}, {1, 8, 1, 32, 1, 4}, {4, 1, 1, 32, 4, 4}, {4, 1, 1, 32, 1, 4}, {8, 1, 1, 32, 4, 4}} {
		bm, bn, sm, sn, tm, tn := tile[0], tile[1], tile[2], tile[3], tile[4], tile[5]
		perGroup, step := bm*sm*tm, bn*sn*tn
		for _, rows := range []int{tm, tm + 1, perGroup - 1, perGroup, perGroup + 1, 3*perGroup + 2, tm + r.IntN(200)} {
			for _, cols := range []int{1, 3, 4, step - 1, step, step + 1, 2*step + 5, 1 + r.IntN(2000)} {
				if rows >= tm {
					b.check(t, "Gemv", gemvCall(r, tile, 1+r.IntN(2), rows, cols), []int{4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14}, []int{3})
				}
			}
		}
	}
}

func TestGemvTransposed(t *testing.T) { each(t, testGemvTransposed) }

// testGemvTransposed is testGemv of the variants for a vector times a matrix.
func testGemvTransposed(t *testing.T, b *bench, r *rand.Rand) {
	for _, tile := range [][6]int{{1, 2, 8, 4, 4, 1}, {1, 2, 8, 4, 4, 4}, {1, 4, 8, 4, 4, 4}, {1, 16, 8, 4, 4, 4}, {1, 16, 4, 8, 4, 4}} {
		bn, sm, sn, tm, tn := tile[1], tile[2], tile[3], tile[4], tile[5]
		perGroup, step := bn*sn*tn, sm*tm
		for _, cols := range []int{tn, tn + 1, perGroup - 1, perGroup, perGroup + 1, 3*perGroup + 2, tn + r.IntN(200)} {
			for _, rows := range []int{1, 3, 4, step - 1, step, step + 1, 2*step + 5, 1 + r.IntN(2000)} {
				batch, strideV := 1+r.IntN(2), rows+r.IntN(5)
				c := gemvCall(r, tile, batch, rows, cols)
				c.Function = fmt.Sprintf("gemv_t_float32_bm1_bn%d_sm%d_sn%d_tm%d_tn%d_nc0_axpby0", bn, sm, sn, tm, tn)
				c.Args[1], c.Args[3], c.Args[11] = noise(r, batch*strideV), room(batch*cols+3), u64s(strideV)
				c.Args[4], c.Args[5] = i32s(rows), i32s(cols)
				c.Grid.X = (cols + perGroup - 1) / perGroup
				b.check(t, "Gemv", c, []int{4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14}, []int{3})
			}
		}
	}
}

// gemvCall is a product whose rows, vectors and matrices lie a little apart.
func gemvCall(r *rand.Rand, tile [6]int, batch, rows, cols int) reference.Call {
	c := reference.Call{Function: fmt.Sprintf("gemv_float32_bm%d_bn%d_sm%d_sn%d_tm%d_tn%d_nc0_axpby0", tile[0], tile[1], tile[2], tile[3], tile[4], tile[5])}
	ld := cols + r.IntN(3)
	strideV, strideM := cols+r.IntN(5), rows*ld+r.IntN(5)
	c.Args[0], c.Args[1], c.Args[3] = noise(r, batch*strideM), noise(r, batch*strideV), room(batch*rows+3)
	c.Args[4], c.Args[5], c.Args[6], c.Args[7], c.Args[8] = i32s(cols), i32s(rows), i32s(ld), f32s(1), f32s(0)
	c.Args[9], c.Args[10], c.Args[11], c.Args[12], c.Args[13], c.Args[14] = i32s(1), i32s(batch), u64s(strideV), u64s(strideM), u64s(0), i32s(1)
	perGroup := tile[0] * tile[2] * tile[4]
	c.Grid, c.Group = size((rows+perGroup-1)/perGroup, 1, batch), size(32, tile[1], tile[0])
	return c
}

// blocks is rows × cols weights in a format: random bits, with scales that are
// ordinary numbers.
func blocks(r *rand.Rand, t *testing.T, f forward.Format, rows, cols int) []byte {
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
	}
	return b
}

func TestMatrixVector(t *testing.T) { each(t, testMatrixVector) }

// formats are all block formats for the project's kernels, and some of candle's.
func formats(b *bench) []forward.Format {
	return slices.DeleteFunc(forward.Formats(), func(f forward.Format) bool {
		return f.Float() || b.candle && !slices.Contains([]string{"q8_0", "q4_1", "q4_K"}, f.Name)
	})
}

func testMatrixVector(t *testing.T, b *bench, r *rand.Rand) {
	for _, f := range formats(b) {
		t.Run(f.Name, func(t *testing.T) {
			rows := []int{1, 4, 7, 8, 9, 192, 1 + r.IntN(100)}
			if b.candle { // which reads rows by fours, there or not
				rows = []int{8, 192, 8 * (1 + r.IntN(12))}
			}
			for _, n := range rows {
				k := 256 * (1 + r.IntN(3))
				if f.Elems <= 32 {
					k = 32 * (1 + r.IntN(40))
				}
				b.check(t, "Quantized", mvCall(r, t, f, n, k), []int{3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18}, []int{2})
			}
		})
	}
}

func mvCall(r *rand.Rand, t *testing.T, f forward.Format, n, k int) reference.Call {
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

func TestMatrixMatrix(t *testing.T) { each(t, testMatrixMatrix) }

func testMatrixMatrix(t *testing.T, b *bench, r *rand.Rand) {
	for _, f := range formats(b) {
		t.Run(f.Name, func(t *testing.T) {
			// Widths that are no multiple of 4: candle's store rows by fours.
			shapes := [][2]int{{64, 32}, {1, 2}, {6, 5}, {33, 7}, {65, 33}, {70, 33}, {192, 13}, {1 + r.IntN(150), 2 + r.IntN(80)}}
			for _, s := range shapes {
				k := 256 * (1 + r.IntN(2))
				if f.Elems <= 32 {
					k = 32 * (1 + r.IntN(20))
				}
				b.check(t, "Quantized", mmCall(r, t, f, s[0], s[1], k), []int{3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}, []int{2})
			}
		})
	}
}

func mmCall(r *rand.Rand, t *testing.T, f forward.Format, n, tokens, k int) reference.Call {
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

func TestAttention(t *testing.T) { each(t, testAttention) }

func testAttention(t *testing.T, b *bench, r *rand.Rand) {
	for _, dim := range []int{32, 64, 96, 128, 256, 512} {
		t.Run(fmt.Sprint(dim), func(t *testing.T) {
			for _, keys := range []int{1, 2, 7, 8, 9, 14, 31, 33, 64, 255, 257, 1000, 1023, 1 + r.IntN(1000)} {
				softcap := 1.0
				if keys%2 == 0 {
					softcap = 5
				}
				b.check(t, "Sdpa", attentionCall(r, fmt.Sprintf("sdpa_vector_float_%d", dim), dim, keys, 4, softcap), []int{4, 5, 6, 7, 8, 9}, []int{3})
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
