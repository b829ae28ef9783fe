package analysis

import (
	"slices"
	"strconv"

	"github.com/introgen/introgen/metalshim/soft/lanes/ir"
)

// maxFreeTrips is how many iterations a loop may make without asking whether
// it shall stop.
const maxFreeTrips = 1 << 20

// Unbounded returns the blocks with a back edge of a loop that is not known to
// end after at most maxFreeTrips iterations: those where the watchdog's flag
// has to be looked at.
func Unbounded(f *ir.Function, lf *LoopForest, dom *ir.DomTree) map[*ir.Block]bool {
	out := map[*ir.Block]bool{}
	for _, l := range lf.loops {
		if bounded(f, l, dom) {
			continue
		}
		for _, p := range l.Header.Preds {
			if l.Blocks[p] {
				out[p] = true
			}
		}
	}
	return out
}

// bounded looks for an exit that every iteration comes by and that
// compares a counter of constant start and step with a constant.
func bounded(f *ir.Function, l *Loop, dom *ir.DomTree) bool {
	defs := map[string]*ir.Inst{}
	for b := range l.Blocks {
		for _, in := range b.Insts {
			if in.Res != "" && (in.Op != "phi" || b == l.Header) { // a phi elsewhere counts something else
				defs[in.Res] = in
			}
		}
	}
	for b := range l.Blocks {
		if b.Cut != nil {
			continue
		}
		t := b.Last()
		if t.Op != "br" || len(t.Labels) != 2 || l.Blocks[f.ByName[t.Labels[0].Name]] == l.Blocks[f.ByName[t.Labels[1].Name]] {
			continue
		}
		around := func(p *ir.Block) bool { return l.Blocks[p] && !dom.Dominates(b, p) }
		if c := defs[t.Args[0].Local]; c != nil && c.Op == "icmp" && !slices.ContainsFunc(l.Header.Preds, around) {
			if n, ok := constantTrips(defs, c); ok && n <= maxFreeTrips {
				return true
			}
		}
	}
	return false
}

// constantTrips returns how many steps take the counter that c compares from
// its start to the constant it is compared with.
func constantTrips(defs map[string]*ir.Inst, c *ir.Inst) (int64, bool) {
	limit, err := strconv.ParseInt(c.Args[1].Text, 10, 64)
	if err != nil {
		return 0, false
	}
	counter := defs[c.Args[0].Local]
	if counter != nil && counter.Op == "add" {
		counter = defs[counter.Args[0].Local]
	}
	if counter == nil || counter.Op != "phi" || len(counter.Args) != 2 {
		return 0, false
	}
	for k := range counter.Args {
		start, err := strconv.ParseInt(counter.Args[k].Text, 10, 64)
		next := defs[counter.Args[1-k].Local]
		if err != nil || next == nil || next.Op != "add" || next.Args[0].Local != counter.Res {
			continue
		}
		step, err := strconv.ParseInt(next.Args[1].Text, 10, 64)
		if err != nil || step == 0 || limit > 1<<40 || limit < -1<<40 || start > 1<<40 || start < -1<<40 {
			continue
		}
		d := limit - start
		switch c.Pred {
		case "eq", "ne":
			if d%step != 0 || d/step < 0 {
				return 0, false
			}
		default: // a limit on the side the counter does not move to would not be met
			if d != 0 && (d > 0) != (step > 0) {
				return 0, false
			}
		}
		n := d / step
		if n < 0 {
			n = -n
		}
		return n + 1, true
	}
	return 0, false
}

// maxSpin is how many instructions a loop may have that does nothing but look.
const maxSpin = 40

// Spins returns those of Unbounded's blocks whose loop does nothing but look whether
// others have changed memory: whoever waits there lets others run.
func Spins(lf *LoopForest, unbounded map[*ir.Block]bool) map[*ir.Block]bool {
	out := map[*ir.Block]bool{}
	for _, l := range lf.loops {
		looks, works, n := false, false, 0
		for b := range l.Blocks {
			n += len(b.Insts)
			works = works || b.Cut != nil
			for _, in := range b.Insts {
				looks = looks || in.Volatile && in.Op == "load" || in.Op == "cmpxchg" || in.Op == "atomicrmw"
				works = works || in.Op == "call" || in.Op == "store"
			}
		}
		if !looks || works || n > maxSpin {
			continue
		}
		for _, p := range l.Header.Preds {
			if l.Blocks[p] && unbounded[p] {
				out[p] = true
			}
		}
	}
	return out
}

// Waits says whether the kernel may go round a loop until another simdgroup has
// changed memory: it has a loop of unknown length and reads memory that others may
// write meanwhile.
func Waits(f *ir.Function) (bool, error) {
	looks, calls := false, false
	for _, in := range f.All() {
		looks = looks || in.Volatile || in.Op == "atomicrmw" || in.Op == "cmpxchg"
		calls = calls || in.Stays && f.Module.Looks(in.Callee)
	}
	if !looks || calls {
		return calls, nil
	}
	dom := ir.Dominators(f.Blocks)
	forest, err := FindLoops(f.Blocks, dom)
	if err != nil {
		return false, err
	}
	return len(Unbounded(f, forest, dom)) > 0, nil
}
