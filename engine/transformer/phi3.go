package transformer

// phi3 runs Phi 3, 3.5 and 4: arXiv:2404.14219, src/models/phi3.cpp of llama.cpp.
var phi3 = &Architecture{
	Name:     "phi3",
	Rotation: Halves, Activation: SiLU,
	FusedQKV: true, FusedGateUp: true,

	biases:   []string{"attn_qkv"},
	scalings: []string{unscaled, linearScaling, longropeScaling},
	factors:  longRope,
	keys: map[string]key{
		"attention.sliding_window": {use: idle, why: "as in llama.cpp, which reads it and lets every layer attend to everything (its pull request 13676)"},
	},
	foreign: map[string]string{
		"attn_q.weight":   "queries in a matrix of their own, instead of attn_qkv",
		"attn_k.weight":   "keys in a matrix of their own, instead of attn_qkv",
		"attn_v.weight":   "values in a matrix of their own, instead of attn_qkv",
		"ffn_gate.weight": "the gate in a matrix of its own, instead of the first half of ffn_up",
	},
}
