package metal

import (
	"fmt"
	"slices"

	"github.com/introgen/introgen/engine/metal/forward"
	"github.com/introgen/introgen/engine/transformer"
)

// checkModel refuses a model with what candle's does not have
// (candle-transformers/src/models/quantized_llama.rs of candle 0.11.0): it looks
// up the tensors of the plan alone, and of the keys about rotations freq_base and
// dimension_count. What it passes over it would leave out of the arithmetic.
func checkModel(m *transformer.Model) error {
	if name := m.Architecture.Name; name != "llama" {
		return passedOver(fmt.Sprintf("architecture %q (metadata general.architecture)", name), "it computes something else than llama does")
	}
	if m.RopeScale != 1 {
		return passedOver("metadata llama.rope.scaling.factor (or llama.rope.scale_linear)", fmt.Sprintf("positions are divided by %v", m.RopeScale))
	}
	if slices.ContainsFunc(m.RopeFactors, func(f float32) bool { return f != 1 }) {
		return passedOver("tensor rope_freqs.weight", "it divides the frequencies of the rotations")
	}
	for i := range m.Blocks {
		b := &m.Blocks[i]
		for _, bias := range []struct {
			of     string
			part   string
			values []float32
		}{
			{"attn_q", "attention biases", b.QB}, {"attn_k", "attention biases", b.KB}, {"attn_v", "attention biases", b.VB}, {"attn_output", "attention biases", b.OB},
			{"ffn_gate", "feed-forward biases", b.GateB}, {"ffn_up", "feed-forward biases", b.UpB}, {"ffn_down", "feed-forward biases", b.DownB},
		} {
			if bias.values != nil {
				return passedOver(fmt.Sprintf("tensor blk.%d.%s.bias", i, bias.of), fmt.Sprintf("layer %d has %s", i, bias.part))
			}
		}
	}
	return nil
}

func passedOver(what, so string) error {
	return forward.Unsupported("%s: %s, and the model of candle 0.11.0, whose dispatches this engine issues, does not read that, so its text is another one", what, so)
}
