package tokenizer

import (
	"slices"
	"strings"
	"testing"
)

func TestSpecials(t *testing.T) {
	for _, c := range []struct {
		special    []string
		text, want string
	}{
		{[]string{"<s>"}, "a<s>b", "a <s> b"},
		{[]string{"<s>"}, "<s><s>", "<s> <s>"},
		{[]string{"<s>"}, "<<s>><s", "< <s> > < s"},
		{[]string{"<s>", "<s>>"}, "<s>><s>", "<s>> <s>"},
		{[]string{"ab", "abcd", "bcdef"}, "abcdef", "abcd e f"},        // leftmost before longest
		{[]string{"ab", "abcd"}, "abc", "ab c"},                        // the longer one is not whole
		{[]string{"ж", "жж"}, "жжж!", "жж ж !"},                        // beyond ASCII
		{[]string{"a b"}, "xa bx", "x a b x"},                          // with a space inside
		{[]string{"", "xx"}, "axxb", "a xx b"},                         // an empty one is never found
		{[]string{"aa", "aaaa"}, "aaaaaaa", "aaaa aa a"},               // of itself
		{[]string{"<|im_start|>", "<|im_end|>"}, "<|im_", "< | i m _"}, // a beginning only
		{[]string{"<|a|>", "<|b|>", "<|ab|>"}, "<|ab|><|b|>", "<|ab|> <|b|>"},
	} {
		e := smallEncoder(t, small("gpt-2", nil, c.special...))
		ids, err := e.Encode(c.text)
		if got := spell(e, ids); err != nil || got != c.want {
			t.Errorf("special %q in %q: got %q, %v; want %q", c.special, c.text, got, err, c.want)
		}
		if got, err := e.Decode(ids); err != nil || got != c.text {
			t.Errorf("Decode(%v) = %q, %v; want %q", ids, got, err, c.text)
		}
	}
}

// TestSpecialTypes: types 3 and 4 are found in text, no others.
func TestSpecialTypes(t *testing.T) {
	for typ, want := range map[int32]bool{1: false, 2: false, 3: true, 4: true, 5: false, 6: false} {
		s := small("gpt-2", nil, "<s>")
		s.specIDs, s.types[256] = nil, typ
		if err := s.check(); err != nil {
			t.Fatal(err)
		}
		ids, err := smallEncoder(t, s).Encode("<s>")
		if got := len(ids) == 1; err != nil || got != want {
			t.Errorf("type %d: ids %v, %v", typ, ids, err)
		}
	}
}

func TestSpecialTooLong(t *testing.T) {
	_, err := newEncoder(small("gpt-2", nil, strings.Repeat("x", 257)))
	if err == nil || !strings.Contains(err.Error(), "special token 256 has 257 bytes; at most 256") {
		t.Error(err)
	}
}

// TestTakenMarks: as llama.cpp overrides types (load in src/llama-vocab.cpp), a token
// that ends a turn is found in texts though its type is ordinary; </s>, which
// HuggingFace's library would not find either, is not, nor what no list has.
func TestTakenMarks(t *testing.T) {
	for text, want := range map[string]bool{
		"<|im_end|>": true, "<|endoftext|>": true, "<end_of_turn>": true, "<｜end▁of▁sentence｜>": true,
		"</s>": false, "<|im_start|>": false, "[EOS]": false,
	} {
		for _, typ := range []int32{typeNormal, typeUnused} {
			s := small("gpt-2", nil, text)
			s.specIDs, s.types[256] = nil, typ
			if err := s.check(); err != nil {
				t.Fatal(err)
			}
			ids, err := smallEncoder(t, s).Encode("a" + text)
			if got := len(ids) == 2 && ids[1] == 256; err != nil || got != want || slices.Equal(s.taken, []string{text}) != want {
				t.Errorf("%s of type %d: ids %v, %v, taken %q", text, typ, ids, err, s.taken)
			}
		}
	}
}
