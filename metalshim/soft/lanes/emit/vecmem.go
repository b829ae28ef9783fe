package emit

import (
	"fmt"

	"github.com/introgen/introgen/metalshim/soft/lanes/analysis"
	"github.com/introgen/introgen/metalshim/soft/lanes/ir"
)

// access describes how lanes touch memory: n elements of a scalar type each.
type access struct {
	elem  *ir.Type
	bytes int // of an element
	n     int
	align int
}

// accessOf returns the access of a load or store of type t; ok is false when
// its elements are no scalars in memory.
func accessOf(in *ir.Inst) (a access, ok bool) {
	a = access{elem: ir.ElemOf(in.Elem), n: in.Elem.Lanes(), align: max(in.Align, 1)}
	a.bytes, ok = a.elem.ScalarBytes()
	if in.Elem.Kind != ir.Vector && in.Elem.Kind != ir.Int && in.Elem.Kind != ir.Float && in.Elem.Kind != ir.Pointer {
		ok = false
	}
	return a, ok && a.n <= 64
}

// stride returns how far apart the lanes' addresses are, when it is one number.
func (e *vectorEmitter) stride(o *ir.Operand) (int64, bool) {
	s := e.shapeOf(o)
	if s.Kind == analysis.Varying {
		return 0, false
	}
	return s.C.Linear()
}

// loadLanes writes a load from addresses that differ.
func (e *vectorEmitter) loadLanes(in *ir.Inst) {
	a, ok := accessOf(in)
	if !ok || in.Volatile {
		e.eachLane(in)
		return
	}
	if k, ok := e.stride(&in.Args[0]); ok && a.n == 1 && k == int64(a.bytes) {
		e.setVector(in, []string{e.maskedLoad(width, a.elem, e.firstAddress(&in.Args[0]), a.align, e.mask)})
		return
	}
	if e.brief() {
		e.eachLane(in)
		return
	}
	e.setVector(in, e.loadEach(a, e.safeAddresses(&in.Args[0])))
}

// manySites is the number of scattered accesses from which on a kernel is so
// large that those outside loops are written as loops over the lanes; with each
// written out, clang would take many seconds.
const manySites = 96

// brief says whether text is to be saved here.
func (e *vectorEmitter) brief() bool {
	if e.sites == 0 {
		e.sites = 1
		for b, in := range e.f.All() {
			if in.Op == "load" || in.Op == "store" {
				if o := &in.Args[len(in.Args)-1]; !e.a.ShapeOf(o, b).Uniform() {
					e.sites++
				}
			}
		}
	}
	return e.sites > manySites && e.a.Forest.Of[e.at] == nil
}

// loadEach loads each lane's value in pieces of 16, 8, 4, 2 and 1 bytes. A
// processor's gather instruction would be several times slower than scalar
// loads put together.
func (e *vectorEmitter) loadEach(a access, from addresses) []string {
	total := a.bytes * a.n
	var out []string
	for at := 0; at < total; {
		size := 16
		for size > total-at {
			size /= 2
		}
		t := ir.IntType(8 * size)
		if size == 16 {
			t = ir.VectorType(4, ir.I32)
		}
		if a.n == 1 {
			t = a.elem
		}
		loads := make([]string, len(from.at))
		for i, p := range from.at {
			if at > 0 {
				p = e.let("getelementptr i8, ptr %s, i64 %d", p, at)
			}
			loads[i] = e.let("load %s, ptr %s, align %d", t, p, a.align)
		}
		if a.n == 1 {
			return []string{e.assemble(t, loads, from.of)}
		}
		out = append(out, e.separate(a, size, t, loads, from.of)...)
		at += size
	}
	return out
}

// separate takes apart what was loaded for each lane: size bytes of elements.
func (e *vectorEmitter) separate(a access, size int, t *ir.Type, loads []string, of [width]int) []string {
	var all string
	if size == 16 {
		each := make([]string, width)
		for i := range each {
			each[i] = loads[of[i]]
		}
		all = e.join(ir.I32, 4, each)
	} else {
		all = e.assemble(t, loads, of)
	}
	from := "<128 x i32>"
	if size < 16 {
		from = lanesOf(t)
	}
	if a.bytes >= 4 || size < 4 {
		n := size / a.bytes
		to := fmt.Sprintf("<%d x %s>", width*n, a.elem)
		if from != to {
			all = e.let("bitcast %s %s to %s", from, all, to)
		}
		return e.unzip(a.elem, n, all)
	}
	if size != 16 && size != 4 {
		all = e.let("bitcast %s %s to <%d x i32>", from, all, width*size/4)
	}
	var out []string
	narrow := ir.IntType(8 * a.bytes)
	for _, w := range e.unzip(ir.I32, size/4, all) {
		for bit := 0; bit < 32; bit += 8 * a.bytes {
			v := w
			if bit > 0 {
				v = e.let("lshr <32 x i32> %s, splat (i32 %d)", w, bit)
			}
			v = e.let("trunc <32 x i32> %s to %s", v, lanesOf(narrow))
			if a.elem.Kind != ir.Int {
				v = e.let("bitcast %s %s to %s", lanesOf(narrow), v, lanesOf(a.elem))
			}
			out = append(out, v)
		}
	}
	return out
}

// assemble makes a vector of scalars, lane i of which is v[of[i]].
func (e *vectorEmitter) assemble(t *ir.Type, v []string, of [width]int) string {
	n := powerOfTwo(len(v))
	all := "poison"
	for i, x := range v {
		all = e.let("insertelement <%d x %s> %s, %s %s, i32 %d", n, t, all, t, x, i)
	}
	same := len(v) == width
	for i, k := range of {
		same = same && k == i
	}
	if same {
		return all
	}
	return e.pick(t, n, all, width, func(i int) int { return of[i] })
}

func (e *vectorEmitter) maskedLoad(n int, t *ir.Type, p string, align int, mask string) string {
	vt := fmt.Sprintf("<%d x %s>", n, t)
	f := e.intrinsic(fmt.Sprintf("llvm.masked.load.%s.p0", ir.Suffix(n, t)), vt, fmt.Sprintf("ptr, i32, <%d x i1>, %s", n, vt))
	return e.let("call %s %s(ptr %s, i32 %d, <%d x i1> %s, %s zeroinitializer)", vt, f, p, align, n, mask, vt)
}

func (e *vectorEmitter) maskedStore(n int, t *ir.Type, v, p string, align int, mask string) {
	vt := fmt.Sprintf("<%d x %s>", n, t)
	f := e.intrinsic(fmt.Sprintf("llvm.masked.store.%s.p0", ir.Suffix(n, t)), "void", fmt.Sprintf("%s, ptr, i32, <%d x i1>", vt, n))
	e.line("call void %s(%s %s, ptr %s, i32 %d, <%d x i1> %s)", f, vt, v, p, align, n, mask)
}

// storeLanes writes a store.
func (e *vectorEmitter) storeLanes(in *ir.Inst) {
	val, ptr := &in.Args[0], &in.Args[1]
	same := e.shapeOf(ptr).Uniform()
	if same && e.shapeOf(val).Uniform() {
		e.line("%s", e.withScalars(in))
		return
	}
	a, ok := accessOf(in)
	if !ok || in.Volatile {
		e.eachLane(in)
		return
	}
	if same && a.n == 1 { // the last lane's value remains
		e.line("store %s %s, ptr %s, align %d", a.elem, e.lastLane(a.elem, e.vector(val)[0]), e.scalar(ptr), a.align)
		return
	}
	if k, ok := e.stride(ptr); ok && a.n == 1 && k == int64(a.bytes) {
		e.maskedStore(width, a.elem, e.vector(val)[0], e.firstAddress(ptr), a.align, e.mask)
		return
	}
	if e.brief() {
		e.eachLane(in)
		return
	}
	e.storeEach(a, e.vector(val), e.storeAddresses(ptr))
}

// storeEach stores one lane's value after another's, so that the last remains
// where addresses meet.
func (e *vectorEmitter) storeEach(a access, v []string, to []string) {
	total := a.bytes * a.n
	t, n, all := a.elem, 1, ""
	switch {
	case a.n == 1:
		all = v[0]
	case total <= 8 && total&(total-1) == 0:
		t = ir.IntType(8 * total)
		all = e.let("bitcast <%d x %s> %s to <32 x %s>", width*a.n, a.elem, e.zip(a.elem, v), t)
	default:
		n = a.n
		all = e.zip(a.elem, v)
	}
	for i, p := range to {
		if n == 1 {
			e.line("store %s %s, ptr %s, align %d", t, e.let("extractelement <32 x %s> %s, i32 %d", t, all, i), p, a.align)
			continue
		}
		x := e.pick(t, width*n, all, n, func(k int) int { return i*n + k })
		e.line("store <%d x %s> %s, ptr %s, align %d", n, t, x, p, a.align)
	}
}

// lastLane extracts the value of the last lane that takes part.
func (e *vectorEmitter) lastLane(t *ir.Type, v string) string {
	f := e.intrinsic("llvm.ctlz.i32", "i32", "i32, i1")
	z := e.let("call i32 %s(i32 %s, i1 true)", f, e.maskWord())
	return e.let("extractelement %s %s, i32 %s", lanesOf(t), v, e.let("xor i32 %s, 31", z))
}

// firstLane returns the number of the first lane that takes part.
func (e *vectorEmitter) firstLane() string {
	if v, ok := e.scalars["first lane"]; ok {
		return v
	}
	f := e.intrinsic("llvm.cttz.i32", "i32", "i32, i1")
	v := e.let("call i32 %s(i32 %s, i1 true)", f, e.maskWord())
	e.scalars["first lane"] = v
	return v
}

// firstAddress returns the address of lane 0 of a run: from the base, or, when
// the address was extended from a narrower number that may wrap, counted back
// from that of the first lane that takes part.
func (e *vectorEmitter) firstAddress(o *ir.Operand) string {
	s := e.shapeOf(o)
	p := e.base(o, s)
	if s.C[0] != 0 {
		p = e.let("getelementptr i8, ptr %s, i64 %d", p, s.C[0])
	}
	return p
}

// valueAt computes by scalars what a value is in one lane.
func (e *vectorEmitter) valueAt(o *ir.Operand, lane string) string {
	if o.Local == "" {
		return o.Text
	}
	s := e.shapeOf(o)
	switch {
	case s.Kind == analysis.Offset && s.C == nil:
		return e.scalar(o)
	case s.Kind == analysis.Offset:
		return e.offsetAt(o, s, lane)
	case s.Kind != analysis.Pseudo:
		return e.let("extractelement %s %s, i32 %s", lanesOf(o.Type), e.vector(o)[0], lane)
	}
	in := e.a.Defs[o.Local]
	if e.a.DefBlock[o.Local] != e.at && !(e.pure(in) && e.operandsKept(in)) {
		return e.let("extractelement %s %s, i32 %s", lanesOf(o.Type), e.vector(o)[0], lane)
	}
	at := make(map[string]string, len(in.Args))
	for i := range in.Args {
		if n := in.Args[i].Local; n != "" && at[n] == "" {
			at[n] = e.valueAt(&in.Args[i], lane)
		}
	}
	c := *in
	c.Res = ""
	c.DropFlags()
	return e.let("%s", c.Render(func(local string) string { return at[local] }, nil))
}

// operandsKept says whether what in is made of is still there in the current
// block. Across a barrier only what is used later is kept.
func (e *vectorEmitter) operandsKept(in *ir.Inst) bool {
	if len(e.cuts) == 0 {
		return true
	}
	for i := range in.Args {
		local := in.Args[i].Local
		d := e.a.Defs[local]
		if d == nil || d.Op == "alloca" || e.a.DefBlock[local] == e.at {
			continue
		}
		if e.live.At(e.at, local) {
			continue
		}
		if e.shapeOf(&in.Args[i]).Kind != analysis.Pseudo || !e.pure(d) || !e.operandsKept(d) {
			return false
		}
	}
	return true
}

// pure says whether an instruction may be computed again.
func (e *vectorEmitter) pure(in *ir.Inst) bool {
	return in.Op == "getelementptr" || ir.BinaryOps[in.Op] || ir.CastOps[in.Op]
}

// offsetAt is valueAt for a base plus lane constants.
func (e *vectorEmitter) offsetAt(o *ir.Operand, s analysis.Shape, lane string) string {
	c := e.constantAt(s.C, lane)
	if o.Type.Kind == ir.Pointer {
		return e.let("getelementptr i8, ptr %s, i64 %s", e.scalar(o), c)
	}
	if o.Type.Bits < 64 {
		c = e.let("trunc i64 %s to %s", c, o.Type)
	}
	return e.let("add %s %s, %s", o.Type, e.scalar(o), c)
}
