package lanes

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// block is a basic block. Its last instruction is its terminator or, once the
// function is cut at cross-lane operations, such an operation (cut != nil).
type block struct {
	name  string
	insts []*inst
	succs []*block
	preds []*block
	index int  // in function.blocks
	cut   *cut // the cross-lane operation it ends in
}

// cut is a point where the function is divided: lanes stop there, the
// operation is done for all that stopped, and they go on at cont.
type cut struct {
	id   int    // resume point, from 1; lower ids are earlier in the program
	op   string // of syncOps, or joinOp
	in   *inst  // nil for a join
	at   *block // ends in the cut
	cont *block
	live []string // what is used after it, sorted; the operation's result not included
}

// function is the one-lane kernel.
type function struct {
	g, lane, sg, x, y, z string // its parameters' normalised names
	attrs                string // string attributes of its attribute group
	blocks               []*block
	byName               map[string]*block
	mod                  *module
	tgs                  []threadVar // static threadgroup variables it uses
}

// Limits on the input: text that is larger is refused, not worked on for hours.
const (
	maxSource = 64 << 20
	maxBlocks = 20000
	maxInsts  = 400000
)

// parseFunction reads the one-lane kernel of the module.
func parseFunction(m *module) (*function, error) {
	text := m.definition(entryName)
	if text == "" {
		return nil, fmt.Errorf("no definition of @%s in the module", entryName)
	}
	head, body, _ := strings.Cut(text, "\n")
	f := &function{byName: map[string]*block{}, mod: m}
	numbered, err := f.readHead(head)
	if err != nil {
		return nil, err
	}
	if f.tgs, err = m.threadVars(); err != nil {
		return nil, err
	}
	if err := f.readBody(body, fmt.Sprint(numbered)); err != nil {
		return nil, fmt.Errorf("@%s: %w", entryName, err)
	}
	if err := f.check(); err != nil {
		return nil, fmt.Errorf("@%s: %w", entryName, err)
	}
	return f, nil
}

// readHead reads the line of the definition; numbered counts the parameters
// that have a number for a name.
func (f *function) readHead(head string) (numbered int, err error) {
	before, sig, _ := strings.Cut(head, "@"+entryName)
	end := strings.LastIndexByte(sig, ')')
	if end < 0 || !strings.Contains(before, "void ") {
		return 0, fmt.Errorf("@%s: signature %q is not void (ptr, i32, i32, i32, i32, i32)", entryName, clip(head))
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
				return 0, fmt.Errorf("@%s: bad parameter in %q", entryName, clip(head))
			}
			params = append(params, normalise("v.", n))
			if n[0] >= '0' && n[0] <= '9' {
				numbered++
			}
			continue
		}
		p.pos++
	}
	if len(params) != 6 {
		return 0, fmt.Errorf("@%s: %d parameters, want 6 (g, lane, sg, x, y, z)", entryName, len(params))
	}
	f.g, f.lane, f.sg, f.x, f.y, f.z = params[0], params[1], params[2], params[3], params[4], params[5]
	if at := strings.IndexByte(sig[end:], '#'); at >= 0 {
		p.pos = end + at + 1
		f.attrs = f.mod.stringAttributes(p.word())
	}
	return numbered, nil
}

// readBody reads the blocks. entry is the number of the first block when it has
// no label.
func (f *function) readBody(body, entry string) error {
	lines := strings.Split(body, "\n")
	var cur *block
	add := func(name string) error {
		cur = &block{name: normalise("b.", name), index: len(f.blocks)}
		if f.byName[cur.name] != nil {
			return fmt.Errorf("block %s defined twice", name)
		}
		if len(f.blocks) == maxBlocks {
			return fmt.Errorf("more than %d blocks", maxBlocks)
		}
		f.byName[cur.name] = cur
		f.blocks = append(f.blocks, cur)
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
			return fmt.Errorf("block %s: %w", cur.name[2:], err)
		}
		cur.insts = append(cur.insts, ins...)
		if count++; count > maxInsts {
			return fmt.Errorf("more than %d instructions", maxInsts)
		}
	}
	if cur == nil {
		return errors.New("empty body")
	}
	return nil
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
// msl_lane, and an address within the threadgroup block for a thread_local.
func (f *function) readInst(ln string) ([]*inst, error) {
	in, err := parseInst(ln)
	switch {
	case err != nil:
		return nil, err
	case in.dropped:
		return nil, nil
	case in.op == "call" && in.callee == "msl_lane" && in.res != "":
		r := in.res
		in, err = parseInst(fmt.Sprintf("%%r = add i32 %%%s, 0", unprefixed(f.lane)))
		if err != nil {
			return nil, err
		}
		in.res = r
	case in.op == "call" && in.callee == threadLocalAddress && in.res != "" && len(in.args) == 1:
		return f.threadgroupAddress(in)
	}
	return []*inst{in}, nil
}

// threadLocalAddress is the intrinsic by which code takes the address of a
// thread_local variable.
const threadLocalAddress = "llvm.threadlocal.address.p0"

// threadgroupAddress is the address within the threadgroup block of the variable
// whose address in takes.
func (f *function) threadgroupAddress(in *inst) ([]*inst, error) {
	name := unquoted(strings.TrimPrefix(in.args[0].text, "@"))
	i := slices.IndexFunc(f.tgs, func(v threadVar) bool { return v.name == name })
	if i < 0 {
		return nil, fmt.Errorf("thread_local @%s is not defined", name)
	}
	// two instructions: the block's address is *g's first field
	res := unprefixed(in.res)
	base := "%" + normalise("tgs.", res)
	return parseInsts(
		fmt.Sprintf("%s = load ptr, ptr %%%s, align 8", base, unprefixed(f.g)),
		fmt.Sprintf("%%%s = getelementptr inbounds %%msl.tgs, ptr %s, i64 0, i32 %d", res, base, 2*i+1))
}

// parseInsts reads lines of one-lane code.
func parseInsts(lines ...string) ([]*inst, error) {
	out := make([]*inst, len(lines))
	for i, l := range lines {
		var err error
		if out[i], err = parseInst(l); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// unprefixed undoes normalise for a value's name.
func unprefixed(n string) string {
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
