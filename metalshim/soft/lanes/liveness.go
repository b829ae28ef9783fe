package lanes

import "sort"

// bitset is a set of small numbers.
type bitset []uint64

func (b bitset) has(i int) bool { return b[i>>6]>>(i&63)&1 != 0 }
func (b bitset) add(i int)      { b[i>>6] |= 1 << (i & 63) }
func (b bitset) drop(i int)     { b[i>>6] &^= 1 << (i & 63) }

// liveness says which results are used after the start of each block. Values
// that a phi takes count as used at the end of the predecessor.
type liveness struct {
	names []string
	num   map[string]int
	typ   map[string]*typ
	in    map[*block]bitset
}

// computeLiveness looks at results only: parameters and the addresses of
// private variables are there everywhere.
func computeLiveness(blocks []*block) *liveness {
	lv := &liveness{num: map[string]int{}, typ: map[string]*typ{}, in: map[*block]bitset{}}
	byName := map[string]*block{}
	for _, b := range blocks {
		byName[b.name] = b
		for _, in := range b.insts {
			if in.res != "" && in.op != "alloca" {
				lv.num[in.res] = len(lv.names)
				lv.names = append(lv.names, in.res)
				lv.typ[in.res] = in.typ
			}
		}
	}
	words := (len(lv.names) + 63) / 64
	phiOut := map[*block]bitset{}
	for _, b := range blocks {
		lv.in[b] = make(bitset, words)
		phiOut[b] = make(bitset, words)
	}
	for _, b := range blocks {
		for _, in := range b.insts {
			if in.op != "phi" {
				break
			}
			for k, a := range in.args {
				if i, ok := lv.num[a.local]; ok {
					phiOut[byName[in.labels[k].name]].add(i)
				}
			}
		}
	}
	for changed := true; changed; {
		changed = false
		for i := len(blocks) - 1; i >= 0; i-- {
			b := blocks[i]
			s := append(bitset(nil), phiOut[b]...)
			for _, q := range b.succs {
				for w, v := range lv.in[q] {
					s[w] |= v
				}
			}
			lv.through(b, s)
			for w, v := range s {
				if v != lv.in[b][w] {
					lv.in[b] = s
					changed = true
					break
				}
			}
		}
	}
	return lv
}

// through turns the set live at the end of b into the set live at its start.
func (lv *liveness) through(b *block, s bitset) {
	for i := len(b.insts) - 1; i >= 0; i-- {
		in := b.insts[i]
		if k, ok := lv.num[in.res]; ok {
			s.drop(k)
		}
		if in.op == "phi" {
			continue
		}
		for _, a := range in.args {
			if k, ok := lv.num[a.local]; ok {
				s.add(k)
			}
		}
	}
}

// at returns the names live at the start of b, in order of definition.
func (lv *liveness) at(b *block) []string {
	var out []string
	for i, n := range lv.names {
		if lv.in[b].has(i) {
			out = append(out, n)
		}
	}
	return out
}

// crossing fills each cut's live list and returns, sorted, all values that are
// live across some cut, results of the cutting operations among them.
func (lv *liveness) crossing(cuts []*cut) []string {
	all := map[string]bool{}
	for _, c := range cuts {
		for _, n := range lv.at(c.cont) {
			all[n] = true
			if c.in == nil || n != c.in.res {
				c.live = append(c.live, n)
			}
		}
	}
	out := make([]string, 0, len(all))
	for n := range all {
		out = append(out, n)
	}
	sort.Strings(out)
	return out
}
