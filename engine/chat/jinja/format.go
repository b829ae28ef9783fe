package jinja

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// layout is how one value is written: a format of printf or of str.format.
type layout struct {
	fill      string
	align     byte // <, >, ^, =, or 0: that of the type
	sign      byte // -, + or a blank
	alternate bool
	group     string // between thousands
	width     int64
	precision int // -1 where there is none
	kind      byte
}

// formatted is str.format.
func formatted(r *run, s string, args given) any {
	f := &formatter{r: r, args: args}
	return f.text(s, 2)
}

type formatter struct {
	r    *run
	args given
	next int // of the fields without a number; -1 where fields have numbers
}

// text replaces the fields of a text, and those in their formats one level deeper.
func (f *formatter) text(s string, levels int) string {
	r := f.r
	if levels == 0 {
		r.fail("max string recursion exceeded")
	}
	var b strings.Builder
	for s != "" {
		at := strings.IndexAny(s, "{}")
		if at < 0 {
			at = len(s)
		}
		b.WriteString(s[:at])
		r.grow(at)
		s = s[at:]
		switch {
		case s == "":
		case strings.HasPrefix(s, "{{"), strings.HasPrefix(s, "}}"):
			b.WriteByte(s[0])
			s = s[2:]
		case s[0] == '}':
			r.fail("single '}' encountered in format string")
		default:
			field, rest := f.field(s[1:])
			out := f.value(field, levels)
			b.WriteString(out)
			s = rest
		}
	}
	return b.String()
}

// field cuts off what stands in braces.
func (f *formatter) field(s string) (field, rest string) {
	depth := 1
	for i := range len(s) {
		switch s[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return s[:i], s[i+1:]
			}
		}
	}
	f.r.fail("expected '}' before end of string")
	return "", ""
}

func (f *formatter) value(field string, levels int) string {
	r := f.r
	name, spec, _ := strings.Cut(field, ":")
	name, conversion, converts := strings.Cut(name, "!")
	end := strings.IndexAny(name, ".[")
	if end < 0 {
		end = len(name)
	}
	if end == 0 && name != "" {
		r.fail("format string names '', which is not given")
	}
	v := f.argument(name[:end])
	for path := name[end:]; path != ""; {
		if path[0] == '.' {
			n := strings.IndexAny(path[1:]+".", ".[") + 1
			v, path = r.attribute(v, path[1:n]), path[n:]
			continue
		}
		n := strings.IndexByte(path, ']')
		if n < 0 {
			r.fail("expected ']' in a format string")
		}
		if i, err := strconv.ParseInt(path[1:n], 10, 64); err == nil {
			v = r.item(v, i)
		} else {
			v = r.item(v, path[1:n])
		}
		path = path[n+1:]
		if path != "" && path[0] != '.' && path[0] != '[' {
			r.fail("only '.' or '[' may follow ']' in a format string")
		}
	}
	switch {
	case !converts:
	case conversion == "s":
		v = r.str(v)
	case conversion == "r", conversion == "a":
		v = r.repr(v)
	default:
		r.fail("unknown conversion specifier '%s'", conversion)
	}
	if strings.Contains(spec, "{") {
		spec = f.text(spec, levels-1)
	}
	return f.layout(v, spec)
}

// argument finds the value of a field's first name.
func (f *formatter) argument(name string) any {
	i, err := strconv.Atoi(name)
	switch {
	case name == "" && f.next >= 0:
		i, f.next = f.next, f.next+1
	case err == nil && f.next <= 0:
		f.next = -1
	case name == "" || err == nil:
		f.r.fail("cannot switch between automatic and numbered fields in a format string")
	default:
		for i, n := range f.args.names {
			if n == name {
				return f.args.named[i]
			}
		}
		f.r.fail("format string names '%s', which is not given", name)
	}
	if i < 0 || i >= len(f.args.plain) {
		f.r.fail("format string wants %d arguments, %d were given", i+1, len(f.args.plain))
	}
	return f.args.plain[i]
}

// layout writes a value by a format specification:
// [[fill]align][sign][#][0][width][,][.precision][type].
func (f *formatter) layout(v any, spec string) string {
	r := f.r
	if spec == "" {
		return r.str(v)
	}
	l := layout{fill: " ", sign: '-', precision: -1}
	if _, n := utf8.DecodeRuneInString(spec); n < len(spec) && strings.IndexByte("<>^=", spec[n]) >= 0 {
		l.fill, l.align, spec = spec[:n], spec[n], spec[n+1:]
	} else if strings.IndexByte("<>^=", spec[0]) >= 0 {
		l.align, spec = spec[0], spec[1:]
	}
	take := func(set string) byte {
		if spec != "" && strings.IndexByte(set, spec[0]) >= 0 {
			c := spec[0]
			spec = spec[1:]
			return c
		}
		return 0
	}
	if c := take("+- "); c != 0 {
		l.sign = c
	}
	l.alternate = take("#") != 0
	if take("0") != 0 && l.align == 0 {
		l.fill, l.align = "0", '='
	}
	if n, rest := r.leading(spec); rest != spec {
		l.width, spec = n, rest
	}
	if c := take(",_"); c != 0 {
		l.group = string(c)
	}
	if take(".") != 0 {
		n, rest := r.leading(spec)
		if rest == spec {
			r.fail("format specifier missing precision")
		}
		l.precision, spec = int(n), rest
	}
	l.kind = take("bcdeEfFgGnosxX%")
	if spec != "" {
		r.fail("invalid format specifier")
	}
	return r.laid(v, l)
}

// leading reads a number at the start of s.
func (r *run) leading(s string) (int64, string) {
	n := digits(s, "0123456789")
	if n == 0 {
		return 0, s
	}
	v, err := strconv.ParseInt(s[:n], 10, 32)
	if err != nil || v > int64(r.Limits.Bytes) {
		r.fail("a width or precision in a format is too large")
	}
	return v, s[n:]
}

// laid writes a value by a layout.
func (r *run) laid(v any, l layout) string {
	s, isText := text(v)
	i, x, whole, isNumber := number(v)
	if _, isBool := v.(bool); isBool && l.kind == 0 || !isText && !isNumber {
		if !isBool {
			r.defined(v)
			r.fail("unsupported format string passed to %s.__format__", typeName(v))
		}
		s, isText, isNumber = r.str(v), true, false
	}
	if isText && !isNumber {
		if l.kind != 0 && l.kind != 's' || l.align == '=' {
			r.fail("unknown format code for a str")
		}
		if runes := []rune(s); l.precision >= 0 && l.precision < len(runes) {
			s = string(runes[:l.precision])
		}
		return r.pad(s, l.width, l.fill, cmpByte(l.align, '<'))
	}
	negative := whole && i < 0 || !whole && (x < 0 || math.Signbit(x))
	body := ""
	switch {
	case whole && strings.IndexByte("\x00dnbxXo", l.kind) >= 0:
		body = wholeDigits(magnitude(i), l)
	case l.kind == 'c' && whole && utf8.ValidRune(rune(i)):
		return r.pad(string(rune(i)), l.width, l.fill, cmpByte(l.align, '<'))
	case l.kind == 0 && l.precision < 0:
		body = float(math.Abs(x))
	case strings.IndexByte("\x00eEfFgGn%", l.kind) >= 0:
		body = r.floatDigits(math.Abs(x), l)
	default:
		r.fail("unknown format code '%c' for a %s", l.kind, typeName(v))
	}
	sign := ""
	if negative {
		sign = "-"
	} else if l.sign != '-' {
		sign = string(l.sign)
	}
	if l.group != "" {
		body = grouped(body, l.group)
	}
	if l.align == '=' {
		return sign + r.pad(body, l.width-int64(len(sign)), l.fill, '>')
	}
	return r.pad(sign+body, l.width, l.fill, cmpByte(l.align, '>'))
}

func cmpByte(a, otherwise byte) byte {
	if a == 0 {
		return otherwise
	}
	return a
}

func wholeDigits(n uint64, l layout) string {
	base, prefix := 10, ""
	switch l.kind {
	case 'b':
		base, prefix = 2, "0b"
	case 'o':
		base, prefix = 8, "0o"
	case 'x', 'X':
		base, prefix = 16, "0x"
	}
	s := strconv.FormatUint(n, base)
	if l.alternate {
		s = prefix + s
	}
	if l.kind == 'X' {
		s = strings.ToUpper(s)
	}
	return s
}

func (r *run) floatDigits(x float64, l layout) string {
	precision := l.precision
	if precision < 0 {
		precision = 6
	}
	r.grow(precision)
	switch l.kind {
	case '%':
		return strconv.FormatFloat(x*100, 'f', precision, 64) + "%"
	case 'f', 'F':
		return strconv.FormatFloat(x, 'f', precision, 64)
	case 'e', 'E':
		return strconv.FormatFloat(x, l.kind, precision, 64)
	}
	kind := "g"
	if l.kind == 'G' {
		kind = "G"
	}
	s := fmt.Sprintf("%."+strconv.Itoa(max(precision, 1))+kind, x)
	if l.kind == 0 && !strings.ContainsAny(s, ".en") {
		s += ".0"
	}
	return s
}

// grouped puts a mark between thousands.
func grouped(s, mark string) string {
	whole, rest := s, ""
	if at := strings.IndexAny(s, ".e%"); at >= 0 {
		whole, rest = s[:at], s[at:]
	}
	for at := len(whole) - 3; at > 0; at -= 3 {
		whole = whole[:at] + mark + whole[at:]
	}
	return whole + rest
}

// printf is text % value, as C's printf: %[(name)][flags][width][.precision]type.
func (r *run) printf(s string, v any) string {
	q, isTuple := v.(*Seq)
	isTuple = isTuple && q.kind == tuple
	d, _ := v.(*Dict)
	next := 0
	one := func() any {
		switch {
		case isTuple && next < len(q.items):
			next++
			return q.items[next-1]
		case !isTuple && next == 0:
			next++
			return v
		}
		r.fail("not enough arguments for format string")
		return nil
	}
	var b strings.Builder
	for {
		at := strings.IndexByte(s, '%')
		if at < 0 {
			break
		}
		r.grow(at)
		b.WriteString(s[:at])
		s = s[at+1:]
		arg := one
		if strings.HasPrefix(s, "(") {
			name, rest, ok := strings.Cut(s[1:], ")")
			if d == nil || !ok {
				r.fail("format requires a mapping")
			}
			found, ok := d.get(hashed{name})
			if !ok {
				r.fail("format string names '%s', which is not given", name)
			}
			s, next = rest, 1
			arg = func() any { return found }
		}
		var out string
		out, s = r.directive(s, arg)
		b.WriteString(out)
	}
	if isTuple && next < len(q.items) || !isTuple && d == nil && next == 0 {
		r.fail("not all arguments converted during string formatting")
	}
	r.grow(len(s))
	b.WriteString(s)
	return b.String()
}

// directive writes one value of printf; s begins behind its %.
func (r *run) directive(s string, arg func() any) (out, rest string) {
	l := layout{fill: " ", sign: '-', align: '>', precision: -1}
	zero := false
	for ; s != "" && strings.IndexByte("-+ #0", s[0]) >= 0; s = s[1:] {
		switch s[0] {
		case '-':
			l.align = '<'
		case '#':
			l.alternate = true
		case '0':
			zero = true
		default:
			l.sign = s[0]
		}
	}
	l.width, s = r.leading(s)
	if strings.HasPrefix(s, ".") {
		var n int64
		n, s = r.leading(s[1:])
		l.precision = int(n)
	}
	if s == "" {
		r.fail("incomplete format")
	}
	l.kind, rest = s[0], s[1:]
	if l.kind == '%' {
		return "%", rest
	}
	v := arg()
	if zero && l.align == '>' && strings.IndexByte("sr", l.kind) < 0 {
		l.fill, l.align = "0", '='
	}
	switch l.kind {
	case 's':
		v = r.str(v)
	case 'r', 'a':
		v, l.kind = r.repr(v), 's'
	case 'd', 'i', 'u':
		i, f, whole, ok := number(v)
		if !ok || math.IsNaN(f) || math.Abs(f) >= 1<<63 && !whole {
			r.defined(v)
			r.fail("%%%c format: a number is required, not %s", l.kind, typeName(v))
		}
		if !whole {
			i = int64(f)
		}
		v, l.kind = i, 'd'
	case 'c':
		if t, ok := text(v); ok {
			v, l.kind = t, 's'
		}
	case 'x', 'X', 'o', 'e', 'E', 'f', 'F', 'g', 'G':
	default:
		r.fail("unsupported format character '%c'", l.kind)
	}
	return r.laid(v, l), rest
}
