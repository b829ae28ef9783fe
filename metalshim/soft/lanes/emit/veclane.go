package emit

import (
	"fmt"
	"strings"

	"github.com/introgen/introgen/metalshim/soft/lanes/ir"
)

// leaf is a scalar or a vector within an aggregate, or a value that is no aggregate.
type leaf struct {
	typ  *ir.Type
	path string // of indices, "" of a whole value
}

// leaves takes a type apart down to what memory holds as arrays of one element a lane.
func leaves(t *ir.Type) []leaf {
	if t.Kind != ir.Struct && t.Kind != ir.Array {
		return []leaf{{t, ""}}
	}
	var out []leaf
	for i, m := range t.Members() {
		for _, l := range leaves(m) {
			out = append(out, leaf{l.typ, strings.TrimSuffix(fmt.Sprintf("%d, %s", i, l.path), ", ")})
		}
	}
	return out
}

// laneSlots are arrays in memory, with one element a lane, of what a value consists of.
type laneSlots struct {
	typ  *ir.Type
	of   []leaf
	mems []string
}

// slotsFor makes room for values of type t.
func (e *vectorEmitter) slotsFor(t *ir.Type) laneSlots {
	s := laneSlots{typ: t, of: leaves(t)}
	for _, l := range s.of {
		s.mems = append(s.mems, e.scratch(laneArray(l.typ)))
	}
	return s
}

func (e *vectorEmitter) releaseSlots(s laneSlots) {
	for i, l := range s.of {
		e.release(laneArray(l.typ), s.mems[i])
	}
}

// spillSlots stores an operand that differs between lanes.
func (e *vectorEmitter) spillSlots(o *ir.Operand) laneSlots {
	s := e.slotsFor(o.Type)
	v := e.vector(o)
	for i, l := range s.of {
		n := len(ir.Parts(l.typ))
		if n > len(v) {
			e.fail("%s in memory of each lane", o.Type)
			return s
		}
		e.spill(l.typ, v[:n], s.mems[i])
		v = v[n:]
	}
	return s
}

// element is the address of a lane's element of a slot.
func (e *vectorEmitter) element(s laneSlots, i int, lane string) string {
	return e.let("getelementptr [32 x %s], ptr %s, i64 0, i64 %s", memType(s.of[i].typ), s.mems[i], lane)
}

// loadLane is a lane's value.
func (e *vectorEmitter) loadLane(s laneSlots, lane string) string {
	whole := "poison"
	for i, l := range s.of {
		v := e.loadFrom(l.typ, e.element(s, i, lane))
		if l.path == "" {
			return v
		}
		whole = e.let("insertvalue %s %s, %s %s, %s", s.typ, whole, l.typ, v, l.path)
	}
	return whole
}

// storeLane keeps a lane's value.
func (e *vectorEmitter) storeLane(s laneSlots, lane, v string) {
	for i, l := range s.of {
		part := v
		if l.path != "" {
			part = e.let("extractvalue %s %s, %s", s.typ, v, l.path)
		}
		p := e.element(s, i, lane)
		e.line("store %s %s, ptr %s", memType(l.typ), e.inMemory(l.typ, part), p)
	}
}

// unspillSlots reads the value of all lanes.
func (e *vectorEmitter) unspillSlots(s laneSlots) []string {
	var out []string
	for i, l := range s.of {
		out = append(out, e.unspill(l.typ, s.mems[i])...)
	}
	return out
}

// eachLane runs an instruction for one lane after another, in order.
func (e *vectorEmitter) eachLane(in *ir.Inst) {
	slots := map[string]laneSlots{}
	values := map[string]string{}
	for i := range in.Args {
		o := &in.Args[i]
		if o.Local == "" || values[o.Local] != "" || slots[o.Local].typ != nil {
			continue
		}
		if e.shapeOf(o).Uniform() {
			values[o.Local] = e.scalar(o)
			continue
		}
		slots[o.Local] = e.spillSlots(o)
		defer e.releaseSlots(slots[o.Local])
	}
	var result laneSlots
	if in.Res != "" {
		result = e.slotsFor(in.Type)
		defer e.releaseSlots(result)
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
	for i := range in.Args {
		if o := &in.Args[i]; o.Local != "" && values[o.Local] == "" {
			values[o.Local] = e.loadLane(slots[o.Local], l64)
		}
	}
	c := *in
	c.Res = ""
	text := c.Render(func(local string) string { return values[local] }, nil)[in.OpAt:]
	if in.Res == "" {
		e.line("%s", text)
	} else {
		e.storeLane(result, l64, e.let("%s", text))
	}
	rest := e.let("and i32 %s, %s", m, e.let("add i32 %s, -1", m))
	e.line("store i32 %s, ptr %s", rest, left)
	e.line("br i1 %s, label %%each.%d, label %%over.%d", e.let("icmp ne i32 %s, 0", rest), id, id)
	e.label(fmt.Sprintf("over.%d", id))
	if in.Res != "" {
		e.setVector(in, e.unspillSlots(result))
	}
}

// laneArray is the type of memory that holds a value of each lane.
func laneArray(t *ir.Type) string { return fmt.Sprintf("[32 x %s]", memType(t)) }

// spill stores a value of all lanes as an array, one element a lane.
func (e *vectorEmitter) spill(t *ir.Type, v []string, mem string) {
	switch {
	case t.Kind == ir.Int && t.Bits == 1:
		e.line("store <32 x i8> %s, ptr %s, align 1", e.let("zext %s %s to <32 x i8>", maskType, v[0]), mem)
	case t.Kind == ir.Vector:
		n := powerOfTwo(len(v))
		for len(v) < n {
			v = append(v[:len(v):len(v)], "poison")
		}
		if t.Elem.Kind == ir.Int && t.Elem.Bits == 1 {
			e.fail("%s in memory of each lane", t)
			return
		}
		e.line("store <%d x %s> %s, ptr %s, align 1", width*n, t.Elem, e.zip(t.Elem, v), mem)
	case t.Kind == ir.Int || t.Kind == ir.Float || t.Kind == ir.Pointer:
		e.line("store %s %s, ptr %s, align 1", lanesOf(t), v[0], mem)
	default:
		e.fail("%s in memory of each lane", t)
	}
}

// unspill reads an array with one element a lane.
func (e *vectorEmitter) unspill(t *ir.Type, mem string) []string {
	switch {
	case t.Kind == ir.Int && t.Bits == 1:
		return []string{e.let("trunc <32 x i8> %s to %s", e.let("load <32 x i8>, ptr %s, align 1", mem), maskType)}
	case t.Kind == ir.Vector:
		n := powerOfTwo(t.N)
		if t.Elem.Kind == ir.Int && t.Elem.Bits == 1 {
			e.fail("%s in memory of each lane", t)
			return make([]string, t.N)
		}
		all := e.let("load <%d x %s>, ptr %s, align 1", width*n, t.Elem, mem)
		return e.unzip(t.Elem, n, all)[:t.N]
	case t.Kind == ir.Int || t.Kind == ir.Float || t.Kind == ir.Pointer:
		return []string{e.let("load %s, ptr %s, align 1", lanesOf(t), mem)}
	}
	e.fail("%s in memory of each lane", t)
	return make([]string, len(ir.Parts(t)))
}
