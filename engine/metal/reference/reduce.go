package reference

import (
	"fmt"
	"math"
)

// group checks a reduction's threadgroup: a power of two up to 1024.
func (c *Call) group() error {
	if g := c.Group; g.Y != 1 || g.Z != 1 || g.X < 1 || g.X > 1024 || g.X&(g.X-1) != 0 {
		return fmt.Errorf("a threadgroup of %v threads; reductions need a power of two up to 1024", g)
	}
	return nil
}

// rows runs f for each of n rows, a threadgroup a row.
func (c *Call) rows(n int, f func(row int)) error {
	if err := c.group(); err != nil {
		return err
	}
	if err := c.coverGroups(n, 1, 1); err != nil {
		return err
	}
	for row := range n {
		f(row)
	}
	return nil
}

func rmsNorm(c *Call) error {
	n, cols, eps := c.size(0), c.size(1), c.f32(5, 0)
	return c.rows(n/cols, func(row int) {
		x, sum := c.floats(2, row*cols, cols), 0.0
		for _, v := range x {
			sum += v * v
		}
		r := 1 / math.Sqrt(sum/float64(cols)+eps)
		for i, v := range x {
			if c.Args[4] != nil {
				v *= c.f32(4, i)
			}
			c.setF32(3, row*cols+i, v*r)
		}
	})
}

func softmax(c *Call) error {
	n, cols := c.size(0), c.size(1)
	return c.rows(n/cols, func(row int) {
		p := c.floats(2, row*cols, cols)
		_, sum := exponentials(p)
		for i, v := range p {
			c.setF32(3, row*cols+i, v/sum)
		}
	})
}

// exponentials replaces x by exp(x − max) and returns the maximum and the sum.
func exponentials(x []float64) (most, sum float64) {
	most = math.Inf(-1)
	for _, v := range x {
		most = max(most, v)
	}
	for i, v := range x {
		x[i] = math.Exp(v - most)
		sum += x[i]
	}
	return most, sum
}

func argmax(c *Call) error {
	n, rank, per := c.u32(0, 0), c.u32(1, 0), c.u32(3, 0)
	last := c.u32(2, rank-1)
	return c.rows(n/per, func(row int) {
		best, at := -float64(math.MaxFloat32), 0
		for i := row * per; i < (row+1)*per; i++ {
			if v := c.f32(4, i); v > best {
				best, at = v, i%last
			}
		}
		c.setU32(5, row, at)
	})
}
