package soft

import "slices"

// Operations across lanes that every GPU of Apple's has, and those that came
// with Apple6; the others, reductions and matrices, came with Apple7 (Apple,
// Metal Feature Set Tables, "SIMD-scoped … operations").
var (
	everywhere = []string{"tgbar", "sgbar"}
	withApple6 = []string{"sh", "shl", "bc", "bcl", "first", "firstl", "ballot", "active"}
)

// familyOf is the first of Apple's GPU families that can run a kernel, as far
// as its operations across lanes tell: 7, 6, or 0 for all of them.
func familyOf(operations []string) int {
	family := 0
	for _, o := range operations {
		switch {
		case slices.Contains(everywhere, o):
		case slices.Contains(withApple6, o):
			family = max(family, 6)
		default:
			family = 7
		}
	}
	return family
}

// AppleFamily is the first of Apple's GPU families that could run the kernel:
// 7 for one that multiplies matrices of simdgroups or reduces over them, 6 for
// one that shuffles, 0 for any other. This driver itself runs them all.
func (p *pipeline) AppleFamily() int { return p.facts.Family }
