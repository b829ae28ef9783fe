package lanes

import (
	"errors"
	"fmt"
	"regexp"
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

// function is the one-lane kernel.
type function struct {
	g, lane, sg, x, y, z string // its parameters' normalised names
	attrs                string // string attributes of its attribute group
	blocks               []*block
	byName               map[string]*block
	mod                  *module
	tgs                  []threadVar // static threadgroup variables it uses
	merged               int         // loads made by mergeLoads
}

// Limits on the input: text that is larger is refused, not worked on for hours.
const (
	maxSource = 64 << 20
	maxBlocks = 20000
	maxInsts  = 400000
)

var (
	reParam    = regexp.MustCompile(`%("[^"]*"|[-\w.$]+)`)
	reAttrRef  = regexp.MustCompile(`#(\d+)`)
	reLabel    = regexp.MustCompile(`^("[^"]*"|[-\w.$]+):`)
	reMetadata = regexp.MustCompile(`(?:, ![\w.]+ ![\w.]+(?:\([^()]*\))?)+$`)
	reTLS      = regexp.MustCompile(`@llvm\.threadlocal\.address\.p0\(ptr [^@]*@("[^"]*"|[-\w.$]+)\)`)
)

// parseFunction reads the one-lane kernel of the module.
func parseFunction(m *module) (*function, error) {
	text, err := m.entry()
	if err != nil {
		return nil, err
	}
	head, body, _ := strings.Cut(text, "\n")
	open := strings.Index(head, "@"+entryName)
	sig := head[open:]
	end := strings.LastIndexByte(sig, ')')
	if end < 0 || !strings.HasPrefix(head, "define ") || !strings.Contains(head[:open], "void ") {
		return nil, fmt.Errorf("@%s: signature %q is not void (ptr, i32, i32, i32, i32, i32)", entryName, clip(head))
	}
	var params []string
	depth := 0
	numbered := 0
	for i := len("@" + entryName); i < end; i++ {
		switch c := sig[i]; {
		case c == '(' || c == '[' || c == '{' || c == '<':
			depth++
		case c == ')' || c == ']' || c == '}' || c == '>':
			depth--
		case c == '%' && depth == 1:
			n := reParam.FindString(sig[i:])
			if n == "" {
				return nil, fmt.Errorf("@%s: bad parameter in %q", entryName, clip(head))
			}
			params = append(params, normalise("v.", n[1:]))
			if n[1] >= '0' && n[1] <= '9' {
				numbered++
			}
			i += len(n) - 1
		}
	}
	if len(params) != 6 {
		return nil, fmt.Errorf("@%s: %d parameters, want 6 (g, lane, sg, x, y, z)", entryName, len(params))
	}
	f := &function{g: params[0], lane: params[1], sg: params[2], x: params[3], y: params[4], z: params[5],
		byName: map[string]*block{}, mod: m}
	if a := reAttrRef.FindStringSubmatch(sig[end:]); a != nil {
		f.attrs = m.stringAttributes(a[1])
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
		if l := reLabel.FindStringSubmatch(ln); l != nil {
			if err := add(l[1]); err != nil {
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
		ln = reMetadata.ReplaceAllString(ln, "")
		ins, err := f.readInst(ln)
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

// readInst reads one instruction and rewrites what has no meaning for a lane:
// it returns nothing for a dropped intrinsic, a copy of the lane parameter for
// msl_lane, and an address within the threadgroup block for a thread_local.
func (f *function) readInst(ln string) ([]*inst, error) {
	if strings.Contains(ln, "call") {
		for _, d := range droppedCalls {
			if strings.Contains(ln, "@"+d) {
				return nil, nil
			}
		}
	}
	if tls := reTLS.FindStringSubmatch(ln); tls != nil {
		res, _, ok := strings.Cut(ln, " = ")
		if !ok {
			return nil, fmt.Errorf("address without a result in %q", clip(ln))
		}
		for i, v := range f.tgs {
			if v.name == tls[1] {
				// two instructions: the block's address is *g's first field
				base := strings.TrimSpace(res)
				base = "%" + normalise("tgs.", base[1:])
				a, err := parseInst(fmt.Sprintf("%s = load ptr, ptr %%%s, align 8", base, unprefixed(f.g)))
				if err != nil {
					return nil, err
				}
				b, err := parseInst(fmt.Sprintf("%s = getelementptr inbounds %%msl.tgs, ptr %s, i64 0, i32 %d", res, base, 2*i+1))
				if err != nil {
					return nil, err
				}
				return []*inst{a, b}, nil
			}
		}
		return nil, fmt.Errorf("thread_local @%s is not defined", tls[1])
	}
	in, err := parseInst(ln)
	if err != nil {
		return nil, err
	}
	if in.op == "call" && in.callee == "msl_lane" && in.res != "" {
		r := in.res
		in, err = parseInst(fmt.Sprintf("%%r = add i32 %%%s, 0", unprefixed(f.lane)))
		if err != nil {
			return nil, err
		}
		in.res = r
	}
	return []*inst{in}, nil
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
