package emit

import (
	"fmt"
	"slices"
	"strings"

	"github.com/introgen/introgen/metalshim/soft/lanes/analysis"
	"github.com/introgen/introgen/metalshim/soft/lanes/ir"
)

// instruction writes one instruction for all lanes.
func (e *vectorEmitter) instruction(in *ir.Inst) {
	if in.Res != "" && e.a.Shapes[in.Res].Kind == analysis.Offset {
		e.scalarInstruction(in)
		return
	}
	switch {
	case in.Op == "load":
		e.loadLanes(in)
	case in.Op == "store":
		e.storeLanes(in)
	case in.Op == "call":
		e.call(in)
	case in.Op == "atomicrmw" || in.Op == "cmpxchg":
		e.eachLane(in)
	case in.Op == "fence":
		e.line("%s", in.Text)
	case ir.BinaryOps[in.Op]:
		e.setVector(in, e.binary(in, e.vector(&in.Args[0]), e.vector(&in.Args[1])))
	case ir.CastOps[in.Op]:
		e.cast(in)
	default:
		f := vectorOps[in.Op]
		if f == nil {
			e.fail("block %s: %q has no form for all lanes", e.at.Name, ir.Clip(in.Text))
			return
		}
		f(e, in)
	}
}

// scalarInstruction computes the base of a result that is a scalar plus lane
// constants. What was promised of each lane's value (no wrap, in bounds) does
// not hold for the base when lanes differ, so those flags go.
func (e *vectorEmitter) scalarInstruction(in *ir.Inst) {
	s := e.a.Shapes[in.Res]
	if s.Const && in.Type.Kind == ir.Int {
		if e.lasts[in.Res] {
			e.keepLast(in, e.spread(&ir.Operand{Type: in.Type, Local: in.Res}, s, ir.Parts(in.Type)))
		}
		return
	}
	if name := ir.CrossLane(in); name != "" {
		e.sync(in, name)
		return
	}
	c := *in
	c.Res = ""
	if s.C != nil {
		if in.Op == "or" && in.HasFlag("disjoint") { // no common bits in each lane: a sum
			c.Text = "add" + c.Text[len("or"):]
			c.Args = append([]ir.Operand(nil), c.Args...)
			for i := range c.Args {
				c.Args[i].Beg++
				c.Args[i].End++
			}
		}
		c.DropFlags()
	}
	text := e.withScalars(&c)
	if e.a.RecordLoad(in) {
		text += ", !invariant.load !9900"
	}
	r := e.let("%s", text)
	e.setScalar(in, r)
}

// withScalars is the text of an instruction with its operands' scalars, which are
// loaded before it.
func (e *vectorEmitter) withScalars(in *ir.Inst) string {
	values := map[string]string{}
	for i := range in.Args {
		if o := &in.Args[i]; o.Local != "" {
			values[o.Local] = e.scalar(o)
		}
	}
	return in.Render(func(local string) string { return values[local] }, nil)
}

// half says whether arithmetic on t is done in float: of 16-bit floats a sum,
// difference, product or quotient rounded from float is the right one.
func half(t *ir.Type) bool { return t.Kind == ir.Float && t.Bits == 16 }

// widen extends 16-bit float vectors to float.
func (e *vectorEmitter) widen(t *ir.Type, v string) string {
	return e.let("fpext %s %s to <32 x float>", lanesOf(t), v)
}

func (e *vectorEmitter) narrow(t *ir.Type, v string) string {
	if t.Text == "bfloat" {
		return e.roundLanes(v)
	}
	return e.let("fptrunc <32 x float> %s to %s", v, lanesOf(t))
}

func (e *vectorEmitter) binary(in *ir.Inst, x, y []string) []string {
	t := ir.ElemOf(in.Type)
	out := make([]string, len(x))
	for i := range x {
		a, b := x[i], y[i]
		switch {
		case half(t):
			r := e.let("%s <32 x float> %s, %s", in.Op, e.widen(t, a), e.widen(t, b))
			out[i] = e.narrow(t, r)
			continue
		case in.Op == "udiv" || in.Op == "urem" || in.Op == "sdiv" || in.Op == "srem":
			if !strings.HasPrefix(b, "splat") && !strings.HasPrefix(b, "<") { // lanes that take no part must not trap
				b = e.let("select %s %s, %s %s, %s splat (%s 1)", maskType, e.mask, lanesOf(t), b, lanesOf(t), t)
			}
		}
		out[i] = e.let("%s %s %s, %s", in.Op, lanesOf(t), a, b)
	}
	return out
}

// vectorOps are the instructions without memory effect that have a form of
// their own.
var vectorOps map[string]func(*vectorEmitter, *ir.Inst)

func init() {
	vectorOps = map[string]func(*vectorEmitter, *ir.Inst){
		"fneg": (*vectorEmitter).unary, "freeze": (*vectorEmitter).unary,
		"icmp": (*vectorEmitter).compare, "fcmp": (*vectorEmitter).compare,
		"select": (*vectorEmitter).selectOp, "getelementptr": (*vectorEmitter).addressOp,
		"extractelement": (*vectorEmitter).extractElement, "insertelement": (*vectorEmitter).insertElement,
		"shufflevector": (*vectorEmitter).shuffle,
		"extractvalue":  (*vectorEmitter).extractValue, "insertvalue": (*vectorEmitter).insertValue,
	}
}

// setParts records a varying result of n parts.
func (e *vectorEmitter) setParts(in *ir.Inst, n int, part func(i int) string) {
	out := make([]string, n)
	for i := range out {
		out[i] = part(i)
	}
	e.setVector(in, out)
}

// unary is an fneg or a freeze.
func (e *vectorEmitter) unary(in *ir.Inst) {
	v, ps := e.vector(&in.Args[0]), ir.Parts(in.Type)
	e.setParts(in, len(v), func(i int) string { return e.let("%s %s %s", in.Op, lanesOf(ps[i]), v[i]) })
}

func (e *vectorEmitter) compare(in *ir.Inst) {
	t := ir.ElemOf(in.Args[0].Type)
	x, y := e.vector(&in.Args[0]), e.vector(&in.Args[1])
	e.setParts(in, len(x), func(i int) string {
		a, b, lt := x[i], y[i], lanesOf(t)
		if half(t) {
			a, b, lt = e.widen(t, a), e.widen(t, b), "<32 x float>"
		}
		return e.let("%s %s %s %s, %s", in.Op, in.Pred, lt, a, b)
	})
}

func (e *vectorEmitter) selectOp(in *ir.Inst) {
	c := &in.Args[0]
	x, y, ps := e.vector(&in.Args[1]), e.vector(&in.Args[2]), ir.Parts(in.Type)
	var cond []string
	kind := maskType
	if c.Type.Kind != ir.Vector && e.shapeOf(c).Uniform() {
		cond, kind = []string{e.scalar(c)}, "i1"
	} else {
		cond = e.vector(c)
	}
	e.setParts(in, len(x), func(i int) string {
		k := cond[0]
		if c.Type.Kind == ir.Vector {
			k = cond[i]
		}
		return e.let("select %s %s, %s %s, %s %s", kind, k, lanesOf(ps[i]), x[i], lanesOf(ps[i]), y[i])
	})
}

// addressOp writes a getelementptr. Operands that lanes share stay scalar, as
// instruction selection likes a scalar base.
func (e *vectorEmitter) addressOp(in *ir.Inst) {
	e.setParts(in, in.Type.Lanes(), func(i int) string {
		var s strings.Builder
		fmt.Fprintf(&s, "getelementptr %s", in.Elem)
		for k := range in.Args {
			o := &in.Args[k]
			s.WriteString(", ")
			switch {
			case o.Type.Kind != ir.Vector && e.shapeOf(o).Uniform():
				fmt.Fprintf(&s, "%s %s", o.Type, e.scalar(o))
			case o.Type.Kind == ir.Vector:
				fmt.Fprintf(&s, "%s %s", lanesOf(o.Type.Elem), e.vector(o)[i])
			default:
				fmt.Fprintf(&s, "%s %s", lanesOf(o.Type), e.vector(o)[0])
			}
		}
		return e.let("%s", s.String())
	})
}

func (e *vectorEmitter) extractElement(in *ir.Inst) {
	v, idx := e.vector(&in.Args[0]), &in.Args[1]
	if s := e.shapeOf(idx); s.Known() && s.C == nil {
		if s.K < 0 || s.K >= int64(len(v)) {
			e.setVector(in, []string{"poison"})
			return
		}
		e.setVector(in, []string{v[s.K]})
		return
	}
	r, lt, q := v[0], lanesOf(in.Type), e.vector(idx)[0]
	for i := 1; i < len(v); i++ {
		c := e.let("icmp eq %s %s, splat (%s %d)", lanesOf(idx.Type), q, idx.Type, i)
		r = e.let("select %s %s, %s %s, %s %s", maskType, c, lt, v[i], lt, r)
	}
	e.setVector(in, []string{r})
}

func (e *vectorEmitter) insertElement(in *ir.Inst) {
	out := append([]string(nil), e.vector(&in.Args[0])...)
	x, idx := e.vector(&in.Args[1])[0], &in.Args[2]
	if s := e.shapeOf(idx); s.Known() && s.C == nil {
		if s.K >= 0 && s.K < int64(len(out)) {
			out[s.K] = x
		}
		e.setVector(in, out)
		return
	}
	q, lt := e.vector(idx)[0], lanesOf(in.Type.Elem)
	for i := range out {
		c := e.let("icmp eq %s %s, splat (%s %d)", lanesOf(idx.Type), q, idx.Type, i)
		out[i] = e.let("select %s %s, %s %s, %s %s", maskType, c, lt, x, lt, out[i])
	}
	e.setVector(in, out)
}

func (e *vectorEmitter) shuffle(in *ir.Inst) {
	x, y := e.vector(&in.Args[0]), e.vector(&in.Args[1])
	from := slices.Concat(x, y)
	e.setParts(in, len(in.Mask), func(i int) string {
		if m := in.Mask[i]; m >= 0 && m < len(from) {
			return from[m]
		}
		return "poison"
	})
}

// member returns where the parts of a member of an aggregate begin, and its
// type.
func member(t *ir.Type, indices []int) (first int, m *ir.Type) {
	for _, i := range indices {
		members := t.Members()
		for _, f := range members[:i] {
			first += len(ir.Parts(f))
		}
		t = members[i]
	}
	return first, t
}

func (e *vectorEmitter) extractValue(in *ir.Inst) {
	v := e.vector(&in.Args[0])
	first, m := member(in.Args[0].Type, in.Indices)
	n := len(ir.Parts(m))
	if first+n > len(v) {
		e.fail("%q: type has no form for all lanes", ir.Clip(in.Text))
		return
	}
	e.setVector(in, v[first:first+n])
}

func (e *vectorEmitter) insertValue(in *ir.Inst) {
	out := append([]string(nil), e.vector(&in.Args[0])...)
	v := e.vector(&in.Args[1])
	first, _ := member(in.Type, in.Indices)
	if first+len(v) > len(out) {
		e.fail("%q: type has no form for all lanes", ir.Clip(in.Text))
		return
	}
	copy(out[first:], v)
	e.setVector(in, out)
}

func (e *vectorEmitter) cast(in *ir.Inst) {
	from, to := in.Args[0].Type, in.Type
	v := e.vector(&in.Args[0])
	if in.Op == "bitcast" {
		e.setVector(in, e.bitcast(from, to, v))
		return
	}
	ft, tt := ir.ElemOf(from), ir.ElemOf(to)
	e.setParts(in, len(v), func(i int) string {
		x, t := v[i], ft
		if half(ft) && (in.Op == "fptosi" || in.Op == "fptoui") {
			x, t = e.widen(ft, x), ir.F32
		}
		switch {
		case half(tt) && (in.Op == "sitofp" || in.Op == "uitofp"):
			x = e.narrow(tt, e.let("%s %s %s to <32 x float>", in.Op, lanesOf(t), x))
		case tt.Text == "bfloat" && in.Op == "fptrunc":
			if t.Text == "double" {
				x = e.let("fptrunc <32 x double> %s to <32 x float>", x)
			}
			x = e.narrow(tt, x)
		default:
			x = e.let("%s %s %s to %s", in.Op, lanesOf(t), x, lanesOf(tt))
		}
		return x
	})
}

// bitcast reads a value's bits as another type of the same size.
func (e *vectorEmitter) bitcast(from, to *ir.Type, v []string) []string {
	ft, tt := ir.ElemOf(from), ir.ElemOf(to)
	n := to.Lanes()
	if ft.Bits*len(v) != tt.Bits*n {
		e.fail("bitcast from %s to %s", from, to)
		return make([]string, n)
	}
	if ft.Bits == tt.Bits {
		out := make([]string, n)
		for i, x := range v {
			out[i] = x
			if ft.Text != tt.Text {
				out[i] = e.let("bitcast %s %s to %s", lanesOf(ft), x, lanesOf(tt))
			}
		}
		return out
	}
	return e.unzip(tt, n, e.let("bitcast <%d x %s> %s to <%d x %s>", width*len(v), ft, e.zip(ft, v), width*n, tt))
}

// zip lays parts out as memory has them: lane 0's first, then lane 1's.
func (e *vectorEmitter) zip(t *ir.Type, v []string) string {
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
func (e *vectorEmitter) zipOdd(t *ir.Type, v []string) string {
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
func (e *vectorEmitter) unzip(t *ir.Type, n int, v string) []string {
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
