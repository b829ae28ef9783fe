package forward

import (
	"fmt"

	"github.com/introgen/introgen/metalshim"
)

// The methods below encode one operation of candle each, with the argument
// table of its kernel. Sizes count float32 elements; each makes its result in
// a fresh buffer, as candle does, and returns that.

// unary is cast, or of library Unary cos, sin or silu.
func (b *builder) unary(library, function string, in Buf, n int) Buf {
	out := b.op(n, library, function)
	b.u64(0, n)
	b.in(1, in, 0)
	return b.done(2, out, Pairs(n))
}

// binary is badd or bmul.
func (b *builder) binary(function string, l, r Buf, n int) Buf {
	out := b.op(n, "Binary", function)
	b.u64(0, n)
	b.in(1, l, 0)
	b.in(2, r, 0)
	return b.done(3, out, Pairs(n))
}

func (b *builder) affine(in Buf, n int, mul, add float32) Buf {
	out := b.op(n, "Affine", "affine_f32")
	b.u64(0, n)
	b.f32(1, mul)
	b.f32(2, add)
	b.in(3, in, 0)
	return b.done(4, out, Pairs(n))
}

// copyStrided makes a tensor of four dimensions contiguous.
func (b *builder) copyStrided(in Buf, dims, strides [4]int) Buf {
	n := dims[0] * dims[1] * dims[2] * dims[3]
	out := b.op(n, "Unary", "copy_f32_strided")
	b.u64(0, n)
	b.u64(1, len(dims))
	b.u64(2, dims[:]...)
	b.u64(3, strides[:]...)
	b.in(4, in, 0)
	return b.done(5, out, Linear(n))
}

// copy2d copies rows of cols elements, srcStride and dstStride apart, to dst
// from its element offset on.
func (b *builder) copy2d(src, dst Buf, rows, cols, srcStride, dstStride, offset int) {
	b.copyRows(src, 0, dst, 4*offset, rows, cols, srcStride, dstStride)
}

// copyRows is copy2d between two offsets in bytes.
func (b *builder) copyRows(src Buf, from int, dst Buf, to, rows, cols, srcStride, dstStride int) {
	b.begin("Unary", "copy2d_f32")
	b.u64(0, rows)
	b.u64(1, cols)
	b.u64(2, srcStride)
	b.u64(3, dstStride)
	b.in(4, src, from)
	b.out(5, dst, to)
	b.run(Plane(rows, cols))
}

// lookup takes the rows that ids names from table, rows × cols.
func (b *builder) lookup(table, ids Buf, rows, cols, n int) Buf {
	out := b.op(n*cols, "Indexing", "is_u32_f32")
	b.u64(0, n*cols)
	b.u64(1, 1)
	b.u64(2, rows)
	b.u64(3, cols)
	b.u64(4, n)
	b.boolean(5, 1)
	b.u64(6, rows, cols)
	b.u64(7, cols, 1)
	b.in(8, table, 0)
	b.in(9, ids, 0)
	return b.done(10, out, Linear(n*cols))
}

func (b *builder) rmsNorm(in, alpha Buf, n, cols int, eps float32) Buf {
	out := b.op(n*cols, "Reduce", "rmsnorm_f32")
	b.label("rmsnorm")
	b.u64(0, n*cols)
	b.u64(1, cols)
	b.in(2, in, 0)
	b.out(3, out, 0)
	b.in(4, alpha, 0)
	b.f32(5, eps)
	b.run(Rows(n, cols))
	return out
}

func (b *builder) softmax(in Buf, n, cols int) Buf {
	out := b.op(n*cols, "Reduce", "softmax_f32")
	b.label("softmax")
	b.u64(0, n*cols)
	b.u64(1, cols)
	b.in(2, in, 0)
	return b.done(3, out, Rows(n, cols))
}

func (b *builder) argmax(in Buf, n int) Buf {
	out := b.op(1, "Reduce", "fast_argmax_f32")
	b.i32(0, n)
	b.i32(1, 1)
	b.i32(2, n)
	b.i32(3, n)
	b.in(4, in, 0)
	return b.done(5, out, Rows(1, n))
}

// rope turns the pairs of heads × tokens × dim elements. The tables begin at
// position pos.
func (b *builder) rope(in, cos, sin Buf, heads, tokens, dim, pos int) Buf {
	out := b.alloc(heads * tokens * dim)
	offset := 4 * pos * dim / 2
	b.begin("Reduce", "rope_i_f32")
	b.label("rope_i")
	b.u64(0, heads)
	b.u64(1, tokens*dim)
	b.u64(2, 0)
	b.in(3, in, 0)
	b.in(4, cos, offset)
	b.in(5, sin, offset)
	return b.done(6, out, Linear(heads*tokens*dim/2))
}

// masked puts onTrue (one element) where mask, tokens × keys bytes, is not 0,
// in each of heads matrices of in.
func (b *builder) masked(mask, onTrue, in Buf, heads, tokens, keys int) Buf {
	n := heads * tokens * keys
	out := b.op(n, "Ternary", "where_u8_f32")
	b.constants(
		metalshim.BoolConstant(0, heads == 1), // a mask for one head is contiguous as it lies
		metalshim.BoolConstant(1, n == 1),
		metalshim.BoolConstant(2, true),
	)
	b.u64(0, n)
	b.u64(1, 4)
	b.u64(2, 1, heads, tokens, keys)
	b.u64(3, 0, 0, keys, 1)
	b.u64(4, 0, 0, 0, 0)
	b.u64(5, n, tokens*keys, keys, 1)
	b.in(6, mask, 0)
	b.in(7, onTrue, 0)
	b.in(8, in, 0)
	return b.done(9, out, Pairs(n))
}

// matmul multiplies n rows of x by w: in blocks, one row by the vector kernel
// and several by the matrix kernel.
func (b *builder) matmul(w loaded, x Buf, n int) Buf {
	switch {
	case w.Format.Float():
		return b.times(w, shaped(x, 1, n, w.Cols)).buf
	case n == 1:
		return b.mulMV(w, x, 0)
	}
	return b.mulMM(w, x, n)
}

// matmulRow multiplies row i of x by w, as a matrix of its own.
func (b *builder) matmulRow(w loaded, x Buf, i int) Buf {
	if w.Format.Float() {
		return b.times(w, shaped(x, i+1, w.Cols).narrowed(0, i, 1)).buf
	}
	return b.mulMV(w, x, i*w.Cols)
}

func (b *builder) mulMV(w loaded, x Buf, offset int) Buf {
	out := b.op(w.Rows, "Quantized", w.Format.MV())
	b.in(0, w.buf, 0)
	b.in(1, x, 4*offset)
	b.out(2, out, 0)
	// 6 to 8 and 12 to 14 are strides in bytes, which the block kernels do not
	// read and candle sets to 0.
	for i, v := range [...]int{w.Cols, w.Rows, 1, 0, 0, 0, w.Cols, 1, 1, 0, 0, 0, w.Rows, 1} {
		b.u64(3+i, v)
	}
	b.i32(17, 1)
	b.i32(18, 1)
	b.run(Groups(w.Format.VectorGrid(w.Rows)))
	return out
}

func (b *builder) mulMM(w loaded, x Buf, n int) Buf {
	out := b.alloc(n * w.Rows)
	// candle computes these two strides in float32
	// (candle-core/src/quantized/metal.rs, fwd).
	scale := float32(w.Format.Bytes) / float32(w.Format.Elems)
	row, all := int(float32(w.Cols)*scale), int(float32(w.Cols*w.Rows)*scale)
	b.begin("Quantized", w.Format.MM())
	b.in(0, w.buf, 0)
	b.in(1, x, 0)
	b.out(2, out, 0)
	for i, v := range [...]int{w.Cols, 1, row, all, all, 1, 4, 4 * w.Cols, 4 * w.Cols * n, 4 * w.Cols * n, w.Rows, n} {
		b.u64(3+i, v)
	}
	b.i32(15, 1)
	b.i32(16, 1)
	b.d.ThreadgroupBytes = 8192
	b.run(Groups(metalshim.Size{X: (n + 31) / 32, Y: (w.Rows + 63) / 64, Z: 1}, metalshim.Size{X: 128, Y: 1, Z: 1}))
	return out
}

// attend is attention of one token over keys keys, whose heads lie keys × dim
// elements apart.
func (b *builder) attend(q, k, v Buf, heads, kvHeads, dim, keys int, scale float32) Buf {
	out := b.alloc(heads * dim)
	one := metalshim.Size{X: 1, Y: heads, Z: 1}
	tail := func(index int) {
		b.i32(index, heads/kvHeads)
		b.i32(index+1, keys)
		b.u64(index+2, keys*dim)
		b.u64(index+3, keys*dim)
		b.f32(index+4, scale)
		b.f32(index+5, 1) // no softcapping
	}
	if keys < twoPassKeys {
		b.begin("Sdpa", fmt.Sprintf("sdpa_vector_float_%d", dim))
		b.label("vector_attention")
		b.constants(metalshim.BoolConstant(20, false)) // has_mask
		b.in(0, q, 0)
		b.in(1, k, 0)
		b.in(2, v, 0)
		b.out(3, out, 0)
		tail(4)
		b.run(Groups(one, metalshim.Size{X: 1024, Y: 1, Z: 1}))
		return out
	}
	partial := b.alloc(heads * TwoPassBlocks * dim)
	sums := b.alloc(heads * TwoPassBlocks)
	maxs := b.alloc(heads * TwoPassBlocks)
	b.begin("Sdpa", fmt.Sprintf("sdpa_vector_2pass_1_float_%d", dim))
	b.label("vector_attention")
	b.constants(metalshim.BoolConstant(20, false))
	b.in(0, q, 0)
	b.in(1, k, 0)
	b.in(2, v, 0)
	b.out(3, partial, 0)
	b.out(4, sums, 0)
	b.out(5, maxs, 0)
	tail(6)
	b.run(Groups(metalshim.Size{X: 1, Y: heads, Z: TwoPassBlocks}, metalshim.Size{X: 256, Y: 1, Z: 1}))

	b.begin("Sdpa", fmt.Sprintf("sdpa_vector_2pass_2_float_%d", dim))
	b.joined()
	b.in(0, partial, 0)
	b.in(1, sums, 0)
	b.in(2, maxs, 0)
	b.out(3, out, 0)
	b.run(Groups(one, metalshim.Size{X: 1024, Y: 1, Z: 1}))
	b.release(partial, sums, maxs)
	return out
}
