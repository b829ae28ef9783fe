package lanes

import (
	"fmt"
	"slices"
	"sort"
	"strings"
)

// operand is one value an instruction reads: a local (parameter or result) or
// a constant, kept as text. beg and end are its span in inst.text.
type operand struct {
	typ      *typ
	local    string // normalised name without %, "" for a constant
	text     string // constant text
	beg, end int
}

// source is an operand as the one-lane code has it.
func (a *operand) source() string {
	if a.local != "" {
		return "%" + unprefixed(a.local)
	}
	return a.text
}

// label is one basic block an instruction names.
type label struct {
	name     string
	beg, end int
}

// inst is one instruction. text is what stood after "%res = ", without
// metadata; spans point into it, so that it can be printed again with other
// names and nothing else changed.
type inst struct {
	res      string // "" when there is none
	typ      *typ   // of the result, tVoid when there is none
	op       string
	flags    []string // nuw, fast-math flags, inbounds …
	pred     string   // icmp, fcmp: predicate; atomicrmw: operation
	args     []operand
	labels   []label // br, switch (default first), phi (one for each arg)
	elem     *typ    // getelementptr: source type; alloca: allocated; load, store: accessed
	align    int
	callee   string // call: name after @
	indices  []int  // extractvalue, insertvalue
	mask     []int  // shufflevector; -1 for poison
	volatile bool   // volatile, or atomic load/store
	dropped  bool   // a call that computes nothing
	opAt     int    // where op stands in text, behind tail and the like
	text     string
}

// droppedCalls are intrinsics that carry no computation; the pass drops them.
var droppedCalls = []string{"llvm.lifetime.", "llvm.assume", "llvm.experimental.noalias", "llvm.dbg.", "llvm.invariant.", "llvm.donothing"}

// operations the pass knows, by form.
var (
	binaryOps = set("add sub mul udiv sdiv urem srem shl lshr ashr and or xor fadd fsub fmul fdiv frem")
	castOps   = set("zext sext trunc fptosi fptoui sitofp uitofp fpext fptrunc bitcast inttoptr ptrtoint")
	flagWords = set("nuw nsw exact inbounds nusw nneg disjoint samesign nnan ninf nsz arcp contract afn reassoc fast")
	// words that begin a constant; every other word before an argument's value is an attribute
	constWords = set("null true false undef poison none zeroinitializer splat getelementptr ptrtoint inttoptr bitcast trunc add sub xor")
)

func set(words string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(words) {
		m[w] = true
	}
	return m
}

// normalise gives a value or block the name it has in all output: prefix and
// its own name, so that generated names never meet it and numbers are no names.
func normalise(prefix, name string) string {
	if strings.HasPrefix(name, `"`) {
		return `"` + prefix + name[1:]
	}
	return prefix + name
}

// terminator says whether the instruction ends a block.
func (in *inst) terminator() bool {
	switch in.op {
	case "br", "switch", "ret", "unreachable":
		return true
	}
	return false
}

// render prints the instruction with its locals and labels renamed. A nil
// function keeps the names.
func (in *inst) render(value, block func(string) string) string {
	type span struct {
		beg, end int
		text     string
	}
	var spans []span
	for _, a := range in.args {
		if a.local != "" {
			n := "%" + a.local
			if value != nil {
				n = value(a.local)
			}
			spans = append(spans, span{a.beg, a.end, n})
		}
	}
	for _, l := range in.labels {
		n := l.name
		if block != nil {
			n = block(n)
		}
		spans = append(spans, span{l.beg, l.end, "%" + n})
	}
	sort.Slice(spans, func(i, j int) bool { return spans[i].beg < spans[j].beg })
	var b strings.Builder
	if in.res != "" {
		b.WriteString("%" + in.res + " = ")
	}
	at := 0
	for _, s := range spans {
		b.WriteString(in.text[at:s.beg])
		b.WriteString(s.text)
		at = s.end
	}
	b.WriteString(in.text[at:])
	return b.String()
}

// parseInst reads one instruction; line has no comment and no metadata.
func parseInst(line string) (*inst, error) {
	in := &inst{typ: tVoid}
	p := &cursor{s: line}
	p.space()
	if p.peek() == '%' {
		in.res = normalise("v.", p.name())
		p.expect("=")
		p.space()
	}
	if p.err != nil {
		return nil, p.err
	}
	in.text = line[p.pos:]
	p = &cursor{s: in.text}
	in.parse(p)
	if p.err == nil && !p.end() {
		p.fail("unread text %q", clip(p.s[p.pos:]))
	}
	if p.err == nil && (in.res != "") != (in.typ.kind != kVoid) {
		if in.op != "call" || in.res != "" {
			p.fail("result and type %s do not fit", in.typ)
		}
	}
	if p.err != nil {
		return nil, fmt.Errorf("%w in %q", p.err, clip(line))
	}
	return in, nil
}

func (in *inst) parse(p *cursor) {
	in.op = p.word()
	switch in.op {
	case "tail", "musttail", "notail":
		in.op = p.word()
		in.opAt = p.pos - len(in.op)
	}
	switch {
	case binaryOps[in.op]:
		in.readFlags(p)
		in.typ = p.parseType()
		in.value(p, in.typ)
		p.expect(",")
		in.value(p, in.typ)
	case castOps[in.op]:
		in.readFlags(p)
		in.typedValue(p)
		p.expect("to")
		in.typ = p.parseType()
	default:
		if f, ok := otherOps[in.op]; ok {
			f(in, p)
		} else {
			p.fail("unsupported instruction %q", in.op)
		}
	}
}

func (in *inst) readFlags(p *cursor) {
	for flagWords[p.peekWord()] {
		in.flags = append(in.flags, p.word())
	}
}

// hasFlag says whether a flag such as nuw or reassoc stands on the instruction.
func (in *inst) hasFlag(f string) bool { return slices.Contains(in.flags, f) }

// dropFlags blanks the flags in the text, which keeps the spans.
func (in *inst) dropFlags() {
	b := []byte(in.text)
	p := &cursor{s: in.text}
	p.word()
	for flagWords[p.peekWord()] {
		w := p.word()
		for i := p.pos - len(w); i < p.pos; i++ {
			b[i] = ' '
		}
	}
	in.text = string(b)
}

// typedValue reads "T v".
func (in *inst) typedValue(p *cursor) *typ {
	t := p.parseType()
	in.value(p, t)
	return t
}

// value reads a value of type t and appends it to args.
func (in *inst) value(p *cursor, t *typ) {
	p.space()
	a := operand{typ: t, beg: p.pos}
	switch c := p.peek(); {
	case c == '%':
		a.local = normalise("v.", p.name())
	case c == '@':
		p.name()
	case c == '<' || c == '{' || c == '[':
		p.balanced()
	case c == '"' || c == '!':
		p.fail("unsupported value %q", clip(p.s[p.pos:]))
	case c == '-' || c == '+' || c >= '0' && c <= '9':
		for p.pos < len(p.s) && (isWord(p.s[p.pos]) || strings.IndexByte("+-.", p.s[p.pos]) >= 0) {
			p.pos++
		}
	default:
		w := p.word()
		if !constWords[w] {
			p.fail("unsupported value %q", clip(p.s[a.beg:]))
			return
		}
		in.constExprTail(p, w)
	}
	if p.err != nil {
		return
	}
	a.end = p.pos
	if a.local == "" {
		a.text = p.s[a.beg:a.end]
	}
	in.args = append(in.args, a)
}

// constExprTail skips what follows a word that may begin a constant expression.
func (in *inst) constExprTail(p *cursor, w string) {
	switch w {
	case "null", "true", "false", "undef", "poison", "none", "zeroinitializer":
		return
	}
	in2 := &inst{}
	in2.readFlags(p)
	p.space()
	for p.peekWord() == "inrange" {
		p.word()
		p.space()
		if p.peek() == '(' {
			p.balanced()
		}
		p.space()
	}
	if p.peek() != '(' {
		p.fail("expected ( after %s at %q", w, clip(p.s[p.pos:]))
		return
	}
	p.balanced()
}

// labelRef reads "label %name" (or only %name, within phi).
func (in *inst) labelRef(p *cursor, word bool) {
	if word {
		p.expect("label")
	}
	p.space()
	b := p.pos
	if p.peek() != '%' {
		p.fail("expected a label at %q", clip(p.s[p.pos:]))
		return
	}
	n := normalise("b.", p.name())
	in.labels = append(in.labels, label{n, b, p.pos})
}
