// Package analysis finds out what the lanes pass has to know of a one-lane kernel
// before it writes code for all lanes: loops and how often they go round, where
// lanes part and meet again, how a value differs from lane to lane, which values
// are needed after a place, and what addresses are sums of.
package analysis

import (
	"github.com/introgen/introgen/metalshim/soft/lanes/ir"
)

// Divergence says what differs between lanes: values (shapes) and control.
type Divergence struct {
	f      *ir.Function
	graph  *forwardGraph
	Forest *LoopForest
	Row    bool // lanes of a simdgroup follow each other in x, with one y and z

	Shapes   map[string]Shape
	Defs     map[string]*ir.Inst
	DefBlock map[string]*ir.Block
	Strides  map[string]int64   // bytes of a lane's private variable
	parting  map[*Node]bool     // branches at which lanes part, and exits of loops they leave at different times
	mixed    map[*ir.Block]bool // blocks whose phis choose by lane
	leaving  map[*Loop]bool     // loops that lanes leave at different times
	Masked   map[*ir.Block]bool // blocks that only some of the lanes may execute
}

// FindDivergence finds shapes and divergence by optimistic iteration: everything is
// uniform until shown otherwise.
func FindDivergence(f *ir.Function, forest *LoopForest, row bool) *Divergence {
	a := &Divergence{f: f, graph: newForwardGraph(f.Blocks, forest), Forest: forest, Row: row,
		Shapes: map[string]Shape{}, Defs: map[string]*ir.Inst{}, DefBlock: map[string]*ir.Block{},
		Strides: map[string]int64{}, parting: map[*Node]bool{}, mixed: map[*ir.Block]bool{},
		leaving: map[*Loop]bool{}, Masked: map[*ir.Block]bool{}}
	var lane LaneConsts
	for i := range lane {
		lane[i] = int64(i)
	}
	a.Shapes[f.G] = shapeUniform
	a.Shapes[f.Lane] = lanesShape(lane, 32)
	a.Shapes[f.SG] = Shape{Kind: Offset, hi: 31, exact: true}
	position := Shape{Kind: Offset, hi: 1023, exact: true}
	a.Shapes[f.Y], a.Shapes[f.Z] = position, position
	a.Shapes[f.X] = Shape{Kind: Offset, C: &lane, hi: 1023 - 31, exact: true}
	if !row {
		for _, n := range []string{f.X, f.Y, f.Z} {
			a.Shapes[n] = shapeVarying
		}
	}
	for b, in := range f.All() {
		if in.Res != "" {
			a.Defs[in.Res], a.DefBlock[in.Res] = in, b
		}
	}
	order := forest.Order(f.Blocks)
	for changed := true; changed; {
		changed = false
		for _, b := range order {
			for _, in := range b.Insts {
				if in.Res != "" {
					was := a.Shapes[in.Res]
					if now := was.widen(a.transfer(b, in)); !now.equal(was) {
						a.Shapes[in.Res] = now
						changed = true
					}
				}
			}
			if n := a.graph.of[b]; b.Cut == nil && len(b.Succs) > 1 && !a.parting[n] {
				if t := b.Last(); !a.ShapeOf(&t.Args[0], b).Uniform() && a.known(t.Args[0]) {
					a.part(n)
					changed = true
				}
			}
		}
	}
	a.mask()
	return a
}

// known says whether the operand has been looked at.
func (a *Divergence) known(o ir.Operand) bool {
	return o.Local == "" || a.Shapes[o.Local].Kind != unknown
}

// ShapeOf is the shape of an operand used in block at. A value from a loop that
// lanes leave at different times varies outside.
func (a *Divergence) ShapeOf(o *ir.Operand, at *ir.Block) Shape {
	if o.Local == "" {
		return constantShape(o)
	}
	s := a.Shapes[o.Local]
	if (s.Kind == Offset || s.Kind == Pseudo) && a.Outlives(o.Local, at) {
		return shapeVarying
	}
	return s
}

// Outlives says whether block at lies outside a loop, left by lanes at
// different times, in which the value is computed.
func (a *Divergence) Outlives(local string, at *ir.Block) bool {
	d := a.DefBlock[local]
	if d == nil {
		return false
	}
	for l := a.Forest.Of[d]; l != nil && !l.Blocks[at]; l = l.Parent {
		if a.leaving[l] {
			return true
		}
	}
	return false
}

// part records that lanes part at n, and follows the ways they take.
func (a *Divergence) part(n *Node) {
	a.parting[n] = true
	for _, m := range a.follow(n) {
		if m.exit != nil && !a.leaving[m.exit] {
			a.leave(m.exit)
		}
	}
}

// leave records that lanes leave loop l at different times.
func (a *Divergence) leave(l *Loop) {
	a.leaving[l] = true
	for b := range l.Blocks {
		for _, s := range b.Succs {
			if !l.Blocks[s] {
				a.mixed[s] = true
			}
		}
	}
	if n := a.graph.out[l]; !a.parting[n] {
		a.part(n)
	}
}

// follow marks the blocks where ways from n meet again and returns the nodes
// between n and the place where all of them have met, exits of loops there
// included.
func (a *Divergence) follow(n *Node) []*Node {
	way := map[*Node]*Node{}
	reach := func(m, by *Node) {
		if w, ok := way[m]; ok && w != by {
			way[m] = m
			switch {
			case m.Block != nil:
				a.mixed[m.Block] = true
			case m.Latch != nil:
				a.mixed[m.Latch.Header] = true
			}
			return
		} else if !ok {
			way[m] = by
		}
	}
	for _, s := range n.succs {
		reach(s, s)
	}
	end := n.up
	var between []*Node
	for i := n.pos + 1; i < len(a.graph.nodes); i++ {
		m := a.graph.nodes[i]
		w, ok := way[m]
		if m == end {
			break
		}
		if !ok {
			continue
		}
		between = append(between, m)
		for _, s := range m.succs {
			reach(s, w)
		}
	}
	if end != nil && end.exit != nil {
		between = append(between, end) // some leave the loop, or all at different exits
	}
	return between
}

// mask finds the blocks that some lanes may not execute: those between a place
// where lanes part and the place where they meet, and all of a loop that lanes
// leave at different times.
func (a *Divergence) mask() {
	for _, n := range a.graph.nodes {
		if !a.parting[n] {
			continue
		}
		for _, m := range a.follow(n) {
			if m.Block != nil {
				a.Masked[m.Block] = true
			}
		}
	}
	for l := range a.leaving {
		for b := range l.Blocks {
			a.Masked[b] = true
		}
	}
}

// Meeting returns the node where all lanes that are in masked block b at some
// time are together again: an unmasked block, the end of an iteration of an
// unmasked loop, or the end.
func (a *Divergence) Meeting(b *ir.Block) *Node {
	n := a.graph.of[b].up
	for n != a.graph.end {
		switch {
		case n.Block != nil && !a.Masked[n.Block]:
			return n
		case n.Latch != nil && !a.Masked[n.Latch.Header]:
			return n
		}
		n = n.up
	}
	return n
}
