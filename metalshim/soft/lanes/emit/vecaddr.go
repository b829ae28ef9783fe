package emit

import (
	"fmt"
	"strings"

	"github.com/introgen/introgen/metalshim/soft/lanes/analysis"
	"github.com/introgen/introgen/metalshim/soft/lanes/ir"
)

// addresses are where lanes read: lane i at at[of[i]]. Lanes that read the same
// place share one.
type addresses struct {
	at []string
	of [width]int
}

// base returns the scalar that o's lane constants are added to.
func (e *vectorEmitter) base(o *ir.Operand, s analysis.Shape) string {
	if s.Kind == analysis.Offset {
		return e.scalar(o)
	}
	f := e.firstLane()
	c := e.constantAt(s.C, f)
	return e.let("getelementptr i8, ptr %s, i64 %s", e.valueAt(o, f), e.let("sub i64 0, %s", c))
}

// safeAddresses returns addresses that may all be read: a lane that takes no
// part reads where the first does that takes part.
func (e *vectorEmitter) safeAddresses(o *ir.Operand) addresses {
	s := e.shapeOf(o)
	var a addresses
	if s.Kind == analysis.Varying {
		v := e.vector(o)[0]
		first := e.let("extractelement <32 x ptr> %s, i32 %s", v, e.firstLane())
		safe := e.let("select %s %s, <32 x ptr> %s, <32 x ptr> %s", maskType, e.mask, v, e.splat(ir.Ptr, first))
		for i := range width {
			a.at = append(a.at, e.let("extractelement <32 x ptr> %s, i32 %d", safe, i))
			a.of[i] = i
		}
		return a
	}
	base := e.base(o, s)
	offs, of := e.safeOffsets(s.C)
	a.of = of
	for _, c := range offs {
		a.at = append(a.at, e.let("getelementptr i8, ptr %s, i64 %s", base, c))
	}
	return a
}

// safeOffsets returns the different lane constants, each replaced by the first
// active lane's when none of its lanes takes part.
func (e *vectorEmitter) safeOffsets(c *analysis.LaneConsts) ([]string, [width]int) {
	if c == nil {
		return []string{"0"}, [width]int{}
	}
	var of [width]int
	var values []int64
	var lanes []uint32
	seen := map[int64]int{}
	for i, v := range c {
		k, ok := seen[v]
		if !ok {
			k = len(values)
			seen[v] = k
			values, lanes = append(values, v), append(lanes, 0)
		}
		lanes[k] |= 1 << i
		of[i] = k
	}
	key := "offsets " + constVector(ir.I64, func(i int) int64 { return c[i] })
	if v, ok := e.vectors[key]; ok {
		return v, of
	}
	first := e.constantAt(c, e.firstLane())
	bitsOf := e.maskWord()
	out := make([]string, len(values))
	for k, v := range values {
		on := e.let("icmp ne i32 %s, 0", e.let("and i32 %s, %d", bitsOf, lanes[k]))
		out[k] = e.let("select i1 %s, i64 %d, i64 %s", on, v, first)
	}
	e.vectors[key] = out
	return out, of
}

// maskWord is the current mask as an i32.
func (e *vectorEmitter) maskWord() string {
	if v, ok := e.scalars["mask word"]; ok {
		return v
	}
	v := e.maskBits(e.mask)
	e.scalars["mask word"] = v
	return v
}

// constantAt is a lane's constant, as i64.
func (e *vectorEmitter) constantAt(c *analysis.LaneConsts, lane string) string {
	if k, ok := c.Linear(); ok {
		if c == nil {
			return "0"
		}
		v := e.let("mul i64 %s, %d", e.let("zext i32 %s to i64", lane), k)
		return e.let("add i64 %s, %d", v, c[0])
	}
	return e.let("load i64, ptr %s", e.let("getelementptr [32 x i64], ptr %s, i64 0, i32 %s", e.table(c), lane))
}

// table makes a constant array of lane numbers and returns its name.
func (e *vectorEmitter) table(c *analysis.LaneConsts) string {
	v := make([]string, width)
	for i := range v {
		v[i] = fmt.Sprintf("i64 %d", c[i])
	}
	text := "[" + strings.Join(v, ", ") + "]"
	if n, ok := e.tables[text]; ok {
		return n
	}
	n := fmt.Sprintf("@%s.table.%d", e.name, len(e.tables))
	e.tables[text] = n
	fmt.Fprintf(&e.globals, "%s = private unnamed_addr constant [32 x i64] %s, align 64\n", n, text)
	return n
}

// nowhereBytes is how far stores may lie apart that share what is computed for
// one of them.
const nowhereBytes = 4096

// storeAddresses returns where each lane stores: for a lane that takes no part,
// memory that nothing reads. Stores at constant distances share the choice.
func (e *vectorEmitter) storeAddresses(o *ir.Operand) []string {
	l := e.a.LinearOf(*o)
	key := "store " + l.Key()
	if at, ok := e.storeAt[key]; ok && e.vectors[key] != nil {
		if d := l.K - at; d > -nowhereBytes && d < nowhereBytes {
			out := make([]string, width)
			for i, p := range e.vectors[key] {
				out[i] = e.let("getelementptr i8, ptr %s, i64 %d", p, d)
			}
			return out
		}
	}
	if e.nowhere == "" {
		e.nowhere = e.scratch(fmt.Sprintf("[%d x i8]", 2*nowhereBytes+128))
	}
	nowhere := e.let("getelementptr i8, ptr %s, i64 %d", e.nowhere, nowhereBytes)
	s := e.shapeOf(o)
	out := make([]string, width)
	if s.Kind == analysis.Varying {
		v := e.let("select %s %s, <32 x ptr> %s, <32 x ptr> %s", maskType, e.mask, e.vector(o)[0], e.splat(ir.Ptr, nowhere))
		for i := range out {
			out[i] = e.let("extractelement <32 x ptr> %s, i32 %d", v, i)
		}
	} else {
		base, word := e.base(o, s), e.maskWord()
		for i := range out {
			at := int64(0)
			if s.C != nil {
				at = s.C[i]
			}
			p := e.let("getelementptr i8, ptr %s, i64 %d", base, at)
			on := e.let("icmp ne i32 %s, 0", e.let("and i32 %s, %d", word, uint32(1)<<i))
			out[i] = e.let("select i1 %s, ptr %s, ptr %s", on, p, nowhere)
		}
	}
	e.storeAt[key], e.vectors[key] = l.K, out
	return out
}

// join puts vectors of n elements one after another; their number is a power of
// two.
func (e *vectorEmitter) join(t *ir.Type, n int, v []string) string {
	for len(v) > 1 {
		var next []string
		for i := 0; i < len(v); i += 2 {
			next = append(next, e.pickBoth(t, n, v[i], v[i+1], 2*n, func(k int) int { return k }))
		}
		v, n = next, 2*n
	}
	return v[0]
}
