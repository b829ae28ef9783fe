package msl

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// survey preprocesses a source and remembers where of it each token came from, and
// what a compiler would see that decides conditions otherwise than Read takes them.
type survey struct {
	p      *preprocessor
	source string
	at     places
	skip   int // bytes of the byte order's mark

	tokens  []span // of the source, as far as they are in use
	out     []macroToken
	pending []macroToken
	items   map[int32]*item

	worlds worlds
	conds  []cond
	met    []meeting       // readings that the expansion under way depends on
	fixed  map[string]bool // macros whose reading is chosen
	trails bool            // what expanded to nothing may be something
	cut    bool            // a directive stands in a macro's arguments

	directives []Directive
	chains     []chain
	words      map[string]bool     // of text that other compilers see
	bodies     map[string][]string // words of all definitions of a macro
	pastes     map[string]bool     // macros that make names
}

// span is bytes from..to.
type span struct{ from, to int }

// meeting is a macro with several readings, in the expansion of tokens from..to.
type meeting struct {
	from, to int32
	name     string
}

// item is tokens from..to of the source that expand as one, and the expansions that
// they have for other compilers.
type item struct {
	from, to int32
	again    bool // what it expands to would expand again
	uneven   bool // a reading does not close its brackets
	unknown  bool // not all readings are known
	others   [][]macroToken
	names    []string // macros in it that have several readings
}

// cond is an #if that is open.
type cond struct {
	chain         int
	taken, active bool // as Read takes it
	dead          bool // no compiler reads this branch
	settled       bool // every compiler takes this branch or one before it
	depth         int  // brackets open in front of it
	unread        brackets
}

// chain is an #if … #endif of the source.
type chain struct {
	span
	marks []int // where its directives begin
	odd   bool  // its branches do not stand for whole statements
	open  bool  // a branch ends within a declaration
}

// Directive is a line that speaks to the preprocessor: bytes From..To of the source,
// from the # to the line's end.
type Directive struct {
	From, To int
	Word     string
	Rest     string
}

var errCut = errors.New("a directive stands within a macro's arguments")

// conditional says whether the directive is one of those that choose text.
func (d Directive) conditional() bool {
	switch d.Word {
	case "if", "ifdef", "ifndef", "elif", "elifdef", "elifndef", "else", "endif":
		return true
	}
	return false
}

func surveyed(text string) (*survey, error) {
	s := &survey{source: text, items: map[int32]*item{}, worlds: worlds{now: map[string][]*macro{}},
		words: map[string]bool{}, bodies: map[string][]string{}, pastes: map[string]bool{}}
	trimmed := strings.TrimPrefix(text, byteOrder)
	s.skip = len(text) - len(trimmed)
	made, at := logical(trimmed)
	s.at = at
	s.p = newPreprocessor(made)
	s.p.survey = s
	offset := 0
	var open brackets
	for line := range strings.Lines(made) {
		indent := len(line) - len(strings.TrimLeft(line, " \t\r\v\f"))
		if strings.HasPrefix(line[indent:], "#") {
			if err := s.flush(); err != nil {
				return nil, err
			}
			if err := s.directive(offset+indent, offset+len(line), strings.TrimSpace(line[indent+1:]), &open); err != nil {
				return nil, err
			}
		} else if err := s.line(line, offset, &open); err != nil {
			return nil, err
		}
		offset += len(line)
	}
	if len(s.conds) > 0 {
		return nil, errors.New("an #if has no #endif")
	}
	return s, s.flush()
}

// place is where byte i of the logical text stands in the source.
func (s *survey) place(i int) int { return s.skip + s.at.of(i) }

// line takes a line that is no directive.
func (s *survey) line(line string, offset int, open *brackets) error {
	active, dead := s.state()
	if dead {
		return nil
	}
	tokens, _ := lex(line)
	if err := plainStrings(tokens); err != nil {
		return err
	}
	for k, t := range tokens {
		begin := offset + len(t.space)
		offset = begin + len(t.text)
		if t.text == "#" || t.text == "##" || t.text == `\` {
			return fmt.Errorf("a %s stands in text", t.text)
		}
		if !active {
			s.words[t.text] = s.words[t.text] || t.name()
			s.conds[len(s.conds)-1].unread.add(t.text)
			continue
		}
		open.add(t.text)
		n := int32(len(s.tokens))
		s.tokens = append(s.tokens, span{s.place(begin), s.place(offset-1) + 1})
		s.pending = append(s.pending, macroToken{text: t.text, space: k == 0 || t.space != "", from: n, to: n + 1, doubt: s.trails})
		s.trails = false
	}
	return nil
}

// plainStrings is an error where strings among tokens have no end in their line, or
// are raw.
func plainStrings(tokens []token) error {
	for k, t := range tokens {
		switch {
		case t.text[0] != '"' && t.text[0] != '\'':
		case !closed(t.text):
			return errors.New("a string has no end")
		case t.text[0] == '"' && k > 0 && t.space == "" && strings.HasSuffix(tokens[k-1].text, "R") && tokens[k-1].name():
			return errors.New("a raw string stands in text")
		}
	}
	return nil
}

// closed says whether a literal ends in its quote.
func closed(text string) bool {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case text[0]:
			return i == len(text)-1
		}
	}
	return false
}

// state says whether Read takes the text under way, and whether no compiler does.
func (s *survey) state() (active, dead bool) {
	active = true
	for _, c := range s.conds {
		active, dead = active && c.active, dead || c.dead
	}
	return active, dead
}

func (s *survey) directive(from, to int, text string, open *brackets) error {
	word, rest := cutDirective(text)
	d := Directive{s.place(from), len(s.source), word, strings.TrimSpace(rest)}
	if nl := strings.IndexByte(s.p.text[from:to], '\n'); nl >= 0 {
		d.To = s.place(from + nl)
	}
	s.directives = append(s.directives, d)
	active, dead := s.state()
	if d.conditional() {
		return s.condition(d, rest, active, dead, open)
	}
	if dead {
		return nil
	}
	switch word {
	case "include", "import", "include_next", "embed":
		if foreign(rest) {
			return fmt.Errorf("it includes %s, which is another text", d.Rest)
		}
	case "define":
		name, m, ok := definition(rest)
		if !ok {
			return nil
		}
		if tokens, _ := lex(rest); plainStrings(tokens) != nil {
			return plainStrings(tokens)
		}
		for k, t := range m.body {
			s.bodies[name] = append(s.bodies[name], t.text)
			s.pastes[name] = s.pastes[name] || t.text == "##" && k > 0
		}
		s.worlds.set(name, &m)
		if active {
			s.p.macros[name] = m
		}
	case "undef":
		name := strings.TrimSpace(rest)
		s.worlds.set(name, nil)
		if active {
			delete(s.p.macros, name)
		}
	}
	return nil
}

// condition takes an #if, #elif, #else or #endif.
func (s *survey) condition(d Directive, rest string, active, dead bool, open *brackets) error {
	n := len(s.conds)
	if d.Word == "if" || d.Word == "ifdef" || d.Word == "ifndef" {
		if n == maxDepth {
			return fmt.Errorf("conditions are nested deeper than %d", maxDepth)
		}
		verdict := s.verdict(d.Word, rest, active)
		is := active && s.holds(d.Word, rest)
		s.chains = append(s.chains, chain{span: span{d.From, d.To}, marks: []int{d.From}})
		s.conds = append(s.conds, cond{chain: len(s.chains) - 1, taken: is, active: is, dead: dead || verdict < 0, settled: verdict > 0, depth: len(open.open)})
		s.worlds.open(verdict >= 0)
		return nil
	}
	if n == 0 {
		return fmt.Errorf("an #%s has no #if", d.Word)
	}
	c := &s.conds[n-1]
	k := &s.chains[c.chain]
	k.marks, k.to = append(k.marks, d.From), d.To
	// The branch that ends here.
	if c.active {
		k.odd = k.odd || len(open.open) != c.depth
	}
	k.odd = k.odd || !c.unread.level()
	k.open = k.open || c.unread.any && !s.ends(c.unread.last)
	c.unread = brackets{}
	outer := s.conds
	s.conds = s.conds[:n-1]
	active, dead = s.state()
	s.conds = outer
	switch d.Word {
	case "endif":
		s.conds = outer[:n-1]
		s.worlds.close(c.settled)
		if n > 1 && k.odd {
			s.chains[outer[n-2].chain].odd = true
		}
		return nil
	case "else":
		c.dead = dead || c.settled
		c.active = active && !c.taken
		c.taken = true
		s.worlds.branch(!c.settled)
		c.settled = true
		return nil
	}
	word := strings.TrimPrefix(d.Word, "el")
	s.worlds.branch(false)
	verdict := s.verdict(word, rest, active && !c.taken)
	is := active && !c.taken && s.holds(word, rest)
	c.dead = dead || c.settled || verdict < 0
	s.worlds.chains[n-1].live = !c.settled && verdict >= 0
	c.active, c.taken, c.settled = is, c.taken || is, c.settled || verdict > 0
	return nil
}

// ends says whether a declaration can end with the token. A closing bracket may be
// that of a macro's arguments.
func (s *survey) ends(token string) bool { return token == ";" || token == "}" || token == ")" }

// holds is what Read takes a condition for.
func (s *survey) holds(word, rest string) bool {
	s.p.survey = nil
	defer func() { s.p.survey = s }()
	return s.p.holds(word, rest)
}

// verdict is 1 for a condition that holds for every compiler, −1 for one that holds
// for none, and 0 for one that the compiler decides. Where Read does not take the
// text, its macros are not those that count.
func (s *survey) verdict(word, rest string, active bool) int {
	sign := func(b bool) int {
		if b {
			return 1
		}
		return -1
	}
	t := macroTokens(rest)
	if word != "if" {
		if len(t) == 0 {
			return 0
		}
		m, ok := s.worlds.settled(t[0].text)
		if !ok {
			return 0
		}
		return sign((m != nil) == (word == "ifdef"))
	}
	for i := 0; i < len(t); i++ {
		name := t[i].text
		if name == "defined" {
			for i++; i < len(t) && t[i].text == "("; i++ {
			}
			if i >= len(t) {
				return 0
			}
			if _, ok := s.worlds.settled(t[i].text); !ok || !active {
				return 0
			}
			continue
		}
		if !t[i].identifier() || words[name] != "" || name == "true" || name == "false" {
			continue
		}
		m, ok := s.worlds.settled(name)
		if !ok || !active || m == nil || m.function || slices.ContainsFunc(m.body, macroToken.identifier) {
			return 0
		}
	}
	return sign(s.holds("if", rest))
}

// What expand tells a survey. There is none while Read preprocesses.

// leaves says whether a macro is the compiler's to replace.
func (s *survey) leaves(m macro) bool { return s != nil && m.given }

// doubts says whether a name has several readings.
func (s *survey) doubts(t macroToken, to int32) bool {
	if s == nil || !t.identifier() || s.fixed[t.text] || len(s.worlds.of(t.text)) < 2 {
		return false
	}
	s.met = append(s.met, meeting{t.from, to, t.text})
	return true
}

// trail says that what expanded to nothing, at the end of the tokens, may be
// something.
func (s *survey) trail(doubt bool) {
	if s != nil {
		s.trails = s.trails || doubt
	}
}

// uncalled says that a macro's arguments had no end.
func (s *survey) uncalled(depth int, rest []macroToken) {
	if s != nil && depth == 1 && (len(rest) == 0 || rest[len(rest)-1].text == "(") {
		s.cut = true
	}
}
