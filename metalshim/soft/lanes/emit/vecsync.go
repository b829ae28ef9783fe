package emit

import (
	"fmt"
	"strings"

	"github.com/introgen/introgen/metalshim/soft/lanes/analysis"
	"github.com/introgen/introgen/metalshim/soft/lanes/ir"
)

// sync writes a cross-lane operation. What it means is in sg.h.
func (e *vectorEmitter) sync(in *ir.Inst, name string) {
	switch name {
	case "tgbar", "sgbar": // lanes run together: there is nothing to wait for
		return
	case "active":
		e.setScalar(in, e.maskBits(e.mask))
	case "ballot":
		c := e.let("icmp ne <32 x i32> %s, zeroinitializer", e.vector(&in.Args[0])[0])
		e.setScalar(in, e.maskBits(e.within(e.mask, c)))
	case "first", "firstl":
		e.setScalar(in, e.pickLane(&in.Args[0], e.firstLane()))
	case "bc", "bcl":
		e.setScalar(in, e.pickLane(&in.Args[0], e.sourceLane(&in.Args[1])))
	case "sh", "shl":
		e.setVector(in, []string{e.shuffleLanes(&in.Args[0], &in.Args[1])})
	case "mma":
		e.multiply(in)
	case "mld32", "mld16", "mldt32", "mldt16":
		e.loadMatrix(in, name)
	case "mst32", "mst16", "mstt32", "mstt16":
		e.storeMatrix(in, name)
	default:
		if ir.CrossLaneOps[name].Uniform {
			e.reduce(in, name)
		} else {
			e.prefix(in, name)
		}
	}
}

// reductions are an instruction, or for minima and maxima an intrinsic's name, and
// the value that leaves the other operand as it is. For fmax and fmin that is no
// number: any number wins, and among none it remains.
var reductions = map[string]struct{ op, identity string }{
	"fadd": {"fadd", "-0.0"}, "fmul": {"fmul", "1.0"}, "fmax": {"fmax", "0x7FF8000000000000"}, "fmin": {"fmin", "0x7FF8000000000000"},
	"iadd": {"add", "0"}, "imul": {"mul", "1"}, "and": {"and", "-1"}, "or": {"or", "0"}, "xor": {"xor", "0"},
	"smax": {"smax", "-2147483648"}, "smin": {"smin", "2147483647"}, "umax": {"umax", "0"}, "umin": {"umin", "-1"},
}

// reduce writes a reduction over the lanes that take part, as sg.h orders it:
// each half of the lanes with the other half, and so on.
func (e *vectorEmitter) reduce(in *ir.Inst, name string) {
	t := in.Type
	lt := lanesOf(t)
	r := reductions[name]
	v := e.let("select %s %s, %s %s, %s splat (%s %s)", maskType, e.mask, lt, e.vector(&in.Args[0])[0], lt, t, r.identity)
	if t.Kind != ir.Float {
		f := "llvm.vector.reduce." + r.op + "." + ir.Suffix(width, t)
		e.setScalar(in, e.let("call %s %s(%s %s)", t, e.intrinsic(f, t.String(), lt), lt, v))
		return
	}
	for n := width; n > 1; n /= 2 {
		v = e.combine(r.op, n/2, e.part(v, n, 0), e.part(v, n, n/2))
	}
	e.setScalar(in, e.let("extractelement <1 x float> %s, i32 0", v))
}

// part is half of a vector of n floats, beginning at from.
func (e *vectorEmitter) part(v string, n, from int) string {
	return e.pick(ir.F32, n, v, n/2, func(i int) int { return from + i })
}

// combine joins n pairs of floats in a reduction. A minimum or maximum prefers
// numbers, and of equal ones the first: the processors' own instructions differ
// about the sign of zero.
func (e *vectorEmitter) combine(op string, n int, a, b string) string {
	t := fmt.Sprintf("<%d x float>", n)
	compare := map[string]string{"fmax": "olt", "fmin": "ogt"}[op]
	if compare == "" {
		return e.let("%s %s %s, %s", op, t, a, b)
	}
	other := e.let("or <%d x i1> %s, %s", n, e.let("fcmp %s %s %s, %s", compare, t, a, b), e.let("fcmp uno %s %s, zeroinitializer", t, a))
	return e.let("select <%d x i1> %s, %s %s, %s %s", n, other, t, b, t, a)
}

// prefix writes a scan: in five steps each lane takes in what stands 1, 2, 4, 8
// and 16 lanes before it. Lanes that take no part hold the identity.
func (e *vectorEmitter) prefix(in *ir.Inst, name string) {
	t := in.Type
	lt := lanesOf(t)
	op := map[string]string{"fpadd": "fadd", "fxadd": "fadd", "fpmul": "fmul", "fxmul": "fmul",
		"ipadd": "add", "ixadd": "add", "ipmul": "mul", "ixmul": "mul"}[name]
	id := map[string]string{"fadd": "0.0", "fmul": "1.0", "add": "0", "mul": "1"}[op]
	ids := fmt.Sprintf("splat (%s %s)", t, id)
	v := e.let("select %s %s, %s %s, %s %s", maskType, e.mask, lt, e.vector(&in.Args[0])[0], lt, ids)
	shift := func(v string, n int) string {
		return e.pickBoth(t, width, v, ids, width, func(i int) int {
			if i < n {
				return width
			}
			return i - n
		})
	}
	for n := 1; n < width; n *= 2 {
		v = e.let("%s %s %s, %s", op, lt, v, shift(v, n))
	}
	if name[1] == 'x' {
		v = shift(v, 1)
	}
	e.setVector(in, []string{v})
}

// sourceLane is the lane a broadcast takes from: the one asked for by the first
// lane, or the first itself when that one takes no part.
func (e *vectorEmitter) sourceLane(o *ir.Operand) string {
	var q string
	if e.shapeOf(o).Uniform() {
		q = e.scalar(o)
	} else {
		q = e.let("extractelement <32 x i32> %s, i32 %s", e.vector(o)[0], e.firstLane())
	}
	in := e.let("icmp ult i32 %s, 32", q)
	bit := e.let("and i32 %s, 31", q)
	on := e.let("trunc i32 %s to i1", e.let("lshr i32 %s, %s", e.maskBits(e.mask), bit))
	ok := e.let("and i1 %s, %s", in, on)
	return e.let("select i1 %s, i32 %s, i32 %s", ok, bit, e.firstLane())
}

// pickLane extracts one lane's value.
func (e *vectorEmitter) pickLane(o *ir.Operand, lane string) string {
	if e.shapeOf(o).Uniform() {
		return e.scalar(o)
	}
	return e.let("extractelement %s %s, i32 %s", lanesOf(o.Type), e.vector(o)[0], lane)
}

// shuffleLanes gives each lane the value of another, or its own when that one
// takes no part.
func (e *vectorEmitter) shuffleLanes(val, src *ir.Operand) string {
	if e.shapeOf(val).Uniform() {
		return e.vector(val)[0]
	}
	t, v := val.Type, e.vector(val)[0]
	lt := lanesOf(t)
	var moved string
	s := e.shapeOf(src)
	if s.Known() {
		moved = e.pick(t, width, v, width, func(i int) int {
			if q := s.At(i); q >= 0 && q < width {
				return int(q)
			}
			return i
		})
	} else {
		moved = e.lookUp(t, v, src)
	}
	q := e.vector(src)[0]
	in := e.let("icmp ult <32 x i32> %s, splat (i32 32)", q)
	bit := e.let("and <32 x i32> %s, splat (i32 31)", q)
	on := e.let("lshr <32 x i32> %s, %s", e.splat(ir.I32, e.maskBits(e.mask)), bit)
	on = e.let("trunc <32 x i32> %s to %s", on, maskType)
	ok := e.let("and %s %s, %s", maskType, in, on)
	return e.let("select %s %s, %s %s, %s %s", maskType, ok, lt, moved, lt, v)
}

// lookUp gives each lane the value of lane src modulo 32.
func (e *vectorEmitter) lookUp(t *ir.Type, v string, src *ir.Operand) string {
	lt := lanesOf(t)
	if s := e.shapeOf(src); s.Kind == analysis.Offset {
		if k, ok := s.C.Linear(); ok && k == 1 { // neighbours: one load from the value, written twice
			mem := e.scratch(fmt.Sprintf("[64 x %s]", t))
			defer e.release(fmt.Sprintf("[64 x %s]", t), mem)
			e.line("store %s %s, ptr %s", lt, v, mem)
			p := e.let("getelementptr %s, ptr %s, i64 32", t, mem)
			e.line("store %s %s, ptr %s", lt, v, p)
			at := e.let("and i32 %s, 31", e.let("add i32 %s, %d", e.scalar(src), s.C[0]))
			q := e.let("getelementptr %s, ptr %s, i32 %s", t, mem, at)
			return e.let("load %s, ptr %s, align %d", lt, q, t.Bits/8)
		}
	}
	mem := e.scratch(lt)
	defer e.release(lt, mem)
	e.line("store %s %s, ptr %s", lt, v, mem)
	q := e.let("and <32 x i32> %s, splat (i32 31)", e.vector(src)[0])
	var of [width]int
	loads := make([]string, width)
	for i := range loads {
		of[i] = i
		p := e.let("getelementptr %s, ptr %s, i32 %s", t, mem, e.let("extractelement <32 x i32> %s, i32 %d", q, i))
		loads[i] = e.let("load %s, ptr %s, align %d", t, p, t.Bits/8)
	}
	return e.assemble(t, loads, of)
}

// rowMajor lists, for the elements of an 8x8 matrix row by row, where a lane
// holds them: lane times two plus the element.
func rowMajor() [64]int {
	var at [64]int
	for l := range width {
		r, c := (l>>2)&4+(l>>1)&3, (l>>1)&4+(l&1)<<1
		at[8*r+c], at[8*r+c+1] = 2*l, 2*l+1
	}
	return at
}

// toLanes reorders the 64 elements of a matrix from rows to lanes.
func (e *vectorEmitter) toLanes(t *ir.Type, v string) string {
	at := rowMajor()
	var back [64]int
	for i, p := range at {
		back[p] = i
	}
	return e.pick(t, 64, v, 64, func(i int) int { return back[i] })
}

// toRows reorders them from lanes to rows.
func (e *vectorEmitter) toRows(t *ir.Type, v string) string {
	at := rowMajor()
	return e.pick(t, 64, v, 64, func(i int) int { return at[i] })
}

// fewProducts is how many matrix products a kernel may have written out; with
// more of them all are calls of one function.
const fewProducts = 64

// multiply writes a*b+c of 8x8 matrices.
func (e *vectorEmitter) multiply(in *ir.Inst) {
	var m [3]string
	for i := range m {
		m[i] = e.let("bitcast <32 x i64> %s to <64 x float>", e.vector(&in.Args[i])[0])
	}
	if e.products == 0 {
		for _, q := range e.f.All() {
			if ir.CrossLane(q) == "mma" {
				e.products++
			}
		}
	}
	if e.products <= fewProducts {
		e.setVector(in, []string{e.product(m)})
		return
	}
	if e.productFunc == "" {
		e.productFunc = "@" + e.name + ".mma"
		rest := e.b.String()
		e.b.Reset()
		fmt.Fprintf(&e.b, "define internal <32 x i64> %s(<64 x float> %%a, <64 x float> %%b, <64 x float> %%c) noinline #9900 {\n", e.productFunc)
		r := e.product([3]string{"%a", "%b", "%c"})
		e.line("ret <32 x i64> %s\n}", r)
		e.globals.WriteString(e.b.String())
		e.b.Reset()
		e.b.WriteString(rest)
	}
	e.setVector(in, []string{e.let("call <32 x i64> %s(<64 x float> %s, <64 x float> %s, <64 x float> %s)", e.productFunc, m[0], m[1], m[2])})
}

// product computes a*b+c from matrices as lanes hold them, two rows of the
// result at a time.
func (e *vectorEmitter) product(m [3]string) string {
	f32 := ir.F32
	for i := range m {
		m[i] = e.toRows(f32, m[i])
	}
	twoRows := func(v string, at func(i int) int) string { return e.pick(f32, 64, v, 16, at) }
	var row [8]string // b's rows, each twice
	for k := range row {
		row[k] = twoRows(m[1], func(i int) int { return 8*k + i%8 })
	}
	f := e.intrinsic("llvm.fma.v16f32", "<16 x float>", "<16 x float>, <16 x float>, <16 x float>")
	var out [4]string
	for p := range out {
		acc := twoRows(m[2], func(i int) int { return 16*p + i })
		for k := range row {
			col := twoRows(m[0], func(i int) int { return 8*(2*p+i/8) + k })
			acc = e.let("call <16 x float> %s(<16 x float> %s, <16 x float> %s, <16 x float> %s)", f, col, row[k], acc)
		}
		out[p] = acc
	}
	w := e.toLanes(f32, e.join(f32, 16, out[:]))
	return e.let("bitcast <64 x float> %s to <32 x i64>", w)
}

// rowAddress is the address of row i of a matrix in memory.
func (e *vectorEmitter) rowAddress(t *ir.Type, p, ld string, i int) string {
	return e.let("getelementptr %s, ptr %s, i64 %s", t, p, e.let("mul i64 %s, %d", ld, i))
}

// matrixElement is an integer of the size of the elements that an operation moves.
func matrixElement(name string) *ir.Type {
	if strings.HasSuffix(name, "16") {
		return ir.IntType(16)
	}
	return ir.I32
}

// loadMatrix loads a matrix row by row.
func (e *vectorEmitter) loadMatrix(in *ir.Inst, name string) {
	t := matrixElement(name)
	p, ld := e.pickLane(&in.Args[0], e.firstLane()), e.pickLane(&in.Args[1], e.firstLane())
	var rows []string
	for i := range 8 {
		rows = append(rows, e.let("load <8 x %s>, ptr %s, align %d", t, e.rowAddress(t, p, ld, i), t.Bits/8))
	}
	w := e.join(t, 8, rows)
	if strings.HasPrefix(name, "mldt") {
		w = e.pick(t, 64, w, 64, func(i int) int { return i%8*8 + i/8 })
	}
	e.setVector(in, []string{e.let("bitcast <64 x %s> %s to %s", t, e.toLanes(t, w), lanesOf(in.Type))})
}

// storeMatrix stores a matrix row by row; a lane that takes no part keeps its
// elements to itself.
func (e *vectorEmitter) storeMatrix(in *ir.Inst, name string) {
	t := matrixElement(name)
	v := e.let("bitcast %s %s to <64 x %s>", lanesOf(in.Args[0].Type), e.vector(&in.Args[0])[0], t)
	p, ld := e.pickLane(&in.Args[1], e.firstLane()), e.pickLane(&in.Args[2], e.firstLane())
	at := rowMajor()
	place := func(i int) int { return at[i] }
	if strings.HasPrefix(name, "mstt") {
		place = func(i int) int { return at[i%8*8+i/8] }
	}
	v = e.pick(t, 64, v, 64, place)
	for r := range 8 {
		row := e.pick(t, 64, v, 8, func(i int) int { return 8*r + i })
		on := e.pick(ir.I1, width, e.mask, 8, func(i int) int { return place(8*r+i) / 2 })
		e.maskedStore(8, t, row, e.rowAddress(t, p, ld, r), t.Bits/8, on)
	}
}
