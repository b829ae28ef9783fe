package lanes

import (
	"fmt"
	"strings"
)

// width is the number of lanes of a simdgroup.
const width = 32

// maskType is a set of lanes.
const maskType = "<32 x i1>"

// vectorEmitter writes the fast form: every instruction once for all lanes.
// What is the same in all lanes, or differs by constants (shape offset), is
// computed by scalar instructions; the rest by vectors of 32 elements, one for
// each element where the lane's own value is a vector.
//
// Control that lanes share stays control. Blocks that only some lanes execute
// (masked) are laid out one after another in program order, each skipped when
// no lane wants it; loops among them go round while a lane is in them.
//
// Values used in more than one block, masks and what phis choose live in stack
// variables, which clang turns back into registers.
type vectorEmitter struct {
	f      *function
	a      *analysis
	name   string // of the function made
	cuts   []*cut
	frame  *frame
	order  []*block
	pos    map[*block]int
	groups map[*node][]*block
	shared map[string]bool // values used outside their block
	lasts  map[string]bool // values used outside a loop that lanes leave at different times
	checks map[*block]bool // back edges that look at the watchdog's flag
	live   *liveness       // what is kept across a barrier

	vars        []variableDef
	isVar       map[string]bool
	declared    map[string]string
	allocas     strings.Builder
	globals     strings.Builder
	tables      map[string]string   // constant arrays made, by content
	nowhere     string              // memory that lanes without part store to
	free        map[string][]string // scratch memory to be used again, by type
	private     int64               // bytes of private variables so far
	sites       int                 // scattered accesses, counted when first asked for
	products    int                 // matrix products, counted when the first is met
	productFunc string              // the function that computes one, when there is one
	storeAt     map[string]int64    // constants of the addresses that stores share
	writer

	at      *block
	mask    string              // lanes that execute the current block
	scalars map[string]string   // values already at hand in the current block
	vectors map[string][]string // the same as vectors
	err     error
}

// variableDef is a stack variable: of a value's base (s), of its lanes (w), of
// those that a loop left behind (o), of what a phi chooses (p), of a block's mask
// (m), or of the lanes that live.
type variableDef struct {
	name, typ string
	prefix    string // s, w, o, p, m, or "" for the lanes that live
	of        string // the value or the block
}

func newVectorEmitter(f *function, name string, cuts []*cut, forest *loopForest, fr *frame, row bool) *vectorEmitter {
	e := &vectorEmitter{f: f, a: analyse(f, forest, row), name: name, cuts: cuts, frame: fr,
		order: forest.order(f.blocks), pos: map[*block]int{}, groups: map[*node][]*block{},
		shared: map[string]bool{}, lasts: map[string]bool{}, isVar: map[string]bool{}, declared: map[string]string{}, tables: map[string]string{}, storeAt: map[string]int64{}, free: map[string][]string{}}
	for i, b := range e.order {
		e.pos[b] = i
		if e.a.masked[b] {
			m := e.a.meeting(b)
			e.groups[m] = append(e.groups[m], b)
		}
	}
	dom := dominators(f.blocks)
	e.checks = unbounded(f, forest, dom)
	for _, b := range f.blocks {
		for _, in := range b.insts {
			for k, o := range in.args {
				at := b
				if in.op == "phi" {
					at = f.byName[in.labels[k].name]
				}
				if d := e.a.defBlock[o.local]; d != nil && d != at {
					e.shared[o.local] = true
					if e.a.outlives(o.local, at) {
						e.lasts[o.local] = true
					}
				}
			}
		}
	}
	e.shareChains()
	return e
}

// shareChains makes what pseudo addresses are computed from available where
// the addresses are used: they are computed again there, for one lane.
func (e *vectorEmitter) shareChains() {
	for changed := true; changed; {
		changed = false
		for n, in := range e.a.defs {
			if !e.shared[n] || e.a.shapes[n].kind != pseudo {
				continue
			}
			for _, o := range in.args {
				if e.a.defBlock[o.local] != nil && !e.shared[o.local] {
					e.shared[o.local] = true
					changed = true
				}
			}
		}
	}
}

func (e *vectorEmitter) fail(format string, args ...any) {
	if e.err == nil {
		e.err = fmt.Errorf(format, args...)
	}
}

// variable declares a stack variable once and returns its name.
func (e *vectorEmitter) variable(prefix, local string, i int, typ string) string {
	n := normalise(fmt.Sprintf("%s%d.", prefix, i), local)
	if !e.isVar[n] {
		e.isVar[n] = true
		e.vars = append(e.vars, variableDef{n, typ, prefix, local})
		fmt.Fprintf(&e.allocas, "  %%%s = alloca %s\n", n, typ)
	}
	return "%" + n
}

// scratch declares stack memory, or takes what release gave back.
func (e *vectorEmitter) scratch(typ string) string {
	if f := e.free[typ]; len(f) > 0 {
		e.free[typ] = f[:len(f)-1]
		return f[len(f)-1]
	}
	e.tmp++
	n := fmt.Sprintf("%%x.%d", e.tmp)
	fmt.Fprintf(&e.allocas, "  %s = alloca %s, align 64\n", n, typ)
	return n
}

// release gives scratch memory back once everything has been read from it.
func (e *vectorEmitter) release(typ, name string) {
	e.free[typ] = append(e.free[typ], name)
}

// intrinsic declares an LLVM function and returns its name with @.
func (e *vectorEmitter) intrinsic(name, result, args string) string {
	e.declared[name] = fmt.Sprintf("declare %s @%s(%s)", result, name, args)
	return "@" + name
}

// any tells in an i1 whether a set of lanes has one.
func (e *vectorEmitter) any(mask string) string {
	return e.let("icmp ne i32 %s, 0", e.maskBits(mask))
}

// maskBits turns a set of lanes into an i32, lane 0 lowest.
func (e *vectorEmitter) maskBits(mask string) string {
	return e.let("bitcast %s %s to i32", maskType, mask)
}

// within returns the lanes of mask for which c holds; what c is for other lanes
// does not matter, undefined included.
func (e *vectorEmitter) within(mask, c string) string {
	return e.let("select %s %s, %s %s, %s zeroinitializer", maskType, mask, maskType, c, maskType)
}

// without returns the lanes of mask that are not in m, a part of it.
func (e *vectorEmitter) without(mask, m string) string {
	return e.let("xor %s %s, %s", maskType, mask, m)
}
