package kernels_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/introgen/introgen/engine/metal/forward"
	"github.com/introgen/introgen/engine/metal/reference"
)

func TestStrided(t *testing.T) { each(t, testStrided) }

// testStrided runs the kernels of views that are not contiguous: half of each
// token's values, and others.
func testStrided(t *testing.T, b *bench, r *rand.Rand) {
	for range 20 {
		dims, strides, n, reach := shape4(r)
		if r.IntN(2) == 0 {
			dims, strides = dims[1:], strides[1:]
			n, reach = dims[0]*dims[1]*dims[2], 1+(dims[0]-1)*strides[0]+(dims[1]-1)*strides[1]+(dims[2]-1)*strides[2]
		}
		c := reference.Call{Function: "silu_f32_strided"}
		c.Args[0], c.Args[1], c.Args[2], c.Args[3] = u64s(n), u64s(len(dims)), u64s(dims...), u64s(strides...)
		c.Args[4], c.Args[5] = noise(r, reach), room(n+3)
		apply(&c, forward.Linear(n))
		b.check(t, "Unary", c, []int{0, 1, 2, 3}, []int{5})

		c = reference.Call{Function: "bmul_f32_lstrided"}
		whole := slices.Clone(dims)
		for i, apart := len(dims)-1, 1; i >= 0; i-- {
			whole[i] = apart
			apart *= dims[i]
		}
		c.Args[0], c.Args[1], c.Args[2], c.Args[3], c.Args[4] = u64s(n), u64s(len(dims)), u64s(dims...), u64s(strides...), u64s(whole...)
		c.Args[5], c.Args[6], c.Args[7] = noise(r, reach), noise(r, n), room(n+3)
		apply(&c, forward.Pairs(n))
		b.check(t, "Binary", c, []int{0, 1, 2, 3, 4}, []int{7})
	}
}

func TestEqual(t *testing.T) { each(t, testEqual) }

// testEqual compares a mask, spread over heads or one's own, with one number.
func testEqual(t *testing.T, b *bench, r *rand.Rand) {
	for range 20 {
		heads, tokens, keys := 1+r.IntN(9), 1+r.IntN(20), 1+r.IntN(40)
		n := heads * tokens * keys
		for function, strides := range map[string][]int{
			"eq_u32_lss": {0, 0, keys, 1},
			"eq_u32_cs":  {n, tokens * keys, keys, 1},
		} {
			c := reference.Call{Function: function}
			mask := make([]int, n)
			for i := range mask {
				mask[i] = r.IntN(3)
			}
			c.Args[0], c.Args[1], c.Args[2] = u64s(n), u64s(4), u64s(1, heads, tokens, keys)
			c.Args[3], c.Args[4] = u64s(strides...), u64s(0, 0, 0, 0)
			c.Args[5], c.Args[6], c.Args[7] = i32s(mask...), i32s(r.IntN(3)), make([]byte, (n+3)/4*4)
			apply(&c, forward.Pairs(n))
			b.check(t, "Binary", c, []int{0, 1, 2, 3, 4}, []int{7})
		}
	}
}
