package ir

import (
	"fmt"
	"slices"
)

// wellTyped checks what the rest of the pass takes for granted about operands.
// clang checks the result again, so this is only about not going astray.
func wellTyped(in *Inst) error {
	same := func(n int, os ...Operand) bool {
		return !slices.ContainsFunc(os, func(o Operand) bool { return o.Type.Lanes() != n })
	}
	ok := true
	switch in.Op {
	case "br":
		ok = len(in.Args) == 0 || in.Args[0].Type.Text == "i1"
	case "switch":
		ok = in.Args[0].Type.Kind == Int && in.Args[0].Type.Bits <= 64
		for _, o := range in.Args[1:] {
			ok = ok && o.Local == "" && o.Type.Text == in.Args[0].Type.Text
		}
	case "load":
		ok = in.Args[0].Type.Kind == Pointer
	case "store":
		ok = in.Args[1].Type.Kind == Pointer
	case "select":
		c := in.Args[0].Type
		ok = ElemOf(c).Text == "i1" && in.Args[1].Type.Text == in.Args[2].Type.Text && (c.Kind != Vector || same(c.N, in.Args[1:]...))
	case "getelementptr":
		for _, o := range in.Args[1:] {
			ok = ok && ElemOf(o.Type).Kind == Int && (o.Type.Kind != Vector || in.Type.Lanes() == o.Type.N)
		}
		ok = ok && (in.Args[0].Type.Kind != Vector || in.Type.Lanes() == in.Args[0].Type.N)
	case "extractelement":
		ok = in.Args[1].Type.Kind == Int
	case "insertelement":
		ok = in.Args[1].Type.Text == in.Type.Elem.Text && in.Args[2].Type.Kind == Int
	case "shufflevector":
		ok = in.Args[0].Type.Text == in.Args[1].Type.Text
	case "atomicrmw", "cmpxchg":
		ok = in.Args[0].Type.Kind == Pointer
	case "icmp", "fcmp", "fneg", "freeze":
		ok = scalarOrVector(in.Args[0].Type) || in.Op == "freeze"
	case "call":
		ok = callTyped(in, same)
	default:
		switch {
		case BinaryOps[in.Op]:
			ok = scalarOrVector(in.Type)
		case CastOps[in.Op]:
			ok = scalarOrVector(in.Type) && scalarOrVector(in.Args[0].Type) && (in.Op == "bitcast" || same(in.Type.Lanes(), in.Args...))
		}
	}
	if !ok {
		return fmt.Errorf("operands of %q do not fit", Clip(in.Text))
	}
	return nil
}

func scalarOrVector(t *Type) bool {
	switch t.Kind {
	case Int, Float, Pointer, Vector:
		return true
	}
	return false
}

// callTyped checks a call of an intrinsic that the pass takes apart.
func callTyped(in *Inst, same func(int, ...Operand) bool) bool {
	if name, n := Elementwise(in.Callee); name != "" {
		if len(in.Args) < n || !scalarOrVector(in.Type) {
			return false
		}
		variable := func(o Operand) bool { return o.Local != "" }
		return !slices.ContainsFunc(in.Args[n:], variable) && same(in.Type.Lanes(), in.Args[:n]...)
	}
	if op, pair := Reduction(in.Callee); op+pair != "" {
		last := len(in.Args) - 1
		return last >= 0 && last < 2 && in.Args[last].Type.Kind == Vector && in.Type.Text == in.Args[last].Type.Elem.Text &&
			(last == 0 || in.Args[0].Type.Text == in.Type.Text)
	}
	return true
}
