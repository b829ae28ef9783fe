package jinja

import (
	"fmt"
	"unicode/utf8"
)

// A value is one of: nil (None), bool, int64, float64, string, markup, *Seq, *Dict,
// *undefined, *function, *namespace, *loopValue.

// markup is a text that the filter safe has marked: what is added to it is escaped
// for HTML, as Python's markupsafe does it.
type markup string

// Seq is a list, or another sequence or iterator of Python.
type Seq struct {
	kind  seqKind
	items []any
	span  [3]int64 // of a range: what it was made of
	used  bool     // whether a generator has been walked
}

type seqKind int

const (
	list seqKind = iota
	tuple
	ranged
	keysView
	valuesView
	itemsView
	generator
)

// List makes a list.
func List(items ...any) *Seq { return &Seq{items: items} }

func newTuple(items ...any) *Seq { return &Seq{kind: tuple, items: items} }

// indexed is whether the sequence has positions, counted whether it has a length.
func (q *Seq) indexed() bool { return q.kind <= ranged }
func (q *Seq) counted() bool { return q.kind != generator }

// walk returns the items; a generator gives them once.
func (q *Seq) walk() []any {
	if q.kind != generator {
		return q.items
	}
	items := q.items
	q.items, q.used = nil, true
	return items
}

// Dict is a dict: it keeps the order in which keys were added.
type Dict struct {
	keys, values []any
	at           map[any]int
}

// NewDict makes a dict of keys and values in turn.
func NewDict(pairs ...any) *Dict {
	d := &Dict{at: map[any]int{}}
	for i := 0; i+1 < len(pairs); i += 2 {
		d.set(hashed{pairs[i]}, pairs[i], pairs[i+1])
	}
	return d
}

// hashed is the key of a text in a dict's index; other keys are made by run.hash.
type hashed struct{ key any }

func (d *Dict) set(h any, key, value any) {
	if i, ok := d.at[h]; ok {
		d.values[i] = value
		return
	}
	d.at[h] = len(d.keys)
	d.keys = append(d.keys, key)
	d.values = append(d.values, value)
}

func (d *Dict) get(h any) (any, bool) {
	if i, ok := d.at[h]; ok {
		return d.values[i], true
	}
	return nil, false
}

// undefined is what a name, an attribute or an argument without a value has.
type undefined struct {
	why  string // what is wrong when it is used
	name string // of a variable
	// strict is whether it may not even be printed.
	strict bool
}

// function is what can be called.
type function struct {
	name string
	call func(r *run, args given) any
}

// given are the arguments of a call.
type given struct {
	plain []any
	names []string
	named []any
}

// namespace is what namespace() makes.
type namespace struct{ attributes *Dict }

// objects have attributes of their own.
type object interface {
	attribute(name string) (any, bool)
}

func (n *namespace) attribute(name string) (any, bool) {
	return n.attributes.get(hashed{name})
}

// typeName is what Python calls the value's type.
func typeName(v any) string {
	switch v := v.(type) {
	case nil:
		return "None"
	case bool:
		return "bool"
	case int64:
		return "int"
	case float64:
		return "float"
	case string:
		return "str"
	case markup:
		return "Markup"
	case *Seq:
		return [...]string{"list", "tuple", "range", "dict_keys", "dict_values", "dict_items", "generator"}[v.kind]
	case *Dict:
		return "dict"
	case *undefined:
		return "Undefined"
	case *function:
		return "function"
	case *macroValue:
		return "Macro"
	case *namespace:
		return "Namespace"
	case *loopValue:
		return "LoopContext"
	}
	return fmt.Sprintf("%T", v)
}

// text is the value as a text, if it is one.
func text(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case markup:
		return string(v), true
	}
	return "", false
}

// like gives s the type of the text that it was made of.
func like(v any, s string) any {
	if _, ok := v.(markup); ok {
		return markup(s)
	}
	return s
}

// number is the value as a number: whole, or else a float.
func number(v any) (i int64, f float64, whole, ok bool) {
	switch v := v.(type) {
	case bool:
		if v {
			return 1, 1, true, true
		}
		return 0, 0, true, true
	case int64:
		return v, float64(v), true, true
	case float64:
		return 0, v, false, true
	}
	return 0, 0, false, false
}

// truth is whether Python holds the value for true.
func truth(v any) bool {
	switch v := v.(type) {
	case nil, *undefined:
		return false
	case bool:
		return v
	case int64:
		return v != 0
	case float64:
		return v != 0
	case string:
		return v != ""
	case markup:
		return v != ""
	case *Seq:
		return !v.counted() || len(v.items) > 0
	case *Dict:
		return len(v.keys) > 0
	}
	return true
}

// length is what len() says of the value.
func (r *run) length(v any) int {
	switch v := v.(type) {
	case string:
		r.work(len(v))
		return utf8.RuneCountInString(v)
	case markup:
		r.work(len(v))
		return utf8.RuneCountInString(string(v))
	case *Dict:
		return len(v.keys)
	case *undefined:
		return 0
	case *loopValue:
		return len(v.items)
	case *Seq:
		if v.counted() {
			return len(v.items)
		}
	}
	r.fail("object of type '%s' has no len()", typeName(v))
	return 0
}

// iterate returns the items of what a loop may walk over.
func (r *run) iterate(v any) []any {
	items, ok := r.items(v)
	if !ok {
		r.fail("'%s' object is not iterable", typeName(v))
	}
	return items
}

func (r *run) items(v any) ([]any, bool) {
	switch v := v.(type) {
	case *undefined:
		r.strict(v)
		return nil, true
	case *Seq:
		return v.walk(), true
	case *Dict:
		return v.keys, true
	case string, markup:
		s, _ := text(v)
		r.grow(16 * len(s))
		out := make([]any, 0, len(s))
		for _, c := range s {
			out = append(out, string(c))
		}
		return out, true
	}
	return nil, false
}

// hash is the key of a value in a dict's index: equal values have equal ones.
func (r *run) hash(v any) any {
	switch v := v.(type) {
	case nil:
		return hashed{nil}
	case string:
		return hashed{v}
	case markup:
		return hashed{string(v)}
	case bool, int64, float64:
		i, f, whole, _ := number(v)
		if whole {
			return hashed{i}
		}
		if i = int64(f); float64(i) == f {
			return hashed{i}
		}
		return hashed{f}
	case *Seq:
		if v.kind == tuple {
			return hashed{"\x00" + r.repr(v)}
		}
	case *undefined, *function, *macroValue, *namespace:
		return v
	}
	r.fail("unhashable type: '%s'", typeName(v))
	return nil
}

// find looks a key up in a dict, in which no key is what cannot be one.
func (r *run) find(d *Dict, key any) (any, bool) { return d.get(r.hash(key)) }
