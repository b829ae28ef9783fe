package msl

import (
	"errors"
	"slices"
	"strings"
)

// Part is a declaration at a source's outermost level, or in a namespace.
type Part struct {
	// Kernel is the name by which the host asks for it, or "". Vertex functions and
	// their like have one too.
	Kernel string
	// Names are those by which other declarations may refer to it, where all of them
	// are known; else Kept says why it must stay.
	Names []string
	Kept  string
	Words []string // names that it mentions
	Text  string   // with macros expanded

	from, to int  // tokens
	doubt    bool // compilers may read it differently, not only in its body
	inner    bool // or in its body
}

var errUnfinished = errors.New("a declaration has no end")

// entries are the words that make a function one that the host can name.
var entries = map[string]bool{"kernel": true, "vertex": true, "fragment": true, "mesh": true, "object": true}

// plainAttributes say nothing of who may call a function.
var plainAttributes = map[string]bool{"host_name": true, "max_total_threads_per_threadgroup": true, "maybe_unused": true,
	"nodiscard": true, "noinline": true, "always_inline": true, "clang": true, "gnu": true, "unroll": true, "likely": true, "unlikely": true,
	"kernel": true}

// implied are names that C++ asks for without mentioning them.
var implied = map[string]bool{"begin": true, "end": true, "get": true, "operator": true, "tuple_size": true, "tuple_element": true}

// heads are words before a bracket that does not hold a function's parameters.
var heads = map[string]bool{"__attribute__": true, "alignas": true, "decltype": true, "noexcept": true, "__declspec": true,
	"_Pragma": true, "static_assert": true, "_Static_assert": true, "__asm__": true, "asm": true, "typeof": true, "__typeof__": true, "requires": true}

// splitter cuts expanded tokens into declarations.
type splitter struct {
	*rewriter
	doubt []bool
	// spaces are the namespaces that are open.
	spaces []string
}

// maxParts bounds the texts of all parts together, in bytes: a few macros could write
// out a long string a million times.
const maxParts = 64 << 20

// parts cuts tokens into declarations, whose texts take of the room that is left.
// What stands open at the end is an error.
func parts(tokens []macroToken, room *int) ([]Part, error) {
	s := &splitter{rewriter: &rewriter{tok: plain(tokens)}}
	var b brackets
	for _, t := range tokens {
		if *room -= len(t.text) + 1; *room < 0 {
			return nil, errTooLarge
		}
		b.add(t.text)
		s.doubt = append(s.doubt, t.doubt)
	}
	if !b.level() {
		return nil, errors.New("its brackets do not close each other")
	}
	s.pair()
	var out []Part
	for i := 0; i < len(s.tok); {
		p, next, err := s.part(i, len(out) > 0)
		if err != nil {
			return nil, err
		}
		if p == nil { // an empty declaration belongs to the one before it
			out[len(out)-1].to = next
		} else {
			p.from, p.to = i, next
			out = append(out, *p)
		}
		i = next
	}
	return out, nil
}

// part reads the declaration at i and returns the token after it.
func (s *splitter) part(i int, follows bool) (*Part, int, error) {
	switch {
	case s.at(i) == ";" && follows:
		return nil, i + 1, nil
	case s.at(i) == "}":
		if len(s.spaces) == 0 {
			return nil, 0, errors.New("its brackets do not close each other")
		}
		s.spaces = s.spaces[:len(s.spaces)-1]
		return &Part{Kept: "it ends a namespace", doubt: s.doubt[i]}, i + 1, nil
	}
	if end := s.scope(i); end > 0 {
		name := ""
		for k := i; k < end; k++ {
			if s.tok[k].name() {
				name = s.at(k)
			}
		}
		s.spaces = append(s.spaces, name)
		p := &Part{Kept: "it begins a namespace"}
		s.fill(p, i, end, end)
		return p, end, nil
	}
	d := declaration{begin: i, params: -1, body: -1, equals: -1, class: -1}
	if err := s.scan(&d); err != nil {
		return nil, 0, err
	}
	p := s.classify(&d)
	body := d.end
	if d.body >= 0 && d.function {
		body = d.body
	}
	s.fill(p, i, body, d.end)
	if p.Kept == "" && slices.ContainsFunc(s.spaces, func(n string) bool { return n == "metal" || n == "std" }) {
		p.Kept = "it adds to a namespace of the standard library"
	}
	return p, d.end, nil
}

// fill notes what stands in from..to; from body on it is a function's body.
func (s *splitter) fill(p *Part, from, body, to int) {
	seen := map[string]bool{}
	for k := from; k < to; k++ {
		if t := s.tok[k]; t.name() && !seen[t.text] {
			seen[t.text] = true
			p.Words = append(p.Words, t.text)
		}
		if s.doubt[k] {
			p.doubt, p.inner = p.doubt || k <= body, true
		}
	}
	p.Text = strings.TrimSpace(joinTokens(s.tok[from:to]))
}

// scope is where the token after the { of a namespace stands, or 0.
func (s *splitter) scope(i int) int {
	k := i
	if s.at(k) == "inline" {
		k++
	}
	switch s.at(k) {
	case "namespace":
		for k++; k < len(s.tok) && (s.tok[k].name() || s.at(k) == "::" || s.at(k) == "["); k++ {
			if s.at(k) == "[" {
				k = s.close(k)
			}
		}
	case "extern":
		if k++; !strings.HasPrefix(s.at(k), `"`) {
			return 0
		}
		k++
	default:
		return 0
	}
	if s.at(k) == "{" {
		return k + 1
	}
	return 0
}

// declaration is one under way, in tokens.
type declaration struct {
	begin, end int
	head       int // behind its template parameters
	templates  int // how many lists of them there are
	params     int // the bracket of a function's parameters, or −1
	body       int // the first brace outside of others, or −1
	last       int // the brace that closes the last
	equals     int // the first = outside of brackets, or −1
	class      int // struct, class, union or enum, or −1
	function   bool
	attributes attributes
	words      []string // outside of brackets, before params, body or =
}

// scan finds where the declaration ends.
func (s *splitter) scan(d *declaration) error {
	k := d.begin
	for s.at(k) == "template" && s.at(k+1) == "<" {
		e := s.closeAngle(k + 1)
		if e < 0 {
			return errUnfinished
		}
		d.templates++
		k = e + 1
	}
	d.head = k
	for ; k < len(s.tok); k++ {
		t := s.at(k)
		if list, e, ok := s.list(k); ok {
			d.attributes = append(d.attributes, list...)
			k = e - 1
			continue
		}
		switch t {
		case ";":
			d.end = k + 1
			return nil
		case "=":
			if s.at(k-1) != "operator" && d.equals < 0 {
				d.equals = k
			}
		case "[":
			k = s.close(k)
		case "(":
			if k > d.head && d.params < 0 && d.equals < 0 && d.body < 0 && !heads[s.at(k-1)] {
				d.params = k
			}
			k = s.close(k)
		case "{":
			if d.body < 0 {
				d.body = k
			}
			k = s.close(k)
			d.last = k
			d.function = d.params >= 0 && d.equals < 0
			if d.function {
				d.end = k + 1
				return nil
			}
		case "struct", "class", "union", "enum":
			if d.class < 0 && d.params < 0 && d.equals < 0 && d.body < 0 {
				d.class = k
			}
		}
		if d.params < 0 && d.equals < 0 && d.body < 0 {
			d.words = append(d.words, t)
		}
	}
	return errUnfinished
}
