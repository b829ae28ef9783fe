package jinja

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// tuple reads one expression, or several between commas.
func (p *parser) tuple(conditional bool) expression {
	one := p.or
	if conditional {
		one = p.expression
	}
	first := one()
	if !p.is(",") {
		return first
	}
	all := &sequence{items: []expression{first}, tuple: true}
	for p.skip(",") {
		if p.endsTuple() {
			break
		}
		all.items = append(all.items, one())
	}
	return all
}

func (p *parser) endsTuple() bool {
	t := p.peek()
	return t.kind == kindVariableEnd || t.kind == kindBlockEnd || p.is(")") || p.isWord("recursive")
}

func (p *parser) expression() expression {
	defer p.deeper()()
	line := p.line()
	value := p.or()
	for p.skipWord("if") {
		c := &conditional{at: line, yes: value, condition: p.or()}
		if p.skipWord("else") {
			c.no = p.expression()
		}
		value = c
	}
	return value
}

func (p *parser) or() expression {
	left := p.and()
	for p.skipWord("or") {
		left = &logical{true, left, p.and()}
	}
	return left
}

func (p *parser) and() expression {
	left := p.not()
	for p.skipWord("and") {
		left = &logical{false, left, p.not()}
	}
	return left
}

func (p *parser) not() expression {
	if p.skipWord("not") {
		defer p.deeper()()
		return &not{p.not()}
	}
	return p.compare()
}

var comparisons = []string{"==", "!=", "<", "<=", ">", ">="}

func (p *parser) compare() expression {
	c := &compare{at: p.line(), first: p.sum()}
	for {
		t := p.peek()
		switch {
		case t.kind == kindOperator && slices.Contains(comparisons, t.text):
			p.next++
			c.rest = append(c.rest, comparison{t.text, p.sum()})
		case p.skipWord("in"):
			c.rest = append(c.rest, comparison{"in", p.sum()})
		case p.isWord("not") && p.tokens[p.next+1].kind == kindName && p.tokens[p.next+1].text == "in":
			p.next += 2
			c.rest = append(c.rest, comparison{"not in", p.sum()})
		case len(c.rest) == 0:
			return c.first
		default:
			return c
		}
	}
}

// operators reads a chain of operators of one rank, leftmost first.
func (p *parser) operators(operand func() expression, ops ...string) expression {
	left := operand()
	for {
		t := p.peek()
		if t.kind != kindOperator || !slices.Contains(ops, t.text) {
			return left
		}
		line := p.line()
		p.next++
		left = &binary{line, t.text, left, operand()}
	}
}

func (p *parser) sum() expression { return p.operators(p.concat, "+", "-") }

func (p *parser) concat() expression {
	first := p.product()
	if !p.is("~") {
		return first
	}
	all := &concat{[]expression{first}}
	for p.skip("~") {
		all.parts = append(all.parts, p.product())
	}
	return all
}

func (p *parser) product() expression { return p.operators(p.power, "*", "/", "//", "%") }

func (p *parser) power() expression {
	return p.operators(func() expression { return p.unary(true) }, "**")
}

func (p *parser) unary(filters bool) (out expression) {
	defer p.deeper()()
	line := p.line()
	switch {
	case p.skip("-"):
		out = &unary{line, "-", p.unary(false)}
	case p.skip("+"):
		out = &unary{line, "+", p.unary(false)}
	default:
		out = p.postfix(p.primary())
	}
	if filters {
		out = p.filters(out, false)
	}
	return out
}

func (p *parser) primary() expression {
	line, t := p.line(), p.take()
	switch t.kind {
	case kindName:
		switch t.text {
		case "true", "True":
			return &constant{true}
		case "false", "False":
			return &constant{false}
		case "none", "None":
			return &constant{nil}
		}
		p.mention(t.text)
		return &name{line, t.text}
	case kindString:
		text := t.text
		for p.peek().kind == kindString {
			text += p.take().text
		}
		return &constant{text}
	case kindInteger:
		v, err := strconv.ParseInt(strings.ReplaceAll(strings.ToLower(t.text), "_", ""), base(t.text), 64)
		if err != nil {
			p.fail("the number %s is too large", t.text)
		}
		return &constant{v}
	case kindFloat:
		v, _ := strconv.ParseFloat(strings.ReplaceAll(t.text, "_", ""), 64)
		if math.IsInf(v, 0) {
			p.fail("the number %s is too large", t.text)
		}
		return &constant{v}
	case kindOperator:
		switch t.text {
		case "(":
			return p.parentheses()
		case "[":
			return p.list()
		case "{":
			return p.dict(line)
		}
	}
	panic(&Error{Line: t.line, What: "unexpected " + t.String()})
}

// base is that of a number, as strconv takes it: leading zeros do not make it octal.
func base(text string) int {
	if len(text) > 1 && text[0] == '0' && strings.IndexByte("xXoObB", text[1]) >= 0 {
		return 0
	}
	return 10
}

// mention notes what the bodies of the open macros name.
func (p *parser) mention(name string) {
	for _, m := range p.macros {
		switch name {
		case "caller":
			m.takesCaller = true
		case "varargs":
			m.takesRest = true
		case "kwargs":
			m.takesNamed = true
		}
	}
}

func (p *parser) parentheses() expression {
	if p.skip(")") {
		return &sequence{tuple: true}
	}
	e := p.tuple(true)
	p.want(")")
	return e
}

func (p *parser) list() expression {
	out := &sequence{}
	for !p.skip("]") {
		if len(out.items) > 0 {
			p.want(",")
			if p.skip("]") {
				break
			}
		}
		out.items = append(out.items, p.expression())
	}
	return out
}

func (p *parser) dict(line at) expression {
	out := &dict{at: line}
	for !p.skip("}") {
		if len(out.keys) > 0 {
			p.want(",")
			if p.skip("}") {
				break
			}
		}
		out.keys = append(out.keys, p.expression())
		p.want(":")
		out.values = append(out.values, p.expression())
	}
	return out
}

// postfix reads what stands behind a value: .name, [index] and (arguments).
func (p *parser) postfix(e expression) expression {
	for {
		line := p.line()
		switch {
		case p.skip("."):
			if t := p.take(); t.kind == kindName {
				e = &attribute{line, e, t.text}
			} else if v, err := strconv.ParseInt(t.text, 10, 64); t.kind == kindInteger && err == nil {
				e = &item{line, e, &constant{v}}
			} else {
				p.fail("expected a name or a number behind the point, got %v", t)
			}
		case p.skip("["):
			e = &item{line, e, p.index()}
		case p.is("("):
			e = &call{line, e, p.arguments()}
		default:
			return e
		}
	}
}

// index reads what stands in [].
func (p *parser) index() expression {
	out := &sequence{tuple: true}
	for !p.skip("]") {
		if len(out.items) > 0 {
			p.want(",")
		}
		out.items = append(out.items, p.indexPart())
	}
	switch len(out.items) {
	case 0:
		p.fail("an index is missing")
	case 1:
		return out.items[0]
	}
	return out
}

func (p *parser) indexPart() expression {
	s := &slicing{}
	if !p.is(":") {
		e := p.expression()
		if !p.is(":") {
			return e
		}
		s.from = e
	}
	p.want(":")
	s.to = p.indexBound()
	if p.skip(":") {
		s.step = p.indexBound()
	}
	return s
}

func (p *parser) indexBound() expression {
	if p.is("]") || p.is(",") || p.is(":") {
		return nil
	}
	return p.expression()
}

func (p *parser) arguments() (out arguments) {
	p.want("(")
	for n := 0; !p.skip(")"); n++ {
		if n > 0 {
			p.want(",")
			if p.skip(")") {
				break
			}
		}
		late := out.list != nil || out.dicts != nil
		switch {
		case p.skip("*"):
			if late {
				p.fail("invalid syntax for a call")
			}
			out.list = p.expression()
		case p.skip("**"):
			if out.dicts != nil {
				p.fail("invalid syntax for a call")
			}
			out.dicts = p.expression()
		case p.peek().kind == kindName && p.tokens[p.next+1].kind == kindOperator && p.tokens[p.next+1].text == "=":
			if out.dicts != nil {
				p.fail("invalid syntax for a call")
			}
			name := p.take().text
			p.next++
			out.named = append(out.named, named{name, p.expression()})
		default:
			if late || len(out.named) > 0 {
				p.fail("a plain argument stands behind others")
			}
			out.plain = append(out.plain, p.expression())
		}
	}
	return out
}

// filters reads filters, tests and calls behind a value. At the start of a block
// the first filter stands without its bar.
func (p *parser) filters(e expression, inline bool) expression {
	for {
		line := p.line()
		switch {
		case inline || p.skip("|"):
			inline = false
			f := &filtering{at: line, of: e, name: p.dotted()}
			if p.is("(") {
				f.args = p.arguments()
			}
			e = f
		case e != nil && p.skipWord("is"):
			e = p.test(line, e)
		case e != nil && p.is("("):
			e = &call{line, e, p.arguments()}
		default:
			return e
		}
	}
}

func (p *parser) dotted() string {
	name := p.wantName()
	for p.skip(".") {
		name += "." + p.wantName()
	}
	return name
}

func (p *parser) test(line at, e expression) expression {
	negated := p.skipWord("not")
	t := &asking{at: line, of: e, name: p.dotted()}
	switch next := p.peek(); {
	case p.is("("):
		t.args = p.arguments()
	case next.kind == kindString || next.kind == kindInteger || next.kind == kindFloat || p.is("[") || p.is("{"),
		next.kind == kindName && !p.isWord("else", "or", "and"):
		if p.isWord("is") {
			p.fail("tests cannot be chained with is")
		}
		t.args.plain = []expression{p.postfix(p.primary())}
	}
	if negated {
		return &not{t}
	}
	return t
}
