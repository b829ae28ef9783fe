package jinja

// globals are the functions that every template has.
var globals map[string]*function

func init() { // not in the declaration: they call what looks them up
	globals = map[string]*function{
		"range": {"range", rangeOf}, "dict": {"dict", dictOf}, "namespace": {"namespace", namespaceOf},
		"cycler": {"cycler", cyclerOf}, "joiner": {"joiner", joinerOf},
		"raise_exception": {"raise_exception", raise}, "strftime_now": {"strftime_now", strftimeNow},
	}
}

// raise ends the rendering with the template's own words.
func raise(r *run, args given) any {
	message := r.str(r.take("raise_exception", args, "message").want(0))
	panic(&Error{Line: int(r.line), What: message, Raised: true})
}

func strftimeNow(r *run, args given) any {
	format := r.take("strftime_now", args, "format").text(0, nil)
	r.grow(32 * len(format))
	return strftime(r.Now, format)
}

// maxRange is jinja2's own bound of a range in its sandbox.
const maxRange = 100_000

func rangeOf(r *run, args given) any {
	var n [3]int64
	a := r.take("range", args, "start", "stop", "step")
	switch len(args.plain) {
	case 1:
		n = [3]int64{0, a.whole(0, 0), 1}
	case 2, 3:
		n = [3]int64{a.whole(0, 0), a.whole(1, 0), a.whole(2, 1)}
	default:
		r.fail("range expected 1 to 3 arguments, got %d", len(args.plain))
	}
	if n[2] == 0 {
		r.fail("range() arg 3 must not be zero")
	}
	q := &Seq{kind: ranged, span: n}
	for i := n[0]; n[2] > 0 && i < n[1] || n[2] < 0 && i > n[1]; i += n[2] {
		if len(q.items) == maxRange {
			r.fail("range too big: the sandbox blocks ranges larger than %d", maxRange)
		}
		q.items = append(q.items, i)
		if next := i + n[2]; (next > i) != (n[2] > 0) {
			break
		}
	}
	r.grow(16 * len(q.items))
	return q
}

// dictOf is dict(…): of another dict or of pairs, and of names.
func dictOf(r *run, args given) any {
	d := NewDict()
	if len(args.plain) > 1 {
		r.fail("dict expected at most 1 argument, got %d", len(args.plain))
	}
	for _, from := range args.plain {
		switch from := from.(type) {
		case *Dict:
			for i, k := range from.keys {
				d.set(r.hash(k), k, from.values[i])
			}
		default:
			for _, one := range r.iterate(from) {
				pair := r.iterate(one)
				if len(pair) != 2 {
					r.fail("dict wants pairs, and got %d values", len(pair))
				}
				d.set(r.hash(pair[0]), pair[0], pair[1])
			}
		}
	}
	for i, name := range args.names {
		d.set(hashed{name}, name, args.named[i])
	}
	r.grow(64 * len(d.keys))
	return d
}

func namespaceOf(r *run, args given) any { return &namespace{dictOf(r, args).(*Dict)} }

// cycler gives its items in turn.
type cycler struct {
	items []any
	at    int
}

func cyclerOf(r *run, args given) any {
	if len(args.plain) == 0 {
		r.fail("at least one item has to be provided")
	}
	c := &cycler{items: args.plain}
	return &namespace{NewDict(
		"next", &function{"next", func(*run, given) any {
			v := c.items[c.at%len(c.items)]
			c.at = (c.at + 1) % len(c.items)
			return v
		}},
		"reset", &function{"reset", func(*run, given) any {
			c.at = 0
			return nil
		}})}
}

// joinerOf makes a function that gives an empty text first and then a separator.
func joinerOf(r *run, args given) any {
	separator, used := r.take("joiner", args, "sep").or(0, ", "), false
	return &function{"joiner", func(*run, given) any {
		if !used {
			used = true
			return ""
		}
		return separator
	}}
}

func unknown(r *run, what, name string) {
	r.fail("no %s named '%s' is known", what, name)
}
