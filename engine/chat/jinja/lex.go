package jinja

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// kind is what a token is.
type kind int

const (
	kindEOF kind = iota
	kindData
	kindBlockBegin
	kindBlockEnd
	kindVariableBegin
	kindVariableEnd
	kindName
	kindString
	kindInteger
	kindFloat
	kindOperator
)

// token is a piece of a template: its text is what stands there, of a string what
// it means.
type token struct {
	kind kind
	text string
	line int
}

func (t token) String() string {
	switch t.kind {
	case kindEOF:
		return "end of template"
	case kindData:
		return "template data"
	case kindBlockBegin, kindVariableBegin:
		return "begin of a block"
	case kindBlockEnd:
		return "end of statement block"
	case kindVariableEnd:
		return "end of print statement"
	}
	return fmt.Sprintf("%q", t.text)
}

// lexer cuts a source into tokens, by the rules of jinja2/lexer.py.
type lexer struct {
	src    string
	at     int
	line   int
	begins bool // whether the next text begins at the start of a line
	tokens []token
}

// lex returns the tokens of a template, kindEOF last.
func lex(src string) []token {
	src = strings.ReplaceAll(strings.ReplaceAll(src, "\r\n", "\n"), "\r", "\n")
	l := &lexer{src: strings.TrimSuffix(src, "\n"), line: 1, begins: true}
	for l.at < len(l.src) {
		l.data()
	}
	l.add(kindEOF, "")
	return l.tokens
}

func (l *lexer) add(k kind, text string) {
	l.tokens = append(l.tokens, token{k, text, l.line})
}

func (l *lexer) fail(format string, args ...any) {
	panic(&Error{Line: l.line, What: fmt.Sprintf(format, args...)})
}

// skip passes over the next n bytes and counts their lines.
func (l *lexer) skip(n int) {
	text := l.src[l.at : l.at+n]
	l.line += strings.Count(text, "\n")
	l.at += n
	if text != "" {
		l.begins = strings.HasSuffix(text, "\n")
	}
}

func (l *lexer) rest() string { return l.src[l.at:] }

// data reads text up to the next tag, and that tag.
func (l *lexer) data() {
	rest := l.rest()
	end := 0
	for {
		i := strings.IndexByte(rest[end:], '{')
		if i < 0 || end+i+1 >= len(rest) {
			l.text(rest)
			l.skip(len(rest))
			return
		}
		end += i
		if strings.IndexByte("{%#", rest[end+1]) >= 0 {
			break
		}
		end++
	}
	open, sign := rest[end+1], signOf(rest[end+2:])
	text := rest[:end]
	switch {
	case sign == "-":
		text = strings.TrimRightFunc(text, space)
	case sign == "" && open != '{':
		text = l.stripLine(text)
	}
	l.text(text)
	l.skip(end)
	if raw := rawTag(l.rest(), "raw"); open == '%' && raw > 0 {
		l.raw(raw)
		return
	}
	l.skip(2 + len(sign))
	switch open {
	case '#':
		l.comment()
	case '%':
		l.add(kindBlockBegin, "")
		l.code("%}", kindBlockEnd)
	default:
		l.add(kindVariableBegin, "")
		l.code("}}", kindVariableEnd)
	}
}

func (l *lexer) text(text string) {
	if text != "" {
		l.add(kindData, text)
	}
}

// stripLine drops the blanks between the start of a line and a tag behind them.
func (l *lexer) stripLine(text string) string {
	from := strings.LastIndexByte(text, '\n') + 1
	if (from > 0 || l.begins) && strings.TrimLeftFunc(text[from:], space) == "" {
		return text[:from]
	}
	return text
}

// signOf is the sign behind the begin of a tag.
func signOf(s string) string {
	if s != "" && (s[0] == '-' || s[0] == '+') {
		return s[:1]
	}
	return ""
}

// space is what Python's str.isspace and its regular expressions call white space.
func space(r rune) bool {
	return unicode.IsSpace(r) || r >= 0x1c && r <= 0x1f
}

// rawTag is the length of {% word %} at the start of s, without what trimming it
// takes away behind, 0 where s begins otherwise.
func rawTag(s, word string) int {
	rest, ok := strings.CutPrefix(s, "{%")
	if !ok {
		return 0
	}
	rest = strings.TrimLeftFunc(rest[len(signOf(rest)):], space)
	if rest, ok = strings.CutPrefix(rest, word); !ok {
		return 0
	}
	rest = strings.TrimLeftFunc(rest, space)
	if word == "raw" && strings.HasPrefix(rest, "+") {
		return 0
	}
	rest = rest[len(signOf(rest)):]
	if rest, ok = strings.CutPrefix(rest, "%}"); !ok {
		return 0
	}
	return len(s) - len(rest)
}

// raw reads the text between {% raw %} and {% endraw %}.
func (l *lexer) raw(begin int) {
	minus := l.src[l.at+begin-3] == '-'
	l.skip(begin)
	if minus {
		l.skipSpace()
	}
	rest := l.rest()
	if rest == "" { // jinja2 takes a template that ends here
		return
	}
	for end := 0; ; end += 2 {
		i := strings.Index(rest[end:], "{%")
		if i < 0 {
			l.fail("missing end of raw directive")
		}
		end += i
		n := rawTag(rest[end:], "endraw")
		if n == 0 {
			continue
		}
		text := rest[:end]
		switch signOf(rest[end+2:]) {
		case "-":
			text = strings.TrimRightFunc(text, space)
		case "":
			text = l.stripLine(text)
		}
		l.text(text)
		sign := rest[end+n-3]
		l.skip(end + n)
		l.closed(sign, true)
		return
	}
}

// closed drops what the end of a tag takes away behind it: all white space after
// -%}, else one line break where blocks are trimmed.
func (l *lexer) closed(sign byte, trim bool) {
	switch {
	case sign == '-':
		l.skipSpace()
	case trim && sign != '+' && strings.HasPrefix(l.rest(), "\n"):
		l.skip(1)
	}
}

func (l *lexer) skipSpace() {
	l.skip(len(l.rest()) - len(strings.TrimLeftFunc(l.rest(), space)))
}

func (l *lexer) comment() {
	end := strings.Index(l.rest(), "#}")
	if l.rest() == "" {
		return
	} else if end < 0 {
		l.fail("missing end of comment tag")
	}
	sign := byte(' ')
	if end > 0 {
		sign = l.src[l.at+end-1]
	}
	l.skip(end + 2)
	l.closed(sign, true)
}

// code reads the tokens of a tag up to its end.
func (l *lexer) code(end string, ends kind) {
	var open []byte // brackets that are not closed yet
	for {
		l.skipSpace()
		rest := l.rest()
		if rest == "" {
			l.fail("unexpected end of template: a tag is not closed")
		}
		if len(open) == 0 {
			sign := signOf(rest)
			if (sign == "-" || sign == "+" && ends == kindBlockEnd) && strings.HasPrefix(rest[1:], end) {
				l.add(ends, "")
				l.skip(1 + len(end))
				l.closed(sign[0], true)
				return
			}
			if strings.HasPrefix(rest, end) {
				l.add(ends, "")
				l.skip(len(end))
				l.closed(' ', ends == kindBlockEnd)
				return
			}
		}
		if l.number(rest) || l.name(rest) || l.quoted(rest) {
			continue
		}
		op := operator(rest)
		switch op {
		case "":
			r, _ := utf8.DecodeRuneInString(rest)
			l.fail("unexpected character %q", r)
		case "(", "[", "{":
			open = append(open, op[0])
		case ")", "]", "}":
			if len(open) == 0 {
				l.fail("unexpected %q", op)
			}
			last := open[len(open)-1]
			if want := map[byte]string{'(': ")", '[': "]", '{': "}"}[last]; want != op {
				l.fail("unexpected %q, expected %q", op, want)
			}
			open = open[:len(open)-1]
		}
		l.add(kindOperator, op)
		l.skip(len(op))
	}
}

// operator is the longest operator at the start of s.
func operator(s string) string {
	for _, n := range []int{2, 1} {
		if len(s) >= n && strings.Contains(" // ** == != >= <= + - / * % ~ [ ] ( ) { } > < = . : | , ; ", " "+s[:n]+" ") {
			return s[:n]
		}
	}
	return ""
}

// name reads an identifier or a keyword.
func (l *lexer) name(s string) bool {
	n := 0
	for i, r := range s {
		if r != '_' && !unicode.IsLetter(r) && !(i > 0 && (unicode.IsDigit(r) || unicode.Is(unicode.Mn, r))) {
			break
		}
		n = i + utf8.RuneLen(r)
	}
	if n == 0 {
		return false
	}
	l.add(kindName, s[:n])
	l.skip(n)
	return true
}

// number reads a whole number or one with a point or an exponent.
func (l *lexer) number(s string) bool {
	if len(s) > 2 && s[0] == '0' {
		base := map[byte]string{'x': "0123456789abcdef", 'o': "01234567", 'b': "01"}[s[1]|0x20]
		if n := digits(strings.ToLower(s[2:min(len(s), 2+maxDigits)]), base); base != "" && n > 0 {
			l.add(kindInteger, s[:2+n])
			l.skip(2 + n)
			return true
		}
	}
	const decimal = "0123456789"
	n := digits(s, decimal)
	if n == 0 || s[0] == '_' {
		return false
	}
	k := kindInteger
	if n < len(s) && s[n] == '.' && !l.after(".") {
		if m := digits(s[n+1:], decimal); m > 0 {
			n, k = n+1+m, kindFloat
		}
	}
	if n < len(s) && s[n]|0x20 == 'e' {
		e := n + 1
		e += len(signOf(s[e:]))
		if m := digits(s[e:], decimal); m > 0 {
			n, k = e+m, kindFloat
		}
	}
	l.add(k, s[:n])
	l.skip(n)
	return true
}

// maxDigits is beyond the digits of any number that fits.
const maxDigits = 80

// digits is how many bytes of s are digits of that set, with single underscores
// between them.
func digits(s, set string) int {
	n := 0
	for i := 0; i < len(s); i++ {
		switch {
		case set != "" && strings.IndexByte(set, s[i]) >= 0:
			n = i + 1
		case s[i] == '_' && n == i && i > 0:
		default:
			return n
		}
	}
	return n
}

// after is whether the last token is that operator.
func (l *lexer) after(op string) bool {
	last := l.tokens[len(l.tokens)-1]
	return last.kind == kindOperator && last.text == op
}

// quoted reads a string.
func (l *lexer) quoted(s string) bool {
	if s[0] != '\'' && s[0] != '"' {
		return false
	}
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case s[0]:
			l.add(kindString, l.unescape(s[1:i]))
			l.skip(i + 1)
			return true
		}
	}
	l.fail("a string is not closed")
	return false
}
