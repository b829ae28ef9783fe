package tokenizer

import (
	"slices"
	"strings"
	"testing"
)

// wordsOf are texts cut into words by the pre-tokenizers of the Python package
// tokenizers 0.21.0; default by a Sequence of a Split, behavior isolated, for each
// of the four patterns that llama.cpp's src/llama-vocab.cpp has.
var wordsOf = map[string][][]string{
	"gpt-2": {
		{"Hello", " world"},
		{" ", " two", " ", " spaces"},
		{"tab", "\t", "and", "\t", "tab"},
		{"it", "'s", " I", "'", "LL", " they", "'ve", " o", "'", "clock"},
		{"'s", "un", " '", "S", "'", "\u017fx"},
		{"a", "1", "b", "22", " 333", " 4444"},
		{"x", " ", " =", " 10", ";", "\n\n", "\t", "if", " (", "y", ")", " {", "\r\n"},
		{"\n\n  \n", " x"},
		{"end", "  "},
		{"end", " \n"},
		{"don", "\u2019", "t", " \u00bf", "qu\u00e9", "?"},
		{"\u65e5\u672c\u8a9e", "123", "\u30c6\u30b9\u30c8"},
		{"\u00bd", " \u2167", " \u00b2"},
		{"a", "\u00a0", "b", "\u3000", " c"},
		{"!!!", "\n", "\n", "?"},
		{"..", "word", " _", "x"},
		{"e", "\u0301", "a", "\u0301"},
		{"👍🏽", " ok"},
		{"'"},
		{"''", "s"},
		{" '", "s"},
		{"1", " 2"},
		{"\u200b", "x"},
		{" 12"},
		{"  ", " 7"},
		{"a", "\r\n\r", "\n", "b"},
	},
	"smollm": {
		{"Hello", " world"},
		{" ", " two", " ", " spaces"},
		{"tab", "\t", "and", "\t", "tab"},
		{"it", "'s", " I", "'", "LL", " they", "'ve", " o", "'", "clock"},
		{"'s", "un", " '", "S", "'", "\u017fx"},
		{"a", "1", "b", "2", "2", " ", "3", "3", "3", " ", "4", "4", "4", "4"},
		{"x", " ", " =", " ", "1", "0", ";", "\n\n", "\t", "if", " (", "y", ")", " {", "\r\n"},
		{"\n\n  \n", " x"},
		{"end", "  "},
		{"end", " \n"},
		{"don", "\u2019", "t", " \u00bf", "qu\u00e9", "?"},
		{"\u65e5\u672c\u8a9e", "1", "2", "3", "\u30c6\u30b9\u30c8"},
		{"\u00bd", " ", "\u2167", " ", "\u00b2"},
		{"a", "\u00a0", "b", "\u3000", " c"},
		{"!!!", "\n", "\n", "?"},
		{"..", "word", " _", "x"},
		{"e", "\u0301", "a", "\u0301"},
		{"👍🏽", " ok"},
		{"'"},
		{"''", "s"},
		{" '", "s"},
		{"1", " ", "2"},
		{"\u200b", "x"},
		{" ", "1", "2"},
		{"   ", "7"},
		{"a", "\r\n\r", "\n", "b"},
	},
	"llama-bpe": {
		{"Hello", " world"},
		{" ", " two", " ", " spaces"},
		{"tab", "\tand", "\ttab"},
		{"it", "'s", " I", "'LL", " they", "'ve", " o", "'clock"},
		{"'s", "un", " '", "S", "'\u017f", "x"},
		{"a", "1", "b", "22", " ", "333", " ", "444", "4"},
		{"x", " ", " =", " ", "10", ";\n\n", "\tif", " (", "y", ")", " {\r\n"},
		{"\n\n  \n", " x"},
		{"end", "  "},
		{"end", " \n"},
		{"don", "\u2019t", " \u00bf", "qu\u00e9", "?"},
		{"\u65e5\u672c\u8a9e", "123", "\u30c6\u30b9\u30c8"},
		{"\u00bd", " ", "\u2167", " ", "\u00b2"},
		{"a", "\u00a0b", "\u3000", " c"},
		{"!!!\n\n", "?"},
		{"..", "word", " _", "x"},
		{"e", "\u0301a", "\u0301"},
		{"👍🏽", " ok"},
		{"'"},
		{"''", "s"},
		{" '", "s"},
		{"1", " ", "2"},
		{"\u200bx"},
		{" ", "12"},
		{"  ", " ", "7"},
		{"a", "\r\n\r\n", "b"},
	},
	"qwen2": {
		{"Hello", " world"},
		{" ", " two", " ", " spaces"},
		{"tab", "\tand", "\ttab"},
		{"it", "'s", " I", "'LL", " they", "'ve", " o", "'clock"},
		{"'s", "un", " '", "S", "'\u017f", "x"},
		{"a", "1", "b", "2", "2", " ", "3", "3", "3", " ", "4", "4", "4", "4"},
		{"x", " ", " =", " ", "1", "0", ";\n\n", "\tif", " (", "y", ")", " {\r\n"},
		{"\n\n  \n", " x"},
		{"end", "  "},
		{"end", " \n"},
		{"don", "\u2019t", " \u00bf", "qu\u00e9", "?"},
		{"\u65e5\u672c\u8a9e", "1", "2", "3", "\u30c6\u30b9\u30c8"},
		{"\u00bd", " ", "\u2167", " ", "\u00b2"},
		{"a", "\u00a0b", "\u3000", " c"},
		{"!!!\n\n", "?"},
		{"..", "word", " _", "x"},
		{"e", "\u0301a", "\u0301"},
		{"👍🏽", " ok"},
		{"'"},
		{"''", "s"},
		{" '", "s"},
		{"1", " ", "2"},
		{"\u200bx"},
		{" ", "1", "2"},
		{"  ", " ", "7"},
		{"a", "\r\n\r\n", "b"},
	},
	"default": {
		{"Hello", " world"},
		{" ", " two", " ", " spaces"},
		{"tab", "\t", "and", "\t", "tab"},
		{"it", "'", "s", " I", "'", "LL", " they", "'", "ve", " o", "'", "clock"},
		{"'", "sun", " ", "'", "S", "'", "\u017fx"},
		{"a", "1", "b", "22", " ", "333", " ", "444", "4"},
		{"x", "  ", "=", " ", "10", ";", "\n\n", "\t", "if", " ", "(", "y", ")", " ", "{", "\r\n"},
		{"\n\n  \n", " x"},
		{"end", "  "},
		{"end", " \n"},
		{"don", "\u2019", "t", " ", "\u00bf", "qu\u00e9", "?"},
		{"\u65e5\u672c\u8a9e", "123", "\u30c6\u30b9\u30c8"},
		{"\u00bd", " ", "\u2167", " ", "\u00b2"},
		{"a", "\u00a0", "b", "\u3000", " c"},
		{"!!!", "\n\n", "?"},
		{"..", "word", " ", "_", "x"},
		{"e", "\u0301", "a", "\u0301"},
		{"👍🏽", " ok"},
		{"'"},
		{"''", "s"},
		{" ", "'", "s"},
		{"1", " ", "2"},
		{"\u200b", "x"},
		{" ", "12"},
		{"  ", " ", "7"},
		{"a", "\r\n\r", "\n", "b"},
		{"don", "'", "t", "!", " stop"},
		{"a", "+", "b", "=", "c", " ", "<", "x", ">", " ", "10", "^", "6", "~|"},
		{"$", "123", "456", "78", " and", " ", "123", "456", "7"},
		{"\u0661\u0662\u0663", "123", "45", " ", "\u0967\u0968"},
		{"(", "a", ")", " ", "[", "b", "]", " ", "{", "c", "}..."},
		{"\u00a3", "100", " \u20ac", "200", "0", ".", "50"},
		{"x", "  ", "!!", " ", " y"},
		{"'", "s", " ", "'", "re"},
		{"hello", " ", "!", "\n\n", "?"},
		{"100", ",", "000", ".", "00", "%"},
	},
}

func TestWords(t *testing.T) {
	for pre, texts := range wordsOf {
		p, err := findPreTokenizer(pre)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range texts {
			text := strings.Join(want, "")
			if got := slices.Collect(p.words(text)); !slices.Equal(got, want) {
				t.Errorf("%s %q: got %q, want %q", pre, text, got, want)
			}
			for range p.words(text) {
				break // stopping early must not panic
			}
		}
	}
}

func TestWordsOfNothing(t *testing.T) {
	for _, p := range preTokenizers {
		if got := slices.Collect(p.words("")); got != nil {
			t.Errorf("%s: %q", p.names[0], got)
		}
	}
}
