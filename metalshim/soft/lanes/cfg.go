package lanes

import (
	"fmt"
	"sort"
)

// reversePostorder lists the blocks reachable from root along next.
func reversePostorder(root *block, next func(*block) []*block) []*block {
	type frame struct {
		b *block
		i int
	}
	seen := map[*block]bool{root: true}
	stack := []frame{{root, 0}}
	var post []*block
	for len(stack) > 0 {
		t := &stack[len(stack)-1]
		if s := next(t.b); t.i < len(s) {
			c := s[t.i]
			t.i++
			if !seen[c] {
				seen[c] = true
				stack = append(stack, frame{c, 0})
			}
			continue
		}
		post = append(post, t.b)
		stack = stack[:len(stack)-1]
	}
	for i, j := 0, len(post)-1; i < j; i, j = i+1, j-1 {
		post[i], post[j] = post[j], post[i]
	}
	return post
}

// domTree is a dominator (or postdominator) tree over blocks. in and out are
// the times at which a walk of the tree enters and leaves each block.
type domTree struct {
	idom    map[*block]*block
	in, out map[*block]int
}

// dominators computes the dominator tree of blocks, of which the first is the
// entry (Cooper, Harvey, Kennedy: A Simple, Fast Dominance Algorithm).
func dominators(blocks []*block) *domTree {
	return domTreeOf(blocks[0], func(b *block) []*block { return b.succs }, func(b *block) []*block { return b.preds })
}

func domTreeOf(root *block, next, prev func(*block) []*block) *domTree {
	rpo := reversePostorder(root, next)
	num := map[*block]int{}
	for i, b := range rpo {
		num[b] = i
	}
	idom := make([]int, len(rpo))
	for i := range idom {
		idom[i] = -1
	}
	idom[0] = 0
	for changed := true; changed; {
		changed = false
		for i := 1; i < len(rpo); i++ {
			n := -1
			for _, p := range prev(rpo[i]) {
				j, ok := num[p]
				if !ok || idom[j] < 0 {
					continue
				}
				for a := j; n >= 0 && a != n; {
					for a > n {
						a = idom[a]
					}
					for n > a {
						n = idom[n]
					}
				}
				if n < 0 {
					n = j
				}
			}
			if n != idom[i] {
				idom[i] = n
				changed = true
			}
		}
	}
	t := &domTree{idom: map[*block]*block{}, in: map[*block]int{}, out: map[*block]int{}}
	kids := make([][]int, len(rpo))
	for i := 1; i < len(rpo); i++ {
		t.idom[rpo[i]] = rpo[idom[i]]
		kids[idom[i]] = append(kids[idom[i]], i)
	}
	clock := 0
	type frame struct{ b, i int }
	stack := []frame{{0, 0}}
	t.in[root] = 0
	for len(stack) > 0 {
		f := &stack[len(stack)-1]
		if f.i < len(kids[f.b]) {
			k := kids[f.b][f.i]
			f.i++
			clock++
			t.in[rpo[k]] = clock
			stack = append(stack, frame{k, 0})
			continue
		}
		clock++
		t.out[rpo[f.b]] = clock
		stack = stack[:len(stack)-1]
	}
	return t
}

// dominates says whether a is b or above it in the tree.
func (t *domTree) dominates(a, b *block) bool {
	ia, oka := t.in[a]
	ib, okb := t.in[b]
	return oka && okb && ia <= ib && t.out[b] <= t.out[a]
}

// loop is a natural loop; loops with one header are one.
type loop struct {
	header *block
	blocks map[*block]bool
	parent *loop
	depth  int // 1 for an outermost loop
}

// loopForest finds the loops of a reducible graph.
type loopForest struct {
	loops []*loop // outer before inner
	of    map[*block]*loop
}

func findLoops(blocks []*block, dom *domTree) (*loopForest, error) {
	rpo := reversePostorder(blocks[0], func(b *block) []*block { return b.succs })
	num := map[*block]int{}
	for i, b := range rpo {
		num[b] = i
	}
	byHeader := map[*block]*loop{}
	lf := &loopForest{of: map[*block]*loop{}}
	for _, b := range rpo {
		for _, h := range b.succs {
			if num[h] > num[b] {
				continue
			}
			if !dom.dominates(h, b) {
				return nil, fmt.Errorf("block %s: jump to %s makes the control flow irreducible", b.name[2:], h.name[2:])
			}
			l := byHeader[h]
			if l == nil {
				l = &loop{header: h, blocks: map[*block]bool{h: true}}
				byHeader[h] = l
				lf.loops = append(lf.loops, l)
			}
			work := []*block{b}
			for len(work) > 0 {
				c := work[len(work)-1]
				work = work[:len(work)-1]
				if !l.blocks[c] {
					l.blocks[c] = true
					work = append(work, c.preds...)
				}
			}
		}
	}
	sort.SliceStable(lf.loops, func(i, j int) bool {
		a, b := lf.loops[i], lf.loops[j]
		if len(a.blocks) != len(b.blocks) {
			return len(a.blocks) > len(b.blocks)
		}
		return num[a.header] < num[b.header]
	})
	for _, l := range lf.loops {
		l.parent = lf.of[l.header]
		l.depth = 1
		if l.parent != nil {
			l.depth = l.parent.depth + 1
		}
		for b := range l.blocks {
			lf.of[b] = l
		}
	}
	return lf, nil
}

// contains says whether b is in l; every block is in the nil loop.
func (l *loop) contains(b *block) bool { return l == nil || l.blocks[b] }

// order lists the blocks so that every edge but a back edge leads forward and
// the blocks of each loop stand together: lanes that wait for the earliest of
// them to catch up meet again where their paths join.
func (lf *loopForest) order(blocks []*block) []*block {
	var out []*block
	var level func(l *loop, entry *block)
	level = func(l *loop, entry *block) {
		// rep is the block itself, or the header of the loop one level in.
		rep := func(b *block) *block {
			i := lf.of[b]
			if i == l {
				return b
			}
			for i.parent != l {
				i = i.parent
			}
			return i.header
		}
		members := map[*block][]*block{} // of inner loops, by header
		if l != nil || len(lf.loops) > 0 {
			for _, b := range blocks {
				if l.contains(b) {
					members[rep(b)] = append(members[rep(b)], b)
				}
			}
		}
		next := func(b *block) []*block {
			from := members[b]
			if len(from) == 0 {
				from = []*block{b}
			}
			var s []*block
			for _, c := range from {
				for _, d := range c.succs {
					if l.contains(d) && (l == nil || d != l.header) {
						if r := rep(d); r != b {
							s = append(s, r)
						}
					}
				}
			}
			return s
		}
		for _, b := range reversePostorder(entry, next) {
			if i := lf.of[b]; i != l {
				for i.parent != l {
					i = i.parent
				}
				level(i, b)
				continue
			}
			out = append(out, b)
		}
	}
	level(nil, blocks[0])
	return out
}
