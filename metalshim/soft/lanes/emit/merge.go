package emit

import (
	"fmt"
	"slices"
	"sort"

	"github.com/introgen/introgen/metalshim/soft/lanes/analysis"
	"github.com/introgen/introgen/metalshim/soft/lanes/ir"
)

// mergeLoads joins loads of neighbouring elements (x[0], x[1], x[2] …) of one
// lane into loads of vectors, so that each lane's memory is touched once. Only
// loads whose addresses differ between lanes gain; a is what is known about
// them. Afterwards a is out of date.
func mergeLoads(f *ir.Function, a *analysis.Divergence) {
	made := 0
	for _, b := range f.Blocks {
		var run []candidate
		flush := func() {
			made = mergeRun(b, run, made)
			run = nil
		}
		for _, in := range b.Insts {
			switch {
			case in.Op == "load":
				if c, ok := candidateOf(a, b, in); ok {
					run = append(run, c)
				}
			case writes(in):
				flush()
			}
		}
		flush()
	}
}

// writes says whether an instruction may change memory, or wait for others to.
func writes(in *ir.Inst) bool {
	switch in.Op {
	case "store", "atomicrmw", "cmpxchg", "fence":
		return true
	case "call":
		if in.Stays {
			return true
		}
		if s := ir.CrossLane(in); s != "" {
			return ir.CrossLaneOps[s].Memory
		}
		name, _ := ir.Elementwise(in.Callee)
		return name == "" && in.Type.Kind == ir.Void
	}
	return false
}

// candidate is a load from sum + at bytes.
type candidate struct {
	in   *ir.Inst
	sum  string
	at   int64
	size int64
}

// candidateOf looks at one load.
func candidateOf(a *analysis.Divergence, b *ir.Block, in *ir.Inst) (candidate, bool) {
	size, ok := in.Elem.ScalarBytes()
	if !ok || in.Volatile || in.Args[0].Local == "" {
		return candidate{}, false
	}
	s := a.ShapeOf(&in.Args[0], b)
	if s.Uniform() {
		return candidate{}, false
	}
	if s.Kind != analysis.Varying {
		if k, ok := s.C.Linear(); ok && k == int64(size) {
			return candidate{}, false // lanes follow each other already
		}
	}
	l := a.LinearOf(in.Args[0])
	return candidate{in: in, sum: l.Key(), at: l.K, size: int64(size)}, true
}

// maxMerged is how many bytes of a lane one load takes.
const maxMerged = 64

// mergeRun merges loads with no write between them. made is how many have been
// made of others so far.
func mergeRun(b *ir.Block, run []candidate, made int) int {
	type key struct{ sum, typ string }
	groups := map[key][]candidate{}
	var keys []key
	for _, c := range run {
		k := key{c.sum, c.in.Elem.String()}
		if groups[k] == nil {
			keys = append(keys, k)
		}
		groups[k] = append(groups[k], c)
	}
	for _, k := range keys {
		g := groups[k]
		sort.SliceStable(g, func(i, j int) bool { return g[i].at < g[j].at })
		for i := 0; i < len(g); {
			j := i + 1
			for j < len(g) && (g[j].at == g[j-1].at || g[j].at == g[j-1].at+g[i].size) {
				j++
			}
			for i < j {
				n := int64(1)
				have := (g[j-1].at-g[i].at)/g[i].size + 1
				for 2*n <= have && 2*n*g[i].size <= maxMerged {
					n *= 2
				}
				e := i
				for e < j && g[e].at < g[i].at+n*g[i].size {
					e++
				}
				if n > 1 {
					made++
					mergeLoad(b, g[i:e], n, made)
				}
				i = e
			}
		}
	}
	return made
}

// mergeLoad replaces loads of n neighbouring elements by one load before the
// first of them; id is its number.
func mergeLoad(b *ir.Block, g []candidate, n int64, id int) {
	first, replace := g[0], map[*ir.Inst]*ir.Inst{}
	for _, in := range b.Insts {
		if i := slices.IndexFunc(g, func(c candidate) bool { return c.in == in }); i >= 0 {
			first = g[i]
			break
		}
	}
	t := g[0].in.Elem
	vt := ir.VectorType(int(n), t)
	p := newInst("getelementptr", ir.Ptr, fmt.Sprintf("merged.p.%d", id), "getelementptr i8, ptr ", ir.Ptr, first.in.Args[0].Local, fmt.Sprintf(", i64 %d", g[0].at-first.at))
	p.Elem = ir.IntType(8)
	p.Args = append(p.Args, ir.Operand{Type: ir.I64, Text: fmt.Sprint(g[0].at - first.at)})
	align := max(g[0].in.Align, 1)
	l := newInst("load", vt, fmt.Sprintf("merged.v.%d", id), fmt.Sprintf("load %s, ptr ", vt), ir.Ptr, p.Res, fmt.Sprintf(", align %d", align))
	l.Elem, l.Align = vt, align
	for _, c := range g {
		k := (c.at - g[0].at) / c.size
		x := newInst("extractelement", t, c.in.Res, fmt.Sprintf("extractelement %s ", vt), vt, l.Res, fmt.Sprintf(", i64 %d", k))
		x.Args = append(x.Args, ir.Operand{Type: ir.I64, Text: fmt.Sprint(k)})
		replace[c.in] = x
	}
	var out []*ir.Inst
	for _, in := range b.Insts {
		if in == first.in {
			out = append(out, p, l)
		}
		if x := replace[in]; x != nil {
			in = x
		}
		out = append(out, in)
	}
	b.Insts = out
}

// newInst makes an instruction that reads one local.
func newInst(op string, t *ir.Type, res, before string, ot *ir.Type, local, after string) *ir.Inst {
	in := &ir.Inst{Op: op, Type: t, Res: res, Text: before + "%" + local + after}
	in.Args = []ir.Operand{{Type: ot, Local: local, Beg: len(before), End: len(before) + 1 + len(local)}}
	return in
}
