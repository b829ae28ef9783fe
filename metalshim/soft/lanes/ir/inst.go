package ir

import (
	"fmt"
	"slices"
	"sort"
	"strings"
)

// Operand is one value an instruction reads: a local (parameter or result) or
// a constant, kept as text. Beg and End are its span in Inst.Text.
type Operand struct {
	Type     *Type
	Local    string // normalised name without %, "" for a constant
	Text     string // constant text
	Beg, End int
}

// Source is an operand as the one-lane code has it.
func (a *Operand) Source() string {
	if a.Local != "" {
		return "%" + Unprefixed(a.Local)
	}
	return a.Text
}

// Label is one basic block an instruction names.
type Label struct {
	Name     string
	beg, end int
}

// Inst is one instruction. text is what stood after "%res = ", without
// metadata; spans point into it, so that it can be printed again with other
// names and nothing else changed.
type Inst struct {
	Res      string // "" when there is none
	Type     *Type  // of the result, tVoid when there is none
	Op       string
	Flags    []string // nuw, fast-math flags, inbounds …
	Pred     string   // icmp, fcmp: predicate; atomicrmw: operation
	Args     []Operand
	Labels   []Label // br, switch (default first), phi (one for each arg)
	Elem     *Type   // getelementptr: source type; alloca: allocated; load, store: accessed
	Align    int
	Callee   string // call: name after @
	Indices  []int  // extractvalue, insertvalue
	Mask     []int  // shufflevector; -1 for poison
	Volatile bool   // volatile, or atomic load/store
	Stays    bool   // a call of a function of the module, which is run lane by lane
	dropped  bool   // a call that computes nothing
	OpAt     int    // where op stands in text, behind tail and the like
	Text     string
}

// droppedCalls are intrinsics that carry no computation; the pass drops them.
var droppedCalls = []string{"llvm.lifetime.", "llvm.assume", "llvm.experimental.noalias", "llvm.dbg.", "llvm.invariant.", "llvm.donothing"}

// Operations that the pass knows, by form.
var (
	BinaryOps = set("add sub mul udiv sdiv urem srem shl lshr ashr and or xor fadd fsub fmul fdiv frem")
	CastOps   = set("zext sext trunc fptosi fptoui sitofp uitofp fpext fptrunc bitcast inttoptr ptrtoint")
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

// Normalise gives a value or block the name it has in all output: prefix and
// its own name, so that generated names never meet it and numbers are no names.
func Normalise(prefix, name string) string {
	if strings.HasPrefix(name, `"`) {
		return `"` + prefix + name[1:]
	}
	return prefix + name
}

// Terminator says whether the instruction ends a block.
func (in *Inst) Terminator() bool {
	switch in.Op {
	case "br", "switch", "ret", "unreachable":
		return true
	}
	return false
}

// Render prints the instruction with its locals and labels renamed. A nil
// function keeps the names.
func (in *Inst) Render(value, block func(string) string) string {
	type span struct {
		beg, end int
		text     string
	}
	var spans []span
	for _, a := range in.Args {
		if a.Local != "" {
			n := "%" + a.Local
			if value != nil {
				n = value(a.Local)
			}
			spans = append(spans, span{a.Beg, a.End, n})
		}
	}
	for _, l := range in.Labels {
		n := l.Name
		if block != nil {
			n = block(n)
		}
		spans = append(spans, span{l.beg, l.end, "%" + n})
	}
	sort.Slice(spans, func(i, j int) bool { return spans[i].beg < spans[j].beg })
	var b strings.Builder
	if in.Res != "" {
		b.WriteString("%" + in.Res + " = ")
	}
	at := 0
	for _, s := range spans {
		b.WriteString(in.Text[at:s.beg])
		b.WriteString(s.text)
		at = s.end
	}
	b.WriteString(in.Text[at:])
	return b.String()
}

// ParseInst reads one instruction; line has no comment and no metadata.
func ParseInst(line string) (*Inst, error) {
	in := &Inst{Type: tVoid}
	p := &cursor{s: line}
	p.space()
	if p.peek() == '%' {
		in.Res = Normalise("v.", p.name())
		p.expect("=")
		p.space()
	}
	if p.err != nil {
		return nil, p.err
	}
	in.Text = line[p.pos:]
	p = &cursor{s: in.Text}
	in.parse(p)
	if p.err == nil && !p.end() {
		p.fail("unread text %q", Clip(p.s[p.pos:]))
	}
	if p.err == nil && (in.Res != "") != (in.Type.Kind != Void) {
		if in.Op != "call" || in.Res != "" {
			p.fail("result and type %s do not fit", in.Type)
		}
	}
	if p.err != nil {
		return nil, fmt.Errorf("%w in %q", p.err, Clip(line))
	}
	return in, nil
}

func (in *Inst) parse(p *cursor) {
	in.Op = p.word()
	switch in.Op {
	case "tail", "musttail", "notail":
		in.Op = p.word()
		in.OpAt = p.pos - len(in.Op)
	}
	switch {
	case BinaryOps[in.Op]:
		in.readFlags(p)
		in.Type = p.parseType()
		in.value(p, in.Type)
		p.expect(",")
		in.value(p, in.Type)
	case CastOps[in.Op]:
		in.readFlags(p)
		in.typedValue(p)
		p.expect("to")
		in.Type = p.parseType()
	default:
		if f, ok := otherOps[in.Op]; ok {
			f(in, p)
		} else {
			p.fail("unsupported instruction %q", in.Op)
		}
	}
}

func (in *Inst) readFlags(p *cursor) {
	for flagWords[p.peekWord()] {
		in.Flags = append(in.Flags, p.word())
	}
}

// HasFlag says whether a flag such as nuw or reassoc stands on the instruction.
func (in *Inst) HasFlag(f string) bool { return slices.Contains(in.Flags, f) }

// DropFlags blanks the flags in the text, which keeps the spans.
func (in *Inst) DropFlags() {
	b := []byte(in.Text)
	p := &cursor{s: in.Text}
	p.word()
	for flagWords[p.peekWord()] {
		w := p.word()
		for i := p.pos - len(w); i < p.pos; i++ {
			b[i] = ' '
		}
	}
	in.Text = string(b)
}

// typedValue reads "T v".
func (in *Inst) typedValue(p *cursor) *Type {
	t := p.parseType()
	in.value(p, t)
	return t
}

// value reads a value of type t and appends it to args.
func (in *Inst) value(p *cursor, t *Type) {
	p.space()
	a := Operand{Type: t, Beg: p.pos}
	switch c := p.peek(); {
	case c == '%':
		a.Local = Normalise("v.", p.name())
	case c == '@':
		p.name()
	case c == '<' || c == '{' || c == '[':
		p.balanced()
	case c == '"' || c == '!':
		p.fail("unsupported value %q", Clip(p.s[p.pos:]))
	case c == '-' || c == '+' || c >= '0' && c <= '9':
		for p.pos < len(p.s) && (isWord(p.s[p.pos]) || strings.IndexByte("+-.", p.s[p.pos]) >= 0) {
			p.pos++
		}
	default:
		w := p.word()
		if !constWords[w] {
			p.fail("unsupported value %q", Clip(p.s[a.Beg:]))
			return
		}
		in.constExprTail(p, w)
	}
	if p.err != nil {
		return
	}
	a.End = p.pos
	if a.Local == "" {
		a.Text = p.s[a.Beg:a.End]
	}
	in.Args = append(in.Args, a)
}

// constExprTail skips what follows a word that may begin a constant expression.
func (in *Inst) constExprTail(p *cursor, w string) {
	switch w {
	case "null", "true", "false", "undef", "poison", "none", "zeroinitializer":
		return
	}
	in2 := &Inst{}
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
		p.fail("expected ( after %s at %q", w, Clip(p.s[p.pos:]))
		return
	}
	p.balanced()
}

// labelRef reads "label %name" (or only %name, within phi).
func (in *Inst) labelRef(p *cursor, word bool) {
	if word {
		p.expect("label")
	}
	p.space()
	b := p.pos
	if p.peek() != '%' {
		p.fail("expected a label at %q", Clip(p.s[p.pos:]))
		return
	}
	n := Normalise("b.", p.name())
	in.Labels = append(in.Labels, Label{n, b, p.pos})
}
