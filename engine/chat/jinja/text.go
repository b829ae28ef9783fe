package jinja

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
)

// str is Python's str of a value: what printing it writes.
func (r *run) str(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case markup:
		return string(v)
	case *undefined:
		r.strict(v)
		return ""
	}
	return r.repr(v)
}

// repr is Python's repr of a value.
func (r *run) repr(v any) string {
	var b strings.Builder
	r.represent(&b, v)
	return b.String()
}

func (r *run) represent(b *strings.Builder, v any) {
	defer r.deeper(maxNested)()
	r.step(1)
	before := b.Len()
	switch v := v.(type) {
	case nil:
		b.WriteString("None")
	case bool:
		b.WriteString(map[bool]string{true: "True", false: "False"}[v])
	case int64:
		b.WriteString(strconv.FormatInt(v, 10))
	case float64:
		b.WriteString(float(v))
	case string:
		r.grow(2 * len(v))
		quote(b, v)
	case markup:
		r.grow(2 * len(v))
		b.WriteString("Markup(")
		quote(b, string(v))
		b.WriteString(")")
	case *Seq:
		r.representSeq(b, v)
		return
	case *Dict:
		r.representDict(b, v)
		return
	case *namespace:
		b.WriteString("<Namespace ")
		r.representDict(b, v.attributes)
		b.WriteString(">")
		return
	case *undefined:
		r.strict(v)
		b.WriteString("Undefined")
	case *macroValue:
		fmt.Fprintf(b, "<Macro '%s'>", v.name)
	case *loopValue:
		fmt.Fprintf(b, "<LoopContext %d/%d>", v.at+1, len(v.items))
	default:
		r.fail("a %s has no text of its own", typeName(v))
	}
	r.grow(b.Len() - before)
}

func (r *run) representSeq(b *strings.Builder, q *Seq) {
	open, end := "[", "]"
	switch q.kind {
	case list:
	case tuple:
		if open, end = "(", ")"; len(q.items) == 1 {
			end = ",)"
		}
	case ranged:
		fmt.Fprintf(b, "range(%d, %d", q.span[0], q.span[1])
		if q.span[2] != 1 {
			fmt.Fprintf(b, ", %d", q.span[2])
		}
		b.WriteByte(')')
		return
	case generator:
		r.fail("a generator has no text of its own: the filter list makes a list of it")
	default:
		open, end = typeName(q)+"([", "])"
	}
	b.WriteString(open)
	for i, v := range q.items {
		if i > 0 {
			b.WriteString(", ")
		}
		r.represent(b, v)
	}
	b.WriteString(end)
}

func (r *run) representDict(b *strings.Builder, d *Dict) {
	b.WriteByte('{')
	for i, k := range d.keys {
		if i > 0 {
			b.WriteString(", ")
		}
		r.represent(b, k)
		b.WriteString(": ")
		r.represent(b, d.values[i])
	}
	b.WriteByte('}')
}

// float is Python's repr of a float.
func float(v float64) string {
	switch {
	case math.IsNaN(v):
		return "nan"
	case math.IsInf(v, 0):
		return strings.ToLower(strings.TrimPrefix(fmt.Sprint(v), "+"))
	}
	digits := strconv.FormatFloat(v, 'e', -1, 64)
	exponent, _ := strconv.Atoi(digits[strings.IndexByte(digits, 'e')+1:])
	if exponent < -4 || exponent >= 16 {
		return digits
	}
	s := strconv.FormatFloat(v, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

// quote writes Python's repr of a text.
func quote(b *strings.Builder, s string) {
	q := byte('\'')
	if strings.Contains(s, "'") && !strings.Contains(s, "\"") {
		q = '"'
	}
	b.WriteByte(q)
	for _, c := range s {
		switch {
		case c == rune(q) || c == '\\':
			b.WriteByte('\\')
			b.WriteRune(c)
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\r':
			b.WriteString(`\r`)
		case c == '\t':
			b.WriteString(`\t`)
		case unicode.IsPrint(c):
			b.WriteRune(c)
		case c < 0x100:
			fmt.Fprintf(b, `\x%02x`, c)
		case c < 0x10000:
			fmt.Fprintf(b, `\u%04x`, c)
		default:
			fmt.Fprintf(b, `\U%08x`, c)
		}
	}
	b.WriteByte(q)
}

// escape makes a text safe in HTML, as markupsafe does.
func escape(s string) string { return escapes.Replace(s) }

var escapes = strings.NewReplacer("&", "&amp;", ">", "&gt;", "<", "&lt;", "'", "&#39;", "\"", "&#34;")
