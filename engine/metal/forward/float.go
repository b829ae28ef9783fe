package forward

// times multiplies x, whose last dimension is that of the rows of w, by w, whose
// elements are float32. candle spreads w over a batch of one, in which it then lies 0
// elements apart, and transposes the view (QMatMul::forward in
// candle-core/src/quantized/mod.rs).
func (b *builder) times(w loaded, x tensor) tensor {
	m := shaped(w.buf, w.Rows, w.Cols)
	if x.rank == 3 {
		m = m.spread(shaped(0, 1, w.Rows, w.Cols))
		m.strides[0] = 0
	}
	return b.product(x, m.transposed(x.rank-2, x.rank-1))
}
