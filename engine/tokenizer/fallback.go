package tokenizer

import (
	"iter"
	"unicode/utf8"
)

// The pre-tokenizer that llama.cpp falls back on (LLAMA_VOCAB_PRE_TYPE_DEFAULT in
// src/llama-vocab.cpp): four patterns, each applied to the pieces that those
// before have left, matches and what lies between them alike.
//
//	[\p{P}\$\+<=>\^~\|]+
//	's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)
//	\p{N}+
//	[0-9][0-9][0-9]
const (
	fallbackMarks   = `[\p{P}\$\+<=>\^~\|]+`
	fallbackWords   = `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)`
	fallbackNumbers = `\p{N}+`
	fallbackDigits  = `[0-9][0-9][0-9]`
)

// fallbackPieces yields the pieces that the four patterns leave. The second has no
// \s+ at its end; what it leaves of a run of white space is a piece all the same,
// as gpt2Word makes it. The loops are written out: an iterator in an iterator takes
// memory for every word.
func fallbackPieces(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for rest := text; len(rest) > 0; {
			n := markRun(rest)
			marked := rest[:n]
			rest = rest[n:]
			for len(marked) > 0 {
				n := gpt2Word(marked)
				word := marked[:n]
				marked = marked[n:]
				for len(word) > 0 {
					n := numberRun(word)
					piece := word[:n]
					word = word[n:]
					for len(piece) > 0 {
						n := threeDigits(piece)
						if !yield(piece[:n]) {
							return
						}
						piece = piece[n:]
					}
				}
			}
		}
	}
}

// markRun returns the length of the punctuation and signs that s starts with, or
// of what comes before some.
func markRun(s string) int {
	first, n := isMark(s)
	for n < len(s) {
		mark, w := isMark(s[n:])
		if mark != first {
			break
		}
		n += w
	}
	return n
}

// isMark says whether s starts with a character of fallbackMarks, and how long the
// first character is.
func isMark(s string) (mark bool, n int) {
	switch s[0] {
	case '$', '+', '<', '=', '>', '^', '~', '|':
		return true, 1
	}
	r, n := utf8.DecodeRuneInString(s)
	return contains(punctuation16, r), n
}

// numberRun returns the length of the numbers that s starts with, or of what comes
// before some.
func numberRun(s string) int {
	if n := runOf(s, number); n > 0 {
		return n
	}
	n, _ := untilNumber(s)
	return n
}

// threeDigits returns 3 where s starts with three ASCII digits, else the length of
// what comes before three, or of s.
func threeDigits(s string) int {
	for i := 0; i+3 <= len(s); i++ {
		if isDigit(s[i]) && isDigit(s[i+1]) && isDigit(s[i+2]) {
			if i == 0 {
				return 3
			}
			return i
		}
	}
	return len(s)
}

func isDigit(b byte) bool { return b >= '0' && b <= '9' }
