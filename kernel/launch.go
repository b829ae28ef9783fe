package kernel

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/introgen/introgen/kernel/array"
	"github.com/introgen/introgen/metalshim"
)

// Misuse is the error of a launch that its author has to change: a wrong name, index,
// type or number.
type Misuse struct{ Err error }

func (m Misuse) Error() string { return m.Err.Error() }

// Unwrap returns what is wrong.
func (m Misuse) Unwrap() error { return m.Err }

func wrong(format string, a ...any) error { return Misuse{fmt.Errorf(format, a...)} }

// Value is what an argument or a constant is given, by its index or its name.
type Value struct{ Of, Text string }

// Launch is one run of a kernel, as its author states it.
type Launch struct {
	Kernel            string
	Grid              metalshim.Size // threads; zero where Groups are stated
	Groups            metalshim.Size // threadgroups; zero where Grid is
	Threads           metalshim.Size // of a threadgroup; zero is a simdgroup
	Buffers           []Value        // forms of package array
	Bytes             []Value        // the same, given as setBytes does
	Constants         []Value
	ThreadgroupMemory []Value // bytes
	Dir               string  // of relative names of files
}

// ParseSize reads 64, 64x4 or 64x4x2, each from 1 on.
func ParseSize(text string) (metalshim.Size, error) {
	s := metalshim.Size{X: 1, Y: 1, Z: 1}
	words := strings.Split(text, "x")
	if len(words) > 3 {
		return s, fmt.Errorf("%q: one to three numbers are wanted, such as 64x4x1", text)
	}
	for i, w := range words {
		n, err := strconv.ParseUint(w, 10, 63)
		if err != nil || n == 0 {
			return s, fmt.Errorf("%q: numbers from 1 on are wanted, with x between, such as 64x4x1", text)
		}
		*[]*int{&s.X, &s.Y, &s.Z}[i] = int(n)
	}
	if s.Count() < 0 {
		return s, fmt.Errorf("%q: together there may be 1 to %d", text, uint32(1<<32-1))
	}
	return s, nil
}

// ParseValue reads INDEX=TEXT or NAME=TEXT.
func ParseValue(text string) (Value, error) {
	of, what, is := strings.Cut(text, "=")
	if !is || of == "" || what == "" {
		return Value{}, fmt.Errorf("%q: INDEX=… or NAME=… is wanted", text)
	}
	return Value{of, what}, nil
}

// bound is an argument of a launch with what it is given.
type bound struct {
	index int
	of    Argument // of kind "" where the declarations cannot be read
	array *array.Array
	bytes bool // by setBytes
}

// name is how messages call it.
func (b bound) name() string {
	if b.of.Kind == "" {
		return fmt.Sprintf("buffer %d", b.index)
	}
	return fmt.Sprintf("buffer %d, %s %s", b.index, b.of.Type, b.of.Name)
}

// maxBytes is what setBytes takes.
const maxBytes = 4096

// bind gives the kernel's buffers what the launch states. k is nil where the
// declarations cannot be read: nothing is known of them then.
func (l *Launch) bind(k *Kernel, most int64) ([]bound, error) {
	var out []bound
	for _, list := range []struct {
		values []Value
		flag   string
		bytes  bool
	}{{l.Buffers, "buffer", false}, {l.Bytes, "bytes", true}} {
		for _, v := range list.values {
			b := bound{bytes: list.bytes}
			var err error
			if b.index, b.of, err = argument(k, "buffer", v.Of); err != nil {
				return nil, wrong("%s %s: %w", list.flag, v.Of, err)
			}
			if slices.ContainsFunc(out, func(o bound) bool { return o.index == b.index }) {
				return nil, wrong("%s %s: buffer %d is given twice", list.flag, v.Of, b.index)
			}
			if b.array, err = array.Parse(v.Text, l.Dir, most); err != nil {
				return nil, wrong("%s %s: %w", list.flag, v.Of, err)
			}
			if b.bytes && len(b.array.Data) > maxBytes {
				return nil, wrong("bytes %s: %d bytes, and Metal takes at most %d; --buffer has no such bound", v.Of, len(b.array.Data), maxBytes)
			}
			if err := b.fits(v.Text); err != nil {
				return nil, err
			}
			out = append(out, b)
		}
	}
	if k == nil {
		return out, nil
	}
	for _, a := range k.Arguments {
		if a.Kind != "buffer" || a.Optional || slices.ContainsFunc(out, func(o bound) bool { return o.index == a.Index }) {
			continue
		}
		return nil, wrong("%s is not given: --buffer %d=… or --bytes %[2]d=…", bound{index: a.Index, of: a}.name(), a.Index)
	}
	return out, nil
}

// argument finds an argument by its index or its name.
func argument(k *Kernel, kind, of string) (index int, a Argument, err error) {
	n, notNumber := strconv.Atoi(of)
	if k == nil {
		if notNumber != nil || n < 0 || n >= metalshim.MaxBufferIndex {
			return 0, a, fmt.Errorf("an index from 0 to %d is wanted, as the declarations cannot be read", metalshim.MaxBufferIndex-1)
		}
		return n, a, nil
	}
	var has []string
	for _, a := range k.Arguments {
		if a.Kind != kind {
			continue
		}
		if a.Name == of || notNumber == nil && a.Index == n {
			return a.Index, a, nil
		}
		has = append(has, fmt.Sprintf("%d (%s)", a.Index, a.Name))
	}
	what := map[string]string{"buffer": "buffer", "threadgroup": "threadgroup memory"}[kind]
	return 0, a, fmt.Errorf("kernel %s has no such %s; it has %s", k.Name, what, cmp.Or(strings.Join(has, ", "), "none"))
}

// fits holds an array to the argument's type, as far as that is known: raw bytes fit
// any.
func (b bound) fits(text string) error {
	e, known := elementOf(b.of.Type)
	if !known {
		return nil
	}
	if e.scalar != b.array.Type && !strings.HasPrefix(text, "raw:") {
		return wrong("%s takes %s, and is given %s, %s", b.name(), e.scalar, text, b.array)
	}
	if n := len(b.array.Data); n < e.bytes {
		return wrong("%s takes at least %d bytes, and is given %s, which has %d", b.name(), e.bytes, text, n)
	}
	return nil
}

// element is what a pointer or a reference points to.
type element struct {
	scalar array.Type
	bytes  int // of one
}

var scalars = map[string]array.Type{
	"bool": array.Bool, "char": array.I8, "int8_t": array.I8, "uchar": array.U8, "uint8_t": array.U8,
	"short": array.I16, "int16_t": array.I16, "ushort": array.U16, "uint16_t": array.U16,
	"int": array.I32, "int32_t": array.I32, "uint": array.U32, "uint32_t": array.U32,
	"long": array.I64, "int64_t": array.I64, "ptrdiff_t": array.I64, "ulong": array.U64, "uint64_t": array.U64, "size_t": array.U64,
	"half": array.F16, "bfloat": array.BF16, "float": array.F32,
	"atomic_int": array.I32, "atomic_uint": array.U32, "atomic_float": array.F32, "atomic_ulong": array.U64,
}

// elementOf reads a parameter's type; known is false of structs, of templates'
// parameters and of whatever else is no scalar or vector of Metal's by name.
func elementOf(typ string) (e element, known bool) {
	name := ""
	for _, w := range strings.FieldsFunc(typ, func(r rune) bool { return strings.ContainsRune(" *&", r) }) {
		switch w {
		case "device", "constant", "const", "volatile", "coherent", "restrict", "__restrict", "metal::coherent":
		default:
			if name != "" {
				return e, false
			}
			name = strings.TrimPrefix(w, "metal::")
		}
	}
	if strings.Count(typ, "*")+strings.Count(typ, "&") != 1 {
		return e, false
	}
	packed := strings.HasPrefix(name, "packed_")
	name = strings.TrimPrefix(name, "packed_")
	if t, is := scalars[name]; is && !packed {
		return element{t, t.Size()}, true
	}
	if len(name) < 2 {
		return e, false
	}
	n := int(name[len(name)-1] - '0')
	t, is := scalars[name[:len(name)-1]]
	if !is || n < 2 || n > 4 || strings.HasSuffix(name[:len(name)-1], "_t") {
		return e, false
	}
	if n == 3 && !packed {
		n = 4
	}
	return element{t, n * t.Size()}, true
}

// constants are the launch's, with the types that the source declares.
func (l *Launch) constants(declared []Constant) ([]metalshim.Constant, error) {
	var out []metalshim.Constant
	for _, v := range l.Constants {
		n, notNumber := strconv.Atoi(v.Of)
		i := slices.IndexFunc(declared, func(c Constant) bool { return c.Name == v.Of || notNumber == nil && c.Index == n })
		if i < 0 {
			var has []string
			for _, c := range declared {
				has = append(has, fmt.Sprintf("%d (%s %s)", c.Index, c.Type, c.Name))
			}
			return nil, wrong("constant %s: the source has no such function constant; it has %s", v.Of, cmp.Or(strings.Join(has, ", "), "none"))
		}
		c := declared[i]
		if slices.ContainsFunc(out, func(o metalshim.Constant) bool { return o.Index == c.Index }) {
			return nil, wrong("constant %s: it is given twice", v.Of)
		}
		value, err := constant(c, v.Text)
		if err != nil {
			return nil, wrong("constant %d, %s: %w", c.Index, c.Name, err)
		}
		out = append(out, value)
	}
	return out, nil
}

func constant(c Constant, text string) (out metalshim.Constant, err error) {
	t, ok := TypeNamed(c.Type)
	if !ok {
		return out, fmt.Errorf("its type %s cannot be given", c.Type)
	}
	of, known := scalars[t.String()]
	if !known {
		return out, fmt.Errorf("its type %s cannot be given", c.Type)
	}
	bits, err := array.Bits(of, text)
	return metalshim.Constant{Index: c.Index, Type: t, Bits: bits}, err
}
