package lanes

import "fmt"

// lanesWithin is the number of elements of a vector type, 1 for another.
func lanesWithin(t *typ) int {
	if t.kind == kVec {
		return t.n
	}
	return 1
}

// wellTyped checks what the rest of the pass takes for granted about operands.
// clang checks the result again, so this is only about not going astray.
func wellTyped(in *inst) error {
	same := func(n int, os ...operand) bool {
		for _, o := range os {
			if lanesWithin(o.typ) != n {
				return false
			}
		}
		return true
	}
	ok := true
	switch in.op {
	case "br":
		ok = len(in.args) == 0 || in.args[0].typ.text == "i1"
	case "switch":
		ok = in.args[0].typ.kind == kInt && in.args[0].typ.bits <= 64
		for _, o := range in.args[1:] {
			ok = ok && o.local == "" && o.typ.text == in.args[0].typ.text
		}
	case "load":
		ok = in.args[0].typ.kind == kPtr
	case "store":
		ok = in.args[1].typ.kind == kPtr
	case "select":
		c := in.args[0].typ
		ok = elemOf(c).text == "i1" && in.args[1].typ.text == in.args[2].typ.text && (c.kind != kVec || same(c.n, in.args[1:]...))
	case "getelementptr":
		for _, o := range in.args[1:] {
			ok = ok && elemOf(o.typ).kind == kInt && (o.typ.kind != kVec || lanesWithin(in.typ) == o.typ.n)
		}
		ok = ok && (in.args[0].typ.kind != kVec || lanesWithin(in.typ) == in.args[0].typ.n)
	case "extractelement":
		ok = in.args[1].typ.kind == kInt
	case "insertelement":
		ok = in.args[1].typ.text == in.typ.elem.text && in.args[2].typ.kind == kInt
	case "shufflevector":
		ok = in.args[0].typ.text == in.args[1].typ.text
	case "atomicrmw", "cmpxchg":
		ok = in.args[0].typ.kind == kPtr
	case "icmp", "fcmp", "fneg", "freeze":
		ok = scalarOrVector(in.args[0].typ) || in.op == "freeze"
	case "call":
		ok = callTyped(in, same)
	default:
		switch {
		case binaryOps[in.op]:
			ok = scalarOrVector(in.typ)
		case castOps[in.op]:
			ok = scalarOrVector(in.typ) && scalarOrVector(in.args[0].typ) && (in.op == "bitcast" || same(lanesWithin(in.typ), in.args...))
		}
	}
	if !ok {
		return fmt.Errorf("operands of %q do not fit", clip(in.text))
	}
	return nil
}

func scalarOrVector(t *typ) bool {
	switch t.kind {
	case kInt, kFloat, kPtr, kVec:
		return true
	}
	return false
}

// callTyped checks a call of an intrinsic that the pass takes apart.
func callTyped(in *inst, same func(int, ...operand) bool) bool {
	if n, ok := elementwise[intrinsicBase(in.callee)]; ok {
		if len(in.args) < n || !scalarOrVector(in.typ) {
			return false
		}
		for _, o := range in.args[n:] {
			if o.local != "" {
				return false
			}
		}
		return same(lanesWithin(in.typ), in.args[:n]...)
	}
	if reductionOf(in.callee) != "" {
		last := len(in.args) - 1
		return last >= 0 && last < 2 && in.args[last].typ.kind == kVec && in.typ.text == in.args[last].typ.elem.text &&
			(last == 0 || in.args[0].typ.text == in.typ.text)
	}
	return true
}
