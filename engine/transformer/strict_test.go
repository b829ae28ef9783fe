package transformer_test

import (
	"math"
	"strings"
	"testing"

	"github.com/introgen/introgen/engine/gguf/gguftest"
	"github.com/introgen/introgen/engine/quant"
	"github.com/introgen/introgen/engine/transformer"
	"github.com/introgen/introgen/engine/transformer/transformertest"
)

type writable = transformertest.Writable

// set returns an edit that sets keys.
func set(pairs ...any) func(*writable) {
	return func(w *writable) {
		for i := 0; i < len(pairs); i += 2 {
			w.Set(pairs[i].(string), pairs[i+1])
		}
	}
}

// add returns an edit that adds a tensor of n numbers.
func add(name string, n int) func(*writable) {
	return func(w *writable) {
		x := transformertest.Tensor{Name: name, Type: quant.F32, Dims: []uint64{uint64(n)}, Data: gguftest.F32(make([]float32, n)...)}
		w.Tensors = append(w.Tensors, x)
	}
}

// TestRopeScale: positions are divided by what llama.cpp divides them by
// (load_hparams in src/llama-model.cpp, and "never scale" in src/llama-context.cpp).
func TestRopeScale(t *testing.T) {
	const kind, factor, old = "llama.rope.scaling.type", "llama.rope.scaling.factor", "llama.rope.scale_linear"
	for _, c := range []struct {
		pairs []any
		want  float32
	}{
		{nil, 1},
		{[]any{kind, "linear", factor, float32(4)}, 4},
		{[]any{factor, float32(4)}, 4},
		{[]any{factor, 4.0}, 4}, // F64
		{[]any{old, float32(4)}, 4},
		{[]any{kind, "linear", old, float32(2.5)}, 2.5},
		{[]any{factor, float32(4), old, float32(8)}, 4},
		{[]any{factor, float32(0), old, float32(8)}, 1},
		{[]any{factor, float32(0)}, 1},
		{[]any{kind, "linear"}, 1},
		{[]any{kind, "none", factor, float32(4)}, 1},
		{[]any{kind, "none", old, float32(4)}, 1},
	} {
		m, err := load(t, transformertest.Write(t, transformertest.Config{Edit: set(c.pairs...)}))
		if err != nil {
			t.Errorf("%v: %v", c.pairs, err)
		} else if got := m.Rotary(0, 1).Frequencies[0]; m.RopeScale != c.want || math.Abs(got*float64(c.want)-1) > 1e-12 {
			t.Errorf("%v: scale %v, first frequency %v; want %v and its reciprocal", c.pairs, m.RopeScale, got, c.want)
		}
	}
}

// TestPerLayer: an array with a value for each layer is that value where all are
// equal, and is refused with its values where they are not.
func TestPerLayer(t *testing.T) {
	plain, err := load(t, transformertest.Write(t, transformertest.Config{}))
	if err != nil {
		t.Fatal(err)
	}
	for key, v := range map[string]any{
		"llama.attention.head_count":             []uint32{4, 4},
		"llama.attention.head_count_kv":          []int32{2, 2},
		"llama.attention.key_length":             gguftest.Array{Elem: 10, Count: 2, Items: []any{uint64(16), uint64(16)}},
		"llama.attention.value_length":           gguftest.Array{Elem: 2, Count: 2, Items: []any{uint16(16), uint16(16)}},
		"llama.feed_forward_length":              []int32{96, 96},
		"llama.rope.dimension_count":             []uint32{16, 16},
		"llama.rope.freq_base":                   []float32{1000, 1000},
		"llama.attention.layer_norm_rms_epsilon": []float32{1e-5, 1e-5},
	} {
		m, err := load(t, transformertest.Write(t, transformertest.Config{Edit: set(key, v)}))
		if err != nil {
			t.Errorf("%s: %v", key, err)
		} else if m.Params != plain.Params {
			t.Errorf("%s: %+v, want %+v", key, m.Params, plain.Params)
		}
	}
	for want, edit := range map[string]func(*writable){
		"tensor blk.1.attn_k.weight has shape 64x32; the hyper-parameters ask for 64x64":   set("llama.attention.head_count_kv", []int32{2, 4}),
		"metadata llama.rope.freq_base is [1000, 2000]: layers that differ":                set("llama.rope.freq_base", []float32{1000, 2000}),
		"4 query heads cannot share 3 key and value heads evenly":                          set("llama.attention.head_count_kv", []int32{2, 3}),
		"tensor blk.1.ffn_gate.weight has shape 64x96; the hyper-parameters ask for 64x64": set("llama.feed_forward_length", []uint32{96, 64}),
		"layer_norm_rms_epsilon is [1e-05, 1e-06]: layers that differ":                     set("llama.attention.layer_norm_rms_epsilon", []float32{1e-5, 1e-6}),
		"metadata llama.attention.head_count is an array of 3; it must be one":             set("llama.attention.head_count", []uint32{4, 4, 4}),
		"metadata llama.attention.head_count_kv is an array of 0":                          set("llama.attention.head_count_kv", gguftest.Array{Elem: 4}),
		"metadata llama.attention.head_count is String":                                    set("llama.attention.head_count", []string{"4", "4"}),
		"metadata llama.embedding_length is Array, [64, 64]; it must be an integer":        set("llama.embedding_length", []uint32{64, 64}),
		"metadata llama.block_count is Array":                                              set("llama.block_count", []uint32{2, 2}),
		"metadata llama.attention.head_count_kv is I32, -2":                                set("llama.attention.head_count_kv", []int32{-2, -2}),
	} {
		refused(t, want, transformertest.Config{Edit: edit})
	}
}

func refused(t *testing.T, want string, c transformertest.Config) {
	t.Helper()
	_, err := load(t, transformertest.Write(t, c))
	if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
		t.Errorf("error %v, want one line with %q", err, want)
	}
}

// TestKeysThatChangeNothing: keys that stand in files in use, with the values that
// they have there, and neutral values of those that would change the arithmetic.
func TestKeysThatChangeNothing(t *testing.T) {
	for _, pair := range [][]any{
		{"general.name", "x", "general.file_type", uint32(99), "general.quantization_version", uint32(2), "quantize.imatrix.file", "x"},
		{"tokenizer.chat_template", "x", "anything.else", float32(2), "llamas", uint32(1)},
		{"llama.vocab_size", uint32(80), "llama.expert_count", uint32(0), "llama.expert_used_count", uint32(0)},
		{"llama.rope.scaling.finetuned", true, "llama.rope.scaling.original_context_length", uint32(8192)},
		{"llama.tensor_data_layout", "Meta AI original pth"},
		{"llama.attention.causal", true, "llama.attention.sliding_window", uint32(64), "llama.pooling_type", uint32(3)},
		{"llama.attention.sliding_window", uint32(0), "llama.use_parallel_residual", false},
		{"llama.attention.scale", float32(0.25), "llama.logit_scale", float32(1), "llama.residual_scale", float32(0), "llama.embedding_scale", 1.0},
		{"llama.rope.scaling.attn_factor", float32(1), "llama.attention.clamp_kqv", float32(0), "llama.rope.dimension_sections", []int32{0, 0, 0, 0}},
		{"llama.embedding_length_out", uint32(64)},
		{"llama.attention.head_dim", uint32(16), "llama.attention.key_length", uint32(16), "llama.attention.value_length", uint32(16)}, // ollama's converter
	} {
		if _, err := load(t, transformertest.Write(t, transformertest.Config{Edit: set(pair...)})); err != nil {
			t.Errorf("%v: %v", pair, err)
		}
	}
}

func TestRefusesWhatIsNotComputed(t *testing.T) {
	for want, edit := range map[string]func(*writable){
		"metadata llama.logit_scale is 0.25: the logits are scaled":                          set("llama.logit_scale", float32(0.25)),
		"metadata llama.residual_scale is 2: ":                                               set("llama.residual_scale", float32(2)),
		"metadata llama.embedding_scale is 12: ":                                             set("llama.embedding_scale", uint32(12)),
		"metadata llama.attention.head_dim is 8: heads have another length":                  set("llama.attention.head_dim", uint32(8)),
		"metadata llama.attention.scale is 0.5: ":                                            set("llama.attention.scale", float32(0.5)),
		"metadata llama.attention.clamp_kqv is 8: ":                                          set("llama.attention.clamp_kqv", float32(8)),
		"metadata llama.attn_logit_softcapping is 50: ":                                      set("llama.attn_logit_softcapping", float32(50)),
		"metadata llama.final_logit_softcapping is 30: ":                                     set("llama.final_logit_softcapping", float32(30)),
		"metadata llama.attention.sliding_window is 63: ":                                    set("llama.attention.sliding_window", uint32(63)),
		"metadata llama.attention.max_alibi_bias is 8: ":                                     set("llama.attention.max_alibi_bias", float32(8)),
		"metadata llama.attention.causal is false: ":                                         set("llama.attention.causal", false),
		"metadata llama.use_parallel_residual is true: ":                                     set("llama.use_parallel_residual", true),
		"metadata llama.rope.scaling.attn_factor is 0; it must be a positive number":         set("llama.rope.scaling.attn_factor", float32(0)),
		"metadata llama.rope.dimension_sections is [8, 0]: ":                                 set("llama.rope.dimension_sections", []int32{8, 0}),
		`metadata llama.logit_scale is "1": `:                                                set("llama.logit_scale", "1"),
		"metadata llama.logit_scale is []: ":                                                 set("llama.logit_scale", gguftest.Array{Elem: 6}),
		`metadata llama.tensor_data_layout is "rows": `:                                      set("llama.tensor_data_layout", "rows"),
		"metadata llama.expert_used_count is 2: a mixture of experts is meant":               set("llama.expert_used_count", uint32(2)),
		"metadata llama.foo = 0.5 is not known: it may change what the model computes":       set("llama.foo", float32(0.5)),
		`metadata llama. = "x" is not known`:                                                 set("llama.", "x"),
		`rope.scaling.type is "su"; supported are "none", "linear", "yarn" and "longrope"`:   set("llama.rope.scaling.type", "su"),
		"tensor rope_factors_long.weight is missing":                                         set("llama.rope.scaling.type", "longrope"),
		`rope.scaling.type is ""; supported`:                                                 set("llama.rope.scaling.type", ""),
		"metadata llama.rope.scaling.factor is -4; it must be":                               set("llama.rope.scaling.factor", float32(-4)),
		"metadata llama.rope.scale_linear is NaN; it must be":                                set("llama.rope.scale_linear", float32(math.NaN())),
		"metadata llama.rope.scaling.factor is U32; it must be F32 or F64":                   set("llama.rope.scaling.factor", uint32(4)),
		"metadata llama.vocab_size is 79, but tensor token_embd.weight has 80 rows":          set("llama.vocab_size", uint32(79)),
		"metadata tokenizer.ggml.tokens has 2 elements, but tensor token_embd.weight has 80": set("tokenizer.ggml.tokens", []string{"a", "b"}),
		"is part 2 of 3 of a split file": func(w *writable) {
			set("split.no", uint16(1), "split.count", uint16(3))(w)
			w.Drop("general.architecture")
		},
		"tensor output.bias is not used: it is a bias of the logits":                                                                        add("output.bias", 80),
		"tensor output_norm.bias is not used: it is a bias of a norm":                                                                       add("output_norm.bias", 64),
		"tensor blk.0.attn_q_norm.weight is not used: it is a norm of the queries":                                                          add("blk.0.attn_q_norm.weight", 16),
		"tensor blk.1.attn_qkv.weight is not used: it is queries, keys and values in one matrix":                                            add("blk.1.attn_qkv.weight", 16),
		"tensor blk.2.attn_norm.weight is not used: it belongs to layer 2, and metadata llama.block_count is 2, so the last one is layer 1": add("blk.2.attn_norm.weight", 64),
		"tensor blk.0.ffn_up.scale is not used: it scales a matrix":                                                                         add("blk.0.ffn_up.scale", 1),
		"tensor any.thing is not used: the llama architecture has no such tensor":                                                           add("any.thing", 64),
		"tensor blk.x.attn_norm.weight is not used":                                                                                         add("blk.x.attn_norm.weight", 64),
		"tensor blk.00.attn_norm.weight is not used":                                                                                        add("blk.00.attn_norm.weight", 64),
		"tensor rope_factors_long.weight is not used: it is factors of LongRoPE":                                                            add("rope_factors_long.weight", 8),
		"tensor a is not used: the llama architecture has no such tensor (and 1 more, b the next); the model":                               func(w *writable) { add("a", 1)(w); add("b", 1)(w) },
		"tensor blk.0.ffn_up.bias has shape 95; the hyper-parameters ask for 96":                                                            add("blk.0.ffn_up.bias", 95),
		"tensor blk.0.ffn_up.bias has shape 0; the hyper-parameters ask for 96":                                                             add("blk.0.ffn_up.bias", 0),
		"tensor output.weight has shape 0; the hyper-parameters ask for 64x80":                                                              add("output.weight", 0),
		"tensor blk.0.attn_norm.weight has shape scalar; the hyper-parameters ask for 64": func(w *writable) {
			x := w.Tensor("blk.0.attn_norm.weight")
			x.Dims, x.Data = nil, x.Data[:4]
		},
		"tensor blk.0.attn_q.scale is not used": func(w *writable) {
			w.Tensors = append(w.Tensors, transformertest.Tensor{Name: "blk.0.attn_q.scale", Data: gguftest.F32(2)})
		},
	} {
		t.Run(want, func(t *testing.T) { refused(t, want, transformertest.Config{Edit: edit}) })
	}
}

// TestSkippedTensors: tensors without elements, and scalars that nothing is named
// after, leave the model as it is.
func TestSkippedTensors(t *testing.T) {
	m, err := load(t, transformertest.Write(t, transformertest.Config{Edit: func(w *writable) {
		none := transformertest.Tensor{Name: "__index_timestep_zero__", Dims: []uint64{0}}
		w.Tensors = append([]transformertest.Tensor{none}, w.Tensors...)
		w.Tensors = append(w.Tensors, transformertest.Tensor{Name: "step", Data: gguftest.F32(3)}, transformertest.Tensor{Name: "blk.7.none", Dims: []uint64{4, 0}})
	}}))
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Blocks) != 2 {
		t.Errorf("%d layers", len(m.Blocks))
	}
}

// TestFFNBias: the pass with biases is written out for one token and a model whose
// attention adds nothing, in which a layer is x + down(silu(gate+a)*(up+b)) + c.
func TestFFNBias(t *testing.T) {
	ones := func(n int, v float32) []byte {
		x := make([]float32, n)
		for i := range x {
			x[i] = v
		}
		return gguftest.F32(x...)
	}
	m, err := load(t, transformertest.Write(t, transformertest.Config{Layers: 1, FFNBias: true, Edit: func(w *writable) {
		for _, name := range []string{"attn_output.weight", "ffn_gate.weight", "ffn_up.weight", "ffn_down.weight"} {
			clear(w.Tensor("blk.0." + name).Data)
		}
		w.Tensor("blk.0.ffn_gate.bias").Data = ones(96, 2)
		w.Tensor("blk.0.ffn_up.bias").Data = ones(96, 3)
		w.Tensor("blk.0.ffn_down.bias").Data = ones(64, 0.5)
		// The first column of down sees the first hidden value alone.
		w.Tensor("blk.0.ffn_down.weight").Data = append(gguftest.F32(1), w.Tensor("blk.0.ffn_down.weight").Data[4:]...)
		w.Tensor("output_norm.weight").Data = ones(64, 1)
		w.Tensor("token_embd.weight").Data = ones(64*80, 1)
	}}))
	if err != nil {
		t.Fatal(err)
	}
	got, err := transformer.NewReference(m).Step([]int32{3}, 0)
	if err != nil {
		t.Fatal(err)
	}
	first := 1 + 2/(1+math.Exp(-2))*3 + 0.5
	sum, squares := first+63*1.5, first*first+63*1.5*1.5
	if want := sum / math.Sqrt(squares/64+1e-5); math.Abs(got[0]-want) > 1e-6 {
		t.Errorf("logit %v, want %v", got[0], want)
	}
}

// TestDrawn: the logits that a program in another language computes, with the
// positions divided by 4 in each of the ways in which a file says so, and with
// biases of the feed-forward.
func TestDrawn(t *testing.T) {
	for name, c := range map[string]struct {
		biased bool
		pairs  []any
		want   []transformertest.Logit
	}{
		"plain":            {want: transformertest.DrawnPlain},
		"linear, factor 4": {pairs: []any{"llama.rope.scaling.type", "linear", "llama.rope.scaling.factor", float32(4)}, want: transformertest.DrawnQuarter},
		"factor 4":         {pairs: []any{"llama.rope.scaling.factor", float32(4)}, want: transformertest.DrawnQuarter},
		"scale_linear 4":   {pairs: []any{"llama.rope.scale_linear", float32(4)}, want: transformertest.DrawnQuarter},
		"none, factor 4":   {pairs: []any{"llama.rope.scaling.type", "none", "llama.rope.scaling.factor", float32(4)}, want: transformertest.DrawnPlain},
		"biases":           {biased: true, want: transformertest.DrawnBiased},
	} {
		m, err := load(t, transformertest.Drawn(t, c.biased, set(c.pairs...)))
		if err != nil {
			t.Fatal(err)
		}
		got, err := transformer.NewReference(m).Step(transformertest.DrawnIDs, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range c.want {
			if math.Abs(got[w.ID]-w.Value) > 1e-6 {
				t.Errorf("%s: logit of %d is %.6f, want %.6f", name, w.ID, got[w.ID], w.Value)
			}
		}
	}
}
