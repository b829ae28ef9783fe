package profile

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/introgen/introgen/results/answers/samples"
	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/trace"
	"github.com/introgen/introgen/trace/names"
)

// What frames are: their file.
const (
	isPhase     = "phase"
	isPart      = "part of a phase"
	isLayer     = "layer"
	isOperation = "operation"
	isLibrary   = "library"
	isKernel    = "kernel"
)

// labelsOf are the labels of a run: on which device it ran, in which state, and of a
// plan which run it was.
func labelsOf(f *recording.File, r *recording.Run) map[string]string {
	out := map[string]string{"device": "cpu", "state": short(stateOf(f, r))}
	switch {
	case r.Device != nil:
		out["device"] = short("metal " + r.Device.Driver)
	case r.Header.Program != nil, r.Header.Command == "metal":
		out["device"] = "metal"
	}
	if r.Header.Program != nil {
		out["program"] = short(filepath.Base(r.Header.Program.Path))
	}
	if r.Start != nil {
		out["arm"], out["run"] = short(r.Start.Arm), strconv.Itoa(r.Start.Run)
	}
	if !r.Counts() {
		out["counts"] = "no"
	}
	return out
}

// stateOf is the state of the cache that a run claims to be in, else that its
// evidence shows.
func stateOf(f *recording.File, r *recording.Run) string {
	if f.Plan != nil && r.Start != nil {
		for _, a := range f.Plan.Arms {
			if a.Name == r.Start.Arm && a.State != "" {
				return a.State
			}
		}
	}
	return samples.Shown(r)
}

// title is a run in front of what is said of it.
func title(r *recording.Run) string {
	if r.Start != nil {
		return fmt.Sprintf("run %d (%s)", r.Start.Run, r.Start.Arm)
	}
	return "the run of " + r.Header.Command
}

// run adds a run.
func (b *builder) run(r *breakdown.Run) error {
	a, err := r.Account()
	if err != nil {
		return err
	}
	b.duration += a.Wall
	t := &taker{builder: b, run: r, phases: map[trace.ID]place{}}
	for _, l := range a.Lines {
		if l.Phase == breakdown.ProcessStart || l.Phase == breakdown.ProcessExit {
			t.wall(stack{}.then(isPhase, l.Phase), where{}, l.Time)
		}
	}
	rounds := map[trace.ID][]breakdown.Round{}
	for _, x := range r.Rounds {
		rounds[x.ID] = append(rounds[x.ID], x)
	}
	for _, p := range r.Top() {
		if p.Name != names.SpanRound {
			t.phase(p, where{})
			continue
		}
		for _, x := range rounds[p.ID] {
			w := where{round: int64(x.Number)}
			if x.Number > 1 && r.Device != nil && r.Header.Program == nil {
				w.state = recording.StateWarmProcess
			}
			for _, p := range x.Phases {
				w.step = 0
				if names.IsStep(p.Name) {
					w.step = p.N
				}
				t.phase(p, w)
			}
		}
	}
	if rest := a.Wall - t.sum; rest > 0 {
		t.wall(stack{}.then(isPhase, breakdown.Unattributed), where{}, rest)
	}
	t.executed()
	t.device()
	if r.Header.Command == "cpu" && len(r.Executed) == 0 {
		b.comment("the CPU engine's threads were not traced, so there is no time of type cpu: record with --trace")
	}
	if len(r.Libraries) == 0 && r.Device == nil && r.Header.Command == "cpu" {
		b.comment("the CPU engine compiles nothing, so there is no time of types gpu and compile of it")
	}
	if a.Lost > 0 {
		b.comment("%s: %d spans are missing, and what they timed is unattributed", title(r.Run), a.Lost)
	}
	return nil
}

// taker takes a run apart into samples.
type taker struct {
	*builder
	run    *breakdown.Run
	sum    time.Duration // of the wall clock so far
	phases map[trace.ID]place
	order  []trace.ID // of phases
}

// place is a phase, with what the device did in it.
type place struct {
	stack stack
	where where
	gpu   time.Duration // in which the device ran something
	told  time.Duration // of that by its operations
}

func (t *taker) wall(s stack, w where, d time.Duration) {
	if d > 0 {
		t.sum += d
		t.add(s, w, map[int]time.Duration{wall: d})
	}
}

// phase adds a phase with its parts.
func (t *taker) phase(p breakdown.Phase, w where) {
	name := p.Name
	if name == names.SpanPhase {
		name = p.Title()
	}
	s := stack{}.then(isPhase, name)
	if _, twice := t.phases[p.ID]; !twice {
		t.order = append(t.order, p.ID)
	}
	t.phases[p.ID] = place{stack: s, where: w, gpu: p.GPU}
	for i, c := range slices.Concat(p.Compiles, p.Carried) {
		made := s.then(isPart, frameCompile).then(isLibrary, c.Library).then(isKernel, c.Function)
		values := map[int]time.Duration{wall: c.Wall()}
		if i < len(p.Compiles) { // it is counted where it began
			values[compile] = c.Time
		}
		t.sum += c.Wall()
		t.add(made, w, values)
	}
	for _, x := range p.Parts() {
		t.wall(s.then(isPart, x.Kind), w, x.Time)
	}
	t.wall(s.then(isPart, breakdown.KindRecording), w, p.Recording)
	if p.Name == names.SpanLibrary || p.Name == names.SpanPipeline {
		return
	}
	if p.Divided() || p.Recording > 0 {
		s = s.then(isPart, breakdown.Unattributed)
	}
	t.wall(s, w, p.Rest())
}

// executed adds what the device and the CPU engine's threads computed.
func (t *taker) executed() {
	spans, operations := map[trace.ID]trace.Record{}, map[int]*recording.Operation{}
	for _, s := range t.run.Spans {
		spans[s.ID] = s
	}
	for _, o := range t.run.Operations {
		operations[o.ID] = o
	}
	for _, e := range t.run.Executed {
		if !e.Timed() {
			continue
		}
		as := cpu
		if spans[e.Span].Name == names.SpanGPU {
			as = gpu
		}
		id := t.phaseOf(e.Span, spans)
		at := t.phases[id]
		for i, x := range e.Operations {
			o := operations[x]
			if o == nil {
				continue
			}
			took := time.Duration(e.Time[i])
			s := at.stack
			if o.Layer != recording.NoLayer {
				s = s.then(isLayer, fmt.Sprintf("layer %d", o.Layer))
			}
			s = s.then(isOperation, o.Name).then(isLibrary, o.Library).then(isKernel, o.Kernel)
			t.add(s, at.where, map[int]time.Duration{as: took})
			if as == gpu {
				at.told += took
			}
		}
		if _, ok := t.phases[id]; ok {
			t.phases[id] = at
		}
	}
}

// phaseOf is the phase in which a span lies, 0 where it lies in none.
func (t *taker) phaseOf(id trace.ID, spans map[trace.ID]trace.Record) trace.ID {
	for id > 0 {
		if _, ok := t.phases[id]; ok {
			return id
		}
		next := spans[id].Parent
		if next >= id {
			return 0 // a parent begins before what lies in it
		}
		id = next
	}
	return 0
}

// device adds the time of the device that no operation told.
func (t *taker) device() {
	told, all, kernels := time.Duration(0), time.Duration(0), time.Duration(0)
	for _, p := range t.phases {
		told, all = told+p.told, all+p.gpu
	}
	for _, k := range t.run.Kernels {
		kernels += time.Duration(k.Time)
	}
	if told == 0 && kernels > 0 {
		// Of which phase and layer a kernel's time was is not recorded.
		s := stack{}.then(isPart, frameKernels)
		for _, k := range t.run.Kernels {
			t.add(s.then(isKernel, k.Name), where{}, map[int]time.Duration{gpu: time.Duration(k.Time)})
		}
		if rest := all - kernels; rest > 0 {
			t.add(s.then(isPart, frameBetween), where{}, map[int]time.Duration{gpu: rest})
		}
		t.comment("%s: the device's time is told by kernel over the whole run, and not by phase and layer: record with --trace", title(t.run.Run))
		return
	}
	for _, id := range t.order {
		p := t.phases[id]
		rest := p.gpu - p.told
		if rest <= 0 {
			continue
		}
		s := p.stack.then(isPart, frameDevice)
		if p.told > 0 {
			s = s.then(isPart, frameBetween)
		}
		t.add(s, p.where, map[int]time.Duration{gpu: rest})
	}
}
