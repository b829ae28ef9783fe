package lanes

import (
	"fmt"
	"strings"
)

// lanesOf is the type of t in all lanes.
func lanesOf(t *typ) string { return fmt.Sprintf("<32 x %s>", t) }

// suffix is how LLVM writes a type in an intrinsic's name.
func suffix(n int, t *typ) string {
	s := t.text
	switch s {
	case "half":
		s = "f16"
	case "bfloat":
		s = "bf16"
	case "float":
		s = "f32"
	case "double":
		s = "f64"
	case "ptr":
		s = "p0"
	}
	return fmt.Sprintf("v%d%s", n, s)
}

// scalar returns the base of an operand: its value when it is uniform.
func (e *vectorEmitter) scalar(o *operand) string {
	if o.local == "" {
		return o.text
	}
	s := e.a.shapes[o.local]
	if s.kind == offset && s.konst && o.typ.kind == kInt {
		if o.typ.bits == 1 {
			return map[bool]string{true: "true", false: "false"}[s.k != 0]
		}
		return fmt.Sprint(s.k)
	}
	if e.a.defBlock[o.local] == nil {
		return e.parameter(o.local)
	}
	if e.a.defs[o.local].op == "alloca" {
		return "%" + o.local
	}
	if v, ok := e.scalars[o.local]; ok {
		return v
	}
	v := e.let("load %s, ptr %s", o.typ, e.variable("s", o.local, 0, o.typ.String()))
	e.scalars[o.local] = v
	return v
}

// parameter is the base of one of the kernel's parameters.
func (e *vectorEmitter) parameter(local string) string {
	if local == e.f.lane {
		return "0"
	}
	return "%" + local
}

// shapeOf is an operand's shape in the current block.
func (e *vectorEmitter) shapeOf(o *operand) shape { return e.a.shapeOf(o, e.at) }

// vector returns an operand in all lanes, one vector a part.
func (e *vectorEmitter) vector(o *operand) []string {
	ps := parts(o.typ)
	if ps == nil {
		e.fail("type %s has no form for all lanes", o.typ)
		return []string{"poison"}
	}
	if o.local == "" {
		return e.constants(o, ps)
	}
	if v, ok := e.vectors[o.local]; ok {
		return v
	}
	var out []string
	s := e.a.shapes[o.local]
	switch d := e.a.defBlock[o.local]; {
	case d != nil && e.a.outlives(o.local, e.at):
		for i, p := range ps {
			out = append(out, e.let("load %s, ptr %s", lanesOf(p), e.variable("o", o.local, i, lanesOf(p))))
		}
	case s.kind == offset:
		out = e.spread(o, s, ps)
	case d == nil:
		out = []string{"%" + o.local}
	default:
		for i, p := range ps {
			out = append(out, e.let("load %s, ptr %s", lanesOf(p), e.variable("w", o.local, i, lanesOf(p))))
		}
	}
	e.vectors[o.local] = out
	return out
}

// spread makes vectors of a value that is a scalar base plus constants.
func (e *vectorEmitter) spread(o *operand, s shape, ps []*typ) []string {
	if s.konst && o.typ.kind == kInt {
		if o.typ.bits == 1 {
			return []string{fmt.Sprintf("splat (i1 %s)", e.scalar(o))}
		}
		return []string{constVector(o.typ, func(i int) int64 { return signed(s.at(i), o.typ.bits) })}
	}
	base := e.scalar(o)
	if o.typ.kind == kVec {
		var out []string
		for i, p := range ps {
			x := e.let("extractelement %s %s, i32 %d", o.typ, base, i)
			out = append(out, e.splat(p, x))
		}
		return out
	}
	if len(ps) != 1 {
		var out []string
		for i, path := range paths(o.typ) {
			x := e.let("extractvalue %s %s, %s", o.typ, base, path)
			out = append(out, e.splat(ps[i], x))
		}
		return out
	}
	if s.c == nil {
		return []string{e.splat(o.typ, base)}
	}
	if o.typ.kind == kPtr {
		return []string{e.let("getelementptr i8, ptr %s, %s", base, indexVector(s.c))}
	}
	return []string{e.let("add %s %s, %s", lanesOf(o.typ), e.splat(o.typ, base),
		constVector(o.typ, func(i int) int64 { return s.c[i] }))}
}

// indexVector writes lane numbers as a typed vector of byte offsets, of 32 bits
// when they fit: then clang can use narrower gathers.
func indexVector(c *laneConsts) string {
	lo, hi := c.span()
	t := tI32
	if lo < -1<<31 || hi >= 1<<31 {
		t = tI64
	}
	return lanesOf(t) + " " + constVector(t, func(i int) int64 { return c[i] })
}

func constVector(t *typ, f func(i int) int64) string {
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
func (e *vectorEmitter) splat(t *typ, v string) string {
	switch {
	case v == "undef" || v == "poison":
		return "poison"
	case v == "zeroinitializer" || v == "null":
		return "zeroinitializer"
	case !strings.HasPrefix(v, "%") && !strings.HasPrefix(v, "@") && t.kind != kPtr:
		return fmt.Sprintf("splat (%s %s)", t, v)
	}
	x := e.let("insertelement %s poison, %s %s, i32 0", lanesOf(t), t, v)
	return e.let("shufflevector %s %s, %s poison, <32 x i32> zeroinitializer", lanesOf(t), x, lanesOf(t))
}

// constants spreads a constant operand.
func (e *vectorEmitter) constants(o *operand, ps []*typ) []string {
	out := make([]string, len(ps))
	if o.typ.kind != kVec && len(ps) == 1 {
		out[0] = e.splat(ps[0], o.text)
		return out
	}
	elems := constElements(o.text, len(ps))
	if elems == nil {
		e.fail("constant %q of type %s", clip(o.text), o.typ)
		elems = make([]string, len(ps))
	}
	for i := range out {
		out[i] = e.splat(ps[i], elems[i])
	}
	return out
}

// paths lists the index paths of an aggregate's scalars.
func paths(t *typ) []string {
	var out []string
	sub := func(i int, f *typ) {
		if f.kind == kStruct || f.kind == kArray {
			for _, q := range paths(f) {
				out = append(out, fmt.Sprintf("%d, %s", i, q))
			}
			return
		}
		out = append(out, fmt.Sprint(i))
	}
	switch t.kind {
	case kStruct:
		for i, f := range t.fields {
			sub(i, f)
		}
	case kArray:
		for i := range t.n {
			sub(i, t.elem)
		}
	}
	return out
}

// setScalar records the base of a result.
func (e *vectorEmitter) setScalar(in *inst, v string) {
	e.scalars[in.res] = v
	if e.shared[in.res] {
		e.line("store %s %s, ptr %s", in.typ, v, e.variable("s", in.res, 0, in.typ.String()))
	}
	if e.lasts[in.res] {
		e.keepLast(in, e.spread(&operand{typ: in.typ, local: in.res}, e.a.shapes[in.res], parts(in.typ)))
	}
}

// setVector records a varying result.
func (e *vectorEmitter) setVector(in *inst, v []string) {
	ps := parts(in.typ)
	if len(ps) != len(v) {
		e.fail("%q: %d parts for type %s", clip(in.text), len(v), in.typ)
		return
	}
	e.vectors[in.res] = v
	if e.shared[in.res] {
		for i, p := range ps {
			e.line("store %s %s, ptr %s", lanesOf(p), v[i], e.variable("w", in.res, i, lanesOf(p)))
		}
	}
	if e.lasts[in.res] {
		e.keepLast(in, v)
	}
}

// keepLast keeps, for use after a loop, the value of the last iteration each
// lane was in.
func (e *vectorEmitter) keepLast(in *inst, v []string) {
	for i, p := range parts(in.typ) {
		va := e.variable("o", in.res, i, lanesOf(p))
		old := e.let("load %s, ptr %s", lanesOf(p), va)
		n := e.let("select %s %s, %s %s, %s %s", maskType, e.mask, lanesOf(p), v[i], lanesOf(p), old)
		e.line("store %s %s, ptr %s", lanesOf(p), n, va)
	}
}
