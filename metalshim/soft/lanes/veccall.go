package lanes

import (
	"fmt"
	"strings"
)

// call writes a call whose operands differ between lanes, or that has effects.
func (e *vectorEmitter) call(in *inst) {
	if name := syncOf(in); name != "" {
		e.sync(in, name)
		return
	}
	base := intrinsicBase(in.callee)
	switch {
	case base != "":
		e.elementwise(in, base)
	case reductionOf(in.callee) != "":
		e.reduceParts(in)
	case in.typ.kind == kVoid && e.allUniform(in):
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
func (e *vectorEmitter) copyEach(in *inst) bool {
	if !strings.HasPrefix(in.callee, "llvm.memcpy.p0.p0.") || len(in.args) != 4 || in.args[3].text != "false" {
		return false
	}
	n := e.shapeOf(&in.args[2])
	if !n.konst || n.c != nil || n.k < 1 || n.k > maxCopied {
		return false
	}
	from, to := e.safeAddresses(&in.args[1]), e.storeAddresses(&in.args[0])
	v := make([]string, width)
	for i := range v { // all are read before any is written: nothing else tells clang that they do not overlap
		v[i] = e.let("load <%d x i8>, ptr %s, align 1", n.k, from.at[from.of[i]])
	}
	for i, p := range to {
		e.line("store <%d x i8> %s, ptr %s, align 1", n.k, v[i], p)
	}
	return true
}

func (e *vectorEmitter) allUniform(in *inst) bool {
	for i := range in.args {
		if !e.shapeOf(&in.args[i]).uniform() {
			return false
		}
	}
	return true
}

// elementwise writes an intrinsic that works on each element by itself.
func (e *vectorEmitter) elementwise(in *inst, base string) {
	values := elementwise[base]
	n := len(parts(in.typ))
	res, arg := elemOf(in.typ), elemOf(in.args[0].typ)
	wide := half(arg) && base != "fabs" && base != "copysign" && base != "is.fpclass"
	name := "llvm." + base + "."
	t := arg
	if wide {
		t = tFloats["float"]
	}
	if strings.HasSuffix(base, "i.sat") { // of a float: named for both types
		name += suffix(width, res) + "."
	}
	name += suffix(width, t)
	if base == "ldexp" {
		name += ".v32i32"
	}
	out := make([]string, n)
	args := make([][]string, len(in.args))
	for k := range in.args {
		if k < values {
			args[k] = e.vector(&in.args[k])
		}
	}
	for i := range out {
		var call, decl []string
		for k := range in.args {
			ot := elemOf(in.args[k].typ)
			if k >= values {
				call = append(call, fmt.Sprintf("%s %s", ot, in.args[k].text))
				decl = append(decl, ot.String())
				continue
			}
			v := args[k][i]
			if wide && half(ot) {
				v, ot = e.widen(ot, v), tFloats["float"]
			}
			call = append(call, fmt.Sprintf("%s %s", lanesOf(ot), v))
			decl = append(decl, lanesOf(ot))
		}
		rt := res
		if wide && half(rt) {
			rt = tFloats["float"]
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
func (e *vectorEmitter) reduceParts(in *inst) {
	kind := reductionOf(in.callee)
	v := append([]string(nil), e.vector(&in.args[len(in.args)-1])...)
	t := in.typ
	op := func(a, b string) string {
		if name := reductions[kind]; name != "" {
			if half(t) {
				x, y := e.widen(t, a), e.widen(t, b)
				f := e.intrinsic("llvm."+name+".v32f32", "<32 x float>", "<32 x float>, <32 x float>")
				return e.narrow(t, e.let("call <32 x float> %s(<32 x float> %s, <32 x float> %s)", f, x, y))
			}
			lt := lanesOf(t)
			f := e.intrinsic("llvm."+name+"."+suffix(width, t), lt, lt+", "+lt)
			return e.let("call %s %s(%s %s, %s %s)", lt, f, lt, a, lt, b)
		}
		return e.binary(&inst{op: kind, flags: in.flags, typ: t}, []string{a}, []string{b})[0]
	}
	if len(in.args) == 2 { // in order, from the start value
		acc := e.vector(&in.args[0])[0]
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
func (e *vectorEmitter) eachLane(in *inst) {
	type slot struct{ mem, typ, va string }
	slots := map[string]slot{}
	for i := range in.args {
		o := &in.args[i]
		if o.local == "" || slots[o.local].typ != "" {
			continue
		}
		if e.shapeOf(o).uniform() {
			slots[o.local] = slot{"", "scalar", e.scalar(o)}
			continue
		}
		slots[o.local] = slot{e.spill(o), "memory", ""}
		defer e.release(laneArray(o.typ), slots[o.local].mem)
	}
	var result string
	if in.res != "" {
		result = e.scratch(laneArray(in.typ))
		defer e.release(laneArray(in.typ), result)
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
	for i := range in.args {
		o := &in.args[i]
		if o.local == "" || values[o.local] != "" {
			continue
		}
		s := slots[o.local]
		if s.mem == "" {
			values[o.local] = s.va
			continue
		}
		p := e.let("getelementptr [32 x %s], ptr %s, i64 0, i64 %s", memType(o.typ), s.mem, l64)
		v := e.let("load %s, ptr %s", memType(o.typ), p)
		if memType(o.typ) != o.typ.String() {
			v = e.let("trunc i8 %s to i1", v)
		}
		values[o.local] = v
	}
	c := *in
	c.res = ""
	text := c.render(func(local string) string { return values[local] }, nil)[in.opAt:]
	if in.res == "" {
		e.line("%s", text)
	} else {
		v := e.let("%s", text)
		p := e.let("getelementptr [32 x %s], ptr %s, i64 0, i64 %s", memType(in.typ), result, l64)
		if memType(in.typ) != in.typ.String() {
			v = e.let("zext i1 %s to i8", v)
		}
		e.line("store %s %s, ptr %s", memType(in.typ), v, p)
	}
	rest := e.let("and i32 %s, %s", m, e.let("add i32 %s, -1", m))
	e.line("store i32 %s, ptr %s", rest, left)
	e.line("br i1 %s, label %%each.%d, label %%over.%d", e.let("icmp ne i32 %s, 0", rest), id, id)
	e.label(fmt.Sprintf("over.%d", id))
	if in.res != "" {
		e.setVector(in, e.unspill(in.typ, result))
	}
}

// laneArray is the type of memory that holds a value of each lane.
func laneArray(t *typ) string { return fmt.Sprintf("[32 x %s]", memType(t)) }

// spill stores a value of all lanes as an array, one element a lane.
func (e *vectorEmitter) spill(o *operand) string {
	t := o.typ
	mem := e.scratch(laneArray(t))
	v := e.vector(o)
	switch {
	case t.kind == kInt && t.bits == 1:
		e.line("store <32 x i8> %s, ptr %s, align 1", e.let("zext %s %s to <32 x i8>", maskType, v[0]), mem)
	case t.kind == kVec:
		n := 1
		for n < len(v) {
			n *= 2
		}
		for len(v) < n {
			v = append(v[:len(v):len(v)], "poison")
		}
		if t.elem.kind == kInt && t.elem.bits == 1 {
			e.fail("%s in memory of each lane", t)
			return mem
		}
		e.line("store <%d x %s> %s, ptr %s, align 1", width*n, t.elem, e.zip(t.elem, v), mem)
	case t.kind == kInt || t.kind == kFloat || t.kind == kPtr:
		e.line("store %s %s, ptr %s, align 1", lanesOf(t), v[0], mem)
	default:
		e.fail("%s in memory of each lane", t)
	}
	return mem
}

// unspill reads an array with one element a lane.
func (e *vectorEmitter) unspill(t *typ, mem string) []string {
	switch {
	case t.kind == kInt && t.bits == 1:
		return []string{e.let("trunc <32 x i8> %s to %s", e.let("load <32 x i8>, ptr %s, align 1", mem), maskType)}
	case t.kind == kVec:
		n := 1
		for n < t.n {
			n *= 2
		}
		if t.elem.kind == kInt && t.elem.bits == 1 {
			e.fail("%s in memory of each lane", t)
			return make([]string, t.n)
		}
		all := e.let("load <%d x %s>, ptr %s, align 1", width*n, t.elem, mem)
		return e.unzip(t.elem, n, all)[:t.n]
	case t.kind == kStruct && len(t.fields) == 2 && t.fields[1].text == "i1" && t.fields[0].kind == kInt:
		// what cmpxchg returns: {T, i1}, as an integer of twice T's size
		w := t.fields[0].bits
		all := e.let("load <64 x i%d>, ptr %s, align 1", w, mem)
		v := e.unzip(t.fields[0], 2, all)
		low := e.let("trunc <32 x i%d> %s to <32 x i8>", max(w, 8), v[1])
		if w == 8 {
			low = v[1]
		}
		return []string{v[0], e.let("trunc <32 x i8> %s to %s", low, maskType)}
	case t.kind == kInt || t.kind == kFloat || t.kind == kPtr:
		return []string{e.let("load %s, ptr %s, align 1", lanesOf(t), mem)}
	}
	e.fail("%s in memory of each lane", t)
	return make([]string, len(parts(t)))
}
