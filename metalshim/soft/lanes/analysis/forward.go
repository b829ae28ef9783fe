package analysis

import (
	"slices"

	"github.com/introgen/introgen/metalshim/soft/lanes/ir"
)

// Node is a place in the forward graph: a block, the end of a loop's iteration,
// the way out of a loop, or the end of the kernel.
type Node struct {
	Block *ir.Block // nil for the others
	Latch *Loop     // end of an iteration of this loop
	exit  *Loop     // way out of this loop
	succs []*Node
	pos   int // in topological order
	up    *Node
	depth int
}

// forwardGraph is the control flow of one iteration of everything: a back edge
// leads to the end of its loop's iteration, which leads out of the loop; every
// way out of a loop passes the loop's exit node. It has no cycles, so the
// nearest postdominator of a branch in it is where lanes that part there meet
// again within the iteration, or, where some leave the loop, after it.
//
// A branch of which one side does nothing but return has no edge there: those
// lanes end, the others stay together (see returns).
type forwardGraph struct {
	nodes []*Node // topological order; the last is the end
	of    map[*ir.Block]*Node
	latch map[*Loop]*Node
	out   map[*Loop]*Node
	end   *Node
}

// Returns says whether b does nothing but return.
func Returns(b *ir.Block) bool { return len(b.Insts) == 1 && b.Insts[0].Op == "ret" }

// Continuing returns b's successors without those that only return, when some
// remain.
func Continuing(b *ir.Block) []*ir.Block {
	if s := slices.DeleteFunc(slices.Clone(b.Succs), Returns); len(s) > 0 {
		return s
	}
	return b.Succs
}

func newForwardGraph(blocks []*ir.Block, forest *LoopForest) *forwardGraph {
	g := &forwardGraph{of: map[*ir.Block]*Node{}, latch: map[*Loop]*Node{}, out: map[*Loop]*Node{},
		end: &Node{}}
	for _, b := range blocks {
		g.of[b] = &Node{Block: b}
	}
	for _, l := range forest.loops {
		g.latch[l] = &Node{Latch: l}
		g.out[l] = &Node{exit: l}
		connect(g.latch[l], g.out[l])
	}
	for _, b := range blocks {
		n := g.of[b]
		succs := Continuing(b)
		for _, s := range succs {
			g.path(n, forest.Of[b], s)
		}
		if len(succs) == 0 {
			g.leave(n, forest.Of[b])
		}
	}
	for _, l := range forest.loops {
		if len(g.out[l].succs) == 0 {
			g.leave(g.out[l], l.Parent)
		}
	}
	g.nodes = ir.ReversePostorder(g.of[blocks[0]], func(n *Node) []*Node { return n.succs })
	for i, n := range g.nodes {
		n.pos = i
	}
	g.postdominate()
	return g
}

func connect(a, b *Node) {
	if !slices.Contains(a.succs, b) {
		a.succs = append(a.succs, b)
	}
}

// path connects n, which lies in loop l, to block s.
func (g *forwardGraph) path(n *Node, l *Loop, s *ir.Block) {
	for ; l != nil; l = l.Parent {
		if s == l.Header {
			connect(n, g.latch[l])
			return
		}
		if l.Blocks[s] {
			break
		}
		connect(n, g.out[l])
		n = g.out[l]
	}
	connect(n, g.of[s])
}

// leave connects n, which lies in loop l, to the end.
func (g *forwardGraph) leave(n *Node, l *Loop) {
	for ; l != nil; l = l.Parent {
		connect(n, g.out[l])
		n = g.out[l]
	}
	connect(n, g.end)
}

// postdominate fills up (the nearest postdominator) and depth.
func (g *forwardGraph) postdominate() {
	for i := len(g.nodes) - 1; i >= 0; i-- {
		n := g.nodes[i]
		for k, s := range n.succs {
			if k == 0 {
				n.up = s
				continue
			}
			a, b := n.up, s
			for a != b {
				if a.depth < b.depth {
					a, b = b, a
				}
				a = a.up
			}
			n.up = a
		}
		if n.up != nil {
			n.depth = n.up.depth + 1
		}
	}
}
