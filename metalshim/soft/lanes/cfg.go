package lanes

import (
	"fmt"
	"slices"
	"sort"
)

// reversePostorder lists what is reachable from root along next.
func reversePostorder[T comparable](root T, next func(T) []T) []T {
	type frame struct {
		at T
		i  int
	}
	seen := map[T]bool{root: true}
	stack := []frame{{root, 0}}
	var post []T
	for len(stack) > 0 {
		t := &stack[len(stack)-1]
		if s := next(t.at); t.i < len(s) {
			c := s[t.i]
			t.i++
			if !seen[c] {
				seen[c] = true
				stack = append(stack, frame{c, 0})
			}
			continue
		}
		post = append(post, t.at)
		stack = stack[:len(stack)-1]
	}
	slices.Reverse(post)
	return post
}

// domTree is a dominator tree over blocks: each stands in the numbers from its in
// to its out, and so does all that it dominates.
type domTree struct{ in, out map[*block]int }

// successors are the blocks that control may go to from b.
func successors(b *block) []*block { return b.succs }

// dominators computes the dominator tree of blocks, of which the first is the
// entry (Cooper, Harvey, Kennedy: A Simple, Fast Dominance Algorithm).
func dominators(blocks []*block) *domTree {
	rpo := reversePostorder(blocks[0], successors)
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
			for _, p := range rpo[i].preds {
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
	t := &domTree{in: map[*block]int{}, out: map[*block]int{}}
	// A dominator comes before what it dominates in rpo.
	size := make([]int, len(rpo))
	for i := len(rpo) - 1; i >= 0; i-- {
		size[i]++
		if i > 0 {
			size[idom[i]] += size[i]
		}
	}
	next := make([]int, len(rpo)) // where the next child of a block begins
	for i, b := range rpo {
		t.in[b] = next[idom[i]]
		next[idom[i]] += size[i]
		next[i] = t.in[b] + 1 // the entry is its own dominator
		t.out[b] = t.in[b] + size[i] - 1
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
	rpo := reversePostorder(blocks[0], successors)
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
