package msl

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// levels are the operators of a condition by how tightly they bind, the loosest
// first. A quotient by zero, which no compiler takes, is 0.
var levels = []map[string]func(a, b int64) int64{
	{"||": func(a, b int64) int64 { return truth(a != 0 || b != 0) }},
	{"&&": func(a, b int64) int64 { return truth(a != 0 && b != 0) }},
	{"|": func(a, b int64) int64 { return a | b }},
	{"^": func(a, b int64) int64 { return a ^ b }},
	{"&": func(a, b int64) int64 { return a & b }},
	{"==": func(a, b int64) int64 { return truth(a == b) }, "!=": func(a, b int64) int64 { return truth(a != b) }},
	{
		"<": func(a, b int64) int64 { return truth(a < b) }, ">": func(a, b int64) int64 { return truth(a > b) },
		"<=": func(a, b int64) int64 { return truth(a <= b) }, ">=": func(a, b int64) int64 { return truth(a >= b) },
	},
	{"<<": func(a, b int64) int64 { return a << (b & 63) }, ">>": func(a, b int64) int64 { return a >> (b & 63) }},
	{"+": func(a, b int64) int64 { return a + b }, "-": func(a, b int64) int64 { return a - b }},
	{"*": func(a, b int64) int64 { return a * b }, "/": func(a, b int64) int64 { q, _ := divide(a, b); return q },
		"%": func(a, b int64) int64 { _, r := divide(a, b); return r }},
}

// divide is the quotient and what is left of it.
func divide(a, b int64) (quotient, rest int64) {
	if b == 0 {
		return 0, 0
	}
	return a / b, a % b
}

// words are C++'s other spellings of operators.
var words = map[string]string{"and": "&&", "or": "||", "not": "!", "not_eq": "!=", "bitand": "&", "bitor": "|", "xor": "^", "compl": "~"}

func truth(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// header is the name of a header of Metal's own.
var header = regexp.MustCompile(`^[<"](?:metal_\w+|simd/simd\.h)[>"]$`)

// evaluate is the value of an #if's condition; one that cannot be read is 0.
func (p *preprocessor) evaluate(tokens []macroToken) int64 {
	var plain []macroToken
	for i := 0; i < len(tokens); i++ {
		t := tokens[i]
		switch {
		case t.text == "defined":
			open := i+1 < len(tokens) && tokens[i+1].text == "("
			if open {
				i++
			}
			t.text = "0"
			if i++; i < len(tokens) && p.known(tokens[i].text) {
				t.text = "1"
			}
			if open {
				i++
			}
		case strings.HasPrefix(t.text, "__has_") && i+1 < len(tokens) && tokens[i+1].text == "(":
			end := closing(tokens, i+1)
			if end < 0 {
				return 0
			}
			var what strings.Builder
			for _, in := range tokens[i+2 : end] {
				what.WriteString(in.text)
			}
			if t.text != "__has_include" && t.text != "__has_embed" {
				p.known(t.text)
			}
			t.text = strconv.FormatInt(truth(t.text == "__has_include" && header.MatchString(what.String())), 10)
			i = end
		}
		plain = append(plain, t)
	}
	expanded, err := p.expand(plain)
	if err != nil {
		return 0
	}
	c := &calculation{tokens: expanded, known: p.known}
	v := c.choice(0)
	if c.bad || c.at < len(c.tokens) {
		return 0
	}
	return v
}

// known says whether a name is a macro. Of one that a compiler may define by
// itself, and the text does not, only the compiler can say it: it is taken for
// none, and remembered.
func (p *preprocessor) known(name string) bool {
	if _, is := p.macros[name]; is || name == "__has_include" || name == "__has_embed" {
		return true
	}
	if reserved.MatchString(name) && !slices.Contains(p.undecided, name) &&
		!regexp.MustCompile(`(?m)^\s*#\s*define\s+`+name+`\b`).MatchString(p.text) {
		p.undecided = append(p.undecided, name)
	}
	return false
}

// closing is the bracket that closes the one at i, or −1.
func closing(tokens []macroToken, i int) int {
	depth := 0
	for ; i < len(tokens); i++ {
		switch tokens[i].text {
		case "(", "[", "{":
			depth++
		case ")", "]", "}":
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// reserved are the names that belong to the compiler (ISO C++ 17, 5.10).
var reserved = regexp.MustCompile(`^_[_A-Z]\w*$`)

// calculation is a condition under way.
type calculation struct {
	tokens []macroToken
	at     int
	bad    bool
	known  func(string) bool
}

func (c *calculation) next() string {
	if c.at >= len(c.tokens) {
		return ""
	}
	if op := words[c.tokens[c.at].text]; op != "" {
		return op
	}
	return c.tokens[c.at].text
}

// choice reads a condition with ?:, which binds loosest and to the right.
func (c *calculation) choice(depth int) int64 {
	if depth == maxDepth {
		c.bad = true
		return 0
	}
	v := c.level(0, depth)
	if c.bad || c.next() != "?" {
		return v
	}
	c.at++
	yes := c.choice(depth + 1)
	c.bad = c.bad || c.next() != ":"
	c.at++
	no := c.choice(depth + 1)
	if v != 0 {
		return yes
	}
	return no
}

func (c *calculation) level(l, depth int) int64 {
	if l == len(levels) {
		return c.operand(depth)
	}
	v := c.level(l+1, depth)
	for !c.bad {
		op, n := c.next(), 1
		if op == ">" && c.at+1 < len(c.tokens) && c.tokens[c.at+1].text == ">" && !c.tokens[c.at+1].space {
			op, n = ">>", 2
		}
		f, ok := levels[l][op]
		if !ok {
			break
		}
		c.at += n
		v = f(v, c.level(l+1, depth))
	}
	return v
}

func (c *calculation) operand(depth int) int64 {
	text := c.next()
	c.at++
	if depth == maxDepth {
		c.bad = true
	}
	switch {
	case c.bad || text == "":
		c.bad = true
		return 0
	case text == "!":
		return truth(c.operand(depth+1) == 0)
	case text == "-":
		return -c.operand(depth + 1)
	case text == "+":
		return c.operand(depth + 1)
	case text == "~":
		return ^c.operand(depth + 1)
	case text == "(":
		v := c.choice(depth + 1)
		c.bad = c.bad || c.next() != ")"
		c.at++
		return v
	case text == "true":
		return 1
	case letter(text[0]):
		c.known(text)
		return 0 // a name that is no macro
	case text[0] == '\'':
		if r, _, rest, err := strconv.UnquoteChar(text[1:], '\''); err == nil && rest == "'" {
			return int64(r)
		}
	}
	for n := len(text); n > 0; n-- { // suffixes such as L
		if v, err := strconv.ParseInt(strings.ReplaceAll(text[:n], "'", ""), 0, 64); err == nil {
			return v
		}
	}
	c.bad = true
	return 0
}
