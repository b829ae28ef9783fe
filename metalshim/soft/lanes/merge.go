package lanes

import (
	"fmt"
	"sort"
	"strconv"
)

// mergeLoads joins loads of neighbouring elements (x[0], x[1], x[2] …) of one
// lane into loads of vectors, so that each lane's memory is touched once. Only
// loads whose addresses differ between lanes gain; a is what is known about
// them. It reports whether anything changed, after which a is out of date.
func (f *function) mergeLoads(a *analysis) bool {
	changed := false
	for _, b := range f.blocks {
		var run []candidate
		flush := func() {
			if f.mergeRun(b, run) {
				changed = true
			}
			run = nil
		}
		for _, in := range b.insts {
			switch {
			case in.op == "load":
				if c, ok := a.candidate(b, in); ok {
					run = append(run, c)
				}
			case writes(in):
				flush()
			}
		}
		flush()
	}
	return changed
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

// candidate is a load from root + at bytes.
type candidate struct {
	in   *inst
	root operand
	at   int64
	size int64
}

// candidate looks at one load.
func (a *analysis) candidate(b *block, in *inst) (candidate, bool) {
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
	c := candidate{in: in, root: in.args[0], size: int64(size)}
	for {
		d := a.defs[c.root.local]
		if d == nil || d.op != "getelementptr" || d.typ.kind != kPtr {
			return c, true
		}
		at, ok := a.constantOffset(d)
		if !ok {
			return c, true
		}
		c.at += at
		c.root = d.args[0]
		if c.root.local == "" {
			return candidate{}, false
		}
	}
}

// constantOffset is the number of bytes a getelementptr adds, when known.
func (a *analysis) constantOffset(d *inst) (int64, bool) {
	var total int64
	t := d.elem
	for i, o := range d.args[1:] {
		k, err := strconv.ParseInt(o.text, 10, 64)
		if err != nil || k > 1<<40 || k < -1<<40 {
			return 0, false
		}
		t = a.f.mod.resolve(t)
		if i > 0 {
			switch {
			case t.kind == kStruct && k >= 0 && k < int64(len(t.fields)):
				off, _, err := a.f.mod.fieldAt(t, int(k), 0)
				if err != nil {
					return 0, false
				}
				total += off
				t = t.fields[k]
				continue
			case t.kind == kArray || t.kind == kVec:
				t = t.elem
			default:
				return 0, false
			}
		}
		size, _, err := a.f.mod.layout(t)
		if err != nil || size > 1<<20 {
			return 0, false
		}
		total += k * size
	}
	return total, true
}

// maxMerged is how many bytes of a lane one load takes.
const maxMerged = 64

// mergeRun merges loads with no write between them.
func (f *function) mergeRun(b *block, run []candidate) bool {
	type key struct {
		root string
		typ  string
	}
	groups := map[key][]candidate{}
	var keys []key
	for _, c := range run {
		k := key{c.root.local, c.in.elem.String()}
		if groups[k] == nil {
			keys = append(keys, k)
		}
		groups[k] = append(groups[k], c)
	}
	changed := false
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
					f.mergeLoad(b, g[i:e], n)
					changed = true
				}
				i = e
			}
		}
	}
	return changed
}

// mergeLoad replaces loads of n neighbouring elements by one load before the
// first of them.
func (f *function) mergeLoad(b *block, g []candidate, n int64) {
	replace := map[*inst]*inst{}
	f.merged++
	id := f.merged
	t := g[0].in.elem
	vt := vecType(int(n), t)
	p := newInst("getelementptr", tPtr, fmt.Sprintf("merged.p.%d", id), "getelementptr i8, ptr ", tPtr, g[0].root.local, fmt.Sprintf(", i64 %d", g[0].at))
	p.elem = intType(8)
	p.args = append(p.args, operand{typ: tI64, text: fmt.Sprint(g[0].at)})
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
	first := true
	for _, in := range b.insts {
		x := replace[in]
		if x == nil {
			out = append(out, in)
			continue
		}
		if first {
			out = append(out, p, l)
			first = false
		}
		out = append(out, x)
	}
	b.insts = out
}

// newInst makes an instruction that reads one local.
func newInst(op string, t *typ, res, before string, ot *typ, local, after string) *inst {
	in := &inst{op: op, typ: t, res: res, text: before + "%" + local + after}
	in.args = []operand{{typ: ot, local: local, beg: len(before), end: len(before) + 1 + len(local)}}
	return in
}
