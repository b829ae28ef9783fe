package tokenizer

import "unicode/utf8"

// qwen35Pattern is Qwen 2's with marks among the letters: the tokenizer.json of
// Qwen 3.5.
const qwen35Pattern = `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`

// qwen35Word follows it.
func qwen35Word(s string) int {
	if n := contraction(s, true); n > 0 {
		return n
	}
	if n := runIn(s, letterOrMark); n > 0 {
		return n
	}
	if n := numbersOf(s, 1); n > 0 {
		return n
	}
	if s[0] != '\r' && s[0] != '\n' {
		_, w := utf8.DecodeRuneInString(s)
		if n := runIn(s[w:], letterOrMark); n > 0 {
			return w + n
		}
	}
	i := 0
	if s[0] == ' ' {
		i = 1
	}
	if n := runIn(s[i:], func(r rune) bool { return searchClass(r) == other && !contains(marks16, r) }); n > 0 {
		i += n
		return i + anyOf(s[i:], "\r\n")
	}
	return linesOrSpace(s)
}
