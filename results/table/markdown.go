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
// is code and | means nothing. Two ` beside each other do not stand in one, but
// may in a name that it tells: then nothing is code (GitHub Flavored Markdown,
// 6.3: as many end code as began it).
func escapedText(s string) string {
	if strings.Count(s, "`")%2 != 0 || strings.Contains(s, "``") {
		return escaped(s)
	}
	var b strings.Builder
	code := false
	for i, part := range strings.Split(escaped(s), "\\`") {
		if i > 0 {
			b.WriteByte('`')
		}
		if code {
			part = strings.Split(s, "`")[i]
		} else {
			part = strings.ReplaceAll(part, `\|`, "|")
		}
		b.WriteString(part)
		code = !code
	}
	return b.String()
}
