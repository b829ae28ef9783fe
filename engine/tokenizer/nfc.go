package tokenizer

import (
	"slices"
	"sync"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// nfc returns text in Normalization Form C of Unicode 9, which is what
// HuggingFace's library has and so what models saw. golang.org/x/text does most
// of it, but its tables are newer, and it puts U+034F into text with more than
// 30 combining marks in a row; so its tables are used, not its algorithm
// (Unicode chapter 3.11, D108 to D117).
func nfc(text string) string {
	if norm.NFC.IsNormalString(text) {
		return text // no form becomes less normal in a later version
	}
	return string(compose(order(decompose(text))))
}

// combining is a code point and its Canonical_Combining_Class.
type combining struct {
	r     rune
	class uint8
}

// decompose returns the full canonical decomposition, in which Hangul syllables
// stay whole: they would only be composed again.
func decompose(text string) []combining {
	out := make([]combining, 0, len(text))
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		p := norm.NFC.PropertiesString(text[i:])
		i += n
		switch d := p.Decomposition(); {
		case contains(newInNFC, r):
			out = append(out, combining{r, 0})
		case d == nil:
			out = append(out, combining{r, p.CCC()})
		default:
			for len(d) > 0 {
				r, n := utf8.DecodeRune(d)
				out = append(out, combining{r, norm.NFC.Properties(d).CCC()})
				d = d[n:]
			}
		}
	}
	return out
}

// order sorts each run of combining marks by class, and returns s.
func order(s []combining) []combining {
	for i := 0; i < len(s); {
		n := i
		for n < len(s) && s[n].class != 0 {
			n++
		}
		slices.SortStableFunc(s[i:n], func(a, b combining) int { return int(a.class) - int(b.class) })
		i = max(n, i+1)
	}
	return s
}

// compose joins each starter with what follows it, unless something between
// them blocks that.
func compose(s []combining) []rune {
	out := make([]rune, 0, len(s))
	starter := -1       // index in out
	between := uint8(0) // class of the last mark kept since the starter, 0 if none
	for _, c := range s {
		blocked := between != 0 && between >= c.class
		if starter >= 0 && !blocked {
			if r, ok := composePair(out[starter], c.r); ok {
				out[starter] = r
				continue
			}
		}
		if c.class == 0 {
			starter = len(out)
		}
		between = c.class
		out = append(out, c.r)
	}
	return out
}

// Hangul syllables are composed by arithmetic (Unicode chapter 3.12).
const (
	hangulL, hangulLs = 0x1100, 19 // leading consonants
	hangulV, hangulVs = 0x1161, 21 // vowels
	hangulT, hangulTs = 0x11A7, 28 // trailing consonants, the first of which is none
	hangulS           = 0xAC00     // syllables
)

// composePair returns the code point that is composed of two.
func composePair(a, b rune) (rune, bool) {
	if l, v := a-hangulL, b-hangulV; l >= 0 && l < hangulLs && v >= 0 && v < hangulVs {
		return hangulS + (l*hangulVs+v)*hangulTs, true
	}
	if s, t := a-hangulS, b-hangulT; s >= 0 && s < hangulLs*hangulVs*hangulTs && s%hangulTs == 0 && t > 0 && t < hangulTs {
		return a + t, true
	}
	r, ok := composites()[[2]rune{a, b}]
	return r, ok
}

// composites are the compositions of pairs. The tables of golang.org/x/text
// give full decompositions only; the first of the pair is what all but the last
// character compose to.
var composites = sync.OnceValue(func() map[[2]rune]rune {
	const last = 0x1FFFF // what lies above decomposes to single characters
	pairs := map[[2]rune]rune{}
	for r := rune(0); r <= last; r++ {
		s := string(r)
		d := norm.NFC.PropertiesString(s).Decomposition()
		if d == nil || contains(newInNFC, r) || !norm.NFC.IsNormalString(s) {
			continue
		}
		second, n := utf8.DecodeLastRune(d)
		first, _ := utf8.DecodeRune(norm.NFC.Bytes(d[:len(d)-n]))
		pairs[[2]rune{first, second}] = r
	}
	return pairs
})

// newInNFC holds the code points that have a combining class or take part in a
// composition since one of Unicode 10 to 16. Written by scripts/reference/unicode_nfc.py.
var newInNFC = []runeRange{
	{0x7fd, 0x7fd}, {0x897, 0x89f}, {0x8ca, 0x8d3}, {0x9fe, 0x9fe}, {0xc3c, 0xc3c}, {0xd3b, 0xd3c}, {0xeba, 0xeba}, {0x1715, 0x1715},
	{0x1abf, 0x1ace}, {0x1df6, 0x1dfa}, {0xa82c, 0xa82c}, {0x105c9, 0x105c9}, {0x105d2, 0x105d2}, {0x105da, 0x105da}, {0x105e4, 0x105e4}, {0x10d24, 0x10d27},
	{0x10d69, 0x10d6d}, {0x10eab, 0x10eac}, {0x10efd, 0x10eff}, {0x10f46, 0x10f50}, {0x10f82, 0x10f85}, {0x11070, 0x11070}, {0x1133b, 0x1133b}, {0x11382, 0x11385},
	{0x1138b, 0x1138b}, {0x1138e, 0x1138e}, {0x11390, 0x11391}, {0x113b8, 0x113b8}, {0x113bb, 0x113bb}, {0x113c2, 0x113c2}, {0x113c5, 0x113c5}, {0x113c7, 0x113c9},
	{0x113ce, 0x113d0}, {0x1145e, 0x1145e}, {0x11839, 0x1183a}, {0x11930, 0x11930}, {0x11935, 0x11935}, {0x11938, 0x11938}, {0x1193d, 0x1193e}, {0x11943, 0x11943},
	{0x119e0, 0x119e0}, {0x11a34, 0x11a34}, {0x11a47, 0x11a47}, {0x11a99, 0x11a99}, {0x11d42, 0x11d42}, {0x11d44, 0x11d45}, {0x11d97, 0x11d97}, {0x11f41, 0x11f42},
	{0x1611e, 0x16129}, {0x1612f, 0x1612f}, {0x16d63, 0x16d63}, {0x16d67, 0x16d6a}, {0x16ff0, 0x16ff1}, {0x1e08f, 0x1e08f}, {0x1e130, 0x1e136}, {0x1e2ae, 0x1e2ae},
	{0x1e2ec, 0x1e2ef}, {0x1e4ec, 0x1e4ef}, {0x1e5ee, 0x1e5ef},
}
