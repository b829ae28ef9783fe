package assemble

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/introgen/introgen/metalshim/recorder"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/trace/names"
)

// ofSource is what LIBRARY_BEGIN says of a source whose digest nobody knows.
const ofSource = "00ff math=fast"

// TestDeviceAskedFor: the first call of Metal is the one that asks for a device, and
// not the moment at which it is there.
func TestDeviceAskedFor(t *testing.T) {
	p := newTape(t, Options{})
	p.event(900, recorder.Device, 9, 42, 0, 0, int(at(300)), "a device")
	p.p.Output(recording.StreamOut, at(1500), 1)
	r := p.ended(2000)
	if got := r.Spans[2]; got.Detail != "to first output" || got.Start != 300*time.Microsecond {
		t.Errorf("it begins %+v at %v", got, got.Start)
	}
}

// TestRun is a program that compiles, computes, and prints once: each span stands
// where its events were.
func TestRun(t *testing.T) {
	p := newTape(t, Options{Known: func(digest string) string {
		if digest == "00ff" {
			return "Cast"
		}
		return ""
	}})
	p.event(500, recorder.Process, 0, 1, "/bin/program")
	p.event(1000, recorder.Device, 9, 42, "a device")
	p.event(2000, recorder.LibraryBegin, 1, 9, 1, 300, ofSource)
	p.event(5000, recorder.LibraryEnd, 1, 77, 12, 2)
	p.event(5098, recorder.Constant, 50, 53, 99, 1)
	p.event(5099, recorder.Constant, 50) // another object in its place
	p.event(5100, recorder.Constant, 50, 53, 10, 1)
	p.event(5101, recorder.Constant, 50, 29, 2, 7)
	p.event(5102, recorder.Constant, 50, 53, 0, 1, "wide")
	p.event(5200, recorder.Function, 60, 77, 50, "cast_f32")
	p.event(5300, recorder.PipelineBegin, 2, 60, 1)
	p.event(5900, recorder.PipelineEnd, 2, 88, 1024, 1, 32)
	p.event(6000, recorder.Buffer, 99, 4096, 0, 1)
	p.event(6001, recorder.Buffer, 98, 100, 0, 3)
	p.event(6002, recorder.Buffer, 97, 50, 0, 4)
	p.event(6990, recorder.Queue, 3, 9)
	p.event(7000, recorder.Commands, 10, 3)
	p.event(7010, recorder.Encoder, 11, 10, 2)
	p.event(7020, recorder.SetPipeline, 11, 88)
	p.event(7030, recorder.Dispatch, 11, 4, 1, 64, 2)
	p.event(7040, recorder.Barrier, 11, 1, 1)
	p.event(7050, recorder.Dispatch, 11, 4, 1, 64, 2)
	p.event(7060, recorder.EncoderEnd, 11)
	p.event(7080, recorder.Commit, 10, int(at(7070)))
	p.event(7082, recorder.Commands, 20, 3)
	p.event(7086, recorder.Completed, 20, int(at(7085)), int(at(7086)), 4) // told before its commit has returned
	p.event(7088, recorder.Commit, 20, int(at(7084)))
	p.event(7090, recorder.WaitBegin, 10, 1)
	p.event(9010, recorder.Completed, 10, int(at(7200)), int(at(9000)), 4)
	p.event(9100, recorder.WaitEnd, 10, 1, int(at(7090)), 1)
	p.p.Output(recording.StreamErr, at(9200), 3)
	p.p.Output(recording.StreamOut, at(9500), 6)
	r := p.ended(9600)
	compare(t, tree(r), `
round//1 0-9600
 phase/start/1 0-1000
 phase/to first output/2 1000-9500
  LIB/Cast/300 2000-5000
  PIPE/Cast cast_f32/3 5300-5900
  encode/compute/0 7010-7060
  commit//2 7070-7080
  commit//0 7084-7088
  queued//0 7084-7085
  gpu//0 7085-7086
  wait/completed/0 7090-9100
  queued//2 7070-7200
  gpu//2 7200-9000
 phase/after/3 9500-9600
`)
	if len(r.Libraries) != 1 || r.Libraries[0] != (recording.Library{Span: 4, Name: "Cast", SourceBytes: 300, Kernels: 12, Cache: "miss"}) {
		t.Errorf("libraries %+v", r.Libraries)
	}
	if len(r.Pipelines) != 1 || r.Pipelines[0] != (recording.Pipeline{Span: 5, Library: "Cast", Function: "cast_f32", Constants: "wide:bool=1 2:int=7 10:bool=1", Cache: "hit"}) {
		t.Errorf("pipelines %+v", r.Pipelines)
	}
	if r.Device == nil || r.Device.Name != "a device" || r.Device.Driver != "soft" {
		t.Errorf("device %+v", r.Device)
	}
	for name, want := range map[string][]int64{names.CountDispatches: {2, 0}, names.CountBarriers: {1, 0}, names.CountEncoders: {1, 0}, names.CountCommandBuffers: {1, 1}, names.CountAllocated: {4096}, names.CountMapped: {100}} {
		if got := counts(r, name); !slices.Equal(got, want) {
			t.Errorf("%s: %d, want %d", name, got, want)
		}
	}
	if e := r.Evidence[0]; e.LibraryMisses != 1 || e.PipelineHits != 1 || e.LibraryHits+e.PipelineMisses+e.Unknown != 0 {
		t.Errorf("evidence %+v", e)
	}
	if len(r.Kernels) != 1 || r.Kernels[0] != (recording.Kernel{Name: "cast_f32", Dispatches: 2}) {
		t.Errorf("kernels %+v", r.Kernels)
	}
	if len(r.Rounds) != 1 || r.Rounds[0].Span != 1 || r.End.At != 9_600_000 {
		t.Errorf("round %+v, end %+v", r.Rounds, r.End)
	}
}

// TestMarks: marks cut the phases, those that introgen knows under its own names.
func TestMarks(t *testing.T) {
	p := newTape(t, Options{Marked: true})
	p.event(100, recorder.Device, 9, 1, "d")
	p.p.Output(recording.StreamOut, at(150), 4)
	p.event(200, recorder.Mark, 0, "build model")
	p.event(300, recorder.Mark, 0, "warm up")
	p.event(400, recorder.Mark, 0, "prefill")
	p.event(500, recorder.Mark, 0, "decode step")
	p.event(600, recorder.Mark, 0, "decode step")
	p.event(700, recorder.Mark, 0, "warm up")
	p.event(800, recorder.Mark, 0, "prefill") // of a second generation
	p.event(900, recorder.Mark, 0, " \n")     // no name
	compare(t, tree(p.ended(1000)), `
round//1 0-1000
 phase/start/1 0-200
 build model//0 200-300
 phase/warm up/2 300-400
 prefill//0 400-500
 decode step//1 500-600
 decode step//2 600-700
 phase/warm up/3 700-800
 prefill//0 800-1000
`)
}

// TestMarkSeenLate: the line of a mark comes through a pipe while the program goes
// on; its phase begins with what the program did next, and what is open across a
// mark of another thread lies in no phase.
func TestMarkSeenLate(t *testing.T) {
	p := newTape(t, Options{Marked: true})
	p.event(0, recorder.Device, 9, 1, "d")
	p.on(1, 1000, recorder.LibraryBegin, 5, 9, 1, 10, ofSource) // in the background
	p.buffer(40_000, 10, 1)
	p.waited(40_100, 41_000)
	// Printed at 41_010, seen at 41_400.
	p.event(41_020, recorder.Commands, 20, 1)
	p.event(41_020, recorder.Encoder, 21, 20, 1)
	p.event(41_030, recorder.EncoderEnd, 21)
	p.event(41_036, recorder.Commit, 20, int(at(41_032)))
	p.event(41_200, recorder.Commands, 30, 1)
	p.event(41_300, recorder.Encoder, 31, 30, 1)
	p.p.Marks([]string{"decode step"}, at(41_400))
	p.event(41_500, recorder.EncoderEnd, 31)
	p.event(41_600, recorder.Completed, 20, int(at(41_100)), int(at(41_550)), 4)
	p.on(1, 60_000, recorder.LibraryEnd, 5, 77, 1, 0, "named")
	compare(t, tree(p.ended(70_000), names.SpanQueued, names.SpanGPU), `
round//1 0-70000
 phase/start/1 0-41020
 LIB/named/10 1000-60000 on 1000
  encode/compute/0 40000-40010
  commit//1 40012-40016
  wait/completed/0 40100-41000
 decode step//1 41020-70000
  encode/compute/0 41020-41030
  commit//0 41032-41036
  encode/compute/0 41300-41500
`)
}

// TestMarkBehindCompletion: the last command buffer had completed when the program
// looked, so that it did not wait; what it printed then came behind that.
func TestMarkBehindCompletion(t *testing.T) {
	p := newTape(t, Options{Marked: true})
	p.event(0, recorder.Device, 9, 1, "d")
	p.buffer(1000, 10, 1)
	p.waited(1100, 1500)
	p.buffer(2000, 10, 1) // done by the device at 2030
	p.buffer(3000, 20, 1) // begun behind the line, before it was seen
	p.event(3100, recorder.Commands, 30, 1)
	p.event(3101, recorder.Encoder, 31, 30, 1)
	p.p.Marks([]string{"x"}, at(3005))
	p.event(3200, recorder.EncoderEnd, 31)
	compare(t, tree(p.ended(9000), names.SpanQueued, names.SpanGPU), `
round//1 0-9000
 phase/start/1 0-3000
  encode/compute/0 1000-1010
  commit//1 1012-1016
  wait/completed/0 1100-1500
  encode/compute/0 2000-2010
  commit//1 2012-2016
 phase/x/2 3000-9000
  encode/compute/0 3000-3010
  commit//1 3012-3016
  encode/compute/0 3101-3200
`)
}

// TestStderr: where nothing comes on stdout, the first byte on stderr behind the
// first call of Metal is the first output.
func TestStderr(t *testing.T) {
	for name, c := range map[string]struct {
		out  int // when something comes on stdout; 0 for never
		want string
	}{
		"alone": {0, `
round//1 0-90000
 phase/start/1 0-1000
 phase/to first output/2 1000-2000
 step//1 2000-3090
 step//2 3090-4090
 step//3 4090-5090
 step//4 5090-6090
 step//5 6090-7090
 phase/after/3 7090-90000
`},
		"and then stdout": {4500, `
round//1 0-90000
 phase/start/1 0-1000
 phase/to first output/2 1000-4500
 step//1 4500-5090
 step//2 5090-6090
 step//3 6090-7090
 phase/after/3 7090-90000
`},
	} {
		t.Run(name, func(t *testing.T) {
			p := newTape(t, Options{})
			p.p.Output(recording.StreamErr, at(500), 3) // before Metal
			p.event(1000, recorder.Device, 9, 1, "d")
			p.p.Output(recording.StreamErr, at(2000), 3)
			for i := range 5 {
				us := 1000*i + 3000
				if c.out > us-1000 && c.out < us {
					p.p.Output(recording.StreamOut, at(c.out), 1)
				}
				p.buffer(us, 10, 2)
				p.waited(us+40, us+90)
			}
			p.p.Time(at(80_000))
			compare(t, tree(p.ended(90_000), inner...), c.want)
		})
	}
}

// TestMarkToldLate: more was told of meanwhile than the output was seen after.
func TestMarkToldLate(t *testing.T) {
	p := newTape(t, Options{Marked: true})
	p.event(0, recorder.Device, 9, 1, "d")
	for i := range 4 {
		p.buffer(1000*i+1000, 10, 1)
		p.waited(1000*i+1100, 1000*i+1500)
	}
	p.p.Marks([]string{"x"}, at(2700)) // printed behind the second wait
	compare(t, tree(p.ended(9000), inner...), `
round//1 0-9000
 phase/start/1 0-2700
 phase/x/2 2700-9000
`)
}

// TestMarkWithoutWait: what is open when a mark is seen was begun behind it.
func TestMarkWithoutWait(t *testing.T) {
	p := newTape(t, Options{Marked: true})
	p.event(0, recorder.Device, 9, 1, "d")
	p.event(1000, recorder.LibraryBegin, 5, 9, 1, 10, ofSource)
	p.p.Marks([]string{"load"}, at(1200))
	p.event(90_000, recorder.LibraryEnd, 5, 77, 1, 0, "named")
	compare(t, tree(p.ended(100_000)), `
round//1 0-100000
 phase/start/1 0-1000
 phase/load/2 1000-100000
  LIB/named/10 1000-90000
`)
}

// TestCommitAcrossMark: a commit is told of when it is over, behind a mark that was
// seen meanwhile.
func TestCommitAcrossMark(t *testing.T) {
	p := newTape(t, Options{Marked: true})
	p.event(0, recorder.Device, 9, 1, "d")
	p.event(10, recorder.Commands, 10, 1)
	p.p.Marks([]string{"load"}, at(1200))
	p.event(1300, recorder.Commit, 10, int(at(1100)))
	compare(t, tree(p.ended(2000)), `
round//1 0-2000
 phase/start/1 0-1100
 phase/load/2 1100-2000
  commit//0 1100-1300
`)
}

// TestMarkAfterSteps: the first mark of a program of which nobody knew that it has
// any ends what was cut without marks.
func TestMarkAfterSteps(t *testing.T) {
	p := newTape(t, Options{})
	p.event(10, recorder.Device, 9, 1, "d")
	p.p.Output(recording.StreamOut, at(20), 1)
	for i := range 4 {
		p.buffer(100*i+100, 10, 3)
		p.waited(100*i+140, 100*i+190)
	}
	p.event(600, recorder.Mark, 0, "x")
	r := p.ended(700)
	compare(t, tree(r, names.SpanQueued, names.SpanGPU, names.SpanCommit, names.SpanEncoder, names.SpanWait), `
round//1 0-700
 phase/start/1 0-10
 phase/to first output/2 10-20
 step//1 20-190
 step//2 190-290
 step//3 290-390
 step//4 390-490
 phase/after/3 490-600
 phase/x/4 600-700
`)
	const want = "steps are what repeats itself after the first output: 4 of 4 have the same 3 dispatches in 1 command buffers"
	if got := notes(r); got != want {
		t.Errorf("notes %q, want %q", got, want)
	}
}

// TestManyMarks: 100,000 marks come at once, and each begins its phase; looking through
// all that wait for each of them took minutes.
func TestManyMarks(t *testing.T) {
	p := newTape(t, Options{})
	const writes, lines = 50, 2000
	for w := range writes {
		var all []string
		for i := range lines {
			all = append(all, fmt.Sprint("p", w*lines+i))
		}
		p.p.Marks(all, at(1000+w))
	}
	r := p.ended(5000)
	var last recording.Span
	n := 0
	for _, s := range r.Spans {
		if s.Name == names.SpanPhase {
			last.Record = s
			n++
		}
	}
	if n != writes*lines+1 || last.Detail != "other phases" || last.Start != 1049*time.Microsecond || last.End != 5*time.Millisecond {
		t.Errorf("%d phases, the last %+v", n, last.Record)
	}
	// Of the thousand names the program has 999, and introgen the first.
	if want := `99001 phases are called "other phases": the program has more than 1000 names for them`; notes(r) != want {
		t.Errorf("notes %q, want %q", notes(r), want)
	}
}
