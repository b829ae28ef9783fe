package lanes

import (
	"fmt"
	"slices"
	"strings"

	"github.com/introgen/introgen/metalshim/soft/lanes/ir"
)

// What a kernel computes is settled here, before a processor is known. The fast
// math modes leave a choice: sums may be put into another order, and products
// joined with sums. A code generator chooses by the instructions that a
// processor has and by how long they take, so that two processors give two
// results. So the choice is made once, in the one-lane code: products join sums
// where settle says, and the flags that leave a choice are taken away.

// fastFlags are the flags of floating-point instructions that leave a choice.
var fastFlags = map[string]bool{"nnan": true, "ninf": true, "nsz": true, "arcp": true, "contract": true, "afn": true, "reassoc": true, "fast": true}

// settle joins products and sums, and drops every flag that would leave
// arithmetic to the code generator. A product of float or double is joined with
// the sum or difference in the same block that alone uses it, if both may be
// contracted, the left operand's before the right one's. Half and bfloat round
// after each operation.
func settle(f *ir.Function) error {
	uses := map[string]int{}
	for _, in := range f.All() {
		for _, a := range in.Args {
			uses[a.Local]++
		}
	}
	for _, b := range f.Blocks {
		product := map[string]*ir.Inst{}
		joined := map[string]bool{}
		var out []*ir.Inst
		for _, in := range b.Insts {
			made := []*ir.Inst{in}
			var err error
			switch {
			case in.Op == "fmul":
				if uses[in.Res] == 1 && mayJoin(in) {
					product[in.Res] = in
				}
			case (in.Op == "fadd" || in.Op == "fsub") && mayJoin(in):
				if made, err = joinProduct(in, product, joined); err != nil {
					return err
				}
			case in.Op == "call" && strings.HasPrefix(in.Callee, "llvm.fmuladd."):
				if made, err = multiplyAdd(in); err != nil {
					return err
				}
			}
			out = append(out, made...)
		}
		b.Insts = slices.DeleteFunc(out, func(in *ir.Inst) bool { return joined[in.Res] && in.Op == "fmul" })
		for i, in := range b.Insts {
			var err error
			if b.Insts[i], err = exact(in); err != nil {
				return err
			}
		}
	}
	declareFused(f)
	return nil
}

// mayJoin says whether a product or sum may become part of a multiply-add.
func mayJoin(in *ir.Inst) bool {
	return (in.HasFlag("contract") || in.HasFlag("fast")) && wideFloat(in.Type)
}

// wideFloat says whether a type is float, double or a vector of them.
func wideFloat(t *ir.Type) bool {
	e := ir.ElemOf(t)
	return e.Text == "float" || e.Text == "double"
}

// joinProduct returns what stands for a sum: the multiply-add with one of its operands,
// if that is a product that nothing else uses, else the sum itself.
func joinProduct(in *ir.Inst, product map[string]*ir.Inst, joined map[string]bool) ([]*ir.Inst, error) {
	for k := range in.Args {
		p := product[in.Args[k].Local]
		if p == nil {
			continue
		}
		joined[p.Res] = true
		x, y, z := p.Args[0].Source(), p.Args[1].Source(), in.Args[1-k].Source()
		var lines []string
		if in.Op == "fsub" { // x*y − z, or z − x*y
			negated := &z
			if k == 1 {
				negated = &x
			}
			n := beside(in)
			lines = append(lines, fmt.Sprintf("%s = fneg %s %s", n, in.Type, *negated))
			*negated = n
		}
		return ir.ParseInsts(append(lines, fused(in, x, y, z))...)
	}
	return []*ir.Inst{in}, nil
}

// multiplyAdd writes llvm.fmuladd, which rounds once or twice as the processor
// likes, as one rounding for float and double and as two for 16-bit floats.
func multiplyAdd(in *ir.Inst) ([]*ir.Inst, error) {
	x, y, z := in.Args[0].Source(), in.Args[1].Source(), in.Args[2].Source()
	if wideFloat(in.Type) {
		return ir.ParseInsts(fused(in, x, y, z))
	}
	p := beside(in)
	return ir.ParseInsts(
		fmt.Sprintf("%s = fmul %s %s, %s", p, in.Type, x, y),
		fmt.Sprintf("%%%s = fadd %s %s, %s", ir.Unprefixed(in.Res), in.Type, p, z))
}

// fused is the line of a multiply-add that rounds once, with in's result.
func fused(in *ir.Inst, x, y, z string) string {
	return fmt.Sprintf("%%%s = call %s @%s(%[2]s %[4]s, %[2]s %[5]s, %[2]s %[6]s)", ir.Unprefixed(in.Res), in.Type, fusedName(in.Type), x, y, z)
}

// fusedName is the intrinsic that multiplies and adds with one rounding.
func fusedName(t *ir.Type) string {
	if t.Kind == ir.Vector {
		return "llvm.fma." + ir.Suffix(t.N, t.Elem)
	}
	return "llvm.fma." + strings.TrimPrefix(ir.Suffix(1, t), "v1")
}

// beside is a name for a value that is computed on the way to in's result.
func beside(in *ir.Inst) string { return "%" + ir.Normalise("fused.", ir.Unprefixed(in.Res)) }

// exact returns the instruction without the flags that leave a choice.
func exact(in *ir.Inst) (*ir.Inst, error) {
	text := ir.WithoutFlags(in.Text, fastFlags)
	if text == in.Text {
		return in, nil
	}
	if in.Res != "" {
		text = "%" + ir.Unprefixed(in.Res) + " = " + text
	}
	return ir.ParseInst(text)
}

// chooses says whether a function attribute names a processor, or lets a code
// generator choose as the flags do.
func chooses(attribute string) bool {
	key, _, _ := strings.Cut(attribute, "=")
	switch key = ir.Unquoted(key); key {
	case "target-cpu", "target-features", "tune-cpu", "less-precise-fpmad":
		return true
	}
	return strings.HasSuffix(key, "-fp-math")
}

// declareFused declares the multiply-adds that the kernel now calls.
func declareFused(f *ir.Function) {
	want := map[string]string{}
	for _, in := range f.All() {
		if in.Op == "call" && strings.HasPrefix(in.Callee, "llvm.fma.") {
			want[in.Callee] = fmt.Sprintf("declare %s @%s(%[1]s, %[1]s, %[1]s)", in.Type, in.Callee)
		}
	}
	f.Module.Declare(want)
}
