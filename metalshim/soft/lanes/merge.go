package lanes

import (
	"fmt"
	"slices"
	"sort"
)

// mergeLoads joins loads of neighbouring elements (x[0], x[1], x[2] …) of one
// lane into loads of vectors, so that each lane's memory is touched once. Only
// loads whose addresses differ between lanes gain; a is what is known about
// them. Afterwards a is out of date.
func mergeLoads(f *function, a *analysis) {
	made := 0
	for _, b := range f.blocks {
		var run []candidate
		flush := func() {
			made = mergeRun(b, run, made)
			run = nil
		}
		for _, in := range b.insts {
			switch {
			case in.op == "load":
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
func writes(in *inst) bool {
	switch in.op {
	case "store", "atomicrmw", "cmpxchg", "fence":
		return true
	case "call":
		if s := syncOf(in); s != "" {
			return syncOps[s].memory
		}
		return intrinsicBase(in.callee) == "" && in.typ.kind == kVoid
	}
	return false
}

// candidate is a load from sum + at bytes.
type candidate struct {
	in   *inst
	sum  string
	at   int64
	size int64
}

// candidateOf looks at one load.
func candidateOf(a *analysis, b *block, in *inst) (candidate, bool) {
	size, ok := in.elem.scalarBytes()
	if !ok || in.volatile || in.args[0].local == "" {
		return candidate{}, false
	}
	s := a.shapeOf(&in.args[0], b)
	if s.uniform() {
		return candidate{}, false
	}
	if s.kind != varying {
		if k, ok := s.c.linear(); ok && k == int64(size) {
			return candidate{}, false // lanes follow each other already
		}
	}
	l := a.linearOf(in.args[0], 0)
	return candidate{in: in, sum: l.key(), at: l.k, size: int64(size)}, true
}

// maxMerged is how many bytes of a lane one load takes.
const maxMerged = 64

// mergeRun merges loads with no write between them. made is how many have been
// made of others so far.
func mergeRun(b *block, run []candidate, made int) int {
	type key struct{ sum, typ string }
	groups := map[key][]candidate{}
	var keys []key
	for _, c := range run {
		k := key{c.sum, c.in.elem.String()}
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
func mergeLoad(b *block, g []candidate, n int64, id int) {
	first, replace := g[0], map[*inst]*inst{}
	for _, in := range b.insts {
		if i := slices.IndexFunc(g, func(c candidate) bool { return c.in == in }); i >= 0 {
			first = g[i]
			break
		}
	}
	t := g[0].in.elem
	vt := vecType(int(n), t)
	p := newInst("getelementptr", tPtr, fmt.Sprintf("merged.p.%d", id), "getelementptr i8, ptr ", tPtr, first.in.args[0].local, fmt.Sprintf(", i64 %d", g[0].at-first.at))
	p.elem = intType(8)
	p.args = append(p.args, operand{typ: tI64, text: fmt.Sprint(g[0].at - first.at)})
	align := max(g[0].in.align, 1)
	l := newInst("load", vt, fmt.Sprintf("merged.v.%d", id), fmt.Sprintf("load %s, ptr ", vt), tPtr, p.res, fmt.Sprintf(", align %d", align))
	l.elem, l.align = vt, align
	for _, c := range g {
		k := (c.at - g[0].at) / c.size
		x := newInst("extractelement", t, c.in.res, fmt.Sprintf("extractelement %s ", vt), vt, l.res, fmt.Sprintf(", i64 %d", k))
		x.args = append(x.args, operand{typ: tI64, text: fmt.Sprint(k)})
		replace[c.in] = x
	}
	var out []*inst
	for _, in := range b.insts {
		if in == first.in {
			out = append(out, p, l)
		}
		if x := replace[in]; x != nil {
			in = x
		}
		out = append(out, in)
	}
	b.insts = out
}

// newInst makes an instruction that reads one local.
func newInst(op string, t *typ, res, before string, ot *typ, local, after string) *inst {
	in := &inst{op: op, typ: t, res: res, text: before + "%" + local + after}
	in.args = []operand{{typ: ot, local: local, beg: len(before), end: len(before) + 1 + len(local)}}
	return in
}
