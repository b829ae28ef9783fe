package jinja

import "slices"

// bound are the arguments of a function by their parameters.
type bound struct {
	r      *run
	what   string
	params []string
	values []any
	given  []bool
}

// take binds arguments to parameters; other ones are an error.
func (r *run) take(what string, args given, params ...string) *bound {
	b := &bound{r, what, params, make([]any, len(params)), make([]bool, len(params))}
	if len(args.plain) > len(params) {
		r.fail("%s takes %d arguments at most, %d were given", what, len(params), len(args.plain))
	}
	for i, v := range args.plain {
		b.values[i], b.given[i] = v, true
	}
	for i, name := range args.names {
		at := slices.Index(params, name)
		switch {
		case at < 0:
			r.fail("%s takes no argument '%s'", what, name)
		case b.given[at]:
			r.fail("%s got multiple values for argument '%s'", what, name)
		}
		b.values[at], b.given[at] = args.named[i], true
	}
	return b
}

// or is an argument, or what holds where it is not given.
func (b *bound) or(i int, otherwise any) any {
	if b.given[i] {
		return b.values[i]
	}
	return otherwise
}

// want is an argument that must be given.
func (b *bound) want(i int) any {
	if !b.given[i] {
		b.r.fail("%s wants the argument %s", b.what, b.params[i])
	}
	return b.values[i]
}

// text, whole and truth are arguments of a type.
func (b *bound) text(i int, otherwise any) string {
	v := b.or(i, otherwise)
	s, ok := text(v)
	if !ok {
		b.r.defined(v)
		b.r.fail("%s: %s is of the type %s, a text is wanted", b.what, b.params[i], typeName(v))
	}
	return s
}

func (b *bound) whole(i int, otherwise int64) int64 {
	v := b.or(i, otherwise)
	n, _, whole, ok := number(v)
	if !ok || !whole {
		b.r.defined(v)
		b.r.fail("%s: %s is of the type %s, a whole number is wanted", b.what, b.params[i], typeName(v))
	}
	return n
}

func (b *bound) truth(i int, otherwise bool) bool { return truth(b.or(i, otherwise)) }
