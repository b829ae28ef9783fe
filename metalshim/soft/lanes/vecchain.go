package lanes

import "fmt"

// chain writes the masked blocks that meet at m, in program order.
func (e *vectorEmitter) chain(m *node) {
	bs := e.groups[m]
	last := map[*loop]int{} // of the masked loops, the place of the last block
	for i, b := range bs {
		for l := e.a.forest.of[b]; l != nil && e.a.masked[l.header]; l = l.parent {
			last[l] = i
		}
	}
	over := normalise("met.", bs[0].name)
	// after returns where to go when l, or with l nil the block in place i, is over.
	after := func(i int, l *loop) string {
		p := e.a.forest.of[bs[i]]
		if l != nil {
			p = l.parent
		}
		if p != nil && e.a.masked[p.header] && last[p] == i {
			return normalise("again.", p.header.name)
		}
		if i+1 == len(bs) {
			return over
		}
		return e.enterLabel(bs[i+1])
	}
	for i, b := range bs {
		e.label(e.enterLabel(b))
		skip := after(i, nil)
		if l := e.a.forest.of[b]; l != nil && l.header == b {
			skip = after(last[l], l)
		}
		want := e.let("load %s, ptr %s", maskType, e.maskVar(b))
		e.line("br i1 %s, label %%%s, label %%%s", e.any(want), b.name, skip)
		e.open(b)
		e.mask = e.let("load %s, ptr %s", maskType, e.maskVar(b))
		e.line("store %s zeroinitializer, ptr %s", maskType, e.maskVar(b))
		e.insts(b)
		if e.leaveMasked(b) {
			e.line("br label %%%s", after(i, nil))
		}
		for l := e.a.forest.of[b]; l != nil && e.a.masked[l.header] && last[l] == i; l = l.parent {
			e.label(normalise("again.", l.header.name))
			more := normalise("more.", l.header.name)
			want := e.let("load %s, ptr %s", maskType, e.maskVar(l.header))
			e.line("br i1 %s, label %%%s, label %%%s", e.any(want), more, after(i, l))
			e.label(more)
			e.checkLoop(l, normalise("go.", l.header.name))
			e.line("br label %%%s", l.header.name)
		}
	}
	e.label(over)
	e.at = bs[0]
	some := e.any(e.let("load %s, ptr %s", maskType, liveVar))
	on := normalise("all.", bs[0].name)
	e.line("br i1 %s, label %%%s, label %%done", some, on)
	e.label(on)
	switch {
	case m.block != nil:
		e.line("br label %%%s", m.block.name)
	case m.latch != nil:
		e.checkLoop(m.latch, normalise("go.", over))
		e.line("br label %%%s", m.latch.header.name)
	default:
		e.line("br label %%done")
	}
}

// checkLoop looks at the watchdog's flag where a way back in the loop has to.
func (e *vectorEmitter) checkLoop(l *loop, next string) {
	for p := range l.blocks {
		if e.checks[p] && e.isBack(p, l.header) {
			e.lookAtFlag(next)
			return
		}
	}
}

// leaveMasked writes the end of a masked block; it reports whether the next
// block of the chain follows.
func (e *vectorEmitter) leaveMasked(b *block) bool {
	if b.cut != nil {
		e.suspend(b)
		return false
	}
	t := b.insts[len(b.insts)-1]
	if t.op == "ret" || t.op == "unreachable" {
		e.end(e.mask)
		return true
	}
	var masks []string
	if len(b.succs) > 1 && e.shapeOf(&t.args[0]).uniform() {
		masks = e.splitUniform(t, b.succs)
	} else {
		masks = e.split(t, b.succs, e.mask)
	}
	for i, s := range b.succs {
		if e.ends(b, s) {
			e.end(masks[i])
			continue
		}
		e.edge(b, s, masks[i])
	}
	return true
}

// splitUniform is split for a condition that is the same in all lanes.
func (e *vectorEmitter) splitUniform(t *inst, succs []*block) []string {
	c := e.scalar(&t.args[0])
	pick := func(cond string) string {
		return e.let("select i1 %s, %s %s, %s zeroinitializer", cond, maskType, e.mask, maskType)
	}
	out := make([]string, len(succs))
	if t.op == "br" {
		for i, s := range succs {
			if s.name == t.labels[0].name {
				out[i] = pick(c)
			} else {
				out[i] = pick(e.let("xor i1 %s, true", c))
			}
		}
		return out
	}
	cond := make([]string, len(succs))
	matched := "false"
	for i := 1; i < len(t.labels); i++ {
		q := e.let("icmp eq %s %s, %s", t.args[0].typ, c, t.args[i].text)
		matched = e.let("or i1 %s, %s", matched, q)
		for k, s := range succs {
			if s.name == t.labels[i].name {
				if cond[k] != "" {
					q = e.let("or i1 %s, %s", cond[k], q)
				}
				cond[k] = q
			}
		}
	}
	for k, s := range succs {
		if s.name == t.labels[0].name {
			q := e.let("xor i1 %s, true", matched)
			if cond[k] != "" {
				q = e.let("or i1 %s, %s", cond[k], q)
			}
			cond[k] = q
		}
		out[k] = pick(cond[k])
	}
	return out
}

// suspend ends a block at a threadgroup barrier: everything used afterwards
// goes to the frame, and the kernel returns. The saving is written at the end,
// when all variables are known.
func (e *vectorEmitter) suspend(b *block) {
	e.edge(b, b.cut.cont, e.mask)
	e.line("br label %%save.%d", b.cut.id)
}

// resumption writes, for each cut, how variables go to the frame and come back.
func (e *vectorEmitter) resumption() {
	for _, c := range e.cuts {
		needed := map[string]bool{}
		for _, n := range c.live {
			needed[n] = true
		}
		if c.in != nil && c.in.res != "" {
			needed[c.in.res] = true
		}
		var keep []variableDef
		for _, v := range e.vars {
			// Where all lanes suspend together, masks and what phis choose are not in use.
			if e.a.masked[c.at] || v.prefix != "m" && v.prefix != "p" && needed[v.of] {
				keep = append(keep, v)
			}
		}
		keep = append(keep, variableDef{name: "live", typ: maskType})
		e.label(fmt.Sprintf("save.%d", c.id))
		for _, v := range keep {
			e.frame.add("v:"+e.name+":"+v.name, v.typ)
			x := e.let("load %s, ptr %%%s", v.typ, v.name)
			p := e.fresh()
			e.b.WriteString(e.frame.address(p, "v:"+e.name+":"+v.name, ""))
			e.line("store %s %s, ptr %s", v.typ, x, p)
		}
		e.line("ret i32 %d", c.id)
		e.label(fmt.Sprintf("resume.%d", c.id))
		for _, v := range keep {
			p := e.fresh()
			e.b.WriteString(e.frame.address(p, "v:"+e.name+":"+v.name, ""))
			e.line("store %s %s, ptr %%%s", v.typ, e.let("load %s, ptr %s", v.typ, p), v.name)
		}
		e.line("br label %%%s", e.enterLabel(c.cont))
	}
}
