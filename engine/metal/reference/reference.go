// Package reference is what each kernel of engine/metal/kernels has to
// compute, in plain Go and in float64, taken from the description of the
// kernels' arguments and not from their text. It is the oracle of the kernels'
// tests and the device of the plan's: it knows nothing of threads, simdgroups
// or barriers, but it refuses a grid that would leave out results.
package reference

import (
	"errors"
	"fmt"
	"runtime"
	"strings"

	"github.com/introgen/introgen/metalshim"
)

// Call is one dispatch.
type Call struct {
	Function  string
	Constants []metalshim.Constant
	// Args is the memory of each argument: the bytes that were set, or a
	// buffer from its offset to its end. Results are written into it.
	Args [metalshim.MaxBufferIndex][]byte
	// Grid counts threadgroups of Group threads, or threads if InThreads.
	Grid, Group metalshim.Size
	InThreads   bool
	// ThreadgroupBytes is the length of threadgroup memory 0.
	ThreadgroupBytes int
}

// Run computes the call. An unknown function, an argument that is missing or
// too short, and a grid that does not cover the results are errors.
func Run(c *Call) (err error) {
	f, err := find(c.Function)
	if err != nil {
		return err
	}
	defer func() {
		// An index beyond an argument's memory is the caller's mistake; any
		// other panic is one of this package.
		if r := recover(); r != nil {
			var bounds runtime.Error
			if e, ok := r.(error); ok && errors.As(e, &bounds) {
				err = fmt.Errorf("%s: an argument is missing or too short: %w", c.Function, bounds)
				return
			}
			panic(r)
		}
	}()
	if err := f(c); err != nil {
		return fmt.Errorf("%s: %w", c.Function, err)
	}
	return nil
}

type kernel func(*Call) error

var kernels = map[string]kernel{
	"cast_u32_f32":      cast(words32, float32s),
	"cast_u32_f16":      cast(words32, float16s),
	"cast_f32_f16":      cast(float32s, float16s),
	"cast_f16_f32":      cast(float16s, float32s),
	"cos_f16":           unaryHalf(cos),
	"sin_f16":           unaryHalf(sin),
	"cos_f32":           unary(cos),
	"sin_f32":           unary(sin),
	"silu_f32":          unary(silu),
	"silu_f32_strided":  unaryStrided(silu),
	"gelu_f32":          unary(gelu),
	"badd_f32":          binaryOp(func(a, b float64) float64 { return a + b }),
	"bmul_f32":          binaryOp(func(a, b float64) float64 { return a * b }),
	"badd_f32_rstrided": viewed(dense, strided, func(a, b float64) float64 { return a + b }),
	"bmul_f32_lstrided": viewed(strided, dense, func(a, b float64) float64 { return a * b }),
	"eq_u32_lss":        equal(strided, single),
	"eq_u32_cs":         equal(dense, single),
	"affine_f32":        affine,
	"copy_f32_strided":  copyStrided,
	"copy2d_f32":        copy2d,
	"is_u32_f32":        lookup,
	"where_u8_f32":      where,
	"rope_i_f32":        rope,
	"rope_f32":          ropeHalves,
	"rmsnorm_f32":       rmsNorm,
	"softmax_f32":       softmax,
	"fast_argmax_f32":   argmax,
}

// find looks a function up, by its whole name or, where a family of names
// carries numbers or types, by its prefix.
func find(name string) (kernel, error) {
	if k, ok := kernels[name]; ok {
		return k, nil
	}
	for _, f := range []struct {
		prefix string
		make   func(rest string) (kernel, error)
	}{
		{"gemm_", gemmKernel},
		{"gemv_float32_", gemvKernel},
		{"gemv_t_float32_", gemvTransposed},
		{"kernel_mul_mv_", mulKernel(mulMV)},
		{"kernel_mul_mm_", mulKernel(mulMM)},
		{"sdpa_vector_float_", attention(sdpa)},
		{"sdpa_vector_2pass_1_float_", attention(sdpaFirst)},
		{"sdpa_vector_2pass_2_float_", attention(sdpaSecond)},
	} {
		if rest, ok := strings.CutPrefix(name, f.prefix); ok {
			return f.make(rest)
		}
	}
	return nil, fmt.Errorf("no reference for kernel %q", name)
}

// constant is the value of a boolean function constant, false where unset.
func (c *Call) constant(index int) bool {
	for _, k := range c.Constants {
		if k.Index == index {
			return k.Bits != 0
		}
	}
	return false
}

// threads is the number of threads of the dispatch in each direction.
func (c *Call) threads() metalshim.Size {
	if c.InThreads {
		return c.Grid
	}
	return metalshim.Size{X: c.Grid.X * c.Group.X, Y: c.Grid.Y * c.Group.Y, Z: c.Grid.Z * c.Group.Z}
}

// cover checks that there are threads for n items along the first direction.
func (c *Call) cover(n int) error {
	if t := c.threads().X; t < n {
		return fmt.Errorf("a grid of %d threads for %d items", t, n)
	}
	return nil
}

// coverGroups checks the number of threadgroups in each direction.
func (c *Call) coverGroups(x, y, z int) error {
	if c.InThreads || c.Grid.X < x || c.Grid.Y < y || c.Grid.Z < z {
		return fmt.Errorf("a grid of %v, needed are %d × %d × %d threadgroups", c.Grid, x, y, z)
	}
	return nil
}
