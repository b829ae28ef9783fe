package lanes

import "strconv"

// maxFreeTrips is how many iterations a loop may make without asking whether
// it shall stop.
const maxFreeTrips = 1 << 20

// unbounded returns the blocks with a back edge of a loop that is not known to
// end after at most maxFreeTrips iterations: those where the watchdog's flag
// has to be looked at.
func unbounded(f *function, lf *loopForest, dom *domTree) map[*block]bool {
	out := map[*block]bool{}
	for _, l := range lf.loops {
		if bounded(f, l, dom) {
			continue
		}
		for _, p := range l.header.preds {
			if l.blocks[p] {
				out[p] = true
			}
		}
	}
	return out
}

// bounded looks for an exit that every iteration comes by and that
// compares a counter of constant start and step with a constant.
func bounded(f *function, l *loop, dom *domTree) bool {
	defs := map[string]*inst{}
	for b := range l.blocks {
		for _, in := range b.insts {
			if in.res != "" && (in.op != "phi" || b == l.header) { // a phi elsewhere counts something else
				defs[in.res] = in
			}
		}
	}
	for b := range l.blocks {
		if b.cut != nil {
			continue
		}
		t := b.insts[len(b.insts)-1]
		if t.op != "br" || len(t.labels) != 2 || l.blocks[f.byName[t.labels[0].name]] == l.blocks[f.byName[t.labels[1].name]] {
			continue
		}
		always := true
		for _, p := range l.header.preds {
			if l.blocks[p] && !dom.dominates(b, p) {
				always = false
			}
		}
		if c := defs[t.args[0].local]; always && c != nil && c.op == "icmp" {
			if n, ok := constantTrips(defs, c); ok && n <= maxFreeTrips {
				return true
			}
		}
	}
	return false
}

// constantTrips returns how many steps take the counter that c compares from
// its start to the constant it is compared with.
func constantTrips(defs map[string]*inst, c *inst) (int64, bool) {
	limit, err := strconv.ParseInt(c.args[1].text, 10, 64)
	if err != nil {
		return 0, false
	}
	counter := defs[c.args[0].local]
	if counter != nil && counter.op == "add" {
		counter = defs[counter.args[0].local]
	}
	if counter == nil || counter.op != "phi" || len(counter.args) != 2 {
		return 0, false
	}
	for k := range counter.args {
		start, err := strconv.ParseInt(counter.args[k].text, 10, 64)
		next := defs[counter.args[1-k].local]
		if err != nil || next == nil || next.op != "add" || next.args[0].local != counter.res {
			continue
		}
		step, err := strconv.ParseInt(next.args[1].text, 10, 64)
		if err != nil || step == 0 || limit > 1<<40 || limit < -1<<40 || start > 1<<40 || start < -1<<40 {
			continue
		}
		d := limit - start
		switch c.pred {
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
