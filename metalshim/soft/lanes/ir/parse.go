package ir

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
)

// Block is a basic block. Its last instruction is its terminator or, once the
// function is cut at cross-lane operations, such an operation.
type Block struct {
	Name  string
	Insts []*Inst
	Succs []*Block
	Preds []*Block
	Index int  // in Function.Blocks
	Cut   *Cut // the cross-lane operation it ends in, or nil
}

// Cut is a point where the function is divided: lanes stop there, the
// operation is done for all that stopped, and they go on at Cont.
type Cut struct {
	ID   int    // resume point, from 1; lower ids are earlier in the program
	Op   string // of CrossLaneOps, or JoinOp
	In   *Inst  // nil for a join
	At   *Block // ends in the cut
	Cont *Block
	Live []string // what is used after it, sorted; the operation's result not included
}

// Function is the one-lane kernel.
type Function struct {
	G, Lane, SG, X, Y, Z string // its parameters' normalised names
	attributes           string // the number of its attribute group
	Blocks               []*Block
	ByName               map[string]*Block
	Module               *Module
	ThreadVars           []ThreadVar // static threadgroup variables it uses
}

// All goes over the instructions of all blocks.
func (f *Function) All() iter.Seq2[*Block, *Inst] {
	return func(yield func(*Block, *Inst) bool) {
		for _, b := range f.Blocks {
			for _, in := range b.Insts {
				if !yield(b, in) {
					return
				}
			}
		}
	}
}

// Phis are the instructions that a block begins with, which choose by the way
// that control came.
func (b *Block) Phis() []*Inst {
	n := 0
	for n < len(b.Insts) && b.Insts[n].Op == "phi" {
		n++
	}
	return b.Insts[:n]
}

// Last is the terminator, or the operation at which the block was cut.
func (b *Block) Last() *Inst { return b.Insts[len(b.Insts)-1] }

// Limits on the input: text that is larger is refused, not worked on for hours.
const (
	maxSource = 64 << 20
	maxBlocks = 20000
	maxInsts  = 400000
)

// ParseKernel reads the one-lane kernel of the module.
func ParseKernel(m *Module) (*Function, error) {
	text := m.definition(EntryName)
	if text == "" {
		return nil, fmt.Errorf("no definition of @%s in the module", EntryName)
	}
	head, body, _ := strings.Cut(text, "\n")
	f := &Function{ByName: map[string]*Block{}, Module: m}
	numbered, err := f.readHead(head)
	if err != nil {
		return nil, err
	}
	if f.ThreadVars, err = m.threadVars(); err != nil {
		return nil, err
	}
	if err := f.readBody(body, fmt.Sprint(numbered)); err != nil {
		return nil, fmt.Errorf("@%s: %w", EntryName, err)
	}
	if err := f.check(); err != nil {
		return nil, fmt.Errorf("@%s: %w", EntryName, err)
	}
	return f, nil
}

// readHead reads the line of the definition; numbered counts the parameters
// that have a number for a name.
func (f *Function) readHead(head string) (numbered int, err error) {
	before, sig, _ := strings.Cut(head, "@"+EntryName)
	end := strings.LastIndexByte(sig, ')')
	if end < 0 || !strings.Contains(before, "void ") {
		return 0, fmt.Errorf("@%s: signature %q is not void (ptr, i32, i32, i32, i32, i32)", EntryName, Clip(head))
	}
	var params []string
	depth := 0
	p := &cursor{s: sig}
	for p.pos < end {
		switch c := p.peek(); {
		case c == '(' || c == '[' || c == '{' || c == '<':
			depth++
		case c == ')' || c == ']' || c == '}' || c == '>':
			depth--
		case c == '%' && depth == 1:
			n := p.name()
			if p.err != nil {
				return 0, fmt.Errorf("@%s: bad parameter in %q", EntryName, Clip(head))
			}
			params = append(params, Normalise("v.", n))
			if n[0] >= '0' && n[0] <= '9' {
				numbered++
			}
			continue
		}
		p.pos++
	}
	if len(params) != 6 {
		return 0, fmt.Errorf("@%s: %d parameters, want 6 (g, lane, sg, x, y, z)", EntryName, len(params))
	}
	f.G, f.Lane, f.SG, f.X, f.Y, f.Z = params[0], params[1], params[2], params[3], params[4], params[5]
	if at := strings.IndexByte(sig[end:], '#'); at >= 0 {
		p.pos = end + at + 1
		f.attributes = p.word()
	}
	return numbered, nil
}

// readBody reads the blocks. entry is the number of the first block when it has
// no label.
func (f *Function) readBody(body, entry string) error {
	lines := strings.Split(body, "\n")
	var cur *Block
	add := func(name string) error {
		cur = &Block{Name: Normalise("b.", name), Index: len(f.Blocks)}
		if f.ByName[cur.Name] != nil {
			return fmt.Errorf("block %s defined twice", name)
		}
		if len(f.Blocks) == maxBlocks {
			return fmt.Errorf("more than %d blocks", maxBlocks)
		}
		f.ByName[cur.Name] = cur
		f.Blocks = append(f.Blocks, cur)
		return nil
	}
	count := 0
	for i := 0; i < len(lines) && lines[i] != "}"; i++ {
		ln := strings.TrimSpace(stripComment(lines[i]))
		if ln == "" || strings.HasPrefix(ln, "#dbg_") {
			continue
		}
		if l := labelOf(ln); l != "" {
			if err := add(l); err != nil {
				return err
			}
			continue
		}
		if cur == nil {
			if err := add(entry); err != nil {
				return err
			}
		}
		if strings.HasPrefix(ln, "switch ") && !strings.Contains(ln, "]") {
			for i++; i < len(lines) && !strings.Contains(lines[i], "]"); i++ {
				ln += " " + strings.TrimSpace(lines[i])
			}
			ln += " ]"
		}
		ins, err := f.readInst(withoutMetadata(ln))
		if err != nil {
			return fmt.Errorf("block %s: %w", cur.Name[2:], err)
		}
		cur.Insts = append(cur.Insts, ins...)
		if count++; count > maxInsts {
			return fmt.Errorf("more than %d instructions", maxInsts)
		}
	}
	if cur == nil {
		return errors.New("empty body")
	}
	return nil
}

// Field says whether an instruction computes the address of a field of *g, and at
// which offset. An element of a field that is an array counts as its first where
// its number is not known.
func (f *Function) Field(in *Inst) (offset int64, ok bool) {
	if in.Op != "getelementptr" || in.Args[0].Local != f.G {
		return 0, false
	}
	indices, err := f.Module.AddressIndices(in)
	if err != nil {
		return 0, false
	}
	for _, i := range indices {
		if n, err := strconv.ParseInt(i.Text, 10, 64); err == nil {
			offset += n * i.Stride
		}
		offset += i.Offset
	}
	return offset, true
}

// labelOf is the name of the block that begins at a line, quotes included, or "".
func labelOf(line string) string {
	p := &cursor{s: line}
	if n := p.bareName(); p.err == nil && p.peek() == ':' {
		return n
	}
	return ""
}

// withoutMetadata cuts off what is attached to an instruction.
func withoutMetadata(line string) string {
	if at := strings.Index(line, ", !"); at >= 0 {
		return line[:at]
	}
	return line
}

// readInst reads one instruction and rewrites what has no meaning for a lane:
// it returns nothing for a dropped intrinsic, a copy of the lane parameter for
// msl_lane, and an address within the threadgroup block for a thread_local. No
// access to memory assumes an alignment.
func (f *Function) readInst(ln string) ([]*Inst, error) {
	in, err := ParseInst(ln)
	switch {
	case err != nil:
		return nil, err
	case in.dropped:
		return nil, nil
	case in.Op == "call" && in.Callee == "msl_lane" && in.Res != "":
		r := in.Res
		in, err = ParseInst(fmt.Sprintf("%%r = add i32 %%%s, 0", Unprefixed(f.Lane)))
		if err != nil {
			return nil, err
		}
		in.Res = r
	case in.Op == "call" && in.Callee == threadLocalAddress && in.Res != "" && len(in.Args) == 1:
		return f.threadgroupAddress(in)
	}
	in.assumeNoAlignment()
	return []*Inst{in}, nil
}

// threadLocalAddress is the intrinsic by which code takes the address of a
// thread_local variable.
const threadLocalAddress = "llvm.threadlocal.address.p0"

// threadgroupAddress is the address within the threadgroup block of the variable
// whose address in takes.
func (f *Function) threadgroupAddress(in *Inst) ([]*Inst, error) {
	name := Unquoted(strings.TrimPrefix(in.Args[0].Text, "@"))
	i := slices.IndexFunc(f.ThreadVars, func(v ThreadVar) bool { return v.name == name })
	if i < 0 {
		return nil, fmt.Errorf("thread_local @%s is not defined", name)
	}
	// two instructions: the block's address is *g's first field
	res := Unprefixed(in.Res)
	base := "%" + Normalise("tgs.", res)
	return ParseInsts(
		fmt.Sprintf("%s = load ptr, ptr %%%s, align 8", base, Unprefixed(f.G)),
		fmt.Sprintf("%%%s = getelementptr inbounds %%msl.tgs, ptr %s, i64 0, i32 %d", res, base, 2*i+1))
}

// ParseInsts reads lines of one-lane code.
func ParseInsts(lines ...string) ([]*Inst, error) {
	out := make([]*Inst, len(lines))
	for i, l := range lines {
		var err error
		if out[i], err = ParseInst(l); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Unprefixed undoes Normalise for a value's name.
func Unprefixed(n string) string {
	if strings.HasPrefix(n, `"`) {
		return `"` + strings.TrimPrefix(n[1:], "v.")
	}
	return strings.TrimPrefix(n, "v.")
}

// stripComment cuts a line at a ; outside quotes.
func stripComment(s string) string {
	if strings.IndexByte(s, ';') < 0 {
		return s
	}
	quoted := false
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '"':
			quoted = !quoted
		case ';':
			if !quoted {
				return s[:i]
			}
		}
	}
	return s
}
