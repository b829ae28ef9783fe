package lanes

// analysis says what differs between lanes: values (shapes) and control.
type analysis struct {
	f      *function
	graph  *forwardGraph
	forest *loopForest
	row    bool // lanes of a simdgroup follow each other in x, with one y and z

	shapes    map[string]shape
	defs      map[string]*inst
	defBlock  map[string]*block
	strides   map[string]int64 // bytes of a lane's private variable
	parting   map[*node]bool   // branches at which lanes part, and exits of loops they leave at different times
	mixed     map[*block]bool  // blocks whose phis choose by lane
	leaving   map[*loop]bool   // loops that lanes leave at different times
	masked    map[*block]bool  // blocks that only some of the lanes may execute
	privately map[string]bool  // private variables in element-major form
}

// analyse finds shapes and divergence by optimistic iteration: everything is
// uniform until shown otherwise.
func analyse(f *function, forest *loopForest, row bool) *analysis {
	a := &analysis{f: f, graph: newForwardGraph(f.blocks, forest), forest: forest, row: row,
		shapes: map[string]shape{}, defs: map[string]*inst{}, defBlock: map[string]*block{},
		strides: map[string]int64{}, parting: map[*node]bool{}, mixed: map[*block]bool{},
		leaving: map[*loop]bool{}, masked: map[*block]bool{}, privately: map[string]bool{}}
	var lane laneConsts
	for i := range lane {
		lane[i] = int64(i)
	}
	a.shapes[f.g] = shapeUniform
	a.shapes[f.lane] = lanesShape(lane, 32)
	a.shapes[f.sg] = shape{kind: offset, hi: 31, exact: true}
	position := shape{kind: offset, hi: 1023, exact: true}
	a.shapes[f.y], a.shapes[f.z] = position, position
	a.shapes[f.x] = shape{kind: offset, c: &lane, hi: 1023 - 31, exact: true}
	if !row {
		for _, n := range []string{f.x, f.y, f.z} {
			a.shapes[n] = shapeVarying
		}
	}
	for _, b := range f.blocks {
		for _, in := range b.insts {
			if in.res != "" {
				a.defs[in.res], a.defBlock[in.res] = in, b
			}
		}
	}
	order := forest.order(f.blocks)
	for changed := true; changed; {
		changed = false
		for _, b := range order {
			for _, in := range b.insts {
				if in.res != "" {
					was := a.shapes[in.res]
					if now := was.widen(a.transfer(b, in)); !now.equal(was) {
						a.shapes[in.res] = now
						changed = true
					}
				}
			}
			if n := a.graph.of[b]; b.cut == nil && len(b.succs) > 1 && !a.parting[n] {
				if t := b.insts[len(b.insts)-1]; !a.shapeOf(&t.args[0], b).uniform() && a.known(t.args[0]) {
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
func (a *analysis) known(o operand) bool {
	return o.local == "" || a.shapes[o.local].kind != unknown
}

// shapeOf is the shape of an operand used in block at. A value from a loop that
// lanes leave at different times varies outside.
func (a *analysis) shapeOf(o *operand, at *block) shape {
	if o.local == "" {
		return constantShape(o)
	}
	s := a.shapes[o.local]
	if s.kind == offset && a.outlives(o.local, at) {
		return shapeVarying
	}
	if s.kind == pseudo && a.outlives(o.local, at) {
		return shapeVarying
	}
	return s
}

// outlives says whether block at lies outside a loop, left by lanes at
// different times, in which the value is computed.
func (a *analysis) outlives(local string, at *block) bool {
	d := a.defBlock[local]
	if d == nil {
		return false
	}
	for l := a.forest.of[d]; l != nil && !l.blocks[at]; l = l.parent {
		if a.leaving[l] {
			return true
		}
	}
	return false
}

// part records that lanes part at n, and follows the ways they take.
func (a *analysis) part(n *node) {
	a.parting[n] = true
	for _, m := range a.follow(n) {
		if m.exit != nil && !a.leaving[m.exit] {
			a.leave(m.exit)
		}
	}
}

// leave records that lanes leave loop l at different times.
func (a *analysis) leave(l *loop) {
	a.leaving[l] = true
	for b := range l.blocks {
		for _, s := range b.succs {
			if !l.blocks[s] {
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
func (a *analysis) follow(n *node) []*node {
	way := map[*node]*node{}
	reach := func(m, by *node) {
		if w, ok := way[m]; ok && w != by {
			way[m] = m
			switch {
			case m.block != nil:
				a.mixed[m.block] = true
			case m.latch != nil:
				a.mixed[m.latch.header] = true
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
	var between []*node
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
func (a *analysis) mask() {
	for _, n := range a.graph.nodes {
		if !a.parting[n] {
			continue
		}
		for _, m := range a.follow(n) {
			if m.block != nil {
				a.masked[m.block] = true
			}
		}
	}
	for l := range a.leaving {
		for b := range l.blocks {
			a.masked[b] = true
		}
	}
}

// meeting returns the node where all lanes that are in masked block b at some
// time are together again: an unmasked block, the end of an iteration of an
// unmasked loop, or the end.
func (a *analysis) meeting(b *block) *node {
	n := a.graph.of[b].up
	for n != a.graph.end {
		switch {
		case n.block != nil && !a.masked[n.block]:
			return n
		case n.latch != nil && !a.masked[n.latch.header]:
			return n
		}
		n = n.up
	}
	return n
}
