package metalshim

import (
	"fmt"
	"math"
)

// ConstantType is MTLDataType, for the types that a function constant may
// have here.
type ConstantType int

// Constant types, with Metal's values (MTLDataType).
const (
	Float  ConstantType = 3
	Int    ConstantType = 29
	UInt   ConstantType = 33
	Short  ConstantType = 37
	UShort ConstantType = 41
	Char   ConstantType = 45
	UChar  ConstantType = 49
	Bool   ConstantType = 53
)

var constantNames = map[ConstantType]string{
	Float: "float", Int: "int", UInt: "uint", Short: "short", UShort: "ushort",
	Char: "char", UChar: "uchar", Bool: "bool",
}

// TypeOf is the type of that value of MTLDataType, and whether it is one of those
// above.
func TypeOf(data int) (ConstantType, bool) {
	t := ConstantType(data)
	return t, t.Known()
}

// Known says whether it is one of those above.
func (t ConstantType) Known() bool { return constantNames[t] != "" }

// String is the type's name in MSL, "bool".
func (t ConstantType) String() string {
	if n, ok := constantNames[t]; ok {
		return n
	}
	return fmt.Sprintf("type %d", int(t))
}

// Constant is the value of one function constant, as
// -[MTLFunctionConstantValues setConstantValue:type:atIndex:] takes it. The
// zero Constant is of no valid type.
type Constant struct {
	Index int
	Type  ConstantType
	Bits  uint64 // the value's bits, the unused upper ones zero
}

// BoolConstant is a function constant of type bool.
func BoolConstant(index int, v bool) Constant {
	c := Constant{Index: index, Type: Bool}
	if v {
		c.Bits = 1
	}
	return c
}

// IntConstant is a function constant of type int.
func IntConstant(index int, v int32) Constant {
	return Constant{Index: index, Type: Int, Bits: uint64(uint32(v))}
}

// UIntConstant is a function constant of type uint.
func UIntConstant(index int, v uint32) Constant {
	return Constant{Index: index, Type: UInt, Bits: uint64(v)}
}

// FloatConstant is a function constant of type float.
func FloatConstant(index int, v float32) Constant {
	return Constant{Index: index, Type: Float, Bits: uint64(math.Float32bits(v))}
}

// Bytes is the value as it lies in memory, little-endian.
func (c Constant) Bytes() []byte {
	n := 4
	switch c.Type {
	case Short, UShort:
		n = 2
	case Char, UChar, Bool:
		n = 1
	}
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(c.Bits >> (8 * i))
	}
	return b
}

// String is "10:bool=1", "20:int=-3". It says the value exactly: of a float that is
// no number the bits, "3:float=NaN(0x7fc00000)".
func (c Constant) String() string {
	switch c.Type {
	case Float:
		if f := math.Float32frombits(uint32(c.Bits)); f != f {
			return fmt.Sprintf("%d:float=NaN(0x%08x)", c.Index, uint32(c.Bits))
		}
		return fmt.Sprintf("%d:float=%g", c.Index, math.Float32frombits(uint32(c.Bits)))
	case Int:
		return fmt.Sprintf("%d:int=%d", c.Index, int32(c.Bits))
	case Short:
		return fmt.Sprintf("%d:short=%d", c.Index, int16(c.Bits))
	case Char:
		return fmt.Sprintf("%d:char=%d", c.Index, int8(c.Bits))
	}
	return fmt.Sprintf("%d:%s=%d", c.Index, c.Type, c.Bits)
}
