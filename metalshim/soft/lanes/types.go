package lanes

import (
	"fmt"
	"strings"
)

// kind classifies an LLVM type.
type kind uint8

const (
	kVoid   kind = iota
	kInt         // iN, N in Bits
	kFloat       // half, bfloat, float, double (and wider: no lane form)
	kPtr         // opaque pointer, address space 0
	kVec         // <N x Elem>
	kArray       // [N x Elem]
	kStruct      // { Fields }
	kNamed       // %struct.name
)

// typ is an LLVM type. Two typs are equal when their String()s are.
type typ struct {
	kind   kind
	bits   int // kInt and kFloat: width
	n      int // kVec and kArray: elements
	elem   *typ
	fields []*typ
	packed bool
	text   string
}

// String returns the type as LLVM writes it.
func (t *typ) String() string { return t.text }

func intType(bits int) *typ {
	return &typ{kind: kInt, bits: bits, text: fmt.Sprintf("i%d", bits)}
}

func vecType(n int, elem *typ) *typ {
	return &typ{kind: kVec, n: n, elem: elem, text: fmt.Sprintf("<%d x %s>", n, elem)}
}

func arrayType(n int, elem *typ) *typ {
	return &typ{kind: kArray, n: n, elem: elem, text: fmt.Sprintf("[%d x %s]", n, elem)}
}

func structType(packed bool, fields []*typ) *typ {
	parts := make([]string, len(fields))
	for i, f := range fields {
		parts[i] = f.text
	}
	text := "{ " + strings.Join(parts, ", ") + " }"
	if len(fields) == 0 {
		text = "{}"
	}
	if packed {
		text = "<" + text + ">"
	}
	return &typ{kind: kStruct, fields: fields, packed: packed, text: text}
}

var (
	tVoid   = &typ{kind: kVoid, text: "void"}
	tPtr    = &typ{kind: kPtr, bits: 64, text: "ptr"}
	tI1     = intType(1)
	tI32    = intType(32)
	tI64    = intType(64)
	tFloats = map[string]*typ{
		"half":   {kind: kFloat, bits: 16, text: "half"},
		"bfloat": {kind: kFloat, bits: 16, text: "bfloat"},
		"float":  {kind: kFloat, bits: 32, text: "float"},
		"double": {kind: kFloat, bits: 64, text: "double"},
	}
)

// elemOf is the type of a vector's elements, or t itself.
func elemOf(t *typ) *typ {
	if t.kind == kVec {
		return t.elem
	}
	return t
}

// scalarBytes returns how many bytes a scalar of type t takes in memory, and
// whether t is a scalar at all (an integer of a whole power of two bytes, a
// float or a pointer).
func (t *typ) scalarBytes() (int, bool) {
	switch t.kind {
	case kInt:
		switch t.bits {
		case 8, 16, 32, 64:
			return t.bits / 8, true
		}
	case kFloat, kPtr:
		return t.bits / 8, true
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
func (p *cursor) parseType() *typ {
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
		if e.kind != kInt && e.kind != kFloat && e.kind != kPtr || n == 0 {
			p.fail("vector of %d %s", n, e)
		}
		return vecType(n, e)
	case c == '{':
		p.pos++
		return structType(false, p.typeList("}"))
	case c == '%':
		name := p.name()
		return &typ{kind: kNamed, text: "%" + name}
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
		return tPtr
	case w == "void":
		return tVoid
	case len(w) > 1 && w[0] == 'i':
		n := 0
		for _, c := range w[1:] {
			if c < '0' || c > '9' || n > 1<<20 {
				p.fail("unknown type %q", w)
				return tVoid
			}
			n = n*10 + int(c-'0')
		}
		if n == 0 {
			p.fail("unknown type %q", w)
		}
		return intType(n)
	}
	p.fail("unknown type %q", w)
	return tVoid
}

// typeList reads types separated by commas up to the closing token.
func (p *cursor) typeList(end string) []*typ {
	var out []*typ
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
