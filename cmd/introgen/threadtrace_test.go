package main

import (
	"reflect"
	"testing"

	"github.com/introgen/introgen/engine/cpu"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/trace"
	"github.com/introgen/introgen/trace/names"
)

// TestThreadTrace: an operation is told once, before what names it first; of a span
// each thread is told once, in whatever number of passes, and not where it did
// nothing.
func TestThreadTrace(t *testing.T) {
	rec := trace.New()
	tr := newThreadTrace(rec)
	a, b := cpu.Operation{Layer: -1, Name: "token_embd", Kernel: "x", Read: 5}, cpu.Operation{Name: "attention", Kernel: "y", Ops: 7}
	c := b
	c.Ops = 8
	work := []cpu.Work{{Operation: 0, Start: 10, End: 20}, {Operation: 1, Start: 20, End: 25}}
	prefill := rec.Begin(names.SpanPrefill, "", 100)
	tr.Passed([]cpu.Operation{a, b}, [][]cpu.Work{work, nil})
	work[0].Start, work[0].End, work[1].Start, work[1].End = 30, 31, 32, 34 // the engine's again
	tr.Passed([]cpu.Operation{a, c}, [][]cpu.Work{work, {{Operation: 1, Start: 31, End: 39}}})
	prefill.End()
	step := rec.Begin(names.SpanStep, "", 1)
	tr.Passed([]cpu.Operation{a, b}, [][]cpu.Work{nil, {{Operation: 1, Start: 50, End: 51}}})
	step.End()
	var got []recording.Event
	tr.tell(func(e recording.Event) { got = append(got, e) })
	want := []recording.Event{
		&recording.Operation{ID: 1, Layer: -1, Name: "token_embd", Kernel: "x", Read: 5},
		&recording.Operation{ID: 2, Name: "attention", Kernel: "y", Ops: 7},
		&recording.Operation{ID: 3, Name: "attention", Kernel: "y", Ops: 8},
		&recording.Executed{Span: prefill.ID(), Operations: []int{1, 2, 1, 3}, Start: []int64{10, 20, 30, 32}, Time: []int64{10, 5, 1, 2}},
		&recording.Executed{Span: prefill.ID(), Track: 1, Operations: []int{3}, Start: []int64{31}, Time: []int64{8}},
		&recording.Executed{Span: step.ID(), Track: 1, Operations: []int{2}, Start: []int64{50}, Time: []int64{1}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("told %+v, want %+v", got, want)
	}
	got = nil
	if tr.tell(func(e recording.Event) { got = append(got, e) }); got != nil {
		t.Errorf("told again: %+v", got)
	}
}
