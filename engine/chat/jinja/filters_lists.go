package jinja

import (
	"slices"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"
)

// elementTests are the filters that keep what a test says of each element, or of an
// attribute of it.
var elementTests map[string]func(r *run, v any, args given) any

func init() { // not in the declaration: a test may ask for a filter
	elementTests = map[string]func(r *run, v any, args given) any{
		"select": keep(true, false), "reject": keep(false, false),
		"selectattr": keep(true, true), "rejectattr": keep(false, true),
	}
}

func keep(want, attribute bool) func(r *run, v any, args given) any {
	return func(r *run, v any, args given) any {
		path, plain := any(nil), args.plain
		if attribute {
			if len(plain) == 0 {
				r.fail("missing parameter for attribute name")
			}
			path, plain = plain[0], plain[1:]
		}
		out := &Seq{kind: generator}
		if !truth(v) { // jinja2 takes None and the like for nothing here
			return out
		}
		for _, one := range r.iterate(v) {
			asked := one
			if attribute {
				asked = r.path(one, path, nil)
			}
			holds := truth(asked)
			if len(plain) > 0 {
				holds = r.test(r.str(plain[0]), asked, given{plain[1:], args.names, args.named})
			}
			if holds == want {
				out.items = append(out.items, one)
			}
		}
		r.grow(16 * len(out.items))
		return out
	}
}

// path follows an attribute's name, with points in it, or an item's number. No path
// is the value itself; otherwise stands for what is not there, unless it is None.
func (r *run) path(v, path, otherwise any) any {
	r.step(1)
	s, ok := text(path)
	switch {
	case path == nil:
		return v
	case !ok:
		s = r.repr(path)
	}
	for part := range strings.SplitSeq(s, ".") {
		if n, err := strconv.ParseInt(part, 10, 64); err == nil && n >= 0 {
			v = r.item(v, n)
		} else {
			v = r.item(v, part)
		}
		if _, ok := v.(*undefined); ok && otherwise != nil {
			v = otherwise
		}
	}
	return v
}

func mapOf(r *run, v any, args given) any {
	out := &Seq{kind: generator}
	var each func(one any) any
	if len(args.plain) == 0 && slices.Contains(args.names, "attribute") {
		a := r.take("map", args, "attribute", "default")
		each = func(one any) any { return r.path(one, a.want(0), a.or(1, nil)) }
	} else {
		if len(args.plain) == 0 {
			r.fail("map requires a filter argument")
		}
		name, rest := r.str(args.plain[0]), given{args.plain[1:], args.names, args.named}
		each = func(one any) any { return r.filter(name, one, rest) }
	}
	if !truth(v) { // as keep
		return out
	}
	for _, one := range r.iterate(v) {
		r.step(1)
		out.items = append(out.items, each(one))
	}
	r.grow(16 * len(out.items))
	return out
}

func joinOf(r *run, v any, args given) any {
	a := r.take("join", args, "d", "attribute")
	between := r.str(a.or(0, ""))
	return r.join(between, r.iterate(v), func(one any) string { return r.str(r.path(one, a.or(1, nil), nil)) })
}

func (r *run) join(between string, items []any, str func(any) string) string {
	var b strings.Builder
	for i, one := range items {
		r.step(1)
		part := str(one)
		if i > 0 {
			r.grow(len(between))
			b.WriteString(between)
		}
		r.grow(len(part))
		b.WriteString(part)
	}
	return b.String()
}

func reverseOf(r *run, v any, args given) any {
	r.take("reverse", args)
	if s, ok := text(v); ok {
		r.grow(4 * len(s))
		runes := []rune(s)
		slices.Reverse(runes)
		return like(v, string(runes))
	}
	if q, ok := v.(*Seq); ok && q.kind == generator { // reversed() takes none, list() does
		items := slices.Clone(q.walk())
		slices.Reverse(items)
		return List(items...)
	}
	items := slices.Clone(r.iterate(v))
	r.grow(16 * len(items))
	slices.Reverse(items)
	return &Seq{kind: generator, items: items}
}

// folded is what jinja2 compares where the case of letters does not matter.
func folded(v any, sensitive bool) any {
	if s, ok := text(v); ok && !sensitive {
		return lower(s)
	}
	return v
}

func sortOf(r *run, v any, args given) any {
	a := r.take("sort", args, "reverse", "case_sensitive", "attribute")
	items := slices.Clone(r.iterate(v))
	r.grow(32 * len(items))
	keys := make([]any, len(items))
	for i, one := range items {
		if s, ok := text(a.or(2, nil)); ok {
			key := newTuple()
			for part := range strings.SplitSeq(s, ",") {
				key.items = append(key.items, folded(r.path(one, part, nil), a.truth(1, false)))
			}
			keys[i] = key
		} else {
			keys[i] = folded(r.path(one, a.or(2, nil), nil), a.truth(1, false))
		}
	}
	return List(r.sorted(items, keys, a.truth(0, false))...)
}

// sorted orders items by their keys; equal ones stay in their order.
func (r *run) sorted(items, keys []any, reverse bool) []any {
	order := make([]int, len(items))
	for i := range order {
		order[i] = i
	}
	sort.SliceStable(order, func(i, j int) bool {
		if reverse {
			i, j = j, i
		}
		return r.order("<", keys[order[i]], keys[order[j]]) < 0
	})
	out := make([]any, len(items))
	for i, at := range order {
		out[i] = items[at]
	}
	return out
}

func dictsortOf(r *run, v any, args given) any {
	a := r.take("dictsort", args, "case_sensitive", "by", "reverse")
	d, ok := v.(*Dict)
	if !ok {
		r.defined(v)
		r.fail("'%s' object has no attribute 'items'", typeName(v))
	}
	by := d.keys
	switch a.text(1, "key") {
	case "key":
	case "value":
		by = d.values
	default:
		r.fail("You can only sort by either \"key\" or \"value\"")
	}
	keys := make([]any, len(by))
	for i, k := range by {
		keys[i] = folded(k, a.truth(0, false))
	}
	return List(r.sorted(pairs(r, d), keys, a.truth(2, false))...)
}

func uniqueOf(r *run, v any, args given) any {
	a := r.take("unique", args, "case_sensitive", "attribute")
	seen, out := map[any]bool{}, &Seq{kind: generator}
	for _, one := range r.iterate(v) {
		h := r.hash(folded(r.path(one, a.or(1, nil), nil), a.truth(0, false)))
		if !seen[h] {
			seen[h] = true
			out.items = append(out.items, one)
		}
	}
	r.grow(64 * len(out.items))
	return out
}

func groupOf(r *run, v any, args given) any {
	a := r.take("groupby", args, "attribute", "default", "case_sensitive")
	items := slices.Clone(r.iterate(v))
	values, keys := make([]any, len(items)), make([]any, len(items))
	for i, one := range items {
		values[i] = r.path(one, a.want(0), a.or(1, nil))
		keys[i] = folded(values[i], a.truth(2, false))
	}
	order := make([]any, len(items))
	for i := range order {
		order[i] = int64(i)
	}
	r.grow(64 * len(items))
	out, last := List(), -1
	for _, i := range r.sorted(order, keys, false) {
		at := int(i.(int64))
		if last < 0 || !r.equal(keys[last], keys[at]) {
			out.items = append(out.items, newTuple(values[at], List()))
		}
		group := out.items[len(out.items)-1].(*Seq).items[1].(*Seq)
		group.items = append(group.items, items[at])
		last = at
	}
	return out
}

func minOf(r *run, v any, args given) any { return extreme(r, v, args, "min") }
func maxOf(r *run, v any, args given) any { return extreme(r, v, args, "max") }

func extreme(r *run, v any, args given, name string) any {
	a := r.take(name, args, "case_sensitive", "attribute")
	var best, bestKey any = &undefined{why: "No aggregated item, sequence was empty."}, nil
	for i, one := range r.iterate(v) {
		key := folded(r.path(one, a.or(1, nil), nil), a.truth(0, false))
		if i == 0 || name == "min" && r.order("<", key, bestKey) < 0 || name == "max" && r.order(">", bestKey, key) < 0 {
			best, bestKey = one, key
		}
	}
	return best
}

func sumOf(r *run, v any, args given) any {
	a := r.take("sum", args, "attribute", "start")
	total := a.or(1, int64(0))
	for _, one := range r.iterate(v) {
		total = r.binary("+", total, r.path(one, a.or(0, nil), nil))
	}
	return total
}

// batchOf cuts a list into ones of a length; sliceOf, into a number of lists.
func batchOf(r *run, v any, args given) any {
	a := r.take("batch", args, "linecount", "fill_with")
	n, items := a.whole(0, 0), r.iterate(v)
	if n < 1 {
		r.fail("batch: a length of 1 or more is wanted")
	}
	out := &Seq{kind: generator}
	for part := range slices.Chunk(items, int(min(n, int64(len(items)+1)))) {
		one := List(slices.Clone(part)...)
		if fill := a.or(1, nil); fill != nil {
			for range r.times(n-int64(len(part)), 16) {
				one.items = append(one.items, fill)
			}
		}
		out.items = append(out.items, one)
	}
	r.grow(32 * len(items))
	return out
}

func sliceOf(r *run, v any, args given) any {
	a := r.take("slice", args, "slices", "fill_with")
	n, items := a.whole(0, 0), r.iterate(v)
	if n < 1 {
		r.fail("slice: a number of 1 or more is wanted")
	}
	out, at := &Seq{kind: generator}, 0
	each, more := len(items)/int(n), len(items)%int(n)
	r.grow(16 * len(items))
	for i := range r.times(n, 32) {
		end := at + each
		if i < more {
			end++
		}
		one := List(slices.Clone(items[at:end])...)
		if fill := a.or(1, nil); fill != nil && i >= more {
			one.items = append(one.items, fill)
		}
		out.items = append(out.items, one)
		at = end
	}
	return out
}

// indentOf indents the lines of a text.
func indentOf(r *run, v any, args given) any {
	a := r.take("indent", args, "width", "first", "blank")
	by, ok := text(a.or(0, int64(4)))
	if !ok {
		by = strings.Repeat(" ", r.times(a.whole(0, 4), 1))
	}
	s := r.str(v)
	lines := splitLines(s+"\n", false)
	r.grow(len(s))
	r.times(int64(len(lines)+1), len(by))
	for i, line := range lines {
		if (i > 0 || a.truth(1, false)) && (line != "" || a.truth(2, false)) {
			lines[i] = by + line
		}
	}
	if a.truth(1, false) && lines[0] == "" && !a.truth(2, false) {
		lines[0] = by
	}
	return like(v, strings.Join(lines, "\n"))
}

func centerOf(r *run, v any, args given) any {
	width := r.take("center", args, "width").whole(0, 80)
	return like(v, r.pad(r.str(v), width, " ", '^'))
}

// truncateOf cuts a text and says so.
func truncateOf(r *run, v any, args given) any {
	a := r.take("truncate", args, "length", "killwords", "end", "leeway")
	s, end := r.str(v), a.text(2, "...")
	n, leeway := a.whole(0, 255), int64(5)
	if a.or(3, nil) != nil {
		leeway = a.whole(3, 5)
	}
	short := n - int64(utf8.RuneCountInString(end))
	if short < 0 || leeway < 0 {
		r.fail("truncate: expected length >= %d and leeway >= 0", utf8.RuneCountInString(end))
	}
	r.grow(4 * len(s))
	runes := []rune(s)
	if int64(len(runes)) <= n+leeway {
		return v
	}
	cut := string(runes[:short])
	if at := strings.LastIndexByte(cut, ' '); !a.truth(1, false) && at >= 0 {
		cut = cut[:at]
	}
	return cut + end
}
