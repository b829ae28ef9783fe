package lanes

import (
	"fmt"
	"strings"
)

// scalarEmitter writes the masked form: a function @msl.lane that runs one lane
// from one resume point to the next, driven by msl_sg_drive of sg.h. What a
// lane needs after a resume point lies in the frame, 32 elements a value.
type scalarEmitter struct {
	f     *function
	cuts  []*cut
	cross map[string]*typ   // values live across a cut; each has a variable
	check map[*block]bool   // blocks that look at the watchdog's flag
	last  map[string]string // block → label that its successors see
	frame *frame
	writer
}

// scalarForm returns the text of the masked form.
func scalarForm(f *function) (string, error) {
	cuts, err := cutAt(f, func(string) bool { return true }, true)
	if err != nil {
		return "", err
	}
	e := &scalarEmitter{f: f, cuts: cuts, cross: map[string]*typ{}, last: map[string]string{}, frame: newFrame()}
	lv := computeLiveness(f.blocks)
	for _, n := range lv.crossing(cuts) {
		e.cross[n] = lv.typ[n]
		e.frame.add("v:"+n, fmt.Sprintf("[32 x %s]", memType(lv.typ[n])))
	}
	dom := dominators(f.blocks)
	lf, err := findLoops(f.blocks, dom)
	if err != nil {
		return "", err
	}
	e.check = unbounded(f, lf, dom)
	for _, b := range f.blocks {
		e.last[b.name] = b.name
		if e.check[b] {
			e.last[b.name] = normalise("go.", b.name)
		}
	}
	for _, c := range cuts {
		if c.in == nil {
			continue
		}
		for i, a := range c.in.args {
			e.frame.add(argField(c, i), fmt.Sprintf("[32 x %s]", memType(a.typ)))
		}
		if c.in.res != "" {
			e.frame.add("v:"+c.in.res, fmt.Sprintf("[32 x %s]", memType(c.in.typ)))
		}
	}
	if err := e.laneFunction(lv); err != nil {
		return "", err
	}
	e.table()
	fmt.Fprintf(&e.b, "define i32 @msl_sgk(ptr %%g, i32 %%sg, i32 %%n, ptr %%frame, i32 %%pc) #9900 {\n"+
		"  %%r = call i32 @msl_sg_drive(ptr %%g, i32 %%sg, i32 %%n, ptr %%frame, i32 %%pc, ptr @msl.lane, ptr @msl.cuts)\n"+
		"  ret i32 %%r\n}\n")
	fmt.Fprintf(&e.b, "attributes #9900 = { nounwind %s }\n", f.attrs)
	e.b.WriteString(conversions(e.b.String()))
	return tgsBlock(f.tgs) + e.frame.define() + e.b.String(), nil
}

// memType is the type a value has in memory: i1 takes a byte.
func memType(t *typ) string {
	if t.kind == kInt && t.bits == 1 {
		return "i8"
	}
	return t.String()
}

func argField(c *cut, i int) string { return fmt.Sprintf("a:%d:%d", c.id, i) }

// variable is the stack slot of a value that crosses a cut.
func variable(n string) string { return "%" + normalise("a.", n) }

// laneFunction writes @msl.lane.
func (e *scalarEmitter) laneFunction(lv *liveness) error {
	f, private := e.f, int64(0)
	fmt.Fprintf(&e.b, "define internal i32 @msl.lane(ptr %%%s, i32 %%%s, i32 %%%s, ptr %%frame, i32 %%pc) #9900 {\nhead:\n", f.g, f.lane, f.sg)
	e.line("%%lane64 = zext i32 %%%s to i64", f.lane)
	for i, n := range []string{f.x, f.y, f.z} {
		e.line("%%at.%d = getelementptr inbounds [32 x i32], ptr %%frame, i64 %d, i64 %%lane64", i, i)
		e.line("%%%s = load i32, ptr %%at.%d, align 4", n, i)
	}
	for _, n := range lv.names {
		if t := e.cross[n]; t != nil {
			e.line("%s = alloca %s", variable(n), t)
		}
	}
	for _, in := range f.blocks[0].insts {
		if in.op != "alloca" {
			continue
		}
		size, _, err := f.mod.layout(in.elem)
		if err != nil {
			return fmt.Errorf("block %s: %q: %w", f.blocks[0].name[2:], clip(in.text), err)
		}
		if size > maxPrivate/width {
			return fmt.Errorf("block %s: %q: private variable of %d bytes a lane", f.blocks[0].name[2:], clip(in.text), size)
		}
		if private += size; len(e.cuts) == 0 && private <= maxStack {
			e.line("%s", in.render(nil, nil))
			continue
		}
		e.frame.add("p:"+in.res, fmt.Sprintf("[32 x %s]", alignedElem(in.elem, in.align)))
		e.b.WriteString(e.frame.address("%"+in.res, "p:"+in.res, "%lane64"))
	}
	e.line("switch i32 %%pc, label %%unknown [")
	e.line("  i32 0, label %%%s", f.blocks[0].name)
	for _, c := range e.cuts {
		e.line("  i32 %d, label %%resume.%d", c.id, c.id)
	}
	e.line("]\nunknown:\n  unreachable")
	for _, c := range e.cuts {
		fmt.Fprintf(&e.b, "resume.%d:\n", c.id)
		for _, n := range c.live {
			e.restore(n)
		}
		if c.in != nil && e.cross[c.in.res] != nil {
			e.restore(c.in.res)
		}
		e.line("br label %%%s", c.cont.name)
	}
	for _, b := range f.blocks {
		e.block(b)
	}
	e.b.WriteString("stopped:\n")
	e.line("ret i32 %d\n}", codeStopped)
	return nil
}

// restore moves a value from the frame to its variable.
func (e *scalarEmitter) restore(n string) {
	t, p, v := e.cross[n], e.fresh(), e.fresh()
	e.b.WriteString(e.frame.address(p, "v:"+n, "%lane64"))
	e.line("%s = load %s, ptr %s", v, memType(t), p)
	if memType(t) != t.String() {
		w := e.fresh()
		e.line("%s = trunc i8 %s to i1", w, v)
		v = w
	}
	e.line("store %s %s, ptr %s", t, v, variable(n))
}

// keep stores a value into the frame.
func (e *scalarEmitter) keep(field string, t *typ, v string) {
	p := e.fresh()
	e.b.WriteString(e.frame.address(p, field, "%lane64"))
	if memType(t) != t.String() {
		w := e.fresh()
		e.line("%s = zext i1 %s to i8", w, v)
		v = w
	}
	e.line("store %s %s, ptr %s", memType(t), v, p)
}

// use returns a value's name where it is used: read from its variable when it
// crosses a cut.
func (e *scalarEmitter) use(n string) string {
	t := e.cross[n]
	if t == nil {
		return "%" + n
	}
	v := e.fresh()
	e.line("%s = load %s, ptr %s", v, t, variable(n))
	return v
}

// block writes one block.
func (e *scalarEmitter) block(b *block) {
	fmt.Fprintf(&e.b, "%s:\n", b.name)
	phis := 0
	for _, in := range b.insts {
		if in.op != "phi" {
			break
		}
		phis++
		// a value that crosses a cut is read at the end of the predecessor
		text := in.render(nil, func(l string) string { return e.last[l] })
		if e.phiCrosses(in) {
			text = fmt.Sprintf("%%%s = phi %s%s ", in.res, flagText(in), in.typ)
			for k := range in.args {
				if k > 0 {
					text += ", "
				}
				v := in.args[k].text
				if n := in.args[k].local; n != "" {
					v = "%" + n
					if e.cross[n] != nil {
						v = phiTemp(n, in.labels[k].name)
					}
				}
				text += fmt.Sprintf("[ %s, %%%s ]", v, e.last[in.labels[k].name])
			}
		}
		e.line("%s", text)
	}
	for _, in := range b.insts[:phis] {
		e.define(in)
	}
	for _, in := range b.insts[phis:] {
		switch {
		case in.op == "alloca":
		case in.terminator():
			e.leave(b, in)
		case b.cut != nil && in == b.cut.in:
		default:
			e.line("%s", in.render(e.use, nil))
			e.define(in)
		}
	}
	if c := b.cut; c != nil {
		if c.in != nil {
			for i, a := range c.in.args {
				v := a.text
				if a.local != "" {
					v = e.use(a.local)
				}
				e.keep(argField(c, i), a.typ, v)
			}
		}
		for _, n := range c.live {
			e.keep("v:"+n, e.cross[n], e.use(n))
		}
		e.line("ret i32 %d", c.id)
	}
}

// phiTemp names what a phi takes of a crossing value from a predecessor.
func phiTemp(n, pred string) string {
	return "%" + normalise("p.", normalise(strings.Trim(pred, `"`)+".", n))
}

func (e *scalarEmitter) phiCrosses(in *inst) bool {
	for _, a := range in.args {
		if e.cross[a.local] != nil {
			return true
		}
	}
	return false
}

func flagText(in *inst) string {
	s := ""
	for _, f := range in.flags {
		s += f + " "
	}
	return s
}

// define stores a result that crosses a cut into its variable.
func (e *scalarEmitter) define(in *inst) {
	if t := e.cross[in.res]; in.res != "" && t != nil {
		e.line("store %s %%%s, ptr %s", t, in.res, variable(in.res))
	}
}

// leave writes what stands before a terminator, and the terminator.
func (e *scalarEmitter) leave(b *block, in *inst) {
	if e.check[b] {
		p, v, c := e.fresh(), e.fresh(), e.fresh()
		e.line("%s = getelementptr inbounds i8, ptr %%%s, i64 8", p, e.f.g)
		e.line("%s.p = load ptr, ptr %s, align 8", v, p)
		e.line("%s = load volatile i32, ptr %s.p, align 4", v, v)
		e.line("%s = icmp ne i32 %s, 0", c, v)
		e.line("br i1 %s, label %%stopped, label %%%s", c, e.last[b.name])
		fmt.Fprintf(&e.b, "%s:\n", e.last[b.name])
	}
	done := map[string]bool{}
	for _, s := range b.succs {
		for _, phi := range s.insts {
			if phi.op != "phi" {
				break
			}
			for k, a := range phi.args {
				if t := e.cross[a.local]; a.local != "" && t != nil && phi.labels[k].name == b.name && !done[a.local] {
					done[a.local] = true
					e.line("%s = load %s, ptr %s", phiTemp(a.local, b.name), t, variable(a.local))
				}
			}
		}
	}
	if in.op == "ret" {
		e.line("ret i32 %d", codeDone)
		return
	}
	e.line("%s", in.render(e.use, nil))
}

// table writes what happens at each resume point.
func (e *scalarEmitter) table() {
	barriers := 0
	rows := []string{"{ ptr, i64, i64, i64, i64, i64 } zeroinitializer"}
	for _, c := range e.cuts {
		op, off, barrier := "null", [4]string{"0", "0", "0", "0"}, 0
		if c.in != nil {
			for i := range c.in.args {
				off[i] = e.frame.offset(argField(c, i))
			}
			if c.in.res != "" {
				off[3] = e.frame.offset("v:" + c.in.res)
			}
			if syncOps[c.op].barrier {
				barrier = 1
				barriers++
			} else if c.op != "sgbar" {
				op = "@msl_sg_" + c.op
			}
		}
		rows = append(rows, fmt.Sprintf("{ ptr, i64, i64, i64, i64, i64 } { ptr %s, i64 %s, i64 %s, i64 %s, i64 %s, i64 %d }",
			op, off[0], off[1], off[2], off[3], barrier))
	}
	fmt.Fprintf(&e.b, "@msl.cuts = internal constant [%d x { ptr, i64, i64, i64, i64, i64 }] [\n  %s\n]\n@msl_nbar = constant i32 %d\n",
		len(rows), strings.Join(rows, ",\n  "), barriers)
}
