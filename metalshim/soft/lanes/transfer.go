package lanes

// transfer computes the shape of an instruction's result from its operands'.
func (a *analysis) transfer(b *block, in *inst) shape {
	switch in.op {
	case "phi":
		return a.phiShape(b, in)
	case "alloca":
		return a.privateShape(in)
	case "atomicrmw", "cmpxchg":
		return shapeVarying
	case "call":
		if s := syncOf(in); s != "" {
			if syncOps[s].uniform {
				return shapeUniform
			}
			return shapeVarying
		}
	}
	all := make([]shape, len(in.args))
	uniform, pending := true, false
	for i := range in.args {
		all[i] = a.shapeOf(&in.args[i], b)
		uniform = uniform && all[i].uniform()
		pending = pending || all[i].kind == unknown
	}
	if pending {
		return shape{}
	}
	r := shapeVarying
	if uniform {
		r = shapeUniform
	}
	width := in.typ.bits
	if in.typ.kind != kInt && in.typ.kind != kPtr || width > 64 {
		return r
	}
	switch in.op {
	case "add", "sub", "mul", "shl", "lshr", "ashr", "and", "or", "xor", "udiv", "urem", "sdiv", "srem":
		return a.binaryShape(in, all, width, r)
	case "zext", "sext", "trunc":
		if in.args[0].typ.kind == kInt {
			return castShape(in, all[0], in.args[0].typ.bits, width, r)
		}
	case "ptrtoint", "inttoptr":
		if width == 64 && in.args[0].typ.bits == 64 {
			return all[0]
		}
	case "freeze":
		return all[0]
	case "getelementptr":
		return a.addressShape(in, all, r)
	case "select":
		if all[0].uniform() && in.args[0].typ.kind == kInt {
			return meet(all[1], all[2])
		}
	}
	return r
}

// phiShape: where lanes come by different ways, only one value for all ways is
// the same in all lanes.
func (a *analysis) phiShape(b *block, in *inst) shape {
	var r shape
	only, same := "", true
	for i := range in.args {
		o := &in.args[i]
		if o.local == in.res {
			continue
		}
		from := a.f.byName[in.labels[i].name]
		s := a.shapeOf(o, from)
		if a.outlives(o.local, b) {
			s, same = shapeVarying, false
		}
		r = meet(r, s)
		text := o.local + "=" + o.text
		if o.local == "" && (o.text == "undef" || o.text == "poison") {
			continue
		}
		same = same && (only == "" || only == text)
		only = text
	}
	if a.mixed[b] && !same && r.kind != unknown {
		return shapeVarying
	}
	return r
}

// privateShape: lane i's copy of a private variable lies i strides on.
func (a *analysis) privateShape(in *inst) shape {
	stride, ok := a.strides[in.res]
	if !ok {
		size, align, err := a.f.mod.layout(in.elem)
		if err != nil {
			return shapeVarying // reported when it is laid out
		}
		stride = roundUp(size, max(align, int64(in.align)))
		a.strides[in.res] = stride
	}
	var c laneConsts
	for i := range c {
		c[i] = int64(i) * stride
	}
	return shape{kind: offset, c: &c, hi: anyValue}
}

func (a *analysis) binaryShape(in *inst, s []shape, width int, r shape) shape {
	if s[0].known() && s[1].known() {
		if k, ok := fold(in.op, s[0], s[1], width); ok {
			return k
		}
	}
	k, isConst := s[1].k, s[1].konst && s[1].c == nil
	switch in.op {
	case "add":
		return sum(s[0], s[1], width, false, in.hasFlag("nuw") || a.gridPosition(in))
	case "sub":
		return sum(s[0], s[1], width, true, false)
	case "or":
		if in.hasFlag("disjoint") {
			return sum(s[0], s[1], width, false, true)
		}
	case "mul":
		if isConst {
			return scaled(s[0], k, width, in.hasFlag("nuw"))
		}
	case "shl":
		if isConst && k >= 0 && k < int64(width) && k < 62 {
			return scaled(s[0], 1<<k, width, in.hasFlag("nuw"))
		}
	}
	if !r.uniform() {
		if isConst && s[0].kind == offset {
			if v, ok := bitwise(in.op, s[0], k, width); ok {
				return v
			}
		}
		return r
	}
	switch in.op {
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
func (a *analysis) gridPosition(in *inst) bool {
	for i := range 2 {
		m, p := a.defs[in.args[i].local], in.args[1-i].local
		if m == nil || m.op != "mul" || p != a.f.x && p != a.f.y && p != a.f.z {
			continue
		}
		if a.recordField(m.args[0].local) && a.recordField(m.args[1].local) {
			return true
		}
	}
	return false
}

// recordField says whether a value is loaded straight from the dispatch record.
func (a *analysis) recordField(local string) bool {
	l := a.defs[local]
	if l == nil || l.op != "load" || l.volatile {
		return false
	}
	p := l.args[0].local
	if d := a.defs[p]; d != nil && d.op == "getelementptr" {
		for _, x := range d.args[1:] {
			if x.local != "" {
				return false
			}
		}
		p = d.args[0].local
	}
	return p == a.f.g
}

func castShape(in *inst, s shape, from, to int, r shape) shape {
	if s.known() {
		var c laneConsts
		for i := range c {
			c[i] = signed(s.at(i), from)
			if in.op == "zext" {
				c[i] = int64(unsigned(s.at(i), from))
			}
		}
		return lanesShape(c, to)
	}
	switch {
	case s.kind == varying:
		return r
	case s.kind == pseudo:
		return shapeVarying // wraps at another width than the one it may wrap at
	case in.op == "trunc":
		t := shape{kind: offset, c: combine(s.c, nil, to, func(x, _ int64) int64 { return x }), hi: anyValue, zeros: min(s.zeros, to)}
		if s.hi <= unsigned(-1, to) {
			t.hi = s.hi
		}
		t.exact = t.c == nil || t.fits(to)
		return t
	}
	_, top := s.c.span()
	small := s.fits(from) && s.hi+uint64(top) < 1<<(from-1)
	switch {
	case s.c == nil && (in.op == "zext" || s.hi < 1<<(from-1)):
		return shape{kind: offset, hi: min(s.hi, unsigned(-1, from)), exact: true, zeros: s.zeros}
	case s.c == nil:
		return shapeUniform
	case in.op == "zext" && s.exact || small:
		return shape{kind: offset, c: s.c, hi: min(s.hi, unsigned(-1, from)), exact: true, zeros: s.zeros}
	}
	return shape{kind: pseudo, c: s.c}
}

// addressShape adds up a getelementptr.
func (a *analysis) addressShape(in *inst, s []shape, r shape) shape {
	total := s[0]
	t := in.elem
	for i := 1; i < len(in.args); i++ {
		var stride int64
		x := s[i]
		switch t = a.f.mod.resolve(t); {
		case i == 1:
			size, _, err := a.f.mod.layout(t)
			if err != nil {
				return r
			}
			stride = size
		case t.kind == kStruct:
			if !x.konst || x.c != nil || x.k < 0 || x.k >= int64(len(t.fields)) {
				return shapeVarying
			}
			t = t.fields[x.k]
			continue
		case t.kind == kArray || t.kind == kVec:
			t = t.elem
			size, _, err := a.f.mod.layout(t)
			if err != nil {
				return r
			}
			stride = size
		default:
			return shapeVarying
		}
		if w := in.args[i].typ.bits; w < 64 && !x.uniform() {
			x = castShape(&inst{op: "sext"}, x, w, 64, r)
		}
		if stride == 0 {
			continue
		}
		total = sum(total, scaled(x, stride, 64, false), 64, false, false)
	}
	total.konst, total.k, total.hi, total.zeros = false, 0, anyValue, 0
	return total
}

// recordLoad says whether in reads the dispatch record, which does not change
// while a kernel runs.
func (a *analysis) recordLoad(in *inst) bool {
	return in.op == "load" && in.res != "" && a.recordField(in.res)
}
