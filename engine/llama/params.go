// Package llama reads a llama model out of a GGUF file: hyper-parameters,
// weights by name, all checked against each other, and a plain float64 forward
// pass that the engines are tested against.
//
// The names and meanings of keys and tensors are those of the GGUF
// specification (docs/gguf.md of github.com/ggml-org/ggml) and of
// src/llama-model.cpp of github.com/ggml-org/llama.cpp.
package llama

import (
	"errors"
	"fmt"
	"math"

	"github.com/introgen/introgen/engine/gguf"
)

// Params are the hyper-parameters of a model, consistent with each other.
type Params struct {
	Layers  int // blocks
	Heads   int // query heads
	KVHeads int // key and value heads; divides Heads
	HeadDim int // values in a head
	Hidden  int // values in the residual stream
	FFN     int // values inside the feed-forward
	Vocab   int // tokens
	Context int // positions that the model was trained for

	RMSEps    float32 // added to the mean square
	RopeBase  float32 // base of the rotation frequencies
	RopeDim   int     // leading values of each head that are rotated; even
	RopeScale float32 // positions are divided by it; 1 where nothing is scaled
}

// most bounds the hyper-parameters, so that products of two of them cannot
// overflow; no known model comes near.
const most = 1 << 24

// getters collects the first error of many look-ups.
type getters struct {
	f   *gguf.File
	err error
}

func (g *getters) fail(err error) {
	if g.err == nil {
		g.err = err
	}
}

// count returns the positive integer under "llama."+key; absent is what stands
// for a missing key, 0 for a key that must be there.
func (g *getters) count(key string, absent int) int {
	key = "llama." + key
	v, ok, err := g.f.Uint32(key)
	switch {
	case err != nil:
		g.fail(err)
	case !ok && absent == 0:
		g.fail(fmt.Errorf("metadata %s is missing", key))
	case !ok:
		return absent
	case v == 0 || v > most:
		g.fail(fmt.Errorf("metadata %s is %d; it must be from 1 to %d", key, v, most))
	}
	return int(v)
}

// real returns the positive number under "llama."+key; absent as in count.
func (g *getters) real(key string, absent float32) float32 {
	key = "llama." + key
	v, ok, err := g.f.Float32(key)
	switch {
	case err != nil:
		g.fail(err)
	case !ok && absent == 0:
		g.fail(fmt.Errorf("metadata %s is missing", key))
	case !ok:
		return absent
	case !(v > 0) || math.IsInf(float64(v), 0):
		g.fail(fmt.Errorf("metadata %s is %v; it must be a positive number", key, v))
	}
	return v
}

// text returns the string under key, or "" for a missing one.
func (g *getters) text(key string) string {
	v, _, err := g.f.String(key)
	if err != nil {
		g.fail(err)
	}
	return v
}

// readParams reads everything but Vocab, which the embedding's shape states.
func readParams(f *gguf.File) (Params, error) {
	g := &getters{f: f}
	if arch := g.text("general.architecture"); g.err == nil && arch != "llama" {
		return Params{}, fmt.Errorf("architecture %q (metadata general.architecture) is not supported; only \"llama\" is", arch)
	}
	p := Params{
		Layers:  g.count("block_count", 0),
		Heads:   g.count("attention.head_count", 0),
		Hidden:  g.count("embedding_length", 0),
		FFN:     g.count("feed_forward_length", 0),
		Context: g.count("context_length", 0),
		RMSEps:  g.real("attention.layer_norm_rms_epsilon", 0),
		// 10000 is the base of the first models, whose files do not state it.
		RopeBase:  g.real("rope.freq_base", 10000),
		RopeScale: 1,
	}
	if g.err != nil {
		return Params{}, g.err
	}
	p.KVHeads = g.count("attention.head_count_kv", p.Heads)
	p.HeadDim = g.count("attention.key_length", max(1, p.Hidden/p.Heads))
	valueDim := g.count("attention.value_length", p.HeadDim)
	p.RopeDim = g.count("rope.dimension_count", p.HeadDim)
	experts, _, err := f.Uint32("llama.expert_count")
	if err != nil {
		g.fail(err)
	}
	switch kind := g.text("llama.rope.scaling.type"); kind {
	case "", "none":
	case "linear":
		p.RopeScale = g.real("rope.scaling.factor", 0)
	default:
		g.fail(fmt.Errorf("metadata llama.rope.scaling.type is %q; supported are \"none\" and \"linear\"", kind))
	}
	if g.err != nil {
		return Params{}, g.err
	}
	switch {
	case experts > 0:
		return p, fmt.Errorf("metadata llama.expert_count is %d: mixtures of experts are not supported", experts)
	case p.Heads%p.KVHeads != 0:
		return p, fmt.Errorf("%d query heads cannot share %d key and value heads evenly (metadata llama.attention.head_count, head_count_kv)", p.Heads, p.KVHeads)
	case valueDim != p.HeadDim:
		return p, fmt.Errorf("values of %d and keys of %d per head (metadata llama.attention.value_length, key_length) are not supported; they must be equal", valueDim, p.HeadDim)
	case p.RopeDim > p.HeadDim || p.RopeDim%2 != 0:
		return p, fmt.Errorf("metadata llama.rope.dimension_count is %d; it must be even and at most the head dimension %d", p.RopeDim, p.HeadDim)
	case p.Heads*p.HeadDim > most:
		return p, fmt.Errorf("%d heads of %d values are more than this program supports (%d)", p.Heads, p.HeadDim, most)
	}
	return p, nil
}

// errNoVocab is returned for an embedding without rows to look up.
var errNoVocab = errors.New("token_embd.weight has more rows than token ids can name")

// Frequencies returns the RopeDim/2 rotation frequencies, in radians a
// position: pair i of a head turns by position x RopeBase^(-2i/RopeDim), divided
// by RopeScale and by factors[i] where a model has factors (rope_freqs.weight).
func (p *Params) Frequencies(factors []float32) []float64 {
	f := make([]float64, p.RopeDim/2)
	for i := range f {
		f[i] = math.Pow(float64(p.RopeBase), -2*float64(i)/float64(p.RopeDim)) / float64(p.RopeScale)
		if factors != nil {
			f[i] /= float64(factors[i])
		}
	}
	return f
}
