package ir

import "strings"

// Parts are the types of the vectors that hold a varying value of type t: one
// for a scalar, one an element for a vector, one a member for an aggregate.
func Parts(t *Type) []*Type {
	switch t.Kind {
	case Vector, Array:
		if t.N > 64 {
			return nil
		}
		var out []*Type
		for range t.N {
			p := Parts(t.Elem)
			if p == nil {
				return nil
			}
			out = append(out, p...)
		}
		return out
	case Struct:
		var out []*Type
		for _, f := range t.Fields {
			p := Parts(f)
			if p == nil {
				return nil
			}
			out = append(out, p...)
		}
		return out
	case Int, Float, Pointer:
		return []*Type{t}
	}
	return nil
}

// ConstElements splits a constant vector or aggregate into its n scalars; nil
// when it cannot.
func ConstElements(text string, n int) []string {
	out := make([]string, 0, n)
	switch {
	case text == "zeroinitializer" || text == "poison" || text == "undef":
		for range n {
			out = append(out, text)
		}
		return out
	case strings.HasPrefix(text, "splat (") && strings.HasSuffix(text, ")"):
		p := &cursor{s: text[len("splat (") : len(text)-1]}
		p.parseType()
		if p.err != nil {
			return nil
		}
		for range n {
			out = append(out, strings.TrimSpace(p.s[p.pos:]))
		}
		return out
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
