package tokenizer

import (
	"unicode/utf8"

	"golang.org/x/text/encoding/unicode"
)

// validUTF8 returns b with every longest prefix of a character that is not
// completed, and every byte that begins none, replaced by U+FFFD (Unicode
// chapter 3.9, "substitution of maximal subparts", as Rust's from_utf8_lossy).
// Package strings' ToValidUTF8 would make one of several such.
func validUTF8(b []byte) string {
	if utf8.Valid(b) {
		return string(b)
	}
	valid, _ := unicode.UTF8.NewDecoder().Bytes(b) // which replaces, and refuses nothing
	return string(valid)
}
