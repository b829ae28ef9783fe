package reference

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"

	"github.com/introgen/introgen/engine/metal/forward"
	"github.com/introgen/introgen/engine/quant"
)

// gemmKernel reads the tile and the order of the operands from the name:
// nn_f32_f32_BM_BN_BK_WM_WN, or of f16.
func gemmKernel(rest string) (kernel, error) {
	var trans string
	var bm, bn, bk, wm, wn int
	e, name := float32s, rest
	if strings.HasPrefix(rest, "nn_f16_f16_") {
		e, name = float16s, strings.ReplaceAll(rest, "f16", "f32")
	}
	if _, err := fmt.Sscanf(name, "%2s_f32_f32_%d_%d_%d_%d_%d", &trans, &bm, &bn, &bk, &wm, &wn); err != nil || trans != "nn" && trans != "nt" {
		return nil, fmt.Errorf("no reference for kernel %q", "gemm_"+rest)
	}
	return func(c *Call) error {
		p := c.Args[4]
		field := func(i int) int { return int(int32(binary.LittleEndian.Uint32(p[4*i:]))) }
		long := func(i int) int { return int(binary.LittleEndian.Uint64(p[4*i:])) }
		m, n, k, lda, ldb, ldd := field(0), field(1), field(2), field(3), field(4), field(5)
		strideA, strideB, strideD := long(8), long(10), long(12)
		if c.constant(10) {
			strideA, strideB = c.u64(7, 0), c.u64(7, 1)
		}
		for _, f := range []struct{ index, size, tile int }{{200, m, bm}, {201, n, bn}, {202, k, bk}} {
			if c.constant(f.index) != (f.size%f.tile == 0) {
				return fmt.Errorf("constant %d says %v of a side of %d in tiles of %d", f.index, c.constant(f.index), f.size, f.tile)
			}
		}
		if field(6) != (n+bn-1)/bn || field(7) != (m+bm-1)/bm {
			return fmt.Errorf("%d × %d tiles for %d × %d in tiles of %d × %d", field(7), field(6), m, n, bm, bn)
		}
		if g := c.Group; g.X != 32 || g.Y != wn || g.Z != wm {
			return fmt.Errorf("a threadgroup of %v", g)
		}
		if err := c.coverGroups(field(6), field(7), 1); err != nil {
			return err
		}
		for z := range c.Grid.Z {
			a, b := c.elements(e, 0, z*strideA, (m-1)*lda+k), c.matrixB(e, z*strideB, n, k, ldb, trans == "nt")
			for i := range m {
				for j := range n {
					sum := 0.0
					for l := range k {
						sum += a[i*lda+l] * b[j*k+l]
					}
					c.set(e, 3, z*strideD+i*ldd+j, sum)
				}
			}
		}
		return nil
	}, nil
}

// matrixB is the right operand as [n,k].
func (c *Call) matrixB(e element, from, n, k, ldb int, transposed bool) []float64 {
	b := make([]float64, n*k)
	for j := range n {
		for l := range k {
			if transposed {
				b[j*k+l] = c.get(e, 1, from+j*ldb+l)
			} else {
				b[j*k+l] = c.get(e, 1, from+l*ldb+j)
			}
		}
	}
	return b
}

// gemvKernel reads the tile from the name: bmBM_bnBN_smSM_snSN_tmTM_tnTN.
func gemvKernel(rest string) (kernel, error) {
	var bm, bn, sm, sn, tm, tn int
	if _, err := fmt.Sscanf(rest, "bm%d_bn%d_sm%d_sn%d_tm%d_tn%d_nc0_axpby0", &bm, &bn, &sm, &sn, &tm, &tn); err != nil {
		return nil, fmt.Errorf("no reference for kernel %q", "gemv_float32_"+rest)
	}
	return func(c *Call) error {
		cols, rows, ld := c.i32(4, 0), c.i32(5, 0), c.i32(6, 0)
		strideV, strideM := c.u64(11, 0), c.u64(12, 0)
		if sm*sn != 32 || rows < tm {
			return fmt.Errorf("%d × %d threads in a simdgroup, each for %d of %d rows", sm, sn, tm, rows)
		}
		if g := c.Group; g.X != 32 || g.Y != bn || g.Z != bm {
			return fmt.Errorf("a threadgroup of %v", g)
		}
		if err := c.coverGroups((rows+bm*sm*tm-1)/(bm*sm*tm), 1, 1); err != nil {
			return err
		}
		for z := range c.Grid.Z {
			v := c.floats(1, z*strideV, cols)
			for r := range rows {
				sum := 0.0
				for i, m := range c.floats(0, z*strideM+r*ld, cols) {
					sum += m * v[i]
				}
				c.setF32(3, z*rows+r, sum)
			}
		}
		return nil
	}, nil
}

// gemvTransposed is a vector times a matrix: bmBM_bnBN_smSM_snSN_tmTM_tnTN.
func gemvTransposed(rest string) (kernel, error) {
	var bm, bn, sm, sn, tm, tn int
	if _, err := fmt.Sscanf(rest, "bm%d_bn%d_sm%d_sn%d_tm%d_tn%d_nc0_axpby0", &bm, &bn, &sm, &sn, &tm, &tn); err != nil {
		return nil, fmt.Errorf("no reference for kernel %q", "gemv_t_float32_"+rest)
	}
	return func(c *Call) error {
		rows, cols, ld := c.i32(4, 0), c.i32(5, 0), c.i32(6, 0)
		strideV, strideM := c.u64(11, 0), c.u64(12, 0)
		if sm*sn != 32 || cols < tn {
			return fmt.Errorf("%d × %d threads in a simdgroup, each for %d of %d columns", sm, sn, tn, cols)
		}
		if g := c.Group; g.X != 32 || g.Y != bn || g.Z != bm {
			return fmt.Errorf("a threadgroup of %v", g)
		}
		if err := c.coverGroups((cols+bn*sn*tn-1)/(bn*sn*tn), 1, 1); err != nil {
			return err
		}
		for z := range c.Grid.Z {
			sums := make([]float64, cols)
			for k, v := range c.floats(1, z*strideV, rows) {
				for i, m := range c.floats(0, z*strideM+k*ld, cols) {
					sums[i] += m * v
				}
			}
			for i, sum := range sums {
				c.setF32(3, z*cols+i, sum)
			}
		}
		return nil
	}, nil
}

type multiply func(c *Call, f forward.Format, t quant.Type) error

// mulKernel reads the format of the weights from the name: q8_0_f32.
func mulKernel(m multiply) func(string) (kernel, error) {
	return func(rest string) (kernel, error) {
		for _, f := range forward.Formats() {
			if rest != f.Name+"_f32" || f.Float() {
				continue
			}
			t, err := quant.ParseType(f.Name)
			if err != nil {
				return nil, err
			}
			return func(c *Call) error { return m(c, f, t) }, nil
		}
		return nil, fmt.Errorf("no reference for weights of type %q", rest)
	}
}

// row decodes row r of the weights, cols elements.
func (c *Call) row(t quant.Type, r, cols int, into []float32) error {
	bytes, err := t.RowBytes(cols)
	if err != nil {
		return err
	}
	return quant.Dequantize(into, t, c.Args[0][r*bytes:(r+1)*bytes])
}

func dot(a []float32, b []float64) float64 {
	sum := 0.0
	for i, v := range a {
		sum += float64(v) * b[i]
	}
	return sum
}

func mulMV(c *Call, f forward.Format, t quant.Type) error {
	k, n := c.u64(3, 0), c.u64(4, 0)
	if c.u64(9, 0) != k || c.u64(15, 0) != n || c.u64(16, 0) != 1 {
		return fmt.Errorf("sizes disagree: K %d and %d, N %d and %d, %d vectors", k, c.u64(9, 0), n, c.u64(15, 0), c.u64(16, 0))
	}
	if grid, group := f.VectorGrid(n); c.InThreads || c.Grid != grid || c.Group != group {
		return fmt.Errorf("%v threadgroups of %v, the host launches %v of %v", c.Grid, c.Group, grid, group)
	}
	w, x := make([]float32, k), c.floats(1, 0, k)
	for r := range n {
		if err := c.row(t, r, k, w); err != nil {
			return err
		}
		c.setF32(2, r, dot(w, x))
	}
	return nil
}

func mulMM(c *Call, _ forward.Format, t quant.Type) error {
	k, n, tokens := c.u64(3, 0), c.u64(13, 0), c.u64(14, 0)
	if c.ThreadgroupBytes < 8192 {
		return fmt.Errorf("%d bytes of threadgroup memory, needed are 8192", c.ThreadgroupBytes)
	}
	if err := c.coverGroups((tokens+31)/32, (n+63)/64, 1); err != nil {
		return err
	}
	bytes, err := t.RowBytes(k)
	if err != nil {
		return err
	}
	if c.u64(5, 0) != bytes || c.u64(10, 0) != 4*k {
		return fmt.Errorf("row strides %d and %d for rows of %d and %d bytes", c.u64(5, 0), c.u64(10, 0), bytes, 4*k)
	}
	w, x := make([]float32, k), c.floats(1, 0, tokens*k)
	for r := range n {
		if err := c.row(t, r, k, w); err != nil {
			return err
		}
		for i, v := range w { // the kernel keeps the weights as half
			w[i] = quant.HalfToFloat(quant.FloatToHalf(v))
		}
		for i := range tokens {
			c.setF32(2, i*n+r, dot(w, x[i*k:(i+1)*k]))
		}
	}
	return nil
}

// attention reads the head dimension from the name.
func attention(f func(c *Call, dim int) error) func(string) (kernel, error) {
	return func(rest string) (kernel, error) {
		var dim int
		if _, err := fmt.Sscanf(rest, "%d", &dim); err != nil || dim < 1 {
			return nil, fmt.Errorf("no reference for attention over heads of %q", rest)
		}
		return func(c *Call) error { return f(c, dim) }, nil
	}
}

// scores are q·k for head h over the keys that pick takes, after scaling and
// softcapping. first is the index of the argument that holds gqa.
func (c *Call) scores(h, dim, first int, pick func(key int) bool) (s []float64, keys []int) {
	group, count, stride := c.i32(first, 0), c.i32(first+1, 0), c.u64(first+2, 0)
	scale, softcap := c.f32(first+4, 0), c.f32(first+5, 0)
	q := c.floats(0, h*dim, dim)
	for j := range count {
		if !pick(j) {
			continue
		}
		sum := 0.0
		for i := range dim {
			sum += scale * q[i] * c.f32(1, h/group*stride+j*dim+i)
		}
		if softcap != 1 {
			sum = math.Tanh(sum) * softcap
		}
		s, keys = append(s, sum), append(keys, j)
	}
	return s, keys
}

// weighted is Σ p·v for head h.
func (c *Call) weighted(p []float64, keys []int, h, dim, first int) []float64 {
	group, stride := c.i32(first, 0), c.u64(first+3, 0)
	out := make([]float64, dim)
	for n, j := range keys {
		for i := range out {
			out[i] += p[n] * c.f32(2, h/group*stride+j*dim+i)
		}
	}
	return out
}

func sdpa(c *Call, dim int) error {
	if c.constant(20) {
		return fmt.Errorf("only attention without a mask is described")
	}
	for h := range c.Grid.Y {
		p, keys := c.scores(h, dim, 4, func(int) bool { return true })
		_, sum := exponentials(p)
		for i, v := range c.weighted(p, keys, h, dim, 4) {
			c.setF32(3, h*dim+i, v/sum)
		}
	}
	return nil
}

// sdpaFirst: block b of 32 takes keys 8b..8b+7, then those 256 further on, and
// so on. An empty block has sum 0 and maximum −∞.
func sdpaFirst(c *Call, dim int) error {
	const blocks, run = 32, 8
	if c.constant(20) || c.Grid.Z != blocks {
		return fmt.Errorf("only attention without a mask in %d blocks is described", blocks)
	}
	for h := range c.Grid.Y {
		for b := range blocks {
			p, keys := c.scores(h, dim, 6, func(j int) bool { return j/run%blocks == b })
			most, sum := exponentials(p)
			c.setF32(4, h*blocks+b, sum)
			c.setF32(5, h*blocks+b, most)
			for i, v := range c.weighted(p, keys, h, dim, 6) {
				c.setF32(3, (h*blocks+b)*dim+i, v)
			}
		}
	}
	return nil
}

func sdpaSecond(c *Call, dim int) error {
	const blocks = 32
	for h := range c.Grid.Y {
		factor := c.floats(2, h*blocks, blocks)
		exponentials(factor)
		sum := 0.0
		for b, f := range factor {
			sum += f * c.f32(1, h*blocks+b)
		}
		for i := range dim {
			v := 0.0
			for b, f := range factor {
				v += f * c.f32(0, (h*blocks+b)*dim+i)
			}
			c.setF32(3, h*dim+i, v/sum)
		}
	}
	return nil
}
