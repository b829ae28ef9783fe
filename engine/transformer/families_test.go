package transformer_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/introgen/introgen/engine/gguf/gguftest"
	"github.com/introgen/introgen/engine/transformer"
	"github.com/introgen/introgen/engine/transformer/transformertest"
)

// refusals are, by architecture, what a file may not have or lack, with the beginning
// of what is said.
var refusals = map[string]map[string]func(*writable){
	"mistral3": {
		"metadata mistral3.attention.temperature_scale is String":              set("mistral3.attention.temperature_scale", "x"),
		"metadata mistral3.rope.scaling.yarn_log_multiplier is -1":             set("mistral3.rope.scaling.type", "yarn", "mistral3.rope.scaling.yarn_log_multiplier", float32(-1)),
		"metadata mistral3.attention.sliding_window is 8: attention reaches":   set("mistral3.attention.sliding_window", uint32(8)),
		"tensor blk.0.attn_q_norm.weight is not used: it is a norm of the que": add("blk.0.attn_q_norm.weight", 16),
	},
	"smollm3": {
		`metadata smollm3.rope.scaling.type is "longrope"; supported are "none", "linear" and "yarn"`: set("smollm3.rope.scaling.type", "longrope"),
		"tensor rope_freqs.weight is not used: ":                                                      add("rope_freqs.weight", 8),
		"tensor blk.1.attn_output.bias is not used: the smollm3 architecture has no such tensor":      add("blk.1.attn_output.bias", 64),
	},
	"qwen2": {
		"metadata qwen2.context_length is missing":                                                                            func(w *writable) { w.Drop("qwen2.context_length") },
		"metadata qwen2.expert_count is 8: a mixture of experts is meant":                                                     set("qwen2.expert_count", uint32(8)),
		"metadata qwen2.attention.sliding_window is 8: attention reaches only so":                                             set("qwen2.attention.sliding_window", uint32(8)),
		"metadata qwen2.use_sliding_window = true is not known: it may change":                                                set("qwen2.use_sliding_window", true),
		`metadata qwen2.rope.scaling.type is "longrope"; supported are "none", "linear"`:                                      set("qwen2.rope.scaling.type", "longrope"),
		"metadata qwen2.rope.scaling.yarn_ext_factor is 1: YaRN is mixed in by another":                                       set("qwen2.rope.scaling.yarn_ext_factor", float32(1)),
		"metadata qwen2.rope.scaling.yarn_attn_factor is 1: the rotated queries and keys":                                     set("qwen2.rope.scaling.type", "yarn", "qwen2.rope.scaling.factor", float32(4), "qwen2.rope.scaling.yarn_attn_factor", float32(1)),
		"metadata qwen2.rope.freq_base is 1; with YaRN it must be more than 1":                                                set("qwen2.rope.scaling.type", "yarn", "qwen2.rope.freq_base", float32(1)),
		"tensor output.bias is not used: it is a bias of the logits, which this program does not compute in a model of qwen2": add("output.bias", 80),
		"tensor blk.0.ffn_up.bias is not used: the qwen2 architecture has no such":                                            add("blk.0.ffn_up.bias", 96),
		"tensor rope_freqs.weight is not used: ":                                                                              add("rope_freqs.weight", 8),
		"tensor blk.0.attn_k_norm.weight is not used: it is a norm of the keys":                                               add("blk.0.attn_k_norm.weight", 16),
		"tensor blk.2.attn_norm.weight is not used: it belongs to layer 2, and metadata qwen2.block_count is 2":               add("blk.2.attn_norm.weight", 64),
	},
	"qwen3": {
		"tensor blk.1.attn_q_norm.weight is missing, though metadata qwen3.block_count is 2": func(w *writable) { w.Drop("blk.1.attn_q_norm.weight") },
		"tensor blk.0.attn_k_norm.weight has shape 16; the hyper-parameters ask for 8 (qwen3.attention.key_length)": func(w *writable) {
			set("qwen3.attention.key_length", uint32(8), "qwen3.attention.value_length", uint32(8), "qwen3.rope.dimension_count", uint32(8), "qwen3.attention.head_count", uint32(8), "qwen3.attention.head_count_kv", uint32(4))(w)
			w.Tensor("blk.0.attn_q_norm.weight").Dims = []uint64{8}
			w.Tensor("blk.0.attn_q_norm.weight").Data = w.Tensor("blk.0.attn_q_norm.weight").Data[:32]
		},
		"tensor cls.output.weight is not used: it is a classifier":                 add("cls.output.weight", 64),
		"tensor blk.0.ffn_gate_exps.weight is not used: it is a part of a mixture": add("blk.0.ffn_gate_exps.weight", 64),
	},
	"gemma3": {
		"metadata gemma3.final_logit_softcapping is 30: the logits are capped":                                set("gemma3.final_logit_softcapping", float32(30)),
		"metadata gemma3.attn_logit_softcapping is 50: the attention scores are capped":                       set("gemma3.attn_logit_softcapping", float32(50)),
		`metadata gemma3.rope.scaling.type is "yarn"; supported are "none" and "linear"`:                      set("gemma3.rope.scaling.type", "yarn"),
		"metadata gemma3.attention.sliding_window is String":                                                  set("gemma3.attention.sliding_window", "x"),
		"metadata gemma3.attention.sliding_window is I32, -8":                                                 set("gemma3.attention.sliding_window", int32(-8)),
		"metadata gemma3.attention.sliding_window_pattern is an array of 3; it must be one number, or a bool": set("gemma3.attention.sliding_window_pattern", []uint32{1, 0, 1}),
		`metadata gemma3.attention.sliding_window_pattern is ["a", "b"]; it must be one number, or a bool`:    set("gemma3.attention.sliding_window_pattern", []string{"a", "b"}),
		"metadata gemma3.rope.freq_base_swa is 0; it must be a positive number":                               set("gemma3.attention.sliding_window", uint32(8), "gemma3.rope.freq_base_swa", float32(0)),
		"metadata gemma3.rope.freq_base_swa is -1; it must be a positive number":                              set("gemma3.rope.freq_base_swa", float32(-1)),
		"tensor blk.0.post_ffw_norm.weight is missing":                                                        func(w *writable) { w.Drop("blk.0.post_ffw_norm.weight") },
		"tensor dense_2.weight is not used: it is a layer of embeddings in place of the logits":               add("dense_2.weight", 64),
		"tensor v.blk.0.attn_q.weight is not used":                                                            add("v.blk.0.attn_q.weight", 64),
	},
	"phi3": {
		"tensor blk.0.attn_q.weight is not used: it is queries in a matrix of their own, instead of attn_qkv":                   add("blk.0.attn_q.weight", 64),
		"tensor blk.1.attn_qkv.weight is missing":                                                                               func(w *writable) { w.Drop("blk.1.attn_qkv.weight") },
		"tensor blk.0.ffn_up.weight has shape 64x192; the hyper-parameters ask for 64x160 (phi3.embedding_length, phi3.feed_fo": set("phi3.feed_forward_length", uint32(80)),
		"tensor rope_factors_short.weight is missing":                                                                           divisors("rope_factors_long.weight", 2),
		"tensor rope_factors_long.weight is missing":                                                                            set("phi3.rope.scaling.type", "longrope"),
		"tensor rope_factors_long.weight: factor 0 is 0; it must be":                                                            func(w *writable) { add("rope_factors_long.weight", 8)(w); add("rope_factors_short.weight", 8)(w) },
		"metadata phi3.rope.scaling.original_context_length is 0":                                                               set("phi3.rope.scaling.original_context_length", uint32(0)),
		`metadata phi3.rope.scaling.type is "yarn"`:                                                                             set("phi3.rope.scaling.type", "yarn"),
		"tensor rope_freqs.weight is not used":                                                                                  add("rope_freqs.weight", 8),
	},
}

// divisors returns an edit that adds a tensor of eight equal divisors of frequencies.
func divisors(name string, v float32) func(*writable) {
	return func(w *writable) {
		x := transformertest.Tensor{Name: name, Dims: []uint64{8}, Data: gguftest.F32(slices.Repeat([]float32{v}, 8)...)}
		w.Tensors = append(w.Tensors, x)
	}
}

func TestRefusals(t *testing.T) {
	for arch, all := range refusals {
		if _, err := load(t, transformertest.Write(t, transformertest.Config{Architecture: arch})); err != nil {
			t.Errorf("a plain file of %s: %v", arch, err)
		}
		for want, edit := range all {
			t.Run(arch+"/"+want, func(t *testing.T) { refused(t, want, transformertest.Config{Architecture: arch, Edit: edit}) })
		}
	}
}

// The layers of gemma3 that have a window are those that llama.cpp's set_swa_pattern
// says: of so many the last has none.
func TestWindows(t *testing.T) {
	const window, pattern = "gemma3.attention.sliding_window", "gemma3.attention.sliding_window_pattern"
	bools := func(b ...any) gguftest.Array { return gguftest.Array{Elem: 7, Count: uint64(len(b)), Items: b} }
	for name, c := range map[string]struct {
		pairs []any
		want  []int // of eight layers
	}{
		"no window":        {nil, []int{0, 0, 0, 0, 0, 0, 0, 0}},
		"a window of none": {[]any{window, uint32(0), pattern, uint32(2)}, []int{0, 0, 0, 0, 0, 0, 0, 0}},
		"every sixth":      {[]any{window, uint32(5)}, []int{5, 5, 5, 5, 5, 0, 5, 5}},
		"every third":      {[]any{window, uint32(5), pattern, uint32(3)}, []int{5, 5, 0, 5, 5, 0, 5, 5}},
		"every one":        {[]any{window, uint32(5), pattern, uint32(1)}, []int{0, 0, 0, 0, 0, 0, 0, 0}},
		"none":             {[]any{window, uint32(5), pattern, uint32(0)}, []int{5, 5, 5, 5, 5, 5, 5, 5}},
		"bools":            {[]any{window, uint32(5), pattern, bools(true, false, false, true, false, false, false, true)}, []int{5, 0, 0, 5, 0, 0, 0, 5}},
		"numbers":          {[]any{window, uint32(5), pattern, []uint32{0, 1, 0, 0, 0, 0, 0, 1}}, []int{0, 5, 0, 0, 0, 0, 0, 5}},
	} {
		m, err := load(t, transformertest.Write(t, transformertest.Config{Architecture: "gemma3", Layers: 8, Edit: set(c.pairs...)}))
		if err != nil {
			t.Fatal(err)
		}
		var got []int
		for i := range m.Blocks {
			got = append(got, m.Blocks[i].Window)
			// Layers with a window turn by the base of the first models, the others by the file's.
			base := map[bool]float64{true: 10000, false: 1000}[m.Blocks[i].Window > 0]
			if f, want := m.Rotary(i, 64).Frequencies[1], math.Pow(base, -2./16); math.Abs(f/want-1) > 1e-12 {
				t.Errorf("%s: second frequency of layer %d is %v, want %v", name, i, f, want)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: windows %v, want %v", name, got, c.want)
		}
	}
}

// Scores are multiplied by the root of a head's length, but in Gemma 3 27B, which is
// known by its 62 layers, by that of the embedding's length divided by the heads.
func TestAttentionScale(t *testing.T) {
	for layers, want := range map[int]float64{2: 0.25, 62: 1 / math.Sqrt(64/4)} {
		c := transformertest.Config{Architecture: "gemma3", Layers: layers, Hidden: 64, Heads: 4, KVHeads: 1, HeadDim: 16, FFN: 8, Vocab: 8}
		if layers == 62 {
			c.HeadDim = 8
		}
		m, err := load(t, transformertest.Write(t, c))
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(float64(m.AttnScale)-want) > 1e-7 {
			t.Errorf("%d layers: scale %v, want %v", layers, m.AttnScale, want)
		}
	}
}

// LongRoPE divides by its long factors in runs beyond the original context, and by its
// short ones in others (get_rope_factors of src/llama-model.cpp).
func TestLongRoPE(t *testing.T) {
	for _, c := range []struct{ arch, kind string }{{"phi3", ""}, {"phi3", "longrope"}, {"llama", "longrope"}, {"mistral3", "longrope"}} {
		m, err := load(t, transformertest.Write(t, transformertest.Config{Architecture: c.arch, Edit: func(w *writable) {
			divisors("rope_factors_long.weight", 4)(w)
			divisors("rope_factors_short.weight", 2)(w)
			set(c.arch+".rope.scaling.original_context_length", uint32(32), c.arch+".rope.scaling.attn_factor", float32(1.5))(w)
			if c.kind != "" {
				w.Set(c.arch+".rope.scaling.type", c.kind)
			}
		}}))
		if err != nil {
			t.Fatal(err)
		}
		for positions, want := range map[int]float64{1: 0.5, 32: 0.5, 33: 0.25, 64: 0.25} {
			if r := m.Rotary(1, positions); r.Frequencies[0] != want || r.Scale != 1.5 {
				t.Errorf("%v: %d positions: first frequency %v, scale %v; want %v and 1.5", c, positions, r.Frequencies[0], r.Scale, want)
			}
		}
	}
}

// Every fourth layer of smollm3 turns nothing, and the queries of a mistral3 with a
// temperature are scaled from its original context on, where its runs end.
func TestWhatIsTheirOwn(t *testing.T) {
	m, err := load(t, transformertest.Write(t, transformertest.Config{Architecture: "smollm3", Layers: 9}))
	if err != nil {
		t.Fatal(err)
	}
	for i := range m.Blocks {
		if turned := m.Rotary(i, 10).Frequencies[0] != 0; turned != ((i+1)%4 != 0) {
			t.Errorf("layer %d is turned: %v", i, turned)
		}
	}
	const original, temperature = "mistral3.rope.scaling.original_context_length", "mistral3.attention.temperature_scale"
	for _, c := range []struct {
		pairs []any
		want  int
	}{{nil, 64}, {[]any{original, uint32(32)}, 64}, {[]any{original, uint32(32), temperature, float32(0)}, 64}, {[]any{original, uint32(32), temperature, float32(0.1)}, 32}, {[]any{original, uint32(128), temperature, float32(0.1)}, 64}} {
		m, err := load(t, transformertest.Write(t, transformertest.Config{Architecture: "mistral3", Edit: set(c.pairs...)}))
		if err != nil {
			t.Fatal(err)
		}
		if m.Context != c.want {
			t.Errorf("%v: a context of %d, want %d", c.pairs, m.Context, c.want)
		}
	}
}

// The rows of matrices that a file has in one are views of it, one after another.
func TestFused(t *testing.T) {
	m, err := load(t, transformertest.Write(t, transformertest.Config{Architecture: "phi3", Bias: true}))
	if err != nil {
		t.Fatal(err)
	}
	for i := range m.Blocks {
		b := &m.Blocks[i]
		if got := slices.Concat(b.Q.Data, b.K.Data, b.V.Data); !slices.Equal(got, b.QKV.Data) || &b.Q.Data[0] != &b.QKV.Data[0] {
			t.Error("attn_qkv is not its parts")
		}
		if got := slices.Concat(b.Gate.Data, b.Up.Data); !slices.Equal(got, b.GateUp.Data) || &b.Gate.Data[0] != &b.GateUp.Data[0] {
			t.Error("ffn_up is not its parts")
		}
		if len(b.QB) != b.Q.Rows || len(b.KB) != b.K.Rows || len(b.VB) != b.V.Rows {
			t.Errorf("biases of %d, %d and %d values", len(b.QB), len(b.KB), len(b.VB))
		}
	}
}

// Layers of several sizes are read as a file states them, and run.
func TestLayersOfSeveralSizes(t *testing.T) {
	m, err := load(t, transformertest.Write(t, transformertest.Config{Layers: 3, LayerHeads: []int{4, 2, 6}, LayerKVHeads: []int{2, 1, 6}, LayerFFN: []int{96, 32, 64}}))
	if err != nil {
		t.Fatal(err)
	}
	if m.Heads != 6 || m.KVHeads != 6 || m.FFN != 96 || m.HeadDim != 16 {
		t.Errorf("%+v", m.Params)
	}
	for i, want := range [][3]int{{4, 2, 96}, {2, 1, 32}, {6, 6, 64}} {
		if b := &m.Blocks[i]; [3]int{b.Heads, b.KVHeads, b.FFN} != want || b.Q.Rows != 16*want[0] || b.Up.Rows != want[2] {
			t.Errorf("layer %d: %d heads, %d of keys, %d values inside", i, b.Heads, b.KVHeads, b.FFN)
		}
	}
	_, err = transformer.NewReference(m).Step([]int32{1, 2, 3}, 0)
	if err != nil {
		t.Error(err)
	}
	_, err = load(t, transformertest.Write(t, transformertest.Config{Layers: 2, LayerHeads: []int{4, 3}, LayerKVHeads: []int{2, 2}}))
	if err == nil || !strings.Contains(err.Error(), "3 query heads cannot share 2 key and value heads evenly") {
		t.Errorf("error %v", err)
	}
}
