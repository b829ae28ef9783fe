package jinja

import "fmt"

func (d *data) exec(r *run, _ *scope) flow {
	r.write(d.text)
	return onward
}

func (o *output) exec(r *run, s *scope) flow {
	r.line = o.at
	r.write(r.str(r.value(o.of, s)))
	return onward
}

func (i *ifs) exec(r *run, s *scope) flow {
	for _, b := range i.branches {
		if b.condition == nil || truth(r.value(b.condition, s)) {
			return r.body(b.body, s)
		}
	}
	return onward
}

func (l *loops) exec(r *run, s *scope) flow {
	r.line = l.at
	l.walk(r, s, r.value(l.over, s), 0)
	return onward
}

// walk runs the loop over a value, at a depth of recursion.
func (l *loops) walk(r *run, s *scope, over any, depth int) {
	items := r.iterate(over)
	if l.when != nil {
		var kept []any
		for _, v := range items {
			inner := s.inner()
			r.assign(inner, l.target, v)
			if truth(r.value(l.when, inner)) {
				kept = append(kept, v)
			}
		}
		items = kept
	}
	state := &loopValue{loop: l, scope: s, items: items, depth: depth}
	for i, v := range items {
		state.at = i
		inner := s.inner()
		inner.set("loop", state)
		r.assign(inner, l.target, v)
		if r.body(l.body, inner) == breaks {
			return
		}
	}
	if len(items) == 0 {
		r.body(l.none, s.inner())
	}
}

// assign gives a value to a target.
func (r *run) assign(s *scope, t target, v any) {
	r.step(1)
	switch {
	case t.parts != nil:
		items := r.iterate(v)
		if len(items) != len(t.parts) {
			r.line = t.at
			if len(items) > len(t.parts) {
				r.fail("too many values to unpack (expected %d)", len(t.parts))
			}
			r.fail("not enough values to unpack (expected %d, got %d)", len(t.parts), len(items))
		}
		for i, part := range t.parts {
			r.assign(s, part, items[i])
		}
	case t.attribute != "":
		r.line = t.at
		n, ok := r.lookup(s, t.name).(*namespace)
		if !ok {
			r.fail("cannot assign attribute on non-namespace object")
		}
		n.attributes.set(hashed{t.attribute}, t.attribute, v)
	default:
		s.set(t.name, v)
	}
}

func (a *assign) exec(r *run, s *scope) flow {
	r.line = a.at
	r.assign(s, a.target, r.value(a.value, s))
	return onward
}

func (a *assignBlock) exec(r *run, s *scope) flow {
	var v any = r.captured(func() { r.body(a.body, s.inner()) })
	if a.filter != nil {
		r.line = a.at
		v = r.value(a.filter, filtered(s, v))
	}
	r.assign(s, a.target, v)
	return onward
}

func (f *filterBlock) exec(r *run, s *scope) flow {
	v := r.captured(func() { r.body(f.body, s.inner()) })
	r.line = f.at
	r.write(r.str(r.value(f.filter, filtered(s, v))))
	return onward
}

// blockText is the name under which filters of a block find its text: no template
// can name it.
const blockText = "block text"

func filtered(s *scope, v any) *scope {
	inner := s.inner()
	inner.set(blockText, v)
	return inner
}

func (w *with) exec(r *run, s *scope) flow {
	inner := s.inner()
	for i, t := range w.targets {
		r.line = t.at
		r.assign(inner, t, r.value(w.values[i], s))
	}
	return r.body(w.body, inner)
}

func (b *block) exec(r *run, s *scope) flow { return r.body(b.body, s.inner()) }

func (j *jump) exec(*run, *scope) flow { return j.flow }

func (m *macro) exec(_ *run, s *scope) flow {
	s.set(m.name, &macroValue{m, s})
	return onward
}

func (c *callBlock) exec(r *run, s *scope) flow {
	r.line = c.at
	args := r.arguments(c.call.args, s)
	args.names = append(args.names, "caller")
	args.named = append(args.named, &macroValue{c.caller, s})
	v := r.call(r.value(c.call.callee, s), args)
	r.write(r.str(v))
	return onward
}

// macroValue is a macro where it was defined.
type macroValue struct {
	*macro
	scope *scope
}

func (m *macroValue) attribute(name string) (any, bool) {
	switch name {
	case "name":
		return m.name, true
	case "arguments":
		names := newTuple()
		for _, n := range m.parameters.names {
			names.items = append(names.items, n)
		}
		return names, true
	case "catch_kwargs":
		return m.takesNamed, true
	case "catch_varargs":
		return m.takesRest, true
	case "caller":
		return m.takesCaller, true
	}
	return nil, false
}

// call runs the macro's body and returns what it writes.
func (m *macroValue) call(r *run, args given) any {
	if r.depth++; r.depth > maxNested {
		r.fail("the template calls itself, or nests, deeper than %d levels", maxNested)
	}
	names, s, line := m.parameters.names, m.scope.inner(), r.line
	if len(args.plain) > len(names) && !m.takesRest {
		r.fail("macro '%s' takes not more than %d argument(s)", m.name, len(names))
	}
	for i := range min(len(args.plain), len(names)) {
		s.set(names[i], args.plain[i])
	}
	if m.takesRest {
		s.set("varargs", newTuple(args.plain[min(len(args.plain), len(names)):]...))
	}
	m.names(r, args, s)
	for i, name := range names {
		if _, ok := s.values[name]; ok {
			continue
		}
		if d := i - len(names) + len(m.parameters.defaults); d >= 0 {
			s.set(name, r.value(m.parameters.defaults[d], s))
		} else {
			s.set(name, &undefined{why: fmt.Sprintf("parameter '%s' was not provided", name), name: name})
		}
	}
	text := r.captured(func() { r.body(m.body, s) })
	r.depth--
	r.line = line
	return text
}

// names takes the arguments that are given by name.
func (m *macroValue) names(r *run, args given, s *scope) {
	rest := NewDict()
	if m.takesCaller {
		s.set("caller", &undefined{why: "No caller defined", name: "caller"})
	}
	for i, name := range args.names {
		known := false
		for j, p := range m.parameters.names {
			if p == name {
				if known = true; j < len(args.plain) {
					r.fail("macro '%s' got multiple values for argument '%s'", m.name, name)
				}
			}
		}
		switch {
		case known, name == "caller" && m.takesCaller:
			s.set(name, args.named[i])
		case m.takesNamed:
			rest.set(hashed{name}, name, args.named[i])
		default:
			r.fail("macro '%s' takes no keyword argument '%s'", m.name, name)
		}
	}
	if m.takesNamed {
		s.set("kwargs", rest)
	}
}

// loopValue is the variable loop.
type loopValue struct {
	loop  *loops
	scope *scope
	items []any
	at    int
	depth int
	last  any // what changed was asked of last, a tuple
}

func (l *loopValue) attribute(name string) (any, bool) {
	n := len(l.items)
	switch name {
	case "index":
		return int64(l.at + 1), true
	case "index0":
		return int64(l.at), true
	case "revindex":
		return int64(n - l.at), true
	case "revindex0":
		return int64(n - l.at - 1), true
	case "first":
		return l.at == 0, true
	case "last":
		return l.at == n-1, true
	case "length":
		return int64(n), true
	case "depth":
		return int64(l.depth + 1), true
	case "depth0":
		return int64(l.depth), true
	case "previtem":
		if l.at > 0 {
			return l.items[l.at-1], true
		}
		return &undefined{why: "there is no previous item"}, true
	case "nextitem":
		if l.at < n-1 {
			return l.items[l.at+1], true
		}
		return &undefined{why: "there is no next item"}, true
	case "cycle":
		return &function{"cycle", func(r *run, args given) any {
			if len(args.plain) == 0 {
				r.fail("no items for cycling given")
			}
			return args.plain[l.at%len(args.plain)]
		}}, true
	case "changed":
		return &function{"changed", func(r *run, args given) any {
			now := newTuple(args.plain...)
			same := l.last != nil && r.equal(l.last, now)
			l.last = now
			return !same
		}}, true
	}
	return nil, false
}

// call walks a recursive loop over other items.
func (l *loopValue) call(r *run, args given) any {
	if !l.loop.recursive {
		r.fail("the loop must have the word recursive to be called")
	}
	if len(args.plain) != 1 {
		r.fail("loop takes 1 argument")
	}
	return r.captured(func() { l.loop.walk(r, l.scope, args.plain[0], l.depth+1) })
}
