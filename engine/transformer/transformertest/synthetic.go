package transformertest

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/introgen/introgen/engine/gguf/gguftest"
	"github.com/introgen/introgen/engine/quant"
)

// Config is the shape of a synthetic model. Zero fields take small defaults.
type Config struct {
	Layers, Heads, KVHeads, HeadDim, Hidden, FFN, Vocab, Context int

	Type       quant.Type // of the projections; F32 where it is 0
	Embedding  quant.Type // of the embedding
	Output     bool       // an output matrix of its own
	Bias       bool       // biases of the attention's projections
	FFNBias    bool       // biases of the feed-forward's matrices
	RopeDim    int        // leading values that are rotated; HeadDim where 0
	RopeFactor bool       // rope_freqs.weight
	RopeBase   float32    // 1000 where 0
	Seed       uint64

	Architecture string // general.architecture; llama where it is empty
	Window       int    // attention.sliding_window, where it is not 0
	// LayerHeads, LayerKVHeads and LayerFFN are those of each layer, where they differ.
	LayerHeads, LayerKVHeads, LayerFFN []int

	// Types are those of single matrices, by the end of their names
	// ("ffn_down.weight"): files mix types.
	Types map[string]quant.Type
	// Bits draws the bits of blocks instead of encoding numbers: for shapes of
	// real size, and for types that have no encoder.
	Bits bool

	// Edit changes the file before it is written, for damaged models: drop a
	// tensor or key, change a shape or a byte.
	Edit func(*Writable)
}

// Writable is a GGUF file in memory.
type Writable struct {
	Keys    []Key
	Tensors []Tensor
	// Hole is how many bytes, a multiple of 32, nobody writes between the first
	// tensor and the others: a large file that takes no room on the disk.
	Hole int64
}

// Key is a metadata entry; Value is what gguftest.KV takes.
type Key struct {
	Name  string
	Value any
}

// Tensor is a tensor with its data; Dims in GGUF's order, columns first.
type Tensor struct {
	Name string
	Type quant.Type
	Dims []uint64
	Data []byte
}

// Drop removes the key or tensor of that name.
func (w *Writable) Drop(name string) {
	for i := range w.Keys {
		if w.Keys[i].Name == name {
			w.Keys = append(w.Keys[:i], w.Keys[i+1:]...)
			return
		}
	}
	for i := range w.Tensors {
		if w.Tensors[i].Name == name {
			w.Tensors = append(w.Tensors[:i], w.Tensors[i+1:]...)
			return
		}
	}
	panic("no key or tensor " + name)
}

// Set gives a key a value, and adds the key where it is missing.
func (w *Writable) Set(name string, value any) {
	for i := range w.Keys {
		if w.Keys[i].Name == name {
			w.Keys[i].Value = value
			return
		}
	}
	w.Keys = append(w.Keys, Key{name, value})
}

// Tensor returns the tensor of that name.
func (w *Writable) Tensor(name string) *Tensor {
	for i := range w.Tensors {
		if w.Tensors[i].Name == name {
			return &w.Tensors[i]
		}
	}
	panic("no tensor " + name)
}

func (c *Config) defaults() {
	for _, d := range []struct {
		v     *int
		value int
	}{{&c.Layers, 2}, {&c.Heads, 4}, {&c.KVHeads, 2}, {&c.HeadDim, 16}, {&c.Hidden, 64}, {&c.FFN, 96}, {&c.Vocab, 80}, {&c.Context, 64}} {
		if *d.v == 0 {
			*d.v = d.value
		}
	}
	if c.RopeBase == 0 {
		c.RopeBase = 1000
	}
	if c.RopeDim == 0 {
		c.RopeDim = c.HeadDim
	}
}

// Write makes a model file with random weights of the configured shape in a
// folder of the test and returns its path.
func Write(t testing.TB, c Config) string {
	t.Helper()
	c.defaults()
	r := rand.New(rand.NewPCG(c.Seed, 7))
	w := &Writable{Keys: []Key{
		{"general.architecture", "llama"},
		{"llama.block_count", uint32(c.Layers)},
		{"llama.context_length", uint32(c.Context)},
		{"llama.embedding_length", uint32(c.Hidden)},
		{"llama.feed_forward_length", uint32(c.FFN)},
		{"llama.attention.head_count", uint32(c.Heads)},
		{"llama.attention.head_count_kv", uint32(c.KVHeads)},
		{"llama.attention.key_length", uint32(c.HeadDim)},
		{"llama.attention.value_length", uint32(c.HeadDim)},
		{"llama.attention.layer_norm_rms_epsilon", float32(1e-5)},
		{"llama.rope.freq_base", c.RopeBase},
		{"llama.rope.dimension_count", uint32(c.RopeDim)},
	}}
	matrix := func(name string, typ quant.Type, rows, cols int) {
		for end, other := range c.Types {
			if strings.HasSuffix(name, end) {
				typ = other
			}
		}
		random := Random
		if c.Bits {
			random = RandomBits
		}
		w.Tensors = append(w.Tensors, Tensor{name, typ, []uint64{uint64(cols), uint64(rows)}, random(t, r, typ, rows, cols)})
	}
	vector := func(name string, n int, mean float32) {
		b := make([]byte, 0, 4*n)
		for range n {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(mean+0.2*r.Float32()))
		}
		w.Tensors = append(w.Tensors, Tensor{name, quant.F32, []uint64{uint64(n)}, b})
	}
	matrix("token_embd.weight", c.Embedding, c.Vocab, c.Hidden)
	vector("output_norm.weight", c.Hidden, 1)
	if c.Output {
		matrix("output.weight", c.Type, c.Vocab, c.Hidden)
	}
	if c.RopeFactor {
		vector("rope_freqs.weight", c.RopeDim/2, 2)
	}
	for l := range c.Layers {
		name := func(s string) string { return fmt.Sprintf("blk.%d.%s", l, s) }
		q, kv, ffn := layerOf(c.LayerHeads, l, c.Heads)*c.HeadDim, layerOf(c.LayerKVHeads, l, c.KVHeads)*c.HeadDim, layerOf(c.LayerFFN, l, c.FFN)
		vector(name("attn_norm.weight"), c.Hidden, 1)
		matrix(name("attn_q.weight"), c.Type, q, c.Hidden)
		matrix(name("attn_k.weight"), c.Type, kv, c.Hidden)
		matrix(name("attn_v.weight"), c.Type, kv, c.Hidden)
		matrix(name("attn_output.weight"), c.Type, c.Hidden, q)
		if c.Bias {
			vector(name("attn_q.bias"), q, 0.3)
			vector(name("attn_k.bias"), kv, -0.3)
			vector(name("attn_v.bias"), kv, 0.1)
			vector(name("attn_output.bias"), c.Hidden, 0.1)
		}
		vector(name("ffn_norm.weight"), c.Hidden, 1)
		matrix(name("ffn_gate.weight"), c.Type, ffn, c.Hidden)
		matrix(name("ffn_up.weight"), c.Type, ffn, c.Hidden)
		matrix(name("ffn_down.weight"), c.Type, c.Hidden, ffn)
		if c.FFNBias {
			vector(name("ffn_gate.bias"), ffn, 0.4)
			vector(name("ffn_up.bias"), ffn, -0.4)
			vector(name("ffn_down.bias"), c.Hidden, 0.2)
		}
	}
	c.become(w, vector)
	if c.Edit != nil {
		c.Edit(w)
	}
	return w.write(t)
}

// File returns w as package gguftest writes it.
func (w *Writable) File() gguftest.File {
	var f gguftest.File
	for _, k := range w.Keys {
		f.KV = append(f.KV, gguftest.KV{Key: k.Name, Value: k.Value})
	}
	for _, t := range w.Tensors {
		f.Tensors = append(f.Tensors, gguftest.Tensor{Name: t.Name, Type: uint32(t.Type), Dims: t.Dims, Data: t.Data})
	}
	return f
}
