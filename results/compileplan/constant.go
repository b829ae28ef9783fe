package compileplan

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// scalar is a type that a function constant can have: MTLDataType, without vectors.
type scalar struct {
	data   int // Metal's value of MTLDataType
	bytes  int
	signed bool
	float  bool // written as a number; half is written as its bits
}

// scalars are the types by MSL's names (Metal/MTLArgument.h, MTLDataType).
var scalars = map[string]scalar{
	"float": {data: 3, bytes: 4, float: true}, "half": {data: 16, bytes: 2},
	"int": {data: 29, bytes: 4, signed: true}, "uint": {data: 33, bytes: 4},
	"short": {data: 37, bytes: 2, signed: true}, "ushort": {data: 41, bytes: 2},
	"char": {data: 45, bytes: 1, signed: true}, "uchar": {data: 49, bytes: 1},
	"bool": {data: 53, bytes: 1},
	"long": {data: 81, bytes: 8, signed: true}, "ulong": {data: 85, bytes: 8},
}

// DataType is Metal's MTLDataType of the constant's type, and how many bytes a value
// of it has; 0 of a type that is not known.
func (c Constant) DataType() (value, bytes int) {
	s := scalars[c.Type]
	return s.data, s.bytes
}

// noNumber is how a recording writes the bits of a float that is no number.
const noNumber = "NaN(0x"

// Bits are the value's bits, the unused upper ones zero.
func (c Constant) Bits() (uint64, error) {
	t, known := scalars[c.Type]
	if !known {
		return 0, fmt.Errorf("constant %s has the type %q: float, half, int, uint, short, ushort, char, uchar, bool, long and ulong are known", c.where(), c.Type)
	}
	bits, err := t.bits(c.Value)
	if err != nil {
		return 0, fmt.Errorf("constant %s has the value %q, which is no %s: %w", c.where(), c.Value, c.Type, err)
	}
	return bits, nil
}

var (
	errWritten = errors.New("it is not written as plans write one")
	errRange   = errors.New("it is out of range")
)

func (t scalar) bits(text string) (uint64, error) {
	if hex, ok := strings.CutPrefix(text, "0x"); ok {
		n, err := strconv.ParseUint(hex, 16, 8*t.bytes)
		// Of a float the bits are written where no decimal number says them.
		if err != nil || t.signed || t.bytes > 4 || !t.float && t.data != scalars["half"].data || t.float && !isNaN(n) || text != t.hex(n) {
			return 0, errWritten
		}
		return n, nil
	}
	switch {
	case t.float:
		f, err := strconv.ParseFloat(text, 32)
		if err != nil || math.IsNaN(f) || text != shortest(float32(f)) {
			return 0, errWritten
		}
		return uint64(math.Float32bits(float32(f))), nil
	case t.signed:
		n, err := strconv.ParseInt(text, 10, 8*t.bytes)
		if errors.Is(err, strconv.ErrRange) {
			return 0, errRange
		}
		if err != nil || strconv.FormatInt(n, 10) != text {
			return 0, errWritten
		}
		return uint64(n) & (math.MaxUint64 >> (64 - 8*t.bytes)), nil
	case t.data == scalars["half"].data:
		return 0, errWritten
	}
	n, err := strconv.ParseUint(text, 10, 8*t.bytes)
	if errors.Is(err, strconv.ErrRange) || err == nil && t.data == scalars["bool"].data && n > 1 {
		return 0, errRange
	}
	if err != nil || strconv.FormatUint(n, 10) != text {
		return 0, errWritten
	}
	return n, nil
}

// value writes bits as Value has them.
func (t scalar) value(bits uint64) string {
	switch {
	case t.float && !isNaN(bits):
		return shortest(math.Float32frombits(uint32(bits)))
	case t.float, t.data == scalars["half"].data:
		return t.hex(bits)
	case t.signed:
		shift := 64 - 8*t.bytes
		return strconv.FormatInt(int64(bits<<shift)>>shift, 10)
	}
	return strconv.FormatUint(bits, 10)
}

func (t scalar) hex(bits uint64) string { return fmt.Sprintf("0x%0*x", 2*t.bytes, bits) }

func isNaN(bits uint64) bool { return bits&0x7f800000 == 0x7f800000 && bits&0x7fffff != 0 }

func shortest(f float32) string { return strconv.FormatFloat(float64(f), 'g', -1, 32) }

// where is how a constant is called in an error.
func (c Constant) where() string {
	if c.Name != "" {
		return strconv.Quote(c.Name)
	}
	return strconv.Itoa(c.Index)
}

// String is "10:bool=1" or "name:bool=1".
func (c Constant) String() string {
	who := c.Name
	if who == "" {
		who = strconv.Itoa(c.Index)
	}
	return who + ":" + c.Type + "=" + c.Value
}

// words is what a recording writes of the types that it has no names of.
var words = func() map[string]string {
	out := map[string]string{}
	for name, t := range scalars {
		out[fmt.Sprintf("type %d", t.data)] = name
	}
	return out
}()

// ParseConstants reads constants as a recording has them in words, "10:bool=1
// 20:float=0.5". What is not exact there is an error.
func ParseConstants(text string) ([]Constant, error) {
	var out []Constant
	for rest := text; rest != ""; {
		who, after, ok := strings.Cut(rest, ":")
		kind, after, typed := strings.Cut(after, "=")
		if !ok || !typed || who == "" {
			return nil, fmt.Errorf("its constants %q are not written as 10:bool=1", text)
		}
		value, more, several := strings.Cut(after, " ")
		if several && more == "" {
			return nil, fmt.Errorf("its constants %q end in a blank", text)
		}
		rest = more
		c, err := parsed(who, kind, value)
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}

func parsed(who, kind, value string) (Constant, error) {
	c := Constant{Type: kind}
	if n, err := strconv.ParseUint(who, 10, 16); err == nil && strconv.FormatUint(n, 10) == who {
		c.Index = int(n)
	} else if c.Name = who; !isName(who) {
		return c, fmt.Errorf("its constant %q has neither a number below 65536 nor a name of MSL", who)
	}
	if name := words[kind]; name != "" {
		c.Type = name
	}
	t, known := scalars[c.Type]
	if !known {
		return c, fmt.Errorf("its constant %s is of the %s, whose value the recording may not have whole", c.where(), kind)
	}
	var bits uint64
	var err error
	switch hex, lacks := strings.CutPrefix(value, noNumber); {
	case value == "NaN":
		return c, fmt.Errorf("its constant %s is NaN without the bits, as recordings of older versions have it", c.where())
	case lacks && t.float && strings.HasSuffix(hex, ")"):
		bits, err = t.bits("0x" + strings.TrimSuffix(hex, ")"))
	case kind != c.Type: // of a type without a name there the bits are written as a number
		if bits, err = strconv.ParseUint(value, 10, 8*t.bytes); strconv.FormatUint(bits, 10) != value {
			err = errWritten
		}
	default:
		bits, err = t.bits(value)
	}
	if err != nil {
		return c, fmt.Errorf("its constant %s=%q: %w", c.where(), value, err)
	}
	c.Value = t.value(bits)
	return c, nil
}

// isName says whether a text can be a name in MSL.
func isName(s string) bool {
	for i, r := range s {
		letter := r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= utf8.RuneSelf && r != utf8.RuneError
		if !letter && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return s != ""
}
