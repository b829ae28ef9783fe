package tokenizer

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"
)

// smallSPM is the metadata of a vocabulary whose ids are easily told by hand.
func smallSPM() map[string]any {
	return map[string]any{
		keyModel:  "llama",
		keyTokens: []string{"<unk>", "<s>", "</s>", "<0xC3>", "<0xA9>", "\u2581", "a", "b", "\u2581a", "ab", "<ud>"},
		keyScores: []float32{0, 0, 0, 0, 0, -1, -2, -3, -5, -4, 0},
		keyTypes:  []int32{2, 3, 3, 6, 6, 1, 1, 1, 1, 1, 4},
	}
}

// TestSPM: ids by hand. "ab" has a better score than "▁a", so it is merged first.
func TestSPM(t *testing.T) {
	for _, c := range []struct {
		change map[string]any
		text   string
		want   []int32
		back   string
	}{
		{nil, "ab", []int32{5, 9}, "ab"},
		{nil, "a b", []int32{8, 5, 7}, "a b"},
		{nil, " a", []int32{5, 8}, " a"},
		{nil, "", nil, ""},
		{nil, "é", []int32{5, 3, 4}, "é"},
		{nil, "xyz\u00e9xx", []int32{5, 0, 3, 4, 0}, " \u2047 é \u2047 "}, // neighbours share an unknown token
		{nil, "a</s>b", []int32{8, 2, 5, 7}, "a</s>b"},                    // what is behind a control token is a text of its own
		{nil, "a<ud>b", []int32{8, 10, 7}, "a<ud>b"},                      // what is behind a user-defined one is not
		{nil, "<ud>", []int32{5, 10}, "<ud>"},                             // found behind the space
		{map[string]any{keySpacePrefix: false}, "a<ud> a", []int32{6, 10, 8}, "a<ud> a"},
		{map[string]any{keySpacePrefix: false}, "ab", []int32{9}, "ab"},
		{map[string]any{keySpacePrefix: false}, " a", []int32{8}, " a"},
		{map[string]any{keySingle: true}, "  a   b ", []int32{8, 5, 7}, "a b"},
		{map[string]any{keyName: "Phi-3 mini"}, "a</s> \n b", []int32{8, 2, 5, 7}, "a</s>b"},
		{map[string]any{keyName: "Phi-3 mini"}, "<s> b", []int32{1, 5, 5, 7}, "<s> b"},
		{map[string]any{keyScores: []int32{0, 0, 0, 0, 0, -1, -2, -3, -4, -5, 0}}, "ab", []int32{8, 7}, "ab"},
		{map[string]any{keyScores: []float32{0, 0, 0, 0, 0, -1, -2, -3, -4, -4, 0}}, "ab", []int32{8, 7}, "ab"}, // of equals the leftmost
		{map[string]any{keyScores: []float32{0, 0, 0, 0, 0, 0, 0, 0, float32(math.Copysign(0, -1)), 0, 0}}, "ab", []int32{8, 7}, "ab"},
		{map[string]any{keyScores: []float32{0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 0}}, "ab", []int32{5, 9}, "ab"},
		{map[string]any{keyScores: []float32{0, 0, 0, 0, 0, 0, 0, 0, float32(math.Inf(-1)), float32(math.Inf(1)), 0}}, "ab", []int32{5, 9}, "ab"},
		{map[string]any{keyTypes: []int32{2, 3, 3, 6, 6, 1, 1, 1, 1, 5, 4}}, "ab", []int32{5, 6, 7}, "ab"}, // merged, and taken apart again
		{map[string]any{keyTypes: nil}, "é<0xA9>", []int32{5, 3, 4, 0, 6, 0}, ""},
		{map[string]any{keyUnknown: uint32(6)}, "xb", []int32{5, 6, 7}, "ab"},
	} {
		kv := smallSPM()
		for k, v := range c.change {
			if kv[k] = v; v == nil {
				delete(kv, k)
			}
		}
		k, err := New(openKV(t, kv), "go")
		if err != nil {
			t.Fatalf("%v: %v", c.change, err)
		}
		if kv[keyTypes] == nil { // without types there is no unknown token, and "<0xA9>" is no text of one
			if _, err := k.Encode("x"); err == nil || !strings.Contains(err.Error(), `"x" has byte 0x78, for which the vocabulary has no token`) {
				t.Errorf("without types: %v", err)
			}
			if ids, err := k.Encode("é"); err != nil || !slices.Equal(ids, []int32{5, 3, 4}) {
				t.Errorf("without types: %v, %v", ids, err)
			}
			continue
		}
		ids, err := k.Encode(c.text)
		if err != nil || !slices.Equal(ids, c.want) {
			t.Errorf("%v: %q is %v, %v; want %v", c.change, c.text, ids, err, c.want)
		}
		if back, err := k.Decode(c.want); err != nil || back != c.back {
			t.Errorf("%v: %v is %q, %v; want %q", c.change, c.want, back, err, c.back)
		}
	}
}

// TestSPMDecode: the bytes that are part of no character become U+FFFD, one each, as
// SentencePiece has it, and pieces are whole.
func TestSPMDecode(t *testing.T) {
	k, err := New(openKV(t, smallSPM()), "go")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		ids  []int32
		want string
	}{
		{[]int32{3, 4}, "é"}, {[]int32{3}, "\ufffd"}, {[]int32{4, 3, 3, 4}, "\ufffd\ufffdé"}, {[]int32{3, 6, 4}, "\ufffda\ufffd"},
		{[]int32{5, 5, 6}, " a"}, {[]int32{1, 8, 8}, "<s>a a"}, {[]int32{3, 4, 8}, "é a"}, {nil, ""},
	} {
		if got, err := k.Decode(c.ids); err != nil || got != c.want {
			t.Errorf("%v is %q, %v; want %q", c.ids, got, err, c.want)
		}
	}
	for id, want := range map[int32]string{0: " \u2047 ", 1: "<s>", 3: "\xc3", 5: " ", 8: " a", 10: "<ud>"} {
		if got, err := k.Piece(id); err != nil || string(got) != want {
			t.Errorf("piece %d is %q, %v; want %q", id, got, err, want)
		}
	}
	// Of a text, pieces add up to it.
	pieces, err := k.Pieces([]int32{8, 3, 4, 2, 8, 10})
	if got := string(bytes.Join(pieces, []byte("|"))); err != nil || got != "a|\xc3|\xa9|</s>|a|<ud>" {
		t.Errorf("pieces %q, %v", got, err)
	}
	for _, id := range []int32{-1, 11, math.MaxInt32, math.MinInt32} {
		if _, err := k.Decode([]int32{1, id}); err == nil || !strings.Contains(err.Error(), "element 1") {
			t.Errorf("id %d: %v", id, err)
		}
		if _, err := k.Piece(id); err == nil || !strings.Contains(err.Error(), "outside the vocabulary of 11 tokens") {
			t.Errorf("piece %d: %v", id, err)
		}
	}
}

func TestRefusedSPM(t *testing.T) {
	nan := float32(math.NaN())
	for _, c := range []struct {
		key   string
		value any // nil: the key is missing
		want  string
	}{
		{keyScores, nil, "is missing"},
		{keyScores, []float32{0, 1}, "has 2 elements and tokenizer.ggml.tokens has 11"},
		{keyScores, make([]float32, 12), "has 12 elements"},
		{keyScores, []float32{0, 0, 0, 0, 0, -1, nan, -3, -5, -4, 0}, "of token 6 is not a number"},
		{keyScores, []string{"a"}, "must be an array of F32 or I32"},
		{keyTokens, []string{"<unk>", "<s>", "</s>", "<0xC3>", "<0xA9>", "\u2581", "a", "a", "\u2581a", "ab", "<ud>"}, `elements 6 and 7 are both "a"`},
		{keyTokens, []string{"<unk>", "<s>", "</s>", "<0xc3>", "<0xA9>", "\u2581", "a", "b", "\u2581a", "ab", "<ud>"}, `token 3, of type 6 (a byte), is "<0xc3>"`},
		{keyTokens, []string{"<unk>", "<s>", "</s>", "", "<0xA9>", "\u2581", "a", "b", "\u2581a", "ab", "<ud>"}, `is ""; it must be one of <0x00> to <0xFF>`},
		{keyTokens, []string{"<unk>", "<s>", "</s>", "<0xC3>", "<0xA9>", "\xff", "a", "b", "\u2581a", "ab", "<ud>"}, "element 5"},
		{keyTypes, []int32{1}, "has 1 elements"},
		{keyTypes, []int32{2, 3, 3, 6, 6, 1, 1, 1, 1, 1, 9}, "of token 10 is 9"},
		{keyUnknown, uint32(11), "is 11; the vocabulary has the tokens 0 to 10"},
		{keyUnknown, "x", "must be"},
		{keySpacePrefix, uint32(1), "must be a bool"},
		{keySingle, "yes", "must be a bool"},
		{keyCharsmap, []uint8{1, 2, 3, 4, 5}, "normalized by a table"},
	} {
		kv := smallSPM()
		kv[c.key] = c.value
		if c.value == nil {
			delete(kv, c.key)
		}
		f := openKV(t, kv)
		_, err := New(f, "auto")
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), f.Path) || !strings.Contains(err.Error(), c.key) {
			t.Errorf("%s = %v: %v; want an error with the path, the key and %q", c.key, c.value, err, c.want)
		}
	}
}

// TestSPMAuto: auto is go for SPM, and says why.
func TestSPMAuto(t *testing.T) {
	c, err := Choose(openKV(t, smallSPM()), "auto")
	if err != nil || c.Tokenizer.Name() != "go" || !strings.Contains(c.Why, "SentencePiece") || c.Declined != nil {
		t.Errorf("%+v, %v", c, err)
	}
	if c.Tokenizer.VocabSize() != 11 || Go(c.Tokenizer) != c.Tokenizer {
		t.Errorf("%d tokens", c.Tokenizer.VocabSize())
	}
	if _, err := c.Tokenizer.Encode("a\xffb"); err == nil || !strings.Contains(err.Error(), "byte 0xff at offset 1") {
		t.Error(err)
	}
}
