// Package plantest is an executor for plans that makes no processes: it writes
// down what it was asked to do, and answers what it is told to. Its clock
// stands still but for what the runs and pauses take.
package plantest

import (
	"context"
	"fmt"
	"time"

	"github.com/introgen/introgen/bench/plan"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/trace"
	"github.com/introgen/introgen/trace/names"
)

// Executor is a plan.Executor.
type Executor struct {
	// Log is what it was asked, in order: "fill NAME", "run NAME", "pause 1s",
	// "prepare COMMAND", "close".
	Log []string
	// Answer is what comes of a run; nil answers with Good(100 ms). The time
	// from Spawned to Reaped passes.
	Answer func(c plan.Child) plan.Outcome
	// Readings are what Machine answers, the last one for good; where there
	// are none, a machine that tells nothing.
	Readings []recording.Machine
	// PrepareError is what Prepare answers.
	PrepareError error

	now time.Duration
}

var _ plan.Executor = (*Executor)(nil)

// Run answers.
func (x *Executor) Run(ctx context.Context, c plan.Child) plan.Outcome {
	if ctx.Err() != nil {
		return plan.Outcome{Code: -1, Error: ctx.Err().Error()}
	}
	what := "run "
	if c.Fill {
		what = "fill "
	}
	x.Log = append(x.Log, what+c.Arm.Name)
	out := Good(c, 100*time.Millisecond)
	if x.Answer != nil {
		out = x.Answer(c)
	}
	x.now += time.Duration(out.Reaped - out.Spawned)
	return out
}

// Prepare answers PrepareError.
func (x *Executor) Prepare(_ context.Context, command string) error {
	x.Log = append(x.Log, "prepare "+command)
	return x.PrepareError
}

// Pause lets time pass.
func (x *Executor) Pause(ctx context.Context, d time.Duration) error {
	x.Log = append(x.Log, fmt.Sprint("pause ", d))
	x.now += d
	return ctx.Err()
}

// Machine answers the next of Readings.
func (x *Executor) Machine() recording.Machine {
	if len(x.Readings) == 0 {
		return recording.Machine{Load: -1, OtherCores: -1, MHz: -1, Throttled: -1}
	}
	m := x.Readings[0]
	if len(x.Readings) > 1 {
		x.Readings = x.Readings[1:]
	}
	return m
}

// Now is the time that has passed.
func (x *Executor) Now() time.Duration { return x.now }

// Close is written down.
func (x *Executor) Close() error {
	x.Log = append(x.Log, "close")
	return nil
}

// Good is the outcome of a run that went well and lasted so long: one round
// with a prefill and two decode steps, each a fourth of it, and the events that
// are added. An *End among them takes the place of its own.
func Good(c plan.Child, took time.Duration, add ...recording.Event) plan.Outcome {
	q := took / 4
	span := func(id trace.ID, parent trace.ID, name string, n int64, start, end time.Duration) *recording.Span {
		return &recording.Span{Record: trace.Record{ID: id, Parent: parent, Name: name, N: n, Start: start, End: end}}
	}
	events := []recording.Event{
		&recording.Header{Format: recording.Format, Version: recording.Version, Command: c.Arm.Args[0], Args: c.Arm.Args},
		span(1, 0, names.SpanRound, 1, 0, took),
		span(2, 1, names.SpanPrefill, 13, q, 2*q),
		span(3, 1, names.SpanStep, 1, 2*q, 3*q),
		span(4, 1, names.SpanStep, 2, 3*q, 4*q),
		&recording.Round{Number: 1, Span: 1, Prompt: 13, IDs: []int32{1, 2, 3}},
	}
	var end recording.Event = &recording.End{At: int64(took)}
	for _, e := range add {
		if _, ok := e.(*recording.End); ok {
			end = e
			continue
		}
		events = append(events, e)
	}
	return plan.Outcome{Recording: Lines(append(events, end)...), Spawned: 1, Reaped: 1 + int64(took)}
}

// Lines are events as a run writes them. An event that cannot be written is
// left out.
func Lines(events ...recording.Event) []byte {
	var b []byte
	for _, e := range events {
		if line, err := recording.Encode(b, e); err == nil {
			b = line
		}
	}
	return b
}
