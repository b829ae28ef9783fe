// Package timeline lays recordings out in time: what each process did on tracks
// on which spans nest and none overlaps, counters, and arrows from where a command
// buffer was encoded and committed to where it ran. Write writes it in the Trace
// Event Format, which Perfetto and chrome://tracing open.
//
// It judges nothing and computes no figure: a slice is a span of the recording and
// lasts as long. What a recording does not have is left out; what has no place is
// counted. Notes say both.
package timeline

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/sanitize"
)

// Timeline is what some recordings hold, laid out. Times begin at 0 with the first
// of its slices.
type Timeline struct {
	Processes []*Process
	// Notes say what of the recordings is missing, was moved or was left out, one
	// sentence each.
	Notes []string
	// LeftOut are the slices that have no place in a file of limited size.
	LeftOut []LeftOut

	flows  int           // so far
	tracks int           // so far
	zero   time.Duration // when the first of the clocks began
	begun  bool
	file   string // what the recording that is laid out is called; "" of the only one
}

// Process is one run, or the process that ran a plan.
type Process struct {
	ID       int // from 1
	Name     string
	Tracks   []*Track // in the order in which they are to be shown
	Counters []*Counter
}

// Track is a row of slices. They are in the order of their begin, and one that
// others lie in stands before them.
type Track struct {
	ID     int // no two tracks of a timeline have the same
	Name   string
	Slices []*Slice
	// Beside says that slices overlap freely, since they are no work but time that
	// goes by, such as that of a command buffer which is queued.
	Beside bool
}

// Slice is a span of time.
type Slice struct {
	Name       string
	Kind       string // the recording's name of the span, or one of the Kind constants
	Start, End time.Duration
	Args       []Arg
	Instant    bool // it lasts no time
	// Flow tells command buffers apart, 0 where the slice is not on the way of one;
	// Way is where on it the slice is.
	Flow int
	Way  Way

	in     *Slice // that it lies in, of the same track; nil of none
	number int    // of the slices of its track in their order
}

// What slices are that are no spans of a recording.
const (
	KindStart     = "process start" // from the parent's call until the run's own clock begins
	KindExit      = "process exit"  // from the run's end until its parent knows
	KindRun       = "run"           // of a plan
	KindOutput    = "output"        // of a recorded program
	KindOperation = "operation"     // what a device or a thread computed
	KindNote      = "note"
)

// Way is a place on the way of a command buffer.
type Way uint8

// The places on the way of a command buffer.
const (
	WayBegin Way = iota + 1 // it is encoded
	WayStep                 // it is committed
	WayEnd                  // it runs
)

// Arg is something that is known of a slice: a text, or else a number.
type Arg struct {
	Key    string
	Text   string
	Number int64
	IsText bool
}

func text(key, value string) Arg {
	return Arg{Key: key, Text: short(value), IsText: true}
}

func number(key string, n int64) Arg { return Arg{Key: key, Number: n} }

// Counter is an amount that changes.
type Counter struct {
	Name, Unit string
	Points     []Point
}

// Point is a counter from then on.
type Point struct {
	At    time.Duration
	Value float64
}

// LeftOut are slices of one kind that were left out of a file.
type LeftOut struct {
	Kind    string        `json:"kind"`
	Count   int           `json:"count"`
	Time    time.Duration `json:"ns"`
	Longest time.Duration `json:"longest_ns"`
}

// longest is how many characters a text out of a recording has at most.
const longest = 200

// short is a text of a recording as a part of one line, cut where it is long.
func short(s string) string {
	if len(s) > 4*longest { // as many bytes as that many characters can have
		s = s[:4*longest]
	}
	s = sanitize.Line(s)
	n := 0
	for i := range s {
		if n++; n > longest {
			return s[:i] + "…"
		}
	}
	return s
}

// Of lays recordings out. The runs of a plan are on one clock; what else is read
// together begins at 0 together, so that it can be compared, and its processes have
// the names of their files.
func Of(files ...*recording.File) *Timeline {
	t := &Timeline{}
	paths := make([]string, len(files))
	for i, f := range files {
		paths[i] = strings.TrimSuffix(f.Path, recording.Ending)
	}
	beside := recording.NamesBeside(paths...)
	apart := 0
	for i, f := range files {
		if len(files) > 1 {
			t.file = short(beside[i])
		}
		if f.Plan != nil {
			t.plan(f)
			apart++
			continue
		}
		var clocks []int64 // of a program and those that it started it is one
		for _, r := range f.Runs {
			t.run(r, 0)
			if !slices.Contains(clocks, r.Header.Clock) || r.Header.Clock == 0 {
				clocks = append(clocks, r.Header.Clock)
			}
		}
		apart += len(clocks)
	}
	t.file = ""
	if apart > 1 {
		t.note("%d recordings are shown together, each from its own begin: what stands one above the other need not have been at the same time", apart)
	}
	t.fromZero()
	return t
}

func (t *Timeline) note(format string, a ...any) {
	t.Notes = append(t.Notes, fmt.Sprintf(format, a...))
}

// trackID is the number of one more track. It is shown, so that it is short, and above
// that of its process, so that the track does not pass for its main thread.
func (t *Timeline) trackID() int {
	t.tracks++
	return 1000 + t.tracks
}

// inFile is what a name of one of several files begins with.
func (t *Timeline) inFile() string {
	if t.file == "" {
		return ""
	}
	return t.file + ": "
}

func (t *Timeline) process(name string) *Process {
	p := &Process{ID: len(t.Processes) + 1, Name: short(t.inFile() + name)}
	t.Processes = append(t.Processes, p)
	return p
}

// fromZero has times begin with the first clock, so that those of a single run are
// those of its recording.
func (t *Timeline) fromZero() {
	for _, p := range t.Processes {
		for _, r := range p.Tracks {
			for _, s := range r.Slices {
				s.Start, s.End = s.Start-t.zero, s.End-t.zero
			}
		}
		for _, c := range p.Counters {
			for i := range c.Points {
				c.Points[i].At -= t.zero
			}
		}
	}
}

// begins notes that something begins then.
func (t *Timeline) begins(at time.Duration) {
	if !t.begun || at < t.zero {
		t.zero, t.begun = at, true
	}
}

// plan lays out the runs of a plan, and when its process made them.
func (t *Timeline) plan(f *recording.File) {
	if f.Parent != nil {
		t.parent(f)
	}
	first := time.Duration(0)
	for _, r := range f.Runs {
		if c := time.Duration(r.Header.Clock); possible(r.Header.Clock) && (first == 0 || c < first) {
			first = c
		}
	}
	if t.begun && (first == 0 || t.zero < first) {
		first = t.zero
	}
	loose := 0
	for _, r := range f.Runs {
		offset := time.Duration(r.Header.Clock)
		if !possible(r.Header.Clock) {
			offset = first
			loose++
		}
		t.run(r, offset)
		for _, child := range r.Children {
			t.run(child, offset)
		}
	}
	if loose > 0 {
		t.note("%sof %d runs of the plan it is not known when they were made: they begin with it", t.inFile(), loose)
	}
}

// possible says whether a reading of a clock can be one.
func possible(clock int64) bool { return clock > 0 && clock <= 1<<53 }

// parent is the process that ran a plan: when it made which run.
func (t *Timeline) parent(f *recording.File) {
	p := t.process("introgen " + f.Header.Command + ": its runs")
	var runs []*Slice
	for _, r := range f.Runs {
		if r.Start == nil || r.Exit == nil || !possible(r.Exit.Spawned) || !possible(r.Exit.Reaped) || r.Exit.Reaped < r.Exit.Spawned {
			continue
		}
		s := &Slice{Name: short(r.Start.Arm), Kind: KindRun, Start: time.Duration(r.Exit.Spawned), End: time.Duration(r.Exit.Reaped),
			Args: []Arg{number("run", int64(r.Start.Run)), number("block", int64(r.Start.Block))}}
		if r.Exit.Refused != "" {
			s.Args = append(s.Args, text("refused", r.Exit.Refused))
		}
		runs = append(runs, s)
		t.begins(s.Start)
	}
	if len(runs) == 0 {
		t.Processes = t.Processes[:len(t.Processes)-1]
		return
	}
	t.lay(p, "runs", runs)
}

// title is what the process of a run is called.
func title(r *recording.Run) string {
	name := "introgen " + r.Header.Command
	if g := r.Header.Program; g != nil {
		name = base(g.Path)
		if g.Parent != 0 {
			name += " (started by it)"
		}
	}
	if r.Start != nil {
		name = fmt.Sprintf("run %d, %s: %s", r.Start.Run, r.Start.Arm, name)
	}
	return name
}

func base(path string) string {
	for i := len(path) - 1; i >= 0; i-- {
		if path[i] == '/' {
			return path[i+1:]
		}
	}
	return path
}

// ended is when a run was over, as far as its recording goes.
func ended(r *recording.Run) time.Duration {
	var end time.Duration
	for _, s := range r.Spans {
		end = max(end, s.Start, s.End)
	}
	if r.End != nil {
		end = max(end, time.Duration(r.End.At))
	}
	return end
}
