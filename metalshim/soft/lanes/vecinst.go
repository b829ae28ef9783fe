package lanes

import (
	"fmt"
	"strings"
)

// instruction writes one instruction for all lanes.
func (e *vectorEmitter) instruction(in *inst) {
	if in.res != "" && e.a.shapes[in.res].kind == offset {
		e.scalarInstruction(in)
		return
	}
	switch {
	case in.op == "load":
		e.loadLanes(in)
	case in.op == "store":
		e.storeLanes(in)
	case in.op == "call":
		e.call(in)
	case in.op == "atomicrmw" || in.op == "cmpxchg":
		e.eachLane(in)
	case in.op == "fence":
		e.line("%s", in.text)
	case binaryOps[in.op]:
		e.setVector(in, e.binary(in, e.vector(&in.args[0]), e.vector(&in.args[1])))
	case castOps[in.op]:
		e.cast(in)
	default:
		f := vectorOps[in.op]
		if f == nil {
			e.fail("block %s: %q has no form for all lanes", e.at.name, clip(in.text))
			return
		}
		f(e, in)
	}
}

// scalarInstruction computes the base of a result that is a scalar plus lane
// constants. What was promised of each lane's value (no wrap, in bounds) does
// not hold for the base when lanes differ, so those flags go.
func (e *vectorEmitter) scalarInstruction(in *inst) {
	s := e.a.shapes[in.res]
	if s.konst && in.typ.kind == kInt {
		if e.lasts[in.res] {
			e.keepLast(in, e.spread(&operand{typ: in.typ, local: in.res}, s, parts(in.typ)))
		}
		return
	}
	if name := syncOf(in); name != "" {
		e.sync(in, name)
		return
	}
	c := *in
	c.res = ""
	if s.c != nil {
		if in.op == "or" && in.hasFlag("disjoint") { // no common bits in each lane: a sum
			c.text = "add" + c.text[len("or"):]
			c.args = append([]operand(nil), c.args...)
			for i := range c.args {
				c.args[i].beg++
				c.args[i].end++
			}
		}
		c.dropFlags()
	}
	text := e.withScalars(&c)
	if e.a.recordLoad(in) {
		text += ", !invariant.load !9900"
	}
	r := e.let("%s", text)
	e.setScalar(in, r)
}

// withScalars is the text of an instruction with its operands' scalars, which are
// loaded before it.
func (e *vectorEmitter) withScalars(in *inst) string {
	values := map[string]string{}
	for i := range in.args {
		if o := &in.args[i]; o.local != "" {
			values[o.local] = e.scalar(o)
		}
	}
	return in.render(func(local string) string { return values[local] }, nil)
}

// half says whether arithmetic on t is done in float: of 16-bit floats a sum,
// difference, product or quotient rounded from float is the right one.
func half(t *typ) bool { return t.kind == kFloat && t.bits == 16 }

// widen extends 16-bit float vectors to float.
func (e *vectorEmitter) widen(t *typ, v string) string {
	return e.let("fpext %s %s to <32 x float>", lanesOf(t), v)
}

func (e *vectorEmitter) narrow(t *typ, v string) string {
	if t.text == "bfloat" {
		return e.roundLanes(v)
	}
	return e.let("fptrunc <32 x float> %s to %s", v, lanesOf(t))
}

func (e *vectorEmitter) binary(in *inst, x, y []string) []string {
	t := elemOf(in.typ)
	out := make([]string, len(x))
	for i := range x {
		a, b := x[i], y[i]
		switch {
		case half(t):
			r := e.let("%s <32 x float> %s, %s", in.op, e.widen(t, a), e.widen(t, b))
			out[i] = e.narrow(t, r)
			continue
		case in.op == "udiv" || in.op == "urem" || in.op == "sdiv" || in.op == "srem":
			if !strings.HasPrefix(b, "splat") && !strings.HasPrefix(b, "<") { // lanes that take no part must not trap
				b = e.let("select %s %s, %s %s, %s splat (%s 1)", maskType, e.mask, lanesOf(t), b, lanesOf(t), t)
			}
		}
		out[i] = e.let("%s %s %s, %s", in.op, lanesOf(t), a, b)
	}
	return out
}

// vectorOps are the instructions without memory effect that have a form of
// their own.
var vectorOps map[string]func(*vectorEmitter, *inst)

func init() {
	vectorOps = map[string]func(*vectorEmitter, *inst){
		"fneg": (*vectorEmitter).negate, "freeze": (*vectorEmitter).freeze,
		"icmp": (*vectorEmitter).compare, "fcmp": (*vectorEmitter).compare,
		"select": (*vectorEmitter).selectOp, "getelementptr": (*vectorEmitter).addressOp,
		"extractelement": (*vectorEmitter).extractElement, "insertelement": (*vectorEmitter).insertElement,
		"shufflevector": (*vectorEmitter).shuffle,
		"extractvalue":  (*vectorEmitter).extractValue, "insertvalue": (*vectorEmitter).insertValue,
	}
}

func (e *vectorEmitter) negate(in *inst) {
	t := lanesOf(elemOf(in.typ))
	var out []string
	for _, v := range e.vector(&in.args[0]) {
		out = append(out, e.let("fneg %s %s", t, v))
	}
	e.setVector(in, out)
}

func (e *vectorEmitter) freeze(in *inst) {
	var out []string
	ps := parts(in.typ)
	for i, v := range e.vector(&in.args[0]) {
		out = append(out, e.let("freeze %s %s", lanesOf(ps[i]), v))
	}
	e.setVector(in, out)
}

func (e *vectorEmitter) compare(in *inst) {
	t := elemOf(in.args[0].typ)
	x, y := e.vector(&in.args[0]), e.vector(&in.args[1])
	var out []string
	for i := range x {
		a, b, lt := x[i], y[i], lanesOf(t)
		if half(t) {
			a, b, lt = e.widen(t, a), e.widen(t, b), "<32 x float>"
		}
		out = append(out, e.let("%s %s %s %s, %s", in.op, in.pred, lt, a, b))
	}
	e.setVector(in, out)
}

func (e *vectorEmitter) selectOp(in *inst) {
	c := &in.args[0]
	x, y, ps := e.vector(&in.args[1]), e.vector(&in.args[2]), parts(in.typ)
	var cond []string
	kind := maskType
	if c.typ.kind != kVec && e.shapeOf(c).uniform() {
		cond, kind = []string{e.scalar(c)}, "i1"
	} else {
		cond = e.vector(c)
	}
	var out []string
	for i := range x {
		k := cond[0]
		if c.typ.kind == kVec {
			k = cond[i]
		}
		out = append(out, e.let("select %s %s, %s %s, %s %s", kind, k, lanesOf(ps[i]), x[i], lanesOf(ps[i]), y[i]))
	}
	e.setVector(in, out)
}

// addressOp writes a getelementptr. Operands that lanes share stay scalar, as
// instruction selection likes a scalar base.
func (e *vectorEmitter) addressOp(in *inst) {
	n := 1
	if in.typ.kind == kVec {
		n = in.typ.n
	}
	var out []string
	for i := range n {
		var s strings.Builder
		fmt.Fprintf(&s, "getelementptr %s", in.elem)
		for k := range in.args {
			o := &in.args[k]
			s.WriteString(", ")
			switch {
			case o.typ.kind != kVec && e.shapeOf(o).uniform():
				fmt.Fprintf(&s, "%s %s", o.typ, e.scalar(o))
			case o.typ.kind == kVec:
				fmt.Fprintf(&s, "%s %s", lanesOf(o.typ.elem), e.vector(o)[i])
			default:
				fmt.Fprintf(&s, "%s %s", lanesOf(o.typ), e.vector(o)[0])
			}
		}
		out = append(out, e.let("%s", s.String()))
	}
	e.setVector(in, out)
}

func (e *vectorEmitter) extractElement(in *inst) {
	v, idx := e.vector(&in.args[0]), &in.args[1]
	if s := e.shapeOf(idx); s.known() && s.c == nil {
		if s.k < 0 || s.k >= int64(len(v)) {
			e.setVector(in, []string{"poison"})
			return
		}
		e.setVector(in, []string{v[s.k]})
		return
	}
	r, lt, q := v[0], lanesOf(in.typ), e.vector(idx)[0]
	for i := 1; i < len(v); i++ {
		c := e.let("icmp eq %s %s, splat (%s %d)", lanesOf(idx.typ), q, idx.typ, i)
		r = e.let("select %s %s, %s %s, %s %s", maskType, c, lt, v[i], lt, r)
	}
	e.setVector(in, []string{r})
}

func (e *vectorEmitter) insertElement(in *inst) {
	out := append([]string(nil), e.vector(&in.args[0])...)
	x, idx := e.vector(&in.args[1])[0], &in.args[2]
	if s := e.shapeOf(idx); s.known() && s.c == nil {
		if s.k >= 0 && s.k < int64(len(out)) {
			out[s.k] = x
		}
		e.setVector(in, out)
		return
	}
	q, lt := e.vector(idx)[0], lanesOf(in.typ.elem)
	for i := range out {
		c := e.let("icmp eq %s %s, splat (%s %d)", lanesOf(idx.typ), q, idx.typ, i)
		out[i] = e.let("select %s %s, %s %s, %s %s", maskType, c, lt, x, lt, out[i])
	}
	e.setVector(in, out)
}

func (e *vectorEmitter) shuffle(in *inst) {
	x, y := e.vector(&in.args[0]), e.vector(&in.args[1])
	out := make([]string, len(in.mask))
	for i, m := range in.mask {
		switch {
		case m < 0 || m >= len(x)+len(y):
			out[i] = "poison"
		case m < len(x):
			out[i] = x[m]
		default:
			out[i] = y[m-len(x)]
		}
	}
	e.setVector(in, out)
}

// member returns where the parts of a member of an aggregate begin, and its
// type.
func member(t *typ, indices []int) (first int, m *typ) {
	for _, i := range indices {
		if t.kind == kArray {
			first += i * len(parts(t.elem))
			t = t.elem
			continue
		}
		for _, f := range t.fields[:i] {
			first += len(parts(f))
		}
		t = t.fields[i]
	}
	return first, t
}

func (e *vectorEmitter) extractValue(in *inst) {
	v := e.vector(&in.args[0])
	first, m := member(in.args[0].typ, in.indices)
	n := len(parts(m))
	if first+n > len(v) {
		e.fail("%q: type has no form for all lanes", clip(in.text))
		return
	}
	e.setVector(in, v[first:first+n])
}

func (e *vectorEmitter) insertValue(in *inst) {
	out := append([]string(nil), e.vector(&in.args[0])...)
	v := e.vector(&in.args[1])
	first, _ := member(in.typ, in.indices)
	if first+len(v) > len(out) {
		e.fail("%q: type has no form for all lanes", clip(in.text))
		return
	}
	copy(out[first:], v)
	e.setVector(in, out)
}

func (e *vectorEmitter) cast(in *inst) {
	from, to := in.args[0].typ, in.typ
	v := e.vector(&in.args[0])
	if in.op == "bitcast" {
		e.setVector(in, e.bitcast(from, to, v))
		return
	}
	ft, tt := elemOf(from), elemOf(to)
	var out []string
	for _, x := range v {
		t := ft
		if half(ft) && (in.op == "fptosi" || in.op == "fptoui") {
			x, t = e.widen(ft, x), tFloats["float"]
		}
		switch {
		case half(tt) && (in.op == "sitofp" || in.op == "uitofp"):
			x = e.narrow(tt, e.let("%s %s %s to <32 x float>", in.op, lanesOf(t), x))
		case tt.text == "bfloat" && in.op == "fptrunc":
			if t.text == "double" {
				x = e.let("fptrunc <32 x double> %s to <32 x float>", x)
			}
			x = e.narrow(tt, x)
		default:
			x = e.let("%s %s %s to %s", in.op, lanesOf(t), x, lanesOf(tt))
		}
		out = append(out, x)
	}
	e.setVector(in, out)
}

// bitcast reads a value's bits as another type of the same size.
func (e *vectorEmitter) bitcast(from, to *typ, v []string) []string {
	ft, tt := elemOf(from), elemOf(to)
	n := 1
	if to.kind == kVec {
		n = to.n
	}
	if ft.bits*len(v) != tt.bits*n {
		e.fail("bitcast from %s to %s", from, to)
		return make([]string, n)
	}
	if ft.bits == tt.bits {
		out := make([]string, n)
		for i, x := range v {
			out[i] = x
			if ft.text != tt.text {
				out[i] = e.let("bitcast %s %s to %s", lanesOf(ft), x, lanesOf(tt))
			}
		}
		return out
	}
	return e.unzip(tt, n, e.let("bitcast <%d x %s> %s to <%d x %s>", width*len(v), ft, e.zip(ft, v), width*n, tt))
}

// zip lays parts out as memory has them: lane 0's first, then lane 1's.
func (e *vectorEmitter) zip(t *typ, v []string) string {
	if len(v) == 1 {
		return v[0]
	}
	if len(v)%2 == 1 { // rare: through one shuffle after another
		return e.zipOdd(t, v)
	}
	var even, odd []string
	for i := 0; i < len(v); i += 2 {
		even, odd = append(even, v[i]), append(odd, v[i+1])
	}
	a, b := e.zip(t, even), e.zip(t, odd)
	n := width * len(even)
	return e.pickBoth(t, n, a, b, 2*n, func(i int) int { return i%2*n + i/2 })
}

// zipOdd is zip for an odd number of parts.
func (e *vectorEmitter) zipOdd(t *typ, v []string) string {
	k := len(v)
	all := "poison"
	for p, x := range v {
		grown := e.pick(t, width, x, width*k, func(i int) int {
			if i < width {
				return i
			}
			return poisonElement
		})
		all = e.pickBoth(t, width*k, all, grown, width*k, func(i int) int {
			if i%k == p {
				return width*k + i/k
			}
			return i
		})
	}
	return all
}

// unzip is the way back: n parts of type t from memory order. It halves again
// and again, which takes fewer shuffles than picking each part from the whole.
func (e *vectorEmitter) unzip(t *typ, n int, v string) []string {
	if n == 1 {
		return []string{v}
	}
	if n%2 == 1 {
		out := make([]string, n)
		for p := range out {
			out[p] = e.pick(t, width*n, v, width, func(i int) int { return i*n + p })
		}
		return out
	}
	var half [2][]string
	for h := range half {
		half[h] = e.unzip(t, n/2, e.pick(t, width*n, v, width*n/2, func(i int) int { return 2*i + h }))
	}
	var out []string
	for i := range half[0] {
		out = append(out, half[0][i], half[1][i])
	}
	return out
}
