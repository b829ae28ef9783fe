package lanes

import "strings"

// parts are the types of the vectors that hold a varying value of type t: one
// for a scalar, one an element for a vector, one a member for an aggregate.
func parts(t *typ) []*typ {
	switch t.kind {
	case kVec, kArray:
		if t.n > 64 {
			return nil
		}
		var out []*typ
		for range t.n {
			p := parts(t.elem)
			if p == nil {
				return nil
			}
			out = append(out, p...)
		}
		return out
	case kStruct:
		var out []*typ
		for _, f := range t.fields {
			p := parts(f)
			if p == nil {
				return nil
			}
			out = append(out, p...)
		}
		return out
	case kInt, kFloat, kPtr:
		return []*typ{t}
	}
	return nil
}

// constElements splits a constant vector or aggregate into its n scalars; nil
// when it cannot.
func constElements(text string, n int) []string {
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
	in := &inst{}
	p := &cursor{s: text[1 : len(text)-1]}
	for p.err == nil && !p.end() {
		t := p.parseType()
		before := len(in.args)
		in.value(p, t)
		if p.err != nil || len(in.args) != before+1 || in.args[before].local != "" {
			return nil
		}
		if k := len(parts(t)); k != 1 || t.kind == kVec {
			sub := constElements(in.args[before].text, k)
			if sub == nil {
				return nil
			}
			out = append(out, sub...)
		} else {
			out = append(out, in.args[before].text)
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
