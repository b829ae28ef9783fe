package ir

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
func (f *Function) check() error {
	for _, b := range f.Blocks {
		for i, in := range b.Insts {
			if in.Terminator() != (i == len(b.Insts)-1) {
				return fmt.Errorf("block %s: %q: terminator and end of block do not meet", b.Name[2:], Clip(in.Text))
			}
			if in.Op == "phi" && i > 0 && b.Insts[i-1].Op != "phi" {
				return fmt.Errorf("block %s: phi %q after other instructions", b.Name[2:], Clip(in.Text))
			}
			if in.Op == "alloca" && b.Index != 0 {
				return fmt.Errorf("block %s: alloca %q outside the entry block", b.Name[2:], Clip(in.Text))
			}
			if in.Op == "call" && !allowedCall(in.Callee) {
				if in.Stays = f.Module.plain(in.Callee); !in.Stays {
					return fmt.Errorf("block %s: call of @%s, which is neither inlined nor known to the lane pass", b.Name[2:], in.Callee)
				}
			}
			if err := wellTyped(in); err != nil {
				return fmt.Errorf("block %s: %w", b.Name[2:], err)
			}
			if CrossLane(in) != "" {
				if err := checkSync(in); err != nil {
					return fmt.Errorf("block %s: %w", b.Name[2:], err)
				}
			}
			for g := range Globals(in.Text) {
				if g.Name == threadLocalAddress {
					return fmt.Errorf("block %s: unsupported use of a thread_local in %q", b.Name[2:], Clip(in.Text))
				}
				if slices.ContainsFunc(f.ThreadVars, func(v ThreadVar) bool { return v.name == g.Name }) {
					return fmt.Errorf("block %s: unsupported use of thread_local @%s in %q", b.Name[2:], g.Name, Clip(in.Text))
				}
			}
		}
		if len(b.Insts) == 0 {
			return fmt.Errorf("block %s is empty", b.Name[2:])
		}
	}
	if err := f.Link(); err != nil {
		return err
	}
	if len(f.Blocks[0].Preds) > 0 {
		return fmt.Errorf("block %s: a branch leads to the entry block", f.Blocks[0].Name[2:])
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

// Link fills succs and preds from the terminators.
func (f *Function) Link() error {
	for _, b := range f.Blocks {
		b.Succs, b.Preds = nil, nil
	}
	for _, b := range f.Blocks {
		if b.Cut != nil {
			b.edge(b.Cut.Cont)
			continue
		}
		t := b.Last()
		for _, l := range t.Labels {
			s := f.ByName[l.Name]
			if s == nil {
				return fmt.Errorf("block %s: %q names an unknown block", b.Name[2:], Clip(t.Text))
			}
			b.edge(s)
		}
	}
	return nil
}

// edge records b → s once, however many cases of a switch lead there.
func (b *Block) edge(s *Block) {
	if !slices.Contains(b.Succs, s) {
		b.Succs = append(b.Succs, s)
		s.Preds = append(s.Preds, b)
	}
}

// dropUnreachable removes blocks that control never reaches, with their phi
// entries.
func (f *Function) dropUnreachable() {
	seen := map[*Block]bool{}
	for _, b := range ReversePostorder(f.Blocks[0], Successors) {
		seen[b] = true
	}
	f.Blocks = slices.DeleteFunc(f.Blocks, func(b *Block) bool {
		if !seen[b] {
			delete(f.ByName, b.Name)
		}
		return !seen[b]
	})
	for i, b := range f.Blocks {
		b.Index = i
		b.Preds = slices.DeleteFunc(b.Preds, func(p *Block) bool { return !seen[p] })
		for _, in := range b.Phis() {
			in.dropIncoming(func(l string) bool { return seen[f.ByName[l]] })
		}
	}
}

// dropIncoming removes a phi's entries whose block keep refuses.
func (in *Inst) dropIncoming(keep func(string) bool) {
	var args []Operand
	var labels []Label
	for i, l := range in.Labels {
		if keep(l.Name) {
			args = append(args, in.Args[i])
			labels = append(labels, l)
		}
	}
	if len(args) < len(in.Args) {
		in.SetIncoming(args, labels)
	}
}

// SetIncoming replaces a phi's entries and its text.
func (in *Inst) SetIncoming(args []Operand, labels []Label) {
	var b strings.Builder
	b.WriteString("phi ")
	for _, fl := range in.Flags {
		b.WriteString(fl + " ")
	}
	b.WriteString(in.Type.String())
	for i := range args {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(" [ ")
		args[i].Beg = b.Len()
		if args[i].Local != "" {
			b.WriteString("%" + args[i].Local)
		} else {
			b.WriteString(args[i].Text)
		}
		args[i].End = b.Len()
		b.WriteString(", ")
		labels[i].beg = b.Len()
		b.WriteString("%" + labels[i].Name)
		labels[i].end = b.Len()
		b.WriteString(" ]")
	}
	in.Args, in.Labels, in.Text = args, labels, b.String()
}

// checkValues makes sure that every name is defined once, is there where it is
// used, and that phis fit their block's predecessors.
func (f *Function) checkValues() error {
	type place struct {
		b *Block
		i int
	}
	def := map[string]place{}
	types := map[string]*Type{}
	for i, n := range []string{f.G, f.Lane, f.SG, f.X, f.Y, f.Z} {
		if _, dup := def[n]; dup {
			return fmt.Errorf("parameter %%%s twice", Unprefixed(n))
		}
		def[n] = place{f.Blocks[0], -1}
		types[n] = I32
		if i == 0 {
			types[n] = Ptr
		}
	}
	for _, b := range f.Blocks {
		for i, in := range b.Insts {
			if in.Res == "" {
				continue
			}
			if _, dup := def[in.Res]; dup {
				return fmt.Errorf("block %s: %%%s defined twice", b.Name[2:], Unprefixed(in.Res))
			}
			def[in.Res] = place{b, i}
			types[in.Res] = in.Type
		}
	}
	dom := Dominators(f.Blocks)
	for _, b := range f.Blocks {
		for i, in := range b.Insts {
			for k, a := range in.Args {
				if a.Local == "" {
					continue
				}
				d, ok := def[a.Local]
				if !ok {
					return fmt.Errorf("block %s: %q uses undefined %%%s", b.Name[2:], Clip(in.Text), Unprefixed(a.Local))
				}
				if t := types[a.Local]; t.String() != a.Type.String() {
					return fmt.Errorf("block %s: %q takes %%%s as %s, it is %s", b.Name[2:], Clip(in.Text), Unprefixed(a.Local), a.Type, t)
				}
				ub, ui := b, i
				if in.Op == "phi" {
					ub = f.ByName[in.Labels[k].Name]
					if ub == nil {
						return fmt.Errorf("block %s: phi %q names an unknown block", b.Name[2:], Clip(in.Text))
					}
					ui = len(ub.Insts)
				}
				if d.b == ub && d.i >= ui || d.b != ub && !dom.Dominates(d.b, ub) {
					return fmt.Errorf("block %s: %q uses %%%s before it is defined", b.Name[2:], Clip(in.Text), Unprefixed(a.Local))
				}
			}
			if in.Op == "phi" {
				if err := checkPhi(b, in); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func checkPhi(b *Block, in *Inst) error {
	seen := map[string]bool{}
	for _, l := range in.Labels {
		seen[l.Name] = true
	}
	for _, p := range b.Preds {
		if !seen[p.Name] {
			return fmt.Errorf("block %s: phi %q has no entry for predecessor %s", b.Name[2:], Clip(in.Text), p.Name[2:])
		}
	}
	if len(seen) != len(b.Preds) {
		return fmt.Errorf("block %s: phi %q has entries for blocks that do not lead here", b.Name[2:], Clip(in.Text))
	}
	return nil
}
