package assemble

import (
	"slices"
	"strings"
	"time"

	"github.com/introgen/introgen/trace"
	"github.com/introgen/introgen/trace/names"
)

// The phases of a program that marks none.
const (
	startPhase  = "start"           // until the first call of Metal
	outputPhase = "to first output" // from there until the first byte on stdout, or else on stderr
	afterPhase  = "after"
)

// longestPhase is how many bytes of a phase's name are kept.
const longestPhase = 200

// Every report has a row for each name of a phase. A program that calls its phases by
// more names than mostNames has the rest of them under one.
const (
	mostNames  = 1000
	otherPhase = "other phases"
)

// phases is what is known of the phases of a run.
type phases struct {
	marked  bool             // a mark was seen: no others are made
	count   map[string]int64 // how many there were of a name
	n       int64            // of those that introgen has no name for
	others  int64            // that have a name too many
	written bool             // the first output was seen
	hinted  bool             // something came on stderr, at hint, and nothing on stdout: nothing is numbered from there
	hint    time.Duration
	idle    []time.Duration // when the last waits were over, and the device idle
}

// own are the phases that introgen has names for, but for decode steps.
var own = []string{names.SpanRead, names.SpanBuild, names.SpanEncodePrompt, names.SpanPrefill, names.SpanClose}

// Marks takes the marks that were seen in one write of the program, each of which
// begins a phase.
func (p *Process) Marks(names []string, at int64) {
	t := time.Duration(-1)
	for _, name := range names {
		if name = p.marked(name, at); name == "" {
			continue
		}
		if t < 0 { // once: a write may have thousands
			t = p.written(p.clock(at))
		}
		p.cut(name, t)
	}
}

// called takes a mark that the program has called for, which comes in the order of
// its calls.
func (p *Process) called(name string, at int64) {
	if name = p.marked(name, at); name != "" {
		p.cut(name, p.clock(at))
	}
}

// marked is the name of the phase that a mark begins, "" where it has none. From now
// on no others are made.
func (p *Process) marked(name string, at int64) string {
	name = strings.TrimSpace(strings.ToValidUTF8(name, "\uFFFD"))
	if name == "" {
		return ""
	}
	if len(name) > longestPhase {
		name = strings.ToValidUTF8(name[:longestPhase], "")
	}
	known := name == names.SpanStep || slices.Contains(own, name) || p.phases.count[name] > 0
	if !known && len(p.phases.count) >= mostNames {
		name = otherPhase
		p.phases.others++
	}
	p.now = max(p.now, p.clock(at))
	if !p.phases.marked {
		p.decide()
		p.repeats.held = nil
	}
	p.phases.marked, p.phases.hinted = true, false
	return name
}

// firstCall begins the phase that begins with the first call of Metal.
func (p *Process) firstCall(at time.Duration) {
	if !p.marks() {
		p.cut(outputPhase, at)
	}
}

// output takes a write of the program: the first byte on stdout begins the last
// phase, once Metal was used, or the first on stderr where none comes on stdout.
func (p *Process) output(stdout bool, at time.Duration) {
	f := &p.phases
	if p.marks() || !p.used || f.written || at < p.phase.record.Start {
		return // what came before the first call of Metal is no answer of its work
	}
	switch {
	case stdout:
		p.answered(p.written(at))
	case !f.hinted:
		f.hinted, f.hint = true, max(p.written(at), p.settled(), p.phase.record.Start)
	}
}

// answered begins the last phase.
func (p *Process) answered(at time.Duration) {
	p.phases.written, p.phases.hinted = true, false
	p.cut(afterPhase, at)
	p.repeats.held = p.phase
	before := func(t turn) bool { return t.end <= p.phase.record.Start }
	p.repeats.turns = slices.DeleteFunc(p.repeats.turns, before)
	p.repeats.buffers = slices.DeleteFunc(p.repeats.buffers, before)
}

// marks says whether only marks cut phases.
func (p *Process) marks() bool { return p.o.Marked || p.phases.marked }

// written is about when output was written that was seen at a time. The program goes
// on while it comes through a pipe. What is printed was waited for as a rule: where a
// wait was over shortly before, or the device had done all that was committed, what
// the program began behind that came behind the output; and else what was not over
// when it was seen.
func (p *Process) written(seen time.Duration) time.Duration {
	at, idle := seen, p.idleBefore(seen)
	for _, e := range p.list[p.from(max(idle, seen-Settled)):] {
		s := e.span
		if s == nil || s.phase || names.OfDevice(s.record.Name) || s.record.Start > seen {
			continue
		}
		if idle > 0 || s.record.End < 0 || s.record.End > seen {
			at = min(at, s.record.Start)
		}
	}
	return at
}

// idleAt notes that a wait was over, or the device idle.
func (p *Process) idleAt(at time.Duration) {
	idle := &p.phases.idle
	*idle = append(slices.DeleteFunc(*idle, func(t time.Duration) bool { return t < at-2*Settled }), at)
}

// idleBefore is when that was the last time before a time, 0 where that is long ago.
func (p *Process) idleBefore(seen time.Duration) (at time.Duration) {
	for _, t := range p.phases.idle {
		if t <= seen && t > seen-Settled {
			at = max(at, t)
		}
	}
	return at
}

// newPhase is a span of a phase of that name.
func (p *Process) newPhase(name string) *span {
	s := &span{record: trace.Record{Name: name, End: open}, in: p.round, thread: noThread, phase: true, after: p.phase}
	count := p.phases.count
	count[name]++
	switch {
	case name == names.SpanStep:
		s.record.N = count[name]
	case slices.Contains(own, name):
	default:
		p.phases.n++
		s.record.Name, s.record.Detail, s.record.N = names.SpanPhase, name, p.phases.n
	}
	return s
}

// cut ends the phase and begins another.
func (p *Process) cut(name string, at time.Duration) {
	at = max(at, p.phase.record.Start, p.settled())
	p.phase = p.newPhase(name)
	p.moveTo(p.phase, at)
}

// settled is the time from which on nothing is written.
func (p *Process) settled() time.Duration {
	if p.last == 0 {
		return 0
	}
	return max(p.floor+1, p.sealed)
}

// moveTo has a phase begin at a time, where the one before it ends. What began from
// there on lies in it, and what is open across lies in neither but in the round.
func (p *Process) moveTo(to *span, at time.Duration) {
	from := to.after
	if to.listed {
		p.list = slices.DeleteFunc(p.list, func(e entry) bool { return e.span == to })
	}
	to.listed = true
	n := p.from(at)
	for i := n; i < len(p.list) && p.list[i].at == at; i++ {
		if s := p.list[i].span; s != nil && s.phase {
			n = i + 1 // it lies in the one or follows the other
		}
	}
	began := n
	if from != nil {
		began = min(n, p.from(from.record.Start)) // nothing in it is earlier
	}
	for _, e := range p.list[began:n] {
		if s := e.span; s != nil && s.in == from && s.record.End > at {
			p.across(s)
		}
	}
	for i := n; i < len(p.list); i++ {
		e := &p.list[i]
		if e.in == from {
			e.in = to
		}
		if e.span != nil && e.span.in == from {
			e.span.in = to
		}
	}
	to.record.Start = at
	p.list = slices.Insert(p.list, n, entry{at: at, span: to})
	for _, stack := range p.threads {
		for _, s := range stack {
			if s.in == from {
				p.across(s)
			}
		}
	}
	for _, c := range p.calls {
		if c.span.in == from {
			p.across(c.span)
		}
	}
}

// across puts a span that is longer than its phase into the round, on a track where
// it may overlap what it likes.
func (p *Process) across(s *span) {
	s.in = p.round
	if s.record.Track < trace.AsyncTrack {
		s.record.Track = p.lane(s)
	}
}

// done takes a span that is told of when it is over. Where it began before the
// phase, the phase begins with it, or it is one across.
func (p *Process) done(thread uint32, name, detail string, n int64, start, end time.Duration) *span {
	in := p.within(thread)
	if in.phase && start < in.record.Start && in.record.ID == 0 && in.after != nil && start >= max(in.after.record.Start, p.settled()) {
		p.moveTo(in, start)
	}
	s := p.begin(in, name, detail, n, start, end)
	s.record.Track = int32(thread)
	switch {
	case in.phase && start < in.record.Start:
		p.across(s)
	case thread >= trace.AsyncTrack:
		s.record.Track = p.lane(s)
	}
	return s
}

// phaseOf is the phase in which a span lies, or the round.
func phaseOf(s *span) *span {
	for !s.phase && s.in != nil {
		s = s.in
	}
	return s
}
