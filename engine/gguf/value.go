package gguf

import (
	"encoding/binary"
	"fmt"
	"iter"
	"math"
	"strconv"
	"strings"
	"unsafe"
)

// Kind is the type of a metadata value (enum gguf_metadata_value_type).
type Kind uint32

const (
	KindUint8 Kind = iota
	KindInt8
	KindUint16
	KindInt16
	KindUint32
	KindInt32
	KindFloat32
	KindBool
	KindString
	KindArray
	KindUint64
	KindInt64
	KindFloat64
)

// String returns the name that the experiment's listing uses: "U32", "String".
func (k Kind) String() string {
	names := [...]string{"U8", "I8", "U16", "I16", "U32", "I32", "F32", "Bool", "String", "Array", "U64", "I64", "F64"}
	if int(k) < len(names) {
		return names[k]
	}
	return fmt.Sprintf("value type %d", uint32(k))
}

// size returns the bytes of a number or bool, and 0 for what has no fixed size.
func (k Kind) size() uint64 {
	switch k {
	case KindUint8, KindInt8, KindBool:
		return 1
	case KindUint16, KindInt16:
		return 2
	case KindUint32, KindInt32, KindFloat32:
		return 4
	case KindUint64, KindInt64, KindFloat64:
		return 8
	}
	return 0
}

// What stands before the bytes of a string, its length, and before the elements
// of an array, their type and number.
const (
	stringHead = 8
	arrayHead  = 12
)

// arrayOf reads the head of an array.
func arrayOf(b []byte) (elem Kind, n int) {
	return Kind(word(b)), int(binary.LittleEndian.Uint64(b[4:]))
}

// least returns the bytes that a value of a known kind takes at least.
func (k Kind) least() uint64 {
	switch k {
	case KindString:
		return stringHead
	case KindArray:
		return arrayHead
	}
	return k.size()
}

// Value is a metadata value. It is decoded when it is asked for, from the
// header, which with MMap is the mapping: use it inside Fault, as the file may
// shrink, and not after Close. Where a mapped file is overwritten while it is
// open, the elements of an array may end before Len.
type Value struct {
	kind Kind
	elem Kind   // of an array
	n    int    // elements of an array
	raw  []byte // the payload: behind the length of a string, behind kind and count of an array
}

// value returns the value of the i-th key.
func (f *File) value(i int) Value {
	e := &f.keys[i]
	return Value{kind: e.kind, elem: e.elem, n: e.n, raw: f.head[e.payload:e.end:e.end]}
}

// word reads a little-endian uint32 from the start of b.
func word(b []byte) uint32 { return binary.LittleEndian.Uint32(b) }

// Kind returns the type of the value.
func (v Value) Kind() Kind { return v.kind }

// ElemKind returns the type of an array's elements; ok is false for what is
// not an array.
func (v Value) ElemKind() (k Kind, ok bool) { return v.elem, v.kind == KindArray }

// Len returns the number of elements of an array, and 0 for what is not one.
func (v Value) Len() int { return v.n }

// bits returns the number's bytes as an unsigned number.
func (v Value) bits() uint64 {
	switch len(v.raw) {
	case 0: // the zero Value
		return 0
	case 1:
		return uint64(v.raw[0])
	case 2:
		return uint64(binary.LittleEndian.Uint16(v.raw))
	case 4:
		return uint64(word(v.raw))
	}
	return binary.LittleEndian.Uint64(v.raw)
}

// Int64 returns the value when it is an integer that int64 holds.
func (v Value) Int64() (int64, bool) {
	switch v.kind {
	case KindInt8:
		return int64(int8(v.bits())), true
	case KindInt16:
		return int64(int16(v.bits())), true
	case KindInt32:
		return int64(int32(v.bits())), true
	case KindInt64:
		return int64(v.bits()), true
	case KindUint8, KindUint16, KindUint32, KindUint64:
		u := v.bits()
		return int64(u), u <= math.MaxInt64
	}
	return 0, false
}

// Uint64 returns the value when it is an integer and not negative.
func (v Value) Uint64() (uint64, bool) {
	if v.kind == KindUint64 {
		return v.bits(), true
	}
	i, ok := v.Int64()
	return uint64(i), ok && i >= 0
}

// Float64 returns the value when it is an F32 or F64.
func (v Value) Float64() (float64, bool) {
	switch v.kind {
	case KindFloat32:
		return float64(math.Float32frombits(uint32(v.bits()))), true
	case KindFloat64:
		return math.Float64frombits(v.bits()), true
	}
	return 0, false
}

// Bool returns the value when it is a bool.
func (v Value) Bool() (value, ok bool) {
	if v.kind != KindBool {
		return false, false
	}
	return v.raw[0] == 1, true
}

// Str returns the value when it is a string, as a copy. It need not be UTF-8.
func (v Value) Str() (string, bool) {
	if v.kind != KindString {
		return "", false
	}
	return string(v.raw), true
}

// Strings yields index and value of an array of strings, and nothing for any
// other value. The strings are views of the header: with MMap they must not be
// kept beyond Close (strings.Clone them).
func (v Value) Strings() iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		if v.kind != KindArray || v.elem != KindString {
			return
		}
		var s []byte
		var ok bool
		b := v.raw
		for i := range v.n {
			if s, b, ok = cutString(b); !ok || !yield(i, unsafe.String(unsafe.SliceData(s), len(s))) {
				return
			}
		}
	}
}

// Int32s returns the elements of an array of I32 as a copy; ok is false for
// any other value.
func (v Value) Int32s() (s []int32, ok bool) {
	if v.kind != KindArray || v.elem != KindInt32 {
		return nil, false
	}
	s = make([]int32, v.n)
	for i := range s {
		s[i] = int32(word(v.raw[4*i:]))
	}
	return s, true
}

// Float32s returns the elements of an array of F32 as a copy; ok is false for
// any other value.
func (v Value) Float32s() (s []float32, ok bool) {
	if v.kind != KindArray || v.elem != KindFloat32 {
		return nil, false
	}
	s = make([]float32, v.n)
	for i := range s {
		s[i] = math.Float32frombits(word(v.raw[4*i:]))
	}
	return s, true
}

// Elems yields the elements of any array one by one, and nothing for what is
// not an array.
func (v Value) Elems() iter.Seq2[int, Value] {
	return func(yield func(int, Value) bool) {
		b := v.raw
		for i := range v.n {
			var (
				e  Value
				ok bool
			)
			if e, b, ok = cut(b, v.elem); !ok || !yield(i, e) {
				return
			}
		}
	}
}

// cut takes a value of kind k from the start of b and returns what follows; an
// array is walked to find its end. The form was checked when the file was
// opened; ok is false where it has changed since, which a mapping shows.
func cut(b []byte, k Kind) (v Value, rest []byte, ok bool) {
	switch k {
	case KindString:
		s, rest, ok := cutString(b)
		return Value{kind: k, raw: s}, rest, ok
	case KindArray:
		if len(b) < arrayHead {
			return Value{}, nil, false
		}
		v = Value{kind: k}
		v.elem, v.n = arrayOf(b)
		b = b[arrayHead:]
		v.raw = b
		size := v.elem.least()
		if size == 0 || uint64(v.n) > uint64(len(b))/size {
			return Value{}, nil, false
		}
		if v.elem.size() != 0 {
			return v, b[uint64(v.n)*size:], true
		}
		for range v.n {
			if _, b, ok = cut(b, v.elem); !ok {
				return Value{}, nil, false
			}
		}
		return v, b, true
	}
	n := k.size()
	if n == 0 || uint64(len(b)) < n {
		return Value{}, nil, false
	}
	return Value{kind: k, raw: b[:n]}, b[n:], true
}

// cutString is cut for a string.
func cutString(b []byte) (s, rest []byte, ok bool) {
	if len(b) < stringHead {
		return nil, nil, false
	}
	n := binary.LittleEndian.Uint64(b)
	if b = b[stringHead:]; n > uint64(len(b)) {
		return nil, nil, false
	}
	return b[:n], b[n:], true
}

// shownElems, shownArray and shownBytes are how much of an array and of a text
// String writes.
const (
	shownElems = 512      // more than a model has layers
	shownArray = 16 << 10 // bytes
	shownBytes = 80
)

// String writes the value for a message: a text quoted and cut, of a long array
// the first elements, and of arrays in an array their lengths.
func (v Value) String() string {
	if s, ok := v.Str(); ok {
		if len(s) > shownBytes {
			return fmt.Sprintf("%q… (%d bytes)", s[:shownBytes], len(s))
		}
		return strconv.Quote(s)
	}
	if u, ok := v.Uint64(); ok {
		return strconv.FormatUint(u, 10)
	}
	if i, ok := v.Int64(); ok {
		return strconv.FormatInt(i, 10)
	}
	if x, ok := v.Float64(); ok {
		size := 64
		if v.kind == KindFloat32 {
			size = 32
		}
		return strconv.FormatFloat(x, 'g', -1, size)
	}
	if b, ok := v.Bool(); ok {
		return strconv.FormatBool(b)
	}
	words, size := make([]string, 0, min(v.n, shownElems)), 0
	for i, e := range v.Elems() {
		if i == shownElems || size > shownArray {
			words = append(words, fmt.Sprintf("… (%d values)", v.n))
			break
		}
		word := fmt.Sprintf("array of %d", e.n)
		if e.kind != KindArray {
			word = e.String()
		}
		words, size = append(words, word), size+len(word)
	}
	return "[" + strings.Join(words, ", ") + "]"
}
