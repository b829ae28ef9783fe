package analysis

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/introgen/introgen/metalshim/soft/lanes/ir"
)

// maxCuts keeps resume points below the two codes that a kernel returns.
const maxCuts = 65000

// CutAt divides blocks at the cross-lane operations that want accepts. With
// joins, a point where lanes meet is put at the head of every loop that holds
// one, so that lanes which are an iteration ahead wait for the others.
func CutAt(f *ir.Function, want func(op string) bool, joins bool) ([]*ir.Cut, error) {
	joinAt := map[*ir.Block]bool{}
	if joins {
		lf, err := FindLoops(f.Blocks, ir.Dominators(f.Blocks))
		if err != nil {
			return nil, err
		}
		for _, l := range lf.loops {
			for b := range l.Blocks {
				if wants(b, want) {
					joinAt[l.Header] = true
					break
				}
			}
		}
	}
	var cuts []*ir.Cut
	var blocks []*ir.Block
	last := map[string]string{} // block → the part that holds its terminator
	for _, b := range f.Blocks {
		insts := b.Insts
		b.Insts = nil
		cur := b
		blocks = append(blocks, b)
		divide := func(c *ir.Cut) {
			c.At = cur
			cur.Cut = c
			cur = &ir.Block{Name: ir.Normalise(fmt.Sprintf("s%d.", len(cuts)), b.Name)}
			f.ByName[cur.Name] = cur
			blocks = append(blocks, cur)
			c.Cont = cur
			cuts = append(cuts, c)
		}
		for _, in := range insts {
			if joinAt[b] && in.Op != "phi" {
				joinAt[b] = false
				divide(&ir.Cut{Op: ir.JoinOp})
			}
			cur.Insts = append(cur.Insts, in)
			if s := ir.CrossLane(in); s != "" && want(s) {
				divide(&ir.Cut{Op: s, In: in})
			}
		}
		last[b.Name] = cur.Name
	}
	if len(cuts) > maxCuts {
		return nil, fmt.Errorf("%d cross-lane operations, at most %d", len(cuts), maxCuts)
	}
	f.Blocks = blocks
	for i, b := range blocks {
		b.Index = i
		for _, in := range b.Insts {
			if in.Op == "phi" {
				labels := append([]ir.Label(nil), in.Labels...)
				for k := range labels {
					labels[k].Name = last[labels[k].Name]
				}
				in.SetIncoming(append([]ir.Operand(nil), in.Args...), labels)
			}
		}
	}
	if err := f.Link(); err != nil {
		return nil, err
	}
	return cuts, number(f, cuts)
}

func wants(b *ir.Block, want func(string) bool) bool {
	return slices.ContainsFunc(b.Insts, func(in *ir.Inst) bool { s := ir.CrossLane(in); return s != "" && want(s) })
}

// number sorts the cuts by place in the program and numbers them. A join comes
// after everything in its loop.
func number(f *ir.Function, cuts []*ir.Cut) error {
	lf, err := FindLoops(f.Blocks, ir.Dominators(f.Blocks))
	if err != nil {
		return err
	}
	pos := map[*ir.Block]int{}
	end := map[*Loop]int{}
	for i, b := range lf.Order(f.Blocks) {
		pos[b] = i
		for l := lf.Of[b]; l != nil; l = l.Parent {
			end[l] = i
		}
	}
	key := func(c *ir.Cut) (int, int) {
		if c.Op != ir.JoinOp {
			return pos[c.At], -1 << 30
		}
		l := lf.Of[c.At] // a join stands at the head of a loop
		return end[l], -l.depth
	}
	slices.SortStableFunc(cuts, func(c, d *ir.Cut) int {
		ac, bc := key(c)
		ad, bd := key(d)
		return cmp.Or(ac-ad, bc-bd)
	})
	for i, c := range cuts {
		c.ID = i + 1
	}
	return nil
}
