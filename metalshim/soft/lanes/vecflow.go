package lanes

import (
	"fmt"
	"maps"
	"slices"
)

// liveVar holds the lanes that have not ended.
const liveVar = "%live"

// maskVar is where the lanes that are to execute a masked block are gathered.
func (e *vectorEmitter) maskVar(b *block) string {
	return e.variable("m", b.name, 0, maskType)
}

// enterLabel is where control comes to block b: a masked block first asks
// whether any lane wants it.
func (e *vectorEmitter) enterLabel(b *block) string {
	if e.a.masked[b] {
		return normalise("ask.", b.name)
	}
	return b.name
}

// blocks writes the whole body.
func (e *vectorEmitter) blocks() {
	done := map[*node]bool{}
	for _, b := range e.order {
		if !e.a.masked[b] {
			e.open(b)
			e.mask = e.let("load %s, ptr %s", maskType, liveVar)
			e.insts(b)
			e.leaveShared(b)
			continue
		}
		if m := e.a.meeting(b); !done[m] {
			done[m] = true
			e.chain(m)
		}
	}
}

// open begins a block's text.
func (e *vectorEmitter) open(b *block) {
	e.label(b.name)
	e.at = b
	e.scalars, e.vectors = map[string]string{}, map[string][]string{}
}

// insts writes a block without its terminator.
func (e *vectorEmitter) insts(b *block) {
	for _, in := range b.insts {
		if in.op == "phi" {
			e.choose(in)
		}
	}
	for _, in := range b.insts {
		if in.op == "phi" || in.op == "alloca" || in.terminator() || b.cut != nil && in == b.cut.in {
			continue
		}
		e.instruction(in)
	}
}

// choose reads what the ways into the block stored for a phi.
func (e *vectorEmitter) choose(in *inst) {
	if e.a.shapes[in.res].kind == offset {
		e.setScalar(in, e.let("load %s, ptr %s", in.typ, e.variable("p", in.res, 0, in.typ.String())))
		return
	}
	ps := parts(in.typ)
	if ps == nil {
		e.fail("phi %q: type has no form for all lanes", clip(in.text))
		return
	}
	var v []string
	for i, p := range ps {
		v = append(v, e.let("load %s, ptr %s", lanesOf(p), e.variable("p", in.res, i, lanesOf(p))))
	}
	e.setVector(in, v)
}

// leaveShared writes the end of a block that all living lanes execute.
func (e *vectorEmitter) leaveShared(b *block) {
	if b.cut != nil {
		e.suspend(b)
		return
	}
	t := b.insts[len(b.insts)-1]
	switch {
	case t.op == "ret" || t.op == "unreachable":
		e.line("br label %%done")
	case len(b.succs) == 1:
		e.edge(b, b.succs[0], "")
		e.jump(b, b.succs[0])
	case e.shapeOf(&t.args[0]).uniform():
		e.line("%s", e.renderBranch(t, func(l string) string { return edgeLabel(b, e.f.byName[l]) }))
		for _, s := range b.succs {
			e.label(edgeLabel(b, s))
			scalars, vectors := e.scalars, e.vectors
			e.scalars, e.vectors = maps.Clone(scalars), maps.Clone(vectors)
			e.edge(b, s, "")
			e.jump(b, s)
			e.scalars, e.vectors = scalars, vectors
		}
	default:
		e.partShared(b, t)
	}
}

func edgeLabel(b, s *block) string { return normalise(fmt.Sprintf("e%d.", s.index), b.name) }

// renderBranch prints a branch on a uniform condition with other labels.
func (e *vectorEmitter) renderBranch(t *inst, to func(string) string) string {
	c := e.scalar(&t.args[0])
	if t.op == "br" {
		return fmt.Sprintf("br i1 %s, label %%%s, label %%%s", c, to(t.labels[0].name), to(t.labels[1].name))
	}
	s := fmt.Sprintf("switch %s %s, label %%%s [", t.args[0].typ, c, to(t.labels[0].name))
	for i, l := range t.labels[1:] {
		s += fmt.Sprintf(" %s %s, label %%%s", t.args[i+1].typ, t.args[i+1].text, to(l.name))
	}
	return s + " ]"
}

// partShared writes a branch at which living lanes part.
func (e *vectorEmitter) partShared(b *block, t *inst) {
	masks := e.split(t, b.succs, e.mask)
	var first *block // earliest masked successor
	var then *block  // where all go when none is masked
	ended := false
	for i, s := range b.succs {
		switch {
		case e.ends(b, s):
			e.end(masks[i])
			ended = true
		default:
			e.edge(b, s, masks[i])
			if e.a.masked[s] && (first == nil || e.pos[s] < e.pos[first]) {
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
func (e *vectorEmitter) ends(b, s *block) bool {
	if !returns(s) {
		return false
	}
	return !slices.Contains(continuing(b), s)
}

// end takes lanes from the living.
func (e *vectorEmitter) end(mask string) {
	l := e.let("load %s, ptr %s", maskType, liveVar)
	m := e.let("select %s %s, %s zeroinitializer, %s %s", maskType, mask, maskType, maskType, l)
	e.line("store %s %s, ptr %s", maskType, m, liveVar)
}

// unlessAll returns when no lane lives.
func (e *vectorEmitter) unlessAll(b *block) {
	e.tmp++
	n := normalise(fmt.Sprintf("on%d.", e.tmp), b.name)
	e.line("br i1 %s, label %%%s, label %%done", e.any(e.let("load %s, ptr %s", maskType, liveVar)), n)
	e.label(n)
}

// split returns for each successor the lanes of mask that go there.
func (e *vectorEmitter) split(t *inst, succs []*block, mask string) []string {
	if len(succs) == 1 {
		return []string{mask}
	}
	out := make([]string, len(succs))
	if t.op == "br" {
		yes := e.within(mask, e.vector(&t.args[0])[0])
		no := e.without(mask, yes)
		for i, s := range succs {
			out[i] = no
			if s.name == t.labels[0].name {
				out[i] = yes
			}
		}
		return out
	}
	rest := mask
	v := e.vector(&t.args[0])[0]
	for i := 1; i < len(t.labels); i++ {
		c := e.let("icmp eq %s %s, %s", lanesOf(t.args[0].typ), v, e.splat(t.args[i].typ, t.args[i].text))
		m := e.within(rest, c)
		rest = e.without(rest, m)
		for k, s := range succs {
			if s.name == t.labels[i].name {
				if out[k] != "" {
					m = e.let("or %s %s, %s", maskType, out[k], m)
				}
				out[k] = m
			}
		}
	}
	for k, s := range succs {
		if s.name == t.labels[0].name {
			if out[k] != "" {
				rest = e.let("or %s %s, %s", maskType, out[k], rest)
			}
			out[k] = rest
		}
	}
	return out
}

// jump goes from b to s, looking at the watchdog's flag on the way back to the
// head of a loop of unknown length.
func (e *vectorEmitter) jump(b, s *block) {
	if e.checks[b] && e.isBack(b, s) {
		e.lookAtFlag(normalise(fmt.Sprintf("go%d.", s.index), b.name))
	}
	e.line("br label %%%s", e.enterLabel(s))
}

func (e *vectorEmitter) isBack(b, s *block) bool {
	for l := e.a.forest.of[b]; l != nil; l = l.parent {
		if l.header == s {
			return true
		}
	}
	return false
}

// lookAtFlag leaves the kernel when the watchdog's flag is set.
func (e *vectorEmitter) lookAtFlag(next string) {
	p := e.let("getelementptr inbounds i8, ptr %%%s, i64 8", e.f.g)
	q := e.let("load ptr, ptr %s, align 8, !invariant.load !9900", p)
	v := e.let("load volatile i32, ptr %s, align 4", q)
	e.line("br i1 %s, label %%stopped, label %%%s", e.let("icmp ne i32 %s, 0", v), next)
	e.label(next)
}

// edge does what goes with control from b to s: it stores what s's phis choose
// and asks for s when it is masked. mask is the set of lanes that take the way;
// "" when all living lanes do.
func (e *vectorEmitter) edge(b, s *block, mask string) {
	type choice struct {
		typ      string
		va, v, m string
	}
	var choices []choice
	for _, in := range s.insts {
		if in.op != "phi" {
			break
		}
		var o *operand
		for k := range in.labels {
			if in.labels[k].name == b.name {
				o = &in.args[k]
			}
		}
		if o.local == "" && (o.text == "undef" || o.text == "poison") {
			continue
		}
		if e.a.shapes[in.res].kind == offset {
			m := ""
			if mask != "" && !e.onlyBack(b, s) {
				m = "any"
			}
			choices = append(choices, choice{in.typ.String(), e.variable("p", in.res, 0, in.typ.String()), e.scalar(o), m})
			continue
		}
		v := e.vector(o)
		for i, p := range parts(in.typ) {
			m := ""
			if mask != "" && !e.firstWay(b, s) {
				m = mask
			}
			choices = append(choices, choice{lanesOf(p), e.variable("p", in.res, i, lanesOf(p)), v[i], m})
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
	if e.a.masked[s] {
		if mask == "" {
			mask = e.mask
		}
		old := e.let("load %s, ptr %s", maskType, e.maskVar(s))
		e.line("store %s %s, ptr %s", maskType, e.let("or %s %s, %s", maskType, old, mask), e.maskVar(s))
	}
}

// onlyBack says whether b → s is the only way back to the head of a loop.
func (e *vectorEmitter) onlyBack(b, s *block) bool {
	if !e.isBack(b, s) {
		return false
	}
	for _, p := range s.preds {
		if p != b && e.isBack(p, s) {
			return false
		}
	}
	return true
}

// firstWay says whether b → s comes before all other ways to s that lanes may
// take in the same pass, so that what it stores for lanes that come another way
// will be overwritten.
func (e *vectorEmitter) firstWay(b, s *block) bool {
	for l := e.a.forest.of[b]; l != nil; l = l.parent {
		if !l.blocks[s] && e.a.masked[l.header] {
			return false // comes by again with other lanes
		}
	}
	back := e.isBack(b, s)
	for _, p := range s.preds {
		if p != b && e.isBack(p, s) == back && e.pos[p] < e.pos[b] {
			return false
		}
	}
	return true
}
