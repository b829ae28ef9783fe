package jinja

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// mutating are the methods that jinja2's immutable sandbox keeps templates from.
var mutating = map[string][]string{
	"list": {"append", "clear", "pop", "reverse", "insert", "sort", "extend", "remove"},
	"dict": {"clear", "pop", "popitem", "setdefault", "update"},
}

// method is a method of a value, bound to it, nil where its type has none of that
// name.
func method(v any, name string) *function {
	if slices.Contains(mutating[typeName(v)], name) {
		return &function{name, func(r *run, _ given) any {
			r.fail("access to attribute '%s' of '%s' object is unsafe: a template may not change what it is given", name, typeName(v))
			return nil
		}}
	}
	switch v := v.(type) {
	case string, markup:
		if f, ok := textMethods[name]; ok {
			s, _ := text(v)
			return &function{name, func(r *run, args given) any {
				r.work(len(s))
				out := f(r, s, args)
				if made, ok := out.(string); ok {
					return like(v, made)
				}
				return out
			}}
		}
	case *Dict:
		if f, ok := dictMethods[name]; ok {
			return &function{name, func(r *run, args given) any { return f(r, v, args) }}
		}
	case *Seq:
		if f, ok := listMethods[name]; ok && v.kind <= tuple {
			return &function{name, func(r *run, args given) any { return f(r, v, args) }}
		}
	}
	return nil
}

var dictMethods = map[string]func(r *run, d *Dict, args given) any{
	"get": func(r *run, d *Dict, args given) any {
		a := r.take("get", args, "key", "default")
		if v, ok := r.find(d, a.want(0)); ok {
			return v
		}
		return a.or(1, nil)
	},
	"items": func(r *run, d *Dict, args given) any {
		r.take("items", args)
		return &Seq{kind: itemsView, items: pairs(r, d)}
	},
	"keys": func(r *run, d *Dict, args given) any {
		r.take("keys", args)
		return &Seq{kind: keysView, items: d.keys}
	},
	"values": func(r *run, d *Dict, args given) any {
		r.take("values", args)
		return &Seq{kind: valuesView, items: d.values}
	},
	"copy": func(r *run, d *Dict, args given) any {
		r.take("copy", args)
		return dictOf(r, given{plain: []any{d}})
	},
}

var listMethods = map[string]func(r *run, q *Seq, args given) any{
	"count": func(r *run, q *Seq, args given) any {
		n, v := int64(0), r.take("count", args, "value").want(0)
		for _, one := range q.items {
			if r.equal(one, v) {
				n++
			}
		}
		return n
	},
	"index": func(r *run, q *Seq, args given) any {
		v := r.take("index", args, "value").want(0)
		for i, one := range q.items {
			if r.equal(one, v) {
				return int64(i)
			}
		}
		r.fail("the value is not in the list")
		return nil
	},
	"copy": func(r *run, q *Seq, args given) any {
		r.take("copy", args)
		r.grow(16 * len(q.items))
		return &Seq{kind: q.kind, items: slices.Clone(q.items)}
	},
}

// textMethods are those of str. Each has been charged for reading the text.
var textMethods map[string]func(r *run, s string, args given) any

func init() { // not in the declaration: format looks attributes up
	textMethods = map[string]func(r *run, s string, args given) any{
		"capitalize": changed(capitalize), "lower": changed(lower), "upper": changed(upper),
		"title": changed(title), "casefold": changed(lower), "swapcase": changed(swapcase),
		"strip":  stripped(strings.TrimFunc, strings.Trim),
		"lstrip": stripped(strings.TrimLeftFunc, strings.TrimLeft),
		"rstrip": stripped(strings.TrimRightFunc, strings.TrimRight),
		"split":  split(false), "rsplit": split(true), "splitlines": lines,
		"partition": partition(strings.Index), "rpartition": partition(strings.LastIndex),
		"startswith": affix(strings.HasPrefix), "endswith": affix(strings.HasSuffix),
		"removeprefix": without(strings.TrimPrefix), "removesuffix": without(strings.TrimSuffix),
		"find": found(strings.Index, false), "rfind": found(strings.LastIndex, false),
		"index": found(strings.Index, true), "rindex": found(strings.LastIndex, true),
		"count": counted, "replace": replaced, "join": joined, "format": formatted,
		"ljust": padded('<'), "rjust": padded('>'), "center": padded('^'), "zfill": zfill,
		"isdigit": every(isDigit), "isdecimal": every(isDecimal), "isnumeric": every(isNumeric),
		"isalpha": every(isAlpha), "isalnum": every(isAlnum), "isspace": every(space),
		"islower": cased(lower, upper), "isupper": cased(upper, lower),
		"isascii": func(r *run, s string, args given) any {
			r.take("isascii", args)
			return !strings.ContainsFunc(s, func(c rune) bool { return c >= utf8.RuneSelf })
		},
	}
}

type textMethod = func(r *run, s string, args given) any

func changed(f func(string) string) textMethod {
	return func(r *run, s string, args given) any {
		r.take("the method", args)
		r.grow(2 * len(s))
		return f(s)
	}
}

func stripped(blanks func(string, func(rune) bool) string, set func(string, string) string) textMethod {
	return func(r *run, s string, args given) any {
		chars := r.take("strip", args, "chars").or(0, nil)
		if chars == nil {
			return blanks(s, space)
		}
		c, ok := text(chars)
		if !ok {
			r.fail("strip arg must be None or str")
		}
		r.work(len(s) * min(len(c), 64))
		return set(s, c)
	}
}

// split cuts at a separator, or at white space where there is none.
func split(right bool) textMethod {
	return func(r *run, s string, args given) any {
		a := r.take("split", args, "sep", "maxsplit")
		limit := int(max(-1, min(a.whole(1, -1), math.MaxInt32)))
		var parts []string
		if by := a.or(0, nil); by == nil {
			parts = fields(s, limit, right)
		} else {
			parts = r.cut(s, a.text(0, nil), limit, right)
		}
		out := List()
		r.grow(16 * len(parts))
		for _, p := range parts {
			out.items = append(out.items, p)
		}
		return out
	}
}

func (r *run) cut(s, by string, limit int, right bool) []string {
	if by == "" {
		r.fail("empty separator")
	}
	r.grow(16 * strings.Count(s, by))
	if limit < 0 {
		return strings.Split(s, by)
	}
	if !right {
		return strings.SplitN(s, by, limit+1)
	}
	var parts []string
	for at := strings.LastIndex(s, by); at >= 0 && len(parts) < limit; at = strings.LastIndex(s, by) {
		parts = append(parts, s[at+len(by):])
		s = s[:at]
	}
	parts = append(parts, s)
	slices.Reverse(parts)
	return parts
}

// fields cuts at white space, at most limit times from the left or the right; the
// rest keeps what is within it.
func fields(s string, limit int, right bool) []string {
	if limit < 0 {
		return strings.FieldsFunc(s, space)
	}
	var parts []string
	trim := strings.TrimLeftFunc
	if right {
		trim = strings.TrimRightFunc
	}
	for s = trim(s, space); s != ""; s = trim(s, space) {
		at := strings.IndexFunc(s, space)
		if right {
			at = strings.LastIndexFunc(s, space)
		}
		if len(parts) == limit || at < 0 {
			parts = append(parts, s)
			break
		}
		_, n := utf8.DecodeRuneInString(s[at:])
		if right {
			parts, s = append(parts, s[at+n:]), s[:at+n]
		} else {
			parts, s = append(parts, s[:at]), s[at:]
		}
	}
	if right {
		slices.Reverse(parts)
	}
	return parts
}

func lines(r *run, s string, args given) any {
	keep := r.take("splitlines", args, "keepends").truth(0, false)
	out := List()
	for _, one := range splitLines(s, keep) {
		out.items = append(out.items, one)
	}
	r.grow(16 * len(out.items))
	return out
}

// splitLines cuts at what Python takes for the end of a line.
func splitLines(s string, keep bool) (out []string) {
	for s != "" {
		at := strings.IndexAny(s, "\n\r\x0b\x0c\x1c\x1d\x1e\u0085\u2028\u2029")
		if at < 0 {
			return append(out, s)
		}
		_, n := utf8.DecodeRuneInString(s[at:])
		if strings.HasPrefix(s[at:], "\r\n") {
			n = 2
		}
		end := at
		if keep {
			end += n
		}
		out, s = append(out, s[:end]), s[at+n:]
	}
	return out
}

func partition(find func(s, part string) int) textMethod {
	return func(r *run, s string, args given) any {
		by := r.take("partition", args, "sep").text(0, nil)
		if by == "" {
			r.fail("empty separator")
		}
		switch at := find(s, by); {
		case at >= 0:
			return newTuple(s[:at], by, s[at+len(by):])
		case find("aa", "a") == 1: // from the right
			return newTuple("", "", s)
		}
		return newTuple(s, "", "")
	}
}

// affix is startswith and endswith: of one text or any of a tuple.
func affix(has func(s, part string) bool) textMethod {
	return func(r *run, s string, args given) any {
		a := r.take("startswith", args, "prefix", "start", "end")
		s = part(r, s, a)
		all := []any{a.want(0)}
		if q, ok := all[0].(*Seq); ok && q.kind == tuple {
			all = q.items
		}
		for _, one := range all {
			p, ok := text(one)
			if !ok {
				r.defined(one)
				r.fail("startswith and endswith want a str or a tuple of str, not %s", typeName(one))
			}
			if has(s, p) {
				return true
			}
		}
		return false
	}
}

// part is what the arguments 1 and 2 cut out of a text.
func part(r *run, s string, a *bound) string {
	if a.or(1, nil) == nil && a.or(2, nil) == nil {
		return s
	}
	from, to := partBounds(r, s, a)
	return string([]rune(s)[from:max(from, to)])
}

func partBounds(r *run, s string, a *bound) (from, to int64) {
	r.grow(4 * len(s))
	n := int64(utf8.RuneCountInString(s))
	clip := func(i int, otherwise int64) int64 {
		v := otherwise
		if a.or(i, nil) != nil {
			v = a.whole(i, otherwise)
		}
		if v < 0 {
			v += n
		}
		return max(0, min(v, n))
	}
	return clip(1, 0), clip(2, n)
}

func without(f func(s, part string) string) textMethod {
	return func(r *run, s string, args given) any {
		return f(s, r.take("removeprefix", args, "prefix").text(0, nil))
	}
}

func found(find func(s, part string) int, must bool) textMethod {
	return func(r *run, s string, args given) any {
		a := r.take("find", args, "sub", "start", "end")
		from, to := partBounds(r, s, a)
		cut := string([]rune(s)[from:max(from, to)])
		at := find(cut, a.text(0, nil))
		if at < 0 && must {
			r.fail("substring not found")
		} else if at < 0 {
			return int64(-1)
		}
		return from + int64(utf8.RuneCountInString(cut[:at]))
	}
}

func counted(r *run, s string, args given) any {
	a := r.take("count", args, "sub", "start", "end")
	return int64(strings.Count(part(r, s, a), a.text(0, nil)))
}

func replaced(r *run, s string, args given) any {
	a := r.take("replace", args, "old", "new", "count")
	count := int(max(-1, min(a.whole(2, -1), math.MaxInt32)))
	return r.replace(s, a.text(0, nil), a.text(1, nil), count)
}

func joined(r *run, s string, args given) any {
	at := -1
	return r.join(s, r.iterate(r.take("join", args, "iterable").want(0)), func(one any) string {
		at++
		part, ok := text(one)
		if !ok {
			r.defined(one)
			r.fail("sequence item %d: expected str instance, %s found", at, typeName(one))
		}
		return part
	})
}

func padded(align byte) textMethod {
	return func(r *run, s string, args given) any {
		a := r.take(fmt.Sprintf("padding %c", align), args, "width", "fillchar")
		fill := a.text(1, " ")
		if utf8.RuneCountInString(fill) != 1 {
			r.fail("the fill character must be exactly one character long")
		}
		return r.pad(s, a.whole(0, 0), fill, align)
	}
}

// pad fills a text up to a width; align is <, > or ^.
func (r *run) pad(s string, width int64, fill string, align byte) string {
	n := r.times(width-int64(utf8.RuneCountInString(s)), len(fill))
	left := 0
	switch align {
	case '>':
		left = n
	case '^': // as str.center: the odd one stands left where the width is odd
		left = n/2 + n&int(width)&1
	}
	r.grow(len(s))
	return strings.Repeat(fill, left) + s + strings.Repeat(fill, n-left)
}

func zfill(r *run, s string, args given) any {
	width := r.take("zfill", args, "width").whole(0, 0)
	sign := signOf(s)
	return sign + r.pad(s[len(sign):], width-int64(len(sign)), "0", '>')
}
