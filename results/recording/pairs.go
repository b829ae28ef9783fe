package recording

import "slices"

// Pairs are the runs of two arms of a plan, block by block in order, where both
// have a run that counts: what was measured next to each other. A block's last
// run that counts is taken.
func (f *File) Pairs(a, b string) (as, bs []*Run) {
	of := func(arm string) map[int]*Run {
		by := map[int]*Run{}
		for _, r := range f.Counted(arm) {
			if r.Start != nil {
				by[r.Start.Block] = r
			}
		}
		return by
	}
	left, right := of(a), of(b)
	var blocks []int
	for n := range left {
		if right[n] != nil {
			blocks = append(blocks, n)
		}
	}
	slices.Sort(blocks)
	for _, n := range blocks {
		as, bs = append(as, left[n]), append(bs, right[n])
	}
	return as, bs
}
