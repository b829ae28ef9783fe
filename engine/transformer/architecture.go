package transformer

import (
	"fmt"

	"github.com/introgen/introgen/engine/gguf"
)

// Architecture describes the decoder that a value of general.architecture means:
// what its blocks compute, in which order, from which tensors. The loader, the
// float64 reference, the CPU engine and the Metal plan follow it. A block is
//
//	x += PostNorm(attention(norm(x)))
//	x += PostNorm(feed-forward(norm(x)))
//
// where attention projects to queries, keys and values, norms their heads
// (HeadNorms), turns them (Rotation), attends, and projects back; and feed-forward
// is down(Activation(gate(x)) * up(x)).
type Architecture struct {
	Name string // general.architecture; keys begin with it and a point

	Rotation   Rotation   // which values of a head turn together
	Activation Activation // of the gate

	FusedQKV    bool // attn_qkv holds the rows of queries, keys and values, one after another
	FusedGateUp bool // ffn_up holds the rows of gate, then those of up
	HeadNorms   bool // attn_q_norm and attn_k_norm: an RMS norm of each head before it is turned
	PostNorms   bool // post_attention_norm and post_ffw_norm: an RMS norm of what is added to the residual stream

	ScaledEmbedding bool // embeddings are multiplied by the root of their length

	biases   []string               // matrices that may have a bias, by their names in a layer
	scalings []string               // values of rope.scaling.type that are computed
	factors  factors                // which divisors of the frequencies a file may have
	keys     map[string]key         // keys of its own, or that mean something else than commonKeys say
	foreign  map[string]string      // as commonForeign, of its own
	settle   func(*getters, *hyper) // reads what only this architecture has, after all others; may be nil
}

// architectures are those that are run.
var architectures = []*Architecture{llama, mistral3, qwen2, qwen3, gemma3, phi3, smollm3}

// readArchitecture returns which of architectures a file has.
func readArchitecture(f *gguf.File) (*Architecture, error) {
	var names []string
	for _, a := range architectures {
		names = append(names, a.Name)
	}
	only := "only " + quoted(names) + " are"
	name, given, err := f.String("general.architecture")
	switch {
	case err != nil:
		return nil, err
	case !given:
		return nil, fmt.Errorf(`architecture "" is not supported, since metadata general.architecture is missing; %s`, only)
	}
	for _, a := range architectures {
		if a.Name == name {
			return a, nil
		}
	}
	return nil, fmt.Errorf("architecture %q (metadata general.architecture) is not supported; %s", name, only)
}

// Rotation says which values of a head are turned as a pair.
type Rotation uint8

const (
	// Neighbours: 2i and 2i+1 (LLAMA_ROPE_TYPE_NORM of llama.cpp).
	Neighbours Rotation = iota
	// Halves: i and i+RopeDim/2 (LLAMA_ROPE_TYPE_NEOX).
	Halves
)

// Activation is the function of the gate.
type Activation uint8

const (
	// SiLU is x/(1+exp(-x)).
	SiLU Activation = iota
	// GELU is the tanh approximation: x/2 (1+tanh(sqrt(2/pi) (x+0.044715 x³))).
	GELU
)

// factors says which tensors with divisors of the frequencies an architecture has.
type factors uint8

const (
	_ factors = iota // none
	// ropeFreqs: rope_freqs.weight, of Llama 3.1 and later. Where the scaling is
	// LongRoPE, its factors stand in their place.
	ropeFreqs
	// longRope: rope_factors_long.weight and rope_factors_short.weight, whatever
	// rope.scaling.type says.
	longRope
)
