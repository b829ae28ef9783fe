package forward

import (
	"fmt"

	"github.com/introgen/introgen/metalshim"
)

// tile is a variant of the Gemm library's kernels: the part of the product
// that a threadgroup makes, the depth of a step, and the simdgroups along the
// rows and the columns.
type tile struct{ bm, bn, bk, wm, wn int }

var (
	tile32x32x16 = tile{32, 32, 16, 2, 2}
	tile64x64x16 = tile{64, 64, 16, 2, 2}
	tile64x32x32 = tile{64, 32, 32, 2, 2}
	tile32x64x16 = tile{32, 64, 16, 1, 2}

	tile64x64x16x1 = tile{64, 64, 16, 1, 2}
)

// chooseTile is candle's choice
// (candle-metal-kernels/src/kernels/mlx_gemm.rs, select_tile_config). The last
// letter of the device's architecture tells the class: g and p are the small
// ones, d the largest. No architecture counts as medium. Of float16 matrices there are
// only such as are not transposed and not deeper than they are wide, all in one tile.
func chooseTile(architecture string, batch, m, n int, transB bool, e element) tile {
	if m < 16 {
		return tile32x32x16
	}
	if e == float16s {
		return tile64x64x16x1
	}
	small := false
	if k := len(architecture); k > 0 {
		small = architecture[k-1] == 'g' || architecture[k-1] == 'p'
	}
	const large = 1 << 20 // elements of the whole product
	switch {
	case small && transB:
		return tile64x32x32
	case small, batch*m*n >= large:
		return tile64x64x16
	case transB:
		return tile32x64x16
	}
	return tile64x32x32
}

// name is the kernel's: gemm_nt_f32_f32_32_64_16_1_2.
func (t tile) name(transB bool, e element) string {
	trans := "nn"
	if transB {
		trans = "nt"
	}
	return fmt.Sprintf("gemm_%s_%s_%s_%d_%d_%d_%d_%d", trans, e.name(), e.name(), t.bm, t.bn, t.bk, t.wm, t.wn)
}

// gemm is a batch of products d[m,n] = a[m,k] · b, where b lies as [k,n], or
// as [n,k] if transB. The batches of a and b follow each other by strideA and
// strideB elements; they begin at offsets in bytes.
type gemm struct {
	batch, m, n, k   int
	transB           bool
	strideA, strideB int
	element          element
	offsetA, offsetB int
}

func (b *builder) gemm(g gemm, a, w, d Buf) {
	t := chooseTile(b.architecture, g.batch, g.m, g.n, g.transB, g.element)
	ldb := g.n
	if g.transB {
		ldb = g.k
	}
	tilesN, tilesM := (g.n+t.bn-1)/t.bn, (g.m+t.bm-1)/t.bm

	b.begin("Gemm", t.name(g.transB, g.element))
	b.constants(
		metalshim.BoolConstant(10, g.batch > 1), // has_batch
		metalshim.BoolConstant(100, false),      // use_out_source
		metalshim.BoolConstant(110, false),      // do_axpby
		metalshim.BoolConstant(200, g.m%t.bm == 0),
		metalshim.BoolConstant(201, g.n%t.bn == 0),
		metalshim.BoolConstant(202, g.k%t.bk == 0),
		metalshim.BoolConstant(300, false), // do_gather
	)
	b.in(0, a, g.offsetA)
	b.in(1, w, g.offsetB)
	b.out(3, d, 0)
	// GemmParams: 72 bytes, the last 4 of them padding.
	b.beginBytes()
	b.i32s(g.m, g.n, g.k, g.k, ldb, g.n, tilesN, tilesM)
	b.u64s(g.strideA, g.strideB, g.m*g.n)
	b.i32s(0, g.k/t.bk, 1, 0)
	b.endBytes(4)
	b.i32(6, g.batch)
	b.u64(7, g.strideA, g.strideB)
	b.run(Groups(metalshim.Size{X: tilesN, Y: tilesM, Z: g.batch}, metalshim.Size{X: 32, Y: t.wn, Z: t.wm}))
}
