package analysis

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/introgen/introgen/metalshim/soft/lanes/ir"
)

// Loop is a natural loop; loops with one header are one.
type Loop struct {
	Header *ir.Block
	Blocks map[*ir.Block]bool
	Parent *Loop
	depth  int // 1 for an outermost loop
}

// LoopForest finds the loops of a reducible graph.
type LoopForest struct {
	loops []*Loop // outer before inner
	Of    map[*ir.Block]*Loop
}

// FindLoops finds the loops; a graph that is not reducible is an error.
func FindLoops(blocks []*ir.Block, dom *ir.DomTree) (*LoopForest, error) {
	rpo := ir.ReversePostorder(blocks[0], ir.Successors)
	num := map[*ir.Block]int{}
	for i, b := range rpo {
		num[b] = i
	}
	byHeader := map[*ir.Block]*Loop{}
	lf := &LoopForest{Of: map[*ir.Block]*Loop{}}
	for _, b := range rpo {
		for _, h := range b.Succs {
			if num[h] > num[b] {
				continue
			}
			if !dom.Dominates(h, b) {
				return nil, fmt.Errorf("block %s: jump to %s makes the control flow irreducible", b.Name[2:], h.Name[2:])
			}
			l := byHeader[h]
			if l == nil {
				l = &Loop{Header: h, Blocks: map[*ir.Block]bool{h: true}}
				byHeader[h] = l
				lf.loops = append(lf.loops, l)
			}
			work := []*ir.Block{b}
			for len(work) > 0 {
				c := work[len(work)-1]
				work = work[:len(work)-1]
				if !l.Blocks[c] {
					l.Blocks[c] = true
					work = append(work, c.Preds...)
				}
			}
		}
	}
	slices.SortStableFunc(lf.loops, func(a, b *Loop) int {
		return cmp.Or(len(b.Blocks)-len(a.Blocks), num[a.Header]-num[b.Header])
	})
	for _, l := range lf.loops {
		l.Parent = lf.Of[l.Header]
		l.depth = 1
		if l.Parent != nil {
			l.depth = l.Parent.depth + 1
		}
		for b := range l.Blocks {
			lf.Of[b] = l
		}
	}
	return lf, nil
}

// contains says whether b is in l; every block is in the nil loop.
func (l *Loop) contains(b *ir.Block) bool { return l == nil || l.Blocks[b] }

// Order lists the blocks so that every edge but a back edge leads forward and
// the blocks of each loop stand together: lanes that wait for the earliest of
// them to catch up meet again where their paths join.
func (lf *LoopForest) Order(blocks []*ir.Block) []*ir.Block {
	var out []*ir.Block
	var level func(l *Loop, entry *ir.Block)
	level = func(l *Loop, entry *ir.Block) {
		// rep is the block itself, or the header of the loop one level in.
		rep := func(b *ir.Block) *ir.Block {
			i := lf.Of[b]
			if i == l {
				return b
			}
			for i.Parent != l {
				i = i.Parent
			}
			return i.Header
		}
		members := map[*ir.Block][]*ir.Block{} // of inner loops, by header
		if l != nil || len(lf.loops) > 0 {
			for _, b := range blocks {
				if l.contains(b) {
					members[rep(b)] = append(members[rep(b)], b)
				}
			}
		}
		next := func(b *ir.Block) []*ir.Block {
			from := members[b]
			if len(from) == 0 {
				from = []*ir.Block{b}
			}
			var s []*ir.Block
			for _, c := range from {
				for _, d := range c.Succs {
					if l.contains(d) && (l == nil || d != l.Header) {
						if r := rep(d); r != b {
							s = append(s, r)
						}
					}
				}
			}
			return s
		}
		for _, b := range ir.ReversePostorder(entry, next) {
			if i := lf.Of[b]; i != l {
				for i.Parent != l {
					i = i.Parent
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
