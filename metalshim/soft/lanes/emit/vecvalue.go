package emit

import (
	"fmt"
	"strings"

	"github.com/introgen/introgen/metalshim/soft/lanes/analysis"
	"github.com/introgen/introgen/metalshim/soft/lanes/ir"
)

// lanesOf is the type of t in all lanes.
func lanesOf(t *ir.Type) string { return fmt.Sprintf("<32 x %s>", t) }

// scalar returns the base of an operand: its value when it is uniform.
func (e *vectorEmitter) scalar(o *ir.Operand) string {
	if o.Local == "" {
		return o.Text
	}
	s := e.a.Shapes[o.Local]
	if s.Kind == analysis.Offset && s.Const && o.Type.Kind == ir.Int {
		if o.Type.Bits == 1 {
			return map[bool]string{true: "true", false: "false"}[s.K != 0]
		}
		return fmt.Sprint(s.K)
	}
	if e.a.DefBlock[o.Local] == nil {
		return e.parameter(o.Local)
	}
	if e.a.Defs[o.Local].Op == "alloca" {
		return "%" + o.Local
	}
	if v, ok := e.scalars[o.Local]; ok {
		return v
	}
	v := e.let("load %s, ptr %s", o.Type, e.variable("s", o.Local, 0, o.Type.String()))
	e.scalars[o.Local] = v
	return v
}

// parameter is the base of one of the kernel's parameters.
func (e *vectorEmitter) parameter(local string) string {
	if local == e.f.Lane {
		return "0"
	}
	return "%" + local
}

// shapeOf is an operand's shape in the current block.
func (e *vectorEmitter) shapeOf(o *ir.Operand) analysis.Shape { return e.a.ShapeOf(o, e.at) }

// vector returns an operand in all lanes, one vector a part.
func (e *vectorEmitter) vector(o *ir.Operand) []string {
	ps := ir.Parts(o.Type)
	if ps == nil {
		e.fail("type %s has no form for all lanes", o.Type)
		return []string{"poison"}
	}
	if o.Local == "" {
		return e.constants(o, ps)
	}
	if v, ok := e.vectors[o.Local]; ok {
		return v
	}
	var out []string
	s := e.a.Shapes[o.Local]
	switch d := e.a.DefBlock[o.Local]; {
	case d != nil && e.a.Outlives(o.Local, e.at):
		out = e.loadParts("o", o.Local, ps)
	case s.Kind == analysis.Offset:
		out = e.spread(o, s, ps)
	case d == nil:
		out = []string{"%" + o.Local}
	default:
		out = e.loadParts("w", o.Local, ps)
	}
	e.vectors[o.Local] = out
	return out
}

// loadParts loads the vectors of a value from its variables.
func (e *vectorEmitter) loadParts(prefix, local string, ps []*ir.Type) []string {
	out := make([]string, len(ps))
	for i, p := range ps {
		out[i] = e.let("load %s, ptr %s", lanesOf(p), e.variable(prefix, local, i, lanesOf(p)))
	}
	return out
}

// spread makes vectors of a value that is a scalar base plus constants.
func (e *vectorEmitter) spread(o *ir.Operand, s analysis.Shape, ps []*ir.Type) []string {
	if s.Const && o.Type.Kind == ir.Int {
		if o.Type.Bits == 1 {
			return []string{fmt.Sprintf("splat (i1 %s)", e.scalar(o))}
		}
		return []string{constVector(o.Type, func(i int) int64 { return analysis.Signed(s.At(i), o.Type.Bits) })}
	}
	base := e.scalar(o)
	if o.Type.Kind == ir.Vector {
		var out []string
		for i, p := range ps {
			x := e.let("extractelement %s %s, i32 %d", o.Type, base, i)
			out = append(out, e.splat(p, x))
		}
		return out
	}
	if len(ps) != 1 {
		var out []string
		for _, l := range leaves(o.Type) {
			x := e.let("extractvalue %s %s, %s", o.Type, base, l.path)
			if l.typ.Kind != ir.Vector {
				out = append(out, e.splat(l.typ, x))
				continue
			}
			for i := range l.typ.N {
				out = append(out, e.splat(l.typ.Elem, e.let("extractelement %s %s, i32 %d", l.typ, x, i)))
			}
		}
		return out
	}
	if s.C == nil {
		return []string{e.splat(o.Type, base)}
	}
	if o.Type.Kind == ir.Pointer {
		return []string{e.let("getelementptr i8, ptr %s, %s", base, indexVector(s.C))}
	}
	return []string{e.let("add %s %s, %s", lanesOf(o.Type), e.splat(o.Type, base),
		constVector(o.Type, func(i int) int64 { return s.C[i] }))}
}

// indexVector writes lane numbers as a typed vector of byte offsets, of 32 bits
// when they fit: then clang can use narrower gathers.
func indexVector(c *analysis.LaneConsts) string {
	lo, hi := c.Span()
	t := ir.I32
	if lo < -1<<31 || hi >= 1<<31 {
		t = ir.I64
	}
	return lanesOf(t) + " " + constVector(t, func(i int) int64 { return c[i] })
}

func constVector(t *ir.Type, f func(i int) int64) string {
	v := make([]string, width)
	same := true
	for i := range v {
		v[i] = fmt.Sprintf("%s %d", t, f(i))
		same = same && v[i] == v[0]
	}
	if same {
		return fmt.Sprintf("splat (%s)", v[0])
	}
	return "<" + strings.Join(v, ", ") + ">"
}

// splat spreads a scalar over the lanes.
func (e *vectorEmitter) splat(t *ir.Type, v string) string {
	switch {
	case v == "undef" || v == "poison":
		return "poison"
	case v == "zeroinitializer" || v == "null":
		return "zeroinitializer"
	case !strings.HasPrefix(v, "%") && !strings.HasPrefix(v, "@") && t.Kind != ir.Pointer:
		return fmt.Sprintf("splat (%s %s)", t, v)
	}
	x := e.let("insertelement %s poison, %s %s, i32 0", lanesOf(t), t, v)
	return e.let("shufflevector %s %s, %s poison, <32 x i32> zeroinitializer", lanesOf(t), x, lanesOf(t))
}

// constants spreads a constant operand.
func (e *vectorEmitter) constants(o *ir.Operand, ps []*ir.Type) []string {
	out := make([]string, len(ps))
	if o.Type.Kind != ir.Vector && len(ps) == 1 {
		out[0] = e.splat(ps[0], o.Text)
		return out
	}
	elems := ir.ConstElements(o.Text, len(ps))
	if elems == nil {
		e.fail("constant %q of type %s", ir.Clip(o.Text), o.Type)
		elems = make([]string, len(ps))
	}
	for i := range out {
		out[i] = e.splat(ps[i], elems[i])
	}
	return out
}

// setScalar records the base of a result.
func (e *vectorEmitter) setScalar(in *ir.Inst, v string) {
	e.scalars[in.Res] = v
	if e.shared[in.Res] {
		e.line("store %s %s, ptr %s", in.Type, v, e.variable("s", in.Res, 0, in.Type.String()))
	}
	if e.lasts[in.Res] {
		e.keepLast(in, e.spread(&ir.Operand{Type: in.Type, Local: in.Res}, e.a.Shapes[in.Res], ir.Parts(in.Type)))
	}
}

// setVector records a varying result.
func (e *vectorEmitter) setVector(in *ir.Inst, v []string) {
	ps := ir.Parts(in.Type)
	if len(ps) != len(v) {
		e.fail("%q: %d parts for type %s", ir.Clip(in.Text), len(v), in.Type)
		return
	}
	e.vectors[in.Res] = v
	if e.shared[in.Res] {
		for i, p := range ps {
			e.line("store %s %s, ptr %s", lanesOf(p), v[i], e.variable("w", in.Res, i, lanesOf(p)))
		}
	}
	if e.lasts[in.Res] {
		e.keepLast(in, v)
	}
}

// keepLast keeps, for use after a loop, the value of the last iteration each
// lane was in.
func (e *vectorEmitter) keepLast(in *ir.Inst, v []string) {
	for i, p := range ir.Parts(in.Type) {
		va := e.variable("o", in.Res, i, lanesOf(p))
		old := e.let("load %s, ptr %s", lanesOf(p), va)
		n := e.let("select %s %s, %s %s, %s %s", maskType, e.mask, lanesOf(p), v[i], lanesOf(p), old)
		e.line("store %s %s, ptr %s", lanesOf(p), n, va)
	}
}
