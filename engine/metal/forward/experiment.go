package forward

import "strings"

// Experiment is the model of the experiment, SmolLM2-135M-Instruct in Q8_0, as
// its file states it.
func Experiment() Config {
	return Config{
		Layers: 30, Heads: 9, KVHeads: 3, HeadDim: 64, Hidden: 576, FFN: 1536, Vocab: 49152, Context: 8192,
		RMSEps: 1e-5, RopeBase: 100000, RopeDim: 64,
		Format: func(tensor string) (Format, error) {
			if strings.HasSuffix(tensor, "norm.weight") {
				return FormatOf("F32")
			}
			return FormatOf("Q8_0")
		},
	}
}
