package transformer_test

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/introgen/introgen/engine/cpu"
	"github.com/introgen/introgen/engine/gguf"
	"github.com/introgen/introgen/engine/gguf/describe"
	"github.com/introgen/introgen/engine/gguf/gguftest"
	"github.com/introgen/introgen/engine/quant"
	"github.com/introgen/introgen/engine/tokenizer"
	"github.com/introgen/introgen/engine/transformer"
	"github.com/introgen/introgen/engine/transformer/transformertest"
)

// everyIDs and everyText are the prompt of TestEveryField.
var everyIDs = []int32{0, 262, 287, 261, 0, 40}

const everyText = "\x00's hello 1111<|im_start|>!"

// everyModels are the models whose every field is altered: between them they have
// all that the architecture can have.
var everyModels = map[string]transformertest.Config{
	"tied, biases, factors": {Bias: true, FFNBias: true, RopeFactor: true, Edit: func(w *writable) {
		set("llama.rope.scaling.type", "linear", "llama.rope.scaling.factor", float32(2), "llama.rope.scaling.finetuned", true,
			"llama.rope.scaling.original_context_length", uint32(64), "llama.vocab_size", uint32(288), "general.name", "tiny", "general.type", "model",
			"general.file_type", uint32(0), "general.alignment", uint32(32), "general.quantization_version", uint32(2),
			"llama.logit_scale", float32(1), "llama.attention.causal", true, "llama.attention.sliding_window", uint32(64),
			"llama.tensor_data_layout", "Meta AI original pth", "llama.expert_count", uint32(0), "split.no", uint16(0), "split.count", uint16(0))(w)
		vocabulary(w)
	}},
	"own output, quantized, by layers": {Type: quant.Q8_0, Embedding: quant.F16, Output: true, Edit: func(w *writable) {
		set("llama.rope.scale_linear", float32(4), "llama.attention.head_count", []uint32{4, 4}, "llama.attention.head_count_kv", []int32{2, 2},
			"llama.feed_forward_length", []uint32{32, 32})(w)
		vocabulary(w)
		w.Drop("llama.attention.key_length")
		w.Drop("llama.attention.value_length")
	}},
	"mistral3, yarn": {Architecture: "mistral3", RopeBase: 2, Edit: func(w *writable) {
		set("mistral3.rope.scaling.type", "yarn", "mistral3.rope.scaling.factor", float32(4), "mistral3.rope.scaling.original_context_length", uint32(32),
			"mistral3.rope.scaling.yarn_beta_fast", float32(4), "mistral3.rope.scaling.yarn_beta_slow", float32(3), "mistral3.rope.scaling.yarn_log_multiplier", float32(0.5),
			"mistral3.rope.scaling.attn_factor", float32(1.25), "mistral3.attention.temperature_scale", float32(0.1))(w)
		vocabulary(w)
	}},
	"qwen2, biases": {Architecture: "qwen2", Bias: true, Output: true, Edit: vocabulary},
	"qwen3, norms":  {Architecture: "qwen3", Type: quant.Q8_0, Edit: vocabulary},
	"phi3, long":    {Architecture: "phi3", Bias: true, RopeDim: 6, Edit: longPhi},
	"gemma3, windows": {Architecture: "gemma3", Layers: 3, Window: 4, Edit: func(w *writable) {
		set("gemma3.attention.sliding_window_pattern", []uint32{1, 0, 1}, "gemma3.rope.freq_base_swa", float32(100), "gemma3.rope.scaling.type", "linear", "gemma3.rope.scaling.factor", float32(2))(w)
		vocabulary(w)
	}},
}

// longPhi makes a file whose positions are those of LongRoPE's long factors.
func longPhi(w *writable) {
	for _, name := range []string{"rope_factors_long.weight", "rope_factors_short.weight"} {
		w.Tensors = append(w.Tensors, transformertest.Tensor{Name: name, Dims: []uint64{3}, Data: gguftest.F32(1, 2, float32(len(name))/8)})
	}
	set("phi3.rope.scaling.original_context_length", uint32(5), "phi3.rope.scaling.attn_factor", float32(1.25), "phi3.attention.sliding_window", uint32(2))(w)
	vocabulary(w)
}

func vocabulary(w *writable) {
	transformertest.Vocabulary(w, 288)
	set("tokenizer.ggml.pre", "gpt-2", "tokenizer.ggml.bos_token_id", uint32(1), "tokenizer.ggml.eos_token_id", uint32(2),
		"tokenizer.ggml.add_bos_token", false, "tokenizer.chat_template", "{{ x }}")(w)
}

// reading is what comes out of a file: numbers of the CPU engine and of the float64
// reference, ids and text of the tokenizer, what is said, and what meta shows.
type reading struct {
	model, text, meta string
	err               error // that kept the model, or else the tokenizer, from being read
}

func read(t *testing.T, path string, file gguftest.File) (r reading) {
	t.Helper()
	b, err := file.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := gguf.Open(path, gguf.MMap)
	if err != nil {
		return reading{err: err}
	}
	defer f.Close()
	var shown strings.Builder
	if err := describe.Text(&shown, f, describe.Options{Tensors: true}); err != nil {
		t.Fatal(err)
	}
	r.meta = shown.String()
	m, err := transformer.Load(f)
	if err != nil {
		return reading{err: err, meta: r.meta}
	}
	r.model = forward(t, m)
	choice, err := tokenizer.Choose(f, "go")
	if err != nil {
		return reading{err: err, meta: r.meta, model: r.model}
	}
	k := choice.Tokenizer
	ids, err := k.Encode(everyText)
	text, err2 := k.Decode([]int32{0, 262, 261, 7, 287})
	said, err3 := tokenizer.Assumed(f)
	around, err4 := tokenizer.ReadAdditions(f)
	r.text = fmt.Sprint(around.Around(ids), err, text, err2, said, err3, err4, tokenizer.Ignored(f))
	return r
}

// forward returns the logits of both passes, as bits, and holds them together.
func forward(t *testing.T, m *transformer.Model) string {
	t.Helper()
	e, err := cpu.New(m, cpu.Options{Threads: 1, Positions: len(everyIDs)})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	ref := transformer.NewReferenceOf(m, len(everyIDs))
	out := fmt.Sprintf("%d positions", m.Context)
	for _, s := range []struct{ from, to int }{{0, 5}, {5, 6}} {
		if _, err := e.Step(everyIDs[s.from:s.to], s.from); err != nil {
			return out + err.Error() // not a number any more
		}
		got, err := e.Logits()
		if err != nil {
			t.Fatal(err)
		}
		want, err := ref.Step(everyIDs[s.from:s.to], s.from)
		if err != nil {
			t.Fatal(err)
		}
		largest := 1.0
		for _, w := range want {
			largest = max(largest, math.Abs(w))
		}
		for i, w := range want {
			if math.Abs(float64(got[i])-w) > 1e-2*largest {
				t.Errorf("logit %d is %v, in float64 %v", i, got[i], w)
				break
			}
			out += fmt.Sprintf(" %x %x", math.Float32bits(got[i]), math.Float64bits(w))
		}
	}
	return out
}

// change is a file in which one thing is altered.
type change struct {
	field string   // for people, and for the list of what is harmless
	names []string // of which an error must contain one; nil for the file's structure
	file  gguftest.File
}

// TestEveryField alters each field of a file in turn: the metadata, the tensor
// directory, the data. Each time the logits, the ids or the text must be others, or
// an error must name what was altered, or the field is on the list of those that
// are harmless, for a reason.
func TestEveryField(t *testing.T) {
	needed := map[string]bool{} // reasons
	for _, name := range slices.Sorted(maps.Keys(everyModels)) {
		c := everyModels[name]
		c.Vocab, c.Hidden, c.FFN, c.HeadDim, c.Heads, c.KVHeads = 288, 32, 32, 8, 4, 2
		arch := cmp.Or(c.Architecture, "llama")
		t.Run(name, func(t *testing.T) {
			var base gguftest.File
			edit := c.Edit
			c.Edit = func(w *writable) { edit(w); base = place(w.File()) }
			transformertest.Write(t, c)
			path := filepath.Join(t.TempDir(), "model.gguf")
			plain := read(t, path, base)
			if plain.err != nil {
				t.Fatal(plain.err)
			}
			count := map[string]int{}
			reasons := map[string]int{}
			all := slices.Concat(alteredKeys(base), alteredTensors(base), addedKeys(t, base, arch))
			if arch == "llama" { // structure is the file's, whatever its architecture
				all = append(all, alteredStructure(t, base)...)
			}
			if arch == "llama" && c.Bias { // what is added to the other is the same
				all = append(all, addedTensors(t, base)...)
			}
			for _, c := range all {
				count["tried"]++
				got := read(t, path, c.file)
				same := got.model == plain.model && got.text == plain.text && got.err == nil
				why := harmless(arch, c.field)
				if strings.Contains(c.field, "metadata ") && got.meta != "" && got.meta == plain.meta && !strings.HasPrefix(c.field, "metadata tokenizer.ggml.") {
					t.Errorf("%s: meta shows the same", c.field)
				}
				switch {
				case got.err != nil && (c.names == nil || slices.ContainsFunc(c.names, func(n string) bool { return strings.Contains(got.err.Error(), n) })):
					count["refused"]++
				case got.err != nil:
					t.Errorf("%s: the error does not name it: %v", c.field, got.err)
				case !same:
					count["changed"]++
				case why == "":
					t.Errorf("%s: nothing comes of it, and it is not known to be harmless", c.field)
				default:
					count["harmless"]++
					reasons[why]++
					needed[why] = true
				}
			}
			t.Logf("%d fields tried: %d changed what came out, %d were refused by name, %d are harmless", count["tried"], count["changed"], count["refused"], count["harmless"])
			for _, why := range slices.Sorted(maps.Keys(reasons)) {
				t.Logf("%5d harmless: %s", reasons[why], why)
			}
			if count["tried"] != count["changed"]+count["refused"]+count["harmless"] {
				t.Errorf("%d fields are of another kind", count["tried"]-count["changed"]-count["refused"]-count["harmless"])
			}
		})
	}
	reasons := slices.Collect(maps.Values(ofOne))
	for _, h := range harmlessFields {
		reasons = append(reasons, h.why)
	}
	for _, why := range reasons {
		if !needed[why] {
			t.Errorf("no field is harmless because %q", why)
		}
	}
}

// place gives each tensor the offset at which gguftest would put it, so that
// altering another one does not move it.
func place(f gguftest.File) gguftest.File {
	var at uint64
	for i := range f.Tensors {
		here := at
		f.Tensors[i].Offset = &here
		at += uint64(len(f.Tensors[i].Data)+31) &^ 31
	}
	return f
}

// harmlessFields are the fields whose altering may change nothing, by how they
// begin or, after a *, end, with the reason.
var harmlessFields = []struct{ field, why string }{
	{"metadata general.alignment dropped", "32 is the alignment of a file that states none"},
	{"metadata general.alignment renamed", "32 is the alignment of a file that states none"},
	{"metadata general.name", "it describes the file"},
	{"metadata general.type", "it describes the file"},
	{"metadata general.file_type", "it describes the file"},
	{"metadata general.quantization_version", "it describes the file"},
	{"added metadata general.", "it describes the file"},
	{"metadata split.no", "no part of several"},
	{"metadata split.count", "no part of several"},
	{"added metadata split.count = U32(0)", "no part of several"},
	{"added metadata split.count = U32(1)", "no part of several"},
	{"added metadata split.tensors.count", "no part of several"},
	{"added metadata split.no = U32(0)", "no part of several"},
	{"metadata llama.rope.scaling.finetuned", "it says how the model was trained"},
	{"metadata llama.rope.scaling.original_context_length", "only YaRN and LongRoPE use it, and the model has linear scaling"},
	{"added metadata llama.rope.scaling.finetuned", "it says how the model was trained"},
	{"added metadata llama.rope.scaling.original_context_length", "only YaRN and LongRoPE use it, and the model has linear scaling"},
	{"added metadata llama.rope.scaling.yarn_beta_", "only YaRN and LongRoPE use it, and the model has linear scaling"},
	{"added metadata llama.attention.layer_norm_epsilon", "the architecture has RMS norms only"},
	{"added metadata llama.pooling_type", "embeddings are pooled, logits are not"},
	{"metadata llama.rope.scaling.type dropped", "linear is what a missing type means"},
	{"metadata llama.rope.dimension_count dropped", "it says what holds without it"},
	{"metadata llama.attention.key_length dropped", "it says what holds without it"},
	{"metadata llama.attention.value_length dropped", "it says what holds without it"},
	{"metadata llama.vocab_size dropped", "the embedding's rows say the same"},
	{"metadata llama.logit_scale dropped", "a neutral value"},
	{"metadata llama.attention.causal dropped", "a neutral value"},
	{"metadata llama.attention.sliding_window dropped", "a neutral value"},
	{"metadata llama.tensor_data_layout dropped", "a neutral value"},
	{"metadata llama.expert_count dropped", "a neutral value"},
	{"metadata llama.attention.sliding_window_pattern[0] = 2", "any number but 0 says that a layer has a window"},
	{"metadata llama.attention.temperature_scale = F32(0.2)", "whatever it is, runs end before it counts"},
	{"tensor rope_factors_short.weight with another ", "a run beyond the original context has the long factors"},
	{"* = U64, the same number", "a number is itself in any type that holds it"},
	{"* = F64, the same number", "a number is itself in any type that holds it"},
	{"* of each layer, the same number", "equal values of all layers are that value"},
	{"added metadata llama.rope.scale_linear", "rope.scaling.factor counts where both are there"},
	{"added metadata tokenizer.ggml.scores", "byte-level BPE has ranks of merges, not scores"},
	{"added metadata tokenizer.ggml.token_type_count", "the tokenizers that it is for are refused"},
	{"metadata tokenizer.ggml.bos_token_id", "no token is added to a text that the file does not want there"},
	{"metadata tokenizer.ggml.eos_token_id", "generation ends after a number of steps"},
	{"metadata tokenizer.ggml.add_bos_token dropped", "false is what is done"},
	{"metadata tokenizer.ggml.add_bos_token renamed", "false is what is done"},
	{"metadata tokenizer.ggml.add_bos_token = Bool(false)", "false is what is done"},
	{"metadata tokenizer.chat_template", "a prompt is put into the template before it is encoded, elsewhere"},
	{"metadata tokenizer.ggml.token_type[0] = 5", "tokens are found by merges whatever kind of ordinary ones they are"},
	{"metadata tokenizer.ggml.token_type[0] = 3", "the token of a byte is that token when it is a control token too"},
	{"metadata tokenizer.ggml.merges with one more", "a merge of what are no tokens is never used"},
	{"added metadata tokenizer.", "the tokenizer knows its keys, and this is not one of them"},
	{"added metadata other.", "no key of the architecture"},
	{"added metadata adapter.", "no key of the architecture"},
	{"added metadata xielu.", "no key of the architecture"},
	{"added empty tensor ", "it has no elements"},
	{"added scalar ", "nothing is named after it"},
	{"order of the ", "both are found by name"},
	{"padding ", "it lies between the tensors"},
	{"version 2", "it is read as version 3 is"},
	{"*with a trailing dimension of 1", "it holds the same elements"},
}

// ofOne are the fields that are harmless in one architecture alone.
var ofOne = map[string]string{
	"metadata phi3.attention.sliding_window":               "llama.cpp lets every layer of phi3 attend to everything",
	"added metadata mistral3.rope.scaling.yarn_ext_factor": "1 is what YaRN has without it",
	"metadata mistral3.context_length = U32(":              "its runs end at the original context, where queries begin to be scaled",
}

// zeroIsNeutral and oneIsNeutral are the keys that may be 0 or false, and 1 or
// true.
var (
	zeroIsNeutral = strings.Fields(`attention.clamp_kqv attention.max_alibi_bias attention.output_scale attention.scale attention.sliding_window
		attention.temperature_length attention.temperature_scale attention.value_scale attn_logit_softcapping embedding_length_out embedding_scale
		expert_count expert_feed_forward_length expert_gating_func expert_group_count expert_group_used_count expert_shared_count
		expert_shared_feed_forward_length expert_used_count expert_weights_norm expert_weights_scale final_logit_softcapping
		interleave_moe_layer_step leading_dense_block_count logit_scale moe_every_n_layers nextn_predict_layers residual_scale
		rope.dimension_sections rope.scaling.alpha rope.scaling.yarn_ext_factor rope.scaling.yarn_log_multiplier use_parallel_residual`)
	oneIsNeutral = strings.Fields(`attention.causal attention.output_scale attention.value_scale embedding_scale expert_weights_scale logit_scale
		residual_scale rope.scaling.alpha rope.scaling.attn_factor rope.scaling.yarn_attn_factor`)
)

// neutralValue says whether field is one of those keys with its value, or a
// sliding window of the whole context, 64 positions, and more.
func neutralValue(field string) bool {
	rest, ok := strings.CutPrefix(strings.TrimPrefix(field, "added "), "metadata llama.")
	if !ok {
		return false
	}
	key, value, _ := strings.Cut(rest, " = ")
	switch value {
	case "U32(0)", "F32(0)", "Array of 0 and 0":
		return slices.Contains(zeroIsNeutral, key)
	case "U32(1)", "F32(1)", "Array(F32 1)", "Array(U32 1)", "Bool(true)":
		return slices.Contains(oneIsNeutral, key)
	case "F32(64)", "U32(65)", "U32(128)", "U32(2147483648)", "U32(4294967295)", "Array of 64 and 65":
		return key == "attention.sliding_window"
	}
	return false
}

func harmless(arch, field string) string {
	for begin, why := range ofOne {
		if strings.HasPrefix(field, begin) {
			return why
		}
	}
	field = strings.Replace(field, "metadata "+arch+".", "metadata llama.", 1)
	if neutralValue(field) {
		return "a neutral value"
	}
	for _, h := range harmlessFields {
		if end, ok := strings.CutPrefix(h.field, "*"); ok && strings.HasSuffix(field, end) || !ok && strings.HasPrefix(field, h.field) {
			return h.why
		}
	}
	return ""
}

// floats returns data with the i-th number replaced by what alter makes of it.
func floats(data []byte, i int, alter func(float32) float32) []byte {
	out := slices.Clone(data)
	at := out[4*i:]
	binary.LittleEndian.PutUint32(at, math.Float32bits(alter(math.Float32frombits(binary.LittleEndian.Uint32(at)))))
	return out
}
