// Package msl reads the Metal Shading Language. Rewrite turns preprocessed text
// into C++ that clang compiles with the soft driver's standard library header;
// Read preprocesses a source itself, without a compiler. Both read the table of
// kernels, their arguments and the function constants on the way. They work on
// tokens: no C++ parser is needed, because MSL differs from C++17 only in
// attributes, address spaces and the writing of vectors.
package msl

import "strings"

// token is one token and the white space before it, in which line markers
// (# 12 "file") and pragmas count as white space.
type token struct {
	space string
	text  string
}

// word says whether the token is an identifier, a keyword or a number.
func (t token) word() bool { return t.name() || t.text != "" && digit(t.text[0]) }

// name says whether the token is an identifier or a keyword.
func (t token) name() bool { return t.text != "" && letter(t.text[0]) }

func letter(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

// Operators of more than one character. '>>' is left out: two '>' that close
// template arguments are as frequent, and clang joins them again.
var operators = []string{"<<=", "->*", "...", "::", "->", "<<", "++", "--", "<=", ">=", "==", "!=", "&&", "||",
	"+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "##"}

// lex cuts text into tokens. The white space after the last one is returned
// as rest.
func lex(text string) (tokens []token, rest string) {
	tokens = make([]token, 0, len(text)/4)
	i, from := 0, 0
	line := true // only white space so far in this line
	for i < len(text) {
		c := text[i]
		switch {
		case c == '\n':
			line = true
			i++
			continue
		case c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f':
			i++
			continue
		case c == '#' && line:
			i = lineEnd(text, i)
			continue
		}
		line = false
		end := tokenEnd(text, i)
		tokens = append(tokens, token{text[from:i], text[i:end]})
		i, from = end, end
	}
	return tokens, text[from:]
}

// lineEnd is the index of the end of the line, backslash-newlines skipped.
func lineEnd(text string, i int) int {
	for i < len(text) && text[i] != '\n' {
		if text[i] == '\\' && i+1 < len(text) {
			i++
		}
		i++
	}
	return min(i, len(text))
}

func tokenEnd(text string, i int) int {
	c := text[i]
	switch {
	case letter(c):
		for i++; i < len(text) && (letter(text[i]) || digit(text[i])); i++ {
		}
		return i
	case digit(c) || c == '.' && i+1 < len(text) && digit(text[i+1]):
		for i++; i < len(text); i++ {
			sign := (text[i] == '+' || text[i] == '-') && strings.IndexByte("eEpP", text[i-1]) >= 0
			if !letter(text[i]) && !digit(text[i]) && text[i] != '.' && text[i] != '\'' && !sign {
				break
			}
		}
		return i
	case c == '"' || c == '\'':
		return literalEnd(text, i)
	}
	for _, op := range operators {
		if strings.HasPrefix(text[i:], op) {
			return i + len(op)
		}
	}
	return i + 1
}

// literalEnd is where the string or character at i ends, at its line's end at
// the latest.
func literalEnd(text string, i int) int {
	quote := text[i]
	for i++; i < len(text) && text[i] != quote && text[i] != '\n'; i++ {
		if text[i] == '\\' && i+1 < len(text) && text[i+1] != '\n' {
			i++
		}
	}
	if i < len(text) && text[i] == quote {
		i++
	}
	return min(i, len(text))
}
