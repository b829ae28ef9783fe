package plan

import (
	"math/rand/v2"
	"slices"
)

// Sequence is the order of n arms, as indices, in a block counted from 1. It
// depends on nothing else, so that a plan can be repeated.
func Sequence(order string, seed uint64, block, n int) []int {
	if order == OrderRandom {
		return rand.New(rand.NewPCG(seed, uint64(block))).Perm(n)
	}
	s := make([]int, n)
	for i := range s {
		s[i] = i
	}
	if block%2 == 0 {
		slices.Reverse(s)
	}
	return s
}
