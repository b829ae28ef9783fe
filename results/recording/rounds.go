package recording

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/introgen/introgen/trace"
	"github.com/introgen/introgen/trace/names"
)

// Fault is what is wrong with, or missing from, the phases of a round.
type Fault struct {
	Span trace.ID // that does not count; 0 where something is missing
	Kind string
	Text string
}

// once are the phases that a round has one of.
var once = []string{names.SpanRead, names.SpanBuild, names.SpanEncodePrompt, names.SpanPrefill}

// Faults looks at the phases of a round, in the order of their numbers, and at
// what its event says, which may be nil. Decode steps carry their own number; a
// number that cannot be, or that two of them have, is that of neither. A recorded
// program may do a phase more than once, and nobody knows what its tokens are.
func Faults(phases []trace.Record, e *Round, program bool) []Fault {
	if program {
		return slices.Concat(stepFaults(named(phases, names.SpanStep), nil), stepFaults(named(phases, names.SpanRepeat), nil))
	}
	var out []Fault
	fault := func(s trace.Record, kind, format string, a ...any) {
		out = append(out, Fault{s.ID, kind, fmt.Sprintf(format, a...)})
	}
	for _, name := range once {
		all := named(phases, name)
		for _, s := range all {
			if len(all) > 1 {
				fault(s, "twice", "%s is one of %d in a round that has one: none counts", called(s), len(all))
			}
		}
	}
	for _, s := range named(phases, names.SpanPrefill) {
		if e != nil && s.N != int64(e.Prompt) {
			fault(s, "prompt", "%s has %d tokens and its round a prompt of %d: it does not count", called(s), s.N, e.Prompt)
		}
	}
	steps := named(phases, names.SpanStep)
	out = append(out, stepFaults(steps, e)...)
	if e == nil || e.Error != "" || len(e.IDs) == 0 {
		return out
	}
	missing := func(what string) {
		out = append(out, Fault{0, "lacking", fmt.Sprintf("round %d has no %s: there is no sample of it", e.Number, what)})
	}
	if len(named(phases, names.SpanPrefill)) == 0 {
		missing(names.SpanPrefill)
	}
	if len(steps) == 0 { // also where a run was told not to record them
		return out
	}
	there := map[int64]bool{}
	for _, s := range steps {
		there[s.N] = true
	}
	var gone []string
	for n := 1; n < len(e.IDs); n++ {
		if !there[int64(n)] {
			gone = append(gone, strconv.Itoa(n))
		}
	}
	const told = 3
	switch n := len(gone); {
	case n > told:
		missing(fmt.Sprintf("decode steps %s and %d more", strings.Join(gone[:told], ", "), n-told))
	case n > 1:
		missing("decode steps " + strings.Join(gone, ", "))
	case n > 0:
		missing("decode step " + gone[0])
	}
	return out
}

// Sound are the phases of a round that count.
func Sound(phases []trace.Record, e *Round, program bool) []trace.Record {
	wrong := map[trace.ID]bool{}
	for _, f := range Faults(phases, e, program) {
		wrong[f.Span] = true
	}
	return slices.DeleteFunc(slices.Clone(phases), func(s trace.Record) bool { return wrong[s.ID] })
}

// stepFaults looks at the numbers of decode steps.
func stepFaults(steps []trace.Record, e *Round) []Fault {
	most := int64(maxAmount)
	if e != nil && e.IDs != nil {
		most = int64(len(e.IDs)) - 1
		if e.Error != "" {
			most++ // the one that failed gave no id
		}
	}
	count := map[int64]int{}
	for _, s := range steps {
		count[s.N]++
	}
	var out []Fault
	var ordered []trace.Record
	for _, s := range steps {
		switch {
		case s.N < 1 || s.N > most:
			text := fmt.Sprintf("%s cannot be: numbers begin at 1", called(s))
			if s.N > 0 {
				text = fmt.Sprintf("%s cannot be: its round made %d new tokens", called(s), len(e.IDs))
			}
			out = append(out, Fault{s.ID, "step", text + "; it does not count"})
		case count[s.N] > 1:
			out = append(out, Fault{s.ID, "step", fmt.Sprintf("%s is one of %d of this number: none counts", called(s), count[s.N])})
		default:
			ordered = append(ordered, s)
		}
	}
	for _, s := range disordered(ordered) {
		out = append(out, Fault{s.ID, "step", fmt.Sprintf("%s is out of order: it does not count", called(s))})
	}
	return out
}

// disordered are those of spans, in the order of their begin, whose numbers N
// go back against another's.
func disordered(spans []trace.Record) []trace.Record {
	wrong := map[trace.ID]bool{}
	most := -1
	for i, s := range spans {
		if most >= 0 && s.N < spans[most].N {
			wrong[s.ID], wrong[spans[most].ID] = true, true
		}
		if most < 0 || s.N > spans[most].N {
			most = i
		}
	}
	return slices.DeleteFunc(slices.Clone(spans), func(s trace.Record) bool { return !wrong[s.ID] })
}

func named(spans []trace.Record, name string) []trace.Record {
	return slices.DeleteFunc(slices.Clone(spans), func(s trace.Record) bool { return s.Name != name })
}

// rounds looks at the rounds and what is in each.
func (j *judge) rounds() {
	spans := j.roundSpans()
	events := j.roundEvents(spans)
	phases := map[trace.ID][]trace.Record{}
	for _, s := range j.Spans {
		if _, ok := spans[s.Parent]; ok && s.End >= 0 {
			phases[s.Parent] = append(phases[s.Parent], s)
		}
	}
	for _, s := range j.Spans {
		if _, ok := spans[s.ID]; !ok {
			continue
		}
		e := events[s.ID]
		if e == nil && j.End != nil {
			j.tell("event", "%s has no event: its tokens are not known, nor whether it ended well", called(s))
		}
		for _, f := range Faults(phases[s.ID], e, j.Header.Program != nil) {
			if f.Span != 0 {
				j.out[f.Span] = true
			}
			j.tell(f.Kind, "%s", f.Text)
		}
	}
	j.settings()
}

// roundSpans are the rounds by their spans, whose numbers are their own.
func (j *judge) roundSpans() map[trace.ID]trace.Record {
	var all []trace.Record
	count := map[int64]int{}
	for _, s := range j.Spans {
		if s.Name != names.SpanRound {
			continue
		}
		if s.N < 1 || s.Parent != 0 {
			j.out[s.ID] = true
			j.tell("round", "%s in span %d cannot be: numbers begin at 1, and a round lies in nothing; it does not count", called(s), s.Parent)
			continue
		}
		all = append(all, s)
		count[s.N]++
	}
	var single []trace.Record
	for _, s := range all {
		if n := count[s.N]; n > 1 {
			j.out[s.ID] = true
			j.tell("round", "%s is one of %d of this number: none counts", called(s), n)
			continue
		}
		single = append(single, s)
	}
	out := map[trace.ID]trace.Record{}
	wrong := disordered(single)
	for _, s := range single {
		if slices.Contains(wrong, s) {
			j.out[s.ID] = true
			j.tell("round", "%s is out of order: it does not count", called(s))
			continue
		}
		out[s.ID] = s
	}
	return out
}

// roundEvents are the events of the rounds, by their spans. Those that say of a
// round what its span does not are taken out, and so is that span.
func (j *judge) roundEvents(spans map[trace.ID]trace.Record) map[trace.ID]*Round {
	numbers, ids := map[int]int{}, map[trace.ID]int{}
	for _, e := range j.Rounds {
		numbers[e.Number]++
		ids[e.Span]++
	}
	at := j.byID()
	j.Rounds = slices.DeleteFunc(j.Rounds, func(e Round) bool {
		s, there := at[e.Span]
		switch {
		case numbers[e.Number] > 1 || ids[e.Span] > 1:
			j.tell("events", "the event of round %d stands there more than once: none counts", e.Number)
			return true
		case there && (s.Name != names.SpanRound || s.N != int64(e.Number)):
			if s.Name == names.SpanRound {
				j.out[s.ID] = true
				delete(spans, s.ID)
			}
			j.tell("events", "the event of round %d belongs to %s: neither counts", e.Number, called(s))
			return true
		}
		return false
	})
	slices.SortStableFunc(j.Rounds, func(a, b Round) int { return a.Number - b.Number })
	out := map[trace.ID]*Round{}
	for i := range j.Rounds {
		out[j.Rounds[i].Span] = &j.Rounds[i]
	}
	return out
}

// settings holds what was done to what the header says was to be done, where the
// run says that it was.
func (j *judge) settings() {
	if j.End == nil || j.End.Code != 0 {
		return
	}
	said := func(name string) (int, bool) {
		text, ok := j.Header.Knob(name)
		n, err := strconv.Atoi(text)
		return n, ok && err == nil
	}
	if n, ok := said("rounds"); ok && n != len(j.Rounds) {
		j.tell("rounds", "the run was to make %d rounds and has %d", n, len(j.Rounds))
	}
	if _, ok := j.Header.Knob("io"); ok && j.Subject == nil && len(j.Rounds) > 0 {
		j.tell("subject", "the run does not say how its model was read, what ran it and by which tokenizer: its subject is missing")
	}
	n, ok := said("tokens")
	for _, e := range j.Rounds {
		if ok && e.Error == "" && e.IDs != nil && len(e.IDs) != n+1 {
			j.tell("tokens", "round %d was to make %d new tokens and has %d", e.Number, n+1, len(e.IDs))
		}
	}
}
