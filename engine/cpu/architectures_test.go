package cpu_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/introgen/introgen/engine"
	"github.com/introgen/introgen/engine/cpu"
	"github.com/introgen/introgen/engine/gguf/gguftest"
	"github.com/introgen/introgen/engine/quant"
	"github.com/introgen/introgen/engine/transformer"
	"github.com/introgen/introgen/engine/transformer/transformertest"
)

// architectures are models of what each architecture computes, in sizes at which the
// engine does something else: whole heads and pieces, heads that share blocks, part of a
// head turned, windows that end inside a chunk and at its border.
var architectures = map[string]transformertest.Config{
	"llama, heads of each layer": {Type: quant.Q8_0, Embedding: quant.Q8_0, Layers: 3, Heads: 6, KVHeads: 3,
		LayerHeads: []int{4, 6, 2}, LayerKVHeads: []int{2, 3, 1}, LayerFFN: []int{96, 160, 64}},
	"llama, sizes of each layer, odd": {Layers: 3, Heads: 6, KVHeads: 2, HeadDim: 6, Hidden: 70, FFN: 50,
		LayerHeads: []int{6, 2, 3}, LayerKVHeads: []int{2, 1, 3}, LayerFFN: []int{17, 50, 33}},
	"llama, heads of each layer, one a group": {Type: quant.Q4_1, Embedding: quant.Q8_0, Layers: 2, Heads: 4, KVHeads: 4, HeadDim: 64,
		LayerHeads: []int{4, 2}, LayerKVHeads: []int{1, 2}},
	"qwen2":                         {Architecture: "qwen2", Type: quant.Q8_0, Embedding: quant.Q8_0, Bias: true, HeadDim: 32},
	"qwen2, head of 6":              {Architecture: "qwen2", Heads: 3, KVHeads: 1, HeadDim: 6, Hidden: 70, FFN: 50, Bias: true},
	"qwen2, part turned":            {Architecture: "qwen2", Type: quant.Q8_0, Bias: true, HeadDim: 48, RopeDim: 36},
	"qwen2, 7 heads of 64, Q4_1":    {Architecture: "qwen2", Type: quant.Q4_1, Embedding: quant.Q8_0, Bias: true, Heads: 7, KVHeads: 1, HeadDim: 64, Hidden: 96},
	"qwen3":                         {Architecture: "qwen3", Type: quant.Q8_0, Embedding: quant.Q8_0, Heads: 4, KVHeads: 2, HeadDim: 64},
	"qwen3, head of 10, F32":        {Architecture: "qwen3", Heads: 4, KVHeads: 2, HeadDim: 10, Hidden: 33, FFN: 47},
	"qwen3, head of 128, Q4_1":      {Architecture: "qwen3", Type: quant.Q4_1, Embedding: quant.Q8_0, Heads: 2, KVHeads: 1, HeadDim: 128, Output: true},
	"gemma3":                        {Architecture: "gemma3", Type: quant.Q8_0, Embedding: quant.Q8_0, Layers: 7, Window: 5},
	"gemma3, head of 256":           {Architecture: "gemma3", Type: quant.Q8_0, Embedding: quant.Q8_0, Layers: 6, Heads: 4, KVHeads: 1, HeadDim: 256, Window: 33},
	"gemma3, window of a chunk":     {Architecture: "gemma3", Type: quant.Q4_1, Embedding: quant.Q8_0, Window: cpu.Chunk, FFN: 160},
	"gemma3, window of 1":           {Architecture: "gemma3", Type: quant.Q8_0, Embedding: quant.Q8_0, Window: 1},
	"gemma3, window beyond":         {Architecture: "gemma3", Type: quant.Q8_0, Embedding: quant.Q8_0, Window: 1000},
	"gemma3, one layer":             {Architecture: "gemma3", Type: quant.Q8_0, Layers: 1, Output: true},
	"gemma3, odd, F32":              {Architecture: "gemma3", Heads: 3, KVHeads: 3, HeadDim: 6, Hidden: 70, FFN: 51, Window: 9, Layers: 3},
	"smollm3, layers unturned":      {Architecture: "smollm3", Type: quant.Q8_0, Embedding: quant.Q8_0, Layers: 5, HeadDim: 64, Heads: 2, KVHeads: 1, Bias: true},
	"phi3":                          {Architecture: "phi3", Type: quant.Q8_0, Embedding: quant.Q8_0, HeadDim: 96, Heads: 2, KVHeads: 2, Output: true},
	"phi3, views inside tiles":      {Architecture: "phi3", Type: quant.Q8_0, Embedding: quant.Q8_0, HeadDim: 24, Heads: 4, KVHeads: 1, FFN: 96},
	"phi3, views of odd rows, F32":  {Architecture: "phi3", HeadDim: 6, Heads: 3, KVHeads: 1, FFN: 51, Hidden: 35},
	"phi3, views of odd rows, Q4_1": {Architecture: "phi3", Type: quant.Q4_1, Embedding: quant.Q8_0, HeadDim: 40, Heads: 4, KVHeads: 1, FFN: 96},
	"phi3, biases, F16":             {Architecture: "phi3", Type: quant.F16, Embedding: quant.F16, Bias: true, HeadDim: 32},
}

// TestArchitectures holds small models of every architecture to the float64 reference: a
// prompt that is longer than a chunk, one that is not, and steps.
func TestArchitectures(t *testing.T) {
	for name, c := range architectures {
		c.Context = 160
		m := model(t, transformertest.Write(t, c))
		for _, prompt := range []int{cpu.Chunk + 3, 7} {
			x := expect(t, m, prompt)
			t.Run(fmt.Sprint(name, "/", prompt), func(t *testing.T) {
				eachEngine(t, func(t *testing.T, o cpu.Options) {
					if worst, _ := x.compare(t, newEngine(t, m, o)); worst > 2e-3 {
						t.Errorf("largest error of a logit %.6f", worst)
					}
				})
			})
		}
	}
}

// A step after another sees the same positions, whether they came one by one or together:
// what is cached does not depend on how the prompt was cut.
func TestPromptInParts(t *testing.T) {
	for _, name := range []string{"gemma3", "qwen3", "phi3", "llama, heads of each layer"} {
		c := architectures[name]
		c.Context = 160
		m := model(t, transformertest.Write(t, c))
		ids := make([]int32, cpu.Chunk+9)
		for i := range ids {
			ids[i] = int32((5*i + 1) % m.Vocab)
		}
		want, err := transformer.NewReference(m).Step(ids, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range []int{1, 2, 7, cpu.Chunk - 1, cpu.Chunk, cpu.Chunk + 1} {
			e := newEngine(t, m, cpu.Options{Threads: 2})
			for at := 0; at < len(ids); at += part {
				if _, err := e.Step(ids[at:min(len(ids), at+part)], at); err != nil {
					t.Fatal(err)
				}
			}
			got, err := e.Logits()
			if err != nil {
				t.Fatal(err)
			}
			for i, w := range want {
				if !(math.Abs(float64(got[i])-w) < 2e-3) {
					t.Fatalf("%s in parts of %d: logit %d is %v, want %v", name, part, i, got[i], w)
				}
			}
		}
	}
}

// LongRoPE turns heads by other factors in a run that goes beyond the positions that the
// model knew first: as many as the caller says, or the context.
func TestPositions(t *testing.T) {
	m := model(t, transformertest.Write(t, transformertest.Config{Architecture: "phi3", Context: 100, Edit: func(w *transformertest.Writable) {
		w.Set("phi3.rope.scaling.type", "longrope")
		w.Set("phi3.rope.scaling.original_context_length", uint32(20))
		w.Set("phi3.rope.scaling.attn_factor", float32(1.25))
		for name, mean := range map[string]float32{"rope_factors_long.weight": 9, "rope_factors_short.weight": 1} {
			factors := make([]float32, 8)
			for i := range factors {
				factors[i] = mean + float32(i)/8
			}
			w.Tensors = append(w.Tensors, transformertest.Tensor{Name: name, Type: quant.F32, Dims: []uint64{8}, Data: gguftest.F32(factors...)})
		}
	}}))
	ids := []int32{5, 9, 7, 1, 30, 2}
	var differ []float64
	for _, c := range []struct {
		o     cpu.Options
		reach int
	}{
		{cpu.Options{}, 100},
		{cpu.Options{Context: 20}, 20},
		{cpu.Options{Context: 21}, 21},
		{cpu.Options{Positions: 20}, 20},
		{cpu.Options{Positions: 21}, 21},
		{cpu.Options{Context: 50, Positions: 6}, 6},
	} {
		want, err := transformer.NewReferenceOf(m, c.reach).Step(ids, 0)
		if err != nil {
			t.Fatal(err)
		}
		differ = append(differ, want[0])
		e := newEngine(t, m, c.o)
		if _, err := e.Step(ids, 0); err != nil {
			t.Fatal(err)
		}
		got, err := e.Logits()
		if err != nil {
			t.Fatal(err)
		}
		for i, w := range want {
			if !(math.Abs(float64(got[i])-w) < 3e-4) { // the cache has 16 bits
				t.Fatalf("%+v: logit %d is %v, want %v", c.o, i, got[i], w)
			}
		}
	}
	if math.Abs(differ[0]-differ[1]) < 1e-3 {
		t.Errorf("long and short factors make the same logits: %v", differ)
	}
	if _, err := cpu.New(m, cpu.Options{Positions: -1}); err == nil || !strings.Contains(err.Error(), "positions: -1; allowed are 1 and more") {
		t.Errorf("error %v", err)
	}
}

// Numbers that are not finite are found where they first appear, in what only some
// architectures have.
func TestNonFiniteOfOthers(t *testing.T) {
	for name, c := range map[string]struct {
		architecture, tensor string
		at                   int // the value
		want                 engine.NonFiniteError
	}{
		"norm of queries":              {"qwen3", "blk.1.attn_q_norm.weight", 3, engine.NonFiniteError{Layer: 1, Where: "attention"}},
		"norm of keys":                 {"gemma3", "blk.0.attn_k_norm.weight", 0, engine.NonFiniteError{Layer: 0, Where: "attention"}},
		"norm behind attention":        {"gemma3", "blk.0.post_attention_norm.weight", 63, engine.NonFiniteError{Layer: 0, Where: "attention"}},
		"norm behind feed-forward":     {"gemma3", "blk.0.post_ffw_norm.weight", 1, engine.NonFiniteError{Layer: 0, Where: "feed-forward"}},
		"norm behind the last":         {"gemma3", "blk.1.post_ffw_norm.weight", 1, engine.NonFiniteError{Layer: 1, Where: "feed-forward"}},
		"bias of a key":                {"qwen2", "blk.1.attn_k.bias", 31, engine.NonFiniteError{Layer: 1, Where: "attention"}},
		"value among queries and keys": {"phi3", "blk.0.attn_qkv.weight", 128*64 - 1, engine.NonFiniteError{Layer: 0, Where: "attention"}},
		"up behind gate":               {"phi3", "blk.1.ffn_up.weight", 192*64 - 1, engine.NonFiniteError{Layer: 1, Where: "feed-forward"}},
	} {
		m := model(t, transformertest.Write(t, transformertest.Config{Architecture: c.architecture, Bias: c.architecture == "qwen2", Edit: func(w *transformertest.Writable) {
			binary.LittleEndian.PutUint32(w.Tensor(c.tensor).Data[4*c.at:], math.Float32bits(float32(math.NaN())))
		}}))
		t.Run(name, func(t *testing.T) {
			eachEngine(t, func(t *testing.T, o cpu.Options) {
				for _, prompt := range [][]int32{{5}, {9, 7, 5}} {
					_, err := newEngine(t, m, o).Step(prompt, 0)
					if got := (*engine.NonFiniteError)(nil); !errors.As(err, &got) || got.Layer != c.want.Layer || got.Where != c.want.Where {
						t.Errorf("%d tokens: error %v; want %s of layer %d", len(prompt), err, c.want.Where, c.want.Layer)
					}
				}
			})
		})
	}
}

// What has no norm, since its squares overflow, is found where that happens, in the
// norms that only some architectures have: as 0 it would go on unseen.
func TestOverflowOfOtherNorms(t *testing.T) {
	for name, c := range map[string]struct {
		architecture, tensor string
		at                   int
		layer                int
		where                string
	}{
		"query":        {"qwen3", "blk.1.attn_q.weight", 70, 1, "attention"},
		"key":          {"gemma3", "blk.0.attn_k.weight", 5, 0, "attention"},
		"attention":    {"gemma3", "blk.1.attn_output.weight", 70, 1, "attention"},
		"feed-forward": {"gemma3", "blk.0.ffn_down.weight", 200, 0, "feed-forward"},
		"last":         {"gemma3", "blk.1.ffn_down.weight", 96*64 - 1, 1, "feed-forward"},
	} {
		m := model(t, transformertest.Write(t, transformertest.Config{Architecture: c.architecture, Output: true, Edit: func(w *transformertest.Writable) {
			binary.LittleEndian.PutUint32(w.Tensor(c.tensor).Data[4*c.at:], math.Float32bits(1e25))
		}}))
		t.Run(name, func(t *testing.T) {
			eachEngine(t, func(t *testing.T, o cpu.Options) {
				for _, prompt := range [][]int32{{5}, {9, 7, 5}} {
					_, err := newEngine(t, m, o).Step(prompt, 0)
					var got *engine.NonFiniteError
					if !errors.As(err, &got) || got.Layer != c.layer || got.Where != c.where {
						t.Errorf("%d tokens: error %v; want %s of layer %d", len(prompt), err, c.where, c.layer)
					}
				}
			})
		})
	}
}
