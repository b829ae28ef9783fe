package lanes

import "slices"

// node is a place in the forward graph: a block, the end of a loop's iteration,
// the way out of a loop, or the end of the kernel.
type node struct {
	block *block // nil for the others
	latch *loop  // end of an iteration of this loop
	exit  *loop  // way out of this loop
	succs []*node
	pos   int // in topological order
	up    *node
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
	nodes []*node // topological order; the last is the end
	of    map[*block]*node
	latch map[*loop]*node
	out   map[*loop]*node
	end   *node
}

// returns says whether b does nothing but return.
func returns(b *block) bool { return len(b.insts) == 1 && b.insts[0].op == "ret" }

// continuing returns b's successors without those that only return, when some
// remain.
func continuing(b *block) []*block {
	if len(b.succs) < 2 {
		return b.succs
	}
	var s []*block
	for _, q := range b.succs {
		if !returns(q) {
			s = append(s, q)
		}
	}
	if len(s) == 0 {
		return b.succs
	}
	return s
}

func newForwardGraph(blocks []*block, forest *loopForest) *forwardGraph {
	g := &forwardGraph{of: map[*block]*node{}, latch: map[*loop]*node{}, out: map[*loop]*node{},
		end: &node{}}
	for _, b := range blocks {
		g.of[b] = &node{block: b}
	}
	for _, l := range forest.loops {
		g.latch[l] = &node{latch: l}
		g.out[l] = &node{exit: l}
		connect(g.latch[l], g.out[l])
	}
	for _, b := range blocks {
		n := g.of[b]
		succs := continuing(b)
		for _, s := range succs {
			g.path(n, forest.of[b], s)
		}
		if len(succs) == 0 {
			g.leave(n, forest.of[b])
		}
	}
	for _, l := range forest.loops {
		if len(g.out[l].succs) == 0 {
			g.leave(g.out[l], l.parent)
		}
	}
	g.nodes = reversePostorder(g.of[blocks[0]], func(n *node) []*node { return n.succs })
	for i, n := range g.nodes {
		n.pos = i
	}
	g.postdominate()
	return g
}

func connect(a, b *node) {
	if !slices.Contains(a.succs, b) {
		a.succs = append(a.succs, b)
	}
}

// path connects n, which lies in loop l, to block s.
func (g *forwardGraph) path(n *node, l *loop, s *block) {
	for ; l != nil; l = l.parent {
		if s == l.header {
			connect(n, g.latch[l])
			return
		}
		if l.blocks[s] {
			break
		}
		connect(n, g.out[l])
		n = g.out[l]
	}
	connect(n, g.of[s])
}

// leave connects n, which lies in loop l, to the end.
func (g *forwardGraph) leave(n *node, l *loop) {
	for ; l != nil; l = l.parent {
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
