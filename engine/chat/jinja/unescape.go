package jinja

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// simpleEscapes are those of one character.
var simpleEscapes = map[byte]string{'\n': "", '\\': "\\", '\'': "'", '"': "\"", 'a': "\a", 'b': "\b", 'f': "\f", 'n': "\n", 'r': "\r", 't': "\t", 'v': "\v"}

// unescape reads the escapes of a Python string. What is none stays as it is.
func (l *lexer) unescape(s string) string {
	if !strings.Contains(s, "\\") {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			i++
			continue
		}
		c := s[i+1]
		i += 2
		if text, ok := simpleEscapes[c]; ok {
			b.WriteString(text)
			continue
		}
		n, base := map[byte]int{'x': 2, 'u': 4, 'U': 8}[c], 16
		switch {
		case n > 0:
		case c >= '0' && c <= '7':
			base = 8
			i--
			for n = 1; n < 3 && i+n < len(s) && s[i+n] >= '0' && s[i+n] <= '7'; n++ {
			}
		case c == 'N':
			l.fail("characters by name, as in \\N{…}, are not known here")
		case c >= utf8.RuneSelf:
			l.fail("a backslash stands before a character that is not ASCII")
		default:
			b.WriteByte('\\')
			b.WriteByte(c)
			continue
		}
		if i+n > len(s) {
			l.fail("the escape \\%c is cut short", c)
		}
		v, err := strconv.ParseUint(s[i:i+n], base, 32)
		if err != nil || !utf8.ValidRune(rune(v)) {
			l.fail("the escape \\%c%s is no character", c, s[i:i+n])
		}
		b.WriteRune(rune(v))
		i += n
	}
	return b.String()
}
