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

// eachLane runs an instruction for one lane after another, in order.
func (e *vectorEmitter) eachLane(in *ir.Inst) {
	type slot struct{ mem, typ, va string }
	slots := map[string]slot{}
	for i := range in.Args {
		o := &in.Args[i]
		if o.Local == "" || slots[o.Local].typ != "" {
			continue
		}
		if e.shapeOf(o).Uniform() {
			slots[o.Local] = slot{"", "scalar", e.scalar(o)}
			continue
		}
		slots[o.Local] = slot{e.spill(o), "memory", ""}
		defer e.release(laneArray(o.Type), slots[o.Local].mem)
	}
	var result string
	if in.Res != "" {
		result = e.scratch(laneArray(in.Type))
		defer e.release(laneArray(in.Type), result)
	}
	left := e.scratch("i32")
	defer e.release("i32", left)
	e.line("store i32 %s, ptr %s", e.maskBits(e.mask), left)
	e.tmp++
	id := e.tmp
	e.line("br label %%each.%d", id)
	e.label(fmt.Sprintf("each.%d", id))
	m := e.let("load i32, ptr %s", left)
	l := e.let("call i32 %s(i32 %s, i1 true)", e.intrinsic("llvm.cttz.i32", "i32", "i32, i1"), m)
	l64 := e.let("zext i32 %s to i64", l)
	values := map[string]string{}
	for i := range in.Args {
		o := &in.Args[i]
		if o.Local == "" || values[o.Local] != "" {
			continue
		}
		s := slots[o.Local]
		if s.mem == "" {
			values[o.Local] = s.va
			continue
		}
		p := e.let("getelementptr [32 x %s], ptr %s, i64 0, i64 %s", memType(o.Type), s.mem, l64)
		values[o.Local] = e.loadFrom(o.Type, p)
	}
	c := *in
	c.Res = ""
	text := c.Render(func(local string) string { return values[local] }, nil)[in.OpAt:]
	if in.Res == "" {
		e.line("%s", text)
	} else {
		v := e.let("%s", text)
		p := e.let("getelementptr [32 x %s], ptr %s, i64 0, i64 %s", memType(in.Type), result, l64)
		e.line("store %s %s, ptr %s", memType(in.Type), e.inMemory(in.Type, v), p)
	}
	rest := e.let("and i32 %s, %s", m, e.let("add i32 %s, -1", m))
	e.line("store i32 %s, ptr %s", rest, left)
	e.line("br i1 %s, label %%each.%d, label %%over.%d", e.let("icmp ne i32 %s, 0", rest), id, id)
	e.label(fmt.Sprintf("over.%d", id))
	if in.Res != "" {
		e.setVector(in, e.unspill(in.Type, result))
	}
}

// laneArray is the type of memory that holds a value of each lane.
func laneArray(t *ir.Type) string { return fmt.Sprintf("[32 x %s]", memType(t)) }

// spill stores a value of all lanes as an array, one element a lane.
func (e *vectorEmitter) spill(o *ir.Operand) string {
	t := o.Type
	mem := e.scratch(laneArray(t))
	v := e.vector(o)
	switch {
	case t.Kind == ir.Int && t.Bits == 1:
		e.line("store <32 x i8> %s, ptr %s, align 1", e.let("zext %s %s to <32 x i8>", maskType, v[0]), mem)
	case t.Kind == ir.Vector:
		n := powerOfTwo(len(v))
		for len(v) < n {
			v = append(v[:len(v):len(v)], "poison")
		}
		if t.Elem.Kind == ir.Int && t.Elem.Bits == 1 {
			e.fail("%s in memory of each lane", t)
			return mem
		}
		e.line("store <%d x %s> %s, ptr %s, align 1", width*n, t.Elem, e.zip(t.Elem, v), mem)
	case t.Kind == ir.Int || t.Kind == ir.Float || t.Kind == ir.Pointer:
		e.line("store %s %s, ptr %s, align 1", lanesOf(t), v[0], mem)
	default:
		e.fail("%s in memory of each lane", t)
	}
	return mem
}

// unspill reads an array with one element a lane.
func (e *vectorEmitter) unspill(t *ir.Type, mem string) []string {
	switch {
	case t.Kind == ir.Int && t.Bits == 1:
		return []string{e.let("trunc <32 x i8> %s to %s", e.let("load <32 x i8>, ptr %s, align 1", mem), maskType)}
	case t.Kind == ir.Vector:
		n := powerOfTwo(t.N)
		if t.Elem.Kind == ir.Int && t.Elem.Bits == 1 {
			e.fail("%s in memory of each lane", t)
			return make([]string, t.N)
		}
		all := e.let("load <%d x %s>, ptr %s, align 1", width*n, t.Elem, mem)
		return e.unzip(t.Elem, n, all)[:t.N]
	case t.Kind == ir.Struct && len(t.Fields) == 2 && t.Fields[1].Text == "i1" && t.Fields[0].Kind == ir.Int:
		// what cmpxchg returns: {T, i1}, as an integer of twice T's size
		w := t.Fields[0].Bits
		all := e.let("load <64 x i%d>, ptr %s, align 1", w, mem)
		v := e.unzip(t.Fields[0], 2, all)
		low := e.let("trunc <32 x i%d> %s to <32 x i8>", max(w, 8), v[1])
		if w == 8 {
			low = v[1]
		}
		return []string{v[0], e.let("trunc <32 x i8> %s to %s", low, maskType)}
	case t.Kind == ir.Int || t.Kind == ir.Float || t.Kind == ir.Pointer:
		return []string{e.let("load %s, ptr %s, align 1", lanesOf(t), mem)}
	}
	e.fail("%s in memory of each lane", t)
	return make([]string, len(ir.Parts(t)))
}
