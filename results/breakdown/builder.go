package breakdown

import (
	"cmp"
	"slices"
	"time"

	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/trace"
	"github.com/introgen/introgen/trace/names"
)

// Builder takes a run apart as its events come, in the order of a recording: a
// span is told after the one that it lies in, and once more where it was told
// while it was open.
type Builder struct {
	run       *recording.Run // nil while the run goes on: what is missing of it is not known
	ids       []trace.ID     // of the spans so far, ascending
	places    []place        // where each of them lies
	tops      []top
	first     int                      // of tops, the first round; 0 where nothing came before one
	within    map[trace.ID][]int       // of tops, by the span that they lie in
	open      map[int32][]trace.Record // that were told and have not ended, by the top that they lie in
	end       time.Duration            // of the recording
	last      time.Duration            // end of a span, but for the device's
	libraries map[trace.ID]*recording.Library
	pipelines map[trace.ID]*recording.Pipeline
	rounds    map[trace.ID]*recording.Round

	// Of a recorded program: what its threads did, and when it first did what.
	program           bool
	works             []work                    // also of an engine's run what was compiled beside the thread that generates
	compiles          map[trace.ID]trace.Record // the libraries and pipelines among them
	clocks            []clocked                 // by the tops; nil where works or awaits have changed
	awaits            []trace.Record            // of an engine's run
	waits             []interval                // in which the wall clock waited for the device, in order
	touched           time.Duration             // when Metal was first called; figures.Missing where it never was
	written, answered time.Duration             // when it first wrote anything, and on stdout; the same
}

// place is where a span lies: in which of the tops, in which part of that, and
// which part it is itself, or else lies in.
type place struct {
	top       int32
	in, holds part
	round     bool
}

// part is a kind of work in a phase whose time is added up.
type part uint8

const (
	none part = iota
	recorded
	awaited
	weights
	encode
	commit
	wait
	parts
	made part = parts // a library or a pipeline, which is told by itself
)

var partOf = map[string]part{
	names.SpanLibrary: made, names.SpanPipeline: made, names.SpanRecord: recorded, names.SpanAwait: awaited, names.SpanWeights: weights,
	names.SpanEncoder: encode, names.SpanCommit: commit, names.SpanWait: wait,
}

// top is a round, a phase of one, or a span outside of rounds, with what lies in
// it. A round's phases are tops themselves.
type top struct {
	span       trace.Record
	sums       [parts]time.Duration
	compiles   []trace.Record
	gpu, waits []interval
	counts     struct{ dispatches, encoders, buffers, barriers int64 }
}

// NewBuilder returns a builder that has seen nothing.
func NewBuilder() *Builder {
	return &Builder{within: map[trace.ID][]int{}, open: map[int32][]trace.Record{}, libraries: map[trace.ID]*recording.Library{}, pipelines: map[trace.ID]*recording.Pipeline{},
		rounds: map[trace.ID]*recording.Round{}, compiles: map[trace.ID]trace.Record{},
		touched: figures.Missing, written: figures.Missing, answered: figures.Missing}
}

// build takes a run apart that has been read.
func build(run *recording.Run) *Builder {
	b := NewBuilder()
	b.run, b.program = run, run.Header.Program != nil
	b.ids, b.places = make([]trace.ID, 0, len(run.Spans)), make([]place, 0, len(run.Spans))
	for _, s := range run.Spans {
		b.span(s)
	}
	for _, c := range run.Samples {
		b.count(c)
	}
	for i := range run.Outputs {
		b.output(&run.Outputs[i])
	}
	for i := range run.Libraries {
		b.libraries[run.Libraries[i].Span] = &run.Libraries[i]
	}
	for i := range run.Pipelines {
		b.pipelines[run.Pipelines[i].Span] = &run.Pipelines[i]
	}
	for i := range run.Rounds {
		b.rounds[run.Rounds[i].Span] = &run.Rounds[i]
	}
	if run.End != nil {
		b.end = max(b.end, time.Duration(run.End.At))
	}
	return b
}

// Event takes the next event of the run.
func (b *Builder) Event(e recording.Event) {
	switch e := e.(type) {
	case *recording.Header:
		b.program = e.Program != nil
	case *recording.Output:
		b.output(e)
	case *recording.Span:
		b.span(e.Record)
	case *recording.Count:
		b.count(e.Sample)
	case *recording.Library:
		b.libraries[e.Span] = e
	case *recording.Pipeline:
		b.pipelines[e.Span] = e
	case *recording.Round:
		b.rounds[e.Span] = e
	case *recording.End:
		b.end = max(b.end, time.Duration(e.At))
	}
}

func (b *Builder) span(s trace.Record) {
	b.end = max(b.end, s.Start, s.End)
	if !names.OfDevice(s.Name) {
		b.last = max(b.last, s.End)
	}
	at, told := b.place(s)
	if t := &b.tops[at.top]; t.span.ID == s.ID {
		t.span = s
	}
	switch {
	case s.End < 0 && !told:
		b.open[at.top] = append(b.open[at.top], s)
	case s.End >= 0 && (!told || b.close(at.top, s.ID)):
		b.tops[at.top].add(s, max(s.End, s.Start), at.in)
		if b.program || recording.Beside(s) {
			b.worked(s)
		} else if s.Name == names.SpanAwait {
			b.awaits, b.clocks = append(b.awaits, s), nil
		}
	}
	if b.program && partOf[s.Name] != none {
		b.touch(s.Start)
	}
}

// touch notes that Metal was called.
func (b *Builder) touch(at time.Duration) {
	if b.touched == figures.Missing || at < b.touched {
		b.touched = at
	}
}

func (b *Builder) output(e *recording.Output) {
	first := func(t *time.Duration) {
		if *t == figures.Missing || time.Duration(e.At) < *t {
			*t = time.Duration(e.At)
		}
	}
	if e.Bytes == 0 {
		return
	}
	if first(&b.written); e.Stream == recording.StreamOut {
		first(&b.answered)
	}
}

// close says whether the span was open, and that it is not any more.
func (b *Builder) close(top int32, id trace.ID) bool {
	for i := len(b.open[top]) - 1; i >= 0; i-- { // what began last ends first
		if b.open[top][i].ID == id {
			b.open[top] = slices.Delete(b.open[top], i, i+1)
			return true
		}
	}
	return false
}

// find is where a span stands among those so far.
func (b *Builder) find(id trace.ID) (int, bool) {
	if n := len(b.ids); n == 0 || id > b.ids[n-1] {
		return n, false
	}
	return slices.BinarySearch(b.ids, id)
}

// place is where a span lies, and whether it had been told of before. A new one
// that lies in nothing, in a round, or in what is not known, is a top.
func (b *Builder) place(s trace.Record) (at place, told bool) {
	i, told := b.find(s.ID)
	if told {
		return b.places[i], true
	}
	// A parent begins before its child; what says otherwise is damaged.
	if j, ok := b.find(s.Parent); ok && s.Parent < s.ID && !b.places[j].round {
		at = place{top: b.places[j].top, in: b.places[j].holds}
	} else {
		at.top = int32(len(b.tops))
		b.tops = append(b.tops, top{span: s})
		if s.Name == names.SpanRound && b.first == 0 {
			b.first = int(at.top)
		}
		b.within[s.Parent] = append(b.within[s.Parent], int(at.top))
	}
	if !b.program && recording.Beside(s) {
		at.in = none // the call in whose middle it began has nothing to do with it
	}
	at.holds, at.round = at.in, s.Name == names.SpanRound
	if p := partOf[s.Name]; p != none && b.tops[at.top].span.ID != s.ID {
		at.holds = p
	}
	b.ids, b.places = slices.Insert(b.ids, i, s.ID), slices.Insert(b.places, i, at)
	return at, false
}

// add adds what a span within the top, or the top itself, took until its end. It
// takes that out of the part that the span lies in.
func (t *top) add(s trace.Record, end time.Duration, in part) {
	took, p := end-s.Start, partOf[s.Name]
	switch {
	case p == made:
		s.End = end
		t.compiles = append(t.compiles, s)
	case s.ID == t.span.ID:
		return
	case s.Name == names.SpanGPU:
		t.gpu = append(t.gpu, interval{s.Start, end})
		return
	case p == none:
		return
	case p == wait:
		t.waits = append(t.waits, interval{s.Start, end})
	}
	if p != made {
		t.sums[p] += took
	}
	if in > recorded && in < parts {
		t.sums[in] -= took
	}
}

func (b *Builder) count(c trace.Sample) {
	i, ok := b.find(c.Span)
	if !ok {
		return
	}
	n := &b.tops[b.places[i].top].counts
	switch c.Name {
	case names.CountDispatches:
		n.dispatches += c.Value
	case names.CountEncoders:
		n.encoders += c.Value
	case names.CountCommandBuffers:
		n.buffers += c.Value
	case names.CountBarriers:
		n.barriers += c.Value
	}
	if b.program {
		b.touch(c.At)
	}
}

func (b *Builder) ends(s trace.Record) time.Duration {
	if s.End < 0 {
		return max(b.end, s.Start)
	}
	return max(s.End, s.Start)
}

// Rounds are those so far, in order. What is open in them ends with the recording.
func (b *Builder) Rounds() []Round {
	var out []Round
	for _, i := range b.within[0] {
		if s := b.tops[i].span; s.Name == names.SpanRound && b.program {
			out = append(out, split(b.round(s))...)
		} else if s.Name == names.SpanRound {
			out = append(out, b.round(s))
		}
	}
	if len(out) > 0 && out[0].Number == 1 && !b.lacks(0, out[0].ID) && !b.program {
		out[0].Before = b.before(out[0].Start)
	}
	return out
}

// before are the parts of a run until its first round: those at the top, the
// process's start, and what lies between them. A run that does not tell how its
// arguments were read began to be timed later than its process.
func (b *Builder) before(until time.Duration) []Part {
	var out []Part
	rest, told := until, false
	if b.run != nil && b.run.Exit != nil && b.run.Header.Clock > 0 {
		if b.run.Header.Clock < b.run.Exit.Spawned {
			return nil // the run's clock would have begun before its process
		}
		out = append(out, Part{ProcessStart, time.Duration(b.run.Header.Clock - b.run.Exit.Spawned)})
	}
	for _, i := range b.within[0] {
		s := b.tops[i].span
		if s.End < 0 || s.End > until || names.OfDevice(s.Name) {
			continue
		}
		rest -= b.ends(s) - s.Start
		switch s.Name {
		case names.SpanRecord, names.SpanEvict, names.SpanDigest, names.SpanLimits: // the instrument, and what makes the state
		default:
			out = append(out, Part{s.Name, b.ends(s) - s.Start})
		}
		told = told || s.Name == names.SpanArguments
	}
	if !told {
		return nil
	}
	return append(out, Part{Unattributed, max(0, rest)})
}

// Ended is the round of the event, of those phases that have ended and can be: it
// is asked for as soon as the round has ended, and nothing has judged its spans.
func (b *Builder) Ended(e *recording.Round) Round {
	var ended []trace.Record
	for _, i := range b.within[e.Span] {
		if s := b.tops[i].span; s.End >= 0 {
			ended = append(ended, s)
		}
	}
	sound := map[trace.ID]bool{}
	for _, s := range recording.Sound(ended, e, b.program) {
		sound[s.ID] = true
	}
	r := b.round(b.spanOf(e))
	r.Event = e
	r.Phases = slices.DeleteFunc(r.Phases, func(p Phase) bool { return !sound[p.ID] })
	return r
}

// spanOf is the span of a round by its event. Of one that is missing it is not known
// when the round began.
func (b *Builder) spanOf(e *recording.Round) trace.Record {
	if i, ok := b.find(e.Span); ok {
		if s := b.tops[b.places[i].top].span; s.ID == e.Span {
			return s
		}
	}
	return trace.Record{ID: e.Span, N: int64(e.Number), Start: figures.Missing, End: -1}
}

func (b *Builder) lacks(after, before trace.ID) bool {
	return b.run != nil && b.run.Lacks(after, before)
}

func (b *Builder) round(s trace.Record) Round {
	r := Round{ID: s.ID, Number: int(s.N), Start: s.Start, End: b.ends(s), Open: s.End < 0, Event: b.rounds[s.ID], run: b.run, program: b.program,
		FirstMetal: figures.Missing, FirstOutput: figures.Missing}
	if b.program {
		r.FirstMetal, r.FirstOutput = b.touched, b.answered
		if b.answered == figures.Missing {
			r.FirstOutput = b.written
		}
	}
	var across []int
	for _, i := range b.within[s.ID] {
		// The device's own time is no phase, even where it was told between two, nor is
		// what a program did across the end of one.
		switch s := b.tops[i].span; {
		case names.OfDevice(s.Name):
		case b.program && partOf[s.Name] != none, recording.Beside(s):
			across = append(across, i)
		default:
			r.Phases = append(r.Phases, b.phase(i))
		}
	}
	slices.SortStableFunc(r.Phases, func(x, y Phase) int { return cmp.Compare(x.Start, y.Start) })
	for _, i := range across {
		r.begun(b.phase(i))
	}
	r.lead(b.early(s))
	if b.program {
		r.Before = []Part{{PhaseStart, r.opened() - r.Start}}
		if at, ok := r.firstCall(); ok && (r.FirstMetal == figures.Missing || at < r.FirstMetal) {
			r.FirstMetal = at
		}
	}
	return r
}

// phase makes a phase of a top and all that is inside of it.
func (b *Builder) phase(i int) Phase {
	t := b.tops[i]
	for _, s := range b.open[int32(i)] {
		j, _ := b.find(s.ID)
		t.compiles, t.gpu, t.waits = slices.Clip(t.compiles), slices.Clip(t.gpu), slices.Clip(t.waits)
		t.add(s, b.ends(s), b.places[j].in)
	}
	s := t.span
	p := Phase{ID: s.ID, Name: s.Name, Detail: s.Detail, N: s.N, Start: s.Start, End: b.ends(s), Open: s.End < 0,
		Recording: t.sums[recorded], Weights: t.sums[weights], Encode: t.sums[encode], Commit: t.sums[commit], Wait: t.sums[wait],
		Dispatches: t.counts.dispatches, Encoders: t.counts.encoders, CommandBuffers: t.counts.buffers,
		Barriers: t.counts.barriers}
	if i+1 < len(b.tops) { // those of a run that was read are in the order of their numbers
		p.Lost = b.lacks(s.ID, b.tops[i+1].span.ID)
	}
	count := int64(len(t.waits))
	gpu, waits := union(t.gpu), union(t.waits)
	p.GPU = length(gpu)
	p.Overlap = p.GPU - common(gpu, waits)
	for _, c := range t.compiles {
		p.Compiles = append(p.Compiles, b.compile(c))
	}
	switch {
	case b.program:
		p.Waits = count
		b.byClock(i, &p, gpu)
	case len(b.works)+len(b.awaits) > 0:
		if b.leads(i) {
			p.Compiles = slices.DeleteFunc(p.Compiles, func(c Compile) bool { return c.Beside })
		}
		b.byAwaits(i, &p)
	}
	return p
}

// compile tells what was compiled by the event that belongs to the span, or by
// the span's own detail where there is none.
func (b *Builder) compile(s trace.Record) Compile {
	made := recording.MadeIn(s)
	c := Compile{Library: made.Library, Function: made.Function, Start: s.Start, Time: s.Duration()}
	if b.program || recording.Beside(s) {
		c.span, c.Beside = s.ID, !b.program
	}
	if s.Name == names.SpanPipeline && c.Function == "" {
		c.Function = "?"
	}
	if l := b.libraries[s.ID]; l != nil {
		c.Cache, c.Told, c.SourceBytes, c.Kernels = l.Cache, true, l.SourceBytes, l.Kernels
	}
	if p := b.pipelines[s.ID]; p != nil {
		c.Library, c.Constants, c.Cache, c.Told = p.Library, p.Constants, p.Cache, true
		if p.Function != "" {
			c.Function = p.Function
		}
	}
	return c
}
