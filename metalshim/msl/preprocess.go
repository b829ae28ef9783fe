package msl

import (
	"errors"
	"fmt"
	"sort"
	"strings"
)

// maxTokens bounds the work of expanding macros, in tokens. candle's largest
// source has 120,000.
const maxTokens = 2 << 20

// maxDepth bounds how deep macros' arguments and conditions may be nested.
const maxDepth = 200

// predefined are the macros that a Metal compiler for language version 3.1
// defines, as far as they choose between declarations. It is clang.
var predefined = map[string]string{"__METAL__": "1", "__METAL_VERSION__": "310", "__HAVE_BFLOAT__": "1",
	"__clang__": "1", "__cplusplus": "201703"}

// foreign says that a directive names a file that is none of the standard
// library's. What stands in angles, or is named by a macro, is the compiler's to
// find.
func foreign(rest string) bool {
	name, quoted := strings.CutPrefix(strings.TrimSpace(rest), `"`)
	name, _, _ = strings.Cut(name, `"`)
	return quoted && !header.MatchString(`"`+name+`"`)
}

type macro struct {
	given    bool // by the compiler
	function bool
	params   []string
	variadic bool
	body     []macroToken
}

type preprocessor struct {
	macros map[string]macro
	out    []macroToken
	budget int
	depth  int
	// conditions are the #if's that are open.
	conditions []condition
	text       string
	undecided  []string // names that only a compiler knows
	survey     *survey  // who asks where tokens came from, or nil
}

type condition struct {
	taken  bool // one of its branches was the one
	active bool // this branch is
}

// logical joins the lines that end in a backslash and makes comments blanks.
// Line breaks are kept, if not always in their places, so that lines count as
// before.
func logical(text string) (string, places) {
	var b strings.Builder
	b.Grow(len(text))
	var at places
	joined := 0 // line breaks owed
	for i := 0; i < len(text); i++ {
		at.add(b.Len(), i)
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
	return b.String(), at
}

// places are where of a text the parts of another that was made from it stood: the
// first byte of each part in both.
type places []struct{ made, from int }

func (p *places) add(made, from int) {
	if n := len(*p); n > 0 && (*p)[n-1].made == made {
		(*p)[n-1].from = from
	} else if n == 0 || from-made != (*p)[n-1].from-(*p)[n-1].made {
		*p = append(*p, struct{ made, from int }{made, from})
	}
}

// of is where byte i stood.
func (p places) of(i int) int {
	k := sort.Search(len(p), func(k int) bool { return p[k].made > i }) - 1
	if k < 0 {
		return i
	}
	return i - p[k].made + p[k].from
}

// byteOrder is the mark with which editors of Windows begin a text.
const byteOrder = "\ufeff"

func newPreprocessor(text string) *preprocessor {
	p := &preprocessor{macros: map[string]macro{}, budget: maxTokens, text: text}
	for name, value := range predefined {
		p.macros[name] = macro{given: true, body: []macroToken{{text: value}}}
	}
	return p
}

// preprocess does what a C preprocessor does. The standard library's headers are
// left out; a source that includes anything else cannot be read, here or by a
// compiler that is given one text. What is malformed is passed on, as the compiler
// will say what is wrong with it.
func preprocess(text string) (*preprocessor, error) {
	text, _ = logical(strings.TrimPrefix(text, byteOrder))
	p := newPreprocessor(text)
	var pending []macroToken // tokens up to the next directive
	owed := 0                // line breaks of what gave no tokens
	flush := func() error {
		if len(pending) == 0 {
			return nil
		}
		expanded, err := p.expand(pending)
		p.out = append(p.out, expanded...)
		pending = pending[:0]
		return err
	}
	for line := range strings.Lines(text) {
		directive, is := strings.CutPrefix(strings.TrimSpace(line), "#")
		switch {
		case is:
			if err := flush(); err != nil {
				return nil, err
			}
			if err := p.directive(strings.TrimSpace(directive)); err != nil {
				return nil, err
			}
		case p.active():
			tokens := macroTokens(line)
			if len(tokens) > 0 {
				tokens[0].lines, tokens[0].space = owed, true
				owed = 0
			}
			pending = append(pending, tokens...)
		}
		owed += strings.Count(line, "\n")
	}
	return p, flush()
}

// active says whether the text under way is in use.
func (p *preprocessor) active() bool {
	for _, c := range p.conditions {
		if !c.active {
			return false
		}
	}
	return true
}

// cutDirective cuts a directive's word from the rest.
func cutDirective(text string) (word, rest string) {
	for i := range len(text) {
		if !letter(text[i]) {
			return text[:i], text[i:]
		}
	}
	return text, ""
}

func (p *preprocessor) directive(text string) error {
	word, rest := cutDirective(text)
	n := len(p.conditions)
	switch word {
	case "if", "ifdef", "ifndef":
		if n == maxDepth {
			return fmt.Errorf("conditions are nested deeper than %d", maxDepth)
		}
		is := p.active() && p.holds(word, rest)
		p.conditions = append(p.conditions, condition{is, is})
	case "elif", "elifdef", "elifndef":
		if n > 0 {
			c := &p.conditions[n-1]
			c.active = false // so that active asks for those around it alone
			outer := p.conditions
			p.conditions = p.conditions[:n-1]
			is := !c.taken && p.active() && p.holds(strings.TrimPrefix(word, "el"), rest)
			p.conditions = outer
			c.active, c.taken = is, c.taken || is
		}
	case "else":
		if n > 0 {
			c := &p.conditions[n-1]
			c.active, c.taken = !c.taken, true
		}
	case "endif":
		if n > 0 {
			p.conditions = p.conditions[:n-1]
		}
	case "include", "import", "include_next", "embed":
		if p.active() && foreign(rest) {
			return fmt.Errorf("#%s %s: a library is one text, which can include Metal's own headers alone", word, strings.TrimSpace(rest))
		}
	case "define":
		if name, m, ok := definition(rest); ok && p.active() {
			p.macros[name] = m
		}
	case "undef":
		if p.active() {
			delete(p.macros, strings.TrimSpace(rest))
		}
	}
	return nil
}

func (p *preprocessor) holds(word, rest string) bool {
	if word == "if" {
		return p.evaluate(macroTokens(rest)) != 0
	}
	tokens := macroTokens(rest)
	if len(tokens) == 0 {
		return false
	}
	return p.known(tokens[0].text) == (word == "ifdef")
}

// definition reads what a #define defines.
func definition(rest string) (name string, m macro, ok bool) {
	t := macroTokens(rest)
	if len(t) == 0 || !t[0].identifier() {
		return "", m, false
	}
	name = t[0].text
	t = t[1:]
	if len(t) > 0 && t[0].text == "(" && !t[0].space {
		m.function = true
		i := 1
		for ; i < len(t) && t[i].text != ")"; i++ {
			switch {
			case t[i].text == "...": // the three dots of a variadic macro
				m.variadic = true
			case t[i].identifier():
				m.params = append(m.params, t[i].text)
			}
		}
		t = t[min(i+1, len(t)):]
	}
	if m.variadic {
		m.params = append(m.params, "__VA_ARGS__")
	}
	if len(t) > 0 {
		t[0].space = false
	}
	m.body = t
	return name, m, true
}

// errTooLarge is the error of a source that expands without bounds.
var errTooLarge = errors.New("macros expand to too much")

// plain gives tokens the white space that they have, or need, between them.
func plain(tokens []macroToken) []token {
	out := make([]token, len(tokens))
	for i, t := range tokens {
		out[i].text = t.text
		switch {
		case t.lines > 0:
			out[i].space = strings.Repeat("\n", t.lines)
		case t.space, i > 0 && glued(tokens[i-1].text, t.text):
			out[i].space = " "
		}
	}
	return out
}

// glued says whether two tokens would read as one, or others, side by side.
func glued(a, b string) bool {
	if a == "" || b == "" {
		return false
	}
	last, first := a[len(a)-1], b[0]
	if letter(last) || digit(last) {
		return letter(first) || digit(first)
	}
	return strings.IndexByte("+-*/%&|^<>=!:#", last) >= 0 && strings.IndexByte("+-*/%&|^<>=!:#", first) >= 0 && last != '>' && a != "<"
}
