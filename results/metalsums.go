package results

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/trace"
	"github.com/introgen/introgen/trace/names"
)

// MetalSums adds up, event by event, what the phases of a run did on the device
// and what its libraries and pipelines cost: all that MetalTrace shows. It holds
// for events in the order of a recording, in which a span is told after the one
// that it is in.
type MetalSums struct {
	rounds    map[trace.ID]int   // number by span
	places    map[trace.ID]place // of spans within phases
	took      map[trace.ID]time.Duration
	phases    []MetalPhase
	ended     []bool // of phases
	libraries []recording.Library
	pipelines []recording.Pipeline
	kernels   []KernelRow
	lost      int // spans that are missing
}

// place is where a span lies: in which phase, and whether within an encoder.
type place struct {
	phase    int
	encoding bool
}

// NewMetalSums returns sums of nothing.
func NewMetalSums() *MetalSums {
	return &MetalSums{rounds: map[trace.ID]int{}, places: map[trace.ID]place{}, took: map[trace.ID]time.Duration{}}
}

// Event takes the next event of the run.
func (m *MetalSums) Event(e recording.Event) {
	switch e := e.(type) {
	case *recording.Span:
		m.span(e.Record)
	case *recording.Count:
		m.count(e.Sample)
	case *recording.Library:
		m.libraries = append(m.libraries, *e)
	case *recording.Pipeline:
		m.pipelines = append(m.pipelines, *e)
	case *recording.Kernel:
		m.kernels = append(m.kernels, KernelRow{Kernel: e.Name, Dispatches: e.Dispatches, Time: time.Duration(e.Time)})
	}
}

func (m *MetalSums) span(s trace.Record) {
	if s.Name == names.SpanRound {
		m.rounds[s.ID] = int(s.N)
		return
	}
	at, told := m.places[s.ID]
	if !told {
		at = m.place(s)
	}
	if s.End < 0 || at.phase < 0 {
		return
	}
	took := s.Duration()
	p := &m.phases[at.phase]
	switch s.Name {
	case names.SpanBuild, names.SpanPrefill, names.SpanStep:
		p.Wall, m.ended[at.phase] = took, true
	case names.SpanLibrary, names.SpanPipeline:
		m.took[s.ID] = took
		p.Compile += took
		if at.encoding {
			p.Encode -= took
		}
	case names.SpanWeights:
		p.Weights += took
		if at.encoding {
			p.Encode -= took
		}
	case names.SpanRecord:
		if at.encoding {
			p.Encode -= took
		}
	case names.SpanEncoder:
		p.Encode += took
	case names.SpanCommit:
		p.Commit += took
	case names.SpanWait:
		p.Wait += took
	case names.SpanGPU:
		p.GPU += took
	}
}

// place enters a span that is new, and the phase that it begins, if it does.
func (m *MetalSums) place(s trace.Record) place {
	at := place{phase: -1}
	if round, ok := m.rounds[s.Parent]; ok {
		name, step := s.Name, 0
		switch name {
		case names.SpanStep:
			name, step = fmt.Sprintf("%s %d", name, s.N), int(s.N)
		case names.SpanBuild, names.SpanPrefill:
		default:
			return at
		}
		at.phase = len(m.phases)
		m.phases = append(m.phases, MetalPhase{Round: round, Name: name, Step: step})
		m.ended = append(m.ended, false)
	} else if in, ok := m.places[s.Parent]; ok {
		at = in
	} else {
		if s.End >= 0 && (s.Name == names.SpanLibrary || s.Name == names.SpanPipeline) {
			m.took[s.ID] = s.Duration()
		}
		return at
	}
	entered := at
	entered.encoding = at.encoding || s.Name == names.SpanEncoder
	m.places[s.ID] = entered
	return at
}

func (m *MetalSums) count(s trace.Sample) {
	at, ok := m.places[s.Span]
	if !ok {
		return
	}
	p := &m.phases[at.phase]
	switch s.Name {
	case names.CountDispatches:
		p.Dispatches += s.Value
	case names.CountEncoders:
		p.Encoders += s.Value
	case names.CountCommandBuffers:
		p.CommandBuffers += s.Value
	}
}

// told are the phases that have ended, in order.
func (m *MetalSums) told() []MetalPhase {
	var out []MetalPhase
	for i, p := range m.phases {
		if m.ended[i] {
			out = append(out, p)
		}
	}
	return out
}

// headedSteps is how many decode steps of a round are told one by one.
const headedSteps = 2

// Trace puts together what the tables show.
func (m *MetalSums) Trace() MetalTrace {
	t := MetalTrace{Phases: FoldSteps(m.told(), headedSteps), Kernels: m.kernels, Lost: m.lost}
	used := map[string]int{}
	for _, p := range m.pipelines {
		used[p.Library]++
		t.Pipelines = append(t.Pipelines, PipelineRow{Library: p.Library, Function: p.Function, Create: m.took[p.Span], Cache: p.Cache})
	}
	for _, l := range m.libraries {
		t.Libraries = append(t.Libraries, LibraryRow{Name: l.Name, SourceBytes: l.SourceBytes, Kernels: l.Kernels, Used: used[l.Name],
			Compile: m.took[l.Span], Cache: l.Cache})
	}
	return t
}

// MetalTraceOf is what the tables at the end of a traced run show, of any run.
func MetalTraceOf(run *recording.Run) MetalTrace {
	m := sumsOf(run)
	m.lost = run.LostSpans()
	for _, k := range run.Kernels {
		m.Event(&k)
	}
	m.libraries, m.pipelines = run.Libraries, run.Pipelines
	return m.Trace()
}

// DevicePhasesOf are the phases of a run that have ended, each for itself.
func DevicePhasesOf(run *recording.Run) []MetalPhase { return sumsOf(run).told() }

// sumsOf adds up the spans and counters of a run.
func sumsOf(run *recording.Run) *MetalSums {
	m := NewMetalSums()
	for _, s := range run.Spans {
		m.span(s)
	}
	for _, s := range run.Samples {
		m.count(s)
	}
	return m
}

// FoldSteps keeps the first phases of each round as they are, and of its decode
// steps beyond the first head ones only that with the median wall clock, whose
// name then says how many it stands for.
func FoldSteps(phases []MetalPhase, head int) []MetalPhase {
	var out, later []MetalPhase
	fold := func() {
		if len(later) == 0 {
			return
		}
		slices.SortStableFunc(later, func(a, b MetalPhase) int { return cmp.Compare(a.Wall, b.Wall) })
		median := later[(len(later)-1)/2]
		median.Name = fmt.Sprintf("median of %d more", len(later))
		out, later = append(out, median), nil
	}
	round := 0
	for _, p := range phases {
		if p.Round != round {
			fold()
			round = p.Round
		}
		if p.Step > head {
			later = append(later, p)
			continue
		}
		out = append(out, p)
	}
	fold()
	return out
}
