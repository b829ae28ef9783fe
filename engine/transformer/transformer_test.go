package transformer_test

import (
	"math"
	"strings"
	"testing"

	"github.com/introgen/introgen/engine/gguf"
	"github.com/introgen/introgen/engine/quant"
	"github.com/introgen/introgen/engine/transformer"
	"github.com/introgen/introgen/engine/transformer/transformertest"
	"github.com/introgen/introgen/models"
	"github.com/introgen/introgen/models/modeltest"
)

func load(t *testing.T, path string) (*transformer.Model, error) {
	t.Helper()
	f, err := gguf.Open(path, gguf.MMap)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return transformer.Load(f)
}

// The hyper-parameters of SmolLM2-135M as its authors publish them.
func TestLoadRealModel(t *testing.T) {
	for _, name := range []string{models.StandIn, models.Source} {
		m, err := load(t, modeltest.Path(t, name))
		if err != nil {
			t.Fatal(err)
		}
		want := transformer.Params{
			Layers: 30, Heads: 9, KVHeads: 3, HeadDim: 64, Hidden: 576, FFN: 1536, Vocab: 49152, Context: 8192,
			RMSEps: 1e-5, AttnScale: 0.125, RopeBase: 100000, RopeDim: 64, RopeScale: 1,
		}
		if m.Params != want {
			t.Errorf("%s: %+v, want %+v", name, m.Params, want)
		}
		if !m.Tied || len(m.Blocks) != 30 || m.Embedding.Type != quant.Q8_0 {
			t.Errorf("%s: tied %v, %d blocks, embedding %v", name, m.Tied, len(m.Blocks), m.Embedding.Type)
		}
	}
}

// The reference pass gives the exact logits, to their six decimals. Half a
// unit of the last decimal is what the figures leave open.
func TestReferenceIsExact(t *testing.T) {
	for _, exact := range transformertest.Files {
		m, err := load(t, modeltest.Path(t, exact.File))
		if err != nil {
			t.Fatal(err)
		}
		r := transformer.NewReference(m)
		for _, s := range []struct {
			ids  []int32
			pos  int
			want []transformertest.Logit
		}{{transformertest.Prompt, 0, exact.Prefill}, {transformertest.Greedy[:1], len(transformertest.Prompt), exact.Step}} {
			got, err := r.Step(s.ids, s.pos)
			if err != nil {
				t.Fatal(err)
			}
			for _, w := range s.want {
				if math.Abs(got[w.ID]-w.Value) > 2e-6 {
					t.Errorf("%s: logit of %d at position %d is %.6f, want %.6f", exact.File, w.ID, s.pos, got[w.ID], w.Value)
				}
			}
		}
	}
}

func TestLoadShapes(t *testing.T) {
	for name, c := range map[string]transformertest.Config{
		"defaults":     {},
		"own output":   {Output: true},
		"biases":       {Bias: true},
		"odd head":     {HeadDim: 6, Heads: 3, KVHeads: 1},
		"partial rope": {RopeDim: 8},
		"rope factors": {RopeFactor: true},
		"quantized":    {Type: quant.Q8_0, Embedding: quant.F16},
		"no kv key":    {KVHeads: 4, Edit: func(w *transformertest.Writable) { w.Drop("llama.attention.head_count_kv") }},
		"linear scaling": {Edit: func(w *transformertest.Writable) {
			w.Set("llama.rope.scaling.type", "linear")
			w.Set("llama.rope.scaling.factor", float32(4))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := load(t, transformertest.Write(t, c))
			if err != nil {
				t.Fatal(err)
			}
			if m.Tied == c.Output || (m.Blocks[0].QB != nil) != c.Bias || (m.RopeFactors != nil) != c.RopeFactor {
				t.Errorf("tied %v, bias %v, factors %v", m.Tied, m.Blocks[0].QB != nil, m.RopeFactors != nil)
			}
			if name == "linear scaling" && m.Rotary(0, 1).Frequencies[0] != 0.25 {
				t.Errorf("first frequency %v, want 1/4", m.Rotary(0, 1).Frequencies[0])
			}
		})
	}
}

func TestLoadRefuses(t *testing.T) {
	type W = transformertest.Writable
	for want, edit := range map[string]func(*W){
		`architecture "gpt2"`: func(w *W) { w.Set("general.architecture", "gpt2") },
		`only "llama", "mistral3", "qwen2", "qwen3", "gemma3", "phi3" and "smollm3" are`: func(w *W) { w.Set("general.architecture", "gpt2") },
		"metadata qwen2.block_count is missing":                                          func(w *W) { w.Set("general.architecture", "qwen2") },
		`architecture ""`:                                                                func(w *W) { w.Drop("general.architecture") },
		"metadata general.architecture is missing":                                       func(w *W) { w.Drop("general.architecture") },
		"metadata llama.block_count is missing":                                          func(w *W) { w.Drop("llama.block_count") },
		"metadata llama.block_count is 0":                                                func(w *W) { w.Set("llama.block_count", uint32(0)) },
		"metadata llama.block_count is 4294967295":                                       func(w *W) { w.Set("llama.block_count", uint32(1<<32-1)) },
		"tensor blk.2.attn_norm.weight is missing":                                       func(w *W) { w.Set("llama.block_count", uint32(1<<20)) },
		"metadata llama.embedding_length is String":                                      func(w *W) { w.Set("llama.embedding_length", "64") },
		"layer_norm_rms_epsilon is -1":                                                   func(w *W) { w.Set("llama.attention.layer_norm_rms_epsilon", float32(-1)) },
		"freq_base is NaN":                                                               func(w *W) { w.Set("llama.rope.freq_base", float32(math.NaN())) },
		"cannot share 3 key":                                                             func(w *W) { w.Set("llama.attention.head_count_kv", uint32(3)) },
		"value_length":                                                                   func(w *W) { w.Set("llama.attention.value_length", uint32(8)) },
		"dimension_count is 18":                                                          func(w *W) { w.Set("llama.rope.dimension_count", uint32(18)) },
		"dimension_count is 3":                                                           func(w *W) { w.Set("llama.rope.dimension_count", uint32(3)) },
		"expert_count is 8":                                                              func(w *W) { w.Set("llama.expert_count", uint32(8)) },
		`scaling.type is "dynamic"`:                                                      func(w *W) { w.Set("llama.rope.scaling.type", "dynamic") },
		"tensor token_embd.weight is missing":                                            func(w *W) { w.Drop("token_embd.weight") },
		"tensor output_norm.weight is missing":                                           func(w *W) { w.Drop("output_norm.weight") },
		"tensor blk.1.ffn_up.weight is missing":                                          func(w *W) { w.Drop("blk.1.ffn_up.weight") },
		"blk.0.ffn_gate.weight has shape 64x96; the hyper":                               func(w *W) { w.Set("llama.feed_forward_length", uint32(80)) },
		"norm.weight has shape 8; the hyper-parameters ask for 64": func(w *W) {
			x := w.Tensor("blk.1.ffn_norm.weight")
			x.Dims, x.Data = []uint64{8}, x.Data[:32]
		},
		"norms, biases and factors are F32, F16 or BF16": func(w *W) {
			x := w.Tensor("blk.1.ffn_norm.weight")
			x.Type, x.Data = quant.Q8_0, x.Data[:68]
		},
		"has type I8, which cannot be decoded": func(w *W) {
			x := w.Tensor("blk.1.ffn_up.weight")
			x.Type, x.Data = 24, x.Data[:64*96]
		},
		"rope_freqs.weight: factor 0 is 0": func(w *W) { clear(w.Tensor("rope_freqs.weight").Data) },
	} {
		t.Run(want, func(t *testing.T) {
			_, err := load(t, transformertest.Write(t, transformertest.Config{Edit: edit, RopeFactor: strings.HasPrefix(want, "rope_f")}))
			if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "model /") {
				t.Errorf("error %v, want one with %q", err, want)
			}
		})
	}
}

// Passing tokens one by one, or in two parts, gives the logits of one pass.
func TestReferenceCache(t *testing.T) {
	m, err := load(t, transformertest.Write(t, transformertest.Config{Bias: true, RopeDim: 8}))
	if err != nil {
		t.Fatal(err)
	}
	ids := []int32{5, 9, 70, 3, 3, 41}
	whole, err := transformer.NewReference(m).Step(ids, 0)
	if err != nil {
		t.Fatal(err)
	}
	r := transformer.NewReference(m)
	var parts []float64
	for i := range ids {
		if parts, err = r.Step(ids[i:i+1], i); err != nil {
			t.Fatal(err)
		}
	}
	for i := range whole {
		if math.Abs(whole[i]-parts[i]) > 1e-12 {
			t.Fatalf("logit %d: %v in one pass, %v one by one", i, whole[i], parts[i])
		}
	}
	if _, err := r.Step([]int32{80}, 0); err == nil || !strings.Contains(err.Error(), "vocabulary of 80") {
		t.Errorf("a token outside the vocabulary: %v", err)
	}
}
