package ir

import "slices"

// ReversePostorder lists what is reachable from root along next.
func ReversePostorder[T comparable](root T, next func(T) []T) []T {
	type frame struct {
		at T
		i  int
	}
	seen := map[T]bool{root: true}
	stack := []frame{{root, 0}}
	var post []T
	for len(stack) > 0 {
		t := &stack[len(stack)-1]
		if s := next(t.at); t.i < len(s) {
			c := s[t.i]
			t.i++
			if !seen[c] {
				seen[c] = true
				stack = append(stack, frame{c, 0})
			}
			continue
		}
		post = append(post, t.at)
		stack = stack[:len(stack)-1]
	}
	slices.Reverse(post)
	return post
}

// DomTree is a dominator tree over blocks: each stands in the numbers from its in
// to its out, and so does all that it dominates.
type DomTree struct{ in, out map[*Block]int }

// Successors are the blocks that control may go to from b.
func Successors(b *Block) []*Block { return b.Succs }

// Dominators computes the dominator tree of blocks, of which the first is the
// entry (Cooper, Harvey, Kennedy: A Simple, Fast Dominance Algorithm).
func Dominators(blocks []*Block) *DomTree {
	rpo := ReversePostorder(blocks[0], Successors)
	num := map[*Block]int{}
	for i, b := range rpo {
		num[b] = i
	}
	idom := make([]int, len(rpo))
	for i := range idom {
		idom[i] = -1
	}
	idom[0] = 0
	for changed := true; changed; {
		changed = false
		for i := 1; i < len(rpo); i++ {
			n := -1
			for _, p := range rpo[i].Preds {
				j, ok := num[p]
				if !ok || idom[j] < 0 {
					continue
				}
				for a := j; n >= 0 && a != n; {
					for a > n {
						a = idom[a]
					}
					for n > a {
						n = idom[n]
					}
				}
				if n < 0 {
					n = j
				}
			}
			if n != idom[i] {
				idom[i] = n
				changed = true
			}
		}
	}
	t := &DomTree{in: map[*Block]int{}, out: map[*Block]int{}}
	// A dominator comes before what it dominates in rpo.
	size := make([]int, len(rpo))
	for i := len(rpo) - 1; i >= 0; i-- {
		size[i]++
		if i > 0 {
			size[idom[i]] += size[i]
		}
	}
	next := make([]int, len(rpo)) // where the next child of a block begins
	for i, b := range rpo {
		t.in[b] = next[idom[i]]
		next[idom[i]] += size[i]
		next[i] = t.in[b] + 1 // the entry is its own dominator
		t.out[b] = t.in[b] + size[i] - 1
	}
	return t
}

// Dominates says whether a is b or above it in the tree.
func (t *DomTree) Dominates(a, b *Block) bool {
	ia, oka := t.in[a]
	ib, okb := t.in[b]
	return oka && okb && ia <= ib && t.out[b] <= t.out[a]
}
