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
	"slices"

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
	Context int // positions that a run may reach: those that the model was trained for, or fewer where it computes something else beyond

	RMSEps    float32 // added to the mean square
	AttnScale float32 // attention scores are multiplied by it
	RopeBase  float32 // base of the rotation frequencies
	RopeDim   int     // leading values of each head that are rotated; even
	RopeScale float32 // positions are divided by it; 1 where nothing is scaled
}

// hyper is what a file's metadata say of a model.
type hyper struct {
	Params
	layers []layer
	rope   rope
}

// layer is what may differ from layer to layer.
type layer struct {
	heads, kvHeads, ffn int
	window              int // 0 is all
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
		g.notEach(key, v)
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
	return g.counted(key, v, ok, absent)
}

// counts returns the positive integers under key, one for each layer: one number is
// that of all of them. absent is what stands for a missing key, nil for one that must
// be there.
func (g *getters) counts(key string, absent []int) []int {
	v, ok := g.f.Get(g.key(key))
	if !ok && absent != nil {
		return absent
	}
	out := make([]int, g.layers)
	if v.Kind() != gguf.KindArray {
		n := g.counted(key, v, ok, 0)
		for i := range out {
			out[i] = n
		}
		return out
	}
	if v.Len() != g.layers {
		g.notEach(key, v)
		return out
	}
	for i, e := range v.Elems() {
		out[i] = g.counted(key, e, true, 0)
	}
	return out
}

// countOrNone returns the integer under key, 0 where it is missing or says so.
func (g *getters) countOrNone(key string) int {
	v, ok := g.one(key)
	if n, fits := v.Uint64(); ok && fits && n == 0 {
		return 0
	}
	if !ok {
		return 0
	}
	return g.counted(key, v, true, 0)
}

func (g *getters) notEach(key string, v gguf.Value) {
	g.fail(fmt.Errorf("metadata %s is an array of %d; it must be one number, or one for each of the %d layers (%s)", g.key(key), v.Len(), g.layers, g.key("block_count")))
}

// counted checks what stands under key, or does not.
func (g *getters) counted(key string, v gguf.Value, ok bool, absent int) int {
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

// realOrNone returns the number under key, 0 where it is missing or says so.
func (g *getters) realOrNone(key string) float32 {
	if v, ok := g.one(key); !ok || each(v, func(x float64) bool { return x == 0 }) {
		return 0
	}
	return g.real(key, 0)
}

// ReadParams reads everything but Vocab, which the embedding's shape states, from
// the header of a model's file alone.
func ReadParams(f *gguf.File) (Params, error) {
	arch, err := readArchitecture(f)
	if err != nil {
		return Params{}, err
	}
	p, err := readHyper(f, arch)
	return p.Params, err
}

func readHyper(f *gguf.File, arch *Architecture) (hyper, error) {
	g := &getters{f: f, arch: arch.Name}
	p := hyper{Params: Params{
		Layers:  g.count("block_count", 0),
		Hidden:  g.count("embedding_length", 0),
		Context: g.count("context_length", 0),
	}}
	if g.err != nil {
		return hyper{}, g.err
	}
	if p.Layers > len(f.Tensors) {
		return hyper{}, missingLayer(f, arch, p.Layers)
	}
	g.layers = p.Layers
	heads := g.counts("attention.head_count", nil)
	ffn := g.counts("feed_forward_length", nil)
	p.RMSEps = g.real("attention.layer_norm_rms_epsilon", 0)
	// 10000 is the base of the first models, whose files do not state it.
	p.RopeBase = g.real("rope.freq_base", 10000)
	if g.err != nil {
		return hyper{}, g.err
	}
	kvHeads := g.counts("attention.head_count_kv", heads)
	p.HeadDim = g.count("attention.key_length", max(1, p.Hidden/heads[0]))
	valueDim := g.count("attention.value_length", p.HeadDim)
	p.RopeDim = g.count("rope.dimension_count", p.HeadDim)
	p.AttnScale = float32(1 / math.Sqrt(float64(p.HeadDim)))
	g.readRope(arch, &p)
	if g.err != nil {
		return hyper{}, g.err
	}
	p.Heads, p.KVHeads, p.FFN = slices.Max(heads), slices.Max(kvHeads), slices.Max(ffn)
	p.layers = make([]layer, p.Layers)
	for i := range p.layers {
		p.layers[i] = layer{heads: heads[i], kvHeads: kvHeads[i], ffn: ffn[i]}
		if heads[i]%kvHeads[i] != 0 {
			return p, fmt.Errorf("%d query heads cannot share %d key and value heads evenly (metadata %s, %s)", heads[i], kvHeads[i], g.key("attention.head_count"), g.key("attention.head_count_kv"))
		}
	}
	switch {
	case valueDim != p.HeadDim:
		return p, fmt.Errorf("values of %d and keys of %d per head (metadata %s, %s) are not supported; they must be equal", valueDim, p.HeadDim, g.key("attention.value_length"), g.key("attention.key_length"))
	case p.RopeDim > p.HeadDim || p.RopeDim%2 != 0:
		return p, fmt.Errorf("metadata %s is %d; it must be even and at most the head dimension %d (%s, or %s divided by %s)",
			g.key("rope.dimension_count"), p.RopeDim, p.HeadDim, g.key("attention.key_length"), g.key("embedding_length"), g.key("attention.head_count"))
	case p.Heads*p.HeadDim > most:
		return p, fmt.Errorf("%d heads of %d values are more than this program supports (%d)", p.Heads, p.HeadDim, most)
	}
	if arch.settle != nil {
		if arch.settle(g, &p); g.err != nil {
			return p, g.err
		}
	}
	return p, checkKeys(f, arch, &p)
}

// errNoVocab is returned for an embedding without rows to look up.
var errNoVocab = errors.New("token_embd.weight has more rows than token ids can name")

// missingLayer names the first layer that a file lacks whose tensors are fewer than
// the layers that it says it has.
func missingLayer(f *gguf.File, arch *Architecture, layers int) error {
	for i := range layers {
		name := layerName(i, "attn_norm.weight")
		if _, ok := f.Tensor(name); !ok {
			return missing(name, arch, layers)
		}
	}
	return nil
}

func missing(name string, arch *Architecture, layers int) error {
	return fmt.Errorf("tensor %s is missing, though metadata %s.block_count is %d", name, arch.Name, layers)
}
