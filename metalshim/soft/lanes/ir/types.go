// Package ir reads a one-lane kernel in the text of LLVM 19's intermediate
// language: a module cut into its definitions, the kernel's function as blocks of
// instructions with types, checked, and what its code says about it. It keeps the
// text of what it reads, so that an instruction is written again with other names
// and nothing else changed. All that looks at the text of the language is here.
package ir

import (
	"fmt"
	"strconv"
	"strings"
)

// Kind classifies an LLVM type.
type Kind uint8

const (
	Void    Kind = iota
	Int          // iN, N in Bits
	Float        // half, bfloat, float, double (and wider: no lane form)
	Pointer      // opaque pointer, address space 0
	Vector       // <N x Elem>
	Array        // [N x Elem]
	Struct       // { Fields }
	Named        // %struct.name
)

// Type is an LLVM type. Two are equal when their texts are.
type Type struct {
	Kind   Kind
	Bits   int // of Int and Float: the width
	N      int // of Vector and Array: the elements
	Elem   *Type
	Fields []*Type
	packed bool
	Text   string
}

// String returns the type as LLVM writes it.
func (t *Type) String() string { return t.Text }

// IntType is an integer of so many bits.
func IntType(bits int) *Type {
	return &Type{Kind: Int, Bits: bits, Text: fmt.Sprintf("i%d", bits)}
}

// VectorType is <n x elem>.
func VectorType(n int, elem *Type) *Type {
	return &Type{Kind: Vector, N: n, Elem: elem, Text: fmt.Sprintf("<%d x %s>", n, elem)}
}

func arrayType(n int, elem *Type) *Type {
	return &Type{Kind: Array, N: n, Elem: elem, Text: fmt.Sprintf("[%d x %s]", n, elem)}
}

func structType(packed bool, fields []*Type) *Type {
	parts := make([]string, len(fields))
	for i, f := range fields {
		parts[i] = f.Text
	}
	text := "{ " + strings.Join(parts, ", ") + " }"
	if len(fields) == 0 {
		text = "{}"
	}
	if packed {
		text = "<" + text + ">"
	}
	return &Type{Kind: Struct, Fields: fields, packed: packed, Text: text}
}

var (
	tVoid   = &Type{Kind: Void, Text: "void"}
	Ptr     = &Type{Kind: Pointer, Bits: 64, Text: "ptr"}
	I1      = IntType(1)
	I32     = IntType(32)
	I64     = IntType(64)
	F32     = tFloats["float"]
	tFloats = map[string]*Type{
		"half":   {Kind: Float, Bits: 16, Text: "half"},
		"bfloat": {Kind: Float, Bits: 16, Text: "bfloat"},
		"float":  {Kind: Float, Bits: 32, Text: "float"},
		"double": {Kind: Float, Bits: 64, Text: "double"},
	}
)

// Lanes is the number of a vector's elements, 1 for another type.
func (t *Type) Lanes() int {
	if t.Kind == Vector {
		return t.N
	}
	return 1
}

// ElemOf is the type of a vector's elements, or t itself.
func ElemOf(t *Type) *Type {
	if t.Kind == Vector {
		return t.Elem
	}
	return t
}

// ScalarBytes returns how many bytes a scalar of type t takes in memory, and
// whether t is a scalar at all (an integer of a whole power of two bytes, a
// float or a pointer).
func (t *Type) ScalarBytes() (int, bool) {
	switch t.Kind {
	case Int:
		switch t.Bits {
		case 8, 16, 32, 64:
			return t.Bits / 8, true
		}
	case Float, Pointer:
		return t.Bits / 8, true
	}
	return 0, false
}

// maxAggregate bounds the elements of one array or vector type, and depth the
// nesting, so that hostile text cannot make the pass build huge types.
const (
	maxAggregate = 1 << 24
	maxTypeDepth = 32
)

// parseType reads a type at the cursor.
func (p *cursor) parseType() *Type {
	p.depth++
	defer func() { p.depth-- }()
	if p.depth > maxTypeDepth {
		p.fail("type nested deeper than %d", maxTypeDepth)
		return tVoid
	}
	p.space()
	switch c := p.peek(); {
	case c == '[':
		p.pos++
		n := p.number(maxAggregate)
		p.expect("x")
		e := p.parseType()
		p.expect("]")
		return arrayType(n, e)
	case c == '<':
		p.pos++
		p.space()
		if p.peek() == '{' {
			p.pos++
			f := p.typeList("}")
			p.expect(">")
			return structType(true, f)
		}
		n := p.number(maxAggregate)
		p.expect("x")
		e := p.parseType()
		p.expect(">")
		if e.Kind != Int && e.Kind != Float && e.Kind != Pointer || n == 0 {
			p.fail("vector of %d %s", n, e)
		}
		return VectorType(n, e)
	case c == '{':
		p.pos++
		return structType(false, p.typeList("}"))
	case c == '%':
		name := p.name()
		return &Type{Kind: Named, Text: "%" + name}
	}
	w := p.word()
	if f, ok := tFloats[w]; ok {
		return f
	}
	switch {
	case w == "ptr":
		if p.try("addrspace(") {
			p.fail("address space in a pointer type")
		}
		return Ptr
	case w == "void":
		return tVoid
	case len(w) > 1 && w[0] == 'i':
		if n, err := strconv.ParseUint(w[1:], 10, 20); err == nil && n > 0 {
			return IntType(int(n))
		}
	}
	p.fail("unknown type %q", w)
	return tVoid
}

// typeList reads types separated by commas up to the closing token.
func (p *cursor) typeList(end string) []*Type {
	var out []*Type
	if p.try(end) {
		return nil
	}
	for p.err == nil {
		out = append(out, p.parseType())
		if p.try(end) {
			return out
		}
		p.expect(",")
	}
	return out
}
