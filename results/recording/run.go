package recording

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strconv"

	"github.com/introgen/introgen/trace"
)

// Run is one run, collected from its events.
type Run struct {
	Header Header
	Start  *Start // nil outside of plans
	Exit   *Exit  // nil outside of plans, and where the parent was cut off
	// Children are of a plan's run of a program those that it started itself and
	// that used Metal too. Outside of plans they are runs of the file.
	Children []*Run
	End      *End // nil where the run was cut off

	// Spans are in the order of their IDs, which is that of their begin. What
	// cannot be has been taken out; Lost are the numbers that are missing.
	Spans []trace.Record
	Lost  []Hole
	// Overlaps are those that were taken out since they overlap what should
	// follow them, or the other way round: what was timed twice.
	Overlaps  []trace.Record
	Samples   []trace.Sample
	Subject   *Subject
	Device    *Device
	Libraries []Library
	Pipelines []Pipeline
	// Dispatches and Barriers are of recorded programs, where they were asked for,
	// and Outputs what such a program wrote; all in order.
	Dispatches []Dispatch
	Barriers   []Barrier
	Outputs    []Output
	Kernels    []Kernel
	// Operations are what a traced run computed, in the order of their IDs, Executed
	// when, and Limits what its machine can do at the most.
	Operations []*Operation
	Executed   []*Executed
	Limits     []*Limit
	Rounds     []Round
	Evidence   []Evidence
	Machine    []Machine
	Notes      []Note
	Unknown    []Unknown
	// Doubt says why a run that was not refused does not count all the same: what
	// its plan says of it cannot be, or is missing.
	Doubt string
	// Unmade are libraries and pipelines of which it is recorded that they were
	// made, and not how long it took.
	Unmade []Made
}

// Made is a library, or with a function a pipeline of it.
type Made struct{ Library, Function string }

// File is a recording, read to its end or to where it breaks off.
type File struct {
	Path string // "" where it was not read from a file
	// Header and Plan are those of the process that ran a plan; nil in a
	// recording of one run.
	Header *Header
	Plan   *Plan
	// Parent is what the plan's own process wrote outside of its runs: notes,
	// readings of the machine. Header and PlanEnd are its Header and End.
	Parent *Run
	Runs   []*Run
	// PlanEnd is the End of the plan's own process; nil where it was cut off.
	PlanEnd *End
	// Broken says in words where and why reading ended before the file did, or
	// that the last line is not whole; "" where all was well.
	Broken string
	// Warnings are lines that were skipped, and anything else odd.
	Warnings []string
}

// Counted are the runs of the arm that count: ended, and not refused. An empty
// arm means every run.
func (f *File) Counted(arm string) []*Run {
	return slices.DeleteFunc(slices.Clone(f.Runs), func(r *Run) bool {
		return arm != "" && (r.Start == nil || r.Start.Arm != arm) || !r.Counts()
	})
}

// PromptIDs are those of a round's prompt; nil where they are not known, as in
// recordings of older versions.
func (r *Run) PromptIDs(round int) []int32 {
	var ids []int32
	for i := range r.Rounds {
		one := &r.Rounds[i]
		if one.PromptIDs != nil {
			ids = one.PromptIDs
		}
		if one.Number == round {
			if len(ids) != one.Prompt {
				return nil
			}
			return ids
		}
	}
	return nil
}

// PromptName is a short name of a prompt's ids, by which prompts of equal length
// are told apart: the first eight digits of the SHA-256 of their decimal numbers
// with commas between them. It is "" of none.
func PromptName(ids []int32) string {
	if len(ids) == 0 {
		return ""
	}
	var b []byte
	for i, id := range ids {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(id), 10)
	}
	return fmt.Sprintf("%x", sha256.Sum256(b))[:8]
}

// Counts says whether the run ended well, was not refused, and is not in doubt. How
// a program ends that was recorded by itself is its own business.
func (r *Run) Counts() bool {
	alone := r.Header.Program != nil && r.Start == nil
	return r.End != nil && (r.End.Code == 0 || alone) && r.Doubt == "" && (r.Exit == nil || r.Exit.Refused == "")
}

// Ending says what is odd about how the run ended; "" where nothing is.
func (r *Run) Ending() string {
	switch {
	case r.End == nil:
		return "was cut off"
	case r.End.Signal != "":
		return "was ended by the signal " + r.End.Signal
	case r.End.Code != 0 && r.Header.Program != nil && r.End.Error == "":
		return fmt.Sprintf("ended with exit code %d", r.End.Code)
	case r.End.Code != 0:
		return fmt.Sprintf("ended with exit code %d: %s", r.End.Code, r.End.Error)
	}
	return ""
}

// Uncounted says why the run does not count; "" where it does.
func (r *Run) Uncounted() string {
	switch {
	case r.Exit != nil && r.Exit.Refused != "":
		return r.Exit.Refused
	case r.Doubt != "":
		return r.Doubt
	case r.End != nil && r.End.Code != 0 && r.End.Error == "" && r.Header.Program == nil:
		return fmt.Sprintf("ended with exit code %d: interrupted", r.End.Code)
	}
	return r.Ending()
}
