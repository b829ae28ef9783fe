package transformer

// smollm3 runs SmolLM3: src/models/smollm3.cpp of llama.cpp. It is llama, but for
// every fourth layer, whose heads are not turned (arXiv:2501.18795).
var smollm3 = &Architecture{
	Name:     "smollm3",
	Rotation: Neighbours, Activation: SiLU,

	biases:   []string{"attn_q", "attn_k", "attn_v"},
	scalings: []string{unscaled, linearScaling, yarnScaling},
	settle:   func(_ *getters, p *hyper) { p.rope.unturned = 4 },
}
