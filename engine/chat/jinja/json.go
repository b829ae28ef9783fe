package jinja

import (
	"fmt"
	"sort"
	"strings"
	"unicode/utf16"
)

// jsonWriter writes JSON as Python's json.dumps does.
type jsonWriter struct {
	r           *run
	b           strings.Builder
	ascii       bool
	indent      string
	lines       bool // whether each element stands on a line of its own
	item, colon string
	sorted      bool
}

// tojson is the filter of transformers: json.dumps without ensure_ascii.
func tojson(r *run, v any, args given) any {
	a := r.take("tojson", args, "ensure_ascii", "indent", "separators", "sort_keys")
	w := &jsonWriter{r: r, ascii: truth(a.or(0, false)), sorted: truth(a.or(3, false)), item: ", ", colon: ": "}
	switch in := a.or(1, nil).(type) {
	case nil:
	case string:
		w.lines, w.indent = true, in
	default:
		n, _, whole, ok := number(in)
		if !ok || !whole {
			r.fail("tojson: indent is %s: a number or a text is wanted", typeName(in))
		}
		w.lines, w.indent = true, strings.Repeat(" ", r.times(n, 1))
	}
	if w.lines {
		w.item = ","
	}
	if both := a.or(2, nil); both != nil {
		pair := r.iterate(both)
		if len(pair) != 2 {
			r.fail("tojson: separators has %d texts, 2 are wanted", len(pair))
		}
		w.item, w.colon = r.str(pair[0]), r.str(pair[1])
	}
	w.value(v, 0)
	return w.b.String()
}

func (w *jsonWriter) write(s string) {
	w.r.grow(len(s))
	w.b.WriteString(s)
}

func (w *jsonWriter) value(v any, depth int) {
	defer w.r.deeper(maxNested)()
	w.r.step(1)
	if s, ok := text(v); ok {
		w.text(s)
		return
	}
	switch v := v.(type) {
	case nil:
		w.write("null")
	case bool:
		w.write(fmt.Sprint(v))
	case int64:
		w.write(fmt.Sprint(v))
	case float64:
		w.write(jsonFloat(v))
	case *Seq:
		if v.kind > tuple {
			w.refuse(v)
		}
		w.all("[", "]", len(v.items), depth, func(i int) { w.value(v.items[i], depth+1) })
	case *Dict:
		w.dict(v, depth)
	default:
		w.refuse(v)
	}
}

func (w *jsonWriter) refuse(v any) {
	w.r.defined(v)
	w.r.fail("Object of type %s is not JSON serializable", typeName(v))
}

func jsonFloat(v float64) string {
	switch s := float(v); s {
	case "nan":
		return "NaN"
	case "inf":
		return "Infinity"
	case "-inf":
		return "-Infinity"
	default:
		return s
	}
}

func (w *jsonWriter) dict(d *Dict, depth int) {
	order := make([]int, len(d.keys))
	for i := range order {
		order[i] = i
	}
	if w.sorted {
		sort.SliceStable(order, func(i, j int) bool { return w.r.order("<", d.keys[order[i]], d.keys[order[j]]) < 0 })
	}
	w.all("{", "}", len(order), depth, func(i int) {
		w.key(d.keys[order[i]])
		w.write(w.colon)
		w.value(d.values[order[i]], depth+1)
	})
}

// key writes a key, which is a text in JSON whatever it was.
func (w *jsonWriter) key(k any) {
	if s, ok := text(k); ok {
		w.text(s)
		return
	}
	switch k := k.(type) {
	case nil:
		w.text("null")
	case bool:
		w.text(fmt.Sprint(k))
	case int64:
		w.text(fmt.Sprint(k))
	case float64:
		w.text(jsonFloat(k))
	default:
		w.r.fail("keys must be str, int, float, bool or None, not %s", typeName(k))
	}
}

// all writes n elements between brackets.
func (w *jsonWriter) all(open, end string, n, depth int, one func(i int)) {
	w.write(open)
	for i := range n {
		if i > 0 {
			w.write(w.item)
		}
		w.line(depth + 1)
		one(i)
	}
	if n > 0 {
		w.line(depth)
	}
	w.write(end)
}

func (w *jsonWriter) line(depth int) {
	if w.lines {
		w.write("\n")
		w.write(strings.Repeat(w.indent, w.r.times(int64(depth), len(w.indent))))
	}
}

var jsonEscapes = map[rune]string{'"': `\"`, '\\': `\\`, '\n': `\n`, '\r': `\r`, '\t': `\t`, '\f': `\f`, '\b': `\b`}

func (w *jsonWriter) text(s string) {
	w.r.grow(len(s))
	w.b.WriteByte('"')
	for _, c := range s {
		short, ok := jsonEscapes[c]
		switch {
		case ok:
			w.b.WriteString(short)
		case c >= 0x10000 && w.ascii:
			high, low := utf16.EncodeRune(c)
			fmt.Fprintf(&w.b, `\u%04x\u%04x`, high, low)
		case c < 0x20, c > 0x7e && w.ascii:
			fmt.Fprintf(&w.b, `\u%04x`, c)
		default:
			w.b.WriteRune(c)
		}
	}
	w.b.WriteByte('"')
}
