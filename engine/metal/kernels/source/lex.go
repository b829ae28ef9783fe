// Package source reads what a Metal source declares without compiling it: its
// kernels, their arguments and its function constants. It preprocesses the text
// itself, so that it needs no compiler, and leaves the declarations to the
// software driver's reader of Metal's language.
package source

import "strings"

// token is one token of C++ and what stands before it.
type token struct {
	text  string
	space bool // white space precedes it
	lines int  // line breaks that precede it
	hide  *names
}

// names is a set of macros that a token must not be expanded by again.
type names struct {
	name string
	next *names
}

func (n *names) has(name string) bool {
	for ; n != nil; n = n.next {
		if n.name == name {
			return true
		}
	}
	return false
}

// both is the names that are in both sets.
func (n *names) both(o *names) (out *names) {
	for ; n != nil; n = n.next {
		if o.has(n.name) {
			out = &names{n.name, out}
		}
	}
	return out
}

// with is n and o together.
func (n *names) with(o *names) *names {
	if n == nil {
		return o
	}
	for ; o != nil; o = o.next {
		if !n.has(o.name) {
			n = &names{o.name, n}
		}
	}
	return n
}

func letter(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

func (t token) identifier() bool { return t.text != "" && letter(t.text[0]) }

// logical joins the lines that end in a backslash and makes comments blanks.
// Line breaks are kept, if not always in their places, so that lines count as
// before.
func logical(text string) string {
	var b strings.Builder
	b.Grow(len(text))
	joined := 0 // line breaks owed
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && strings.HasPrefix(text[i+1:], "\n"):
			joined++
			i++
		case c == '\\' && strings.HasPrefix(text[i+1:], "\r\n"):
			joined++
			i += 2
		case c == '\n':
			b.WriteString(strings.Repeat("\n", joined+1))
			joined = 0
		case strings.HasPrefix(text[i:], "//"):
			for i+1 < len(text) && text[i+1] != '\n' {
				if i++; text[i] == '\\' && strings.HasPrefix(text[i+1:], "\n") {
					joined++
					i++
				}
			}
			b.WriteByte(' ')
		case strings.HasPrefix(text[i:], "/*"):
			end := strings.Index(text[i+2:], "*/")
			if end < 0 {
				end = len(text) - i - 4
			}
			joined += strings.Count(text[i:i+2+max(0, end)], "\n")
			i += end + 3
			b.WriteByte(' ')
		case c == '"' || c == '\'':
			end := literalEnd(text, i)
			b.WriteString(text[i:end])
			i = end - 1
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
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

var operators = []string{"##", "<<", "<=", ">=", "==", "!=", "&&", "||", "::", "->"}

// lex cuts a text without comments into tokens.
func lex(text string) []token {
	out := make([]token, 0, len(text)/4)
	t := token{}
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case c == '\n':
			t.lines++
			t.space = true
			i++
			continue
		case c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f':
			t.space = true
			i++
			continue
		}
		end := tokenEnd(text, i)
		t.text = text[i:end]
		out = append(out, t)
		t, i = token{}, end
	}
	return out
}

func tokenEnd(text string, i int) int {
	c := text[i]
	switch {
	case letter(c):
		for i < len(text) && (letter(text[i]) || digit(text[i])) {
			i++
		}
		return i
	case digit(c) || c == '.' && i+1 < len(text) && digit(text[i+1]):
		for i++; i < len(text); i++ {
			sign := (text[i] == '+' || text[i] == '-') && strings.IndexByte("eEpP", text[i-1]) >= 0
			if !letter(text[i]) && !digit(text[i]) && text[i] != '.' && !sign {
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
