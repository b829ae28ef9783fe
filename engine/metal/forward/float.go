package forward

import (
	"fmt"

	"github.com/introgen/introgen/metalshim"
)

// times multiplies n rows of x, which begin at element offset, by w, whose
// elements are float32 in wBuf. candle spreads w over a batch of one, in which
// it then lies 0 elements apart, and transposes the view.
func (b *builder) times(w Weight, wBuf, x Buf, n, offset int) Buf {
	out := b.alloc(n * w.Rows)
	if n == 1 {
		b.gemv(w, wBuf, x, out, offset)
		return out
	}
	b.gemm(gemm{batch: 1, m: n, n: w.Rows, k: w.Cols, transB: true, strideA: n * w.Cols}, x, wBuf, out)
	return out
}

// vectorTile is a variant of the Gemv library's kernels: the simdgroups of a
// threadgroup along the rows and the columns, the threads of a simdgroup along
// both, and the elements of a thread.
type vectorTile struct{ bm, bn, sm, sn, tm, tn int }

// chooseVectorTile is candle's choice for a matrix of rows × cols (call_mlx_gemv
// in candle-metal-kernels/src/kernels/mlx_gemm.rs).
func chooseVectorTile(rows, cols int) vectorTile {
	t := vectorTile{bm: 4, bn: 1, sm: 1, sn: 32, tm: 4, tn: 4}
	switch {
	case cols <= 64:
		t.bm, t.sm, t.sn = 1, 8, 4
	case cols >= 16*rows:
		t.bm, t.bn = 1, 8
	case rows >= 4096:
		t.bm = 8
	}
	if rows < 4 {
		t.tm = 1
	}
	return t
}

// name is the kernel's: gemv_float32_bm4_bn1_sm1_sn32_tm4_tn4_nc0_axpby0.
func (t vectorTile) name() string {
	return fmt.Sprintf("gemv_float32_bm%d_bn%d_sm%d_sn%d_tm%d_tn%d_nc0_axpby0", t.bm, t.bn, t.sm, t.sn, t.tm, t.tn)
}

// noBias is the argument of a Gemv kernel that is added to the product.
var noBias = []int{2}

// gemv multiplies w by the vector that begins at element offset of x.
func (b *builder) gemv(w Weight, wBuf, x, out Buf, offset int) {
	t := chooseVectorTile(w.Rows, w.Cols)
	b.begin("Gemv", t.name())
	b.in(0, wBuf, 0)
	b.in(1, x, 4*offset)
	b.out(3, out, 0)
	b.d.Absent = noBias
	b.i32(4, w.Cols)
	b.i32(5, w.Rows)
	b.i32(6, w.Cols)  // elements from row to row
	b.f32(7, 1)       // the product's factor
	b.f32(8, 0)       // the bias's
	b.i32(9, 1)       // dimensions of the batch,
	b.i32(10, 1)      // their sizes,
	b.u64(11, w.Cols) // and how far apart vectors,
	b.u64(12, 0)      // matrices
	b.u64(13, 0)      // and biases lie
	b.i32(14, 1)
	rows := t.bm * t.sm * t.tm // of a threadgroup
	b.run(Groups(metalshim.Size{X: (w.Rows + rows - 1) / rows, Y: 1, Z: 1}, metalshim.Size{X: 32, Y: t.bn, Z: t.bm}))
}
