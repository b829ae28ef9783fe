package analysis

import (
	"maps"
	"math/big"
	"slices"

	"github.com/introgen/introgen/metalshim/soft/lanes/ir"
)

// Liveness says which results are used after the start of each block. Values
// that a phi takes count as used at the end of the predecessor.
type Liveness struct {
	Names []string // of all results, in order of definition
	Type  map[string]*ir.Type
	num   map[string]int // in Names
	in    map[*ir.Block]*big.Int
}

// FindLiveness looks at results only: parameters and the addresses of
// private variables are there everywhere.
func FindLiveness(f *ir.Function) *Liveness {
	lv := &Liveness{Type: map[string]*ir.Type{}, num: map[string]int{}, in: map[*ir.Block]*big.Int{}}
	for _, in := range f.All() {
		if in.Res != "" && in.Op != "alloca" {
			lv.num[in.Res] = len(lv.Names)
			lv.Names = append(lv.Names, in.Res)
			lv.Type[in.Res] = in.Type
		}
	}
	phiOut := map[*ir.Block]*big.Int{}
	for _, b := range f.Blocks {
		lv.in[b], phiOut[b] = new(big.Int), new(big.Int)
	}
	for _, b := range f.Blocks {
		for _, in := range b.Phis() {
			for k, a := range in.Args {
				lv.mark(phiOut[f.ByName[in.Labels[k].Name]], a.Local, 1)
			}
		}
	}
	for changed := true; changed; {
		changed = false
		for _, b := range slices.Backward(f.Blocks) {
			s := new(big.Int).Set(phiOut[b])
			for _, q := range b.Succs {
				s.Or(s, lv.in[q])
			}
			lv.through(b, s)
			changed = changed || s.Cmp(lv.in[b]) != 0
			lv.in[b] = s
		}
	}
	return lv
}

// mark puts a result into a set, or takes it out.
func (lv *Liveness) mark(s *big.Int, local string, in uint) {
	if k, ok := lv.num[local]; ok {
		s.SetBit(s, k, in)
	}
}

// through turns the set live at the end of b into the set live at its start.
func (lv *Liveness) through(b *ir.Block, s *big.Int) {
	for _, in := range slices.Backward(b.Insts) {
		lv.mark(s, in.Res, 0)
		if in.Op == "phi" {
			continue
		}
		for _, a := range in.Args {
			lv.mark(s, a.Local, 1)
		}
	}
}

// At says whether a result is live at the start of b.
func (lv *Liveness) At(b *ir.Block, local string) bool {
	k, ok := lv.num[local]
	return ok && lv.in[b].Bit(k) != 0
}

// Crossing fills each cut's live list, in order of definition, and returns,
// sorted, all values that are live across some cut, results of the cutting
// operations among them.
func (lv *Liveness) Crossing(cuts []*ir.Cut) []string {
	all := map[string]bool{}
	for _, c := range cuts {
		for _, n := range lv.Names {
			if !lv.At(c.Cont, n) {
				continue
			}
			all[n] = true
			if c.In == nil || n != c.In.Res {
				c.Live = append(c.Live, n)
			}
		}
	}
	return slices.Sorted(maps.Keys(all))
}
