package jinja

import (
	"fmt"
	"strings"
)

func (c *constant) eval(*run, *scope) any { return c.value }

func (n *name) eval(r *run, s *scope) any {
	r.line = n.at
	return r.lookup(s, n.name)
}

func (a *attribute) eval(r *run, s *scope) any {
	v := r.value(a.of, s)
	r.line = a.at
	return r.attribute(v, a.name)
}

func (i *item) eval(r *run, s *scope) any {
	v := r.value(i.of, s)
	if cut, ok := i.index.(*slicing); ok {
		r.line = i.at
		return r.slice(v, cut, s)
	}
	index := r.value(i.index, s)
	r.line = i.at
	return r.item(v, index)
}

func (*slicing) eval(r *run, _ *scope) any {
	r.fail("a slice stands where an index is wanted")
	return nil
}

func (c *call) eval(r *run, s *scope) any {
	callee := r.value(c.callee, s)
	args := r.arguments(c.args, s)
	r.line = c.at
	return r.call(callee, args)
}

// arguments evaluates those of a call.
func (r *run) arguments(a arguments, s *scope) (out given) {
	for _, e := range a.plain {
		out.plain = append(out.plain, r.value(e, s))
	}
	for _, n := range a.named {
		out.names = append(out.names, n.name)
		out.named = append(out.named, r.value(n.value, s))
	}
	if a.list != nil {
		out.plain = append(out.plain, r.iterate(r.value(a.list, s))...)
	}
	if a.dicts != nil {
		d, ok := r.value(a.dicts, s).(*Dict)
		if !ok {
			r.fail("argument after ** must be a mapping")
		}
		for i, k := range d.keys {
			name, ok := text(k)
			if !ok {
				r.fail("keywords must be strings")
			}
			out.names = append(out.names, name)
			out.named = append(out.named, d.values[i])
		}
	}
	r.step(len(out.plain) + len(out.names))
	return out
}

// call calls a value.
func (r *run) call(callee any, args given) any {
	switch f := callee.(type) {
	case *function:
		return f.call(r, args)
	case *macroValue:
		return f.call(r, args)
	case *loopValue:
		return f.call(r, args)
	case *undefined:
		r.used(f)
	}
	r.fail("'%s' object is not callable", typeName(callee))
	return nil
}

func (f *filtering) eval(r *run, s *scope) any {
	var v any
	if f.of == nil {
		v = r.lookup(s, blockText)
	} else {
		v = r.value(f.of, s)
	}
	args := r.arguments(f.args, s)
	r.line = f.at
	return r.filter(f.name, v, args)
}

func (t *asking) eval(r *run, s *scope) any {
	v := r.value(t.of, s)
	args := r.arguments(t.args, s)
	r.line = t.at
	return r.test(t.name, v, args)
}

func (u *unary) eval(r *run, s *scope) any {
	v := r.value(u.of, s)
	r.line = u.at
	i, f, whole, ok := number(v)
	switch {
	case !ok:
		r.defined(v)
		r.fail("bad operand type for unary %s: '%s'", u.op, typeName(v))
	case whole && u.op == "-":
		return r.whole("-", 0, i)
	case whole:
		return i
	case u.op == "-":
		return -f
	}
	return f
}

// defined fails where a value is wanted and there is none.
func (r *run) defined(values ...any) {
	for _, v := range values {
		if u, ok := v.(*undefined); ok {
			r.used(u)
		}
	}
}

func (b *binary) eval(r *run, s *scope) any {
	left := r.value(b.left, s)
	right := r.value(b.right, s)
	r.line = b.at
	return r.binary(b.op, left, right)
}

func (c *concat) eval(r *run, s *scope) any {
	var b strings.Builder
	for _, e := range c.parts {
		part := r.str(r.value(e, s))
		r.grow(len(part))
		b.WriteString(part)
	}
	return b.String()
}

func (c *compare) eval(r *run, s *scope) any {
	left := r.value(c.first, s)
	for _, one := range c.rest {
		right := r.value(one.right, s)
		r.line = c.at
		if !r.compared(one.op, left, right) {
			return false
		}
		left = right
	}
	return true
}

func (l *logical) eval(r *run, s *scope) any {
	left := r.value(l.left, s)
	if truth(left) == l.or {
		return left
	}
	return r.value(l.right, s)
}

func (n *not) eval(r *run, s *scope) any { return !truth(r.value(n.of, s)) }

func (c *conditional) eval(r *run, s *scope) any {
	if truth(r.value(c.condition, s)) {
		return r.value(c.yes, s)
	}
	if c.no == nil {
		return &undefined{why: "the inline if-expression evaluated to false and no else section was defined"}
	}
	return r.value(c.no, s)
}

func (q *sequence) eval(r *run, s *scope) any {
	out := &Seq{}
	if q.tuple {
		out.kind = tuple
	}
	r.grow(16 * len(q.items))
	for _, e := range q.items {
		out.items = append(out.items, r.value(e, s))
	}
	return out
}

func (d *dict) eval(r *run, s *scope) any {
	out := NewDict()
	r.line = d.at
	r.grow(64 * len(d.keys))
	for i := range d.keys {
		key := r.value(d.keys[i], s)
		out.set(r.hash(key), key, r.value(d.values[i], s))
	}
	return out
}

// attribute is v.name: an attribute of the value, or else an item.
func (r *run) attribute(v any, name string) any {
	if u, ok := v.(*undefined); ok {
		r.used(u)
	}
	if found, ok := r.own(v, name); ok {
		return found
	}
	if d, ok := v.(*Dict); ok {
		if found, ok := d.get(hashed{name}); ok {
			return found
		}
	}
	return missing(v, name)
}

// own is an attribute that the value's type gives it.
func (r *run) own(v any, name string) (any, bool) {
	if o, ok := v.(object); ok {
		return o.attribute(name)
	}
	if f := method(v, name); f != nil {
		return f, true
	}
	return nil, false
}

func missing(v any, name any) *undefined {
	what := typeName(v) + " object"
	if v == nil {
		what = "None"
	}
	if n, ok := name.(string); ok {
		return &undefined{why: fmt.Sprintf("'%s' has no attribute '%s'", what, n)}
	}
	return &undefined{why: fmt.Sprintf("'%s' has no such element", what)}
}

// item is v[index]: an item of the value, or else an attribute.
func (r *run) item(v, index any) any {
	switch v := v.(type) {
	case *undefined:
		r.used(v)
	case *Dict:
		if q, ok := index.(*Seq); !ok || q.kind == tuple {
			if found, ok := r.find(v, index); ok {
				return found
			}
		}
	case *Seq:
		if i, _, whole, ok := number(index); ok && whole && v.indexed() {
			if at, ok := position(i, len(v.items)); ok {
				return v.items[at]
			}
			return missing(v, index)
		}
	case string, markup:
		s, _ := text(v)
		if i, _, whole, ok := number(index); ok && whole {
			r.grow(4 * len(s))
			runes := []rune(s)
			if at, ok := position(i, len(runes)); ok {
				return like(v, string(runes[at]))
			}
			return missing(v, index)
		}
	}
	if name, ok := text(index); ok {
		if found, ok := r.own(v, name); ok {
			return found
		}
		return missing(v, name)
	}
	return missing(v, index)
}

// position is an index that may count from the end.
func position(i int64, n int) (int, bool) {
	if i < 0 {
		i += int64(n)
	}
	return int(i), i >= 0 && i < int64(n)
}
