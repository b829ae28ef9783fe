// Package transformer reads a model of a known architecture out of a GGUF file: hyper-parameters,
// weights by name, all checked against each other, and a plain float64 forward
// pass that the engines are tested against.
//
// The names and meanings of keys and tensors are those of the GGUF
// specification (docs/gguf.md of github.com/ggml-org/ggml) and of
// src/llama-model.cpp of github.com/ggml-org/llama.cpp.
package transformer

import (
	"errors"
	"fmt"
	"math"

	"github.com/introgen/introgen/engine/gguf"
)

// Params are the hyper-parameters of a model, consistent with each other.
type Params struct {
	Layers  int // blocks
	Heads   int // query heads of the layer that has most
	KVHeads int // key and value heads of the layer that has most
	HeadDim int // values in a head
	Hidden  int // values in the residual stream
	FFN     int // values inside the feed-forward of the layer that has most
	Vocab   int // tokens
	Context int // positions that the model was trained for

	RMSEps    float32 // added to the mean square
	AttnScale float32 // attention scores are multiplied by it
	RopeBase  float32 // base of the rotation frequencies
	RopeDim   int     // leading values of each head that are rotated; even
	RopeScale float32 // positions are divided by it; 1 where nothing is scaled
}

// most bounds the hyper-parameters, so that products of two of them cannot
// overflow; no known model comes near.
const most = 1 << 24

// getters collects the first error of many look-ups.
type getters struct {
	f      *gguf.File
	arch   string // that keys begin with
	layers int    // that an array has a value for each of; 0 until it is known
	err    error
}

func (g *getters) fail(err error) {
	if g.err == nil {
		g.err = err
	}
}

// key is a key's whole name.
func (g *getters) key(name string) string { return g.arch + "." + name }

// one returns the value under key: of an array with a value for each layer
// the one that all of them are.
func (g *getters) one(key string) (v gguf.Value, ok bool) {
	v, ok = g.f.Get(g.key(key))
	if !ok || g.layers == 0 || v.Kind() != gguf.KindArray {
		return v, ok
	}
	if v.Len() != g.layers {
		g.fail(fmt.Errorf("metadata %s is an array of %d; it must be one number, or one for each of the %d layers (%s)", g.key(key), v.Len(), g.layers, g.key("block_count")))
		return v, true
	}
	var first gguf.Value
	for i, e := range v.Elems() {
		if i == 0 {
			first = e
		} else if e.String() != first.String() {
			g.fail(fmt.Errorf("metadata %s is %v: layers that differ from each other are not supported; the values must be equal", g.key(key), v))
			return first, true
		}
	}
	return first, true
}

// count returns the positive integer under key; absent is what stands
// for a missing key, 0 for a key that must be there.
func (g *getters) count(key string, absent int) int {
	v, ok := g.one(key)
	n, fits := v.Uint64()
	switch key = g.key(key); {
	case !ok && absent == 0:
		g.fail(fmt.Errorf("metadata %s is missing", key))
	case !ok:
		return absent
	case !fits:
		g.fail(fmt.Errorf("metadata %s is %v, %v; it must be an integer from 1 to %d", key, v.Kind(), v, most))
	case n == 0 || n > most:
		g.fail(fmt.Errorf("metadata %s is %d; it must be from 1 to %d", key, n, most))
	}
	return int(n)
}

// real returns the positive number under key; absent as in count.
func (g *getters) real(key string, absent float32) float32 {
	v, ok := g.one(key)
	x, fits := v.Float64()
	switch key = g.key(key); {
	case !ok && absent == 0:
		g.fail(fmt.Errorf("metadata %s is missing", key))
	case !ok:
		return absent
	case !fits:
		g.fail(fmt.Errorf("metadata %s is %v, %v; it must be F32 or F64", key, v.Kind(), v))
	case !(float32(x) > 0) || math.IsInf(float64(float32(x)), 0):
		g.fail(fmt.Errorf("metadata %s is %v; it must be a positive number", key, v))
	}
	return float32(x)
}

// ReadParams reads everything but Vocab, which the embedding's shape states, from
// the header of a model's file alone.
func ReadParams(f *gguf.File) (Params, error) {
	arch, err := readArchitecture(f)
	if err != nil {
		return Params{}, err
	}
	return readParams(f, arch)
}

func readParams(f *gguf.File, arch string) (Params, error) {
	g := &getters{f: f, arch: arch}
	p := Params{
		Layers:  g.count("block_count", 0),
		Hidden:  g.count("embedding_length", 0),
		Context: g.count("context_length", 0),
	}
	if g.err != nil {
		return Params{}, g.err
	}
	g.layers = p.Layers
	p.Heads = g.count("attention.head_count", 0)
	p.FFN = g.count("feed_forward_length", 0)
	p.RMSEps = g.real("attention.layer_norm_rms_epsilon", 0)
	// 10000 is the base of the first models, whose files do not state it.
	p.RopeBase = g.real("rope.freq_base", 10000)
	if g.err != nil {
		return Params{}, g.err
	}
	p.KVHeads = g.count("attention.head_count_kv", p.Heads)
	p.HeadDim = g.count("attention.key_length", max(1, p.Hidden/p.Heads))
	valueDim := g.count("attention.value_length", p.HeadDim)
	p.RopeDim = g.count("rope.dimension_count", p.HeadDim)
	p.RopeScale = g.ropeScale()
	p.AttnScale = float32(1 / math.Sqrt(float64(p.HeadDim)))
	if g.err != nil {
		return Params{}, g.err
	}
	switch {
	case p.Heads%p.KVHeads != 0:
		return p, fmt.Errorf("%d query heads cannot share %d key and value heads evenly (metadata %s, %s)", p.Heads, p.KVHeads, g.key("attention.head_count"), g.key("attention.head_count_kv"))
	case valueDim != p.HeadDim:
		return p, fmt.Errorf("values of %d and keys of %d per head (metadata %s, %s) are not supported; they must be equal", valueDim, p.HeadDim, g.key("attention.value_length"), g.key("attention.key_length"))
	case p.RopeDim > p.HeadDim || p.RopeDim%2 != 0:
		return p, fmt.Errorf("metadata %s is %d; it must be even and at most the head dimension %d (%s, or %s divided by %s)",
			g.key("rope.dimension_count"), p.RopeDim, p.HeadDim, g.key("attention.key_length"), g.key("embedding_length"), g.key("attention.head_count"))
	case p.Heads*p.HeadDim > most:
		return p, fmt.Errorf("%d heads of %d values are more than this program supports (%d)", p.Heads, p.HeadDim, most)
	}
	return p, checkKeys(f, arch, &p)
}

// ropeScale returns what positions are divided by. As llama.cpp has it, scaling is
// linear where no type is given; rope.scale_linear is the factor's old name, which
// counts where the new one is missing; and a factor of 0 or none is 1.
func (g *getters) ropeScale() float32 {
	kind, given, err := g.f.String(g.key("rope.scaling.type"))
	if err != nil {
		g.fail(err)
	}
	if !given {
		kind = "linear"
	}
	scale := float32(1)
	for _, key := range []string{g.key("rope.scaling.factor"), g.key("rope.scale_linear")} {
		x, ok, err := g.f.Float32(key)
		switch {
		case err != nil:
			g.fail(err)
		case !ok:
			continue
		case !(x >= 0) || math.IsInf(float64(x), 0):
			g.fail(fmt.Errorf("metadata %s is %v; it must be a positive number, or 0 for none", key, x))
		case x > 0:
			scale = x
		}
		break
	}
	switch kind {
	case "linear":
		return scale
	case "none":
		return 1
	}
	g.fail(fmt.Errorf("metadata %s is %q; supported are \"none\" and \"linear\"", g.key("rope.scaling.type"), kind))
	return 1
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
