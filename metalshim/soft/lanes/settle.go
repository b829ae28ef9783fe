package lanes

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// What a kernel computes is settled here, before a processor is known. The fast
// math modes leave a choice: sums may be put into another order, and products
// joined with sums. A code generator chooses by the instructions that a
// processor has and by how long they take, so that two processors give two
// results. So the choice is made once, in the one-lane code: products join sums
// where settle says, and the flags that leave a choice are taken away.

// fastFlag are the flags of floating-point instructions that leave a choice.
const fastFlag = `(?:nnan|ninf|nsz|arcp|contract|afn|reassoc|fast)`

// fastText finds those flags in a line of text.
var fastText = regexp.MustCompile(`((?:^|= |\s)(?:fadd|fsub|fmul|fdiv|frem|fneg|fcmp|fptrunc|fpext|select|phi|call)) (?:` + fastFlag + ` )+`)

// exactText is text without those flags.
func exactText(text string) string { return fastText.ReplaceAllString(text, "$1 ") }

// settle joins products and sums, and drops every flag that would leave
// arithmetic to the code generator. A product of float or double is joined with
// the sum or difference in the same block that alone uses it, if both may be
// contracted, the left operand's before the right one's. Half and bfloat round
// after each operation.
func (f *function) settle() error {
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
				if uses[in.res] == 1 && in.mayJoin() {
					product[in.res] = in
				}
			case (in.op == "fadd" || in.op == "fsub") && in.mayJoin():
				if made, err = joinProduct(in, product, joined); err != nil {
					return err
				}
			case in.op == "call" && strings.HasPrefix(in.callee, "llvm.fmuladd."):
				if made, err = in.multiplyAdd(); err != nil {
					return err
				}
			}
			out = append(out, made...)
		}
		b.insts = slices.DeleteFunc(out, func(in *inst) bool { return joined[in.res] && in.op == "fmul" })
		for i, in := range b.insts {
			var err error
			if b.insts[i], err = in.exact(); err != nil {
				return err
			}
		}
	}
	f.declareFused()
	return nil
}

// mayJoin says whether a product or sum may become part of a multiply-add.
func (in *inst) mayJoin() bool {
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
			n := in.beside()
			lines = append(lines, fmt.Sprintf("%s = fneg %s %s", n, in.typ, *negated))
			*negated = n
		}
		return readLines(append(lines, fused(in, x, y, z)))
	}
	return []*inst{in}, nil
}

// multiplyAdd writes llvm.fmuladd, which rounds once or twice as the processor
// likes, as one rounding for float and double and as two for 16-bit floats.
func (in *inst) multiplyAdd() ([]*inst, error) {
	x, y, z := in.args[0].source(), in.args[1].source(), in.args[2].source()
	if wideFloat(in.typ) {
		return readLines([]string{fused(in, x, y, z)})
	}
	p := in.beside()
	return readLines([]string{
		fmt.Sprintf("%s = fmul %s %s, %s", p, in.typ, x, y),
		fmt.Sprintf("%%%s = fadd %s %s, %s", unprefixed(in.res), in.typ, p, z)})
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
func (in *inst) beside() string { return "%" + normalise("fused.", unprefixed(in.res)) }

// source is an operand as the one-lane code has it.
func (a *operand) source() string {
	if a.local != "" {
		return "%" + unprefixed(a.local)
	}
	return a.text
}

// readLines reads lines of one-lane code.
func readLines(lines []string) ([]*inst, error) {
	var out []*inst
	for _, l := range lines {
		in, err := parseInst(l)
		if err != nil {
			return nil, err
		}
		out = append(out, in)
	}
	return out, nil
}

// exact returns the instruction without the flags that leave a choice.
func (in *inst) exact() (*inst, error) {
	text := exactText(in.text)
	if text == in.text {
		return in, nil
	}
	if in.res != "" {
		text = "%" + unprefixed(in.res) + " = " + text
	}
	return parseInst(text)
}

// choices are the function attributes that name a processor, or let a code
// generator choose as the flags do.
var choices = regexp.MustCompile(` "(?:target-cpu|target-features|tune-cpu|[\w-]*-fp-math|less-precise-fpmad)"="[^"]*"`)

// settleRest does for the functions that the kernel calls, and for the
// attributes of all, what settle does for the kernel. They are plain code of
// sg.h, which leaves no product to be joined.
func (m *module) settleRest() {
	for i, c := range m.chunks {
		switch {
		case c.fn != "" && c.fn != entryName:
			m.chunks[i].text = exactText(c.text)
		case strings.HasPrefix(c.text, "attributes #"):
			m.chunks[i].text = choices.ReplaceAllString(c.text, "")
		}
	}
}

// declareFused declares the multiply-adds that the kernel now calls.
func (f *function) declareFused() {
	want := map[string]string{}
	for _, b := range f.blocks {
		for _, in := range b.insts {
			if in.op == "call" && strings.HasPrefix(in.callee, "llvm.fma.") {
				want[in.callee] = fmt.Sprintf("declare %s @%s(%[1]s, %[1]s, %[1]s)", in.typ, in.callee)
			}
		}
	}
	for _, line := range strings.SplitAfter(f.declarations(want), "\n") {
		if line = strings.TrimSuffix(line, "\n"); line != "" {
			f.mod.chunks = append(f.mod.chunks, chunk{text: line})
		}
	}
}
