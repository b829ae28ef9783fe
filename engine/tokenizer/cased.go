package tokenizer

import "unicode/utf8"

// The pattern of tiktoken's o200k_base (tiktoken_ext/openai_public.py), which GPT-4o,
// Llama 4 and Phi-4-mini cut words by, and with other numbers and without contractions
// of Mistral's tekken: capitals begin a word.

// casedPattern is that pattern; contraction may stand behind a word.
func casedPattern(numbers, contraction string) string {
	const first = `[^\r\n\p{L}\p{N}]?`
	return first + `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+` + contraction + `|` +
		first + `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*` + contraction + `|` +
		numbers + `| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+`
}

// casedContraction is what follows a word of o200k_base.
const casedContraction = `(?i:'s|'t|'re|'ve|'m|'ll|'d)?`

// casedWord follows casedPattern, with up to digits numbers in a word.
func casedWord(s string, digits int, contracted bool) int {
	for _, letters := range []func(string) int{capitalized, capitals} {
		n := prefixed(s, letters)
		if n > 0 && contracted {
			n += contraction(s[n:], true)
		}
		if n > 0 {
			return n
		}
	}
	if n := numbersOf(s, digits); n > 0 {
		return n
	}
	return signsOrSpace(s, "\r\n/")
}

// prefixed returns the length of a character that is no line break, letter or number
// and of the letters behind it, or of letters that s starts with.
func prefixed(s string, letters func(string) int) int {
	if c, n := classAt(s); c != letter && c != number && s[0] != '\r' && s[0] != '\n' {
		if k := letters(s[n:]); k > 0 {
			return n + k
		}
	}
	return letters(s)
}

// sides of a letter: where in a word it may stand.
const (
	front = 1 << iota // [\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]
	back              // [\p{Ll}\p{Lm}\p{Lo}\p{M}]
)

// sidesAt returns the sides and the length of the first character of s.
func sidesAt(s string) (sides, n int) {
	if s == "" {
		return 0, 0
	}
	r, n := utf8.DecodeRuneInString(s)
	switch {
	case r >= 'a' && r <= 'z':
		return back, n
	case r >= 'A' && r <= 'Z':
		return front, n
	case r < utf8.RuneSelf:
		return 0, n
	case contains(lower16, r):
		return back, n
	case contains(upper16, r):
		return front, n
	case contains(letters16, r), contains(marks16, r):
		return front | back, n
	}
	return 0, n
}

// runOfSide returns the length of the characters of a side that s starts with, and
// where the last of them that has both sides ends, or 0.
func runOfSide(s string, side int) (n, both int) {
	for n < len(s) {
		sides, w := sidesAt(s[n:])
		if sides&side == 0 {
			break
		}
		n += w
		if sides == front|back {
			both = n
		}
	}
	return n, both
}

// capitalized is [\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+: where
// nothing of the second kind follows, the first gives back what is of both.
func capitalized(s string) int {
	n, both := runOfSide(s, front)
	if k, _ := runOfSide(s[n:], back); k > 0 {
		return n + k
	}
	return both
}

// capitals is [\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*.
func capitals(s string) int {
	n, _ := runOfSide(s, front)
	if n == 0 {
		return 0
	}
	k, _ := runOfSide(s[n:], back)
	return n + k
}
