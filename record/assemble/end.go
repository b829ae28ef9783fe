package assemble

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/trace/names"
)

// Ending is how a process ended.
type Ending struct {
	At        int64  // on the clock of the events
	Code      int    // −1 where a signal ended it
	Signal    string // its name
	MaxRSS    int64  // bytes; 0 where unknown
	Lost      int64  // events that found the ring full
	LostSlots int64  // slots that were never filled
	Error     string // what is to be said of it
	Cost      int64  // of one event, in picoseconds
	Notes     []string
}

// End ends the run: all that is open ends with the process, but for what was being
// compiled, which never was made.
func (p *Process) End(how Ending) {
	at := max(p.clock(how.At), p.now)
	if p.phases.hinted {
		p.answered(p.phases.hint)
	}
	p.decide()
	p.repeats.held = nil
	p.nameAll()
	p.endOpen(at)
	p.settle(at + 1)
	p.phase.record.End, p.round.record.End = at, at
	p.write(p.phase)
	p.write(p.round)
	for _, s := range slices.Clone(p.begun) { // compilers that had not come back
		s.record.Parent = p.round.record.ID
		p.o.Put(&recording.Span{Record: s.record})
	}
	for _, stream := range []string{recording.StreamOut, recording.StreamErr} {
		if w := p.outputs[stream]; w != nil && w.rest != nil {
			p.o.Put(w.rest)
		}
	}
	for _, k := range p.kernelCounts() {
		p.o.Put(k)
	}
	p.tellDevice("")
	if p.used {
		if p.sources > 0 && p.Nonced() {
			p.evidence.Nonce = p.o.Nonce
		}
		p.o.Put(&p.evidence)
	}
	for _, text := range append(p.notes(how), how.Notes...) {
		p.o.Put(&recording.Note{Text: text})
	}
	p.o.Put(&recording.Round{Number: 1, Span: p.round.record.ID, IDs: []int32{}, Error: how.Error})
	p.o.Put(&recording.End{
		At: int64(at), Code: how.Code, Error: how.Error, MajorFaults: -1, MinorFaults: -1, SpanCost: how.Cost,
		Signal: how.Signal, MaxRSS: how.MaxRSS, Lost: how.Lost, LostSlots: how.LostSlots,
	})
}

// endOpen ends the spans of threads and of encoders that were never ended.
func (p *Process) endOpen(at time.Duration) {
	for _, stack := range p.threads {
		for _, s := range slices.Backward(slices.Clone(stack)) {
			if name := s.record.Name; name == names.SpanLibrary || name == names.SpanPipeline {
				p.across(s)
				continue
			}
			p.pop(s, at)
		}
	}
	clear(p.threads)
	for _, c := range p.calls {
		p.across(c.span)
	}
}

// notes are what is to be said of the run at its end.
func (p *Process) notes(how Ending) []string {
	var out []string
	if sure := p.sure(); sure != nil {
		out = append(out, sure.Text)
	}
	if p.used && !p.marks() && !p.phases.written {
		out = append(out, "nothing came on stdout after the first call of Metal: the phase \""+outputPhase+"\" lasts until the end")
	}
	if n := p.phases.others; n > 0 {
		out = append(out, fmt.Sprintf("%d phases are called %q: the program has more than %d names for them", n, otherPhase, mostNames))
	}
	for _, c := range p.calls {
		out = append(out, fmt.Sprintf("the program ended while %s was made", strings.TrimSpace(c.span.record.Name+" "+c.span.record.Detail)))
	}
	if p.late > 0 {
		out = append(out, fmt.Sprintf("%d calls were told of so late that they stand a little behind their begin", p.late))
	}
	if len(p.missed) > 0 {
		out = append(out, "calls of these are not recorded, since their methods are not as they should be: "+strings.Join(p.missed, ", "))
	}
	if how.Lost > 0 {
		out = append(out, fmt.Sprintf("%d events are lost: the program made them faster than they were read", how.Lost))
	}
	return out
}
