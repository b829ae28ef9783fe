package reference

import (
	"fmt"
	"math"
)

func cos(x float64) float64  { return math.Cos(x) }
func sin(x float64) float64  { return math.Sin(x) }
func silu(x float64) float64 { return x / (1 + math.Exp(-x)) }

// gelu is the approximation by tanh.
func gelu(x float64) float64 {
	return x / 2 * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(x+0.044715*x*x*x)))
}

// pairs runs f for each of n elements, of which a thread takes two.
func (c *Call) pairs(n int, f func(i int)) error { return c.each(n, 2, f) }

// each runs f for each of n elements, of which a thread takes several.
func (c *Call) each(n, several int, f func(i int)) error {
	if err := c.cover((n + several - 1) / several); err != nil {
		return err
	}
	for i := range n {
		f(i)
	}
	return nil
}

// cast takes as many elements a thread as fit into eight bytes of what it reads.
func cast(from, to element) kernel {
	return func(c *Call) error {
		return c.each(c.u64(0, 0), 8/from.size(), func(i int) { c.set(to, 2, i, c.get(from, 1, i)) })
	}
}

func unaryHalf(f func(float64) float64) kernel {
	return func(c *Call) error {
		return c.each(c.u64(0, 0), 4, func(i int) { c.set(float16s, 2, i, f(c.get(float16s, 1, i))) })
	}
}

func unary(f func(float64) float64) kernel {
	return func(c *Call) error {
		return c.pairs(c.u64(0, 0), func(i int) { c.setF32(2, i, f(c.f32(1, i))) })
	}
}

// unaryStrided is f of each element of a tensor that is not contiguous, a thread
// an element.
func unaryStrided(f func(float64) float64) kernel {
	return func(c *Call) error {
		n, rank := c.u64(0, 0), c.u64(1, 0)
		if err := c.cover(n); err != nil {
			return err
		}
		for i := range n {
			c.setF32(5, i, f(c.f32(4, c.offset(i, rank, 2, 3))))
		}
		return nil
	}
}

// operand says where element i of an operand lies: of one that is strided, that is
// dense, or that is a single element.
type operand func(c *Call, i, rank, strides int) int

func strided(c *Call, i, rank, strides int) int { return c.offset(i, rank, 2, strides) }
func dense(_ *Call, i, _, _ int) int            { return i }
func single(*Call, int, int, int) int           { return 0 }

// viewed is f of two tensors of float32, equal whether such of uint32 are the same, as
// a byte.
func viewed(left, right operand, f func(a, b float64) float64) kernel {
	return func(c *Call) error {
		rank := c.u64(1, 0)
		return c.pairs(c.u64(0, 0), func(i int) {
			c.setF32(7, i, f(c.f32(5, left(c, i, rank, 3)), c.f32(6, right(c, i, rank, 4))))
		})
	}
}

func equal(left, right operand) kernel {
	return func(c *Call) error {
		rank := c.u64(1, 0)
		return c.pairs(c.u64(0, 0), func(i int) {
			c.Args[7][i] = 0
			if c.u32(5, left(c, i, rank, 3)) == c.u32(6, right(c, i, rank, 4)) {
				c.Args[7][i] = 1
			}
		})
	}
}

func binaryOp(f func(a, b float64) float64) kernel {
	return func(c *Call) error {
		return c.pairs(c.u64(0, 0), func(i int) { c.setF32(3, i, f(c.f32(1, i), c.f32(2, i))) })
	}
}

func affine(c *Call) error {
	mul, add := c.f32(1, 0), c.f32(2, 0)
	return c.pairs(c.u64(0, 0), func(i int) { c.setF32(4, i, c.f32(3, i)*mul+add) })
}

// offset is where element i of a tensor lies, by its dimensions and strides in
// two arguments.
func (c *Call) offset(i, rank, dims, strides int) int {
	at := 0
	for d := rank - 1; d >= 0; d-- {
		size := c.u64(dims, d)
		at += i % size * c.u64(strides, d)
		i /= size
	}
	return at
}

func copyStrided(c *Call) error {
	n, rank := c.u64(0, 0), c.u64(1, 0)
	if err := c.cover(n); err != nil {
		return err
	}
	for i := range n {
		copy(c.Args[5][4*i:4*i+4], c.Args[4][4*c.offset(i, rank, 2, 3):])
	}
	return nil
}

func copy2d(c *Call) error {
	rows, cols, from, to := c.u64(0, 0), c.u64(1, 0), c.u64(2, 0), c.u64(3, 0)
	if t := c.threads(); t.X < rows || t.Y < cols {
		return fmt.Errorf("a grid of %v threads for %d × %d elements", t, rows, cols)
	}
	for x := range rows {
		copy(c.Args[5][4*x*to:4*(x*to+cols)], c.Args[4][4*x*from:4*(x*from+cols)])
	}
	return nil
}

func lookup(c *Call) error {
	n, rows, right, ids := c.u64(0, 0), c.u64(2, 0), c.u64(3, 0), c.u64(4, 0)
	if c.Args[5][0] != 1 {
		return fmt.Errorf("only contiguous tables are described")
	}
	if err := c.cover(n); err != nil {
		return err
	}
	for t := range n {
		id := c.u32(9, t/right%ids)
		if id == math.MaxUint32 {
			c.setF32(10, t, 0)
			continue
		}
		at := t/right/ids*rows*right + min(id, rows-1)*right + t%right
		copy(c.Args[10][4*t:4*t+4], c.Args[8][4*at:])
	}
	return nil
}

func where(c *Call) error {
	rank := c.u64(1, 0)
	at := func(i, contiguous, strides int) int {
		if c.constant(contiguous) {
			return i
		}
		return c.offset(i, rank, 2, strides)
	}
	return c.pairs(c.u64(0, 0), func(i int) {
		if c.Args[6][at(i, 0, 3)] != 0 {
			c.setF32(9, i, c.f32(7, at(i, 1, 4)))
		} else {
			c.setF32(9, i, c.f32(8, at(i, 2, 5)))
		}
	})
}

func rope(c *Call) error {
	bh, td, strideB := c.u64(0, 0), c.u64(1, 0), c.u64(2, 0)
	if err := c.cover(bh * td / 2); err != nil {
		return err
	}
	for t := range bh * td / 2 {
		j := t % (td / 2)
		if strideB > 0 {
			j += 2 * t / strideB * (td / 2)
		}
		a, b, cos, sin := c.f32(3, 2*t), c.f32(3, 2*t+1), c.f32(4, j), c.f32(5, j)
		c.setF32(6, 2*t, a*cos-b*sin)
		c.setF32(6, 2*t+1, a*sin+b*cos)
	}
	return nil
}

// ropeHalves turns element i of a head's first half with element i of its second.
func ropeHalves(c *Call) error {
	bh, td, d, strideB := c.u64(0, 0), c.u64(1, 0), c.u64(2, 0), c.u64(3, 0)
	if err := c.cover(bh * td / 2); err != nil {
		return err
	}
	for h := range bh {
		table := 0
		if strideB > 0 {
			table = h * td / strideB * (td / 2)
		}
		for t := range td / d {
			for i := range d / 2 {
				first, j := h*td+t*d+i, table+t*(d/2)+i
				a, b, cos, sin := c.f32(4, first), c.f32(4, first+d/2), c.f32(5, j), c.f32(6, j)
				c.setF32(7, first, a*cos-b*sin)
				c.setF32(7, first+d/2, a*sin+b*cos)
			}
		}
	}
	return nil
}
