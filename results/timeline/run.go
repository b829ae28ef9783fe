package timeline

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/trace"
	"github.com/introgen/introgen/trace/names"
)

// Tracks of a run, in the order in which they are shown. A recorded program has one
// for each of its threads in place of those of what the CPU does.
const (
	trackPhases     = "phases"
	trackCompile    = "compile"
	trackEncode     = "encode"
	trackWait       = "wait"
	trackQueued     = "queued"
	trackDevice     = "command buffers"
	trackThread     = "thread"
	trackBeside     = "beside the threads"
	trackCompiler   = "compile thread" // of an engine, beside the thread that generates
	trackOutput     = "output"
	trackInstrument = "recording"
)

// trackOf is the track of a span of an engine's run, by its name; a phase has
// trackPhases.
var trackOf = map[string]string{
	names.SpanLibrary: trackCompile, names.SpanPipeline: trackCompile, names.SpanAwait: trackWait,
	names.SpanEncoder: trackEncode, names.SpanWeights: trackEncode, names.SpanCommit: trackEncode,
	names.SpanWait: trackWait, names.SpanRecord: trackInstrument, names.SpanGPU: trackDevice, names.SpanQueued: trackQueued,
}

// layout is a run while it is laid out.
type layout struct {
	*Timeline
	p      *Process
	run    *recording.Run
	offset time.Duration
	end    time.Duration
	of     map[trace.ID]*Slice // by the spans that they are
	tracks map[string][]*Slice // in the order of their spans
	order  []string            // of tracks, as they are to be shown
	// timeless are events at times that cannot be.
	timeless int
}

// run lays out a run whose clock began at offset.
func (t *Timeline) run(r *recording.Run, offset time.Duration) {
	l := &layout{Timeline: t, p: t.process(title(r)), run: r, offset: offset, end: ended(r), of: make(map[trace.ID]*Slice, len(r.Spans)), tracks: map[string][]*Slice{}}
	t.begins(offset)
	l.order = []string{trackPhases, trackCompile, trackEncode, trackWait}
	l.around()
	l.spans()
	l.details()
	l.operations()
	l.outputs()
	l.flights()
	l.order = append(l.order, trackQueued, trackDevice, trackOutput, trackInstrument)
	for _, name := range l.order {
		if name == trackQueued {
			t.beside(l.p, name, l.tracks[name])
		} else {
			t.lay(l.p, name, l.tracks[name])
		}
	}
	l.counters()
	l.missing()
	if len(l.p.Tracks) == 0 {
		t.note("%s: nothing of it is recorded", l.p.Name)
	}
}

func (l *layout) add(track string, s *Slice) {
	l.tracks[track] = append(l.tracks[track], s)
}

// spans makes a slice of each span.
func (l *layout) spans() {
	open := 0
	tracks := map[trace.ID]string{}
	threads, compilers := int32(0), int32(0)
	for _, s := range l.run.Spans {
		x := &Slice{Name: short(names.Title(s.Name, s.N)), Kind: s.Name, Start: s.Start + l.offset, End: max(s.End, s.Start) + l.offset, in: l.of[s.Parent]}
		if s.End < 0 {
			x.End = max(l.end, s.Start) + l.offset
			x.Args = append(x.Args, text("open", "the recording ends within it"))
			open++
		}
		l.name(x, s)
		track, ok := trackOf[s.Name]
		switch {
		case !ok:
			track = trackPhases
		case l.run.Header.Program == nil && recording.Beside(s):
			track = fmt.Sprintf("%s %d", trackCompiler, s.Track)
			compilers = max(compilers, s.Track)
		case l.run.Header.Program == nil || names.OfDevice(s.Name) || s.Name == names.SpanRecord:
		case s.Track >= trace.AsyncTrack:
			track = trackBeside
		default:
			track = fmt.Sprintf("%s %d", trackThread, s.Track)
			threads = max(threads, s.Track+1)
		}
		if tracks[s.Parent] != track {
			x.in = nil // what it lies in is on another track
		}
		tracks[s.ID], l.of[s.ID] = track, x
		l.add(track, x)
	}
	for i := range threads {
		l.order = append(l.order, fmt.Sprintf("%s %d", trackThread, i))
	}
	for i := range compilers {
		l.order = append(l.order, fmt.Sprintf("%s %d", trackCompiler, i+1))
	}
	l.order = append(l.order, trackBeside)
	if open > 0 {
		l.note("%s: the recording ends within %d spans: they are shown until its end", l.p.Name, open)
	}
}

// name says what a span was, beside its recorded name.
func (l *layout) name(x *Slice, s trace.Record) {
	switch s.Name {
	case names.SpanRound:
		x.Name = fmt.Sprintf("round %d", s.N)
		if l.run.Header.Program != nil {
			x.Name = "program"
		}
	case names.SpanPhase:
		x.Name = short(cmp.Or(s.Detail, s.Name))
	case names.SpanPrefill:
		x.Args = append(x.Args, number("tokens", s.N))
	case names.SpanLibrary:
		x.Name = short(s.Name + " " + s.Detail)
		x.Args = append(x.Args, text("library", s.Detail), number("source bytes", s.N))
	case names.SpanPipeline:
		made := recording.MadeIn(s)
		x.Name = short(s.Name + " " + s.Detail)
		x.Args = append(x.Args, text("library", made.Library), text("function", made.Function))
	case names.SpanWeights:
		x.Args = append(x.Args, text("tensor", s.Detail), number("bytes", s.N))
	case names.SpanEncoder:
		x.Args = append(x.Args, text("encoder", s.Detail))
	case names.SpanCommit, names.SpanGPU, names.SpanQueued:
		x.Args = append(x.Args, number("dispatches", s.N))
	case names.SpanAwait:
		made := recording.MadeIn(trace.Record{Name: names.SpanPipeline, Detail: s.Detail})
		x.Name = short(s.Name + " " + s.Detail)
		x.Args = append(x.Args, text("library", made.Library), text("function", made.Function))
	case names.SpanWait:
		if s.Detail != "" {
			x.Args = append(x.Args, text("for", s.Detail))
		}
	default:
		if s.Detail != "" {
			x.Args = append(x.Args, text("detail", s.Detail))
		}
	}
}

// around is what a plan's parent knows of the time before a run's clock began, and
// after its last event.
func (l *layout) around() {
	x, h := l.run.Exit, l.run.Header
	if x == nil || h.Program != nil || !possible(h.Clock) || !possible(x.Spawned) || !possible(x.Reaped) {
		return
	}
	if h.Clock >= x.Spawned {
		l.begins(time.Duration(x.Spawned))
		l.add(trackPhases, &Slice{Name: KindStart, Kind: KindStart, Start: time.Duration(x.Spawned), End: time.Duration(h.Clock)})
	}
	if end := time.Duration(h.Clock) + l.end; l.run.End != nil && time.Duration(x.Reaped) >= end {
		l.add(trackPhases, &Slice{Name: KindExit, Kind: KindExit, Start: end, End: time.Duration(x.Reaped)})
	}
}

// details adds what events say of spans.
func (l *layout) details() {
	add := func(id trace.ID, args ...Arg) {
		if s := l.of[id]; s != nil {
			s.Args = append(s.Args, args...)
		}
	}
	for _, e := range l.run.Libraries {
		add(e.Span, number("kernels", int64(e.Kernels)), text("cache", cmp.Or(e.Cache, "unknown")))
	}
	for _, e := range l.run.Pipelines {
		add(e.Span, text("cache", cmp.Or(e.Cache, "unknown")))
		if e.Constants != "" {
			add(e.Span, text("constants", e.Constants))
		}
	}
	for _, e := range l.run.Rounds {
		if l.run.Header.Program == nil {
			add(e.Span, number("prompt tokens", int64(e.Prompt)), number("new tokens", int64(len(e.IDs))))
		}
		if e.Error != "" {
			add(e.Span, text("error", e.Error))
		}
	}
	encoded := map[trace.ID]int64{}
	for _, d := range l.run.Dispatches {
		encoded[d.Span]++
	}
	for id, n := range encoded {
		add(id, number("dispatches", n))
	}
}

// outputs are when a recorded program wrote something.
func (l *layout) outputs() {
	for _, o := range l.run.Outputs {
		if o.At < 0 {
			l.timeless++
			continue
		}
		at := time.Duration(o.At) + l.offset
		l.add(trackOutput, &Slice{Name: short(o.Stream), Kind: KindOutput, Start: at, End: at, Instant: true,
			Args: []Arg{number("bytes", o.Bytes), number("writes", o.More+1)}})
	}
}

// missing says what of a run its recording does not have.
func (l *layout) missing() {
	if n := l.run.LostSpans(); n > 0 {
		l.note("%s: %d spans of the run are missing, and what they timed is a gap", l.p.Name, n)
	}
	if l.timeless > 0 {
		l.note("%s: %d readings and writes are said to have been before the run began: they are left out", l.p.Name, l.timeless)
	}
	committed, ran := 0, 0
	for _, s := range l.run.Spans {
		switch s.Name {
		case names.SpanCommit:
			committed++
		case names.SpanGPU:
			ran++
		}
	}
	if committed > 0 && ran == 0 {
		l.note("%s: the device did not tell when it ran what: there is no track of it, no buffers in flight and no arrow", l.p.Name)
	}
	counted := func(name string) bool {
		return slices.ContainsFunc(l.run.Samples, func(c trace.Sample) bool { return c.Name == name })
	}
	switch memory, cache := counted(names.CountResident), counted(names.CountCache); {
	case !memory && !cache:
		l.note("%s: neither its resident memory nor the bytes of its KV cache are recorded: there are no counters of them", l.p.Name)
	case !memory:
		l.note("%s: its resident memory is not recorded: there is no counter of it", l.p.Name)
	case !cache:
		l.note("%s: the bytes of its KV cache are not recorded: there is no counter of them", l.p.Name)
	}
	if n := len(l.run.Dispatches); n > 0 {
		l.note("%s: of %d dispatches it is known where they were encoded, and not when they ran", l.p.Name, n)
	}
}
