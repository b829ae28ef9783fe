package tokenizer

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/introgen/introgen/engine/gguf"
	"github.com/introgen/introgen/models"
	"github.com/introgen/introgen/models/modeltest"
)

// document is the part of a tokenizer.json that matters.
type document struct {
	Version     string
	AddedTokens []struct {
		ID         int32
		Content    string
		SingleWord bool `json:"single_word"`
		LStrip     bool
		RStrip     bool
		Normalized bool
		Special    bool
	} `json:"added_tokens"`
	Normalizer   any
	PreTokenizer map[string]any `json:"pre_tokenizer"`
	Decoder      map[string]any
	Model        struct {
		Type         string
		Vocab        map[string]int32
		Merges       [][2]string
		IgnoreMerges bool `json:"ignore_merges"`
	}
}

func parse(t *testing.T, b []byte, err error) (d document) {
	t.Helper()
	if err == nil {
		err = json.Unmarshal(b, &d)
	}
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// jsonOf is the tokenizer.json of a file.
func jsonOf(f *gguf.File) ([]byte, error) {
	return load(f, func(s *source) ([]byte, error) {
		t, err := newEncoder(s)
		if err != nil {
			return nil, err
		}
		return tokenizerJSON(s, t)
	})
}

func TestTokenizerJSON(t *testing.T) {
	kv := smallKV()
	kv[keyTokens] = []string{"a", "\"\\", "Ā", "a\"\\", "<é\u2028\n>", "<s>"}
	kv[keyTypes] = []int32{1, 1, 1, 1, 4, 3}
	kv[keyMerges] = []string{"a \"\\"}
	b, err := jsonOf(openKV(t, kv))
	d := parse(t, b, err)
	if d.Version != "1.0" || d.Model.Type != "BPE" {
		t.Errorf("version %q, model %q", d.Version, d.Model.Type)
	}
	if want := map[string]int32{"a": 0, "\"\\": 1, "Ā": 2, "a\"\\": 3, "<é\u2028\n>": 4, "<s>": 5}; !maps.Equal(d.Model.Vocab, want) {
		t.Errorf("vocabulary %v, want %v", d.Model.Vocab, want)
	}
	if want := [][2]string{{"a", "\"\\"}}; !slices.Equal(d.Model.Merges, want) {
		t.Errorf("merges %q, want %q", d.Model.Merges, want)
	}
	if len(d.AddedTokens) != 2 {
		t.Fatalf("added tokens %v", d.AddedTokens)
	}
	user, control := d.AddedTokens[0], d.AddedTokens[1]
	if user.ID != 4 || user.Content != "<é\u2028\n>" || user.Special || user.Normalized || user.LStrip || user.RStrip || user.SingleWord {
		t.Errorf("user-defined token %+v", user)
	}
	if control.ID != 5 || control.Content != "<s>" || !control.Special {
		t.Errorf("control token %+v", control)
	}
}

// TestTokenizerJSONSteps: the steps are those of the tokenizer.json files of
// the models that gave the pre-tokenizers their names.
func TestTokenizerJSONSteps(t *testing.T) {
	byteLevel := func(pattern bool) map[string]any {
		return map[string]any{"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": pattern}
	}
	split := func(pattern string) map[string]any {
		return map[string]any{"type": "Split", "pattern": map[string]any{"Regex": pattern}, "behavior": "Isolated", "invert": false}
	}
	sequence := func(parts ...any) map[string]any {
		return map[string]any{"type": "Sequence", "pretokenizers": parts}
	}
	digits := map[string]any{"type": "Digits", "individual_digits": true}
	llama := `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
	qwen := strings.Replace(llama, "{1,3}", "", 1)
	for pre, want := range map[string]struct {
		steps  map[string]any
		nfc    bool
		ignore bool
	}{
		"gpt-2":     {byteLevel(true), false, false},
		"smollm":    {sequence(digits, byteLevel(true)), false, false},
		"llama-bpe": {sequence(split(llama), byteLevel(false)), false, true},
		"llama3":    {sequence(split(llama), byteLevel(false)), false, true},
		"qwen2":     {sequence(split(qwen), byteLevel(false)), true, false},
	} {
		s := small(pre, nil)
		b, err := tokenizerJSON(s, smallEncoder(t, s))
		d := parse(t, b, err)
		if !reflect.DeepEqual(d.PreTokenizer, want.steps) {
			t.Errorf("%s: pre-tokenizer %v, want %v", pre, d.PreTokenizer, want.steps)
		}
		if nfc := reflect.DeepEqual(d.Normalizer, map[string]any{"type": "NFC"}); nfc != want.nfc {
			t.Errorf("%s: normalizer %v", pre, d.Normalizer)
		}
		if d.Model.IgnoreMerges != want.ignore {
			t.Errorf("%s: ignore_merges %v", pre, d.Model.IgnoreMerges)
		}
		if d.Decoder["type"] != "ByteLevel" {
			t.Errorf("%s: decoder %v", pre, d.Decoder)
		}
	}
}

func TestTokenizerJSONOfRealModel(t *testing.T) {
	f, err := gguf.Open(modeltest.Path(t, models.StandIn), gguf.MMap)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b, err := jsonOf(f)
	d := parse(t, b, err)
	// Figures of the file, from the Python package gguf.
	if len(d.Model.Vocab) != 49152 || len(d.Model.Merges) != 48900 || len(d.AddedTokens) != 17 {
		t.Errorf("%d tokens, %d merges, %d added", len(d.Model.Vocab), len(d.Model.Merges), len(d.AddedTokens))
	}
	if d.Model.Vocab["ĠRust"] != 36828 || d.Model.Vocab["<|im_end|>"] != 2 || d.Model.Merges[8] != [2]string{"Ġt", "he"} {
		t.Errorf("ĠRust %d, <|im_end|> %d, merge 8 %q", d.Model.Vocab["ĠRust"], d.Model.Vocab["<|im_end|>"], d.Model.Merges[8])
	}
}
