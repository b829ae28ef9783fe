package assemble

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/introgen/introgen/metalshim/recorder"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/trace"
	"github.com/introgen/introgen/trace/names"
)

// commands is a command buffer.
type commands struct {
	dispatches, encoders, barriers int64
	commit                         *span           // nil before it was committed
	early                          *recorder.Event // that it has completed, where that was told first
}

// encoder is one that is open.
type encoder struct {
	span     *span
	commands *commands
	pipeline *pipeline
}

// encoderNames are enum encoder_form in words.
var encoderNames = []string{1: "compute", 2: "compute", 3: "blit", 4: "render", 5: "other"}

// enum buffer_form, as far as it makes a difference.
const (
	noCopy   = 3
	fromHeap = 4
)

// memory takes a buffer or a heap. A buffer of a heap is in the heap's memory.
func (p *Process) memory(e recorder.Event, at time.Duration) {
	name := names.CountAllocated
	switch {
	case e.Object == 0, e.Kind == recorder.Buffer && e.C == fromHeap:
		return
	case e.Kind == recorder.Buffer && e.C == noCopy:
		name = names.CountMapped
	}
	p.insert(entry{at: at, in: p.within(e.Thread), event: counted(name, int64(e.A), at)})
}

func counted(name string, n int64, at time.Duration) *recording.Count {
	return &recording.Count{Sample: trace.Sample{Name: name, Value: n, At: at}}
}

// blocked is how long the making of a command buffer takes at least where it had to
// wait for room in its queue: by itself it takes a microsecond or two.
const blocked = 50 * time.Microsecond

// work takes what is encoded, committed and completed.
func (p *Process) work(e recorder.Event, at time.Duration) {
	switch e.Kind {
	case recorder.Commands:
		p.commands[e.Object] = &commands{}
		p.nameAll()
		if begin := p.clock(int64(e.D)); e.D != 0 && at-begin >= blocked {
			p.done(e.Thread, names.SpanWait, names.WaitQueue, 0, begin, at)
		}
	case recorder.Encoder:
		p.beginEncoder(e, at)
	case recorder.EncoderEnd:
		if enc := p.encoders[e.Object]; enc != nil {
			delete(p.encoders, e.Object)
			enc.commands.encoders++
			p.endEncoder(enc, at)
		}
	case recorder.Commit:
		p.committed(e, at)
	case recorder.Completed:
		p.completed(e, at)
	default:
		if enc := p.encoders[e.Object]; enc != nil {
			p.encode(enc, e, at)
		}
	}
}

func (p *Process) beginEncoder(e recorder.Event, at time.Duration) {
	c := p.commands[e.A]
	if c == nil { // its begin was lost
		c = &commands{}
		p.commands[e.A] = c
	}
	detail := encoderNames[5]
	if e.B > 0 && e.B < uint64(len(encoderNames)) {
		detail = encoderNames[e.B]
	}
	var s *span
	if in := p.within(e.Thread); in.record.Name == names.SpanEncoder {
		// A second one that is open on a thread need not end before the first.
		s = p.begin(phaseOf(in), names.SpanEncoder, detail, 0, at, open)
		s.thread = e.Thread
		s.record.Track = p.lane(s)
		p.threads[e.Thread] = slices.Insert(p.threads[e.Thread], 0, s)
	} else {
		s = p.push(e.Thread, names.SpanEncoder, detail, 0, at)
	}
	p.encoders[e.Object] = &encoder{span: s, commands: c}
}

func (p *Process) endEncoder(enc *encoder, at time.Duration) { p.pop(enc.span, at) }

// encode takes what an encoder is told.
func (p *Process) encode(enc *encoder, e recorder.Event, at time.Duration) {
	switch e.Kind {
	case recorder.SetPipeline:
		enc.pipeline = p.pipelines[e.A]
	case recorder.Blit:
		p.kernels[names.Blit]++
	case recorder.Dispatch:
		enc.commands.dispatches++
		var f function
		if enc.pipeline != nil {
			f = enc.pipeline.function
		}
		p.kernels[cmp.Or(f.name, unknown)]++
		if p.o.Dispatches {
			p.tell(enc.span, at, dispatched(e, f))
		}
	case recorder.Barrier:
		enc.commands.barriers++
		if p.o.Dispatches {
			p.tell(enc.span, at, &recording.Barrier{Scope: scope(e)})
		}
	}
}

// dispatched is a dispatch of ring.h in a recording's words.
func dispatched(e recorder.Event, f function) *recording.Dispatch {
	const threads, low = 1, 1<<32 - 1
	return &recording.Dispatch{
		Library: f.of(), Function: cmp.Or(f.name, unknown), Threads: e.D == threads,
		Grid:  [3]int64{int64(e.A & low), int64(e.A >> 32), int64(e.B & low)},
		Group: [3]int64{int64(e.B >> 32), int64(e.C & low), int64(e.C >> 32)},
	}
}

// scope is what a barrier is for, in words: MTLBarrierScope where that was said.
func scope(e recorder.Event) string {
	const byScope, byResources = 1, 2
	switch {
	case e.B == byResources:
		return fmt.Sprintf("%d resources", e.A)
	case e.B != byScope:
		return "stages"
	}
	switch e.A {
	case 1:
		return "buffers"
	case 2:
		return "textures"
	case 3:
		return "buffers, textures"
	}
	return fmt.Sprintf("scope %d", e.A)
}

func (p *Process) committed(e recorder.Event, at time.Duration) {
	p.nameAll()
	c := p.commands[e.Object]
	if c == nil {
		c = &commands{}
		p.commands[e.Object] = c
	}
	begin := at
	if e.A != 0 {
		begin = min(at, p.clock(int64(e.A)))
	}
	p.flying++
	c.commit = p.done(e.Thread, names.SpanCommit, "", c.dispatches, begin, at)
	for _, n := range []struct {
		name  string
		value int64
	}{{names.CountCommandBuffers, 1}, {names.CountEncoders, c.encoders}, {names.CountDispatches, c.dispatches}, {names.CountBarriers, c.barriers}} {
		p.insert(entry{at: begin, as: c.commit, event: counted(n.name, n.value, at)})
	}
	if c.early != nil {
		p.completed(*c.early, at)
	}
	p.buffered(c.dispatches, begin, at)
}

// failed is MTLCommandBufferStatusError.
const failed = 5

func (p *Process) completed(e recorder.Event, at time.Duration) {
	c := p.commands[e.Object]
	if c == nil {
		return
	}
	if c.commit == nil {
		c.early = &e
		return
	}
	delete(p.commands, e.Object)
	if p.flying--; p.flying == 0 && e.B != 0 {
		p.idleAt(p.clock(int64(e.B)))
	}
	if e.C == failed {
		p.o.Put(&recording.Note{Text: fmt.Sprintf("a command buffer of %d dispatches failed: %s", c.dispatches, firstLine(e.Text))})
	}
	if e.A == 0 || e.B < e.A {
		return
	}
	start, end := p.clock(int64(e.A)), p.clock(int64(e.B))
	p.ofDevice(c, names.SpanQueued, min(c.commit.record.Start, start), start, at)
	p.ofDevice(c, names.SpanGPU, start, end, at)
}

// ofDevice puts a span by the device's clock into the phase in which its command
// buffer was committed.
func (p *Process) ofDevice(c *commands, name string, start, end, told time.Duration) {
	s := &span{record: trace.Record{Name: name, N: c.dispatches, Start: start, End: end}, as: c.commit, thread: noThread}
	p.insert(entry{at: told, span: s})
}

// waitNames are enum wait_form in a recording's words.
var waitNames = []string{1: names.WaitCompleted, 2: names.WaitScheduled, 3: names.WaitSharedEvent, 4: names.WaitSemaphore}

func (p *Process) wait(e recorder.Event, at time.Duration) {
	detail := ""
	if e.A < uint64(len(waitNames)) {
		detail = waitNames[e.A]
	}
	if e.Kind == recorder.WaitBegin {
		p.push(e.Thread, names.SpanWait, detail, 0, at)
		return
	}
	stack := p.threads[e.Thread]
	for _, s := range slices.Backward(stack) {
		if s.record.Name != names.SpanWait || s.record.Detail != detail {
			continue
		}
		p.pop(s, at)
		p.idleAt(at)
		if detail != names.WaitScheduled {
			p.turned(at)
		}
		return
	}
}

// kernelCounts are how often each function was dispatched, the most first.
func (p *Process) kernelCounts() []*recording.Kernel {
	var out []*recording.Kernel
	for _, name := range slices.Sorted(maps.Keys(p.kernels)) {
		out = append(out, &recording.Kernel{Name: name, Dispatches: p.kernels[name]})
	}
	slices.SortStableFunc(out, func(a, b *recording.Kernel) int { return cmp.Compare(b.Dispatches, a.Dispatches) })
	return out
}
