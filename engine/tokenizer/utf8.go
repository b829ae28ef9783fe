package tokenizer

import (
	"strings"
	"unicode/utf8"
)

// validUTF8 returns b with every longest prefix of a character that is not
// completed, and every byte that begins none, replaced by U+FFFD (Unicode
// chapter 3.9, "substitution of maximal subparts", as Rust's from_utf8_lossy).
// Package strings' ToValidUTF8 would make one of several such.
func validUTF8(b []byte) string {
	if utf8.Valid(b) {
		return string(b)
	}
	var out strings.Builder
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		if r == utf8.RuneError && n == 1 {
			for n < len(b) && n < utf8.UTFMax && !utf8.FullRune(b[:n]) {
				n++
			}
			// b[:n] is the shortest prefix that cannot be completed, or all.
			if n > 1 && utf8.FullRune(b[:n]) {
				n--
			}
		}
		out.WriteRune(r)
		b = b[n:]
	}
	return out.String()
}
