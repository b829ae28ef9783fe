package lanes

import (
	"fmt"
	"slices"
	"strings"
)

// What a kernel computes is settled here, before a processor is known. The fast
// math modes leave a choice: sums may be put into another order, and products
// joined with sums. A code generator chooses by the instructions that a
// processor has and by how long they take, so that two processors give two
// results. So the choice is made once, in the one-lane code: products join sums
// where settle says, and the flags that leave a choice are taken away.

// fastFlags are the flags of floating-point instructions that leave a choice.
var fastFlags = set("nnan ninf nsz arcp contract afn reassoc fast")

// settle joins products and sums, and drops every flag that would leave
// arithmetic to the code generator. A product of float or double is joined with
// the sum or difference in the same block that alone uses it, if both may be
// contracted, the left operand's before the right one's. Half and bfloat round
// after each operation.
func settle(f *function) error {
	uses := map[string]int{}
	for _, b := range f.blocks {
		for _, in := range b.insts {
			for _, a := range in.args {
				uses[a.local]++
			}
		}
	}
	for _, b := range f.blocks {
		product := map[string]*inst{}
		joined := map[string]bool{}
		var out []*inst
		for _, in := range b.insts {
			made := []*inst{in}
			var err error
			switch {
			case in.op == "fmul":
				if uses[in.res] == 1 && mayJoin(in) {
					product[in.res] = in
				}
			case (in.op == "fadd" || in.op == "fsub") && mayJoin(in):
				if made, err = joinProduct(in, product, joined); err != nil {
					return err
				}
			case in.op == "call" && strings.HasPrefix(in.callee, "llvm.fmuladd."):
				if made, err = multiplyAdd(in); err != nil {
					return err
				}
			}
			out = append(out, made...)
		}
		b.insts = slices.DeleteFunc(out, func(in *inst) bool { return joined[in.res] && in.op == "fmul" })
		for i, in := range b.insts {
			var err error
			if b.insts[i], err = exact(in); err != nil {
				return err
			}
		}
	}
	declareFused(f)
	return nil
}

// mayJoin says whether a product or sum may become part of a multiply-add.
func mayJoin(in *inst) bool {
	return (in.hasFlag("contract") || in.hasFlag("fast")) && wideFloat(in.typ)
}

// wideFloat says whether a type is float, double or a vector of them.
func wideFloat(t *typ) bool {
	e := elemOf(t)
	return e.text == "float" || e.text == "double"
}

// joinProduct returns what stands for a sum: the multiply-add with one of its operands,
// if that is a product that nothing else uses, else the sum itself.
func joinProduct(in *inst, product map[string]*inst, joined map[string]bool) ([]*inst, error) {
	for k := range in.args {
		p := product[in.args[k].local]
		if p == nil {
			continue
		}
		joined[p.res] = true
		x, y, z := p.args[0].source(), p.args[1].source(), in.args[1-k].source()
		var lines []string
		if in.op == "fsub" { // x*y − z, or z − x*y
			negated := &z
			if k == 1 {
				negated = &x
			}
			n := beside(in)
			lines = append(lines, fmt.Sprintf("%s = fneg %s %s", n, in.typ, *negated))
			*negated = n
		}
		return parseInsts(append(lines, fused(in, x, y, z))...)
	}
	return []*inst{in}, nil
}

// multiplyAdd writes llvm.fmuladd, which rounds once or twice as the processor
// likes, as one rounding for float and double and as two for 16-bit floats.
func multiplyAdd(in *inst) ([]*inst, error) {
	x, y, z := in.args[0].source(), in.args[1].source(), in.args[2].source()
	if wideFloat(in.typ) {
		return parseInsts(fused(in, x, y, z))
	}
	p := beside(in)
	return parseInsts(
		fmt.Sprintf("%s = fmul %s %s, %s", p, in.typ, x, y),
		fmt.Sprintf("%%%s = fadd %s %s, %s", unprefixed(in.res), in.typ, p, z))
}

// fused is the line of a multiply-add that rounds once, with in's result.
func fused(in *inst, x, y, z string) string {
	return fmt.Sprintf("%%%s = call %s @%s(%[2]s %[4]s, %[2]s %[5]s, %[2]s %[6]s)", unprefixed(in.res), in.typ, fusedName(in.typ), x, y, z)
}

// fusedName is the intrinsic that multiplies and adds with one rounding.
func fusedName(t *typ) string {
	if t.kind == kVec {
		return "llvm.fma." + suffix(t.n, t.elem)
	}
	return "llvm.fma." + strings.TrimPrefix(suffix(1, t), "v1")
}

// beside is a name for a value that is computed on the way to in's result.
func beside(in *inst) string { return "%" + normalise("fused.", unprefixed(in.res)) }

// exact returns the instruction without the flags that leave a choice.
func exact(in *inst) (*inst, error) {
	text := withoutFlags(in.text, fastFlags)
	if text == in.text {
		return in, nil
	}
	if in.res != "" {
		text = "%" + unprefixed(in.res) + " = " + text
	}
	return parseInst(text)
}

// chooses says whether a function attribute names a processor, or lets a code
// generator choose as the flags do.
func chooses(attribute string) bool {
	key, _, _ := strings.Cut(attribute, "=")
	switch key = unquoted(key); key {
	case "target-cpu", "target-features", "tune-cpu", "less-precise-fpmad":
		return true
	}
	return strings.HasSuffix(key, "-fp-math")
}

// settleRest does for the functions that the kernel calls, and for the
// attributes of all, what settle does for the kernel. They are plain code of
// sg.h, which leaves no product to be joined.
func settleRest(m *module) {
	for i := range m.chunks {
		switch c := &m.chunks[i]; {
		case c.kind == definition && c.name != entryName:
			var b strings.Builder
			for line := range strings.Lines(c.text) {
				b.WriteString(withoutFlags(line, fastFlags))
			}
			c.text = b.String()
		case c.kind == attributeGroup:
			for _, a := range c.attributes() {
				if chooses(a) {
					c.text = strings.Replace(c.text, " "+a, "", 1)
				}
			}
		}
	}
}

// declareFused declares the multiply-adds that the kernel now calls.
func declareFused(f *function) {
	want := map[string]string{}
	for _, b := range f.blocks {
		for _, in := range b.insts {
			if in.op == "call" && strings.HasPrefix(in.callee, "llvm.fma.") {
				want[in.callee] = fmt.Sprintf("declare %s @%s(%[1]s, %[1]s, %[1]s)", in.typ, in.callee)
			}
		}
	}
	f.mod.declare(want)
}
