package tokenizer

import (
	"iter"
	"unicode/utf8"
)

// pass is one of several patterns that cut a text one after the other, each the pieces
// that those before have left, matches and what lies between them alike.
type pass struct {
	pattern string
	// next returns where the first match in s, which is not empty, begins and ends,
	// or twice len(s).
	next func(s string) (start, end int)
}

// passes cuts texts by several patterns.
func passes(all []pass) func(string) iter.Seq[string] {
	return func(text string) iter.Seq[string] {
		return func(yield func(string) bool) {
			if text != "" {
				isolate(text, all, yield)
			}
		}
	}
}

// isolate yields the pieces of s, and says whether to go on.
func isolate(s string, left []pass, yield func(string) bool) bool {
	if len(left) == 0 {
		return yield(s)
	}
	for s != "" {
		start, end := left[0].next(s)
		if start > 0 && !isolate(s[:start], left[1:], yield) {
			return false
		}
		if end > start && !isolate(s[start:end], left[1:], yield) {
			return false
		}
		s = s[end:]
	}
	return true
}

// passesJSON is the same in tokenizer.json.
func passesJSON(all []pass) string {
	var parts []string
	for _, p := range all {
		parts = append(parts, splitJSON(p.pattern))
	}
	return sequenceJSON(append(parts, byteLevelJSON(false))...)
}

// searching finds the first place where word, which returns the length of a match at
// the beginning of a text, is not 0.
func searching(word func(string) int) func(string) (start, end int) {
	return func(s string) (start, end int) {
		for start < len(s) {
			if n := word(s[start:]); n > 0 {
				return start, start + n
			}
			_, n := utf8.DecodeRuneInString(s[start:])
			start += n
		}
		return start, start
	}
}

// runs finds the first characters that in holds, all in a row: [in]+
func runs(in func(rune) bool) func(string) (start, end int) {
	return searching(func(s string) (n int) { return runIn(s, in) })
}

// runIn returns the length of the characters of a kind that s starts with.
func runIn(s string, in func(rune) bool) (n int) {
	for n < len(s) {
		r, w := utf8.DecodeRuneInString(s[n:])
		if !in(r) {
			break
		}
		n += w
	}
	return n
}

// spacedRuns is the same with a white space before, where there is one: \s?[in]+
func spacedRuns(in func(rune) bool) func(string) (start, end int) {
	return func(s string) (start, end int) {
		for start < len(s) {
			r, w := utf8.DecodeRuneInString(s[start:])
			switch {
			case in(r):
				return start, start + runIn(s[start:], in)
			case contains(spaces, r):
				if n := runIn(s[start+w:], in); n > 0 {
					return start, start + w + n
				}
			}
			start += w
		}
		return start, start
	}
}
