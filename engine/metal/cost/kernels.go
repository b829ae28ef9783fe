package cost

import (
	"github.com/introgen/introgen/engine/metal/forward"
	"github.com/introgen/introgen/metalshim"
)

// The functions below read the arguments of candle's kernels, as package forward
// sets them.

// elementwise is a kernel of n results from as many elements of each operand.
func elementwise(operands, ops int64) kernel {
	return func(c *call) Cost {
		n := c.size(0, 0)
		return Cost{c.times(float, operands, n), c.times(float, n), c.times(ops, n)}
	}
}

// distinct is how many elements a view of the given dimensions shows, each once: a
// stride of 0 shows the same ones again.
func (c *call) distinct(rank int64, dims, strides int) int64 {
	if rank < 1 || rank > 16 {
		c.bad = true
		return 0
	}
	n := int64(1)
	for d := range int(rank) {
		if size := c.size(dims, d); c.size(strides, d) != 0 {
			n = c.times(n, size)
		}
	}
	return n
}

func copyStrided(c *call) Cost {
	return Cost{Read: c.times(float, c.distinct(c.size(1, 0), 2, 3)), Written: c.times(float, c.size(0, 0))}
}

// unaryStrided is a function of each element of a view.
func unaryStrided(ops int64) kernel {
	return func(c *call) Cost {
		n := c.size(0, 0)
		return Cost{c.times(float, c.distinct(c.size(1, 0), 2, 3)), c.times(float, n), c.times(ops, n)}
	}
}

// between is elementwise from elements of one size in bytes to such of another.
func between(from, to, ops int64) kernel {
	return func(c *call) Cost {
		n := c.size(0, 0)
		return Cost{c.times(from, n), c.times(to, n), c.times(ops, n)}
	}
}

// viewed takes a view, whose strides an argument has, and as many elements that lie one
// after another.
func viewed(strides int) kernel {
	return func(c *call) Cost {
		n := c.size(0, 0)
		return Cost{c.times(float, c.distinct(c.size(1, 0), 2, strides)) + c.times(float, n), c.times(float, n), n}
	}
}

// equal compares elements, of a view or as they lie, with one; a result is a byte.
func equal(view bool) kernel {
	return func(c *call) Cost {
		n := c.size(0, 0)
		read := n
		if view {
			read = c.distinct(c.size(1, 0), 2, 3)
		}
		return Cost{c.times(4, read) + 4, n, n}
	}
}

func copy2d(c *call) Cost {
	n := c.times(float, c.size(0, 0), c.size(1, 0))
	return Cost{Read: n, Written: n}
}

// lookup takes a row of the table for each id. A row that two ids name is read for
// each: what the ids are does not show in the arguments.
func lookup(c *call) Cost {
	n, ids := c.size(0, 0), c.size(4, 0)
	return Cost{Read: c.times(float, n) + c.times(4, ids), Written: c.times(float, n)}
}

// where reads the mask and both choices: which it takes is in the mask.
func where(c *call) Cost {
	n, rank := c.size(0, 0), c.size(1, 0)
	shown := func(constant, strides int) int64 {
		for _, k := range c.Constants {
			if k.Index == constant && k.Bits != 0 {
				return n // it lies as it is read
			}
		}
		return c.distinct(rank, 2, strides)
	}
	mask, yes, no := shown(0, 3), shown(1, 4), shown(2, 5)
	return Cost{Read: mask + c.times(float, yes) + c.times(float, no), Written: c.times(float, n)}
}

// rope turns pairs: four products, a sum and a difference for each. Argument batch
// is where the tables of a batch would be.
func rope(batch int) kernel {
	return func(c *call) Cost {
		heads, values, tables := c.size(0, 0), c.size(1, 0), c.size(batch, 0)
		if tables != 0 {
			c.bad = true // one for each of a batch: the plan has none
		}
		n := c.times(heads, values)
		return Cost{c.times(float, n) + c.times(2*float, values/2), c.times(float, n), c.times(6, n/2)}
	}
}

// rmsNorm squares and adds up a row's values, and multiplies each by the row's
// factor and by a weight. The factor is a quotient, a sum and a root, of a
// quotient.
func rmsNorm(c *call) Cost {
	n, cols := c.size(0, 0), c.size(1, 0)
	return Cost{c.times(float, n) + c.times(float, cols), c.times(float, n), c.times(4, n) + c.times(4, c.rows(n, cols))}
}

// softmax finds the highest of a row, subtracts it, takes exp, adds up and divides.
func softmax(c *call) Cost {
	n := c.size(0, 0)
	return Cost{c.times(float, n), c.times(float, n), c.times(5, n)}
}

// argmax compares all, and writes an index of 32 bits for each row.
func argmax(c *call) Cost {
	n := c.size32(0, 0)
	return Cost{c.times(float, n), c.times(4, c.rows(n, c.size32(3, 0))), n}
}

func (c *call) rows(n, cols int64) int64 {
	if cols < 1 {
		c.bad = true
		return 0
	}
	return n / cols
}

// gemm is a batch of products of matrices, of the shapes that GemmParams has, whose
// elements take so many bytes. Matrices of a batch may lie in each other.
func gemm(size int64) kernel {
	return func(c *call) Cost { return c.gemm(size) }
}

func (c *call) gemm(bytes int64) Cost {
	m, n, k := c.size32(4, 0), c.size32(4, 1), c.size32(4, 2)
	batch, strideA, strideB := c.size32(6, 0), c.size(7, 0), c.size(7, 1)
	elements := func(stride, one int64) int64 {
		if batch < 1 {
			c.bad = true
			return 0
		}
		return c.times(batch-1, min(stride, one)) + one
	}
	read := elements(strideA, c.times(m, k)) + elements(strideB, c.times(n, k))
	return Cost{c.times(bytes, read), c.times(bytes, batch, m, n), c.times(2, batch, m, n, k)}
}

// gemv is a batch of products of a float32 matrix and a vector, from whichever side.
func gemv(c *call) Cost {
	cols, rows, batch := c.size32(4, 0), c.size32(5, 0), c.size32(10, 0)
	read := c.times(batch, rows, cols) + c.times(batch, cols)
	return Cost{c.times(float, read), c.times(float, batch, rows), c.times(2, batch, rows, cols)}
}

// blocks is the bytes of rows of weights of a block format.
func (c *call) blocks(f forward.Format, rows, cols int64) int64 {
	return c.times(rows, cols/int64(f.Elems), int64(f.Bytes))
}

// vector is weights in blocks times one vector, and product the same times several.
func vector(f forward.Format) kernel {
	return func(c *call) Cost {
		return c.product(f, c.size(4, 0), c.size(3, 0), c.times(c.size(16, 0), c.size(11, 0)), c.size(5, 0))
	}
}

func matrix(f forward.Format) kernel {
	return func(c *call) Cost {
		return c.product(f, c.size(13, 0), c.size(3, 0), c.size(14, 0), c.times(c.size(4, 0), c.size(8, 0)))
	}
}

// product is rows × cols weights times vectors; batch has to be 1.
func (c *call) product(f forward.Format, rows, cols, vectors, batch int64) Cost {
	if batch != 1 {
		c.bad = true
	}
	return Cost{c.blocks(f, rows, cols) + c.times(float, cols, vectors), c.times(float, rows, vectors), c.times(2, rows, cols, vectors)}
}

// heads is how many query heads a dispatch of attention has: one threadgroup, or a
// row of them, for each.
func (c *call) heads() int64 { return int64(c.grid().Y) }

func (c *call) grid() metalshim.Size {
	grid, _, _ := c.Extent.Sizes(1)
	return grid
}

// attention of one token over keys. Each head scales its query, multiplies it by
// each key, takes the softmax of that and adds up the values by it.
func attention(c *call, dim int64) Cost {
	heads, keys, read := c.cached(dim, 4)
	return Cost{read, c.times(float, heads, dim), c.times(heads, dim) + c.times(heads, keys, 4*dim+5)}
}

// firstPass does so for each block of the keys by itself: it does not divide, and
// writes each block's sum and highest score as well.
func firstPass(c *call, dim int64) Cost {
	heads, keys, read := c.cached(dim, 6)
	blocks := int64(c.grid().Z)
	return Cost{read, c.times(float, heads, blocks, dim+2), c.times(heads, dim) + c.times(heads, keys, 4*dim+4)}
}

// secondPass weighs the blocks by their highest scores and adds them up.
func secondPass(c *call, dim int64) Cost {
	heads, blocks := c.heads(), int64(forward.TwoPassBlocks)
	// The highest of all, each one's distance from it, exp, its sum weighed and added.
	weights := c.times(heads, blocks, 5)
	return Cost{c.times(float, heads, blocks, dim+2), c.times(float, heads, dim), weights + c.times(heads, blocks, 2*dim) + c.times(heads, dim)}
}

// cached is the bytes of queries, keys and values; first is the argument that says
// how many query heads share a head of these.
func (c *call) cached(dim int64, first int) (heads, keys, read int64) {
	heads, keys = c.heads(), c.size32(first+1, 0)
	own := c.rows(heads, c.size32(first, 0))
	return heads, keys, c.times(float, heads, dim) + c.times(2*float, own, keys, dim)
}
