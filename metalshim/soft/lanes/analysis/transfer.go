package analysis

import (
	"slices"

	"github.com/introgen/introgen/metalshim/soft/lanes/ir"
)

// transfer computes the shape of an instruction's result from its operands'.
func (a *Divergence) transfer(b *ir.Block, in *ir.Inst) Shape {
	switch in.Op {
	case "phi":
		return a.phiShape(b, in)
	case "alloca":
		return a.privateShape(in)
	case "atomicrmw", "cmpxchg":
		return shapeVarying
	case "call":
		if in.Stays {
			return shapeVarying
		}
		if s := ir.CrossLane(in); s != "" {
			if ir.CrossLaneOps[s].Uniform {
				return shapeUniform
			}
			return shapeVarying
		}
	}
	all := make([]Shape, len(in.Args))
	uniform, pending := true, false
	for i := range in.Args {
		all[i] = a.ShapeOf(&in.Args[i], b)
		uniform = uniform && all[i].Uniform()
		pending = pending || all[i].Kind == unknown
	}
	if pending {
		return Shape{}
	}
	r := shapeVarying
	if uniform {
		r = shapeUniform
	}
	width := in.Type.Bits
	if in.Type.Kind != ir.Int && in.Type.Kind != ir.Pointer || width > 64 {
		return r
	}
	switch in.Op {
	case "add", "sub", "mul", "shl", "lshr", "ashr", "and", "or", "xor", "udiv", "urem", "sdiv", "srem":
		return a.binaryShape(in, all, width, r)
	case "zext", "sext", "trunc":
		if in.Args[0].Type.Kind == ir.Int {
			return castShape(in, all[0], in.Args[0].Type.Bits, width, r)
		}
	case "ptrtoint", "inttoptr":
		if width == 64 && in.Args[0].Type.Bits == 64 {
			return all[0]
		}
	case "freeze":
		return all[0]
	case "getelementptr":
		return a.addressShape(in, all, r)
	case "select":
		if all[0].Uniform() && in.Args[0].Type.Kind == ir.Int {
			return meet(all[1], all[2])
		}
	}
	return r
}

// phiShape: where lanes come by different ways, only one value for all ways is
// the same in all lanes.
func (a *Divergence) phiShape(b *ir.Block, in *ir.Inst) Shape {
	var r Shape
	only, same := "", true
	for i := range in.Args {
		o := &in.Args[i]
		if o.Local == in.Res {
			continue
		}
		from := a.f.ByName[in.Labels[i].Name]
		s := a.ShapeOf(o, from)
		if a.Outlives(o.Local, b) {
			s, same = shapeVarying, false
		}
		r = meet(r, s)
		text := o.Local + "=" + o.Text
		if o.Local == "" && (o.Text == "undef" || o.Text == "poison") {
			continue
		}
		same = same && (only == "" || only == text)
		only = text
	}
	if a.mixed[b] && !same && r.Kind != unknown {
		return shapeVarying
	}
	return r
}

// privateShape: lane i's copy of a private variable lies i strides on.
func (a *Divergence) privateShape(in *ir.Inst) Shape {
	stride, ok := a.Strides[in.Res]
	if !ok {
		size, align, err := a.f.Module.Layout(in.Elem)
		if err != nil {
			return shapeVarying // reported when it is laid out
		}
		stride = ir.RoundUp(size, max(align, int64(in.Align)))
		a.Strides[in.Res] = stride
	}
	var c LaneConsts
	for i := range c {
		c[i] = int64(i) * stride
	}
	return Shape{Kind: Offset, C: &c, hi: anyValue}
}

func (a *Divergence) binaryShape(in *ir.Inst, s []Shape, width int, r Shape) Shape {
	if s[0].Known() && s[1].Known() {
		if k, ok := fold(in.Op, s[0], s[1], width); ok {
			return k
		}
	}
	k, isConst := s[1].K, s[1].Const && s[1].C == nil
	switch in.Op {
	case "add":
		return sum(s[0], s[1], width, false, in.HasFlag("nuw") || a.gridPosition(in))
	case "sub":
		return sum(s[0], s[1], width, true, false)
	case "or":
		if in.HasFlag("disjoint") {
			return sum(s[0], s[1], width, false, true)
		}
	case "mul":
		if isConst {
			return scaled(s[0], k, width, in.HasFlag("nuw"))
		}
	case "shl":
		if isConst && k >= 0 && k < int64(width) && k < 62 {
			return scaled(s[0], 1<<k, width, in.HasFlag("nuw"))
		}
	}
	if !r.Uniform() {
		if isConst && s[0].Kind == Offset {
			if v, ok := bitwise(in.Op, s[0], k, width); ok {
				return v
			}
		}
		return r
	}
	switch in.Op {
	case "and":
		r.hi = min(s[0].hi, s[1].hi)
	case "lshr":
		if isConst && k >= 0 && k < int64(width) {
			r.hi = min(s[0].hi, unsigned(-1, width)) >> uint64(k)
		}
	case "urem":
		if isConst && k > 0 {
			r.hi = uint64(k) - 1
		}
	case "udiv":
		if isConst && k > 0 {
			r.hi = s[0].hi / uint64(k)
		}
	}
	return r
}

// gridPosition recognises thread_position_in_grid: a product of two fields of
// the dispatch record plus a position in the threadgroup. The grid has fewer
// than 2^32 threads along each axis, so the sum does not wrap.
func (a *Divergence) gridPosition(in *ir.Inst) bool {
	for i := range 2 {
		m, p := a.Defs[in.Args[i].Local], in.Args[1-i].Local
		if m == nil || m.Op != "mul" || p != a.f.X && p != a.f.Y && p != a.f.Z {
			continue
		}
		if a.recordField(m.Args[0].Local) && a.recordField(m.Args[1].Local) {
			return true
		}
	}
	return false
}

// recordField says whether a value is loaded straight from the dispatch record.
func (a *Divergence) recordField(local string) bool {
	l := a.Defs[local]
	if l == nil || l.Op != "load" || l.Volatile {
		return false
	}
	p := l.Args[0].Local
	if d := a.Defs[p]; d != nil && d.Op == "getelementptr" {
		if slices.ContainsFunc(d.Args[1:], func(x ir.Operand) bool { return x.Local != "" }) {
			return false
		}
		p = d.Args[0].Local
	}
	return p == a.f.G
}

func castShape(in *ir.Inst, s Shape, from, to int, r Shape) Shape {
	if s.Known() {
		var c LaneConsts
		for i := range c {
			c[i] = Signed(s.At(i), from)
			if in.Op == "zext" {
				c[i] = int64(unsigned(s.At(i), from))
			}
		}
		return lanesShape(c, to)
	}
	switch {
	case s.Kind == Varying:
		return r
	case s.Kind == Pseudo:
		return shapeVarying // wraps at another width than the one it may wrap at
	case in.Op == "trunc":
		t := Shape{Kind: Offset, C: combine(s.C, nil, to, func(x, _ int64) int64 { return x }), hi: anyValue, zeros: min(s.zeros, to)}
		if s.hi <= unsigned(-1, to) {
			t.hi = s.hi
		}
		t.exact = t.C == nil || t.fits(to)
		return t
	}
	_, top := s.C.Span()
	small := s.fits(from) && s.hi+uint64(top) < 1<<(from-1)
	switch {
	case s.C == nil && (in.Op == "zext" || s.hi < 1<<(from-1)):
		return Shape{Kind: Offset, hi: min(s.hi, unsigned(-1, from)), exact: true, zeros: s.zeros}
	case s.C == nil:
		return shapeUniform
	case in.Op == "zext" && s.exact || small:
		return Shape{Kind: Offset, C: s.C, hi: min(s.hi, unsigned(-1, from)), exact: true, zeros: s.zeros}
	}
	return Shape{Kind: Pseudo, C: s.C}
}

// addressShape adds up a getelementptr. r is its shape where that cannot be done.
func (a *Divergence) addressShape(in *ir.Inst, s []Shape, r Shape) Shape {
	indices, err := a.f.Module.AddressIndices(in)
	if err != nil {
		return r
	}
	total := s[0]
	for i, index := range indices {
		if index.Stride == 0 { // a member: the same in all lanes
			continue
		}
		x := s[i+1]
		if w := index.Type.Bits; w < 64 && !x.Uniform() {
			x = castShape(&ir.Inst{Op: "sext"}, x, w, 64, r)
		}
		total = sum(total, scaled(x, index.Stride, 64, false), 64, false, false)
	}
	total.Const, total.K, total.hi, total.zeros = false, 0, anyValue, 0
	return total
}

// RecordLoad says whether in reads the dispatch record, which does not change
// while a kernel runs.
func (a *Divergence) RecordLoad(in *ir.Inst) bool {
	return in.Op == "load" && in.Res != "" && a.recordField(in.Res)
}
