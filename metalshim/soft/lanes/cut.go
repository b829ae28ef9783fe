package lanes

import (
	"fmt"
	"sort"
)

// cut is a point where the function is divided: lanes stop there, the
// operation is done for all that stopped, and they go on at cont.
type cut struct {
	id   int    // resume point, from 1; lower ids are earlier in the program
	op   string // of syncOps, or joinOp
	in   *inst  // nil for a join
	at   *block // ends in the cut
	cont *block
	live []string // what is used after it, sorted; the operation's result not included
	loop *loop    // of a join
}

// maxCuts keeps resume points below the two codes that a kernel returns.
const maxCuts = 65000

// cutAt divides blocks at the cross-lane operations that want accepts. With
// joins, a point where lanes meet is put at the head of every loop that holds
// one, so that lanes which are an iteration ahead wait for the others.
func (f *function) cutAt(want func(op string) bool, joins bool) ([]*cut, error) {
	joinAt := map[*block]bool{}
	if joins {
		lf, err := findLoops(f.blocks, dominators(f.blocks))
		if err != nil {
			return nil, err
		}
		for _, l := range lf.loops {
			for b := range l.blocks {
				if b.wants(want) {
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
	return cuts, f.number(cuts)
}

func (b *block) wants(want func(string) bool) bool {
	for _, in := range b.insts {
		if s := syncOf(in); s != "" && want(s) {
			return true
		}
	}
	return false
}

// number sorts the cuts by place in the program and numbers them. A join comes
// after everything in its loop.
func (f *function) number(cuts []*cut) error {
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
		return end[c.loop], -c.loop.depth
	}
	for _, c := range cuts {
		if c.op == joinOp {
			c.loop = lf.of[c.at]
			if c.loop == nil {
				return fmt.Errorf("block %s: join outside a loop", c.at.name)
			}
		}
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
