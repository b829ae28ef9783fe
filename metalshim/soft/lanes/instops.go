package lanes

import (
	"slices"
	"strings"
)

// otherOps reads the instructions that have a form of their own.
var otherOps map[string]func(*inst, *cursor)

func init() {
	otherOps = map[string]func(*inst, *cursor){
		"fneg":           func(in *inst, p *cursor) { in.readFlags(p); in.typ = in.typedValue(p) },
		"freeze":         func(in *inst, p *cursor) { in.typ = in.typedValue(p) },
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
		"unreachable":    func(*inst, *cursor) {},
		"call":           parseCall,
		"extractelement": parseExtractElement,
		"insertelement":  parseInsertElement,
		"shufflevector":  parseShuffle,
		"extractvalue":   parseExtractValue,
		"insertvalue":    parseInsertValue,
		"atomicrmw":      parseAtomicRMW,
		"cmpxchg":        parseCmpXchg,
		"fence":          func(in *inst, p *cursor) { in.ordering(p) },
	}
}

func parseCompare(in *inst, p *cursor) {
	in.readFlags(p)
	in.pred = p.word()
	t := in.typedValue(p)
	p.expect(",")
	in.value(p, t)
	in.typ = tI1
	if t.kind == kVec {
		in.typ = vecType(t.n, tI1)
	}
}

func parseSelect(in *inst, p *cursor) {
	in.readFlags(p)
	in.typedValue(p)
	p.expect(",")
	in.typ = in.typedValue(p)
	p.expect(",")
	in.typedValue(p)
}

func parseGEP(in *inst, p *cursor) {
	in.readFlags(p)
	in.elem = p.parseType()
	p.expect(",")
	in.typ = in.typedValue(p)
	if in.typ.kind != kPtr && (in.typ.kind != kVec || in.typ.elem.kind != kPtr) {
		p.fail("getelementptr on %s", in.typ)
	}
	for p.err == nil && p.try(",") {
		if t := in.typedValue(p); t.kind == kVec {
			in.typ = vecType(t.n, tPtr)
		}
	}
}

// accessTail reads "syncscope, ordering, align" after a memory operand.
func (in *inst) accessTail(p *cursor) {
	in.ordering(p)
	for p.err == nil && p.try(",") {
		p.expect("align")
		in.align = p.number(1 << 20)
	}
}

// ordering reads an optional synchronisation scope and memory ordering.
func (in *inst) ordering(p *cursor) {
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

func (in *inst) readVolatile(p *cursor) {
	for {
		switch p.peekWord() {
		case "atomic", "volatile", "weak":
			p.word()
			in.volatile = true
		default:
			return
		}
	}
}

func parseLoad(in *inst, p *cursor) {
	in.readVolatile(p)
	in.typ = p.parseType()
	in.elem = in.typ
	p.expect(",")
	in.typedValue(p)
	in.accessTail(p)
}

func parseStore(in *inst, p *cursor) {
	in.readVolatile(p)
	in.elem = in.typedValue(p)
	p.expect(",")
	in.typedValue(p)
	in.accessTail(p)
}

func parseAlloca(in *inst, p *cursor) {
	if p.try("inalloca") {
		p.fail("inalloca")
	}
	in.elem = p.parseType()
	in.typ = tPtr
	for p.err == nil && p.try(",") {
		if p.try("align") {
			in.align = p.number(1 << 12)
			continue
		}
		p.fail("alloca with a count or address space")
	}
}

func parsePhi(in *inst, p *cursor) {
	in.readFlags(p)
	in.typ = p.parseType()
	for p.err == nil {
		p.expect("[")
		in.value(p, in.typ)
		p.expect(",")
		in.labelRef(p, false)
		p.expect("]")
		if !p.try(",") {
			return
		}
	}
}

func parseBr(in *inst, p *cursor) {
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

func parseSwitch(in *inst, p *cursor) {
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

func parseRet(in *inst, p *cursor) {
	if !p.try("void") {
		p.fail("the kernel returns a value")
	}
}

// attributes skips parameter or function attributes up to a value or the end.
func (in *inst) attributes(p *cursor) {
	for p.err == nil {
		p.space()
		w := p.peekWord()
		if w == "" || constWords[w] || w[0] >= '0' && w[0] <= '9' {
			return
		}
		p.word()
		p.space()
		if p.peek() == '(' {
			p.balanced()
		} else if w == "align" {
			p.number(1 << 30)
		}
	}
}

// returnAttributes are the words that may stand between call and the type.
var returnAttributes = set("fastcc ccc coldcc noundef zeroext signext inreg noalias nonnull align dereferenceable dereferenceable_or_null range nofpclass captures noext")

func parseCall(in *inst, p *cursor) {
	in.readFlags(p)
	for returnAttributes[p.peekWord()] {
		w := p.word()
		p.space()
		if p.peek() == '(' {
			p.balanced()
		} else if w == "align" {
			p.number(1 << 30)
		}
	}
	in.typ = p.parseType()
	p.space()
	if p.peek() == '(' { // the type of a variadic callee
		p.balanced()
		p.space()
	}
	if p.peek() != '@' {
		p.fail("call of something that is no named function: %q", clip(p.s[p.pos:]))
		return
	}
	in.callee = unquoted(p.name())
	if slices.ContainsFunc(droppedCalls, func(d string) bool { return strings.HasPrefix(in.callee, d) }) {
		in.dropped = true
		p.pos = len(p.s)
		return
	}
	p.expect("(")
	if !p.try(")") {
		for p.err == nil {
			if p.try("metadata") {
				p.fail("metadata argument of %s", in.callee)
				return
			}
			t := p.parseType()
			in.attributes(p)
			in.value(p, t)
			if p.try(")") {
				break
			}
			p.expect(",")
		}
	}
	p.space() // what follows are attributes or bundles: kept in text only
	if p.peek() == '[' {
		p.fail("operand bundle on %s", in.callee)
	}
	p.pos = len(p.s)
}

func parseExtractElement(in *inst, p *cursor) {
	t := in.typedValue(p)
	p.expect(",")
	in.typedValue(p)
	if t.kind != kVec {
		p.fail("extractelement from %s", t)
		return
	}
	in.typ = t.elem
}

func parseInsertElement(in *inst, p *cursor) {
	in.typ = in.typedValue(p)
	p.expect(",")
	in.typedValue(p)
	p.expect(",")
	in.typedValue(p)
	if in.typ.kind != kVec {
		p.fail("insertelement into %s", in.typ)
	}
}

func parseShuffle(in *inst, p *cursor) {
	t := in.typedValue(p)
	p.expect(",")
	in.typedValue(p)
	p.expect(",")
	m := p.parseType()
	if t.kind != kVec || m.kind != kVec || m.n > 4096 {
		p.fail("shufflevector of %s by %s", t, m)
		return
	}
	in.typ = vecType(m.n, t.elem)
	switch {
	case p.try("zeroinitializer"):
		in.mask = make([]int, m.n)
	case p.try("poison"), p.try("undef"):
		in.mask = make([]int, m.n)
		for i := range in.mask {
			in.mask[i] = -1
		}
	case p.try("splat"):
		p.expect("(")
		p.expect("i32")
		c := p.number(2 * t.n)
		p.expect(")")
		in.mask = make([]int, m.n)
		for i := range in.mask {
			in.mask[i] = c
		}
	default:
		p.expect("<")
		for i := 0; i < m.n && p.err == nil; i++ {
			if i > 0 {
				p.expect(",")
			}
			p.expect("i32")
			if p.try("poison") || p.try("undef") {
				in.mask = append(in.mask, -1)
				continue
			}
			in.mask = append(in.mask, p.number(2*t.n-1))
		}
		p.expect(">")
	}
}

// member reads ", index" chains and returns the type they lead to.
func (in *inst) member(p *cursor, t *typ) *typ {
	for p.err == nil && p.try(",") {
		i := p.number(1 << 20)
		in.indices = append(in.indices, i)
		switch {
		case t.kind == kStruct && i < len(t.fields):
			t = t.fields[i]
		case t.kind == kArray && i < t.n:
			t = t.elem
		default:
			p.fail("no member %d in %s", i, t)
		}
	}
	return t
}

func parseExtractValue(in *inst, p *cursor) {
	in.typ = in.member(p, in.typedValue(p))
}

func parseInsertValue(in *inst, p *cursor) {
	in.typ = in.typedValue(p)
	p.expect(",")
	in.typedValue(p)
	in.member(p, in.typ)
}

func parseAtomicRMW(in *inst, p *cursor) {
	in.readVolatile(p)
	in.pred = p.word()
	in.typedValue(p)
	p.expect(",")
	in.typ = in.typedValue(p)
	in.accessTail(p)
}

func parseCmpXchg(in *inst, p *cursor) {
	in.readVolatile(p)
	in.typedValue(p)
	p.expect(",")
	t := in.typedValue(p)
	p.expect(",")
	in.typedValue(p)
	in.typ = structType(false, []*typ{t, tI1})
	in.ordering(p)
	in.accessTail(p)
}
