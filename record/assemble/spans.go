package assemble

import (
	"slices"
	"sort"
	"time"

	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/trace"
	"github.com/introgen/introgen/trace/names"
)

// span is a span that is being put together.
type span struct {
	record trace.Record // without number and parent as long as it waits for them
	in     *span
	wanted bool            // a name is to come before it can be written
	tells  recording.Event // what is said of it behind it
	thread uint32          // on whose stack it lies
	as     *span           // in whose phase it lies; nil where in says where
	phase  bool            // it is one of the round's
	after  *span           // the phase before it, which ends where it begins
	listed bool            // a phase that has its place in the list
}

// noThread is that of spans that no thread has open.
const noThread = ^uint32(0)

// entry is what waits for its number: a span, or an event that lies in one.
type entry struct {
	at    time.Duration
	span  *span
	event recording.Event
	in    *span
	as    *span // in whose phase the event lies; nil where in says where
}

// open is the end of a span that has none yet.
const open = time.Duration(-1)

// begin puts a span where it belongs in the order of times.
func (p *Process) begin(in *span, name, detail string, n int64, start, end time.Duration) *span {
	s := &span{record: trace.Record{Name: name, Detail: detail, N: n, Start: start, End: end}, in: in, thread: noThread}
	p.insert(entry{at: start, span: s})
	return s
}

// insert keeps the list in the order of times. What comes is nearly in order.
func (p *Process) insert(e entry) {
	i := len(p.list)
	for i > 0 && p.list[i-1].at > e.at {
		i--
	}
	p.list = slices.Insert(p.list, i, e)
}

// tell puts an event that lies in a span.
func (p *Process) tell(in *span, at time.Duration, e recording.Event) {
	p.insert(entry{at: at, event: e, in: in})
}

// from is where the entries of a time and later begin.
func (p *Process) from(at time.Duration) int {
	return sort.Search(len(p.list), func(i int) bool { return p.list[i].at >= at })
}

// close ends a span. What was begun in it and is still open goes on without it.
func (p *Process) close(s *span, at time.Duration) {
	s.record.End = max(at, s.record.Start)
	for _, inner := range p.threads[s.thread] {
		if inner.in == s {
			inner.in, inner.record.Track = s.in, p.lane(inner)
		}
	}
	p.write(s)
}

// settle numbers what began before a time, and writes it.
func (p *Process) settle(before time.Duration) {
	if len(p.list) > mostHeld {
		p.giveUp()
	}
	if p.phases.hinted {
		before = min(before, p.phases.hint)
	}
	if p.repeats.held != nil {
		before = min(before, p.repeats.held.record.Start)
	}
	n := 0
	for n < len(p.list) && p.list[n].at < before {
		p.number(p.list[n])
		n++
	}
	if n > 0 {
		p.list = slices.Delete(p.list, 0, n)
	}
}

func (p *Process) number(e entry) {
	if e.span == nil {
		p.put(e)
		return
	}
	s := e.span
	p.last++
	s.record.ID = p.last
	if s.as != nil {
		s.in = phaseOf(s.as)
	}
	if s.in != nil {
		s.record.Parent = s.in.record.ID
	}
	if !names.OfDevice(s.record.Name) {
		if s.record.Start < p.floor {
			p.late++
			s.record.Start = p.floor
			if s.record.End >= 0 {
				s.record.End = max(s.record.End, p.floor)
			}
		}
		p.floor = s.record.Start
	}
	if s.phase && s.after != nil {
		s.after.record.End = s.record.Start
		p.write(s.after)
		s.after = nil
	}
	if s.record.End < 0 || s.wanted {
		p.begun = append(p.begun, s)
	}
	p.write(s)
}

// put writes an event, which says the number of its span.
func (p *Process) put(e entry) {
	if e.as != nil {
		e.in = phaseOf(e.as)
	}
	id := e.in.record.ID
	switch event := e.event.(type) {
	case *recording.Count:
		event.Span = id
	case *recording.Dispatch:
		event.Span = id
	case *recording.Barrier:
		event.Span = id
	}
	p.o.Put(e.event)
}

// write writes a span that has a number and has ended. The round and its phases are
// written when they begin too: others lie in them, and nothing of them changes.
func (p *Process) write(s *span) {
	switch {
	case s.record.ID == 0 || s.wanted:
		return
	case s.record.End < 0:
		if s.phase {
			p.o.Put(&recording.Span{Record: s.record})
		}
		return
	}
	s.record.Parent = 0
	if s.in != nil {
		s.record.Parent = s.in.record.ID
		if s.in == p.phase && !names.OfDevice(s.record.Name) {
			p.sealed = max(p.sealed, s.record.End)
		}
	}
	p.o.Put(&recording.Span{Record: s.record})
	p.tellOf(s)
	if i := slices.Index(p.begun, s); i >= 0 {
		p.begun = slices.Delete(p.begun, i, i+1)
	}
}

// tellOf writes what is said of a library or a pipeline.
func (p *Process) tellOf(s *span) {
	switch event := s.tells.(type) {
	case *recording.Library:
		event.Span = s.record.ID
		event.Name = s.record.Detail
	case *recording.Pipeline:
		event.Span = s.record.ID
	case nil:
		return
	}
	p.o.Put(s.tells)
}

// lane is a track beside those of the threads, which nothing uses when s begins.
func (p *Process) lane(s *span) int32 {
	for i, other := range p.lanes {
		if other == s || other.record.End >= 0 && other.record.End <= s.record.Start {
			p.lanes[i] = s
			return trace.AsyncTrack + int32(i)
		}
	}
	p.lanes = append(p.lanes, s)
	return trace.AsyncTrack + int32(len(p.lanes)-1)
}

// push opens a span on a thread, within what is open there.
func (p *Process) push(thread uint32, name, detail string, n int64, at time.Duration) *span {
	s := p.begin(p.within(thread), name, detail, n, at, open)
	s.thread = thread
	s.record.Track = int32(thread)
	if thread >= trace.AsyncTrack {
		s.record.Track = p.lane(s)
	}
	p.threads[thread] = append(p.threads[thread], s)
	return s
}

// within is the innermost span that is open on a thread, or the phase.
func (p *Process) within(thread uint32) *span {
	if stack := p.threads[thread]; len(stack) > 0 {
		return stack[len(stack)-1]
	}
	return p.phase
}

// pop closes a span, wherever it was opened.
func (p *Process) pop(s *span, at time.Duration) {
	stack := p.threads[s.thread]
	if i := slices.Index(stack, s); i >= 0 {
		p.threads[s.thread] = slices.Delete(stack, i, i+1)
	}
	p.close(s, at)
}
