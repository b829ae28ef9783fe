package transformer

// mistral3 runs Mistral Small 3.1 and later and Ministral 3: src/models/mistral3.cpp
// of llama.cpp. It is llama with more of YaRN. The queries of Ministral are scaled by
// the logarithm of how often the context that it knew before YaRN is exceeded; within
// that the scale is 1, and its runs end there.
var mistral3 = &Architecture{
	Name:     "mistral3",
	Rotation: Neighbours, Activation: SiLU,

	biases:   llama.biases,
	scalings: llama.scalings,
	factors:  ropeFreqs,
	keys: map[string]key{
		"attention.temperature_scale":      {use: read},
		"rope.scaling.yarn_log_multiplier": {use: read},
	},
	settle: settleMistral3,
}

func settleMistral3(g *getters, p *hyper) {
	if g.realOrNone("attention.temperature_scale") != 0 {
		p.Context = min(p.Context, p.rope.original)
	}
	if share := g.realOrNone("rope.scaling.yarn_log_multiplier"); share != 0 && p.rope.yarn() {
		p.rope.attnFactor /= yarnScale(float64(p.RopeScale), float64(share))
	}
}
