package transformer

import (
	"fmt"
	"math"

	"github.com/introgen/introgen/engine/gguf"
)

// gemma3 runs the text models of Gemma 3: arXiv:2503.19786, src/models/gemma3.cpp of
// llama.cpp. Most of its layers attend to a window and turn heads by a base of their
// own, and the others to everything.
var gemma3 = &Architecture{
	Name:     "gemma3",
	Rotation: Halves, Activation: GELU,
	HeadNorms: true, PostNorms: true,
	ScaledEmbedding: true,

	biases:   []string{"attn_q", "attn_k", "attn_v"},
	scalings: []string{unscaled, linearScaling},
	keys: map[string]key{
		"attention.sliding_window":         {use: read},
		"attention.sliding_window_pattern": {use: read},
		"rope.freq_base_swa":               {use: read},
	},
	foreign: map[string]string{
		"dense_2.weight": "a layer of embeddings in place of the logits",
		"dense_3.weight": "a layer of embeddings in place of the logits",
	},
	settle: settleGemma3,
}

// gemma27B are the layers by which the largest model is known, whose attention scores
// are scaled in another way than those of all others.
const gemma27B = 62

// gemmaPattern: of so many layers the last attends to everything.
const gemmaPattern = 6

func settleGemma3(g *getters, p *hyper) {
	if p.Layers == gemma27B {
		p.AttnScale = float32(1 / math.Sqrt(float64(p.Hidden/p.layers[0].heads)))
	}
	window := g.countOrNone("attention.sliding_window")
	local := g.local(p.Layers)
	// The base of local layers is the first models', whatever that of the others.
	base := g.real("rope.freq_base_swa", 10000)
	if window == 0 {
		return
	}
	for i := range p.layers {
		if local[i] {
			p.layers[i].window = window
		}
	}
	p.rope.localBase = base
}

// local reads which layers attend to a window: a bool or number for each, or the
// number of layers of which the last does not (0: all do).
func (g *getters) local(layers int) []bool {
	const key = "attention.sliding_window_pattern"
	out := make([]bool, layers)
	v, given := g.f.Get(g.key(key))
	if given && v.Kind() == gguf.KindArray {
		if v.Len() != layers {
			g.fail(fmt.Errorf("metadata %s is an array of %d; it must be one number, or a bool for each of the %d layers (%s)", g.key(key), v.Len(), layers, g.key("block_count")))
			return out
		}
		for i, e := range v.Elems() {
			n, number := e.Uint64()
			b, truth := e.Bool()
			if !number && !truth {
				g.fail(fmt.Errorf("metadata %s is %v; it must be one number, or a bool for each layer", g.key(key), v))
				return out
			}
			out[i] = b || n != 0
		}
		return out
	}
	pattern := gemmaPattern
	if given {
		pattern = g.countOrNone(key)
	}
	for i := range out {
		out[i] = pattern == 0 || i%pattern < pattern-1
	}
	return out
}
