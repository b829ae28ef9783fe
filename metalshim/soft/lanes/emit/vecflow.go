package emit

import (
	"fmt"
	"maps"
	"slices"

	"github.com/introgen/introgen/metalshim/soft/lanes/analysis"
	"github.com/introgen/introgen/metalshim/soft/lanes/ir"
)

// liveVar holds the lanes that have not ended.
const liveVar = "%live"

// maskVar is where the lanes that are to execute a masked block are gathered.
func (e *vectorEmitter) maskVar(b *ir.Block) string {
	return e.variable("m", b.Name, 0, maskType)
}

// enterLabel is where control comes to block b: a masked block first asks
// whether any lane wants it.
func (e *vectorEmitter) enterLabel(b *ir.Block) string {
	if e.a.Masked[b] {
		return ir.Normalise("ask.", b.Name)
	}
	return b.Name
}

// blocks writes the whole body.
func (e *vectorEmitter) blocks() {
	done := map[*analysis.Node]bool{}
	for _, b := range e.order {
		if !e.a.Masked[b] {
			e.open(b)
			e.mask = e.let("load %s, ptr %s", maskType, liveVar)
			e.insts(b)
			e.leaveShared(b)
			continue
		}
		if m := e.a.Meeting(b); !done[m] {
			done[m] = true
			e.chain(m)
		}
	}
}

// open begins a block's text.
func (e *vectorEmitter) open(b *ir.Block) {
	e.label(b.Name)
	e.at = b
	e.scalars, e.vectors = map[string]string{}, map[string][]string{}
}

// insts writes a block without its terminator.
func (e *vectorEmitter) insts(b *ir.Block) {
	for _, in := range b.Phis() {
		e.choose(in)
	}
	for _, in := range b.Insts {
		if in.Op == "phi" || in.Op == "alloca" || in.Terminator() || b.Cut != nil && in == b.Cut.In {
			continue
		}
		e.instruction(in)
	}
}

// choose reads what the ways into the block stored for a phi.
func (e *vectorEmitter) choose(in *ir.Inst) {
	if e.a.Shapes[in.Res].Kind == analysis.Offset {
		e.setScalar(in, e.let("load %s, ptr %s", in.Type, e.variable("p", in.Res, 0, in.Type.String())))
		return
	}
	ps := ir.Parts(in.Type)
	if ps == nil {
		e.fail("phi %q: type has no form for all lanes", ir.Clip(in.Text))
		return
	}
	e.setVector(in, e.loadParts("p", in.Res, ps))
}

// leaveShared writes the end of a block that all living lanes execute.
func (e *vectorEmitter) leaveShared(b *ir.Block) {
	if b.Cut != nil {
		e.suspend(b)
		return
	}
	t := b.Last()
	switch {
	case t.Op == "ret" || t.Op == "unreachable":
		e.line("br label %%done")
	case len(b.Succs) == 1:
		e.edge(b, b.Succs[0], "")
		e.jump(b, b.Succs[0])
	case e.shapeOf(&t.Args[0]).Uniform():
		e.line("%s", e.renderBranch(t, func(l string) string { return edgeLabel(b, e.f.ByName[l]) }))
		for _, s := range b.Succs {
			e.label(edgeLabel(b, s))
			scalars, vectors := e.scalars, e.vectors
			e.scalars, e.vectors = maps.Clone(scalars), maps.Clone(vectors)
			e.edge(b, s, "")
			e.jump(b, s)
			e.scalars, e.vectors = scalars, vectors
		}
	default:
		e.partShared(b)
	}
}

func edgeLabel(b, s *ir.Block) string { return ir.Normalise(fmt.Sprintf("e%d.", s.Index), b.Name) }

// renderBranch prints a branch on a uniform condition with other labels.
func (e *vectorEmitter) renderBranch(t *ir.Inst, to func(string) string) string {
	c := e.scalar(&t.Args[0])
	if t.Op == "br" {
		return fmt.Sprintf("br i1 %s, label %%%s, label %%%s", c, to(t.Labels[0].Name), to(t.Labels[1].Name))
	}
	s := fmt.Sprintf("switch %s %s, label %%%s [", t.Args[0].Type, c, to(t.Labels[0].Name))
	for i, l := range t.Labels[1:] {
		s += fmt.Sprintf(" %s %s, label %%%s", t.Args[i+1].Type, t.Args[i+1].Text, to(l.Name))
	}
	return s + " ]"
}

// partShared writes a branch at which living lanes part.
func (e *vectorEmitter) partShared(b *ir.Block) {
	masks := e.split(b, e.mask)
	var first *ir.Block // earliest masked successor
	var then *ir.Block  // where all go when none is masked
	ended := false
	for i, s := range b.Succs {
		switch {
		case e.ends(b, s):
			e.end(masks[i])
			ended = true
		default:
			e.edge(b, s, masks[i])
			if e.a.Masked[s] && (first == nil || e.pos[s] < e.pos[first]) {
				first = s
			}
			then = s
		}
	}
	if first != nil {
		then = first
	}
	if ended {
		e.unlessAll(b)
	}
	e.jump(b, then)
}

// ends says whether the way from b to s is the end of the lanes that take it
// (see forwardGraph).
func (e *vectorEmitter) ends(b, s *ir.Block) bool {
	return analysis.Returns(s) && !slices.Contains(analysis.Continuing(b), s)
}

// end takes lanes from the living.
func (e *vectorEmitter) end(mask string) {
	l := e.let("load %s, ptr %s", maskType, liveVar)
	m := e.let("select %s %s, %s zeroinitializer, %s %s", maskType, mask, maskType, maskType, l)
	e.line("store %s %s, ptr %s", maskType, m, liveVar)
}

// unlessAll returns when no lane lives.
func (e *vectorEmitter) unlessAll(b *ir.Block) {
	e.tmp++
	n := ir.Normalise(fmt.Sprintf("on%d.", e.tmp), b.Name)
	e.line("br i1 %s, label %%%s, label %%done", e.any(e.let("load %s, ptr %s", maskType, liveVar)), n)
	e.label(n)
}

// split returns for each successor of b the lanes of mask that go there.
func (e *vectorEmitter) split(b *ir.Block, mask string) []string {
	if len(b.Succs) == 1 {
		return []string{mask}
	}
	t := b.Last()
	v := e.vector(&t.Args[0])[0]
	if t.Op == "br" {
		yes := e.within(mask, v)
		return []string{yes, e.without(mask, yes)}
	}
	out := make([]string, len(b.Succs))
	add := func(k int, m string) {
		if out[k] != "" {
			m = e.let("or %s %s, %s", maskType, out[k], m)
		}
		out[k] = m
	}
	rest := mask
	for i, l := range t.Labels[1:] {
		o := &t.Args[i+1]
		m := e.within(rest, e.let("icmp eq %s %s, %s", lanesOf(t.Args[0].Type), v, e.splat(o.Type, o.Text)))
		rest = e.without(rest, m)
		add(slices.Index(b.Succs, e.f.ByName[l.Name]), m)
	}
	add(0, rest) // the default is the first
	return out
}

// splitUniform is split for a condition that is the same in all lanes.
func (e *vectorEmitter) splitUniform(b *ir.Block) []string {
	t := b.Last()
	c := e.scalar(&t.Args[0])
	out := make([]string, len(b.Succs)) // conditions, then masks
	add := func(k int, q string) {
		if out[k] != "" {
			q = e.let("or i1 %s, %s", out[k], q)
		}
		out[k] = q
	}
	if t.Op == "br" {
		out[0] = c
	} else {
		matched := "false"
		for i, l := range t.Labels[1:] {
			q := e.let("icmp eq %s %s, %s", t.Args[0].Type, c, t.Args[i+1].Text)
			matched = e.let("or i1 %s, %s", matched, q)
			add(slices.Index(b.Succs, e.f.ByName[l.Name]), q)
		}
		add(0, e.let("xor i1 %s, true", matched)) // the default is the first
	}
	for k := range out {
		if out[k] == "" {
			out[k] = e.let("xor i1 %s, true", c)
		}
		out[k] = e.let("select i1 %s, %s %s, %s zeroinitializer", out[k], maskType, e.mask, maskType)
	}
	return out
}

// jump goes from b to s, looking at the watchdog's flag on the way back to the
// head of a loop of unknown length.
func (e *vectorEmitter) jump(b, s *ir.Block) {
	if e.checks[b] && e.isBack(b, s) {
		e.lookAtFlag(ir.Normalise(fmt.Sprintf("go%d.", s.Index), b.Name), e.spins[b])
	}
	e.line("br label %%%s", e.enterLabel(s))
}

func (e *vectorEmitter) isBack(b, s *ir.Block) bool {
	for l := e.a.Forest.Of[b]; l != nil; l = l.Parent {
		if l.Header == s {
			return true
		}
	}
	return false
}

// lookAtFlag leaves the kernel when the watchdog's flag is set. A loop that only
// waits for other simdgroups gives them the processor.
func (e *vectorEmitter) lookAtFlag(next string, spins bool) {
	p := e.let("getelementptr inbounds i8, ptr %%%s, i64 8", e.f.G)
	q := e.let("load ptr, ptr %s, align 8, !invariant.load !9900", p)
	v := e.let("load volatile i32, ptr %s, align 4", q)
	e.line("br i1 %s, label %%stopped, label %%%s", e.let("icmp ne i32 %s, 0", v), next)
	e.label(next)
	if spins {
		e.let("call i32 %s()", e.intrinsic("sched_yield", "i32", ""))
	}
}

// edge does what goes with control from b to s: it stores what s's phis choose
// and asks for s when it is masked. mask is the set of lanes that take the way;
// "" when all living lanes do.
func (e *vectorEmitter) edge(b, s *ir.Block, mask string) {
	type choice struct {
		typ      string
		va, v, m string
	}
	var choices []choice
	for _, in := range s.Phis() {
		o := &in.Args[slices.IndexFunc(in.Labels, func(l ir.Label) bool { return l.Name == b.Name })]
		if o.Local == "" && (o.Text == "undef" || o.Text == "poison") {
			continue
		}
		if e.a.Shapes[in.Res].Kind == analysis.Offset {
			m := ""
			if mask != "" && !e.onlyBack(b, s) {
				m = "any"
			}
			choices = append(choices, choice{in.Type.String(), e.variable("p", in.Res, 0, in.Type.String()), e.scalar(o), m})
			continue
		}
		v := e.vector(o)
		for i, p := range ir.Parts(in.Type) {
			m := ""
			if mask != "" && !e.firstWay(b, s) {
				m = mask
			}
			choices = append(choices, choice{lanesOf(p), e.variable("p", in.Res, i, lanesOf(p)), v[i], m})
		}
	}
	some := ""
	for _, c := range choices {
		v := c.v
		switch c.m {
		case "":
		case "any":
			if some == "" {
				some = e.any(mask)
			}
			v = e.let("select i1 %s, %s %s, %s %s", some, c.typ, v, c.typ, e.let("load %s, ptr %s", c.typ, c.va))
		default:
			v = e.let("select %s %s, %s %s, %s %s", maskType, mask, c.typ, v, c.typ, e.let("load %s, ptr %s", c.typ, c.va))
		}
		e.line("store %s %s, ptr %s", c.typ, v, c.va)
	}
	if e.a.Masked[s] {
		if mask == "" {
			mask = e.mask
		}
		old := e.let("load %s, ptr %s", maskType, e.maskVar(s))
		e.line("store %s %s, ptr %s", maskType, e.let("or %s %s, %s", maskType, old, mask), e.maskVar(s))
	}
}

// onlyBack says whether b → s is the only way back to the head of a loop.
func (e *vectorEmitter) onlyBack(b, s *ir.Block) bool {
	other := func(p *ir.Block) bool { return p != b && e.isBack(p, s) }
	return e.isBack(b, s) && !slices.ContainsFunc(s.Preds, other)
}

// firstWay says whether b → s comes before all other ways to s that lanes may
// take in the same pass, so that what it stores for lanes that come another way
// will be overwritten.
func (e *vectorEmitter) firstWay(b, s *ir.Block) bool {
	for l := e.a.Forest.Of[b]; l != nil; l = l.Parent {
		if !l.Blocks[s] && e.a.Masked[l.Header] {
			return false // comes by again with other lanes
		}
	}
	back := e.isBack(b, s)
	earlier := func(p *ir.Block) bool { return p != b && e.isBack(p, s) == back && e.pos[p] < e.pos[b] }
	return !slices.ContainsFunc(s.Preds, earlier)
}
