package transformer

// llama runs Llama 1 to 3, Mistral, TinyLlama, SmolLM and what else computes as they
// do: arXiv:2302.13971, src/models/llama.cpp of llama.cpp.
var llama = &Architecture{
	Name:     "llama",
	Rotation: Neighbours, Activation: SiLU,

	biases:   []string{"attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down"},
	scalings: []string{unscaled, linearScaling, yarnScaling, longropeScaling},
	factors:  ropeFreqs,
}
