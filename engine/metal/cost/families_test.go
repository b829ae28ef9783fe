package cost_test

import (
	"testing"

	"github.com/introgen/introgen/engine/metal/cost"
	"github.com/introgen/introgen/engine/metal/forward"
)

// TestFamiliesByHand has what only gemma3 and phi3 launch, in the shapes of others: 4
// heads, hidden 256, feed-forward 512, of a prompt of 13 tokens.
func TestFamiliesByHand(t *testing.T) {
	const scores, wide = 4 * 13 * 13, 13 * 512
	type figures struct {
		model, name, function string
		read, written, ops    int64
	}
	for _, f := range []figures{
		// A mask of 13 × 13 numbers, shown to each head, and one to compare them with; a
		// byte for each. Then that byte, the one −∞ and the score.
		{"gemma3", forward.PartAttention, "eq_u32_lss", 4*13*13 + 4, scores, scores},
		{"gemma3", forward.PartAttention, "where_u8_f32", scores + 4 + 4*scores, 4 * scores, 0},
		// x/2 · (1 + tanh(a·(x + b·x·x·x))): two products for the cube, one by b, one by
		// a, half of x and one by that; two sums; and tanh.
		{"gemma3", forward.PartActivation, "gelu_f32", 4 * wide, 4 * wide, 9 * wide},
		{"gemma3", forward.PartEmbedding, "affine_f32", 4 * 13 * 256, 4 * 13 * 256, 2 * 13 * 256},
		// Half of the values of each token, and the other half times what that gave.
		{"phi3", forward.PartActivation, "silu_f32_strided", 4 * wide, 4 * wide, 3 * wide},
		{"phi3", forward.PartActivation, "bmul_f32_lstrided", 4 * 2 * wide, 4 * wide, wide},
	} {
		for _, c := range others() {
			if c.Model != f.model || c.Candle {
				continue
			}
			prefill, _ := pass(t, c, 13)
			got, ok := cost.Of(find(t, prefill, f.name, f.function))
			if want := (cost.Cost{Read: f.read, Written: f.written, Ops: f.ops}); !ok || got != want {
				t.Errorf("%s %s: %+v, by hand %+v", f.model, f.function, got, want)
			}
		}
	}
}
