package recording

import (
	"cmp"
	"fmt"
	"slices"
)

// judge holds the runs of a file to each other and to their plan. A run that
// cannot be what its plan says, or is headless, does not count.
func (f *File) judge(d *doubts, headless map[*Run]bool) {
	doubt := func(r *Run, kind, format string, a ...any) {
		if r.Doubt == "" {
			r.Doubt = fmt.Sprintf(format, a...)
		}
		d.tell(kind, r.Start.said()+fmt.Sprintf(format, a...)+", so that it does not count")
	}
	f.copies(doubt)
	if f.Plan == nil {
		return
	}
	last, numbers := 0, map[int]bool{}
	for i, r := range f.Runs {
		if r.Start == nil {
			continue
		}
		n := r.Start.Run
		switch {
		case numbers[n]:
			doubt(r, "run", "its number stands there once more")
		case !slices.ContainsFunc(f.Plan.Arms, func(a Arm) bool { return a.Name == r.Start.Arm }) && len(f.Plan.Arms) > 0:
			doubt(r, "arm", "the plan has no arm %q", r.Start.Arm)
		case f.Plan.Blocks > 0 && r.Start.Block > f.Plan.Blocks:
			doubt(r, "block", "it is of block %d and the plan has %d", r.Start.Block, f.Plan.Blocks)
		case r.Exit == nil && (f.PlanEnd != nil || i+1 < len(f.Runs)):
			doubt(r, "exit", "it has no exit: whether the plan took it is not known")
		case r.End != nil && headless[r]:
			doubt(r, "header", "its header is missing: what ran, and when its process began, is not known")
		case r.Exit != nil && r.End != nil && r.Exit.Code != r.End.Code && r.Exit.Refused == "":
			doubt(r, "code", "it says that it ended with exit code %d and its parent saw %d", r.End.Code, r.Exit.Code)
		}
		if n < last {
			d.tell("order", fmt.Sprintf("run %d stands behind run %d: runs are taken in the order of their numbers", n, last))
		}
		numbers[n], last = true, max(last, n)
	}
	slices.SortStableFunc(f.Runs, func(a, b *Run) int {
		if a.Start == nil || b.Start == nil {
			return 0
		}
		return cmp.Compare(a.Start.Run, b.Start.Run)
	})
}

// said is a run in front of what is said of it; "" outside of plans.
func (s *Start) said() string {
	if s == nil {
		return ""
	}
	return fmt.Sprintf("run %d: ", s.Run)
}

// copies finds runs that stand in a file more than once, as where a recording was
// put behind itself: they are no samples of their own.
func (f *File) copies(doubt func(r *Run, kind, format string, a ...any)) {
	type process struct {
		host         string
		pid, program int // several programs are recorded by one process
		clock, day   int64
		ended        int64 // of programs: a process may become another one
	}
	seen := map[process]bool{}
	for _, r := range f.Runs {
		h := r.Header
		p := process{host: h.Host.Name, pid: h.PID, clock: h.Clock, day: h.Started.UnixNano()}
		if h.Program != nil {
			if p.program = h.Program.PID; r.End != nil {
				p.ended = r.End.At
			}
		}
		if h.PID == 0 || h.Clock == 0 || h.Started.IsZero() {
			continue // made by hand
		}
		if seen[p] {
			doubt(r, "copy", "the run of process %d stands there once more", h.PID)
		}
		seen[p] = true
	}
}
