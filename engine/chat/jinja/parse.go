package jinja

import (
	"fmt"
	"slices"
)

// parser makes statements of tokens, by the grammar of jinja2/parser.py.
type parser struct {
	tokens []token
	next   int
	depth  int
	loops  int      // how many loops are open, for break and continue
	macros []*macro // which are open: they take what their bodies name
}

// parse reads a whole template.
func parse(src string) (body []statement, err error) {
	defer caught(&err)
	p := &parser{tokens: lex(src)}
	body = p.body()
	if t := p.peek(); t.kind != kindEOF {
		p.fail("unexpected %v", t)
	}
	return body, nil
}

func (p *parser) peek() token { return p.tokens[p.next] }

func (p *parser) line() at { return at(p.peek().line) }

func (p *parser) take() token {
	t := p.tokens[p.next]
	if t.kind != kindEOF {
		p.next++
	}
	return t
}

func (p *parser) fail(format string, args ...any) {
	panic(&Error{Line: p.peek().line, What: fmt.Sprintf(format, args...)})
}

// deeper bounds how deep the parser calls itself; its result ends the level.
func (p *parser) deeper() (up func()) {
	if p.depth++; p.depth > maxDepth {
		p.fail("the template is nested deeper than %d levels", maxDepth)
	}
	return func() { p.depth-- }
}

// is tells whether the next token is that operator; isWord, one of those words.
func (p *parser) is(op string) bool {
	t := p.peek()
	return t.kind == kindOperator && t.text == op
}

func (p *parser) isWord(words ...string) bool {
	t := p.peek()
	return t.kind == kindName && slices.Contains(words, t.text)
}

// skip takes the next token if it is that operator; skipWord, that word.
func (p *parser) skip(op string) bool {
	if p.is(op) {
		p.next++
		return true
	}
	return false
}

func (p *parser) skipWord(word string) bool {
	if p.isWord(word) {
		p.next++
		return true
	}
	return false
}

func (p *parser) want(op string) {
	if !p.skip(op) {
		p.fail("expected %q, got %v", op, p.peek())
	}
}

func (p *parser) wantWord(word string) {
	if !p.skipWord(word) {
		p.fail("expected %q, got %v", word, p.peek())
	}
}

func (p *parser) wantName() string {
	if p.peek().kind != kindName {
		p.fail("expected a name, got %v", p.peek())
	}
	return p.take().text
}

func (p *parser) wantEnd() {
	if p.peek().kind != kindBlockEnd {
		p.fail("expected the end of the statement, got %v", p.peek())
	}
	p.next++
}

// body reads statements up to a tag with one of those words, which it leaves, or
// to the end of the template where there are none.
func (p *parser) body(until ...string) (out []statement) {
	defer p.deeper()()
	for {
		switch t := p.peek(); t.kind {
		case kindData:
			p.next++
			out = append(out, &data{t.text})
		case kindVariableBegin:
			p.next++
			line := p.line()
			out = append(out, &output{line, p.tuple(true)})
			if p.peek().kind != kindVariableEnd {
				p.fail("expected the end of the print statement, got %v", p.peek())
			}
			p.next++
		case kindBlockBegin:
			p.next++
			if len(until) > 0 && p.isWord(until...) {
				return out
			}
			out = append(out, p.statement())
			p.wantEnd()
		default:
			if len(until) > 0 {
				p.fail("unexpected end of template: %q is missing", until[len(until)-1])
			}
			return out
		}
	}
}

// block reads the end of a tag, a body, and the word that ends it.
func (p *parser) block(end string) []statement {
	p.skip(":")
	p.wantEnd()
	body := p.body(end)
	p.next++
	return body
}

func (p *parser) statement() statement {
	line := p.line()
	if p.peek().kind != kindName {
		p.fail("tag name expected, got %v", p.peek())
	}
	switch word := p.take().text; word {
	case "if":
		return p.ifs()
	case "for":
		return p.loop(line)
	case "set":
		return p.set(line)
	case "macro":
		m := &macro{at: line, name: p.wantName(), parameters: p.parameters()}
		p.macro(m, "endmacro")
		return m
	case "call":
		return p.callBlock(line)
	case "filter":
		f := p.filters(nil, true)
		return &filterBlock{line, f, p.block("endfilter")}
	case "with":
		return p.with(line)
	case "print":
		return p.print(line)
	case "generation":
		return &block{p.block("endgeneration")}
	case "block":
		return p.named()
	case "break", "continue":
		if p.loops == 0 {
			p.fail("%s stands outside of a loop", word)
		}
		return &jump{map[string]flow{"break": breaks, "continue": continues}[word]}
	case "include", "import", "from", "extends":
		p.fail("%s needs another template, and a chat template has none", word)
	default:
		p.fail("encountered unknown tag %q", word)
	}
	return nil
}

// print writes each of its expressions.
func (p *parser) print(line at) statement {
	out := &block{}
	for p.peek().kind != kindBlockEnd {
		if len(out.body) > 0 {
			p.want(",")
		}
		out.body = append(out.body, &output{line, p.expression()})
	}
	return out
}

func (p *parser) named() statement {
	name := p.wantName()
	p.skipWord("scoped")
	p.skipWord("required")
	body := p.block("endblock")
	if p.isWord(name) {
		p.next++
	}
	return &block{body}
}

func (p *parser) ifs() statement {
	var out ifs
	for {
		condition := p.tuple(false)
		p.skip(":")
		p.wantEnd()
		out.branches = append(out.branches, branch{condition, p.body("elif", "else", "endif")})
		switch p.take().text {
		case "elif":
			continue
		case "else":
			out.branches = append(out.branches, branch{nil, p.block("endif")})
		}
		return &out
	}
}

func (p *parser) loop(line at) statement {
	l := &loops{at: line, target: p.target(false)}
	p.wantWord("in")
	l.over = p.tuple(false)
	if p.skipWord("if") {
		l.when = p.expression()
	}
	l.recursive = p.skipWord("recursive")
	p.skip(":")
	p.wantEnd()
	p.loops++
	l.body = p.body("endfor", "else")
	p.loops--
	if p.take().text == "else" {
		l.none = p.block("endfor")
	}
	return l
}

func (p *parser) set(line at) statement {
	t := p.target(true)
	if p.skip("=") {
		return &assign{line, t, p.tuple(true)}
	}
	var f expression
	if p.is("|") {
		f = p.filters(nil, false)
	}
	return &assignBlock{line, t, f, p.block("endset")}
}

// target reads what is assigned to; attributes only where a namespace may stand.
func (p *parser) target(namespaces bool) target {
	line := p.line()
	first := p.targetPart(namespaces)
	if !p.is(",") {
		return first
	}
	all := target{at: line, parts: []target{first}}
	for p.skip(",") {
		if p.isWord("in") || p.is("=") {
			break
		}
		all.parts = append(all.parts, p.targetPart(namespaces))
	}
	return all
}

func (p *parser) targetPart(namespaces bool) target {
	defer p.deeper()()
	line := p.line()
	if p.skip("(") {
		t := p.target(namespaces)
		p.want(")")
		return t
	}
	t := target{at: line, name: p.wantName()}
	if slices.Contains([]string{"true", "false", "none", "True", "False", "None"}, t.name) {
		p.fail("cannot assign to %q", t.name)
	}
	if namespaces && p.skip(".") {
		t.attribute = p.wantName()
	}
	return t
}

// macro reads the body of a macro.
func (p *parser) macro(m *macro, end string) {
	p.macros = append(p.macros, m)
	open := p.loops
	p.loops = 0
	m.body = p.block(end)
	p.loops = open
	p.macros = p.macros[:len(p.macros)-1]
}

func (p *parser) parameters() (out parameters) {
	p.want("(")
	for !p.skip(")") {
		if len(out.names) > 0 {
			p.want(",")
			if p.skip(")") {
				break
			}
		}
		out.names = append(out.names, p.wantName())
		switch {
		case p.skip("="):
			out.defaults = append(out.defaults, p.expression())
		case len(out.defaults) > 0:
			p.fail("non-default argument follows default argument")
		}
	}
	return out
}

func (p *parser) callBlock(line at) statement {
	caller := &macro{at: line, name: "caller"}
	if p.is("(") {
		caller.parameters = p.parameters()
	}
	c, ok := p.expression().(*call)
	if !ok {
		p.fail("expected a call")
	}
	p.macro(caller, "endcall")
	return &callBlock{line, c, caller}
}

func (p *parser) with(line at) statement {
	w := &with{at: line}
	for p.peek().kind != kindBlockEnd {
		if len(w.targets) > 0 {
			p.want(",")
		}
		w.targets = append(w.targets, p.targetPart(false))
		p.want("=")
		w.values = append(w.values, p.expression())
	}
	w.body = p.block("endwith")
	return w
}
