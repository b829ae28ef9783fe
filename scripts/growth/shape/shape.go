// Package shape writes model files that have the shapes of real models and random
// weights: what a step costs is a matter of shapes and types, and the weights of
// large models are many gigabytes to fetch.
package shape

import (
	"fmt"
	"slices"
	"strings"

	"github.com/introgen/introgen/engine/quant"
)

// Shape is what of a model decides how much work it is.
type Shape struct {
	Name         string
	Architecture string // general.architecture
	Parameters   int64  // as the model's makers count them: tied matrices once
	Layers       int
	Hidden, FFN  int
	Heads        int
	KVHeads      int
	HeadDim      int
	Vocab        int
	Tied         bool // the output matrix is the embedding
	RopeBase     float32
	Epsilon      float32
}

// Shapes are those of published models, small ones first: the figures of their
// config.json.
var Shapes = []Shape{
	{"SmolLM2-135M", "llama", 134515008, 30, 576, 1536, 9, 3, 64, 49152, true, 100000, 1e-5},
	{"SmolLM2-360M", "llama", 361821120, 32, 960, 2560, 15, 5, 64, 49152, true, 100000, 1e-5},
	{"Qwen2.5-0.5B", "qwen2", 494032768, 24, 896, 4864, 14, 2, 64, 151936, true, 1000000, 1e-6},
	{"Llama-3.2-1B", "llama", 1235814400, 16, 2048, 8192, 32, 8, 64, 128256, true, 500000, 1e-5},
	{"SmolLM2-1.7B", "llama", 1711376384, 24, 2048, 8192, 32, 32, 64, 49152, true, 130000, 1e-5},
	{"Llama-3.2-3B", "llama", 3212749824, 28, 3072, 8192, 24, 8, 128, 128256, true, 500000, 1e-5},
	{"Llama-3.1-8B", "llama", 8030261248, 32, 4096, 14336, 32, 8, 128, 128256, false, 500000, 1e-5},
}

// Names are those of Shapes, for people.
func Names() string {
	names := make([]string, len(Shapes))
	for i, s := range Shapes {
		names[i] = s.Name
	}
	return strings.Join(names, ", ")
}

// Find returns the shapes of these names, in the order of Shapes.
func Find(names []string) ([]Shape, error) {
	for _, n := range names {
		if !slices.ContainsFunc(Shapes, func(s Shape) bool { return s.Name == n }) {
			return nil, fmt.Errorf("no shape is called %q: there are %s", n, Names())
		}
	}
	var out []Shape
	for _, s := range Shapes {
		if slices.Contains(names, s.Name) {
			out = append(out, s)
		}
	}
	return out, nil
}

// Tensor is one of a file's tensors: Rows of Cols values; vectors have one row.
type Tensor struct {
	Name       string
	Type       quant.Type
	Rows, Cols int
}

// Values is how many numbers the tensor holds.
func (t Tensor) Values() int64 { return int64(t.Rows) * int64(t.Cols) }

// Bytes is what they take.
func (t Tensor) Bytes() int64 {
	values, bytes := t.Type.Block()
	return t.Values() / int64(values) * int64(bytes)
}

// fallback is the type of matrices whose rows are no whole blocks of the wanted one,
// as llama-quantize chooses it.
var fallback = map[quant.Type]quant.Type{quant.Q4_K: quant.Q5_0, quant.Q6_K: quant.Q8_0}

// Types are those that a file can be written in. A file of Q4_K has the embedding in
// Q6_K, as llama-quantize writes tied ones.
var Types = []quant.Type{quant.Q8_0, quant.Q4_K}

// Tensors are those of the shape with matrices of the type, in the order of the file.
func (s Shape) Tensors(matrices quant.Type) []Tensor {
	var out []Tensor
	vector := func(name string, n int) { out = append(out, Tensor{name, quant.F32, 1, n}) }
	matrix := func(name string, typ quant.Type, rows, cols int) {
		if block, _ := typ.Block(); cols%block != 0 {
			typ = fallback[typ]
		}
		out = append(out, Tensor{name, typ, rows, cols})
	}
	outside := matrices
	if outside == quant.Q4_K {
		outside = quant.Q6_K
	}
	if s.Tied {
		matrix("token_embd.weight", outside, s.Vocab, s.Hidden)
	} else {
		matrix("token_embd.weight", matrices, s.Vocab, s.Hidden)
	}
	width, kv := s.Heads*s.HeadDim, s.KVHeads*s.HeadDim
	for i := range s.Layers {
		in := func(name string) string { return fmt.Sprintf("blk.%d.%s", i, name) }
		vector(in("attn_norm.weight"), s.Hidden)
		matrix(in("attn_q.weight"), matrices, width, s.Hidden)
		matrix(in("attn_k.weight"), matrices, kv, s.Hidden)
		matrix(in("attn_v.weight"), matrices, kv, s.Hidden)
		if s.Architecture == "qwen2" {
			vector(in("attn_q.bias"), width)
			vector(in("attn_k.bias"), kv)
			vector(in("attn_v.bias"), kv)
		}
		matrix(in("attn_output.weight"), matrices, s.Hidden, width)
		vector(in("ffn_norm.weight"), s.Hidden)
		matrix(in("ffn_gate.weight"), matrices, s.FFN, s.Hidden)
		matrix(in("ffn_up.weight"), matrices, s.FFN, s.Hidden)
		matrix(in("ffn_down.weight"), matrices, s.Hidden, s.FFN)
	}
	vector("output_norm.weight", s.Hidden)
	if !s.Tied {
		matrix("output.weight", outside, s.Vocab, s.Hidden)
	}
	return out
}

// StepBytes is what a decode step reads of the weights: every one but an embedding
// that is not the output too, of which it reads a row.
func (s Shape) StepBytes(matrices quant.Type) int64 {
	var n int64
	for _, t := range s.Tensors(matrices) {
		if t.Name == "token_embd.weight" && !s.Tied {
			t.Rows = 1
		}
		n += t.Bytes()
	}
	return n
}

// FileBytes is what the tensors take in a file, without its header.
func (s Shape) FileBytes(matrices quant.Type) int64 {
	var n int64
	for _, t := range s.Tensors(matrices) {
		n += t.Bytes()
	}
	return n
}

// CacheValues is how many keys and values a decode step reads of so many positions.
func (s Shape) CacheValues(positions int) int64 {
	return 2 * int64(s.Layers) * int64(s.KVHeads*s.HeadDim) * int64(positions)
}

// PrefillOps is how many operations it is to pass a prompt of so many tokens, a
// multiply-add counted as two: each token with every matrix of the blocks, the last
// one with the output, and each query with the keys and values up to its own position.
func (s Shape) PrefillOps(tokens int) float64 {
	n := float64(tokens)
	width, kv := s.Heads*s.HeadDim, s.KVHeads*s.HeadDim
	block := s.Hidden*(2*width+2*kv) + 3*s.Hidden*s.FFN
	pairs := n * (n + 1) / 2
	return 2*n*float64(block)*float64(s.Layers) + 4*pairs*float64(width)*float64(s.Layers) + 2*float64(s.Vocab)*float64(s.Hidden)
}
