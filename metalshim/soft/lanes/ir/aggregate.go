package ir

import (
	"slices"
	"strings"
)

// Members are the types of what a vector or an aggregate consists of.
func (t *Type) Members() []*Type {
	if t.Kind == Struct {
		return t.Fields
	}
	return slices.Repeat([]*Type{t.Elem}, t.N)
}

// maxParts bounds the elements of a value that has a form for all lanes.
const maxParts = 64

// Parts are the types of the vectors that hold a varying value of type t: one
// for a scalar, one an element for a vector, one a member for an aggregate. nil
// is of a type without a form for all lanes.
func Parts(t *Type) []*Type {
	switch {
	case t.Kind == Int || t.Kind == Float || t.Kind == Pointer:
		return []*Type{t}
	case t.Kind == Void || t.Kind == Named || t.N > maxParts:
		return nil
	}
	var out []*Type
	for _, m := range t.Members() {
		p := Parts(m)
		if p == nil {
			return nil
		}
		out = append(out, p...)
	}
	return out
}

// ConstElements splits a constant vector or aggregate into its n scalars; nil
// when it cannot.
func ConstElements(text string, n int) []string {
	out := make([]string, 0, n)
	switch {
	case text == "zeroinitializer" || text == "poison" || text == "undef":
		return slices.Repeat([]string{text}, n)
	case strings.HasPrefix(text, "splat (") && strings.HasSuffix(text, ")"):
		p := &cursor{s: text[len("splat (") : len(text)-1]}
		p.parseType()
		if p.err != nil {
			return nil
		}
		return slices.Repeat([]string{strings.TrimSpace(p.s[p.pos:])}, n)
	case len(text) < 2:
		return nil
	}
	in := &Inst{}
	p := &cursor{s: text[1 : len(text)-1]}
	for p.err == nil && !p.end() {
		t := p.parseType()
		before := len(in.Args)
		in.value(p, t)
		if p.err != nil || len(in.Args) != before+1 || in.Args[before].Local != "" {
			return nil
		}
		if k := len(Parts(t)); k != 1 || t.Kind == Vector {
			sub := ConstElements(in.Args[before].Text, k)
			if sub == nil {
				return nil
			}
			out = append(out, sub...)
		} else {
			out = append(out, in.Args[before].Text)
		}
		if !p.end() {
			p.expect(",")
		}
	}
	if p.err != nil || len(out) != n {
		return nil
	}
	return out
}
