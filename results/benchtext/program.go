package benchtext

import (
	"slices"
	"time"

	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/metrics"
	"github.com/introgen/introgen/trace/names"
)

// program are the samples that only a recorded program has.
func program(r breakdown.Round, suffix string) []Line {
	var out []Line
	add := func(m metrics.Metric, part string) int {
		took, ok := m.Of(r)
		if !ok {
			return 0
		}
		out = append(out, Line{Name: m.Bench + part + suffix, Iterations: 1, Values: []Value{{took, UnitTime}}})
		return 1
	}
	add(metrics.FirstMetal, "")
	add(metrics.FirstOutput, "")
	for _, title := range titles(r) {
		add(metrics.PhaseCalled(title), "/phase="+word(title))
	}
	steps := r.Repeats()
	if n := add(metrics.Repeat1, ""); n > 0 {
		out[len(out)-n].counts(steps[0])
	}
	if n := add(metrics.Repeats, ""); n > 0 {
		l := &out[len(out)-n]
		l.Iterations = len(steps) - 1
		l.add(usual(steps[1:], func(p breakdown.Phase) int64 { return p.Dispatches }), UnitDispatches)
		l.add(usual(steps[1:], func(p breakdown.Phase) int64 { return p.CommandBuffers }), UnitBuffers)
	}
	return out
}

// life is the sample of a whole program; none of an engine's run.
func life(run *breakdown.Run, suffix string) []Line {
	took, ok := metrics.Lives.OfRun(run)
	if !ok {
		return nil
	}
	l := timed(metrics.Lives.Bench+suffix, time.Duration(took))
	for _, c := range []struct {
		of   metrics.Metric
		unit string
	}{{metrics.PeakMemory, UnitResident}, {metrics.Dispatches, UnitDispatches}, {metrics.CommandBuffers, UnitBuffers}} {
		if v, ok := c.of.OfRun(run); ok {
			l.add(v, c.unit)
		}
	}
	return []Line{l}
}

// titles are those of the phases that only the program's author knows.
func titles(r breakdown.Round) []string {
	var out []string
	for _, p := range r.Phases {
		if p.Name == names.SpanPhase && !slices.Contains(out, p.Title()) {
			out = append(out, p.Title())
		}
	}
	return out
}
