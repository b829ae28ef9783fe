// Package assemble makes a recording of what a recorder saw of one process: events
// of Metal calls, output and marks go in, in the order of their times, and the
// recording's events come out. It starts nothing, reads no clock and writes no file.
//
// Spans are numbered some time after they began: a call that is told of when it is
// over may have begun before others, and a line of output is seen a little after it
// was written, so that a phase may begin before what was told of meanwhile.
package assemble

import (
	"strings"
	"time"

	"github.com/introgen/introgen/metalshim/recorder"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/trace"
	"github.com/introgen/introgen/trace/names"
)

// Settled is how long nothing of a time is final: longer than a call of Metal that
// is told of at its end lasts as a rule, and than a line takes through a pipe.
const Settled = 20 * time.Millisecond

// Options say what a recording is made of.
type Options struct {
	Header recording.Header // its Clock is where the run's clock is 0
	Driver string           // of the device: "soft", "apple"
	Nonce  string           // that every source ends with; "" for none
	// Marked has marks alone cut the phases, from the first one on.
	Marked bool
	// Dispatches has every dispatch and every barrier recorded.
	Dispatches bool
	// Known is the name of the library whose source has the digest, as a set of
	// kernels calls it; "" where none does.
	Known func(digest string) string
	Put   func(recording.Event)
}

// Process is a process whose events come.
type Process struct {
	o Options

	now   time.Duration // of the latest event
	list  []entry       // what has no number yet, in the order of its time
	begun []*span       // numbered, and not written whole
	last  trace.ID      // that was given
	floor time.Duration // where the span of that number began
	// sealed is where what is written of the phase ends at the earliest.
	sealed time.Duration
	late   int // spans that were told of when later ones had numbers

	round, phase *span
	phases       phases
	repeats      repeats
	outputs      map[string]*written

	threads map[uint32][]*span // the open spans of each thread, the innermost last
	lanes   []*span            // the last span of each track beside the threads
	calls   map[uint64]*call   // of compilers, by their number

	libraries map[uint64]*library
	unnamed   []*library // compiled, and waiting for a name
	functions map[uint64]function
	constants map[uint64][]constant
	pipelines map[uint64]*pipeline
	commands  map[uint64]*commands
	encoders  map[uint64]*encoder
	kernels   map[string]int64
	flying    int // command buffers that were committed and have not completed

	used     bool              // whether Metal was
	told     bool              // the device
	device   *recording.Device // until it is told of
	sources  int               // libraries compiled from source
	nonced   int               // of these, with the nonce
	evidence recording.Evidence
	missed   []string
}

// New returns a process whose header is written, and whose run has begun.
func New(o Options) *Process {
	p := &Process{
		o: o, outputs: map[string]*written{}, threads: map[uint32][]*span{}, calls: map[uint64]*call{},
		libraries: map[uint64]*library{}, functions: map[uint64]function{}, constants: map[uint64][]constant{},
		pipelines: map[uint64]*pipeline{}, commands: map[uint64]*commands{}, encoders: map[uint64]*encoder{}, kernels: map[string]int64{},
		evidence: recording.Evidence{What: recording.EvidenceMetalCache},
	}
	p.phases.count = map[string]int64{}
	o.Put(&o.Header)
	p.round = p.begin(nil, names.SpanRound, "", 1, 0, open)
	p.round.phase = true // what lies in no phase lies in it
	p.phase = p.newPhase(startPhase)
	p.moveTo(p.phase, 0)
	return p
}

// Used says whether the process has used Metal.
func (p *Process) Used() bool { return p.used }

// Nonced says whether the nonce was added to all of them.
func (p *Process) Nonced() bool { return p.nonced == p.sources }

// Sources is how many libraries the process has compiled from source.
func (p *Process) Sources() int { return p.sources }

// clock is a time of an event on the run's clock.
func (p *Process) clock(at int64) time.Duration { return max(0, time.Duration(at-p.o.Header.Clock)) }

// Event takes what the recorder saw. Events come in the order of their times, but
// for small differences between threads.
func (p *Process) Event(e recorder.Event) {
	at := p.clock(e.Time)
	p.now = max(p.now, at)
	if e.Kind != recorder.Process && e.Kind != recorder.Missed && e.Kind != recorder.Mark && !p.used {
		p.used = true
		first := at
		if e.Kind == recorder.Device && e.D != 0 {
			first = min(at, p.clock(int64(e.D))) // it may take long: a driver gets ready
		}
		p.firstCall(first)
	}
	switch e.Kind {
	case recorder.Device:
		p.findDevice(e)
	case recorder.LibraryBegin, recorder.LibraryEnd, recorder.Constant, recorder.Function, recorder.PipelineBegin, recorder.PipelineEnd, recorder.Label:
		p.compiled(e, at)
	case recorder.Buffer, recorder.Heap:
		p.memory(e, at)
	case recorder.Commands, recorder.Commit, recorder.Completed, recorder.Encoder, recorder.EncoderEnd,
		recorder.SetPipeline, recorder.Dispatch, recorder.Barrier, recorder.Blit:
		p.tellDevice("")
		p.work(e, at)
	case recorder.WaitBegin, recorder.WaitEnd:
		p.wait(e, at)
	case recorder.Mark:
		p.called(e.Text, e.Time)
	case recorder.Missed:
		p.missed = append(p.missed, e.Text)
	}
	p.settle(p.now - Settled)
}

// Time says that nothing earlier follows, so that what is older can be written.
func (p *Process) Time(at int64) {
	p.now = max(p.now, p.clock(at))
	p.settle(p.now - Settled)
}

// findDevice takes the first device. Whether its libraries have a nonce is seen in
// the first of them.
func (p *Process) findDevice(e recorder.Event) {
	if p.device == nil && e.Object != 0 {
		p.device = &recording.Device{Driver: p.o.Driver, Name: e.Text}
	}
}

// tellDevice tells of the device, once.
func (p *Process) tellDevice(nonce string) {
	if p.device == nil || p.told {
		return
	}
	p.told = true
	p.device.Nonce = nonce
	p.o.Put(p.device)
}

// mostWrites is how many writes of a stream are told one by one.
const mostWrites = 50_000

// written is what a stream has been written.
type written struct {
	n    int
	rest *recording.Output // that stands for all that follow; nil before
}

// Output takes a write of the program.
func (p *Process) Output(stream string, at int64, bytes int) {
	w := p.outputs[stream]
	if w == nil {
		w = &written{}
		p.outputs[stream] = w
	}
	t := p.clock(at)
	p.now = max(p.now, t)
	out := &recording.Output{At: int64(t), Stream: stream, Bytes: int64(bytes)}
	switch w.n++; {
	case w.n < mostWrites:
		p.o.Put(out)
	case w.rest == nil:
		w.rest = out
	default:
		w.rest.More++
		w.rest.Bytes += out.Bytes
	}
	p.output(stream == recording.StreamOut, t)
}

// constantsText writes constants in words, in the order of their indices.
func constantsText(all []constant) string {
	text := make([]string, len(all))
	for i, c := range all {
		text[i] = c.String()
	}
	return strings.Join(text, " ")
}
