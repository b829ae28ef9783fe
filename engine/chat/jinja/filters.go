package jinja

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// filters are jinja2's, but those for pages of the web (urlize, xmlattr, striptags,
// urlencode), and pprint, random, wordwrap and filesizeformat.
var filters map[string]func(r *run, v any, args given) any

func init() { // not in the declaration: map and the like look filters up
	filters = map[string]func(r *run, v any, args given) any{
		"abs": absOf, "attr": attrOf, "batch": batchOf, "capitalize": onText(capitalize), "center": centerOf,
		"count": lengthOf, "d": defaultOf, "default": defaultOf, "dictsort": dictsortOf,
		"e": escapeOf, "escape": escapeOf, "first": firstOf, "float": floatOf, "forceescape": forceEscapeOf,
		"format": formatOf, "groupby": groupOf, "indent": indentOf, "int": intOf, "items": itemsOf, "join": joinOf,
		"last": lastOf, "length": lengthOf, "list": listOf, "lower": onText(lower),
		"max": maxOf, "min": minOf, "replace": replaceOf, "reverse": reverseOf, "round": roundOf,
		"safe": safeOf, "slice": sliceOf, "sort": sortOf, "string": stringOf, "sum": sumOf,
		"title": titleOf, "tojson": tojson, "trim": trimOf, "truncate": truncateOf, "unique": uniqueOf,
		"upper": onText(upper), "wordcount": wordsOf, "map": mapOf,
	}
}

// filter is v | name(args).
func (r *run) filter(name string, v any, args given) any {
	if f := filters[name]; f != nil {
		return f(r, v, args)
	}
	if f := elementTests[name]; f != nil {
		return f(r, v, args)
	}
	unknown(r, "filter", name)
	return nil
}

// onText is a filter that changes a text.
func onText(f func(string) string) func(*run, any, given) any {
	return func(r *run, v any, args given) any {
		r.take("the filter", args)
		s := r.str(v)
		r.grow(2 * len(s))
		return like(v, f(s))
	}
}

func absOf(r *run, v any, args given) any {
	r.take("abs", args)
	i, f, whole, ok := number(v)
	if !ok {
		r.defined(v)
		r.fail("bad operand type for abs(): '%s'", typeName(v))
	}
	if whole && i < 0 {
		return r.whole("-", 0, i)
	} else if whole {
		return i
	}
	return math.Abs(f)
}

func attrOf(r *run, v any, args given) any {
	name := r.take("attr", args, "name").text(0, nil)
	r.defined(v)
	if found, ok := r.own(v, name); ok {
		return found
	}
	return missing(v, name)
}

// defaultOf is the value, or another where it is undefined.
func defaultOf(r *run, v any, args given) any {
	a := r.take("default", args, "default_value", "boolean")
	if _, ok := v.(*undefined); ok || a.truth(1, false) && !truth(v) {
		return a.or(0, "")
	}
	return v
}

func escapeOf(r *run, v any, args given) any {
	r.take("escape", args)
	if m, ok := v.(markup); ok {
		return m
	}
	return forceEscapeOf(r, v, args)
}

func forceEscapeOf(r *run, v any, args given) any {
	r.take("forceescape", args)
	s := r.str(v)
	r.grow(5 * len(s))
	return markup(escape(s))
}

func safeOf(r *run, v any, args given) any {
	r.take("safe", args)
	return markup(r.str(v))
}

func stringOf(r *run, v any, args given) any {
	r.take("string", args)
	return like(v, r.str(v))
}

func firstOf(r *run, v any, args given) any {
	r.take("first", args)
	if items := r.iterate(v); len(items) > 0 {
		return items[0]
	}
	return &undefined{why: "No first item, sequence was empty."}
}

func lastOf(r *run, v any, args given) any {
	r.take("last", args)
	if q, ok := v.(*Seq); ok && q.kind == generator {
		r.fail("'generator' object is not reversible")
	}
	if items := r.iterate(v); len(items) > 0 {
		return items[len(items)-1]
	}
	return &undefined{why: "No last item, sequence was empty."}
}

func lengthOf(r *run, v any, args given) any {
	r.take("length", args)
	return int64(r.length(v))
}

func listOf(r *run, v any, args given) any {
	r.take("list", args)
	items := r.iterate(v)
	r.grow(16 * len(items))
	return List(slices.Clone(items)...)
}

func formatOf(r *run, v any, args given) any {
	s := r.str(v)
	if len(args.plain) > 0 && len(args.names) > 0 {
		r.fail("format takes arguments in order or by name, not both")
	}
	if len(args.names) > 0 {
		d := NewDict()
		for i, n := range args.names {
			d.set(hashed{n}, n, args.named[i])
		}
		return like(v, r.printf(s, d))
	}
	return like(v, r.printf(s, newTuple(args.plain...)))
}

// intOf reads a number as int() does, and is another where there is none.
func intOf(r *run, v any, args given) any {
	a := r.take("int", args, "default", "base")
	r.defined(v)
	otherwise := a.or(0, int64(0))
	if s, ok := text(v); ok {
		s = strings.ToLower(strings.TrimFunc(s, space))
		digits, base := s, int(a.whole(1, 10))
		if prefix := map[int]string{16: "0x", 8: "0o", 2: "0b"}[base]; prefix != "" {
			digits = strings.TrimPrefix(s, prefix)
		}
		if n, err := strconv.ParseInt(strings.ReplaceAll(digits, "_", ""), base, 64); err == nil {
			return n
		}
		f, err := strconv.ParseFloat(s, 64)
		if err != nil {
			return otherwise
		}
		v = f
	}
	i, f, whole, ok := number(v)
	switch {
	case !ok || math.IsNaN(f) || math.IsInf(f, 0):
		return otherwise
	case whole:
		return i
	case math.Abs(f) >= 1<<63:
		r.fail("a number is beyond 64 bits")
	}
	return int64(f)
}

func floatOf(r *run, v any, args given) any {
	a := r.take("float", args, "default")
	r.defined(v)
	if s, ok := text(v); ok {
		if f, err := strconv.ParseFloat(strings.TrimFunc(s, space), 64); err == nil || math.IsInf(f, 0) {
			return f
		}
	} else if _, f, _, ok := number(v); ok {
		return f
	}
	return a.or(0, 0.0)
}

func roundOf(r *run, v any, args given) any {
	a := r.take("round", args, "precision", "method")
	_, f, whole, ok := number(v)
	if !ok {
		r.defined(v)
		r.fail("round wants a number, not %s", typeName(v))
	}
	digits := int(max(-400, min(a.whole(0, 0), 400)))
	switch method := a.text(1, "common"); method {
	case "common":
		if whole && digits >= 0 {
			return r.binary("+", v, int64(0))
		}
		if digits >= 0 {
			out, _ := strconv.ParseFloat(strconv.FormatFloat(f, 'f', digits, 64), 64)
			return out
		}
		by := math.Pow(10, float64(-digits))
		return math.RoundToEven(f/by) * by
	case "ceil":
		return math.Ceil(f*math.Pow(10, float64(digits))) / math.Pow(10, float64(digits))
	case "floor":
		return math.Floor(f*math.Pow(10, float64(digits))) / math.Pow(10, float64(digits))
	default:
		r.fail("method must be common, ceil or floor")
	}
	return nil
}

func itemsOf(r *run, v any, args given) any {
	r.take("items", args)
	switch v := v.(type) {
	case *undefined:
		return &Seq{kind: generator}
	case *Dict:
		return &Seq{kind: generator, items: pairs(r, v)}
	}
	r.fail("Can only get item pairs from a mapping.")
	return nil
}

// pairs are the items of a dict, as tuples.
func pairs(r *run, d *Dict) []any {
	r.grow(64 * len(d.keys))
	out := make([]any, len(d.keys))
	for i, k := range d.keys {
		out[i] = newTuple(k, d.values[i])
	}
	return out
}

func titleOf(r *run, v any, args given) any {
	r.take("title", args)
	s := r.str(v)
	r.grow(2 * len(s))
	return titleWords(s)
}

// titleWords makes the first letter of each word large: words begin behind blanks,
// hyphens and opening brackets, as do_title has them.
func titleWords(s string) string {
	var b strings.Builder
	at := 0
	word := func(part string) {
		_, n := utf8.DecodeRuneInString(part)
		b.WriteString(upper(part[:n]) + lower(part[n:]))
	}
	for _, gap := range wordBegins.FindAllStringIndex(s, -1) {
		word(s[at:gap[0]])
		word(s[gap[0]:gap[1]])
		at = gap[1]
	}
	word(s[at:])
	return b.String()
}

var wordBegins = regexp.MustCompile(`[-\s\p{Z}\x0b\x1c-\x1f({\[<]+`)

func trimOf(r *run, v any, args given) any {
	chars := r.take("trim", args, "chars").or(0, nil)
	s := r.str(v)
	r.work(len(s))
	if chars == nil {
		return like(v, strings.TrimFunc(s, space))
	}
	return like(v, strings.Trim(s, r.str(chars)))
}

func replaceOf(r *run, v any, args given) any {
	a := r.take("replace", args, "old", "new", "count")
	s, by := r.str(v), r.str(a.want(1))
	count := -1
	if n := a.or(2, nil); n != nil {
		count = int(max(-1, min(a.whole(2, 0), math.MaxInt32)))
	}
	return r.replace(s, r.str(a.want(0)), by, count)
}

// replace replaces parts of a text, all where count is negative.
func (r *run) replace(s, old, by string, count int) string {
	r.work(len(s))
	n := strings.Count(s, old)
	if count >= 0 {
		n = min(n, count)
	}
	r.grow(len(s))
	r.times(int64(n), len(by))
	return strings.Replace(s, old, by, count)
}

func wordsOf(r *run, v any, args given) any {
	r.take("wordcount", args)
	s := r.str(v)
	r.work(16 * len(s))
	return int64(len(wordPattern.FindAllStringIndex(s, -1)))
}

var wordPattern = regexp.MustCompile(`[\p{L}\p{N}_]+`)
