package main

import (
	"fmt"
	"time"

	"github.com/introgen/introgen/metalshim"
	"github.com/introgen/introgen/results"
	"github.com/introgen/introgen/trace"
)

// metalTracer prints libraries and pipelines where they are compiled, and keeps
// what each phase did for the tables at the end.
type metalTracer struct {
	g    *generation
	shim *metalshim.Instrumented
	on   bool

	round  int
	steps  int          // decode steps begun in this round
	header string       // of the phase under way, until it is printed
	ended  trace.Record // the phase that ended last
	last   metalshim.Tally
	phases []results.MetalPhase
}

// headedSteps is how many decode steps of the first round have a header even
// where nothing is compiled, as in the experiment's trace.
const headedSteps = 2

// listen has the lines printed as they come; the result ends that.
func (t *metalTracer) listen() (stop func()) {
	if !t.on {
		return func() {}
	}
	t.g.rec.Listen(t.hear)
	return func() { t.g.rec.Listen(nil) }
}

func (t *metalTracer) hear(e trace.Event) {
	if e.Sample != nil {
		return
	}
	begins := e.Span.End < 0
	switch e.Span.Name {
	case results.SpanRound:
		if begins {
			t.round, t.steps = int(e.Span.N), 0
		}
	case results.SpanBuild, results.SpanPrefill, results.SpanStep:
		if begins {
			t.begin(e.Span)
		} else {
			t.header, t.ended = "", e.Span
		}
	case metalshim.SpanLibrary:
		if !begins {
			t.head()
			t.keep(results.WriteLibrary(t.g.out, e.Span.Detail, e.Span.Duration()))
		}
	case metalshim.SpanPipeline:
		if !begins {
			t.head()
			t.keep(results.WritePipeline(t.g.out, e.Span.Detail, e.Span.Duration()))
		}
	}
}

func (t *metalTracer) begin(s trace.Record) {
	name := s.Name
	if name == results.SpanStep {
		name = fmt.Sprintf("%s %d", name, s.N)
		t.steps++
	}
	t.header = fmt.Sprintf("--- %s round %d: %s\n", t.g.label, t.round, name)
	if t.round == 1 && t.steps <= headedSteps {
		t.head()
	}
}

// head prints the header of the phase under way unless it has been printed.
func (t *metalTracer) head() {
	t.g.status.clear()
	t.g.write("%s", t.header)
	t.header = ""
}

func (t *metalTracer) keep(err error) {
	if t.g.writeErr == nil {
		t.g.writeErr = err
	}
}

// after takes what a phase did: the difference of two tallies.
func (t *metalTracer) after(round int, phase string) {
	if !t.on {
		return
	}
	now := t.shim.Tally()
	d := now.Sub(t.last)
	t.last = now
	if phase == "" {
		return
	}
	p := results.MetalPhase{
		Round: round, Name: phase, Wall: t.ended.Duration(), Compile: d.Compile, Encode: d.Encode, Commit: d.Commit, Wait: d.Wait, GPU: d.GPU,
		Dispatches: d.Dispatches, Encoders: d.Encoders, CommandBuffers: d.CommandBuffers,
	}
	if phase == results.SpanStep {
		p.Name = fmt.Sprintf("%s %d", phase, t.ended.N)
	}
	t.phases = append(t.phases, p)
}

// trace puts the tables together. Their times are those of the spans, from
// which the lines were printed too.
func (t *metalTracer) trace() results.MetalTrace {
	out := results.MetalTrace{Phases: results.FoldSteps(t.phases, headedSteps)}
	var libs, pipes []time.Duration
	for _, s := range t.g.rec.Spans() {
		switch s.Name {
		case metalshim.SpanLibrary:
			libs = append(libs, s.Duration())
		case metalshim.SpanPipeline:
			pipes = append(pipes, s.Duration())
		}
	}
	used := map[string]int{}
	for i, p := range t.shim.Pipelines() {
		used[p.Library]++
		out.Pipelines = append(out.Pipelines, results.PipelineRow{
			Library: p.Library, Function: p.Function, Create: pipes[i], Cache: string(p.Evidence.State)})
	}
	for i, l := range t.shim.Libraries() {
		out.Libraries = append(out.Libraries, results.LibraryRow{
			Name: l.Name, SourceBytes: l.SourceBytes, Kernels: l.Functions, Used: used[l.Name],
			Compile: libs[i], Cache: string(l.Evidence.State)})
	}
	for _, k := range t.shim.KernelTimes() {
		out.Kernels = append(out.Kernels, results.KernelRow{Kernel: k.Kernel, Dispatches: int64(k.Dispatches), Time: k.Time})
	}
	return out
}
