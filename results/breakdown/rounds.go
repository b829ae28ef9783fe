// Package breakdown takes a run apart: into its rounds, the phases of each, and
// what was compiled, encoded and waited for in them; and into the lines of an
// account that add up to the wall clock. Every answer stands on it. It reads
// the spans and samples of a recording and judges nothing.
package breakdown

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/trace"
	"github.com/introgen/introgen/trace/names"
)

// What a part of a phase can be, besides the phase itself.
const (
	KindLibrary   = names.SpanLibrary
	KindPipeline  = names.SpanPipeline
	KindRecording = names.SpanRecord // the instrument writes its own file
	KindWeights   = "weights to the device"
	KindEncode    = "encoding"
	KindCommit    = "committing"
	KindWait      = "waiting for the device"
)

// Compile is a library or a pipeline that was made, from source or from a
// cache.
type Compile struct {
	Library  string
	Function string // "" for the library itself
	// Constants tell pipelines of one function apart; "" where none are known.
	Constants string
	Cache     string // "hit", "miss", "off", or ""
	Told      bool   // an event says what Cache does; where none does it is not known
	Start     time.Duration
	Time      time.Duration
}

// IsLibrary tells a library from a pipeline.
func (c Compile) IsLibrary() bool { return c.Function == "" }

// unknownHit is the time below which a library counts as one from a cache where
// the driver does not tell: in the experiment macOS took 2 to 3 ms for one from
// its cache, and 26 ms to compile the smallest.
const unknownHit = 15 * time.Millisecond

// FromCache says whether it was not compiled.
func (c Compile) FromCache() bool {
	return c.Cache == names.CacheHit || c.Cache == names.CacheUnknown && c.Time < unknownHit
}

// Phase is a part of a round. Its parts Compiles, Recording, Weights, Encode,
// Commit and Wait do not overlap. GPU is the device's own time, which overlaps with all of
// them.
type Phase struct {
	ID         trace.ID
	Name       string // one of results' names of spans
	N          int64  // a prefill's tokens, a decode step's number from 1
	Start, End time.Duration
	Open       bool // the recording ends within it
	// Lost says that spans are missing which may have lain in it: Compiles and
	// the times of its other parts may not be all.
	Lost bool

	Compiles             []Compile     // in order
	Recording            time.Duration // in which the recording was written
	Weights              time.Duration // in which tensors were brought to the device
	Encode, Commit, Wait time.Duration // encoding without what was compiled or copied meanwhile
	GPU                  time.Duration // in which the device ran something
	Overlap              time.Duration // of GPU, while the CPU did something else than wait for it

	Dispatches, Encoders, CommandBuffers int64
}

// Time is the phase's wall clock.
func (p Phase) Time() time.Duration { return p.End - p.Start }

// Compiling is the time of all that was compiled in the phase.
func (p Phase) Compiling() time.Duration {
	var sum time.Duration
	for _, c := range p.Compiles {
		sum += c.Time
	}
	return sum
}

// Own is the phase's wall clock less compiling and recording.
func (p Phase) Own() time.Duration { return p.Time() - p.Compiling() - p.Recording }

// Part is a part of a phase by one of the Kind constants.
type Part struct {
	Kind string
	Time time.Duration
}

// Parts are what the phase did for a device besides compiling, without what
// took no time.
func (p Phase) Parts() []Part {
	all := []Part{{KindWeights, p.Weights}, {KindEncode, p.Encode}, {KindCommit, p.Commit}, {KindWait, p.Wait}}
	return slices.DeleteFunc(all, func(x Part) bool { return x.Time <= 0 })
}

// Rest is what no part explains: of a phase without parts all of its time.
func (p Phase) Rest() time.Duration {
	rest := p.Own()
	for _, x := range p.Parts() {
		rest -= x.Time
	}
	return rest
}

// Round is one generation.
type Round struct {
	ID         trace.ID
	Number     int
	Start, End time.Duration
	Phases     []Phase // in order
	// Made is how many decode steps gave a token, as the round's event says;
	// negative where there is none or it does not tell.
	Made int
	// Before is what the process did before its first round, from its start on:
	// as its parent took it, else from the run's own first moment. It is empty
	// for later rounds, and where the run does not tell.
	Before []Part

	run *recording.Run
}

// FromStart is the time from the start of the process until new token n is
// known, without that in which the instrument itself was at work.
func (r Round) FromStart(n int) (time.Duration, bool) {
	t, ok := r.Token(n)
	for _, p := range r.Before {
		t += p.Time
	}
	return t, ok && len(r.Before) > 0
}

// Phase returns the first phase of the name.
func (r Round) Phase(name string) (Phase, bool) {
	i := slices.IndexFunc(r.Phases, func(p Phase) bool { return p.Name == name })
	if i < 0 {
		return Phase{}, false
	}
	return r.Phases[i], true
}

// Steps are the decode steps that have ended and are recorded, in order. Which
// of the round's a step is says its N, not its place among them.
func (r Round) Steps() []Phase {
	return slices.DeleteFunc(slices.Clone(r.Phases), func(p Phase) bool { return p.Name != names.SpanStep || p.Open })
}

// Step is decode step n, from 1.
func (r Round) Step(n int) (Phase, bool) {
	i := slices.IndexFunc(r.Phases, func(p Phase) bool { return p.Name == names.SpanStep && !p.Open && p.N == int64(n) })
	if i < 0 {
		return Phase{}, false
	}
	return r.Phases[i], true
}

// Later are the steps behind the first, which may have had to compile.
func (r Round) Later() []Phase {
	return slices.DeleteFunc(r.Steps(), func(p Phase) bool { return p.N < 2 })
}

// AllSteps are the decode steps, and whether none of them is missing, so that
// their sum is one.
func (r Round) AllSteps() (steps []Phase, whole bool) {
	steps = r.Steps()
	for i, p := range steps {
		if p.N != int64(i+1) {
			return steps, false
		}
	}
	return steps, r.Made < 0 || len(steps) == r.Made
}

// Lost says whether spans are missing which may have lain in the round.
func (r Round) Lost() bool {
	return slices.ContainsFunc(r.Phases, func(p Phase) bool { return p.Lost }) ||
		len(r.Phases) > 0 && r.run != nil && r.run.Lacks(r.ID, r.Phases[0].ID)
}

// Token is the time from the round's start, which opens the file, until new
// token n is known, from 1: the end of the prefill, then of the decode steps.
// What the instrument did between two phases is not in it, so that there is no
// such time where a span is missing that may have been that.
func (r Round) Token(n int) (time.Duration, bool) {
	p, ok := r.Phase(names.SpanPrefill)
	if n > 1 {
		p, ok = r.Step(n - 1)
	}
	if !ok || p.Open || n < 1 || r.run != nil && r.run.Lacks(r.ID, p.ID) {
		return 0, false
	}
	t := p.End - r.Start
	for _, x := range r.Phases {
		if x.Name == KindRecording && x.End <= p.End {
			t -= x.Time()
		}
	}
	return t, true
}

// Rounds takes a run's rounds apart, in order.
func Rounds(run *recording.Run) []Round {
	t := newTree(run)
	var out []Round
	for _, s := range run.Spans {
		if s.Name == names.SpanRound && s.Parent == 0 {
			out = append(out, t.round(s))
		}
	}
	if len(out) > 0 && out[0].Number == 1 && !run.Lacks(0, out[0].ID) {
		out[0].Before = t.before(out[0].Start)
	}
	return out
}

// before are the parts of a run until its first round: those at the top, the
// process's start, and what lies between them. A run that does not tell how its
// arguments were read began to be timed later than its process.
func (t *tree) before(until time.Duration) []Part {
	var out []Part
	rest, told := until, false
	if x := t.run.Exit; x != nil && t.run.Header.Clock > 0 {
		if t.run.Header.Clock < x.Spawned {
			return nil // the run's clock would have begun before its process
		}
		out = append(out, Part{ProcessStart, time.Duration(t.run.Header.Clock - x.Spawned)})
	}
	for _, s := range t.run.Spans {
		if s.Parent != 0 || s.End < 0 || s.End > until || s.Name == names.SpanGPU || s.Name == names.SpanQueued {
			continue
		}
		rest -= t.ends(s) - s.Start
		switch s.Name {
		case names.SpanRecord, names.SpanEvict, names.SpanDigest: // the instrument, and what makes the state
		default:
			out = append(out, Part{s.Name, t.ends(s) - s.Start})
		}
		told = told || s.Name == names.SpanArguments
	}
	if !told {
		return nil
	}
	return append(out, Part{Unattributed, max(0, rest)})
}

// tree finds what is inside of what.
type tree struct {
	run      *recording.Run
	at       map[trace.ID]int
	within   map[trace.ID][]int    // indices of spans by their parent
	phases   map[trace.ID]trace.ID // of the spans so far, see phase
	end      time.Duration         // of the recording
	last     time.Duration         // end of a span, but for the device's
	library  map[trace.ID]recording.Library
	pipeline map[trace.ID]recording.Pipeline
	inside   map[trace.ID][]trace.Record // spans by the phase, or span at the top, that they are in
	samples  map[trace.ID][]trace.Sample
	tops     []trace.ID // rounds and phases, and spans at the top, in order
	rounds   map[trace.ID]recording.Round
}

func newTree(run *recording.Run) *tree {
	t := &tree{run: run, at: map[trace.ID]int{}, within: map[trace.ID][]int{}, phases: map[trace.ID]trace.ID{}, library: map[trace.ID]recording.Library{}, pipeline: map[trace.ID]recording.Pipeline{},
		inside: map[trace.ID][]trace.Record{}, samples: map[trace.ID][]trace.Sample{}, rounds: map[trace.ID]recording.Round{}}
	for i, s := range run.Spans {
		t.at[s.ID] = i
		t.within[s.Parent] = append(t.within[s.Parent], i)
		t.end = max(t.end, s.Start, s.End)
		if s.Name != names.SpanGPU && s.Name != names.SpanQueued {
			t.last = max(t.last, s.End)
		}
	}
	if run.End != nil {
		t.end = max(t.end, time.Duration(run.End.At))
	}
	for _, l := range run.Libraries {
		t.library[l.Span] = l
	}
	for _, p := range run.Pipelines {
		t.pipeline[p.Span] = p
	}
	for _, s := range run.Spans {
		if top := t.phase(s.ID); top != s.ID {
			t.inside[top] = append(t.inside[top], s)
		} else {
			t.tops = append(t.tops, s.ID)
		}
	}
	for _, r := range run.Rounds {
		t.rounds[r.Span] = r
	}
	for _, s := range run.Samples {
		top := t.phase(s.Span)
		t.samples[top] = append(t.samples[top], s)
	}
	return t
}

// phase is the outermost span around id, id itself included, that is no round.
// Spans stand in the order of their begin, so that the phase of the parent is
// known: without that, spans that are nested deeply would take forever.
func (t *tree) phase(id trace.ID) trace.ID {
	if top, ok := t.phases[id]; ok {
		return top
	}
	i, ok := t.at[id]
	if !ok {
		return id
	}
	top, parent := id, t.run.Spans[i].Parent
	// A parent begins before its child; what says otherwise is damaged.
	if j, ok := t.at[parent]; ok && j < i && parent < id && t.run.Spans[j].Name != names.SpanRound {
		if top, ok = t.phases[parent]; !ok {
			top = parent
		}
	}
	t.phases[id] = top
	return top
}

func (t *tree) ends(s trace.Record) time.Duration {
	if s.End < 0 {
		return max(t.end, s.Start)
	}
	return max(s.End, s.Start)
}

func (t *tree) round(round trace.Record) Round {
	r := Round{ID: round.ID, Number: int(round.N), Start: round.Start, End: t.ends(round), Made: -1, run: t.run}
	if e, ok := t.rounds[round.ID]; ok && e.IDs != nil {
		r.Made = max(0, len(e.IDs)-1)
	}
	for _, i := range t.within[round.ID] {
		s := t.run.Spans[i]
		// The device's own time is no phase, even where it was told between two.
		if s.Name == names.SpanGPU || s.Name == names.SpanQueued {
			continue
		}
		r.Phases = append(r.Phases, t.take(s))
	}
	slices.SortStableFunc(r.Phases, func(a, b Phase) int { return cmp.Compare(a.Start, b.Start) })
	return r
}

// take makes a phase of a span and all that is inside of it.
func (t *tree) take(top trace.Record) Phase {
	p := Phase{ID: top.ID, Name: top.Name, N: top.N, Start: top.Start, End: t.ends(top), Open: top.End < 0}
	if i, ok := slices.BinarySearch(t.tops, top.ID+1); !ok && i < len(t.tops) {
		p.Lost = t.run.Lacks(top.ID, t.tops[i])
	}
	var gpu, waits []interval
	inside := t.inside[top.ID]
	if top.Name == names.SpanLibrary || top.Name == names.SpanPipeline {
		inside = append([]trace.Record{top}, inside...)
	}
	for _, s := range inside {
		took := t.ends(s) - s.Start
		switch s.Name {
		case names.SpanLibrary, names.SpanPipeline:
			p.Compiles = append(p.Compiles, t.compile(s, took))
			t.encoding(s, took, &p)
		case KindRecording:
			p.Recording += took
			t.encoding(s, took, &p)
		case names.SpanWeights:
			p.Weights += took
			t.encoding(s, took, &p)
		case names.SpanEncoder:
			p.Encode += took
		case names.SpanCommit:
			p.Commit += took
		case names.SpanWait:
			p.Wait += took
			waits = append(waits, interval{s.Start, t.ends(s)})
		case names.SpanGPU:
			gpu = append(gpu, interval{s.Start, t.ends(s)})
		}
	}
	gpu, waits = union(gpu), union(waits)
	p.GPU = length(gpu)
	p.Overlap = p.GPU - common(gpu, waits)
	for _, c := range t.samples[top.ID] {
		switch c.Name {
		case names.CountDispatches:
			p.Dispatches += c.Value
		case names.CountEncoders:
			p.Encoders += c.Value
		case names.CountCommandBuffers:
			p.CommandBuffers += c.Value
		}
	}
	return p
}

// encoding takes away from the time of encoding what was done inside of an
// encoder but is not encoding.
func (t *tree) encoding(s trace.Record, took time.Duration, p *Phase) {
	if i, ok := t.at[s.Parent]; ok && t.run.Spans[i].Name == names.SpanEncoder {
		p.Encode -= took
	}
}

// compile tells what was compiled by the event that belongs to the span, or by
// the span's own detail where there is none.
func (t *tree) compile(s trace.Record, took time.Duration) Compile {
	c := Compile{Library: s.Detail, Start: s.Start, Time: took}
	if s.Name == names.SpanPipeline {
		c.Library, c.Function, _ = strings.Cut(s.Detail, " ")
		if c.Function == "" {
			c.Function = "?"
		}
	}
	if l, ok := t.library[s.ID]; ok {
		c.Cache, c.Told = l.Cache, true
	}
	if p, ok := t.pipeline[s.ID]; ok {
		c.Library, c.Constants, c.Cache, c.Told = p.Library, p.Constants, p.Cache, true
		if p.Function != "" {
			c.Function = p.Function
		}
	}
	return c
}
