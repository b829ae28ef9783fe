package breakdown

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/stats"
	"github.com/introgen/introgen/trace/names"
)

// Metal is what a run did on a Metal device, as the tables at the end of a traced
// run have it.
type Metal struct {
	// Libraries and Pipelines are those that an event tells of, in the order in
	// which they were first needed.
	Libraries, Pipelines []Compile
	Phases               []DevicePhase      // the warm-up, of round 0; build, prefill and decode steps that have ended; of a program all its phases
	Kernels              []recording.Kernel // the longest first; empty where the driver cannot tell
	// Operations are what a traced run encoded, and Memory and Float32 what its
	// machine can do at the most; nil where the run did not measure it.
	Operations      []*recording.Operation
	Memory, Float32 *recording.Limit
	Lost            int // spans of the run that are missing: sums are of what is there
}

// DevicePhase is a phase of a round, as a line of such a table.
type DevicePhase struct {
	Round int
	Title string // "prefill", "decode step 2", "median of 18 more"
	Phase
}

// Unattributed is the part of the wall clock that none of the table's parts
// explains. It has no column for the recording, whose time is therefore in it.
func (p DevicePhase) Unattributed() time.Duration {
	return p.Time() - p.Compiling() - p.Weights - p.Encode - p.Commit - p.Wait
}

// Metal is what the run did on a Metal device.
func (r *Run) Metal() Metal {
	m := Metal{Kernels: r.Kernels, Operations: r.Operations, Memory: r.Limit(recording.LimitMemory), Float32: r.Limit(recording.LimitFloat32), Lost: r.LostSpans()}
	for _, c := range r.compiles {
		switch {
		case !c.Told:
		case c.IsLibrary():
			m.Libraries = append(m.Libraries, c)
		default:
			m.Pipelines = append(m.Pipelines, c)
		}
	}
	for _, p := range r.top {
		if p.Name == names.SpanWarmUp && !p.Open {
			m.Phases = append(m.Phases, DevicePhase{0, p.Title(), p})
		}
	}
	for _, round := range r.Rounds {
		for _, p := range round.Phases {
			if !p.Open && (round.program || p.Name == names.SpanBuild || p.Name == names.SpanPrefill || p.Name == names.SpanStep) {
				m.Phases = append(m.Phases, DevicePhase{round.Number, p.Title(), p})
			}
		}
	}
	return m
}

// ByLibrary are the libraries with their pipelines.
func (m Metal) ByLibrary() []Library { return Libraries(slices.Concat(m.Libraries, m.Pipelines)) }

// PhaseAt is the title of the phase in which the moment lies; "" where it lies in
// none.
func (m Metal) PhaseAt(at time.Duration) string {
	for _, p := range m.Phases {
		if at >= p.Start && at < p.End {
			return p.Title
		}
	}
	return ""
}

// headedSteps is how many decode steps of a round are told one by one.
const headedSteps = 2

// Folded keeps the first phases of each round as they are, and of its decode steps
// beyond the first two only the one with the median wall clock, whose title then
// says how many it stands for. Of an even number that is the lower of the two in
// the middle: a step that was made, since the parts of one step add up and medians
// of parts do not.
func (m Metal) Folded() []DevicePhase {
	var out, later []DevicePhase
	fold := func() {
		if len(later) == 0 {
			return
		}
		slices.SortStableFunc(later, func(a, b DevicePhase) int { return cmp.Compare(a.Time(), b.Time()) })
		median := later[stats.Lower(len(later))]
		median.Title = fmt.Sprintf("median of %d more", len(later))
		out, later = append(out, median), nil
	}
	round := 0
	for _, p := range m.Phases {
		if p.Round != round {
			fold()
			round = p.Round
		}
		if names.IsStep(p.Name) && p.N > headedSteps {
			later = append(later, p)
			continue
		}
		fold()
		out = append(out, p)
	}
	fold()
	return out
}
