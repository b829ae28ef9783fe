package tokenizer

import (
	"strings"
	"testing"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// The expected forms are those of Python's unicodedata, and in the last group
// of HuggingFace's NFC, whose Unicode 9 does not know the marks.
func TestNFC(t *testing.T) {
	manyMarks := strings.Repeat("\u0301", 40)
	for in, want := range map[string]string{
		"":                         "",
		"plain":                    "plain",
		"e\u0301":                  "\u00e9",
		"\u212b":                   "\u00c5",
		"a\u0307\u0323":            "\u1ea1\u0307",
		"a\u0323\u0307":            "\u1ea1\u0307",
		"\u1e9b\u0323":             "\u1e9b\u0323",
		"\u0958":                   "\u0915\u093c",
		"\u1100\u1161\u11a8":       "\uac01",
		"\uac00\u11a8":             "\uac01",
		"\u1100\u1161\u0301\u11a8": "\uac00\u0301\u11a8",
		"\u09c7\u09be":             "\u09cb",
		"\u0344":                   "\u0308\u0301",
		"\U0001d15e":               "\U0001d157\U0001d165",
		"\U000110a5\U000110ba":     "\U000110ab",
		"\u0301e\u0301":            "\u0301\u00e9",
		"e" + manyMarks:            "\u00e9" + manyMarks[2:],

		"e\u0301a\u0301\u09fe\u0323":  "\u00e9\u00e1\u09fe\u0323",
		"e\u09fe\u0301":               "e\u09fe\u0301",
		"\U00011935\U00011930e\u0301": "\U00011935\U00011930\u00e9",
	} {
		if got := nfc(in); got != want {
			t.Errorf("%+q: got %+q, want %+q", in, got, want)
		}
	}
}

// TestNFCOfAll compares with golang.org/x/text where the versions agree: for
// single code points, decomposed and whole, and pairs of them with marks.
func TestNFCOfAll(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		s := string(r)
		p := norm.NFC.PropertiesString(s)
		if r >= 0xD800 && r < 0xE000 || contains(newInNFC, r) || p.CCC() == 0 && p.Decomposition() == nil && r%61 != 0 {
			continue // of those that nothing happens to, some
		}
		for _, in := range []string{norm.NFD.String(s), s + "\u0323\u0301", "\u1100" + s + "\u11a8", "\u09c7" + s} {
			if got, want := nfc(in), norm.NFC.String(in); got != want {
				t.Errorf("%+q: got %+q, want %+q", in, got, want)
			}
		}
	}
}
