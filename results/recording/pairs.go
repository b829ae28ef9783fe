package recording

import (
	"maps"
	"slices"
)

// Pairs are the runs of two arms of a plan, block by block in order, where both
// have a run that counts: what was measured next to each other.
func (f *File) Pairs(a, b string) (as, bs []*Run) {
	return Paired(f.Counted(a), f.Counted(b), (*Run).Block)
}

// Block is the run's block in its plan; 0 outside of one.
func (r *Run) Block() int {
	if r.Start == nil {
		return 0
	}
	return r.Start.Block
}

// Paired are of what two arms have the parts that are of one block, in the order of
// the blocks. Of several of one block the last is taken: a run that is made again
// takes the place of the one before.
func Paired[T any](as, bs []T, block func(T) int) (pa, pb []T) {
	left, right := LastOfBlocks(as, block), LastOfBlocks(bs, block)
	for _, n := range slices.Sorted(maps.Keys(left)) {
		if b, ok := right[n]; ok {
			pa, pb = append(pa, left[n]), append(pb, b)
		}
	}
	return pa, pb
}

// PairValues are the figures of things that are paired, where both have one.
func PairValues[T any](as, bs []T, of func(T) (float64, bool)) (va, vb []float64) {
	for i := range as {
		a, ok := of(as[i])
		if b, also := of(bs[i]); ok && also {
			va, vb = append(va, a), append(vb, b)
		}
	}
	return va, vb
}

// LastOfBlocks are the last of each block; what is of none is left out.
func LastOfBlocks[T any](all []T, block func(T) int) map[int]T {
	out := map[int]T{}
	for _, x := range all {
		if n := block(x); n > 0 {
			out[n] = x
		}
	}
	return out
}
