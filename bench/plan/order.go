package plan

import "math/rand/v2"

// Sequence is the order of n arms, as indices, in a block counted from 1. It
// depends on nothing else, so that a plan can be repeated.
func Sequence(order string, seed uint64, block, n int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = i
	}
	switch {
	case order == OrderRandom:
		r := rand.New(rand.NewPCG(seed, uint64(block)))
		r.Shuffle(n, func(i, j int) { s[i], s[j] = s[j], s[i] })
	case block%2 == 0:
		for i := range s {
			s[i] = n - 1 - i
		}
	}
	return s
}
