package recording_test

import (
	"strings"
	"testing"

	"github.com/introgen/introgen/results/programtest"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/trace"
)

// TestProgramDamage: what no program can do does not count, and is told.
func TestProgramDamage(t *testing.T) {
	begin := func() (r *programtest.Recording, phase trace.ID) {
		r = programtest.New(1, 0, "./p")
		round := r.Span(0, "round", "", 1, 0, 100)
		return r, r.Span(round, "phase", "start", 1, 0, 100)
	}
	for name, c := range map[string]struct {
		made func(r *programtest.Recording, in trace.ID)
		want string // "" is sound
		gone int    // spans that do not count
	}{
		"calls that follow one another": {func(r *programtest.Recording, in trace.ID) {
			r.Span(in, "wait", "completed", 0, 10, 20)
			r.Span(in, "wait", "scheduled", 0, 20, 30)
		}, "", 0},
		"calls on two threads": {func(r *programtest.Recording, in trace.ID) {
			r.Span(in, "wait", "completed", 0, 10, 20)
			r.Track(1, in, "wait", "scheduled", 0, 15, 30)
		}, "", 0},
		"calls that overlap on one": {func(r *programtest.Recording, in trace.ID) {
			r.Span(in, "wait", "completed", 0, 10, 20)
			r.Span(in, "wait", "scheduled", 0, 15, 30)
		}, "overlap on one thread", 2},
		"libraries for completion handlers": {func(r *programtest.Recording, in trace.ID) {
			r.Track(1000, in, "LIB", "A", 0, 10, 20)
			r.Track(1000, in, "LIB", "B", 0, 15, 30)
		}, "", 0},
		"an encoder around a wait": {func(r *programtest.Recording, in trace.ID) {
			r.Span(in, "encode", "compute", 0, 10, 25)
			r.Span(in, "wait", "completed", 0, 15, 30)
		}, "", 0},
		"a call in a call": {func(r *programtest.Recording, in trace.ID) {
			id := r.Span(in, "wait", "shared event", 0, 10, 20)
			r.Span(id, "wait", "completed", 0, 12, 15)
		}, "is a call of Metal and no phase", 1},
		"an unknown wait": {func(r *programtest.Recording, in trace.ID) { r.Span(in, "wait", "Godot", 0, 10, 20) }, `"Godot", which is not known`, 0},
		"more on the device than was committed": {func(r *programtest.Recording, in trace.ID) {
			r.Pass(0, in, 4, 10, 5, 30)
			r.Span(in, "gpu", "", 4, 40, 50)
		}, "commits no such command buffer that has not run", 1},
		"less on the device": {func(r *programtest.Recording, in trace.ID) { r.Span(in, "encode", "compute", 0, 10, 20) }, "", 0},
		"steps out of order": {func(r *programtest.Recording, in trace.ID) {
			r.Span(1, "step", "", 2, 100, 100)
			r.Span(1, "step", "", 1, 100, 100)
		}, "is out of order", 2},
		"a step without a number": {func(r *programtest.Recording, in trace.ID) { r.Span(1, "step", "", 0, 100, 100) }, "numbers begin at 1", 1},
		"two of a phase": {func(r *programtest.Recording, in trace.ID) {
			r.Span(1, "prefill", "", 0, 100, 100)
			r.Span(1, "prefill", "", 0, 100, 100)
		}, "", 0},
		"tokens": {func(r *programtest.Recording, in trace.ID) {
			r.Events = append(r.Events, &recording.Round{Number: 1, Span: 1, Prompt: 3, IDs: []int32{1}})
		}, "of those nobody knows", 0},
		"a dispatch in no encoder": {func(r *programtest.Recording, in trace.ID) {
			r.Events = append(r.Events, &recording.Dispatch{Span: in, Library: "l", Function: "f"}, &recording.Barrier{Span: 77, Scope: "buffers"})
		}, "encodes nothing: it does not count (and 1 more like it)", 0},
	} {
		r, phase := begin()
		c.made(r, phase)
		spans := 0
		for _, e := range r.Events {
			if _, ok := e.(*recording.Span); ok {
				spans++
			}
		}
		r.End(1, 100, 0)
		if name == "tokens" { // its own event stands there already
			r.Events = append(r.Events[:len(r.Events)-3], r.Events[len(r.Events)-2:]...)
		}
		f := programtest.File(r)
		text := strings.Join(f.Warnings, "\n")
		if (text == "") != (c.want == "") || !strings.Contains(text, c.want) || spans-len(f.Runs[0].Spans) != c.gone {
			t.Errorf("%s: %d spans are gone, want %d; told %q, want %q", name, spans-len(f.Runs[0].Spans), c.gone, text, c.want)
		}
	}
}

// TestProgramEnds: a program that failed, or was killed, has a recording all the
// same, and its children are told apart from copies.
func TestProgramEnds(t *testing.T) {
	r := programtest.Marked(programtest.Cold)
	end := r.Events[len(r.Events)-1].(*recording.End)
	end.Code = 3
	if run := programtest.File(r).Runs[0]; !run.Counts() || run.Ending() != "ended with exit code 3" {
		t.Errorf("counts %v, it %s", run.Counts(), run.Ending())
	}
	end.Code, end.Signal = -1, "killed"
	if run := programtest.File(r).Runs[0]; !run.Counts() || run.Ending() != "was ended by the signal killed" {
		t.Errorf("counts %v, it %s", run.Counts(), run.Ending())
	}
	run := programtest.File(r).Runs[0]
	run.Start, run.Exit = &recording.Start{Run: 1, Block: 1, Arm: "a"}, &recording.Exit{Run: 1, Code: -1}
	if run.Counts() {
		t.Error("a run of a plan that was killed counts")
	}
	parent, child := programtest.Child()
	if f := programtest.File(parent, child); len(f.Warnings) > 0 || len(f.Runs) != 2 {
		t.Errorf("warnings %q, %d runs", f.Warnings, len(f.Runs))
	}
	became, _ := programtest.Child() // the same process, as which another program went on
	became.Events[len(became.Events)-1].(*recording.End).At += 1e6
	if f := programtest.File(parent, became); len(f.Warnings) > 0 || !f.Runs[1].Counts() {
		t.Errorf("warnings %q", f.Warnings)
	}
	if f := programtest.File(parent, parent); len(f.Warnings) != 1 || !strings.Contains(f.Warnings[0], "stands there once more") {
		t.Errorf("warnings %q", f.Warnings)
	}
}
