package transformer

// qwen2 runs Qwen 2 and 2.5: arXiv:2407.10671, src/models/qwen2.cpp of llama.cpp.
var qwen2 = &Architecture{
	Name:     "qwen2",
	Rotation: Halves, Activation: SiLU,

	biases:   []string{"attn_q", "attn_k", "attn_v"},
	scalings: []string{unscaled, linearScaling, yarnScaling},
}
