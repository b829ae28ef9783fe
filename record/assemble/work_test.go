package assemble

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/introgen/introgen/metalshim/recorder"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/trace/names"
)

// inner are the spans that the tests of phases leave out.
var inner = []string{names.SpanQueued, names.SpanGPU, names.SpanCommit, names.SpanEncoder, names.SpanWait}

// TestSteps: a prefill, then 20 steps of two turns each, of which one has a kernel
// more, and a turn behind them.
func TestSteps(t *testing.T) {
	p := newTape(t, Options{})
	p.event(0, recorder.Device, 9, 1, "d")
	p.p.Output(recording.StreamOut, at(50), 1) // "loading"
	us := 100
	turn := func(dispatches ...int) {
		for _, n := range dispatches {
			p.buffer(us, 10, n)
			us += 40
		}
		p.waited(us, us+20)
		us += 40
	}
	turn(50, 9)
	first := us - 20
	for i := range 20 {
		turn(5, 5)
		if i == 11 {
			turn(2)
		} else {
			turn(1)
		}
	}
	last := us - 20
	turn(77)
	r := p.ended(us + 1000)
	var steps []recording.Span
	for _, s := range r.Spans {
		if s.Name == names.SpanRepeat {
			steps = append(steps, recording.Span{Record: s})
		}
	}
	if len(steps) != 20 || steps[0].Start.Microseconds() != int64(first) || steps[19].End.Microseconds() != int64(last) || steps[19].N != 20 {
		t.Errorf("%d steps, the first %+v, the last %+v, want 20 from %d to %d", len(steps), steps[0], steps[len(steps)-1], first, last)
	}
	if want := "steps are what repeats itself after the first output: 19 of 20 have the same 11 dispatches in 3 command buffers"; notes(r) != want {
		t.Errorf("notes %q, want %q", notes(r), want)
	}
	sum := int64(0)
	for _, s := range r.Samples {
		if s.Name == names.CountDispatches && s.Span >= steps[11].ID && s.Span < steps[12].ID {
			sum += s.Value
		}
	}
	if sum != 12 {
		t.Errorf("step 12 has %d dispatches, want 12", sum)
	}
}

// TestManySteps: what is held is bounded; once it is known what a step is, the rest
// is cut as it comes.
func TestManySteps(t *testing.T) {
	p := newTape(t, Options{})
	p.event(0, recorder.Device, 9, 1, "d")
	p.p.Output(recording.StreamOut, at(50), 1)
	const steps = 12_000 // of 9 entries each
	for i := range steps {
		p.buffer(100+100*i, 10, 3)
		p.waited(140+100*i, 150+100*i)
		if n := len(p.p.list); n > mostHeld+100 {
			t.Fatalf("after %d steps %d entries are held", i, n)
		}
	}
	r := p.ended(100 * (steps + 2))
	n := int64(0)
	for _, s := range r.Spans {
		if s.Name != names.SpanRepeat {
			continue
		}
		if n++; s.N != n || s.End.Microseconds() != 150+100*(n-1) {
			t.Fatalf("step %d is %+v", n, s)
		}
	}
	if n != steps {
		t.Errorf("%d steps, want %d", n, steps)
	}
}

// TestStepsWithoutWaits: a program that is called back, and waits for nothing: 12
// steps of three command buffers, behind a prefill of five, with a while between
// them. The step that is under way when it ends is none.
func TestStepsWithoutWaits(t *testing.T) {
	p := newTape(t, Options{})
	p.event(0, recorder.Device, 9, 1, "d")
	p.p.Output(recording.StreamOut, at(50), 1)
	us, begins := 100, []int{}
	buffers := func(dispatches ...int) {
		begins = append(begins, us)
		for i, n := range dispatches {
			p.buffer(us, uint64(10+2*i), n)
			us += 40
		}
		us += 300
	}
	buffers(9, 9, 9, 9, 4)
	for range 12 {
		buffers(7, 3, 5)
	}
	buffers(7, 3)
	r := p.ended(us + 1000)
	n := 0
	for _, s := range r.Spans {
		if s.Name != names.SpanRepeat {
			continue
		}
		// A step begins when the last commit of the one before is over.
		from, to := begins[n]+80+16, begins[n+1]+80+16
		if n == 0 {
			from = begins[0] + 160 + 16
		}
		if s.Start.Microseconds() != int64(from) || s.End.Microseconds() != int64(to) {
			t.Errorf("step %d from %d to %d, want %d to %d", s.N, s.Start.Microseconds(), s.End.Microseconds(), from, to)
		}
		n++
	}
	if want := "steps are what repeats itself after the first output: 12 of 12 have the same 15 dispatches in 3 command buffers"; n != 12 || notes(r) != want {
		t.Errorf("%d steps, notes %q, want %q", n, notes(r), want)
	}
}

// TestManyStepsWithoutWaits: the rest is cut as it comes.
func TestManyStepsWithoutWaits(t *testing.T) {
	p := newTape(t, Options{})
	p.event(0, recorder.Device, 9, 1, "d")
	p.p.Output(recording.StreamOut, at(50), 1)
	const steps = 6_000
	for i := range steps {
		p.buffer(100+200*i, 10, 3)
		p.buffer(140+200*i, 10, 4)
		if n := len(p.p.list); n > mostHeld+100 {
			t.Fatalf("after %d steps %d entries are held", i, n)
		}
	}
	n := 0
	for _, s := range p.ended(200 * (steps + 2)).Spans {
		if s.Name == names.SpanRepeat {
			n++
		}
	}
	if n != steps {
		t.Errorf("%d steps, want %d", n, steps)
	}
}

// TestNoSteps: what does not repeat itself is no step, however long it is.
func TestNoSteps(t *testing.T) {
	p := newTape(t, Options{})
	p.event(0, recorder.Device, 9, 1, "d")
	p.p.Output(recording.StreamOut, at(50), 1)
	random := rand.New(rand.NewPCG(7, 7))
	for i := range 9_000 {
		p.buffer(100+100*i, 10, random.IntN(97))
		p.waited(140+100*i, 150+100*i)
		if n := len(p.p.list); n > mostHeld+100 {
			t.Fatalf("after %d turns %d entries are held", i, n)
		}
	}
	compare(t, tree(p.ended(1_000_000), inner...), `
round//1 0-1000000
 phase/start/1 0-0
 phase/to first output/2 0-50
 phase/after/3 50-1000000
`)
}

// TestNames: a library is called by its label, else by its file, else by the first
// function that was taken from it.
func TestNames(t *testing.T) {
	p := newTape(t, Options{Known: func(digest string) string {
		if digest == "aa" {
			return "Gemm"
		}
		return ""
	}})
	p.event(0, recorder.Device, 9, 1, "d")
	library := func(us int, object int, form int, text string) {
		p.event(us, recorder.LibraryBegin, uint64(object), 9, form, 10, text)
		p.event(us+5, recorder.LibraryEnd, uint64(object), object, 1, 1)
	}
	library(10, 1, 1, "aa")
	p.event(20, recorder.Label, 1, "label")
	library(30, 2, 1, "aa")
	p.event(40, recorder.Function, 61, 2, 0, "first")
	p.event(41, recorder.Label, 2, "too late")
	library(50, 3, 1, "bb")
	p.event(60, recorder.Function, 62, 3, 0, "second")
	library(70, 4, 3, "/some/where/kernels.metallib")
	library(80, 5, 1, "bb")
	p.event(90, recorder.Commands, 10, 1)
	library(100, 6, 1, "aa")
	p.event(110, recorder.PipelineBegin, 7, 62, 1)
	p.event(120, recorder.PipelineEnd, 7, 8)
	p.event(130, recorder.LibraryBegin, 8, 9, 1, 10, "cc fast")
	p.event(140, recorder.LibraryEnd, 8, 0, 0, 0, "error: a\x1b[31m\nsecond line")
	p.p.Output(recording.StreamOut, at(150), 1)
	r := p.ended(200)
	var got []string
	for _, s := range r.Spans {
		if s.Name == names.SpanLibrary || s.Name == names.SpanPipeline {
			got = append(got, s.Detail)
		}
	}
	if want := []string{"label", "Gemm", "second", "kernels.metallib", "library", "Gemm", "second second", "library"}; !slices.Equal(got, want) {
		t.Errorf("named %q, want %q", got, want)
	}
	if want := "the library library could not be made: error: a\x1b[31m"; notes(r) != want {
		t.Errorf("notes %q, want %q", notes(r), want)
	}
	if p.p.Sources() != 6 {
		t.Errorf("%d sources, want 6", p.p.Sources())
	}
}

// TestNeverMade: what was being compiled when the program ended was not made.
func TestNeverMade(t *testing.T) {
	p := newTape(t, Options{})
	p.event(0, recorder.Device, 9, 1, "d")
	p.event(150, recorder.LibraryBegin, 9, 9, 1, 10, "cc fast")
	p.p.End(Ending{At: at(200), Code: -1, Signal: "SIGSEGV", Error: "SIGSEGV"})
	f, err := recording.Read(strings.NewReader(string(p.b)), "")
	if err != nil || len(f.Warnings) > 0 {
		t.Fatalf("%v, %q", err, f.Warnings)
	}
	compare(t, tree(f.Runs[0]), `
round//1 0-200
 phase/start/1 0-0
 phase/to first output/2 0-200
 LIB//10 150-0 on 1000
`)
	if want := "the program ended while LIB was made"; !strings.Contains(notes(f.Runs[0]), want) {
		t.Errorf("notes %q, want %q", notes(f.Runs[0]), want)
	}
}

// TestThreads: what several threads do at once lies on tracks of their own, and
// libraries with a completion handler on tracks beside them.
func TestThreads(t *testing.T) {
	p := newTape(t, Options{Marked: true})
	p.event(0, recorder.Device, 9, 1, "d")
	p.event(1, recorder.LibraryBegin, 1, 9, 1, 10, "x")
	p.event(2, recorder.LibraryEnd, 1, 77, 1, 1, "L")
	p.event(3, recorder.Function, 60, 77, 0, "f")
	for i := range 3 {
		p.event(10+i, recorder.LibraryBegin, uint64(i+1), 9, 1, 10, 1, "x")
	}
	p.on(2, 20, recorder.Commands, 10, 1)
	p.on(2, 25, recorder.Encoder, 11, 10, 1)
	p.on(1, 26, recorder.Commands, 20, 1)
	p.on(1, 27, recorder.Encoder, 21, 20, 3)
	p.on(2, 28, recorder.Encoder, 31, 10, 1) // a second one on a thread
	p.on(2, 29, recorder.PipelineBegin, 7, 60, 1)
	p.on(2, 35, recorder.PipelineEnd, 7, 8)
	p.on(2, 40, recorder.EncoderEnd, 11) // not in the order of their begin
	p.on(1, 41, recorder.Blit, 21, 1, 100)
	p.on(2, 45, recorder.EncoderEnd, 31)
	p.on(3, 50, recorder.EncoderEnd, 21) // by another thread
	p.on(3, 60, recorder.LibraryEnd, 2, 102, 1)
	p.on(3, 61, recorder.LibraryEnd, 1, 101, 1)
	p.on(0, 62, recorder.LibraryBegin, 4, 9, 1, 10, 1, "x")
	p.on(3, 70, recorder.LibraryEnd, 3, 103, 1)
	p.on(3, 71, recorder.LibraryEnd, 4, 104, 1)
	r := p.ended(100)
	compare(t, tree(r), `
round//1 0-100
 phase/start/1 0-100
  LIB/L/10 1-2
  LIB/library/10 10-61 on 1000
  LIB/library/10 11-60 on 1001
  LIB/library/10 12-70 on 1002
  encode/compute/0 25-40 on 2
  encode/blit/0 27-50 on 1
  encode/compute/0 28-45 on 1003
   PIPE/L f/0 29-35 on 2
  LIB/library/10 62-71 on 1000
`)
	if len(r.Kernels) != 1 || r.Kernels[0].Name != names.Blit {
		t.Errorf("kernels %+v", r.Kernels)
	}
}

// TestDispatches: every dispatch and barrier, where they are asked for.
func TestDispatches(t *testing.T) {
	p := newTape(t, Options{Dispatches: true})
	p.event(0, recorder.Device, 9, 1, "d")
	p.event(1, recorder.LibraryBegin, 1, 9, 1, 10, "x")
	p.event(2, recorder.LibraryEnd, 1, 77, 1, 1, "L")
	p.event(3, recorder.Function, 60, 77, 0, "f")
	p.event(4, recorder.PipelineBegin, 2, 60, 1)
	p.event(5, recorder.PipelineEnd, 2, 88)
	p.event(6, recorder.Commands, 10, 1)
	p.event(7, recorder.Encoder, 11, 10, 2)
	p.event(8, recorder.SetPipeline, 11, 88)
	p.event(9, recorder.Dispatch, 11, 2|3<<32, 4|32<<32, 5|6<<32, 2)
	p.event(10, recorder.Barrier, 11, 1, 1)
	p.event(11, recorder.Dispatch, 11, 100|1<<32, 1|32<<32, 1|1<<32, 1)
	p.event(12, recorder.EncoderEnd, 11)
	p.p.End(Ending{At: at(20)})
	text := string(p.b)
	for _, want := range []string{
		`"span":6,"library":"L","function":"f","grid":[2,3,4],"group":[32,5,6],"threads":false`,
		`"k":"barrier","span":6,"scope":"buffers"`,
		`"span":6,"library":"L","function":"f","grid":[100,1,1],"group":[32,1,1],"threads":true`,
		`"id":6,"in":3,"name":"encode"`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
}

// TestOutputs: so many writes are told one by one, and the last of them stands for
// the rest.
func TestOutputs(t *testing.T) {
	p := newTape(t, Options{})
	const more = 25
	for i := range mostWrites + more {
		p.p.Output(recording.StreamOut, at(i), 2)
	}
	p.p.Output(recording.StreamErr, at(mostWrites+more), 3)
	p.p.End(Ending{At: at(mostWrites + more + 1)})
	n, rest := 0, ""
	for line := range strings.Lines(string(p.b)) {
		if strings.HasPrefix(line, `{"k":"output"`) {
			n++
			if strings.Contains(line, `"more"`) {
				rest = line
			}
		}
	}
	if n != mostWrites+1 || !strings.Contains(rest, `"bytes":52,"more":25`) {
		t.Errorf("%d lines, the last is %s", n, rest)
	}
}

// TestFullQueue: a command buffer for which the program had to wait for room, and
// two that were made at once.
func TestFullQueue(t *testing.T) {
	p := newTape(t, Options{})
	p.event(0, recorder.Device, 9, 1, "d")
	p.event(1000, recorder.Commands, 10, 3)
	p.event(1010, recorder.Commands, 11, 3, 0, 0, int(at(961)))
	p.event(1900, recorder.Commands, 12, 3, 0, 0, int(at(1400)))
	compare(t, tree(p.ended(2000)), `
round//1 0-2000
 phase/start/1 0-0
 phase/to first output/2 0-2000
  wait/queue/0 1400-1900
`)
}

// TestKilled: a program that a signal ended while it worked.
func TestKilled(t *testing.T) {
	p := newTape(t, Options{})
	p.event(0, recorder.Device, 9, 1, "d")
	p.event(5, recorder.Commands, 10, 1)
	p.event(10, recorder.Encoder, 11, 10, 1)
	p.event(20, recorder.WaitBegin, 1, 4)
	p.event(21, recorder.Missed, 0, "aSelector:")
	p.p.End(Ending{At: at(50), Code: -1, Signal: "SIGKILL", MaxRSS: 4096, Lost: 3, LostSlots: 2, Error: "killed"})
	f, err := recording.Read(strings.NewReader(string(p.b)), "")
	if err != nil || len(f.Warnings) > 0 {
		t.Fatalf("%v, %q", err, f.Warnings)
	}
	r := f.Runs[0]
	compare(t, tree(r), `
round//1 0-50
 phase/start/1 0-0
 phase/to first output/2 0-50
  encode/compute/0 10-50
   wait/semaphore/0 20-50
`)
	if e := r.End; e.Signal != "SIGKILL" || e.MaxRSS != 4096 || e.Lost != 3 || e.LostSlots != 2 || e.Code != -1 {
		t.Errorf("end %+v", e)
	}
	if got := notes(r); !strings.Contains(got, "aSelector:") || !strings.Contains(got, "3 events are lost") {
		t.Errorf("notes %q", got)
	}
}

// TestNotMade: of a library that could not be made its first words alone say nothing,
// and whether a cache had it nobody asks.
func TestNotMade(t *testing.T) {
	p := newTape(t, Options{})
	p.event(10, recorder.Device, 9, 42, "a device")
	p.event(20, recorder.LibraryBegin, 1, 9, 1, 10, "aa")
	p.event(30, recorder.LibraryEnd, 1, 77, 1, 1, "label")
	p.event(40, recorder.LibraryBegin, 2, 9, 1, 10, "cc")
	p.event(50, recorder.LibraryEnd, 2, 0, 0, 0, "Compilation failed: \n\nprogram_source:1:1: error: no end\nmore")
	r := p.ended(200)
	if want := "the library library could not be made: Compilation failed: program_source:1:1: error: no end"; !strings.HasPrefix(notes(r), want) {
		t.Errorf("notes %q, want %q", notes(r), want)
	}
	if e := r.Evidence[0]; e.LibraryHits != 1 || e.Unknown != 0 {
		t.Errorf("evidence %+v", e)
	}
}
