package analysis

import (
	"sort"

	"github.com/introgen/introgen/metalshim/soft/lanes/ir"
)

// bitset is a set of small numbers.
type bitset []uint64

func (b bitset) Has(i int) bool { return b[i>>6]>>(i&63)&1 != 0 }
func (b bitset) add(i int)      { b[i>>6] |= 1 << (i & 63) }
func (b bitset) drop(i int)     { b[i>>6] &^= 1 << (i & 63) }

// Liveness says which results are used after the start of each block. Values
// that a phi takes count as used at the end of the predecessor.
type Liveness struct {
	Names []string
	Num   map[string]int
	Type  map[string]*ir.Type
	In    map[*ir.Block]bitset
}

// FindLiveness looks at results only: parameters and the addresses of
// private variables are there everywhere.
func FindLiveness(blocks []*ir.Block) *Liveness {
	lv := &Liveness{Num: map[string]int{}, Type: map[string]*ir.Type{}, In: map[*ir.Block]bitset{}}
	byName := map[string]*ir.Block{}
	for _, b := range blocks {
		byName[b.Name] = b
		for _, in := range b.Insts {
			if in.Res != "" && in.Op != "alloca" {
				lv.Num[in.Res] = len(lv.Names)
				lv.Names = append(lv.Names, in.Res)
				lv.Type[in.Res] = in.Type
			}
		}
	}
	words := (len(lv.Names) + 63) / 64
	phiOut := map[*ir.Block]bitset{}
	for _, b := range blocks {
		lv.In[b] = make(bitset, words)
		phiOut[b] = make(bitset, words)
	}
	for _, b := range blocks {
		for _, in := range b.Insts {
			if in.Op != "phi" {
				break
			}
			for k, a := range in.Args {
				if i, ok := lv.Num[a.Local]; ok {
					phiOut[byName[in.Labels[k].Name]].add(i)
				}
			}
		}
	}
	for changed := true; changed; {
		changed = false
		for i := len(blocks) - 1; i >= 0; i-- {
			b := blocks[i]
			s := append(bitset(nil), phiOut[b]...)
			for _, q := range b.Succs {
				for w, v := range lv.In[q] {
					s[w] |= v
				}
			}
			lv.through(b, s)
			for w, v := range s {
				if v != lv.In[b][w] {
					lv.In[b] = s
					changed = true
					break
				}
			}
		}
	}
	return lv
}

// through turns the set live at the end of b into the set live at its start.
func (lv *Liveness) through(b *ir.Block, s bitset) {
	for i := len(b.Insts) - 1; i >= 0; i-- {
		in := b.Insts[i]
		if k, ok := lv.Num[in.Res]; ok {
			s.drop(k)
		}
		if in.Op == "phi" {
			continue
		}
		for _, a := range in.Args {
			if k, ok := lv.Num[a.Local]; ok {
				s.add(k)
			}
		}
	}
}

// at returns the names live at the start of b, in order of definition.
func (lv *Liveness) at(b *ir.Block) []string {
	var out []string
	for i, n := range lv.Names {
		if lv.In[b].Has(i) {
			out = append(out, n)
		}
	}
	return out
}

// Crossing fills each cut's live list and returns, sorted, all values that are
// live across some cut, results of the cutting operations among them.
func (lv *Liveness) Crossing(cuts []*ir.Cut) []string {
	all := map[string]bool{}
	for _, c := range cuts {
		for _, n := range lv.at(c.Cont) {
			all[n] = true
			if c.In == nil || n != c.In.Res {
				c.Live = append(c.Live, n)
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
