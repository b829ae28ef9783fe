package emit

import (
	"fmt"
	"slices"
	"strings"

	"github.com/introgen/introgen/metalshim/soft/lanes/ir"
)

// call writes a call whose operands differ between lanes, or that has effects.
func (e *vectorEmitter) call(in *ir.Inst) {
	if name := ir.CrossLane(in); name != "" {
		e.sync(in, name)
		return
	}
	if in.Stays {
		e.eachLane(in)
		return
	}
	base, values := ir.Elementwise(in.Callee)
	op, pair := ir.Reduction(in.Callee)
	switch {
	case base != "":
		e.elementwise(in, base, values)
	case op+pair != "":
		e.reduceParts(in, op, pair)
	case in.Type.Kind == ir.Void && e.allUniform(in):
		e.line("%s", e.withScalars(in))
	case e.copyEach(in):
	default:
		e.eachLane(in)
	}
}

// maxCopied is how many bytes a lane's copy may have to be written out.
const maxCopied = 64

// copyEach writes a memcpy of few bytes between addresses that differ; it
// reports whether it did.
func (e *vectorEmitter) copyEach(in *ir.Inst) bool {
	if !strings.HasPrefix(in.Callee, "llvm.memcpy.p0.p0.") || len(in.Args) != 4 || in.Args[3].Text != "false" {
		return false
	}
	n := e.shapeOf(&in.Args[2])
	if !n.Const || n.C != nil || n.K < 1 || n.K > maxCopied {
		return false
	}
	from, to := e.safeAddresses(&in.Args[1]), e.storeAddresses(&in.Args[0])
	v := make([]string, width)
	for i := range v { // all are read before any is written: nothing else tells clang that they do not overlap
		v[i] = e.let("load <%d x i8>, ptr %s, align 1", n.K, from.at[from.of[i]])
	}
	for i, p := range to {
		e.line("store <%d x i8> %s, ptr %s, align 1", n.K, v[i], p)
	}
	return true
}

func (e *vectorEmitter) allUniform(in *ir.Inst) bool {
	return !slices.ContainsFunc(in.Args, func(o ir.Operand) bool { return !e.shapeOf(&o).Uniform() })
}

// elementwise writes an intrinsic that works on each element by itself.
func (e *vectorEmitter) elementwise(in *ir.Inst, base string, values int) {
	n := len(ir.Parts(in.Type))
	res, arg := ir.ElemOf(in.Type), ir.ElemOf(in.Args[0].Type)
	wide := half(arg) && base != "fabs" && base != "copysign" && base != "is.fpclass"
	name := "llvm." + base + "."
	t := arg
	if wide {
		t = ir.F32
	}
	if strings.HasSuffix(base, "i.sat") { // of a float: named for both types
		name += ir.Suffix(width, res) + "."
	}
	name += ir.Suffix(width, t)
	if base == "ldexp" {
		name += ".v32i32"
	}
	out := make([]string, n)
	args := make([][]string, len(in.Args))
	for k := range in.Args {
		if k < values {
			args[k] = e.vector(&in.Args[k])
		}
	}
	for i := range out {
		var call, decl []string
		for k := range in.Args {
			ot := ir.ElemOf(in.Args[k].Type)
			if k >= values {
				call = append(call, fmt.Sprintf("%s %s", ot, in.Args[k].Text))
				decl = append(decl, ot.String())
				continue
			}
			v := args[k][i]
			if wide && half(ot) {
				v, ot = e.widen(ot, v), ir.F32
			}
			call = append(call, fmt.Sprintf("%s %s", lanesOf(ot), v))
			decl = append(decl, lanesOf(ot))
		}
		rt := res
		if wide && half(rt) {
			rt = ir.F32
		}
		f := e.intrinsic(name, lanesOf(rt), strings.Join(decl, ", "))
		out[i] = e.let("call %s %s(%s)", lanesOf(rt), f, strings.Join(call, ", "))
		if rt != res {
			out[i] = e.narrow(res, out[i])
		}
	}
	e.setVector(in, out)
}

// reduceParts writes a reduction of the lane's own vector: over the parts.
func (e *vectorEmitter) reduceParts(in *ir.Inst, by, pair string) {
	v := append([]string(nil), e.vector(&in.Args[len(in.Args)-1])...)
	t := in.Type
	op := func(a, b string) string {
		if pair != "" {
			if half(t) {
				x, y := e.widen(t, a), e.widen(t, b)
				f := e.intrinsic("llvm."+pair+".v32f32", "<32 x float>", "<32 x float>, <32 x float>")
				return e.narrow(t, e.let("call <32 x float> %s(<32 x float> %s, <32 x float> %s)", f, x, y))
			}
			lt := lanesOf(t)
			f := e.intrinsic("llvm."+pair+"."+ir.Suffix(width, t), lt, lt+", "+lt)
			return e.let("call %s %s(%s %s, %s %s)", lt, f, lt, a, lt, b)
		}
		return e.binary(&ir.Inst{Op: by, Flags: in.Flags, Type: t}, []string{a}, []string{b})[0]
	}
	if len(in.Args) == 2 { // in order, from the start value
		acc := e.vector(&in.Args[0])[0]
		for _, x := range v {
			acc = op(acc, x)
		}
		e.setVector(in, []string{acc})
		return
	}
	for len(v) > 1 {
		var next []string
		for i := 0; i+1 < len(v); i += 2 {
			next = append(next, op(v[i], v[i+1]))
		}
		if len(v)%2 == 1 {
			next = append(next, v[len(v)-1])
		}
		v = next
	}
	e.setVector(in, v)
}
