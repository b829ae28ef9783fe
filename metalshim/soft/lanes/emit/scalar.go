package emit

import (
	"fmt"
	"slices"
	"strings"

	"github.com/introgen/introgen/metalshim/soft/lanes/analysis"
	"github.com/introgen/introgen/metalshim/soft/lanes/ir"
)

// scalarEmitter writes the masked form: a function @msl.lane that runs one lane
// from one resume point to the next, driven by msl_sg_drive of sg.h. What a
// lane needs after a resume point lies in the frame, 32 elements a value.
type scalarEmitter struct {
	f     *ir.Function
	cuts  []*ir.Cut
	cross map[string]*ir.Type // values live across a cut; each has a variable
	check map[*ir.Block]bool  // blocks that look at the watchdog's flag
	last  map[string]string   // block → label that its successors see
	frame *frame
	writer
}

// Scalar returns the text of the masked form.
func Scalar(f *ir.Function) (string, error) {
	cuts, err := analysis.CutAt(f, func(string) bool { return true }, true)
	if err != nil {
		return "", err
	}
	e := &scalarEmitter{f: f, cuts: cuts, cross: map[string]*ir.Type{}, last: map[string]string{}, frame: newFrame()}
	lv := analysis.FindLiveness(f)
	for _, n := range lv.Crossing(cuts) {
		e.cross[n] = lv.Type[n]
		e.frame.add("v:"+n, laneArray(lv.Type[n]))
	}
	dom := ir.Dominators(f.Blocks)
	lf, err := analysis.FindLoops(f.Blocks, dom)
	if err != nil {
		return "", err
	}
	e.check = analysis.Unbounded(f, lf, dom)
	for _, b := range f.Blocks {
		e.last[b.Name] = b.Name
		if e.check[b] {
			e.last[b.Name] = ir.Normalise("go.", b.Name)
		}
	}
	for _, c := range cuts {
		if c.In == nil {
			continue
		}
		for i, a := range c.In.Args {
			e.frame.add(argField(c, i), laneArray(a.Type))
		}
		if c.In.Res != "" {
			e.frame.add("v:"+c.In.Res, laneArray(c.In.Type))
		}
	}
	if err := e.laneFunction(lv); err != nil {
		return "", err
	}
	e.table()
	fmt.Fprintf(&e.b, "define i32 @msl_sgk(ptr %%g, i32 %%sg, i32 %%n, ptr %%frame, i32 %%pc) #9900 {\n"+
		"  %%r = call i32 @msl_sg_drive(ptr %%g, i32 %%sg, i32 %%n, ptr %%frame, i32 %%pc, ptr @msl.lane, ptr @msl.cuts)\n"+
		"  ret i32 %%r\n}\n")
	fmt.Fprintf(&e.b, "attributes #9900 = { nounwind %s }\n", f.Attributes())
	e.b.WriteString(conversions(e.b.String()))
	return tgsBlock(f.ThreadVars) + e.frame.define() + e.b.String(), nil
}

func argField(c *ir.Cut, i int) string { return fmt.Sprintf("a:%d:%d", c.ID, i) }

// variable is the stack slot of a value that crosses a cut.
func variable(n string) string { return "%" + ir.Normalise("a.", n) }

// laneFunction writes @msl.lane.
func (e *scalarEmitter) laneFunction(lv *analysis.Liveness) error {
	f, private := e.f, int64(0)
	fmt.Fprintf(&e.b, "define internal i32 @msl.lane(ptr %%%s, i32 %%%s, i32 %%%s, ptr %%frame, i32 %%pc) #9900 {\nhead:\n", f.G, f.Lane, f.SG)
	e.line("%%lane64 = zext i32 %%%s to i64", f.Lane)
	for i, n := range []string{f.X, f.Y, f.Z} {
		e.line("%%at.%d = getelementptr inbounds [32 x i32], ptr %%frame, i64 %d, i64 %%lane64", i, i)
		e.line("%%%s = load i32, ptr %%at.%d, align 4", n, i)
	}
	for _, n := range lv.Names {
		if t := e.cross[n]; t != nil {
			e.line("%s = alloca %s", variable(n), t)
		}
	}
	for _, in := range f.Blocks[0].Insts {
		if in.Op != "alloca" {
			continue
		}
		size, _, err := f.Module.Layout(in.Elem)
		if err != nil {
			return fmt.Errorf("block %s: %q: %w", f.Blocks[0].Name[2:], ir.Clip(in.Text), err)
		}
		if size > maxPrivate/width {
			return fmt.Errorf("block %s: %q: private variable of %d bytes a lane", f.Blocks[0].Name[2:], ir.Clip(in.Text), size)
		}
		if private += size; len(e.cuts) == 0 && private <= maxStack {
			e.line("%s", in.Render(nil, nil))
			continue
		}
		e.frame.add("p:"+in.Res, fmt.Sprintf("[32 x %s]", alignedElem(in.Elem, in.Align)))
		e.line("%%%s = %s", in.Res, e.frame.address("p:"+in.Res, "%lane64"))
	}
	e.line("switch i32 %%pc, label %%unknown [")
	e.line("  i32 0, label %%%s", f.Blocks[0].Name)
	for _, c := range e.cuts {
		e.line("  i32 %d, label %%resume.%d", c.ID, c.ID)
	}
	e.line("]\nunknown:\n  unreachable")
	for _, c := range e.cuts {
		e.label(fmt.Sprintf("resume.%d", c.ID))
		for _, n := range c.Live {
			e.restore(n)
		}
		if c.In != nil && e.cross[c.In.Res] != nil {
			e.restore(c.In.Res)
		}
		e.line("br label %%%s", c.Cont.Name)
	}
	for _, b := range f.Blocks {
		e.block(b)
	}
	e.label("stopped")
	e.line("ret i32 %d\n}", codeStopped)
	return nil
}

// restore moves a value from the frame to its variable.
func (e *scalarEmitter) restore(n string) {
	t := e.cross[n]
	v := e.loadFrom(t, e.let("%s", e.frame.address("v:"+n, "%lane64")))
	e.line("store %s %s, ptr %s", t, v, variable(n))
}

// keep stores a value into the frame.
func (e *scalarEmitter) keep(field string, t *ir.Type, v string) {
	p := e.let("%s", e.frame.address(field, "%lane64"))
	e.line("store %s %s, ptr %s", memType(t), e.inMemory(t, v), p)
}

// use returns a value's name where it is used: read from its variable when it
// crosses a cut.
func (e *scalarEmitter) use(n string) string {
	if t := e.cross[n]; t != nil {
		return e.let("load %s, ptr %s", t, variable(n))
	}
	return "%" + n
}

// block writes one block.
func (e *scalarEmitter) block(b *ir.Block) {
	e.label(b.Name)
	phis := b.Phis()
	for _, in := range phis {
		// a value that crosses a cut is read at the end of the predecessor
		text := in.Render(nil, func(l string) string { return e.last[l] })
		if e.phiCrosses(in) {
			ways := make([]string, len(in.Args))
			for k := range in.Args {
				v := in.Args[k].Text
				if n := in.Args[k].Local; n != "" {
					v = "%" + n
					if e.cross[n] != nil {
						v = phiTemp(n, in.Labels[k].Name)
					}
				}
				ways[k] = fmt.Sprintf("[ %s, %%%s ]", v, e.last[in.Labels[k].Name])
			}
			text = fmt.Sprintf("%%%s = %s %s %s", in.Res, strings.Join(append([]string{"phi"}, in.Flags...), " "), in.Type, strings.Join(ways, ", "))
		}
		e.line("%s", text)
	}
	for _, in := range phis {
		e.define(in)
	}
	for _, in := range b.Insts[len(phis):] {
		switch {
		case in.Op == "alloca":
		case in.Terminator():
			e.leave(b, in)
		case b.Cut != nil && in == b.Cut.In:
		default:
			e.line("%s", in.Render(e.use, nil))
			e.define(in)
		}
	}
	if c := b.Cut; c != nil {
		if c.In != nil {
			for i, a := range c.In.Args {
				v := a.Text
				if a.Local != "" {
					v = e.use(a.Local)
				}
				e.keep(argField(c, i), a.Type, v)
			}
		}
		for _, n := range c.Live {
			e.keep("v:"+n, e.cross[n], e.use(n))
		}
		e.line("ret i32 %d", c.ID)
	}
}

// phiTemp names what a phi takes of a crossing value from a predecessor.
func phiTemp(n, pred string) string {
	return "%" + ir.Normalise("p.", ir.Normalise(strings.Trim(pred, `"`)+".", n))
}

func (e *scalarEmitter) phiCrosses(in *ir.Inst) bool {
	return slices.ContainsFunc(in.Args, func(a ir.Operand) bool { return e.cross[a.Local] != nil })
}

// define stores a result that crosses a cut into its variable.
func (e *scalarEmitter) define(in *ir.Inst) {
	if t := e.cross[in.Res]; in.Res != "" && t != nil {
		e.line("store %s %%%s, ptr %s", t, in.Res, variable(in.Res))
	}
}

// leave writes what stands before a terminator, and the terminator.
func (e *scalarEmitter) leave(b *ir.Block, in *ir.Inst) {
	if e.check[b] {
		p, v, c := e.fresh(), e.fresh(), e.fresh()
		e.line("%s = getelementptr inbounds i8, ptr %%%s, i64 8", p, e.f.G)
		e.line("%s.p = load ptr, ptr %s, align 8", v, p)
		e.line("%s = load volatile i32, ptr %s.p, align 4", v, v)
		e.line("%s = icmp ne i32 %s, 0", c, v)
		e.line("br i1 %s, label %%stopped, label %%%s", c, e.last[b.Name])
		e.label(e.last[b.Name])
	}
	done := map[string]bool{}
	for _, s := range b.Succs {
		for _, phi := range s.Phis() {
			for k, a := range phi.Args {
				if t := e.cross[a.Local]; a.Local != "" && t != nil && phi.Labels[k].Name == b.Name && !done[a.Local] {
					done[a.Local] = true
					e.line("%s = load %s, ptr %s", phiTemp(a.Local, b.Name), t, variable(a.Local))
				}
			}
		}
	}
	if in.Op == "ret" {
		e.line("ret i32 %d", codeDone)
		return
	}
	e.line("%s", in.Render(e.use, nil))
}

// table writes what happens at each resume point.
func (e *scalarEmitter) table() {
	barriers := 0
	rows := []string{"{ ptr, i64, i64, i64, i64, i64 } zeroinitializer"}
	for _, c := range e.cuts {
		op, off, barrier := "null", [4]string{"0", "0", "0", "0"}, 0
		if c.In != nil {
			for i := range c.In.Args {
				off[i] = e.frame.offset(argField(c, i))
			}
			if c.In.Res != "" {
				off[3] = e.frame.offset("v:" + c.In.Res)
			}
			if ir.CrossLaneOps[c.Op].Barrier {
				barrier = 1
				barriers++
			} else if c.Op != "sgbar" {
				op = "@msl_sg_" + c.Op
			}
		}
		rows = append(rows, fmt.Sprintf("{ ptr, i64, i64, i64, i64, i64 } { ptr %s, i64 %s, i64 %s, i64 %s, i64 %s, i64 %d }",
			op, off[0], off[1], off[2], off[3], barrier))
	}
	fmt.Fprintf(&e.b, "@msl.cuts = internal constant [%d x { ptr, i64, i64, i64, i64, i64 }] [\n  %s\n]\n@msl_nbar = constant i32 %d\n",
		len(rows), strings.Join(rows, ",\n  "), barriers)
}
