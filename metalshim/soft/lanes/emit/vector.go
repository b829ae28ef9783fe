// Package emit writes the function of a simdgroup from what ir has read and
// analysis found: Vector for all lanes at once, Scalar lane by lane.
package emit

import (
	"fmt"
	"strings"

	"github.com/introgen/introgen/metalshim/soft/lanes/analysis"
	"github.com/introgen/introgen/metalshim/soft/lanes/ir"
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
	f      *ir.Function
	a      *analysis.Divergence
	name   string // of the function made
	cuts   []*ir.Cut
	frame  *frame
	order  []*ir.Block
	pos    map[*ir.Block]int
	groups map[*analysis.Node][]*ir.Block
	shared map[string]bool    // values used outside their block
	lasts  map[string]bool    // values used outside a loop that lanes leave at different times
	checks map[*ir.Block]bool // back edges that look at the watchdog's flag
	spins  map[*ir.Block]bool // those of loops that only wait for others
	live   *analysis.Liveness // what is kept across a barrier

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

	at      *ir.Block
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

func newVectorEmitter(f *ir.Function, name string, cuts []*ir.Cut, forest *analysis.LoopForest, fr *frame, row bool) *vectorEmitter {
	e := &vectorEmitter{f: f, a: analysis.FindDivergence(f, forest, row), name: name, cuts: cuts, frame: fr,
		order: forest.Order(f.Blocks), pos: map[*ir.Block]int{}, groups: map[*analysis.Node][]*ir.Block{},
		shared: map[string]bool{}, lasts: map[string]bool{}, isVar: map[string]bool{}, declared: map[string]string{}, tables: map[string]string{}, storeAt: map[string]int64{}, free: map[string][]string{}}
	for i, b := range e.order {
		e.pos[b] = i
		if e.a.Masked[b] {
			m := e.a.Meeting(b)
			e.groups[m] = append(e.groups[m], b)
		}
	}
	dom := ir.Dominators(f.Blocks)
	e.checks = analysis.Unbounded(f, forest, dom)
	e.spins = analysis.Spins(forest, e.checks)
	for b, in := range f.All() {
		for k, o := range in.Args {
			at := b
			if in.Op == "phi" {
				at = f.ByName[in.Labels[k].Name]
			}
			if d := e.a.DefBlock[o.Local]; d != nil && d != at {
				e.shared[o.Local] = true
				if e.a.Outlives(o.Local, at) {
					e.lasts[o.Local] = true
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
		for n, in := range e.a.Defs {
			if !e.shared[n] || e.a.Shapes[n].Kind != analysis.Pseudo {
				continue
			}
			for _, o := range in.Args {
				if e.a.DefBlock[o.Local] != nil && !e.shared[o.Local] {
					e.shared[o.Local] = true
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
	n := ir.Normalise(fmt.Sprintf("%s%d.", prefix, i), local)
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
