// Package array is numbers as a kernel finds them in a buffer: their type and
// shape, how texts and files state them, and how two of them differ.
package array

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Type is what an element is.
type Type string

// The types. Metal has no F64, which files of what is expected may have.
const (
	Bool Type = "bool"
	I8   Type = "i8"
	U8   Type = "u8"
	I16  Type = "i16"
	U16  Type = "u16"
	I32  Type = "i32"
	U32  Type = "u32"
	I64  Type = "i64"
	U64  Type = "u64"
	F16  Type = "f16"
	BF16 Type = "bf16"
	F32  Type = "f32"
	F64  Type = "f64"
)

// Types are all of them.
var Types = []Type{Bool, I8, U8, I16, U16, I32, U32, I64, U64, F16, BF16, F32, F64}

var sizes = map[Type]int{Bool: 1, I8: 1, U8: 1, I16: 2, U16: 2, I32: 4, U32: 4, I64: 8, U64: 8, F16: 2, BF16: 2, F32: 4, F64: 8}

// Size is that of an element in bytes, 0 of a type that is none.
func (t Type) Size() int { return sizes[t] }

// Float says whether elements are floating-point numbers.
func (t Type) Float() bool { return t == F16 || t == BF16 || t == F32 || t == F64 }

// ParseType reads a type's name.
func ParseType(text string) (Type, error) {
	if t := Type(text); t.Size() > 0 {
		return t, nil
	}
	names := make([]string, len(Types))
	for i, t := range Types {
		names[i] = string(t)
	}
	return "", fmt.Errorf("type %q is not known: %s are", text, strings.Join(names, ", "))
}

// Array is numbers in row-major order, little-endian. A shape of no dimensions is
// one number.
type Array struct {
	Type  Type
	Shape []int
	Data  []byte
}

// MaxBytes bounds an array. A device may allow less.
const MaxBytes = 1 << 34

// New is an array of zeros. Its size is an error where it is beyond MaxBytes.
func New(t Type, shape []int) (*Array, error) {
	n, err := size(t, shape)
	if err != nil {
		return nil, err
	}
	return &Array{t, shape, make([]byte, n)}, nil
}

// size is how many bytes an array takes.
func size(t Type, shape []int) (int, error) {
	n := t.Size()
	for _, d := range shape {
		if d < 0 || d > 0 && n > MaxBytes/d {
			return 0, fmt.Errorf("%s%s has more than %d bytes", t, Dimensions(shape), MaxBytes)
		}
		n *= d
	}
	return n, nil
}

// Dimensions writes a shape: "[4,64]".
func Dimensions(shape []int) string {
	words := make([]string, len(shape))
	for i, d := range shape {
		words[i] = strconv.Itoa(d)
	}
	return "[" + strings.Join(words, ",") + "]"
}

// String is its type and shape: "f32[4,64]".
func (a *Array) String() string { return string(a.Type) + Dimensions(a.Shape) }

// Len is the number of elements.
func (a *Array) Len() int { return len(a.Data) / a.Type.Size() }

// Float is element i as a float64, which holds all types but the widest integers
// exactly.
func (a *Array) Float(i int) float64 {
	switch a.Type {
	case F16:
		return halfToFloat(uint16(a.bits(i)))
	case BF16:
		return float64(math.Float32frombits(uint32(a.bits(i)) << 16))
	case F32:
		return float64(math.Float32frombits(uint32(a.bits(i))))
	case F64:
		return math.Float64frombits(a.bits(i))
	case I8, I16, I32, I64:
		return float64(a.int(i))
	}
	return float64(a.bits(i))
}

// bits are those of element i.
func (a *Array) bits(i int) uint64 {
	b := a.Data[i*a.Type.Size():]
	switch a.Type.Size() {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(binary.LittleEndian.Uint16(b))
	case 4:
		return uint64(binary.LittleEndian.Uint32(b))
	}
	return binary.LittleEndian.Uint64(b)
}

func (a *Array) setBits(i int, v uint64) {
	b := a.Data[i*a.Type.Size():]
	switch a.Type.Size() {
	case 1:
		b[0] = byte(v)
	case 2:
		binary.LittleEndian.PutUint16(b, uint16(v))
	case 4:
		binary.LittleEndian.PutUint32(b, uint32(v))
	default:
		binary.LittleEndian.PutUint64(b, v)
	}
}

// int is element i of a signed type.
func (a *Array) int(i int) int64 {
	shift := 64 - 8*a.Type.Size()
	return int64(a.bits(i)<<shift) >> shift
}

// Text is element i as a number that reads back to the same bits, if it is no NaN.
func (a *Array) Text(i int) string {
	switch a.Type {
	case Bool:
		return strconv.FormatBool(a.bits(i) != 0)
	case I8, I16, I32, I64:
		return strconv.FormatInt(a.int(i), 10)
	case U8, U16, U32, U64:
		return strconv.FormatUint(a.bits(i), 10)
	case F64:
		return strconv.FormatFloat(a.Float(i), 'g', -1, 64)
	}
	return strconv.FormatFloat(a.Float(i), 'g', -1, 32)
}

// Lines are all numbers, a row of the last dimension a line.
func (a *Array) Lines() string {
	var b strings.Builder
	row := 1
	if len(a.Shape) > 0 {
		row = max(1, a.Shape[len(a.Shape)-1])
	}
	for i := range a.Len() {
		b.WriteString(a.Text(i))
		if i%row == row-1 {
			b.WriteByte('\n')
		} else {
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// Set makes element i the number that text states, or says why it cannot be.
// Floats are rounded to the nearest.
func (a *Array) Set(i int, text string) error {
	bits := 8 * a.Type.Size()
	switch a.Type {
	case Bool:
		switch text {
		case "true", "1":
			a.setBits(i, 1)
		case "false", "0":
			a.setBits(i, 0)
		default:
			return fmt.Errorf("%q is no bool: true or false is wanted", text)
		}
	case I8, I16, I32, I64:
		v, err := strconv.ParseInt(text, 0, bits)
		if err != nil {
			return fmt.Errorf("%q is no %s: %d to %d are whole numbers of it", text, a.Type, int64(-1)<<(bits-1), int64(1)<<(bits-1)-1)
		}
		a.setBits(i, uint64(v))
	case U8, U16, U32, U64:
		v, err := strconv.ParseUint(text, 0, bits)
		if err != nil {
			return fmt.Errorf("%q is no %s: 0 to %d are whole numbers of it", text, a.Type, ^uint64(0)>>(64-bits))
		}
		a.setBits(i, v)
	default:
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return fmt.Errorf("%q is no number that %s has", text, a.Type)
		}
		a.SetFloat(i, v)
		if math.IsInf(a.Float(i), 0) && !math.IsInf(v, 0) {
			return fmt.Errorf("%q is beyond what %s has", text, a.Type)
		}
	}
	return nil
}

// SetFloat makes element i of a floating-point type v, rounded to the nearest.
func (a *Array) SetFloat(i int, v float64) {
	switch a.Type {
	case F16:
		a.setBits(i, uint64(floatToHalf(v)))
	case BF16:
		a.setBits(i, uint64(floatToBfloat(v)))
	case F32:
		a.setBits(i, uint64(math.Float32bits(float32(v))))
	case F64:
		a.setBits(i, math.Float64bits(v))
	}
}

// Bits are those of one number of the type, which text states.
func Bits(t Type, text string) (uint64, error) {
	a, err := New(t, nil)
	if err != nil {
		return 0, err
	}
	if err := a.Set(0, text); err != nil {
		return 0, err
	}
	return a.bits(0), nil
}
