// Package start is a model of a start: what the main thread did in order, cut where
// it needed a library or a pipeline, and what each of these needed itself. Replay
// lets all of it happen again under other rules: compiled on several threads, or
// earlier, or in less time. Replayed unchanged it takes what was recorded, which
// Check says of every run. It predicts nothing that a rule does not state: what a
// rule is worth, and what it costs, package remedy says.
package start

import (
	"time"

	"github.com/introgen/introgen/results/breakdown"
)

// Start is a run as a graph.
type Start struct {
	Phases   []Phase
	Pieces   []Piece // of the main thread, or of a program's wall clock, in order
	Compiles []Compile
	Goals    []Goal // token 1 and token 2, or what a program is waited for
	// Wall is what was recorded of the run as a whole, by its parent's clock where
	// there is one.
	Wall time.Duration
	// Program says that the run is of a program that was recorded, of which nobody
	// knows which thread needed what.
	Program bool
	// Mode is how the run itself compiled.
	Mode When

	device int // the piece from which on a device can compile
}

// Phase is a phase of the run, in which pieces lie.
type Phase struct {
	Round int // 0 outside of rounds
	Title string
}

// Piece is a stretch of the main thread's time.
type Piece struct {
	Phase int
	// Kind is what it did: one of breakdown's Kind constants, Await, or "" for all
	// that has no name.
	Kind string
	// Compile is what it needed when it had got here; −1 of work that needs nothing.
	Compile int
	// Time is what was recorded: of a compile what the wall clock counted for it.
	Time time.Duration
	// Instrument says that introgen itself was at work, which counts for no goal.
	Instrument bool

	from time.Duration // when it began, on the run's clock
}

// Await is the kind of a piece in which the main thread waited for what was made
// beside it.
const Await = "await"

// Compile is a library or a pipeline that was made.
type Compile struct {
	breakdown.Compile
	// Of is the library that a pipeline is made of; −1 of a library, and of a
	// pipeline whose library was not made in the run.
	Of int
	// Phase is the one that needed it first.
	Phase int

	need int // the piece that needed it
}

// Goal is a moment that somebody waits for.
type Goal struct {
	Name string // "token 1"
	// Recorded is how long it took, as the recording has it: from the start of the
	// process where that is known, and without the instrument.
	Recorded time.Duration

	from, after int // from the begin of a piece until before that of another
}

// Until are the compiles that the goal needs, in the order of their need.
func (s *Start) Until(g Goal) []int {
	var out []int
	for i, c := range s.Compiles {
		if c.need < g.after {
			out = append(out, i)
		}
	}
	return out
}

// Check holds the model to the run that it was made of.
type Check struct {
	What             string
	Recorded, Replay time.Duration
}

// Off is by which part of what was recorded the model is off.
func (c Check) Off() float64 {
	if c.Recorded <= 0 {
		return 0
	}
	off := float64(c.Replay-c.Recorded) / float64(c.Recorded)
	return max(off, -off)
}

// Exact is how far the model may be off where it is replayed unchanged.
const Exact = 0.01

// Check replays the run unchanged: its wall clock, and the time to each goal.
func (s *Start) Check() []Check {
	r := s.Replay(Rules{})
	out := []Check{{"the wall clock", s.Wall, r.Wall}}
	for i, g := range s.Goals {
		out = append(out, Check{g.Name, g.Recorded, r.Goals[i]})
	}
	return out
}
