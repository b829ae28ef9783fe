package lanes

import (
	"fmt"
	"slices"
	"strings"
)

// libmCalls are the library functions a lane may call: scalar in, scalar out,
// no memory. Names are the double form's; the float form ends in f.
var libmCalls = set(`acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh cospi erf erfc exp exp10 exp2
	expm1 fabs fdim floor fma fmax fmin fmod hypot ldexp lgamma log log10 log1p log2 logb nextafter pow remainder
	rint round sin sinh sinpi sqrt tan tanh tanpi tgamma trunc`)

// check holds the function to what the rest of the pass relies on, and fills
// succs and preds.
func (f *function) check() error {
	for _, b := range f.blocks {
		for i, in := range b.insts {
			if in.terminator() != (i == len(b.insts)-1) {
				return fmt.Errorf("block %s: %q: terminator and end of block do not meet", b.name[2:], clip(in.text))
			}
			if in.op == "phi" && i > 0 && b.insts[i-1].op != "phi" {
				return fmt.Errorf("block %s: phi %q after other instructions", b.name[2:], clip(in.text))
			}
			if in.op == "alloca" && b.index != 0 {
				return fmt.Errorf("block %s: alloca %q outside the entry block", b.name[2:], clip(in.text))
			}
			if in.op == "call" && !allowedCall(in.callee) {
				return fmt.Errorf("block %s: call of @%s, which is neither inlined nor known to the lane pass", b.name[2:], in.callee)
			}
			if err := wellTyped(in); err != nil {
				return fmt.Errorf("block %s: %w", b.name[2:], err)
			}
			if syncOf(in) != "" {
				if err := checkSync(in); err != nil {
					return fmt.Errorf("block %s: %w", b.name[2:], err)
				}
			}
			for g := range globals(in.text) {
				if g.name == threadLocalAddress {
					return fmt.Errorf("block %s: unsupported use of a thread_local in %q", b.name[2:], clip(in.text))
				}
				if slices.ContainsFunc(f.tgs, func(v threadVar) bool { return v.name == g.name }) {
					return fmt.Errorf("block %s: unsupported use of thread_local @%s in %q", b.name[2:], g.name, clip(in.text))
				}
			}
		}
		if len(b.insts) == 0 {
			return fmt.Errorf("block %s is empty", b.name[2:])
		}
	}
	if err := f.link(); err != nil {
		return err
	}
	if len(f.blocks[0].preds) > 0 {
		return fmt.Errorf("block %s: a branch leads to the entry block", f.blocks[0].name[2:])
	}
	f.dropUnreachable()
	return f.checkValues()
}

func allowedCall(name string) bool {
	if strings.HasPrefix(name, "llvm.") {
		return true
	}
	return strings.HasPrefix(name, syncPrefix) || name == "msl_lane" || libmCalls[name] || libmCalls[strings.TrimSuffix(name, "f")]
}

// link fills succs and preds from the terminators.
func (f *function) link() error {
	for _, b := range f.blocks {
		b.succs, b.preds = nil, nil
	}
	for _, b := range f.blocks {
		if b.cut != nil {
			b.edge(b.cut.cont)
			continue
		}
		t := b.insts[len(b.insts)-1]
		for _, l := range t.labels {
			s := f.byName[l.name]
			if s == nil {
				return fmt.Errorf("block %s: %q names an unknown block", b.name[2:], clip(t.text))
			}
			b.edge(s)
		}
	}
	return nil
}

// edge records b → s once, however many cases of a switch lead there.
func (b *block) edge(s *block) {
	if !slices.Contains(b.succs, s) {
		b.succs = append(b.succs, s)
		s.preds = append(s.preds, b)
	}
}

// dropUnreachable removes blocks that control never reaches, with their phi
// entries.
func (f *function) dropUnreachable() {
	seen := map[*block]bool{f.blocks[0]: true}
	work := []*block{f.blocks[0]}
	for len(work) > 0 {
		b := work[len(work)-1]
		work = work[:len(work)-1]
		for _, s := range b.succs {
			if !seen[s] {
				seen[s] = true
				work = append(work, s)
			}
		}
	}
	if len(seen) == len(f.blocks) {
		return
	}
	var keep []*block
	for _, b := range f.blocks {
		if !seen[b] {
			delete(f.byName, b.name)
			continue
		}
		b.index = len(keep)
		keep = append(keep, b)
		var preds []*block
		for _, p := range b.preds {
			if seen[p] {
				preds = append(preds, p)
			}
		}
		b.preds = preds
		for _, in := range b.insts {
			if in.op == "phi" {
				in.dropIncoming(func(l string) bool { return seen[f.byName[l]] })
			}
		}
	}
	f.blocks = keep
}

// dropIncoming removes a phi's entries whose block keep refuses.
func (in *inst) dropIncoming(keep func(string) bool) {
	var args []operand
	var labels []label
	for i, l := range in.labels {
		if keep(l.name) {
			args = append(args, in.args[i])
			labels = append(labels, l)
		}
	}
	if len(args) == len(in.args) {
		return
	}
	in.setIncoming(args, labels)
}

// setIncoming replaces a phi's entries and its text.
func (in *inst) setIncoming(args []operand, labels []label) {
	var b strings.Builder
	b.WriteString("phi ")
	for _, fl := range in.flags {
		b.WriteString(fl + " ")
	}
	b.WriteString(in.typ.String())
	for i := range args {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(" [ ")
		args[i].beg = b.Len()
		if args[i].local != "" {
			b.WriteString("%" + args[i].local)
		} else {
			b.WriteString(args[i].text)
		}
		args[i].end = b.Len()
		b.WriteString(", ")
		labels[i].beg = b.Len()
		b.WriteString("%" + labels[i].name)
		labels[i].end = b.Len()
		b.WriteString(" ]")
	}
	in.args, in.labels, in.text = args, labels, b.String()
}

// checkValues makes sure that every name is defined once, is there where it is
// used, and that phis fit their block's predecessors.
func (f *function) checkValues() error {
	type place struct {
		b *block
		i int
	}
	def := map[string]place{}
	types := map[string]*typ{}
	for i, n := range []string{f.g, f.lane, f.sg, f.x, f.y, f.z} {
		if _, dup := def[n]; dup {
			return fmt.Errorf("parameter %%%s twice", unprefixed(n))
		}
		def[n] = place{f.blocks[0], -1}
		types[n] = tI32
		if i == 0 {
			types[n] = tPtr
		}
	}
	for _, b := range f.blocks {
		for i, in := range b.insts {
			if in.res == "" {
				continue
			}
			if _, dup := def[in.res]; dup {
				return fmt.Errorf("block %s: %%%s defined twice", b.name[2:], unprefixed(in.res))
			}
			def[in.res] = place{b, i}
			types[in.res] = in.typ
		}
	}
	dom := dominators(f.blocks)
	for _, b := range f.blocks {
		for i, in := range b.insts {
			for k, a := range in.args {
				if a.local == "" {
					continue
				}
				d, ok := def[a.local]
				if !ok {
					return fmt.Errorf("block %s: %q uses undefined %%%s", b.name[2:], clip(in.text), unprefixed(a.local))
				}
				if t := types[a.local]; t.String() != a.typ.String() {
					return fmt.Errorf("block %s: %q takes %%%s as %s, it is %s", b.name[2:], clip(in.text), unprefixed(a.local), a.typ, t)
				}
				ub, ui := b, i
				if in.op == "phi" {
					ub = f.byName[in.labels[k].name]
					if ub == nil {
						return fmt.Errorf("block %s: phi %q names an unknown block", b.name[2:], clip(in.text))
					}
					ui = len(ub.insts)
				}
				if d.b == ub && d.i >= ui || d.b != ub && !dom.dominates(d.b, ub) {
					return fmt.Errorf("block %s: %q uses %%%s before it is defined", b.name[2:], clip(in.text), unprefixed(a.local))
				}
			}
			if in.op == "phi" {
				if err := checkPhi(b, in); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func checkPhi(b *block, in *inst) error {
	seen := map[string]bool{}
	for _, l := range in.labels {
		seen[l.name] = true
	}
	for _, p := range b.preds {
		if !seen[p.name] {
			return fmt.Errorf("block %s: phi %q has no entry for predecessor %s", b.name[2:], clip(in.text), p.name[2:])
		}
	}
	if len(seen) != len(b.preds) {
		return fmt.Errorf("block %s: phi %q has entries for blocks that do not lead here", b.name[2:], clip(in.text))
	}
	return nil
}
