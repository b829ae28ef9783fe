package lanes

import (
	"fmt"
	"slices"
	"sort"
)

// maxCuts keeps resume points below the two codes that a kernel returns.
const maxCuts = 65000

// cutAt divides blocks at the cross-lane operations that want accepts. With
// joins, a point where lanes meet is put at the head of every loop that holds
// one, so that lanes which are an iteration ahead wait for the others.
func cutAt(f *function, want func(op string) bool, joins bool) ([]*cut, error) {
	joinAt := map[*block]bool{}
	if joins {
		lf, err := findLoops(f.blocks, dominators(f.blocks))
		if err != nil {
			return nil, err
		}
		for _, l := range lf.loops {
			for b := range l.blocks {
				if wants(b, want) {
					joinAt[l.header] = true
					break
				}
			}
		}
	}
	var cuts []*cut
	var blocks []*block
	last := map[string]string{} // block → the part that holds its terminator
	for _, b := range f.blocks {
		insts := b.insts
		b.insts = nil
		cur := b
		blocks = append(blocks, b)
		divide := func(c *cut) {
			c.at = cur
			cur.cut = c
			cur = &block{name: normalise(fmt.Sprintf("s%d.", len(cuts)), b.name)}
			f.byName[cur.name] = cur
			blocks = append(blocks, cur)
			c.cont = cur
			cuts = append(cuts, c)
		}
		for _, in := range insts {
			if joinAt[b] && in.op != "phi" {
				joinAt[b] = false
				divide(&cut{op: joinOp})
			}
			cur.insts = append(cur.insts, in)
			if s := syncOf(in); s != "" && want(s) {
				divide(&cut{op: s, in: in})
			}
		}
		last[b.name] = cur.name
	}
	if len(cuts) > maxCuts {
		return nil, fmt.Errorf("%d cross-lane operations, at most %d", len(cuts), maxCuts)
	}
	f.blocks = blocks
	for i, b := range blocks {
		b.index = i
		for _, in := range b.insts {
			if in.op == "phi" {
				labels := append([]label(nil), in.labels...)
				for k := range labels {
					labels[k].name = last[labels[k].name]
				}
				in.setIncoming(append([]operand(nil), in.args...), labels)
			}
		}
	}
	if err := f.link(); err != nil {
		return nil, err
	}
	return cuts, number(f, cuts)
}

func wants(b *block, want func(string) bool) bool {
	return slices.ContainsFunc(b.insts, func(in *inst) bool { s := syncOf(in); return s != "" && want(s) })
}

// number sorts the cuts by place in the program and numbers them. A join comes
// after everything in its loop.
func number(f *function, cuts []*cut) error {
	lf, err := findLoops(f.blocks, dominators(f.blocks))
	if err != nil {
		return err
	}
	pos := map[*block]int{}
	end := map[*loop]int{}
	for i, b := range lf.order(f.blocks) {
		pos[b] = i
		for l := lf.of[b]; l != nil; l = l.parent {
			end[l] = i
		}
	}
	key := func(c *cut) (int, int) {
		if c.op != joinOp {
			return pos[c.at], -1 << 30
		}
		l := lf.of[c.at] // a join stands at the head of a loop
		return end[l], -l.depth
	}
	sort.SliceStable(cuts, func(i, j int) bool {
		ai, bi := key(cuts[i])
		aj, bj := key(cuts[j])
		return ai < aj || ai == aj && bi < bj
	})
	for i, c := range cuts {
		c.id = i + 1
	}
	return nil
}
