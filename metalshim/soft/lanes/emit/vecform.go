package emit

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/introgen/introgen/metalshim/soft/lanes/analysis"
	"github.com/introgen/introgen/metalshim/soft/lanes/ir"
)

// Vector returns the text of the fast form. A kernel that uses a thread's
// position gets two: one for simdgroups whose lanes follow each other in x, as
// in nearly all dispatches, and one for any.
func Vector(f *ir.Function) (string, error) {
	cuts, err := analysis.CutAt(f, func(op string) bool { return ir.CrossLaneOps[op].Barrier }, false)
	if err != nil {
		return "", err
	}
	forest, err := analysis.FindLoops(f.Blocks, ir.Dominators(f.Blocks))
	if err != nil {
		return "", err
	}
	mergeLoads(f, analysis.FindDivergence(f, forest, true))
	live := analysis.FindLiveness(f)
	live.Crossing(cuts)
	fr := newFrame()
	var b strings.Builder
	declared := map[string]string{}
	one := func(name string, row bool) error {
		e := newVectorEmitter(f, name, cuts, forest, fr, row)
		e.live = live
		text, err := e.function()
		if err != nil {
			return err
		}
		b.WriteString(text)
		maps.Copy(declared, e.declared)
		return nil
	}
	if err := one("msl.row", true); err != nil {
		return "", err
	}
	if usesPosition(f) {
		if err := one("msl.any", false); err != nil {
			return "", err
		}
		fmt.Fprintf(&b, chooseForm, headRow)
	} else {
		b.WriteString(onlyForm)
	}
	var out strings.Builder
	out.WriteString(tgsBlock(f.ThreadVars))
	out.WriteString(fr.define())
	fmt.Fprintf(&out, "@msl_nbar = constant i32 %d\n", len(cuts))
	out.WriteString(b.String())
	for _, d := range f.Module.Declarations(declared) {
		out.WriteString(d + "\n")
	}
	out.WriteString(conversions(b.String()))
	fmt.Fprintf(&out, "attributes #9900 = { nounwind \"prefer-vector-width\"=\"512\" %s }\n!9900 = !{}\n", f.Attributes())
	return out.String(), nil
}

const onlyForm = `define i32 @msl_sgk(ptr %g, i32 %sg, i32 %n, ptr %frame, i32 %pc) #9900 {
  %r = call i32 @msl.row(ptr %g, i32 %sg, i32 %n, ptr %frame, i32 %pc)
  ret i32 %r
}
`

const chooseForm = `define i32 @msl_sgk(ptr %%g, i32 %%sg, i32 %%n, ptr %%frame, i32 %%pc) #9900 {
  %%p = getelementptr inbounds i32, ptr %%frame, i64 %d
  %%f = load i32, ptr %%p, align 4
  %%c = icmp eq i32 %%f, 0
  br i1 %%c, label %%any, label %%row
row:
  %%r = call i32 @msl.row(ptr %%g, i32 %%sg, i32 %%n, ptr %%frame, i32 %%pc)
  ret i32 %%r
any:
  %%s = call i32 @msl.any(ptr %%g, i32 %%sg, i32 %%n, ptr %%frame, i32 %%pc)
  ret i32 %%s
}
`

// usesPosition says whether the kernel reads x, y or z.
func usesPosition(f *ir.Function) bool {
	position := func(o ir.Operand) bool { return o.Local != "" && (o.Local == f.X || o.Local == f.Y || o.Local == f.Z) }
	for _, in := range f.All() {
		if slices.ContainsFunc(in.Args, position) {
			return true
		}
	}
	return false
}

// function writes the whole function.
func (e *vectorEmitter) function() (string, error) {
	f := e.f
	e.blocks()
	e.resumption()
	if e.err != nil {
		return "", e.err
	}
	body := e.b.String()
	e.b.Reset()
	e.b.WriteString(e.globals.String())
	fmt.Fprintf(&e.b, "define internal i32 @%s(ptr %%%s, i32 %%%s, i32 %%n, ptr %%frame, i32 %%pc) #9900 {\nhead:\n", e.name, f.G, f.SG)
	e.b.WriteString(e.allocas.String())
	e.line("%s = alloca %s", liveVar, maskType)
	for _, in := range f.Blocks[0].Insts {
		if in.Op == "alloca" {
			e.placePrivate(in)
		}
	}
	position := lanesOf(ir.I32)
	if e.a.Row {
		position = ir.I32.String()
	}
	for i, n := range []string{f.X, f.Y, f.Z} {
		e.line("%%head.%d = getelementptr inbounds [32 x i32], ptr %%frame, i64 %d", i, i)
		e.line("%%%s = load %s, ptr %%head.%d, align 4", n, position, i)
	}
	for _, v := range e.vars {
		if v.prefix == "m" {
			e.line("store %s zeroinitializer, ptr %%%s", maskType, v.name)
		}
	}
	n := e.let("insertelement <32 x i32> poison, i32 %%n, i32 0")
	n = e.let("shufflevector <32 x i32> %s, <32 x i32> poison, <32 x i32> zeroinitializer", n)
	numbers := constVector(ir.I32, func(i int) int64 { return int64(i) })
	e.line("store %s %s, ptr %s", maskType, e.let("icmp ult <32 x i32> %s, %s", numbers, n), liveVar)
	if len(e.cuts) == 0 {
		e.line("br label %%%s", f.Blocks[0].Name)
	} else {
		e.line("switch i32 %%pc, label %%%s [", f.Blocks[0].Name)
		for _, c := range e.cuts {
			e.line("  i32 %d, label %%resume.%d", c.ID, c.ID)
		}
		e.line("]")
	}
	e.b.WriteString(body)
	e.label("stopped")
	e.line("ret i32 %d", codeStopped)
	e.label("done")
	e.line("ret i32 %d\n}", codeDone)
	return e.b.String(), e.err
}

// placePrivate gives a private variable its memory, a copy for each lane: in
// the frame when the kernel returns in between or when there is much of it,
// else on the stack.
func (e *vectorEmitter) placePrivate(in *ir.Inst) {
	stride := e.a.Strides[in.Res]
	size := stride * width
	if stride == 0 {
		if _, _, err := e.f.Module.Layout(in.Elem); err != nil {
			e.fail("%q: %v", ir.Clip(in.Text), err)
			return
		}
		size = 1
	}
	if size > maxPrivate || size < 0 {
		e.fail("%q: private variable of %d bytes a lane", ir.Clip(in.Text), stride)
		return
	}
	t := fmt.Sprintf("[%d x i8]", size)
	e.private += size
	if len(e.cuts) > 0 || e.private > maxStack {
		e.frame.add("p:"+in.Res, t)
		e.line("%%%s = %s", in.Res, e.frame.address("p:"+in.Res, ""))
		return
	}
	e.line("%%%s = alloca %s, align 64", in.Res, t)
}

// maxPrivate bounds the bytes of one private variable of all lanes, maxStack
// those of all private variables on the stack.
const (
	maxPrivate = 64 << 20
	maxStack   = 64 << 10
)
