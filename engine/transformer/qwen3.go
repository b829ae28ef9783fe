package transformer

// qwen3 runs the dense models of Qwen 3: arXiv:2505.09388, src/models/qwen3.cpp of
// llama.cpp.
var qwen3 = &Architecture{
	Name:     "qwen3",
	Rotation: Halves, Activation: SiLU,
	HeadNorms: true,

	biases:   []string{"attn_q", "attn_k", "attn_v"},
	scalings: []string{unscaled, linearScaling, yarnScaling},
}
