package ir

import (
	"fmt"
	"iter"
	"strings"
)

// cursor reads one instruction's text. The first failure sticks in err; every
// method afterwards does nothing that could loop, so callers check err once.
type cursor struct {
	s     string
	pos   int
	depth int
	err   error
}

func (p *cursor) fail(format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf(format, args...)
	}
	p.pos = len(p.s)
}

func (p *cursor) space() {
	for p.pos < len(p.s) && (p.s[p.pos] == ' ' || p.s[p.pos] == '\t' || p.s[p.pos] == '\n') {
		p.pos++
	}
}

// peek returns the byte at the cursor, 0 at the end.
func (p *cursor) peek() byte {
	if p.pos < len(p.s) {
		return p.s[p.pos]
	}
	return 0
}

// end says whether only white space is left.
func (p *cursor) end() bool {
	p.space()
	return p.pos >= len(p.s)
}

// try takes tok when it is next. A token that ends in a letter must not run
// into a longer word.
func (p *cursor) try(tok string) bool {
	p.space()
	if !strings.HasPrefix(p.s[p.pos:], tok) {
		return false
	}
	e := p.pos + len(tok)
	if isWord(tok[len(tok)-1]) && e < len(p.s) && isWord(p.s[e]) {
		return false
	}
	p.pos = e
	return true
}

func (p *cursor) expect(tok string) {
	if p.err == nil && !p.try(tok) {
		p.fail("expected %q at %q", tok, Clip(p.s[p.pos:]))
	}
}

func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_'
}

func isNameByte(c byte) bool { return isWord(c) || c == '-' || c == '.' || c == '$' }

// word reads letters, digits, dots and underscores; "" when there are none.
func (p *cursor) word() string {
	p.space()
	b := p.pos
	for p.pos < len(p.s) && (isWord(p.s[p.pos]) || p.s[p.pos] == '.') {
		p.pos++
	}
	return p.s[b:p.pos]
}

// peekWord is word without moving.
func (p *cursor) peekWord() string {
	b := p.pos
	w := p.word()
	p.pos = b
	return w
}

// number reads a decimal count of at most limit.
func (p *cursor) number(limit int) int {
	p.space()
	n, b := 0, p.pos
	for p.pos < len(p.s) && p.s[p.pos] >= '0' && p.s[p.pos] <= '9' {
		n = n*10 + int(p.s[p.pos]-'0')
		p.pos++
		if n > limit {
			p.fail("number over %d", limit)
			return 0
		}
	}
	if b == p.pos {
		p.fail("expected a number at %q", Clip(p.s[p.pos:]))
	}
	return n
}

// name reads a %name or @name after its sigil, which it skips; quotes belong to
// the name.
func (p *cursor) name() string {
	p.pos++
	return p.bareName()
}

// bareName reads a name without a sigil, such as a label's.
func (p *cursor) bareName() string {
	b := p.pos
	if p.peek() == '"' {
		e := strings.IndexByte(p.s[p.pos+1:], '"')
		if e < 0 {
			p.fail("unterminated name %q", Clip(p.s[b:]))
			return ""
		}
		p.pos += e + 2
		return p.s[b:p.pos]
	}
	for p.pos < len(p.s) && isNameByte(p.s[p.pos]) {
		p.pos++
	}
	if b == p.pos {
		p.fail("empty name at %q", Clip(p.s[b:]))
	}
	return p.s[b:p.pos]
}

// Unquoted is a name without its quotes.
func Unquoted(name string) string { return strings.Trim(name, `"`) }

// Global is a place in a text that names a function or a variable.
type Global struct {
	Name     string // without quotes
	Beg, End int    // from the @ on
}

// Globals lists the functions and variables that a text names.
func Globals(text string) iter.Seq[Global] {
	return func(yield func(Global) bool) {
		p := &cursor{s: text}
		for {
			at := strings.IndexByte(p.s[p.pos:], '@')
			if at < 0 {
				return
			}
			p.pos += at
			beg := p.pos
			name := p.name()
			if p.err != nil {
				p.pos, p.err = beg+1, nil
				continue
			}
			if !yield(Global{Unquoted(name), beg, p.pos}) {
				return
			}
		}
	}
}

// WithoutFlags is a line of code without those flags of its instruction.
func WithoutFlags(line string, flags map[string]bool) string {
	p := &cursor{s: line}
	p.space()
	if p.peek() == '%' {
		p.name()
		p.expect("=")
	}
	if w := p.word(); w == "tail" || w == "musttail" || w == "notail" {
		p.word()
	}
	p.space()
	from := p.pos
	for flags[p.peekWord()] {
		p.word()
		p.space()
	}
	return line[:from] + line[p.pos:]
}

// balanced skips one bracketed group at the cursor and returns it.
func (p *cursor) balanced() string {
	b, depth := p.pos, 0
	for p.pos < len(p.s) {
		c := p.s[p.pos]
		p.pos++
		switch c {
		case '"':
			e := strings.IndexByte(p.s[p.pos:], '"')
			if e < 0 {
				p.fail("unterminated string")
				return ""
			}
			p.pos += e + 1
		case '(', '[', '{', '<':
			depth++
		case ')', ']', '}', '>':
			depth--
			if depth == 0 {
				return p.s[b:p.pos]
			}
		}
	}
	p.fail("unbalanced brackets at %q", Clip(p.s[b:]))
	return ""
}

// Clip shortens s for a message.
func Clip(s string) string {
	if len(s) > 60 {
		return s[:60] + "…"
	}
	return s
}
