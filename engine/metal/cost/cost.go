// Package cost says of a dispatch what it reads and writes of buffers, and how many
// operations on numbers it makes, from its arguments and its grid alone: what a
// kernel of the name has to do, whoever wrote it.
//
// Bytes are those of buffers, each byte once, whatever a kernel reads again and
// wherever it comes from; the few bytes that are set in the command buffer itself do
// not count. Operations are additions, subtractions, multiplications, divisions,
// comparisons and values of a function (root, exp, sin, cos) on the elements, one
// each, so that a multiply-add is two. They are those of the definition of what is
// computed: that a kernel unpacks weights, converts, computes indices, or keeps a
// softmax up to date from one part of the keys to the next, adds nothing.
package cost

import (
	"encoding/binary"
	"strconv"
	"strings"

	"github.com/introgen/introgen/engine/metal/forward"
)

// Cost is what a dispatch reads and writes in bytes, and its operations.
type Cost struct{ Read, Written, Ops int64 }

// float is the size of an element.
const float = 4

// Of is the cost of a dispatch; false where the kernel is not one of the plan's, or
// its arguments are not such as the plan sets.
func Of(d *forward.Dispatch) (Cost, bool) {
	c := call{Dispatch: d}
	f := kernels[d.Function]
	if f == nil {
		if f = family(d.Function); f == nil {
			return Cost{}, false
		}
	}
	cost := f(&c)
	if c.bad || cost.Read < 0 || cost.Written < 0 || cost.Ops < 0 {
		return Cost{}, false
	}
	return cost, true
}

type kernel func(*call) Cost

var kernels = withMatrices(map[string]kernel{
	"cast_u32_f32":      elementwise(1, 0),
	"cast_u32_f16":      between(4, 2, 0),
	"cast_f32_f16":      between(4, 2, 0),
	"cast_f16_f32":      between(2, 4, 0),
	"cos_f16":           between(2, 2, 1),
	"sin_f16":           between(2, 2, 1),
	"cos_f32":           elementwise(1, 1),
	"sin_f32":           elementwise(1, 1),
	"silu_f32":          elementwise(1, 3), // x / (1 + exp(-x))
	"silu_f32_strided":  unaryStrided(3),
	"gelu_f32":          elementwise(1, 9), // x/2 · (1 + tanh(a · (x + b·x³)))
	"badd_f32":          elementwise(2, 1),
	"bmul_f32":          elementwise(2, 1),
	"badd_f32_rstrided": viewed(4),
	"bmul_f32_lstrided": viewed(3),
	"eq_u32_lss":        equal(true),
	"eq_u32_cs":         equal(false),
	"affine_f32":        elementwise(1, 2),
	"copy_f32_strided":  copyStrided,
	"copy2d_f32":        copy2d,
	"is_u32_f32":        lookup,
	"where_u8_f32":      where,
	"rope_i_f32":        rope(2),
	"rope_f32":          rope(3),
	"rmsnorm_f32":       rmsNorm,
	"softmax_f32":       softmax,
	"fast_argmax_f32":   argmax,
})

// withMatrices adds those of the block formats, whose names are told from the
// format's.
func withMatrices(all map[string]kernel) map[string]kernel {
	for _, f := range forward.Formats() {
		if !f.Float() {
			all[f.MV()], all[f.MM()] = vector(f), matrix(f)
		}
	}
	return all
}

// family finds a kernel whose name carries numbers.
func family(name string) kernel {
	switch {
	case strings.HasPrefix(name, "gemm_") && strings.Contains(name, "_f32_f32_"):
		return gemm(float)
	case strings.HasPrefix(name, "gemm_nn_f16_f16_"):
		return gemm(2)
	case (strings.HasPrefix(name, "gemv_float32_") || strings.HasPrefix(name, "gemv_t_float32_")) && strings.HasSuffix(name, "_nc0_axpby0"):
		return gemv
	}
	for _, a := range []struct {
		prefix string
		of     func(c *call, dim int64) Cost
	}{{"sdpa_vector_float_", attention}, {"sdpa_vector_2pass_1_float_", firstPass}, {"sdpa_vector_2pass_2_float_", secondPass}} {
		rest, ok := strings.CutPrefix(name, a.prefix)
		if !ok {
			continue
		}
		if dim, err := strconv.Atoi(rest); err == nil && dim > 0 {
			return func(c *call) Cost { return a.of(c, int64(dim)) }
		}
	}
	return nil
}

// call is a dispatch that is looked at. What it lacks is 0, and makes it bad.
type call struct {
	*forward.Dispatch
	bad bool
}

// arg is the bytes of an argument.
func (c *call) arg(index, n int) []byte {
	for i := range c.Args {
		if a := &c.Args[i]; a.Index == index && a.Buf == 0 && len(a.Data) >= n {
			return a.Data
		}
	}
	c.bad = true
	return nil
}

// most bounds every product, so that sums of them do not overflow.
const most = 1 << 53

// times is the product of numbers.
func (c *call) times(numbers ...int64) int64 {
	out := int64(1)
	for _, n := range numbers {
		if n < 0 || n > 0 && out > most/n {
			c.bad = true
			return 0
		}
		out *= n
	}
	return out
}

// size is number i of an argument of numbers of 64 bits, size32 of such of 32.
func (c *call) size(index, i int) int64 {
	b := c.arg(index, 8*(i+1))
	if c.bad {
		return 0
	}
	return int64(binary.LittleEndian.Uint64(b[8*i:]))
}

func (c *call) size32(index, i int) int64 {
	b := c.arg(index, 4*(i+1))
	if c.bad {
		return 0
	}
	return int64(binary.LittleEndian.Uint32(b[4*i:]))
}
