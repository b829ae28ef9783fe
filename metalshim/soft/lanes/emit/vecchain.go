package emit

import (
	"fmt"

	"github.com/introgen/introgen/metalshim/soft/lanes/analysis"
	"github.com/introgen/introgen/metalshim/soft/lanes/ir"
)

// chain writes the masked blocks that meet at m, in program order.
func (e *vectorEmitter) chain(m *analysis.Node) {
	bs := e.groups[m]
	last := map[*analysis.Loop]int{} // of the masked loops, the place of the last block
	for i, b := range bs {
		for l := e.a.Forest.Of[b]; l != nil && e.a.Masked[l.Header]; l = l.Parent {
			last[l] = i
		}
	}
	over := ir.Normalise("met.", bs[0].Name)
	// after returns where to go when l, or with l nil the block in place i, is over.
	after := func(i int, l *analysis.Loop) string {
		p := e.a.Forest.Of[bs[i]]
		if l != nil {
			p = l.Parent
		}
		if p != nil && e.a.Masked[p.Header] && last[p] == i {
			return ir.Normalise("again.", p.Header.Name)
		}
		if i+1 == len(bs) {
			return over
		}
		return e.enterLabel(bs[i+1])
	}
	for i, b := range bs {
		e.label(e.enterLabel(b))
		skip := after(i, nil)
		if l := e.a.Forest.Of[b]; l != nil && l.Header == b {
			skip = after(last[l], l)
		}
		want := e.let("load %s, ptr %s", maskType, e.maskVar(b))
		e.line("br i1 %s, label %%%s, label %%%s", e.any(want), b.Name, skip)
		e.open(b)
		e.mask = e.let("load %s, ptr %s", maskType, e.maskVar(b))
		e.line("store %s zeroinitializer, ptr %s", maskType, e.maskVar(b))
		e.insts(b)
		if e.leaveMasked(b) {
			e.line("br label %%%s", after(i, nil))
		}
		for l := e.a.Forest.Of[b]; l != nil && e.a.Masked[l.Header] && last[l] == i; l = l.Parent {
			e.label(ir.Normalise("again.", l.Header.Name))
			more := ir.Normalise("more.", l.Header.Name)
			want := e.let("load %s, ptr %s", maskType, e.maskVar(l.Header))
			e.line("br i1 %s, label %%%s, label %%%s", e.any(want), more, after(i, l))
			e.label(more)
			e.checkLoop(l, ir.Normalise("go.", l.Header.Name))
			e.line("br label %%%s", l.Header.Name)
		}
	}
	e.label(over)
	e.at = bs[0]
	some := e.any(e.let("load %s, ptr %s", maskType, liveVar))
	on := ir.Normalise("all.", bs[0].Name)
	e.line("br i1 %s, label %%%s, label %%done", some, on)
	e.label(on)
	switch {
	case m.Block != nil:
		e.line("br label %%%s", m.Block.Name)
	case m.Latch != nil:
		e.checkLoop(m.Latch, ir.Normalise("go.", over))
		e.line("br label %%%s", m.Latch.Header.Name)
	default:
		e.line("br label %%done")
	}
}

// checkLoop looks at the watchdog's flag where a way back in the loop has to.
func (e *vectorEmitter) checkLoop(l *analysis.Loop, next string) {
	for p := range l.Blocks {
		if e.checks[p] && e.isBack(p, l.Header) {
			e.lookAtFlag(next, e.spins[p])
			return
		}
	}
}

// leaveMasked writes the end of a masked block; it reports whether the next
// block of the chain follows.
func (e *vectorEmitter) leaveMasked(b *ir.Block) bool {
	if b.Cut != nil {
		e.suspend(b)
		return false
	}
	t := b.Last()
	if t.Op == "ret" || t.Op == "unreachable" {
		e.end(e.mask)
		return true
	}
	var masks []string
	if len(b.Succs) > 1 && e.shapeOf(&t.Args[0]).Uniform() {
		masks = e.splitUniform(b)
	} else {
		masks = e.split(b, e.mask)
	}
	for i, s := range b.Succs {
		if e.ends(b, s) {
			e.end(masks[i])
			continue
		}
		e.edge(b, s, masks[i])
	}
	return true
}

// suspend ends a block at a threadgroup barrier: everything used afterwards
// goes to the frame, and the kernel returns. The saving is written at the end,
// when all variables are known.
func (e *vectorEmitter) suspend(b *ir.Block) {
	e.edge(b, b.Cut.Cont, e.mask)
	e.line("br label %%save.%d", b.Cut.ID)
}

// resumption writes, for each cut, how variables go to the frame and come back.
func (e *vectorEmitter) resumption() {
	for _, c := range e.cuts {
		needed := map[string]bool{}
		for _, n := range c.Live {
			needed[n] = true
		}
		if c.In != nil && c.In.Res != "" {
			needed[c.In.Res] = true
		}
		var keep []variableDef
		for _, v := range e.vars {
			// Where all lanes suspend together, masks and what phis choose are not in use.
			if e.a.Masked[c.At] || v.prefix != "m" && v.prefix != "p" && needed[v.of] {
				keep = append(keep, v)
			}
		}
		keep = append(keep, variableDef{name: "live", typ: maskType})
		e.label(fmt.Sprintf("save.%d", c.ID))
		for _, v := range keep {
			e.frame.add("v:"+e.name+":"+v.name, v.typ)
			x := e.let("load %s, ptr %%%s", v.typ, v.name)
			p := e.let("%s", e.frame.address("v:"+e.name+":"+v.name, ""))
			e.line("store %s %s, ptr %s", v.typ, x, p)
		}
		e.line("ret i32 %d", c.ID)
		e.label(fmt.Sprintf("resume.%d", c.ID))
		for _, v := range keep {
			p := e.let("%s", e.frame.address("v:"+e.name+":"+v.name, ""))
			e.line("store %s %s, ptr %%%s", v.typ, e.let("load %s, ptr %s", v.typ, p), v.name)
		}
		e.line("br label %%%s", e.enterLabel(c.Cont))
	}
}
