package table

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// escaped is a text of which Markdown shows every character as it is, in a cell
// of a table too (GitHub Flavored Markdown, 2.4 and 4.10): what ends a cell, and
// what begins emphasis, code, links, tags, strikethrough or an entity.
// Underscores and tildes mean nothing within a word, or alone, and stay.
func escaped(s string) string {
	if !strings.ContainsAny(s, "\\`*_~<&|[") {
		return s
	}
	tildes, link := strings.Count(s, "~"), strings.LastIndex(s, "](")
	var b strings.Builder
	before := rune(0)
	for i, c := range s {
		escape := strings.ContainsRune("\\`*<&|", c)
		switch c {
		case '_':
			after, _ := utf8.DecodeRuneInString(s[i+1:])
			escape = !isWord(before) || !isWord(after)
		case '~':
			escape = tildes > 1
		case '[':
			escape = i < link
		}
		if escape {
			b.WriteByte('\\')
		}
		b.WriteRune(c)
		before = c
	}
	return b.String()
}

func isWord(c rune) bool { return unicode.IsLetter(c) || unicode.IsDigit(c) }

// escapedText is the same of a sentence of the project's own, in which `code`
// is code and | means nothing.
func escapedText(s string) string {
	parts := strings.Split(s, "`")
	if len(parts)%2 == 0 { // one that nothing closes
		return escaped(s)
	}
	for i := 0; i < len(parts); i += 2 {
		parts[i] = strings.ReplaceAll(escaped(parts[i]), `\|`, "|")
	}
	return strings.Join(parts, "`")
}
