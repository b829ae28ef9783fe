package forward

import (
	"fmt"

	"github.com/introgen/introgen/metalshim"
)

// product is a · w, matrix by matrix of a batch. w may lie transposed. A side of one
// takes the kernels of a matrix times a vector (call_mlx_gemm and call_mlx_gemv in
// candle-metal-kernels/src/kernels/mlx_gemm.rs).
func (b *builder) product(a, w tensor) tensor {
	last := a.rank - 1
	m, k, n := a.dims[last-1], a.dims[last], w.dims[last]
	out := a
	out.dims[last] = n
	out = b.fresh(a.element, out.dims[:a.rank]...)
	// A side of one lies both ways, and counts as not transposed.
	transB := (w.strides[last] != 1 && n != 1) || (w.strides[last-1] != n && k != 1)
	batch, strideA, strideB := 1, m*k, n*k
	if last > 1 {
		batch = out.count() / (m * n)
		strideA, strideB = a.strides[last-2], w.strides[last-2]
	}
	if m > 1 && n > 1 {
		b.gemm(gemm{batch: batch, m: m, n: n, k: k, transB: transB, strideA: strideA, strideB: strideB, element: a.element, offsetA: a.bytes(), offsetB: w.bytes()}, a.buf, w.buf, out.buf)
		return out
	}
	if last == 1 {
		strideB = 0
	}
	v := gemv{element: a.element, batch: batch, rows: n, cols: k, ld: n, transposed: !transB, vector: a, matrix: w, strideVector: strideA, strideMatrix: strideB}
	if transB {
		v.ld = k
	}
	if n == 1 {
		v.rows, v.ld, v.transposed = m, k, false
		v.vector, v.matrix, v.strideVector, v.strideMatrix = w, a, strideB, strideA
	}
	b.gemv(v, out.buf)
	return out
}

// gemv is a batch of matrices times a vector each: of rows × cols elements, whose rows
// lie ld apart, or whose columns do where it is transposed.
type gemv struct {
	element                    element
	batch, rows, cols, ld      int
	transposed                 bool
	vector, matrix             tensor
	strideVector, strideMatrix int
}

// vectorTile is a variant of the Gemv library's kernels: the simdgroups of a
// threadgroup along the rows and the columns, the threads of a simdgroup along
// both, and the elements of a thread. In the kernels of transposed matrices rows and
// columns are those of the matrix as it lies.
type vectorTile struct{ bm, bn, sm, sn, tm, tn int }

// chooseVectorTile is candle's choice for a matrix of rows × cols.
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

// chooseTransposedTile is that for one that lies transposed.
func chooseTransposedTile(rows, cols int) vectorTile {
	t := vectorTile{bm: 1, bn: 2, sm: 8, sn: 4, tm: 4, tn: 4}
	switch {
	case rows >= 2048:
		t.bn = 16
		if cols >= 8192 {
			t.sm, t.sn = 4, 8
		}
	case rows >= 512:
		t.bn = 4
	}
	if rows < 4 {
		t.tn = 1
	}
	return t
}

// name is the kernel's: gemv_float32_bm4_bn1_sm1_sn32_tm4_tn4_nc0_axpby0.
func (t vectorTile) name(e element, transposed bool) string {
	name := "gemv_"
	if transposed {
		name = "gemv_t_"
	}
	kind := map[element]string{float32s: "float32", float16s: "float16"}[e]
	return fmt.Sprintf("%s%s_bm%d_bn%d_sm%d_sn%d_tm%d_tn%d_nc0_axpby0", name, kind, t.bm, t.bn, t.sm, t.sn, t.tm, t.tn)
}

// noBias is the argument of a Gemv kernel that is added to the product.
var noBias = []int{2}

func (b *builder) gemv(v gemv, out Buf) {
	t := chooseVectorTile(v.rows, v.cols)
	if v.transposed {
		t = chooseTransposedTile(v.rows, v.cols)
	}
	b.begin("Gemv", t.name(v.element, v.transposed))
	b.read(0, v.matrix)
	b.read(1, v.vector)
	b.out(3, out, 0)
	b.d.Absent = noBias
	b.i32(4, v.cols)
	b.i32(5, v.rows)
	b.i32(6, v.ld)
	b.f32(7, 1)               // the product's factor
	b.f32(8, 0)               // the bias's
	b.i32(9, 1)               // dimensions of the batch,
	b.i32(10, v.batch)        // their sizes,
	b.u64(11, v.strideVector) // and how far apart vectors,
	b.u64(12, v.strideMatrix) // matrices
	b.u64(13, 0)              // and biases lie
	b.i32(14, 1)
	results := t.bm * t.sm * t.tm // of a threadgroup
	if v.transposed {
		results = t.bn * t.sn * t.tn
	}
	b.run(Groups(metalshim.Size{X: (v.rows + results - 1) / results, Y: 1, Z: v.batch}, metalshim.Size{X: 32, Y: t.bn, Z: t.bm}))
}
