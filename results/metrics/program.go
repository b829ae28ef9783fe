package metrics

import (
	"time"

	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/results/breakdown"
)

// The figures of a recorded program, of which nobody knows what a token is. Those
// of phases that it marks by the names of an engine's are the engine's own.
var (
	FirstMetal = Metric{Key: "first-metal", Name: "first Metal call", Bench: "FirstMetal", Of: program(func(r breakdown.Round) (float64, bool) { return known(r.FirstMetal) }),
		Text: "of a recorded program: from its start until it first calls Metal"}
	FirstOutput = Metric{Key: "first-output", Name: "first output", Bench: "FirstOutput", Of: program(func(r breakdown.Round) (float64, bool) { return known(r.FirstOutput) }),
		Text: "of a recorded program: from its start until its first byte on stdout, or where it has none there on stderr"}
	Repeat1 = Metric{Name: "first repeated step", Bench: "Step/step=1", Of: program(func(r breakdown.Round) (float64, bool) {
		return repeated(r, func(n int64) bool { return n == 1 })
	}),
		Text: "of a recorded program: the first of what it repeats after its first output"}
	Repeats = Metric{Key: "step", Name: "later repeated steps", Bench: "Step/step=later", Of: program(func(r breakdown.Round) (float64, bool) {
		return repeated(r, func(n int64) bool { return n > 1 })
	}),
		Text: "of a recorded program: the median of those after the first"}
	Lives = Metric{Key: "wall", Name: "program", Bench: "Program", run: func(r *breakdown.Run) (float64, bool) { return known(r.Life()) },
		Text: "of a recorded program: from its start until it has ended"}
	LibraryTime = Metric{Key: "lib", Name: "LIB", run: summed(func(p breakdown.Phase) float64 { return compiling(p, true) }),
		Text: "of a recorded program, and of a run beside it: what of the wall clock libraries took; what is made at once counts once"}
	PipelineTime = Metric{Key: "pipe", Name: "PIPE", run: summed(func(p breakdown.Phase) float64 { return compiling(p, false) }),
		Text: "of a recorded program, and of a run beside it: the same of pipelines, beside no library"}
	WaitTime = Metric{Key: "wait", Name: "waiting", run: summed(func(p breakdown.Phase) float64 { return float64(p.Wait) }),
		Text: "of a recorded program, and of a run beside it: what of the wall clock it waited for the device, and did nothing of the above"}
	GPUTime = Metric{Key: "gpu", Name: "GPU", run: summed(func(p breakdown.Phase) float64 { return float64(p.GPU) }),
		Text: "of a recorded program, and of a run beside it: how long the device ran its command buffers, by its own clock"}
	Libraries = Metric{Key: "libraries", Name: "libraries", Kind: Count, run: summed(func(p breakdown.Phase) float64 { return made(p, true) }),
		Text: "of a recorded program, and of a run beside it: how many it made, from source or from a cache"}
	Pipelines = Metric{Key: "pipelines", Name: "pipelines", Kind: Count, run: summed(func(p breakdown.Phase) float64 { return made(p, false) }),
		Text: "of a recorded program, and of a run beside it: the same of pipelines"}
	CommandBuffers = Metric{Key: "command-buffers", Name: "command buffers", Kind: Count, run: summed(func(p breakdown.Phase) float64 { return float64(p.CommandBuffers) }),
		Text: "of a recorded program, and of a run beside it: how many it committed"}
	Dispatches = Metric{Key: "dispatches", Name: "dispatches", Kind: Count, run: summed(func(p breakdown.Phase) float64 { return float64(p.Dispatches) }),
		Text: "of a recorded program, and of a run beside it: how many its command buffers had"}
	Barriers = Metric{Key: "barriers", Name: "barriers", Kind: Count, run: ofProgram(summed(func(p breakdown.Phase) float64 { return float64(p.Barriers) })),
		Text: "of a recorded program: how many memory barriers its encoders had"}
	Waits = Metric{Key: "waits", Name: "waits", Kind: Count, run: ofProgram(summed(func(p breakdown.Phase) float64 { return float64(p.Waits) })),
		Text: "of a recorded program: how often it waited for the device"}
	PeakMemory = Metric{Key: "peak-memory", Name: "peak memory", Kind: Bytes, run: peak,
		Text: "of a recorded program: the most memory that was resident"}
)

// The figures of recorded programs, in the order in which a table has them; between
// Beginning and Totals stand those of its phases.
var (
	Beginning = []Metric{FirstMetal, FirstOutput}
	Totals    = []Metric{Repeat1, Repeats, Lives, LibraryTime, PipelineTime, WaitTime, GPUTime, Libraries, Pipelines, CommandBuffers, Dispatches, Barriers, Waits, PeakMemory}
)

// PhaseCalled is the figure of the phases of a program that are called so.
func PhaseCalled(title string) Metric {
	return Metric{Name: title, Bench: "Phase", Of: program(func(r breakdown.Round) (float64, bool) {
		var sum time.Duration
		found := false
		for _, p := range r.Phases {
			if p.Title() == title {
				if p.Open {
					return 0, false
				}
				sum, found = sum+p.Time(), true
			}
		}
		return float64(sum), found
	}), Text: "of a recorded program: its phases that are called so"}
}

func program(of func(breakdown.Round) (float64, bool)) func(breakdown.Round) (float64, bool) {
	return func(r breakdown.Round) (float64, bool) {
		if !r.Program() {
			return 0, false
		}
		return of(r)
	}
}

// ofProgram leaves out an engine's run, which does not count it.
func ofProgram(of func(*breakdown.Run) (float64, bool)) func(*breakdown.Run) (float64, bool) {
	return func(run *breakdown.Run) (float64, bool) {
		if run.Header.Program == nil {
			return 0, false
		}
		return of(run)
	}
}

func repeated(r breakdown.Round, wanted func(n int64) bool) (float64, bool) {
	var steps []breakdown.Phase
	for _, p := range r.Repeats() {
		if wanted(p.N) {
			steps = append(steps, p)
		}
	}
	return stepTime(steps)
}

// summed is a figure of all phases of a run together; one of which spans are
// missing, or that never called Metal, has none.
func summed(of func(breakdown.Phase) float64) func(*breakdown.Run) (float64, bool) {
	return func(run *breakdown.Run) (float64, bool) {
		switch program := run.Header.Program != nil; {
		case len(run.Rounds) == 0, program && run.Rounds[0].FirstMetal == figures.Missing, !program && run.Device == nil:
			return 0, false
		}
		var all float64
		for _, r := range run.Rounds {
			if r.Lost() {
				return 0, false
			}
			for _, p := range r.Phases {
				all += of(p)
			}
		}
		return all, true
	}
}

func compiling(p breakdown.Phase, libraries bool) float64 {
	var all time.Duration
	for _, some := range [][]breakdown.Compile{p.Compiles, p.Carried} {
		for _, c := range some {
			if c.IsLibrary() == libraries {
				all += c.Wall()
			}
		}
	}
	return float64(all)
}

func made(p breakdown.Phase, libraries bool) float64 {
	n := 0
	for _, c := range p.Compiles {
		if c.IsLibrary() == libraries {
			n++
		}
	}
	return float64(n)
}

func peak(r *breakdown.Run) (float64, bool) {
	if r.Header.Program == nil || r.End == nil || r.End.MaxRSS == 0 {
		return 0, false
	}
	return float64(r.End.MaxRSS), true
}
