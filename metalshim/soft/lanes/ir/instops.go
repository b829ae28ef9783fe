package ir

import (
	"slices"
	"strings"
)

// otherOps reads the instructions that have a form of their own.
var otherOps map[string]func(*Inst, *cursor)

func init() {
	otherOps = map[string]func(*Inst, *cursor){
		"fneg":           func(in *Inst, p *cursor) { in.readFlags(p); in.Type = in.typedValue(p) },
		"freeze":         func(in *Inst, p *cursor) { in.Type = in.typedValue(p) },
		"icmp":           parseCompare,
		"fcmp":           parseCompare,
		"select":         parseSelect,
		"getelementptr":  parseGEP,
		"load":           parseLoad,
		"store":          parseStore,
		"alloca":         parseAlloca,
		"phi":            parsePhi,
		"br":             parseBr,
		"switch":         parseSwitch,
		"ret":            parseRet,
		"unreachable":    func(*Inst, *cursor) {},
		"call":           parseCall,
		"extractelement": parseExtractElement,
		"insertelement":  parseInsertElement,
		"shufflevector":  parseShuffle,
		"extractvalue":   parseExtractValue,
		"insertvalue":    parseInsertValue,
		"atomicrmw":      parseAtomicRMW,
		"cmpxchg":        parseCmpXchg,
		"fence":          func(in *Inst, p *cursor) { in.ordering(p) },
	}
}

func parseCompare(in *Inst, p *cursor) {
	in.readFlags(p)
	in.Pred = p.word()
	t := in.typedValue(p)
	p.expect(",")
	in.value(p, t)
	in.Type = I1
	if t.Kind == Vector {
		in.Type = VectorType(t.N, I1)
	}
}

func parseSelect(in *Inst, p *cursor) {
	in.readFlags(p)
	in.typedValue(p)
	p.expect(",")
	in.Type = in.typedValue(p)
	p.expect(",")
	in.typedValue(p)
}

func parseGEP(in *Inst, p *cursor) {
	in.readFlags(p)
	in.Elem = p.parseType()
	p.expect(",")
	in.Type = in.typedValue(p)
	if in.Type.Kind != Pointer && (in.Type.Kind != Vector || in.Type.Elem.Kind != Pointer) {
		p.fail("getelementptr on %s", in.Type)
	}
	for p.err == nil && p.try(",") {
		if t := in.typedValue(p); t.Kind == Vector {
			in.Type = VectorType(t.N, Ptr)
		}
	}
}

// accessTail reads "syncscope, ordering, align" after a memory operand.
func (in *Inst) accessTail(p *cursor) {
	in.ordering(p)
	for p.err == nil && p.try(",") {
		p.expect("align")
		in.Align = p.number(1 << 20)
	}
}

// ordering reads an optional synchronisation scope and memory ordering.
func (in *Inst) ordering(p *cursor) {
	if p.try("syncscope(") {
		e := strings.IndexByte(p.s[p.pos:], ')')
		if e < 0 {
			p.fail("unterminated syncscope")
			return
		}
		p.pos += e + 1
	}
	switch p.peekWord() {
	case "unordered", "monotonic", "acquire", "release", "acq_rel", "seq_cst":
		p.word()
	}
}

func (in *Inst) readVolatile(p *cursor) {
	for {
		switch p.peekWord() {
		case "atomic", "volatile", "weak":
			p.word()
			in.Volatile = true
		default:
			return
		}
	}
}

func parseLoad(in *Inst, p *cursor) {
	in.readVolatile(p)
	in.Type = p.parseType()
	in.Elem = in.Type
	p.expect(",")
	in.typedValue(p)
	in.accessTail(p)
}

func parseStore(in *Inst, p *cursor) {
	in.readVolatile(p)
	in.Elem = in.typedValue(p)
	p.expect(",")
	in.typedValue(p)
	in.accessTail(p)
}

func parseAlloca(in *Inst, p *cursor) {
	if p.try("inalloca") {
		p.fail("inalloca")
	}
	in.Elem = p.parseType()
	in.Type = Ptr
	for p.err == nil && p.try(",") {
		if p.try("align") {
			in.Align = p.number(1 << 12)
			continue
		}
		p.fail("alloca with a count or address space")
	}
}

func parsePhi(in *Inst, p *cursor) {
	in.readFlags(p)
	in.Type = p.parseType()
	for p.err == nil {
		p.expect("[")
		in.value(p, in.Type)
		p.expect(",")
		in.labelRef(p, false)
		p.expect("]")
		if !p.try(",") {
			return
		}
	}
}

func parseBr(in *Inst, p *cursor) {
	if p.peekWord() == "label" {
		in.labelRef(p, true)
		return
	}
	in.typedValue(p)
	p.expect(",")
	in.labelRef(p, true)
	p.expect(",")
	in.labelRef(p, true)
}

func parseSwitch(in *Inst, p *cursor) {
	in.typedValue(p)
	p.expect(",")
	in.labelRef(p, true)
	p.expect("[")
	for p.err == nil && !p.try("]") {
		in.typedValue(p)
		p.expect(",")
		in.labelRef(p, true)
	}
}

func parseRet(in *Inst, p *cursor) {
	if !p.try("void") {
		p.fail("the kernel returns a value")
	}
}

// attribute skips a parameter's or a function's attribute.
func (p *cursor) attribute() {
	w := p.word()
	p.space()
	if p.peek() == '(' {
		p.balanced()
	} else if w == "align" {
		p.number(1 << 30)
	}
}

// attributes skips attributes up to a value or the end.
func (p *cursor) attributes() {
	for p.err == nil {
		p.space()
		w := p.peekWord()
		if w == "" || constWords[w] || w[0] >= '0' && w[0] <= '9' {
			return
		}
		p.attribute()
	}
}

// returnAttributes are the words that may stand between call and the type.
var returnAttributes = set("fastcc ccc coldcc noundef zeroext signext inreg noalias nonnull align dereferenceable dereferenceable_or_null range nofpclass captures noext")

func parseCall(in *Inst, p *cursor) {
	in.readFlags(p)
	for returnAttributes[p.peekWord()] {
		p.attribute()
	}
	in.Type = p.parseType()
	p.space()
	if p.peek() == '(' { // the type of a variadic callee
		p.balanced()
		p.space()
	}
	if p.peek() != '@' {
		p.fail("call of something that is no named function: %q", Clip(p.s[p.pos:]))
		return
	}
	in.Callee = Unquoted(p.name())
	if slices.ContainsFunc(droppedCalls, func(d string) bool { return strings.HasPrefix(in.Callee, d) }) {
		in.dropped = true
		p.pos = len(p.s)
		return
	}
	p.expect("(")
	if !p.try(")") {
		for p.err == nil {
			if p.try("metadata") {
				p.fail("metadata argument of %s", in.Callee)
				return
			}
			t := p.parseType()
			p.attributes()
			in.value(p, t)
			if p.try(")") {
				break
			}
			p.expect(",")
		}
	}
	p.space() // what follows are attributes or bundles: kept in text only
	if p.peek() == '[' {
		p.fail("operand bundle on %s", in.Callee)
	}
	p.pos = len(p.s)
}

func parseExtractElement(in *Inst, p *cursor) {
	t := in.typedValue(p)
	p.expect(",")
	in.typedValue(p)
	if t.Kind != Vector {
		p.fail("extractelement from %s", t)
		return
	}
	in.Type = t.Elem
}

func parseInsertElement(in *Inst, p *cursor) {
	in.Type = in.typedValue(p)
	p.expect(",")
	in.typedValue(p)
	p.expect(",")
	in.typedValue(p)
	if in.Type.Kind != Vector {
		p.fail("insertelement into %s", in.Type)
	}
}

func parseShuffle(in *Inst, p *cursor) {
	t := in.typedValue(p)
	p.expect(",")
	in.typedValue(p)
	p.expect(",")
	m := p.parseType()
	if t.Kind != Vector || m.Kind != Vector || m.N > 4096 {
		p.fail("shufflevector of %s by %s", t, m)
		return
	}
	in.Type = VectorType(m.N, t.Elem)
	switch {
	case p.try("zeroinitializer"):
		in.Mask = make([]int, m.N)
	case p.try("poison"), p.try("undef"):
		in.Mask = slices.Repeat([]int{-1}, m.N)
	case p.try("splat"):
		p.expect("(")
		p.expect("i32")
		c := p.number(2 * t.N)
		p.expect(")")
		in.Mask = slices.Repeat([]int{c}, m.N)
	default:
		p.expect("<")
		for i := 0; i < m.N && p.err == nil; i++ {
			if i > 0 {
				p.expect(",")
			}
			p.expect("i32")
			if p.try("poison") || p.try("undef") {
				in.Mask = append(in.Mask, -1)
				continue
			}
			in.Mask = append(in.Mask, p.number(2*t.N-1))
		}
		p.expect(">")
	}
}

// member reads ", index" chains and returns the type they lead to.
func (in *Inst) member(p *cursor, t *Type) *Type {
	for p.err == nil && p.try(",") {
		i := p.number(1 << 20)
		in.Indices = append(in.Indices, i)
		switch {
		case t.Kind == Struct && i < len(t.Fields):
			t = t.Fields[i]
		case t.Kind == Array && i < t.N:
			t = t.Elem
		default:
			p.fail("no member %d in %s", i, t)
		}
	}
	return t
}

func parseExtractValue(in *Inst, p *cursor) {
	in.Type = in.member(p, in.typedValue(p))
}

func parseInsertValue(in *Inst, p *cursor) {
	in.Type = in.typedValue(p)
	p.expect(",")
	in.typedValue(p)
	in.member(p, in.Type)
}

func parseAtomicRMW(in *Inst, p *cursor) {
	in.readVolatile(p)
	in.Pred = p.word()
	in.typedValue(p)
	p.expect(",")
	in.Type = in.typedValue(p)
	in.accessTail(p)
}

func parseCmpXchg(in *Inst, p *cursor) {
	in.readVolatile(p)
	in.typedValue(p)
	p.expect(",")
	t := in.typedValue(p)
	p.expect(",")
	in.typedValue(p)
	in.Type = structType(false, []*Type{t, I1})
	in.ordering(p)
	in.accessTail(p)
}
