package lanes

import (
	"fmt"
	"strings"
)

// access describes how lanes touch memory: n elements of a scalar type each.
type access struct {
	elem  *typ
	bytes int // of an element
	n     int
	step  int // elements from one lane's value to the next in an array: n rounded up to a power of two
	align int
}

// accessOf returns the access of a load or store of type t; ok is false when
// its elements are no scalars in memory.
func accessOf(in *inst) (a access, ok bool) {
	a = access{elem: elemOf(in.elem), n: 1, align: max(in.align, 1)}
	if in.elem.kind == kVec {
		a.n = in.elem.n
	}
	a.bytes, ok = a.elem.scalarBytes()
	if in.elem.kind != kVec && in.elem.kind != kInt && in.elem.kind != kFloat && in.elem.kind != kPtr {
		ok = false
	}
	return a, ok && a.n <= 64
}

// stride returns how far apart the lanes' addresses are, when it is one number.
func (e *vectorEmitter) stride(o *operand) (int64, bool) {
	s := e.shapeOf(o)
	if s.kind == varying {
		return 0, false
	}
	return s.c.linear()
}

// loadLanes writes a load from addresses that differ.
func (e *vectorEmitter) loadLanes(in *inst) {
	if in.elem.kind == kInt && in.elem.bits == 1 {
		e.eachLane(in)
		return
	}
	a, ok := accessOf(in)
	if !ok || in.volatile {
		e.eachLane(in)
		return
	}
	if k, ok := e.stride(&in.args[0]); ok && k == int64(a.bytes*a.n) {
		e.setVector(in, e.loadRun(a, e.firstAddress(&in.args[0])))
		return
	}
	p := e.vector(&in.args[0])[0]
	if a.n == 1 && a.bytes >= 4 {
		e.setVector(in, []string{e.gather(a.elem, p, min(a.align, a.bytes))})
		return
	}
	v, ok := e.gatherPieces(a, p)
	if !ok {
		e.eachLane(in)
		return
	}
	e.setVector(in, v)
}

// loadRun loads values that follow each other in memory.
func (e *vectorEmitter) loadRun(a access, p string) []string {
	if a.n == 1 {
		return []string{e.maskedLoad(width, a.elem, p, a.align, e.mask)}
	}
	total := a.bytes * a.n
	if total <= 8 && total&(total-1) == 0 {
		t := intType(total * 8)
		v := e.maskedLoad(width, t, p, a.align, e.mask)
		return e.unzip(a.elem, a.n, e.let("bitcast <32 x %s> %s to <%d x %s>", t, v, width*a.n, a.elem))
	}
	return e.unzip(a.elem, a.n, e.maskedLoad(width*a.n, a.elem, p, a.align, e.repeat(a.n)))
}

// repeat repeats each lane's bit of the mask n times.
func (e *vectorEmitter) repeat(n int) string {
	m := make([]string, width*n)
	for i := range m {
		m[i] = fmt.Sprintf("i32 %d", i/n)
	}
	return e.let("shufflevector %s %s, %s poison, <%d x i32> <%s>", maskType, e.mask, maskType, width*n, strings.Join(m, ", "))
}

func (e *vectorEmitter) maskedLoad(n int, t *typ, p string, align int, mask string) string {
	vt := fmt.Sprintf("<%d x %s>", n, t)
	f := e.intrinsic(fmt.Sprintf("llvm.masked.load.%s.p0", suffix(n, t)), vt, fmt.Sprintf("ptr, i32, <%d x i1>, %s", n, vt))
	return e.let("call %s %s(ptr %s, i32 %d, <%d x i1> %s, %s zeroinitializer)", vt, f, p, align, n, mask, vt)
}

func (e *vectorEmitter) maskedStore(n int, t *typ, v, p string, align int, mask string) {
	vt := fmt.Sprintf("<%d x %s>", n, t)
	f := e.intrinsic(fmt.Sprintf("llvm.masked.store.%s.p0", suffix(n, t)), "void", fmt.Sprintf("%s, ptr, i32, <%d x i1>", vt, n))
	e.line("call void %s(%s %s, ptr %s, i32 %d, <%d x i1> %s)", f, vt, v, p, align, n, mask)
}

func (e *vectorEmitter) gather(t *typ, p string, align int) string {
	vt := lanesOf(t)
	f := e.intrinsic(fmt.Sprintf("llvm.masked.gather.%s.v32p0", suffix(width, t)), vt, "<32 x ptr>, i32, <32 x i1>, "+vt)
	return e.let("call %s %s(<32 x ptr> %s, i32 %d, %s %s, %s zeroinitializer)", vt, f, p, align, maskType, e.mask, vt)
}

// gatherPieces loads each lane's value in pieces of 8, 4, 2 and 1 bytes.
func (e *vectorEmitter) gatherPieces(a access, p string) ([]string, bool) {
	total := a.bytes * a.n
	if total > 128 {
		return nil, false
	}
	var out []string
	for at := 0; at < total; {
		size := 8
		for size > total-at {
			size /= 2
		}
		if a.bytes > size {
			return nil, false
		}
		if size == 2 && a.align%2 != 0 && a.bytes < 2 {
			size = 1
		}
		q := p
		if at > 0 {
			q = e.let("getelementptr i8, <32 x ptr> %s, i64 %d", p, at)
		}
		var v string
		switch {
		case size >= 4:
			v = e.gather(intType(size*8), q, 1)
		case size == 2 && a.align%2 != 0:
			return nil, false // may lie across two words
		default:
			v = e.gatherNarrow(size, q)
		}
		n := size / a.bytes
		b := e.let("bitcast <32 x i%d> %s to <%d x %s>", size*8, v, width*n, a.elem)
		if size*8 == a.elem.bits && a.elem.kind == kInt {
			b = v
		}
		out = append(out, e.unzip(a.elem, n, b)...)
		at += size
	}
	return out, true
}

// gatherNarrow loads a byte, or two at an even address, of each lane: the
// aligned word around it, which lies on the same page, shifted.
func (e *vectorEmitter) gatherNarrow(size int, p string) string {
	n := e.let("ptrtoint <32 x ptr> %s to <32 x i64>", p)
	low := e.let("and <32 x i64> %s, splat (i64 3)", n)
	back := e.let("sub <32 x i64> zeroinitializer, %s", low)
	q := e.let("getelementptr i8, <32 x ptr> %s, <32 x i64> %s", p, back)
	w := e.gather(tI32, q, 4)
	by := e.let("shl <32 x i32> %s, splat (i32 3)", e.let("trunc <32 x i64> %s to <32 x i32>", low))
	return e.let("trunc <32 x i32> %s to <32 x i%d>", e.let("lshr <32 x i32> %s, %s", w, by), size*8)
}

// storeLanes writes a store.
func (e *vectorEmitter) storeLanes(in *inst) {
	val, ptr := &in.args[0], &in.args[1]
	same := e.shapeOf(ptr).uniform()
	if same && e.shapeOf(val).uniform() {
		c := *in
		v, p := e.scalar(val), e.scalar(ptr)
		e.line("%s", c.render(func(local string) string {
			if local == val.local {
				return v
			}
			return p
		}, nil))
		return
	}
	a, ok := accessOf(in)
	if !ok || in.volatile {
		e.eachLane(in)
		return
	}
	if same && a.n == 1 { // the last lane's value remains
		e.line("store %s %s, ptr %s, align %d", a.elem, e.lastLane(a.elem, e.vector(val)[0]), e.scalar(ptr), a.align)
		return
	}
	if k, ok := e.stride(ptr); ok && k == int64(a.bytes*a.n) {
		v := e.vector(val)
		p := e.firstAddress(ptr)
		total := a.bytes * a.n
		switch {
		case a.n == 1:
			e.maskedStore(width, a.elem, v[0], p, a.align, e.mask)
		case total <= 8 && total&(total-1) == 0:
			t := intType(total * 8)
			w := e.let("bitcast <%d x %s> %s to <32 x %s>", width*a.n, a.elem, e.zip(a.elem, v), t)
			e.maskedStore(width, t, w, p, a.align, e.mask)
		default:
			e.maskedStore(width*a.n, a.elem, e.zip(a.elem, v), p, a.align, e.repeat(a.n))
		}
		return
	}
	if a.bytes < 4 || a.n > 1 && a.bytes*a.n > 64 {
		e.eachLane(in)
		return
	}
	p := e.vector(ptr)[0]
	vt := lanesOf(a.elem)
	f := e.intrinsic(fmt.Sprintf("llvm.masked.scatter.%s.v32p0", suffix(width, a.elem)), "void", vt+", <32 x ptr>, i32, <32 x i1>")
	for i, v := range e.vector(val) {
		q := p
		if i > 0 {
			q = e.let("getelementptr i8, <32 x ptr> %s, i64 %d", p, i*a.bytes)
		}
		e.line("call void %s(%s %s, <32 x ptr> %s, i32 %d, %s %s)", f, vt, v, q, min(a.align, a.bytes), maskType, e.mask)
	}
}

// lastLane extracts the value of the last lane that takes part.
func (e *vectorEmitter) lastLane(t *typ, v string) string {
	f := e.intrinsic("llvm.ctlz.i32", "i32", "i32, i1")
	z := e.let("call i32 %s(i32 %s, i1 true)", f, e.maskBits(e.mask))
	return e.let("extractelement %s %s, i32 %s", lanesOf(t), v, e.let("xor i32 %s, 31", z))
}

// firstLane returns the number of the first lane that takes part.
func (e *vectorEmitter) firstLane() string {
	if v, ok := e.scalars["first lane"]; ok {
		return v
	}
	f := e.intrinsic("llvm.cttz.i32", "i32", "i32, i1")
	v := e.let("call i32 %s(i32 %s, i1 true)", f, e.maskBits(e.mask))
	e.scalars["first lane"] = v
	return v
}

// firstAddress returns the address of lane 0 of a run: from the base, or, when
// the address was extended from a narrower number that may wrap, counted back
// from that of the first lane that takes part.
func (e *vectorEmitter) firstAddress(o *operand) string {
	s := e.shapeOf(o)
	if s.kind == offset {
		p := e.scalar(o)
		if s.c[0] != 0 {
			p = e.let("getelementptr i8, ptr %s, i64 %d", p, s.c[0])
		}
		return p
	}
	k, _ := s.c.linear()
	f := e.firstLane()
	p := e.valueAt(o, f)
	n := e.let("mul i64 %s, %d", e.let("zext i32 %s to i64", f), -k)
	return e.let("getelementptr i8, ptr %s, i64 %s", p, n)
}

// valueAt computes by scalars what a value is in one lane.
func (e *vectorEmitter) valueAt(o *operand, lane string) string {
	if o.local == "" {
		return o.text
	}
	s := e.shapeOf(o)
	switch {
	case s.kind == offset && s.c == nil:
		return e.scalar(o)
	case s.kind == offset:
		return e.offsetAt(o, s, lane)
	case s.kind != pseudo:
		return e.let("extractelement %s %s, i32 %s", lanesOf(o.typ), e.vector(o)[0], lane)
	}
	in := e.a.defs[o.local]
	if e.a.defBlock[o.local] != e.at && !e.pure(in) {
		return e.let("extractelement %s %s, i32 %s", lanesOf(o.typ), e.vector(o)[0], lane)
	}
	at := make(map[string]string, len(in.args))
	for i := range in.args {
		if n := in.args[i].local; n != "" && at[n] == "" {
			at[n] = e.valueAt(&in.args[i], lane)
		}
	}
	c := *in
	c.res = ""
	c.dropFlags()
	return e.let("%s", c.render(func(local string) string { return at[local] }, nil))
}

// pure says whether an instruction may be computed again.
func (e *vectorEmitter) pure(in *inst) bool {
	return in.op == "getelementptr" || binaryOps[in.op] || castOps[in.op]
}

// offsetAt is valueAt for a base plus lane constants.
func (e *vectorEmitter) offsetAt(o *operand, s shape, lane string) string {
	var c string
	if k, ok := s.c.linear(); ok {
		t := o.typ
		if t.kind == kPtr {
			t = tI64
		}
		l := lane
		switch {
		case t.bits > 32:
			l = e.let("zext i32 %s to %s", lane, t)
		case t.bits < 32:
			l = e.let("trunc i32 %s to %s", lane, t)
		}
		c = e.let("mul %s %s, %d", t, l, k)
		c = e.let("add %s %s, %d", t, c, s.c[0])
	} else {
		t := o.typ
		if t.kind == kPtr {
			t = tI64
		}
		c = e.let("extractelement %s %s, i32 %s", lanesOf(t), constVector(t, func(i int) int64 { return s.c[i] }), lane)
	}
	if o.typ.kind == kPtr {
		return e.let("getelementptr i8, ptr %s, i64 %s", e.scalar(o), c)
	}
	return e.let("add %s %s, %s", o.typ, e.scalar(o), c)
}
