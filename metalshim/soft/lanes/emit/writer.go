package emit

import (
	"fmt"
	"math/bits"
	"strings"

	"github.com/introgen/introgen/metalshim/soft/lanes/ir"
)

// writer collects the text of functions.
type writer struct {
	b   strings.Builder
	tmp int // names made so far
}

// line writes an instruction.
func (w *writer) line(format string, args ...any) {
	fmt.Fprintf(&w.b, "  "+format+"\n", args...)
}

// label begins a block.
func (w *writer) label(name string) { fmt.Fprintf(&w.b, "%s:\n", name) }

// fresh is a name that nothing has.
func (w *writer) fresh() string {
	w.tmp++
	return fmt.Sprintf("%%t.%d", w.tmp)
}

// let writes an instruction with a fresh result.
func (w *writer) let(format string, args ...any) string {
	r := w.fresh()
	w.line("%s = "+format, append([]any{r}, args...)...)
	return r
}

// memType is the type a value has in memory: i1 takes a byte.
func memType(t *ir.Type) string {
	if t.Kind == ir.Int && t.Bits == 1 {
		return "i8"
	}
	return t.String()
}

// loadFrom loads a value as it lies in memory.
func (w *writer) loadFrom(t *ir.Type, p string) string {
	v := w.let("load %s, ptr %s", memType(t), p)
	if memType(t) != t.String() {
		v = w.let("trunc i8 %s to i1", v)
	}
	return v
}

// inMemory is a value as it lies in memory.
func (w *writer) inMemory(t *ir.Type, v string) string {
	if memType(t) != t.String() {
		v = w.let("zext i1 %s to i8", v)
	}
	return v
}

// powerOfTwo is the least that is not below n.
func powerOfTwo(n int) int { return 1 << bits.Len(uint(n-1)) }

// poisonElement stands in a shuffle for an element that may be anything.
const poisonElement = -1

// indices are the elements that a shuffle takes for its n.
func indices(n int, at func(i int) int) string {
	s := make([]string, n)
	for i := range s {
		s[i] = fmt.Sprintf("i32 %d", at(i))
		if at(i) == poisonElement {
			s[i] = "i32 poison"
		}
	}
	return fmt.Sprintf("<%d x i32> <%s>", n, strings.Join(s, ", "))
}

// pick makes a vector of n elements of v, which has size of type t.
func (w *writer) pick(t *ir.Type, size int, v string, n int, at func(i int) int) string {
	return w.pickBoth(t, size, v, "poison", n, at)
}

// pickBoth is pick from v and, from number size on, from u.
func (w *writer) pickBoth(t *ir.Type, size int, v, u string, n int, at func(i int) int) string {
	return w.let("shufflevector <%d x %s> %s, <%d x %s> %s, %s", size, t, v, size, t, u, indices(n, at))
}
