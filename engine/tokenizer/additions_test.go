package tokenizer

import (
	"slices"
	"strings"
	"testing"

	"github.com/introgen/introgen/engine/gguf/gguftest"
)

// TestAdditions: what llama.cpp's src/llama-vocab.cpp reads and takes for granted
// (load), but for the token 11 of a BPE vocabulary without a key.
func TestAdditions(t *testing.T) {
	tokens := []string{"<unk>", "<s>", "</s>", "a", "b"}
	for _, c := range []struct {
		kv   map[string]any
		want Additions
	}{
		{map[string]any{keyModel: "llama"}, Additions{1, 2, true, false, "<s>", "</s>"}},
		{map[string]any{keyModel: "llama", keyAddBOS: false, keyAddEOS: true}, Additions{1, 2, false, true, "<s>", "</s>"}},
		{map[string]any{keyModel: "llama", keyBOS: uint32(2), keyEOS: uint32(1)}, Additions{2, 1, true, false, "</s>", "<s>"}},
		{map[string]any{keyModel: "llama", keyTokens: []string{"<unk>", "a"}}, Additions{1, -1, true, false, "a", ""}},
		{map[string]any{keyModel: "llama", keyTokens: []string{"<unk>"}}, Additions{-1, -1, false, false, "", ""}},
		{map[string]any{keyModel: "gpt2"}, Additions{-1, -1, false, false, "", ""}},
		{map[string]any{keyModel: "gpt2", keyBOS: uint32(4), keyEOS: uint32(0)}, Additions{4, 0, false, false, "b", "<unk>"}},
		{map[string]any{keyModel: "gpt2", keyBOS: uint32(4), keyPre: "qwen2"}, Additions{4, -1, false, false, "b", ""}},
		{map[string]any{keyModel: "gpt2", keyBOS: uint32(4), keyPre: "llama-bpe"}, Additions{4, -1, true, false, "b", ""}},
		{map[string]any{keyModel: "gpt2", keyBOS: uint32(4), keyPre: "tekken"}, Additions{4, -1, true, false, "b", ""}},
		{map[string]any{keyModel: "gpt2", keyBOS: uint32(4), keyPre: "tekken", keyAddBOS: false}, Additions{4, -1, false, false, "b", ""}},
		{map[string]any{keyModel: "gpt2", keyPre: "llama-bpe"}, Additions{-1, -1, false, false, "", ""}},
		{map[string]any{keyModel: "gpt2", keyEOS: uint32(3), keyAddEOS: true}, Additions{-1, 3, false, true, "", "a"}},
	} {
		if c.kv[keyTokens] == nil {
			c.kv[keyTokens] = tokens
		}
		if got, err := ReadAdditions(openKV(t, c.kv)); err != nil || got != c.want {
			t.Errorf("%v: %+v, %v; want %+v", c.kv, got, err, c.want)
		}
	}
}

func TestAround(t *testing.T) {
	both := Additions{BOS: 1, EOS: 2, AddBOS: true, AddEOS: true}
	for _, c := range []struct {
		a         Additions
		ids, want []int32
	}{
		{both, []int32{7, 8}, []int32{1, 7, 8, 2}},
		{both, []int32{1, 7}, []int32{1, 7, 2}},
		{both, []int32{7, 2}, []int32{1, 7, 2}},
		{both, nil, []int32{1, 2}},
		{Additions{BOS: 1, EOS: 2, AddBOS: true}, []int32{1, 1, 7}, []int32{1, 1, 7}}, // both are the text's
		{Additions{BOS: 1, EOS: 1, AddBOS: true, AddEOS: true}, []int32{7}, []int32{1, 7, 1}},
		{Additions{BOS: 1, EOS: 2}, []int32{7}, []int32{7}},
	} {
		given := slices.Clone(c.ids)
		if got := c.a.Around(c.ids); !slices.Equal(got, c.want) || !slices.Equal(c.ids, given) {
			t.Errorf("%+v around %v: %v, want %v", c.a, c.ids, got, c.want)
		}
	}
}

func TestAdditionsRefused(t *testing.T) {
	for _, c := range []struct {
		key   string
		value any
		want  string
	}{
		{keyModel, nil, "is missing"},
		{keyModel, "bert", `is "bert"`},
		{keyTokens, nil, "is missing"},
		{keyTokens, gguftest.Array{Elem: 8}, "the vocabulary has"},
		{keyBOS, uint32(6), "is 6; the vocabulary has the tokens 0 to 5"},
		{keyBOS, uint32(1 << 31), "is 2147483648; the vocabulary has"},
		{keyBOS, "<s>", "must be"},
		{keyEOS, uint32(6), "is 6; the vocabulary has"},
		{keyAddBOS, uint32(1), "must be a bool"},
		{keyAddEOS, true, "metadata tokenizer.ggml.eos_token_id is missing: which token to add is not known"},
	} {
		kv := smallKV()
		kv[keyBOS] = uint32(5)
		kv[c.key] = c.value
		if c.value == nil {
			delete(kv, c.key)
		}
		f := openKV(t, kv)
		_, err := ReadAdditions(f)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), f.Path) {
			t.Errorf("%s = %v: %v; want an error with the path and %q", c.key, c.value, err, c.want)
		}
	}
}
