package emit

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/introgen/introgen/metalshim/soft/lanes/ir"
)

// fusedFloat is a multiply-add of floats that rounds once, for a processor
// without an instruction for it: the product of two floats is exact in double;
// the sum is rounded to odd there, by what its rounding lost (Knuth, TwoSum), so
// that rounding it to float is right (Boldo and Melquiond, "Emulation of FMA and
// Correctly Rounded Sums: Proved Algorithms Using Rounding to Odd", 2008).
// Arguments: name, and the types of float, double, integers and bits.
const fusedFloat = `define internal %[2]s @%[1]s(%[2]s %%x, %[2]s %%y, %[2]s %%z) noinline #9900 {
  %%a = fpext %[2]s %%x to %[3]s
  %%b = fpext %[2]s %%y to %[3]s
  %%c = fpext %[2]s %%z to %[3]s
  %%p = fmul %[3]s %%a, %%b
  %%s = fadd %[3]s %%p, %%c
  %%t = fsub %[3]s %%s, %%p
  %%u = fsub %[3]s %%s, %%t
  %%v = fsub %[3]s %%p, %%u
  %%w = fsub %[3]s %%c, %%t
  %%e = fadd %[3]s %%v, %%w
  %%lost = fcmp one %[3]s %%e, zeroinitializer
  %%sb = bitcast %[3]s %%s to %[4]s
  %%eb = bitcast %[3]s %%e to %[4]s
  %%odd = trunc %[4]s %%sb to %[5]s
  %%apart = xor %[4]s %%sb, %%eb
  %%less = icmp slt %[4]s %%apart, zeroinitializer
  %%step = sext %[5]s %%less to %[4]s
  %%one = zext %[5]s %%lost to %[4]s
  %%by = or %[4]s %%step, %%one
  %%to = add %[4]s %%sb, %%by
  %%stay = xor %[5]s %%lost, %%odd
  %%move = and %[5]s %%lost, %%stay
  %%rb = select %[5]s %%move, %[4]s %%to, %[4]s %%sb
  %%r = bitcast %[4]s %%rb to %[3]s
  %%f = fptrunc %[3]s %%r to %[2]s
  ret %[2]s %%f
}
`

// floatFused takes the name of a multiply-add of floats apart: elements is "v16"
// of one of 16, "" of a scalar.
func floatFused(name string) (elements string, ok bool) {
	elements, ok = strings.CutPrefix(name, "llvm.fma.")
	if ok {
		elements, ok = strings.CutSuffix(elements, "f32")
	}
	return strings.TrimPrefix(elements, "v"), ok
}

// WithoutFused writes the multiply-adds of floats out.
func WithoutFused(text string) string {
	used := map[string]bool{}
	var b strings.Builder
	for line := range strings.Lines(text) {
		at := 0
		for g := range ir.Globals(line) {
			n, ok := floatFused(g.Name)
			if !ok {
				continue
			}
			if strings.HasPrefix(line, "declare ") {
				at = len(line)
				break
			}
			used[n] = true
			b.WriteString(line[at:g.Beg] + "@fused." + n)
			at = g.End
		}
		b.WriteString(line[at:])
	}
	for _, n := range slices.Sorted(maps.Keys(used)) {
		types := []any{"fused." + n}
		for _, t := range []string{"float", "double", "i64", "i1"} {
			if n != "" {
				t = fmt.Sprintf("<%s x %s>", n, t)
			}
			types = append(types, t)
		}
		fmt.Fprintf(&b, fusedFloat, types...)
	}
	return b.String()
}
