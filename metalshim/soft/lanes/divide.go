package lanes

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/introgen/introgen/metalshim/soft/lanes/ir"
)

// divide gives every division of integers a quotient. MSL leaves that of a
// division by zero, and that of the least number by −1, unspecified, and a GPU
// goes on; a processor traps. A zero divisor counts as 1 here, and a quotient by −1
// is the negated number.
func divide(f *ir.Function) error {
	for _, b := range f.Blocks {
		var out []*ir.Inst
		for _, in := range b.Insts {
			made := []*ir.Inst{in}
			if mayTrap(in) {
				var err error
				if made, err = quotient(in); err != nil {
					return err
				}
			}
			out = append(out, made...)
		}
		b.Insts = out
	}
	return nil
}

// mayTrap says whether in is a division of integers whose divisor may be 0 or −1.
func mayTrap(in *ir.Inst) bool {
	switch in.Op {
	case "udiv", "urem", "sdiv", "srem":
	default:
		return false
	}
	by := in.Args[1]
	if by.Local != "" {
		return true
	}
	elements := []string{by.Text}
	if n := in.Type.Lanes(); in.Type.Kind == ir.Vector {
		elements = ir.ConstElements(by.Text, n)
	}
	traps := func(element string) bool {
		n, err := strconv.ParseInt(element, 10, 64)
		return err != nil || n == 0 || n == -1
	}
	return elements == nil || slices.ContainsFunc(elements, traps)
}

// quotient writes a division by one of 1 in place of 0 or −1.
func quotient(in *ir.Inst) ([]*ir.Inst, error) {
	t, x, y := in.Type, in.Args[0].Source(), in.Args[1].Source()
	name := func(part string) string { return "%" + ir.Normalise("by."+part+".", ir.Unprefixed(in.Res)) }
	constant := func(n int) string {
		if t.Kind == ir.Vector {
			return fmt.Sprintf("splat (%s %d)", t.Elem, n)
		}
		return strconv.Itoa(n)
	}
	truth := ir.I1
	if t.Kind == ir.Vector {
		truth = ir.VectorType(t.N, ir.I1)
	}
	result := "%" + ir.Unprefixed(in.Res)
	zero, one := name("zero"), name("one")
	lines := []string{fmt.Sprintf("%s = icmp eq %s %s, %s", zero, t, y, constant(0))}
	if in.Op == "udiv" || in.Op == "urem" {
		return ir.ParseInsts(append(lines,
			fmt.Sprintf("%s = select %s %s, %s %s, %[4]s %[6]s", one, truth, zero, t, constant(1), y),
			fmt.Sprintf("%s = %s %s %s, %s", result, in.Op, t, x, one))...)
	}
	minus, unfit := name("minus"), name("unfit")
	lines = append(lines,
		fmt.Sprintf("%s = icmp eq %s %s, %s", minus, t, y, constant(-1)),
		fmt.Sprintf("%s = or %s %s, %s", unfit, truth, zero, minus),
		fmt.Sprintf("%s = select %s %s, %s %s, %[4]s %[6]s", one, truth, unfit, t, constant(1), y))
	if in.Op == "srem" {
		return ir.ParseInsts(append(lines, fmt.Sprintf("%s = srem %s %s, %s", result, t, x, one))...)
	}
	whole, negated := name("whole"), name("negated")
	return ir.ParseInsts(append(lines,
		fmt.Sprintf("%s = sdiv %s %s, %s", whole, t, x, one),
		fmt.Sprintf("%s = sub %s %s, %s", negated, t, constant(0), x),
		fmt.Sprintf("%s = select %s %s, %s %s, %[4]s %[6]s", result, truth, minus, t, negated, whole))...)
}
