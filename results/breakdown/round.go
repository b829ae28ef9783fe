// Package breakdown takes a run apart: into its rounds, the phases of each, and
// what was compiled, encoded and waited for in them; and into the lines of an
// account that add up to the wall clock. Every view and every answer stands on it,
// also the lines that are printed while a run goes on: a Builder is fed event by
// event. It reads the spans and samples of a recording and judges nothing.
package breakdown

import (
	"slices"
	"time"

	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/trace"
	"github.com/introgen/introgen/trace/names"
)

// What a part of a phase can be, besides the phase itself.
const (
	KindLibrary   = names.SpanLibrary
	KindPipeline  = names.SpanPipeline
	KindRecording = names.SpanRecord // the instrument writes its own file
	KindWeights   = "weights to the device"
	KindEncode    = "encoding"
	KindCommit    = "committing"
	KindWait      = "waiting for the device"
)

// Compile is a library or a pipeline that was made, from source or from a
// cache.
type Compile struct {
	Library  string
	Function string // "" for the library itself
	// Constants tell pipelines of one function apart; "" where none are known.
	Constants string
	// SourceBytes and Kernels are a library's: of its source, and in it.
	SourceBytes, Kernels int
	Cache                string // one of package names' states
	Told                 bool   // an event says what Cache does; where none does it is not known
	Start                time.Duration
	Time                 time.Duration

	// Beside says that an engine's run made it beside the thread that generates: then
	// its Wall is what that thread waited while it was made.
	Beside bool

	// Of what several threads compile at once and beyond the end of a phase, of a
	// program or beside an engine: the span, and what of Time the wall clock does not
	// count for it.
	span    trace.ID
	beside  time.Duration
	carried bool
}

// Carried says whether it was begun in an earlier phase, in which it counts.
func (c Compile) Carried() bool { return c.carried }

// Wall is what of Time the wall clock counts for it within the phase: no moment of
// a phase counts for two.
func (c Compile) Wall() time.Duration { return c.Time - c.beside }

// IsLibrary tells a library from a pipeline.
func (c Compile) IsLibrary() bool { return c.Function == "" }

// unknownHit is the time below which a library counts as one from a cache where
// the driver does not tell: in the experiment macOS took 2 to 3 ms for one from
// its cache, and 26 ms to compile the smallest.
const unknownHit = 15 * time.Millisecond

// FromCache says whether it was not compiled.
func (c Compile) FromCache() bool {
	return names.IsTaken(c.Cache) || c.Cache == names.CacheUnknown && c.Time < unknownHit
}

// Phase is a part of a round. Its parts Compiles, Recording, Weights, Encode,
// Commit and Wait do not overlap: what lies within another part, however deeply, is
// taken out of that one. GPU is the device's own time, which overlaps with all of
// them; what the device did at once counts once.
type Phase struct {
	ID         trace.ID
	Name       string // one of package names' spans
	Detail     string // what a program calls a SpanPhase
	N          int64  // a prefill's tokens, a decode step's number from 1
	Start, End time.Duration
	Open       bool // the recording ends within it
	// Lost says that spans are missing which may have lain in it: Compiles and
	// the times of its other parts may not be all.
	Lost bool

	Compiles             []Compile     // in order
	Carried              []Compile     // begun in an earlier phase on another thread, with what of their Wall lies in this one
	Recording            time.Duration // in which the recording was written
	Weights              time.Duration // in which tensors were brought to the device
	Encode, Commit, Wait time.Duration
	GPU                  time.Duration // in which the device ran something
	Overlap              time.Duration // of GPU, while the CPU did something else than wait for it

	Dispatches, Encoders, CommandBuffers int64
	Barriers                             int64 // between dispatches; of recorded programs
	Waits                                int64 // of the CPU for the device
}

// Title is how the phase is called: "decode step 3", or what a program calls it.
func (p Phase) Title() string {
	if p.Name == names.SpanPhase && p.Detail != "" {
		return p.Detail
	}
	return names.Title(p.Name, p.N)
}

// Time is the phase's wall clock.
func (p Phase) Time() time.Duration { return p.End - p.Start }

// Compiling is how long the phase compiled: no moment of it counts twice.
func (p Phase) Compiling() time.Duration {
	var sum time.Duration
	for _, c := range p.Compiles {
		sum += c.Wall()
	}
	for _, c := range p.Carried {
		sum += c.Wall()
	}
	return sum
}

// Own is the phase's wall clock less compiling and recording.
func (p Phase) Own() time.Duration { return p.Time() - p.Compiling() - p.Recording }

// Part is a part of a phase by one of the Kind constants.
type Part struct {
	Kind string
	Time time.Duration
}

// Parts are what the phase did for a device besides compiling, without what
// took no time.
func (p Phase) Parts() []Part {
	all := []Part{{KindWeights, p.Weights}, {KindEncode, p.Encode}, {KindCommit, p.Commit}, {KindWait, p.Wait}}
	return slices.DeleteFunc(all, func(x Part) bool { return x.Time <= 0 })
}

// Divided says whether some of the phase is told by parts, libraries or pipelines:
// what goes on beside it and is not waited for is none.
func (p Phase) Divided() bool {
	unwaited := func(c Compile) bool { return c.Beside && c.Wall() == 0 }
	return len(p.Parts())+len(p.Carried) > 0 || slices.ContainsFunc(p.Compiles, func(c Compile) bool { return !unwaited(c) })
}

// Rest is what no part explains: of a phase without parts all of its time.
func (p Phase) Rest() time.Duration {
	rest := p.Own()
	for _, x := range p.Parts() {
		rest -= x.Time
	}
	return rest
}

// Round is one generation.
type Round struct {
	ID         trace.ID
	Number     int
	Start, End time.Duration
	Open       bool    // its end is not recorded
	Phases     []Phase // in order
	// Event is what the round said of itself when it had ended; nil where it did
	// not.
	Event *recording.Round
	// Before is what the process did before its first round, from its start on:
	// as its parent took it, else from the run's own first moment. It is empty
	// for later rounds, and where the run does not tell.
	Before []Part
	// FirstMetal and FirstOutput are of a recorded program, on the run's clock: when
	// it first called Metal, and wrote its first byte, on stdout or else on stderr;
	// figures.Missing where it never did, and of an engine's rounds.
	FirstMetal, FirstOutput time.Duration

	run     *recording.Run
	program bool
}

// FromStart is the time from the start of the process until new token n is
// known, without that in which the instrument itself was at work.
func (r Round) FromStart(n int) (time.Duration, bool) {
	t, ok := r.Token(n)
	for _, p := range r.Before {
		t += p.Time
	}
	return t, ok && len(r.Before) > 0
}

// Phase returns the first phase of the name.
func (r Round) Phase(name string) (Phase, bool) {
	return r.first(func(p Phase) bool { return p.Name == name })
}

func (r Round) first(is func(Phase) bool) (Phase, bool) {
	i := slices.IndexFunc(r.Phases, is)
	if i < 0 {
		return Phase{}, false
	}
	return r.Phases[i], true
}

// Wall is the round's wall clock; figures.Missing where its end is not recorded.
func (r Round) Wall() time.Duration {
	if r.Open {
		return figures.Missing
	}
	return r.End - r.Start
}

// Took is how long the phase of the name took; figures.Missing where there is none
// that has ended.
func (r Round) Took(name string) time.Duration {
	if p, ok := r.Phase(name); ok && !p.Open {
		return p.Time()
	}
	return figures.Missing
}

// Steps are the decode steps that have ended and are recorded, in order; of a round
// that an error cut short those that gave a token. Which of the round's a step is
// says its N, not its place among them.
func (r Round) Steps() []Phase {
	made := int64(r.Made())
	return slices.DeleteFunc(slices.Clone(r.Phases), func(p Phase) bool {
		return p.Name != names.SpanStep || p.Open || r.Event != nil && r.Event.Error != "" && p.N > made
	})
}

// Step is decode step n, from 1.
func (r Round) Step(n int) (Phase, bool) {
	return r.first(func(p Phase) bool { return p.Name == names.SpanStep && !p.Open && p.N == int64(n) })
}

// Later are the steps behind the first, which may have had to compile.
func (r Round) Later() []Phase {
	return slices.DeleteFunc(r.Steps(), func(p Phase) bool { return p.N < 2 })
}

// Made is how many decode steps gave a token, as the round's event says; negative
// where there is none or it does not tell.
func (r Round) Made() int {
	if r.Event == nil || r.Event.IDs == nil || r.program {
		return -1
	}
	return max(0, len(r.Event.IDs)-1)
}

// AllSteps are the decode steps, and whether none of them is missing, so that
// their sum is one.
func (r Round) AllSteps() (steps []Phase, whole bool) {
	steps = r.Steps()
	for i, p := range steps {
		if p.N != int64(i+1) {
			return steps, false
		}
	}
	return steps, r.Made() < 0 || len(steps) == r.Made()
}

// mostSteps bounds the memory that the number of one damaged step takes.
const mostSteps = 1 << 20

// StepTimes are as many as gave a token, step n at n-1; figures.Missing where steps
// are recorded at all and this one is not.
func (r Round) StepTimes() []time.Duration {
	var out []time.Duration
	grow := func(n int) {
		for len(out) < n {
			out = append(out, figures.Missing)
		}
	}
	for _, p := range r.Steps() {
		if p.N >= 1 && p.N <= mostSteps {
			grow(int(p.N))
			out[p.N-1] = p.Time()
		}
	}
	if len(out) > 0 && r.Event != nil && r.Event.Error == "" {
		grow(min(r.Made(), mostSteps))
	}
	return out
}

// Decode is the sum of the decode steps that are recorded, and of how many.
func (r Round) Decode() (sum time.Duration, steps int) {
	for _, t := range r.StepTimes() {
		if t != figures.Missing {
			sum, steps = sum+t, steps+1
		}
	}
	return sum, steps
}

// Total is prefill plus decode, the experiment's total, which leaves reading and
// building out; figures.Missing where a part is.
func (r Round) Total() time.Duration {
	total := r.Took(names.SpanPrefill)
	steps, whole := r.AllSteps()
	if total == figures.Missing || !whole {
		return figures.Missing
	}
	for _, s := range steps {
		total += s.Time()
	}
	return total
}

// Lost says whether spans are missing which may have lain in the round.
func (r Round) Lost() bool {
	return slices.ContainsFunc(r.Phases, func(p Phase) bool { return p.Lost }) ||
		len(r.Phases) > 0 && r.run != nil && r.run.Lacks(r.ID, r.Phases[0].ID)
}

// Token is the time from the round's start, which opens the file, until new
// token n is known, from 1: the end of the prefill, then of the decode steps.
// What the instrument did between two phases is not in it, so that there is no
// such time where a span is missing that may have been that.
func (r Round) Token(n int) (time.Duration, bool) {
	p, ok := r.Phase(names.SpanPrefill)
	if _, stepped := r.Step(1); r.program && !stepped {
		return 0, false // a program that marks no step says where its prefill begins, not where it ends
	}
	if n > 1 {
		p, ok = r.Step(n - 1)
	}
	if !ok || p.Open || n < 1 || r.Start == figures.Missing || r.run != nil && r.run.Lacks(r.ID, p.ID) {
		return 0, false
	}
	t := p.End - r.opened()
	for _, x := range r.Phases {
		if x.Name == KindRecording && x.End <= p.End {
			t -= x.Time()
		}
	}
	return t, true
}

// PhaseStart is what a program does before its first mark, or until it first calls
// Metal.
const PhaseStart = "start"

// PhaseOutput is the phase from there until a program without marks writes its
// first byte.
const PhaseOutput = "to first output"

// opened is from when on times to a token count: the start of the round, which
// opens the file, and of a program that marks when it does so that moment.
func (r Round) opened() time.Duration {
	if p, ok := r.Phase(names.SpanRead); ok && r.program {
		return p.Start
	}
	return r.Start
}

// firstCall is the end of the phase "start" of a program without marks, which is
// cut where it first calls Metal: that call need not be one that is timed.
func (r Round) firstCall() (time.Duration, bool) {
	if len(r.Phases) < 2 || r.Phases[0].Detail != PhaseStart || r.Phases[1].Detail != PhaseOutput {
		return 0, false
	}
	return r.Phases[0].End, true
}

// Program says whether the round is a recorded program.
func (r Round) Program() bool { return r.program }

// Repeated is what a program without decode steps does again and again: its steps
// behind the first, or where it has none all of its phases as one.
func (r Round) Repeated() []Phase {
	if later := slices.DeleteFunc(r.Repeats(), func(p Phase) bool { return p.N < 2 }); len(later) > 0 {
		return later
	}
	return []Phase{r.Together()}
}

// Together is all that a program did as one phase, which is called "".
func (r Round) Together() Phase {
	all := Phase{Start: r.Start, End: r.End, Open: r.Open}
	for _, p := range r.Phases {
		all.Lost = all.Lost || p.Lost
		all.Compiles, all.Carried = append(all.Compiles, p.Compiles...), append(all.Carried, p.Carried...)
		all.Encode, all.Commit, all.Wait = all.Encode+p.Encode, all.Commit+p.Commit, all.Wait+p.Wait
		all.GPU, all.Overlap = all.GPU+p.GPU, all.Overlap+p.Overlap
		all.Dispatches, all.Encoders, all.CommandBuffers = all.Dispatches+p.Dispatches, all.Encoders+p.Encoders, all.CommandBuffers+p.CommandBuffers
		all.Barriers, all.Waits = all.Barriers+p.Barriers, all.Waits+p.Waits
	}
	return all
}

// Repeats are the steps that a program repeats and that have ended, in order.
func (r Round) Repeats() []Phase {
	return slices.DeleteFunc(slices.Clone(r.Phases), func(p Phase) bool { return p.Name != names.SpanRepeat || p.Open })
}
