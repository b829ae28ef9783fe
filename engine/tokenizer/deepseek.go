package tokenizer

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// The patterns of DeepSeek's tokenizer.json files (deepseek-llm-7b-base,
// deepseek-coder-6.7b-base, DeepSeek-V3) and of falcon-7b's, as llama.cpp has them
// (src/llama-vocab.cpp).

var deepseekLLM = []pass{
	{`[\r\n]`, searching(lineBreak)},
	{`\s?` + bracketed(cased) + `+`, spacedRuns(func(r rune) bool { return contains(cased, r) })},
	{`\s?` + bracketed(wideSigns) + `+`, spacedRuns(func(r rune) bool { return contains(wideSigns, r) })},
	{`\s+$`, spaceAtEnd},
	{bracketed(eastAsian) + `+`, runs(func(r rune) bool { return contains(eastAsian, r) })},
	{`\p{N}+`, searching(func(s string) int { return runOf(s, number) })},
}

var deepseekCoder = []pass{
	{`[\r\n]`, searching(lineBreak)},
	{`\s?\p{L}+`, spacedRuns(func(r rune) bool { return searchClass(r) == letter })},
	{`\s?\p{P}+`, spacedRuns(func(r rune) bool { return contains(punctuation16, r) })},
	{bracketed(eastAsian) + `+`, runs(func(r rune) bool { return contains(eastAsian, r) })},
	{`\p{N}`, searching(func(s string) int { return numbersOf(s, 1) })},
}

var deepseekV3 = []pass{
	{`\p{N}{1,3}`, searching(func(s string) int { return numbersOf(s, 3) })},
	{bracketed(hanKana) + `+`, runs(func(r rune) bool { return contains(hanKana, r) })},
	{`[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_` + "`" + `{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`,
		searching(deepseekWord)},
}

var falcon = []pass{
	{"[\\p{P}\\$\\+<=>\\^~\\|`]+", searching(falconMarks)},
	{fallbackWords, searching(gpt2Word)},
	{fallbackDigits, searching(func(s string) int {
		if len(s) >= 3 && isDigit(s[0]) && isDigit(s[1]) && isDigit(s[2]) {
			return 3
		}
		return 0
	})},
}

// cased are the letters of scripts with two cases that deepseek-llm's pattern lists.
var cased = []runeRange{
	{0x41, 0x5a}, {0x61, 0x7a}, {0xb5, 0xb5}, {0xc0, 0xd6}, {0xd8, 0xf6}, {0xf8, 0x1ba}, {0x1bc, 0x1bf}, {0x1c4, 0x293},
	{0x295, 0x2af}, {0x370, 0x373}, {0x376, 0x376}, {0x377, 0x377}, {0x37b, 0x37d}, {0x37f, 0x37f}, {0x386, 0x386}, {0x388, 0x38a},
	{0x38c, 0x38c}, {0x38e, 0x3a1}, {0x3a3, 0x3f5}, {0x3f7, 0x481}, {0x48a, 0x52f}, {0x531, 0x556}, {0x10a0, 0x10c5}, {0x13a0, 0x13f5},
	{0x13f8, 0x13fd}, {0x1c90, 0x1cba}, {0x1cbd, 0x1cbf}, {0x1d00, 0x1d2b}, {0x1d6b, 0x1d77}, {0x1d79, 0x1d9a}, {0x1e00, 0x1f15}, {0x1f18, 0x1f1d},
	{0x1f20, 0x1f45}, {0x1f48, 0x1f4d}, {0x1f50, 0x1f57}, {0x1f59, 0x1f59}, {0x1f5b, 0x1f5b}, {0x1f5d, 0x1f5d}, {0x1f5f, 0x1f7d}, {0x1f80, 0x1fb4},
	{0x1fb6, 0x1fbc}, {0x1fbe, 0x1fbe}, {0x1fc2, 0x1fc4}, {0x1fc6, 0x1fcc}, {0x1fd0, 0x1fd3}, {0x1fd6, 0x1fdb}, {0x1fe0, 0x1fec}, {0x1ff2, 0x1ff4},
	{0x1ff6, 0x1ffc}, {0x2102, 0x2102}, {0x2107, 0x2107}, {0x210a, 0x2113}, {0x2115, 0x2115}, {0x2119, 0x211d}, {0x2124, 0x2124}, {0x2126, 0x2126},
	{0x2128, 0x2128}, {0x212a, 0x212d}, {0x212f, 0x2134}, {0x2139, 0x2139}, {0x213c, 0x213f}, {0x2145, 0x2149}, {0x214e, 0x214e}, {0x2183, 0x2183},
	{0x2184, 0x2184}, {0x2c00, 0x2c7b}, {0x2c7e, 0x2ce4}, {0x2ceb, 0x2cee}, {0x2cf2, 0x2cf2}, {0x2cf3, 0x2cf3}, {0xa640, 0xa66d}, {0xa680, 0xa69b},
	{0xa722, 0xa76f}, {0xa771, 0xa787}, {0xa78b, 0xa78e}, {0xab70, 0xabbf}, {0xfb00, 0xfb06}, {0xfb13, 0xfb17}, {0xff21, 0xff3a}, {0xff41, 0xff5a},
	{0x10400, 0x1044f}, {0x104b0, 0x104d3}, {0x104d8, 0x104fb}, {0x10c80, 0x10cb2}, {0x10cc0, 0x10cf2}, {0x118a0, 0x118df}, {0x1e900, 0x1e943},
}

// wideSigns are ASCII's signs and letters, and signs of full width and of Chinese:
// [!-/:-~！-／：-～‘-‟　-。]
var wideSigns = []runeRange{
	{'!', '/'}, {':', '~'}, {0x2018, 0x201F}, {0x3000, 0x3002}, {0xFF01, 0xFF0F}, {0xFF1A, 0xFF5E},
}

// eastAsian is [一-龥ࠀ-一가-퟿].
var eastAsian = []runeRange{{0x800, 0x9FA5}, {0xAC00, 0xD7FF}}

// hanKana is [一-龥぀-ゟ゠-ヿ].
var hanKana = []runeRange{{0x3040, 0x30FF}, {0x4E00, 0x9FA5}}

// bracketed is the pattern of one character in the ranges.
func bracketed(ranges []runeRange) string {
	var b strings.Builder
	b.WriteByte('[')
	for _, r := range ranges {
		fmt.Fprintf(&b, `\x{%X}-\x{%X}`, r.lo, r.hi)
	}
	b.WriteByte(']')
	return b.String()
}

func lineBreak(s string) int {
	if s[0] == '\r' || s[0] == '\n' {
		return 1
	}
	return 0
}

// spaceAtEnd finds the white space that s ends with: \s+$. No line break stands in s
// behind other characters, before which $ holds too.
func spaceAtEnd(s string) (start, end int) {
	start = len(s)
	for start > 0 {
		r, n := utf8.DecodeLastRuneInString(s[:start])
		if !contains(spaces, r) {
			break
		}
		start -= n
	}
	return start, len(s)
}

// falconMarks returns the length of the punctuation and signs that s starts with.
func falconMarks(s string) (n int) {
	for n < len(s) {
		mark, w := isMark(s[n:])
		if !mark && s[n] != '`' {
			break
		}
		n += w
	}
	return n
}

// deepseekWord follows the last pattern of deepseekV3, alternative by alternative.
func deepseekWord(s string) int {
	if c := s[0]; c > ' ' && c < utf8.RuneSelf && !isASCIILetter(c) && !isDigit(c) && c != 0x7F {
		n := 1
		for n < len(s) && isASCIILetter(s[n]) {
			n++
		}
		if n > 1 {
			return n
		}
	}
	if n := runIn(s, letterOrMark); n > 0 {
		return n
	}
	r, w := utf8.DecodeRuneInString(s)
	if r != '\r' && r != '\n' && !sign(r) {
		if n := runIn(s[w:], letterOrMark); n > 0 {
			return w + n
		}
	}
	i := 0
	if s[0] == ' ' {
		i = 1
	}
	if n := runIn(s[i:], sign); n > 0 {
		i += n
		return i + anyOf(s[i:], "\r\n")
	}
	if !contains(spaces, r) {
		return 0
	}
	return linesOrSpace(s)
}

func isASCIILetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func letterOrMark(r rune) bool { return searchClass(r) == letter || contains(marks16, r) }

// sign is [\p{P}\p{S}].
func sign(r rune) bool { return contains(punctuation16, r) || contains(symbols16, r) }
