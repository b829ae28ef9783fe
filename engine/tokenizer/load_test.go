package tokenizer

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/introgen/introgen/engine/gguf"
	"github.com/introgen/introgen/engine/gguf/gguftest"
	"github.com/introgen/introgen/models"
	"github.com/introgen/introgen/models/modeltest"
)

// New is Choose where it does not matter why auto is what it is.
func New(f *gguf.File, kind string) (Tokenizer, error) {
	c, err := Choose(f, kind)
	return c.Tokenizer, err
}

// untested adds a pre-tokenizer "untested" for a test, which cuts as GPT-2 does, and
// which no test holds to hf.
func untested(t *testing.T) {
	t.Helper()
	p := preTokenizers[0]
	p.names, p.equal = []string{"untested"}, false
	preTokenizers = append(preTokenizers, p)
	t.Cleanup(func() { preTokenizers = preTokenizers[:len(preTokenizers)-1] })
}

// smallKV is the metadata of a vocabulary of six tokens.
func smallKV() map[string]any {
	return map[string]any{
		keyModel:       "gpt2",
		keyPre:         "gpt-2",
		keyTokens:      []string{"a", "b", "c", "ab", "abc", "<s>"},
		keyTypes:       []int32{1, 1, 1, 1, 1, 3},
		keyMerges:      []string{"a b", "ab c"},
		keySpacePrefix: false,
	}
}

func openKV(t *testing.T, kv map[string]any) *gguf.File {
	t.Helper()
	file := gguftest.File{}
	for k, v := range kv {
		file.KV = append(file.KV, gguftest.KV{Key: k, Value: v})
	}
	f, err := gguf.Open(file.Write(t), gguf.MMap)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func TestNew(t *testing.T) {
	f := openKV(t, smallKV())
	k, err := New(f, "go")
	if err != nil {
		t.Fatal(err)
	}
	f.Close() // nothing refers to the file any more
	if k.Name() != "go" || k.VocabSize() != 6 {
		t.Errorf("name %q, %d tokens", k.Name(), k.VocabSize())
	}
	if ids, err := k.Encode("abc<s>abab"); err != nil || !slices.Equal(ids, []int32{4, 5, 3, 3}) {
		t.Errorf("ids %v, %v", ids, err)
	}
	if ids, err := k.Encode(""); err != nil || len(ids) != 0 {
		t.Errorf("ids of nothing: %v, %v", ids, err)
	}
	if text, err := k.Decode([]int32{5, 4, 0}); err != nil || text != "<s>abca" {
		t.Errorf("text %q, %v", text, err)
	}
}

func TestKinds(t *testing.T) {
	f := openKV(t, smallKV())
	auto, err := New(f, "auto")
	if err != nil {
		t.Fatal(err)
	}
	const want = "go"
	if HFBuiltIn() {
		if hf, err := New(f, "hf"); err != nil || hf.Name() != "hf" {
			t.Errorf("hf: %v, %v", hf, err)
		}
	} else if _, err := New(f, "hf"); err == nil || !strings.Contains(err.Error(), "not built into this program") {
		t.Errorf("hf: %v", err)
	}
	if auto.Name() != want {
		t.Errorf("auto is %s, want %s", auto.Name(), want)
	}
	for _, kind := range []string{"", "HF", "rust"} {
		if _, err := New(f, kind); err == nil || !strings.Contains(err.Error(), "one of auto, go and hf") {
			t.Errorf("kind %q: %v", kind, err)
		}
	}
}

func TestRefusedMetadata(t *testing.T) {
	for _, c := range []struct {
		key   string
		value any // nil: the key is missing
		want  string
	}{
		{keyModel, nil, "tokenizer.ggml.model is missing"},
		{keyModel, "bert", `is "bert"; only gpt2, byte-level BPE, and llama`},
		{keyModel, uint32(1), "must be a string"},
		{keyPre, "poro-chat", `is "poro-chat", which is not known; it is one of gpt-2, phi-2, exaone4, smollm, starcoder`},
		{keySpacePrefix, true, "is true"},
		{keySpacePrefix, "no", "must be a bool"},
		{keyTokens, nil, "tokenizer.ggml.tokens is missing"},
		{keyTokens, "a", "must be an array of strings"},
		{keyTokens, []int32{1}, "must be an array of strings"},
		{keyTokens, gguftest.Array{Elem: 8}, "is empty"},
		{keyTokens, []string{"a", "b"}, "has 6 elements and tokenizer.ggml.tokens has 2"},
		{keyTokens, []string{"a", "b", "c", "ab", "b", "<s>"}, `elements 1 and 4 are both "b"`},
		{keyTokens, []string{"a", "b", "c", "ab", "\xff", "<s>"}, "element 4"},
		{keyTokens, []string{"a", "b", "\xc3", "\xa9", "abc", "<s>"}, "element 2"}, // é in two halves
		{keyTypes, []uint32{1, 1, 1, 1, 1, 3}, "must be an array of I32"},
		{keyTypes, []int32{1, 1, 1, 1, 1}, "has 5 elements"},
		{keyTypes, []int32{1, 1, 7, 1, 1, 3}, "of token 2 is 7"},
		{keyTypes, []int32{1, 1, 1, 1, 0, 3}, "of token 4 is 0"},
		{keyMerges, nil, "tokenizer.ggml.merges is missing"},
		{keyMerges, []float32{1}, "must be an array of strings"},
		{keyMerges, []string{"a b", "abc"}, `element 1 is "abc"`},
		{keyMerges, []string{"a b", "ab c "}, `element 1 is "ab c "`},
		{keyMerges, []string{" ab", "ab c"}, `element 0 is " ab"`},
		{keyMerges, []string{"a b", "a  b"}, `element 1 is "a  b"`},
		{keyMerges, []string{"a b", ""}, `element 1 is ""`},
		{keyMerges, []string{"a b", "a b"}, `elements 0 and 1 are both "a b"`},
	} {
		kv := smallKV()
		kv[c.key] = c.value
		if c.value == nil {
			delete(kv, c.key)
		}
		f := openKV(t, kv)
		for _, build := range []func() error{
			func() error { _, err := New(f, "auto"); return err },
			func() error { _, err := jsonOf(f); return err },
		} {
			err := build()
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), f.Path) || !strings.Contains(err.Error(), c.key) {
				t.Errorf("%s = %v: %v; want an error with the path, the key and %q", c.key, c.value, err, c.want)
			}
		}
	}
}

// TestDefaults: a file without a pre-tokenizer's name is cut by llama.cpp's
// default, and one without types has control tokens where llama.cpp finds them by
// their texts; each is said, and so is a token that texts do not get.
func TestDefaults(t *testing.T) {
	with := func(change map[string]any) *gguf.File {
		kv := smallKV()
		kv[keyTokens] = []string{"'", "s", "1", "11", "<s>", "<|im_end|>", "'s", "<", "|", ">", "i", "m", "_", "e", "n", "d"}
		kv[keyTypes] = []int32{1, 1, 1, 1, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}
		kv[keyMerges] = []string{"1 1", "' s"}
		for k, v := range change {
			if kv[k] = v; v == nil {
				delete(kv, k)
			}
		}
		return openKV(t, kv)
	}
	for _, c := range []struct {
		change map[string]any
		text   string
		want   []int32
		said   []string
	}{
		// gpt-2 keeps 's in one word and 1111 in one; default cuts 's in two, and
		// digits by threes.
		{nil, "'s1111<s>", []int32{6, 3, 3, 4}, nil},
		{map[string]any{keyPre: "default"}, "'s1111<s>", []int32{0, 1, 3, 2, 2, 4}, nil},
		{map[string]any{keyPre: nil}, "'s1111<s>", []int32{0, 1, 3, 2, 2, 4}, []string{keyPre}},
		{map[string]any{keyPre: ""}, "'s1111<s>", []int32{0, 1, 3, 2, 2, 4}, []string{keyPre}},
		{map[string]any{keyTypes: nil}, "<s><|im_end|>", []int32{7, 1, 9, 5}, []string{keyTypes}},
		{map[string]any{keyAddBOS: true, keyAddEOS: false}, "1", []int32{2}, nil}, // Additions does it
		{map[string]any{keyAddEOS: true}, "1", []int32{2}, nil},
	} {
		f := with(c.change)
		for _, kind := range []string{"go", "auto"} {
			k, err := New(f, kind)
			if err != nil {
				t.Fatal(err)
			}
			if ids, err := k.Encode(c.text); err != nil || !slices.Equal(ids, c.want) {
				t.Errorf("%v, %s: %q is %v, %v; want %v", c.change, k.Name(), c.text, ids, err, c.want)
			}
		}
		lines, err := Assumed(f)
		if err != nil || len(lines) != len(c.said) {
			t.Errorf("%v: said %q, %v; want of %q", c.change, lines, err, c.said)
			continue
		}
		for i, key := range c.said {
			if !strings.Contains(lines[i], "metadata "+key+" is ") {
				t.Errorf("%v: said %q, want of %s", c.change, lines[i], key)
			}
		}
	}
	if _, err := ReadAdditions(with(map[string]any{keyAddBOS: uint32(1)})); err == nil || !strings.Contains(err.Error(), keyAddBOS) {
		t.Errorf("add_bos_token as a number: %v", err)
	}
}

// TestAutoFallsBack: where no test holds go to hf, auto is hf; a merge of what are no
// tokens is never used by go, and refused by hf: auto is go then, and says what hf has
// against it.
func TestAutoFallsBack(t *testing.T) {
	untested(t)
	kv := smallKV()
	kv[keyPre] = "untested"
	kv[keyMerges] = []string{"a b", "ab c", "zz qq"}
	f := openKV(t, kv)
	c, err := Choose(f, "auto")
	if err != nil || c.Tokenizer.Name() != "go" || (c.Declined != nil) != HFBuiltIn() {
		t.Fatalf("auto is %v, %v; hf declined: %v", c.Tokenizer, err, c.Declined)
	}
	if ids, err := c.Tokenizer.Encode("abc"); err != nil || !slices.Equal(ids, []int32{4}) {
		t.Errorf("ids %v, %v", ids, err)
	}
	if _, err := New(f, "hf"); err == nil {
		t.Error("hf, asked for by its name, takes what it does not take")
	}
	if !HFBuiltIn() {
		if c.Why != "hf is not built in" {
			t.Errorf("auto is go since %s", c.Why)
		}
		return
	}
	if !strings.Contains(c.Declined.Error(), "does not take the vocabulary") || c.Why != "hf does not take the vocabulary" {
		t.Errorf("declined: %v; since %s", c.Declined, c.Why)
	}
	kv[keyMerges] = smallKV()[keyMerges]
	c, err = Choose(openKV(t, kv), "auto")
	if err != nil || c.Declined != nil || c.Why != "no test holds the ids of go equal to its for untested" {
		t.Fatalf("auto is %v, %v, since %s", c, err, c.Why)
	}
	if k := c.Tokenizer; k.Name() != "hf" || Go(k).Name() != "go" || Go(Go(k)).Name() != "go" {
		t.Errorf("auto is %v", k)
	}
}

// TestAutoIsGo: where tests hold go to hf, auto is go and says so, by whatever of its
// names the file calls the pre-tokenizer; a tokenizer that was asked for by its name
// has no reason.
func TestAutoIsGo(t *testing.T) {
	for pre, named := range map[string]string{"gpt-2": "gpt-2", "smollm": "smollm", "llama-v3": "llama-v3", "qwen2": "qwen2", "": "default"} {
		kv := smallKV()
		kv[keyPre] = pre
		f := openKV(t, kv)
		c, err := Choose(f, "auto")
		if err != nil || c.Tokenizer.Name() != "go" || c.Declined != nil || c.Why != "tests hold its ids equal to hf's for "+named {
			t.Errorf("%q: auto is %v, %v, since %q", pre, c.Tokenizer, err, c.Why)
		}
		if c, err := Choose(f, "go"); err != nil || c.Why != "" {
			t.Errorf("%q: go is %v, %v, since %q", pre, c.Tokenizer, err, c.Why)
		}
	}
}

// TestPart: a part of a split file says so, whichever part it is.
func TestPart(t *testing.T) {
	for _, kind := range []string{"go", "auto"} {
		f := openKV(t, map[string]any{"split.no": uint16(1), "split.count": uint16(2)})
		if _, err := New(f, kind); err == nil || !strings.Contains(err.Error(), "is part 2 of 2 of a split file") {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

// TestFillers: several empty tokens are no error, and never come out.
func TestFillers(t *testing.T) {
	kv := smallKV()
	kv[keyTokens] = []string{"a", "b", "", "ab", "", "<s>"}
	k, err := New(openKV(t, kv), "go")
	if err != nil {
		t.Fatal(err)
	}
	if ids, err := k.Encode("ab"); err != nil || !slices.Equal(ids, []int32{3}) {
		t.Errorf("ids %v, %v", ids, err)
	}
	if text, err := k.Decode([]int32{2, 3, 4}); err != nil || text != "ab" {
		t.Errorf("text %q, %v", text, err)
	}
}

// TestShrunkFile: a file that was cut off after it was opened is an error, not
// a crash.
func TestShrunkFile(t *testing.T) {
	kv := smallKV()
	kv["padding"] = strings.Repeat("x", 1<<20) // the map's order is random: pages before or behind
	f := openKV(t, kv)
	if err := os.Truncate(f.Path, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := New(f, "go"); err == nil {
		t.Error("a file without its pages makes a tokenizer")
	}
}

func TestRealModel(t *testing.T) {
	for _, name := range []string{models.StandIn, models.Source} {
		f, err := gguf.Open(modeltest.Path(t, name), gguf.MMap)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		for _, kind := range []string{"go", "auto"} {
			k, err := New(f, kind)
			if err != nil {
				t.Fatal(err)
			}
			ids, err := k.Encode(prompt)
			if want := []int32{1, 4093, 198, 1780, 314, 36828, 47, 2, 198, 1, 520, 9531, 198}; err != nil || !slices.Equal(ids, want) {
				t.Errorf("%s, %s: prompt is %v, %v; want %v", name, kind, ids, err, want)
			}
			text, err := k.Decode([]int32{66, 467, 314, 253, 2148, 28, 904, 29, 4638, 28, 2091, 947, 30473, 28, 284, 29444, 30473, 6256, 1789, 2452, 411})
			if want := "Rust is a modern, high-level, statically typed, and dynamically typed programming language developed by"; err != nil || text != want {
				t.Errorf("%s, %s: text is %q, %v; want %q", name, kind, text, err, want)
			}
			if n := k.VocabSize(); n != 49152 {
				t.Errorf("%s, %s: %d tokens, want 49152", name, kind, n)
			}
		}
	}
}

func TestRefusedText(t *testing.T) {
	k := realEncoder(t, "smollm")
	for _, c := range []struct{ text, want string }{
		{"\xff", "not UTF-8: byte 0xff at offset 0"},
		{"é\xc3", "not UTF-8: byte 0xc3 at offset 2"},
		{"ok � \xed\xa0\x80", "not UTF-8: byte 0xed at offset 7"},
		{"<|im_start|>\xf0\x9f\x98", "not UTF-8: byte 0xf0 at offset 12"},
		{"\x04", "byte 0x04 at offset 0, for which the vocabulary has no token"},
		{"12<|im_end|> a\x1d", "byte 0x1d at offset 14,"},
		{"é \U00050000", "byte 0xf1 at offset 3,"},
	} {
		if _, err := k.Encode(c.text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Encode(%q): %v; want an error with %q", c.text, err, c.want)
		}
	}
	for _, c := range []struct {
		ids  []int32
		want string
	}{
		{[]int32{49152}, "element 0: token id 49152 is outside the vocabulary of 49152 tokens"},
		{[]int32{0, -1}, "element 1: token id -1 is outside"},
	} {
		if _, err := k.Decode(c.ids); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Decode(%v): %v; want an error with %q", c.ids, err, c.want)
		}
	}
	// What only the tokenizer in Go takes.
	ids, err := k.Encode("a\x00b")
	if text, err2 := k.Decode(ids); err != nil || err2 != nil || text != "a\x00b" {
		t.Errorf("NUL: %v, %v, %q, %v", ids, err, text, err2)
	}
}
