package recording

import (
	"fmt"
	"slices"

	"github.com/introgen/introgen/trace"
	"github.com/introgen/introgen/trace/names"
)

// Hole are the numbers of spans that a run had and its recording has not: lost,
// or taken out since they could not be.
type Hole struct{ First, Last trace.ID }

// Lacks says whether a span is missing that began behind the span after and
// before the span before.
func (r *Run) Lacks(after, before trace.ID) bool {
	for _, h := range r.Lost {
		if h.Last > after && h.First < before {
			return true
		}
	}
	return false
}

// LostSpans is how many spans are missing.
func (r *Run) LostSpans() int {
	n := 0
	for _, h := range r.Lost {
		n += int(h.Last-h.First) + 1
	}
	return n
}

// holes are the numbers that lie before those of spans, which are in order, and
// belong to none: spans are numbered from 1 as they begin.
func holes(spans []trace.Record) []Hole {
	var out []Hole
	next := trace.ID(1)
	for _, s := range spans {
		if s.ID > next {
			out = append(out, Hole{next, s.ID - 1})
		}
		next = s.ID + 1
	}
	return out
}

// doubts are what is odd of a recording that can be read: of each kind the first
// is told, and how many there are.
type doubts struct {
	order []string
	first map[string]string
	count map[string]int
}

func (d *doubts) tell(kind, text string) {
	if d.count == nil {
		d.first, d.count = map[string]string{}, map[string]int{}
	}
	if d.count[kind]++; d.count[kind] == 1 {
		d.order = append(d.order, kind)
		d.first[kind] = text
	}
}

func (d *doubts) texts() []string {
	var out []string
	for _, kind := range d.order {
		text := d.first[kind]
		if n := d.count[kind] - 1; n > 0 {
			text += fmt.Sprintf(" (and %d more like it)", n)
		}
		out = append(out, text)
	}
	return out
}

// judge takes out of a run what cannot be, so that no reader counts it, and
// tells of that and of what is missing. Nothing is put in the place of either.
type judge struct {
	*Run
	name   string // of the run, where there are several: "run 3: "
	doubts *doubts
	out    map[trace.ID]bool // spans to be taken out
}

func (j *judge) tell(kind, format string, a ...any) {
	j.doubts.tell(kind, j.name+fmt.Sprintf(format, a...))
}

// called is how a span is called in a sentence.
func called(s trace.Record) string {
	name := s.Name
	switch {
	case names.IsStep(s.Name) || s.Name == names.SpanRound:
		name = fmt.Sprintf("%s %d", name, s.N)
	case s.Detail != "":
		name += " " + s.Detail
	}
	return fmt.Sprintf("%q (span %d)", name, s.ID)
}

// all looks at everything, from what others rest on to what rests on them.
func (j *judge) all() {
	j.out = map[trace.ID]bool{}
	j.missing()
	for _, look := range []func(){j.ends, j.begins, j.within, j.apart, j.rounds, j.program, j.made} {
		look()
		j.remove()
	}
	j.counts()
	j.encoded()
	j.once()
	j.operations()
	j.names()
	j.Lost = holes(j.Spans)
}

func (j *judge) remove() {
	if len(j.out) > 0 {
		j.Spans = slices.DeleteFunc(j.Spans, func(s trace.Record) bool { return j.out[s.ID] })
		clear(j.out)
	}
}

// byID are the spans by their numbers.
func (j *judge) byID() map[trace.ID]trace.Record {
	out := make(map[trace.ID]trace.Record, len(j.Spans))
	for _, s := range j.Spans {
		out[s.ID] = s
	}
	return out
}

// missing tells of the spans that the file has not.
func (j *judge) missing() {
	j.Lost = holes(j.Spans)
	if n := j.LostSpans(); n == 1 {
		j.tell("missing", "span %d is missing: what it timed has no sample", j.Lost[0].First)
	} else if n > 1 {
		j.tell("missing", "%d spans are missing, the first is span %d: what they timed has no sample", n, j.Lost[0].First)
	}
}

// ends looks at the ends of spans: a run that has ended well has no open ones,
// and nothing happened behind its end.
func (j *judge) ends() {
	if j.End == nil {
		return
	}
	var late []trace.Record
	for _, s := range j.Spans {
		switch {
		case s.End < 0 && j.beside(s):
			// A thread of a program may be in the middle of something when it exits.
		case s.End < 0 && j.End.Code == 0:
			j.out[s.ID] = true
			j.tell("open", "%s has no end, though the run has one: it does not count", called(s))
		case int64(s.End) > j.End.At && !names.OfDevice(s.Name):
			late = append(late, s)
		}
	}
	if len(late) == 0 {
		return
	}
	if j.End.At > 0 && len(late) < len(j.Spans) && !several(late) {
		for _, s := range late {
			j.out[s.ID] = true
		}
		j.tell("late", "%s ends at %d ns, behind the end of the run at %d: it does not count", called(late[0]), int64(late[0].End), j.End.At)
		return
	}
	j.tell("end", "the end of the run is said to be at %d ns, and %s ends at %d: that end does not count", j.End.At, called(late[0]), int64(late[0].End))
	j.End.At = 0
}

// several says whether the spans are more than one and what lies in it.
func several(spans []trace.Record) bool {
	return slices.ContainsFunc(spans[1:], func(s trace.Record) bool { return s.Parent == 0 })
}

// begins looks at the begins of spans, whose numbers are in that order; but for
// those that were timed by another clock. Of two that are not in order the one
// that fits neither what is before nor what is behind is wrong, or else both may
// be.
func (j *judge) begins() {
	tracks, order := map[int32][]trace.Record{}, []int32{}
	for _, s := range j.Spans {
		if names.OfDevice(s.Name) {
			continue
		}
		if tracks[s.Track] == nil {
			order = append(order, s.Track)
		}
		tracks[s.Track] = append(tracks[s.Track], s)
	}
	for _, t := range order {
		j.inOrder(tracks[t])
	}
}

// inOrder looks at the begins of the spans of one track.
func (j *judge) inOrder(all []trace.Record) {
	wrong := func(s trace.Record) {
		j.out[s.ID] = true
		j.tell("begin", "%s begins at %d ns, out of the order of its number: it does not count", called(s), int64(s.Start))
	}
	var sound []trace.Record
	for i, s := range all {
		n := len(sound)
		if n == 0 || s.Start >= sound[n-1].Start {
			sound = append(sound, s)
			continue
		}
		before := sound[n-1]
		fits := n == 1 || sound[n-2].Start <= s.Start              // without the one before
		apart := i+1 == len(all) || all[i+1].Start >= before.Start // without this one
		if fits {
			wrong(before)
			sound = sound[:n-1]
		}
		switch {
		case fits && !apart:
			sound = append(sound, s)
		default:
			wrong(s)
		}
	}
}

// within looks at what lies in what. Where one part reaches out of its whole
// either may be wrong, and where most of them do the whole is.
func (j *judge) within() {
	at, inside, beyond := j.byID(), map[trace.ID]int{}, map[trace.ID][]trace.Record{}
	for _, s := range j.Spans {
		p, ok := at[s.Parent]
		switch {
		case names.OfDevice(s.Name):
		case s.Parent != 0 && !ok:
			j.tell("orphan", "%s lies in span %d, which is missing: it belongs to nothing", called(s), s.Parent)
		case !ok:
		case (j.beside(s) || Beside(s)) && s.Start >= p.Start && (p.End < 0 || s.Start <= p.End):
			inside[p.ID]++ // what a thread does goes on when another one begins the next phase
		case s.Start < p.Start, p.End >= 0 && (s.End > p.End || s.End < 0):
			beyond[p.ID] = append(beyond[p.ID], s)
		default:
			inside[p.ID]++
		}
	}
	for _, p := range j.Spans {
		parts := beyond[p.ID]
		if len(parts) == 0 {
			continue
		}
		if len(parts) > inside[p.ID] && len(parts) > 1 {
			j.out[p.ID] = true
			j.tell("outside", "%s does not hold most of what lies in it, such as %s: it does not count", called(p), called(parts[0]))
			continue
		}
		for _, s := range parts {
			j.out[s.ID] = true
		}
		what := "it does not count"
		if p.Name != names.SpanRound {
			j.out[p.ID], what = true, "neither counts"
		}
		j.tell("outside", "%s reaches out of %s, in which it lies: %s", called(parts[0]), called(p), what)
	}
}

// follows are the spans that follow one another, at the top or in a round.
var follows = map[string]bool{
	names.SpanRound: true, names.SpanArguments: true, names.SpanRecord: true, names.SpanDigest: true, names.SpanLimits: true, names.SpanArchive: true, names.SpanEvict: true, names.SpanTokenizer: true,
	names.SpanDevice: true, names.SpanRead: true, names.SpanBuild: true, names.SpanEncodePrompt: true, names.SpanPrefill: true, names.SpanStep: true,
	names.SpanClose: true, names.SpanCheck: true, names.SpanPause: true, names.SpanPhase: true, names.SpanRepeat: true,
}

// Beside says whether a span of an engine's run is a library or a pipeline that was
// made on another track than that of the thread which generates: it goes on when
// that one is done with the phase.
func Beside(s trace.Record) bool {
	return s.Track > 0 && (s.Name == names.SpanLibrary || s.Name == names.SpanPipeline)
}

// beside says whether a span is of a recorded program and no phase of it: its
// phases are cut by what the program says, whatever its threads are doing.
func (j *judge) beside(s trace.Record) bool { return j.Header.Program != nil && !follows[s.Name] }

// apart looks at what follows one another: at the top and within rounds nothing
// overlaps.
func (j *judge) apart() {
	at, last := j.byID(), map[trace.ID]trace.Record{}
	for _, s := range j.Spans {
		if !follows[s.Name] || s.Parent != 0 && at[s.Parent].Name != names.SpanRound {
			continue
		}
		before, ok := last[s.Parent]
		last[s.Parent] = s
		switch {
		case !ok:
		case before.End < 0:
			j.out[before.ID] = true
			j.tell("open", "%s has no end, though %s follows it: it does not count", called(before), called(s))
		case before.End > s.Start:
			for _, x := range []trace.Record{before, s} {
				if !j.out[x.ID] {
					j.Overlaps = append(j.Overlaps, x)
				}
				j.out[x.ID] = true
			}
			j.tell("overlap", "%s and %s overlap, and should follow one another: neither counts", called(before), called(s))
		}
	}
}

// names tells of spans and counters that nobody looks for.
func (j *judge) names() {
	for _, s := range j.Spans {
		if !names.Known(s.Name) {
			j.tell("name", "%s has a name that is not known: no figure is made of it", called(s))
		}
	}
	for _, s := range j.Samples {
		if !names.Known(s.Name) {
			j.tell("counter", "the counter %q is not known: no figure is made of it", s.Name)
		}
	}
	for _, u := range j.Unknown {
		j.tell("kind", "the event %q is not known: no figure is made of it", u.Name)
	}
}
