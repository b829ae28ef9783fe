package programtest

import (
	"fmt"

	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/trace"
	"github.com/introgen/introgen/trace/names"
)

// State is in which a program finds the cache of compiled code.
type State struct {
	Cache string // of its libraries and pipelines
	Nonce string
	Quick float64 // by what the times of libraries and pipelines are divided
}

// The states. What comes from the cache takes a tenth of the time.
var (
	Cold    = State{names.CacheMiss, "nonce 1", 1}
	Natural = State{names.CacheMiss, "", 1}
	Warm    = State{names.CacheHit, "", 10}
)

// step is a decode step, or one that repeats: 8 dispatches, 50 ms, of which the
// device runs 20 and is waited for during 28.
func (r *Recording) step(in trace.ID, from float64) { r.Pass(0, in, 8, from, 20, from+40) }

// Marked generates four tokens and marks its phases by the names that introgen's
// own engine has. Cold it takes 730 ms from opening the file to the first token
// and 900 to the second, of which 760 compiling: Gemm 300 and 20, Reduce 300 and
// 20, Sdpa 110 and 10. Warm it takes 154 and 216, of which 76 loading.
func Marked(s State) *Recording {
	c := func(ms float64) float64 { return ms / s.Quick }
	built := 110 + c(320) + 20
	passes := built + c(320)
	filled := passes + 60
	steps := filled + c(120)
	first := steps + 50
	end := first + 120
	r := New(4711, 0, "./generate", "model.gguf")
	r.Device(s.Nonce)
	round := r.Span(0, names.SpanRound, "", 1, 0, end)
	r.Span(round, names.SpanPhase, "start", 1, 0, 100)
	r.Span(round, names.SpanRead, "", 0, 100, 110)
	build := r.Span(round, names.SpanBuild, "", 0, 110, built)
	r.Library(0, build, "Gemm", s.Cache, 110, 110+c(300))
	r.Pipeline(0, build, "Gemm", "gemm_nn", s.Cache, 110+c(300), 110+c(320))
	prefill := r.Span(round, names.SpanPrefill, "", 0, built, filled)
	r.Library(0, prefill, "Reduce", s.Cache, built, built+c(300))
	r.Pipeline(0, prefill, "Reduce", "sum", s.Cache, built+c(300), passes)
	r.Pass(0, prefill, 10, passes, 30, passes+50)
	r.Output(filled, 5)
	step := r.Span(round, names.SpanStep, "", 1, filled, first)
	r.Library(0, step, "Sdpa", s.Cache, filled, filled+c(110))
	r.Pipeline(0, step, "Sdpa", "sdpa_vector", s.Cache, filled+c(110), steps)
	r.step(step, steps)
	r.Output(first, 5)
	for i := range 2 {
		from := first + 50*float64(i)
		r.step(r.Span(round, names.SpanStep, "", int64(i)+2, from, from+50), from)
		r.Output(from+50, 5)
	}
	r.Span(round, names.SpanClose, "", 0, first+100, end)
	r.End(round, end, 0)
	return r
}

// Unmarked says nothing of its phases. Cold its first byte comes after 580 ms, of
// which it compiles for 420, Gemm 400 and 20; warm after 202, of which it loads for
// 42. Then three steps repeat.
func Unmarked(s State) *Recording {
	c := func(ms float64) float64 { return ms / s.Quick }
	passes := 100 + c(420)
	first := passes + 60
	end := first + 170
	r := New(4711, 0, "./chat")
	r.Device(s.Nonce)
	round := r.Span(0, names.SpanRound, "", 1, 0, end)
	r.Span(round, names.SpanPhase, "start", 1, 0, 100)
	until := r.Span(round, names.SpanPhase, "to first output", 2, 100, first)
	r.Library(0, until, "Gemm", s.Cache, 100, 100+c(400))
	r.Pipeline(0, until, "Gemm", "gemm_nn", s.Cache, 100+c(400), passes)
	r.Pass(0, until, 10, passes, 30, passes+50)
	r.Output(first, 7)
	for i := range 3 {
		from := first + 50*float64(i)
		r.step(r.Span(round, names.SpanRepeat, "", int64(i)+1, from, from+50), from)
		r.Output(from+50, 3)
	}
	r.Span(round, names.SpanPhase, "after", 3, first+150, end)
	r.Events = append(r.Events, &recording.Note{Text: "3 of 3 steps have the same 8 dispatches in 1 command buffer"})
	r.End(round, end, 0)
	return r
}

// Threads compiles A on one thread and B on another, and has the system compile C
// for a completion handler until after its first output. Of the 400 ms to that the
// wall clock counts 100 for A, 150 for B and 150 for C, and none for the wait
// beside them; of the 150 after it 50 for C, 10 for encoding, 2 for committing and
// 28 for waiting.
func Threads() *Recording {
	r := New(4711, 0, "./threads")
	r.Device("")
	round := r.Span(0, names.SpanRound, "", 1, 0, 600)
	r.Span(round, names.SpanPhase, "start", 1, 0, 50)
	until := r.Span(round, names.SpanPhase, "to first output", 2, 50, 450)
	r.Library(0, until, "A", names.CacheMiss, 50, 150)
	r.Library(1, until, "B", names.CacheMiss, 100, 300)
	r.Track(0, until, names.SpanWait, names.WaitSemaphore, 0, 160, 420)
	r.Library(trace.AsyncTrack, until, "C", names.CacheMiss, 250, 500)
	r.Output(450, 1)
	after := r.Span(round, names.SpanPhase, "after", 3, 450, 600)
	r.Pass(0, after, 4, 520, 20, 560)
	r.End(round, 600, 0)
	return r
}

// Child is a program and one that it started, which share a clock: the first
// compiles Gemm, 100 and 10 ms, and lives for 800, the second compiles Reduce, 100,
// and ends after 500.
func Child() (*Recording, *Recording) {
	r := New(4711, 0, "./serve")
	r.Device("")
	round := r.Span(0, names.SpanRound, "", 1, 0, 800)
	r.Span(round, names.SpanPhase, "start", 1, 0, 100)
	until := r.Span(round, names.SpanPhase, "to first output", 2, 100, 300)
	r.Library(0, until, "Gemm", names.CacheMiss, 100, 200)
	r.Pipeline(0, until, "Gemm", "gemm_nn", names.CacheMiss, 200, 210)
	r.Pass(0, until, 10, 220, 20, 260)
	r.Output(300, 9)
	r.Span(round, names.SpanPhase, "after", 3, 300, 800)
	r.End(round, 800, 0)

	c := New(4712, 4711, "./worker", "--one")
	c.Device("")
	round = c.Span(0, names.SpanRound, "", 1, 0, 500)
	c.Span(round, names.SpanPhase, "start", 1, 0, 150)
	until = c.Span(round, names.SpanPhase, "to first output", 2, 150, 500)
	c.Library(0, until, "Reduce", names.CacheMiss, 150, 250)
	c.Pass(0, until, 4, 260, 20, 300)
	c.End(round, 500, 0)
	return r, c
}

// Silent never uses Metal, and writes once.
func Silent() *Recording {
	r := New(4711, 0, "/bin/date")
	round := r.Span(0, names.SpanRound, "", 1, 0, 30)
	r.Span(round, names.SpanPhase, "start", 1, 0, 30)
	r.Output(20, 29)
	r.Events = append(r.Events, &recording.Round{Number: 1, Span: round, IDs: []int32{}}, &recording.End{At: int64(At(30)), MajorFaults: -1, MinorFaults: -1, MaxRSS: 1 << 20})
	return r
}

// Steps is a program that repeats a step of 200 ms six times, each of so many
// command buffers that hold so many dispatches. Encoding one takes 2 ms,
// committing 1, and the device runs for 5; it is waited for at once, or all of
// them at the end of the step.
func Steps(buffers int, dispatches int64, atOnce bool) *Recording {
	r := New(4711, 0, "./steps")
	r.Device("")
	const steps, length = 6, 200
	round := r.Span(0, names.SpanRound, "", 1, 0, 50+steps*length)
	r.Span(round, names.SpanPhase, "start", 1, 0, 50)
	r.Output(50, 1)
	for n := range steps {
		t := float64(50 + n*length)
		step := r.Span(round, names.SpanRepeat, "", int64(n)+1, t, t+length)
		ready := t // when the device has run everything
		for range buffers {
			r.Span(step, names.SpanEncoder, "compute", 0, t, t+2)
			r.Span(step, names.SpanCommit, "", dispatches, t+2, t+3)
			t += 3
			r.count(step, t, dispatches)
			ready = max(ready, t)
			r.Span(step, names.SpanGPU, "", dispatches, ready, ready+5)
			if ready += 5; atOnce {
				r.Span(step, names.SpanWait, names.WaitCompleted, 0, t, ready)
				t = ready
			}
		}
		if !atOnce {
			r.Span(step, names.SpanWait, names.WaitCompleted, 0, t, ready)
		}
		r.Output(ready, 1)
	}
	r.End(round, 50+steps*length, 0)
	return r
}

// Across is a program that has something under way when its first output is seen at
// 250 ms: it waits from 200 to 300, and on another thread compiles A from 100 to 270,
// so that both lie in its round. Of the 200 ms until then the wall clock counts 150
// for A, of the 150 after it 20 for A and 30 for the wait.
func Across() *Recording {
	r := New(4711, 0, "./across")
	r.Device("")
	round := r.Span(0, names.SpanRound, "", 1, 0, 400)
	r.Span(round, names.SpanPhase, "start", 1, 0, 50)
	until := r.Span(round, names.SpanPhase, "to first output", 2, 50, 250)
	r.Span(until, names.SpanEncoder, "compute", 0, 60, 70)
	r.Library(trace.AsyncTrack, round, "A", names.CacheMiss, 100, 270)
	r.Track(trace.AsyncTrack+1, round, names.SpanWait, names.WaitCompleted, 0, 200, 300)
	r.Output(250, 1)
	r.Span(round, names.SpanPhase, "after", 3, 250, 400)
	r.End(round, 400, 0)
	return r
}

// Loading is a program that makes so many pipelines of a library, from 70 ms on and 20
// each, dispatches the first of them, and writes at 250.
func Loading(pipelines int) *Recording {
	r := New(4711, 0, "./loading")
	r.Device("")
	round := r.Span(0, names.SpanRound, "", 1, 0, 260)
	r.Span(round, names.SpanPhase, "start", 1, 0, 50)
	until := r.Span(round, names.SpanPhase, "to first output", 2, 50, 250)
	r.Library(0, until, "Ops", names.CacheHit, 50, 70)
	for i := range pipelines {
		from := 70 + 20*float64(i)
		r.Pipeline(0, until, "Ops", fmt.Sprintf("op%d", i), names.CacheHit, from, from+20)
	}
	r.Pass(0, until, 4, 200, 20, 240)
	r.Output(250, 1)
	r.Span(round, names.SpanPhase, "after", 3, 250, 260)
	r.Events = append(r.Events, &recording.Kernel{Name: "op0", Dispatches: 4})
	r.End(round, 260, 0)
	return r
}

// Waiting is a program that lives for 250 ms and from 50 on waits for each of so many
// command buffers, of so many dispatches: a step that repeats is 2 ms, 0.25 of which it
// encodes, 0.25 it commits, 1.5 it waits, and in the last 0.25 the device runs.
func Waiting(buffers int, dispatches int64) *Recording {
	r := New(4711, 0, "./waiting")
	r.Device("")
	end := 50 + 2*float64(buffers)
	round := r.Span(0, names.SpanRound, "", 1, 0, end)
	r.Span(round, names.SpanPhase, "start", 1, 0, 50)
	r.Output(50, 1)
	for n := range buffers {
		t := 50 + 2*float64(n)
		step := r.Span(round, names.SpanRepeat, "", int64(n)+1, t, t+2)
		r.Span(step, names.SpanEncoder, "compute", 0, t, t+0.25)
		r.Span(step, names.SpanCommit, "", dispatches, t+0.25, t+0.5)
		r.count(step, t+0.5, dispatches)
		r.Span(step, names.SpanWait, names.WaitCompleted, 0, t+0.5, t+2)
		r.Span(step, names.SpanGPU, "", dispatches, t+1.75, t+2)
	}
	r.End(round, end, 0)
	return r
}

// Engine is what introgen's own engine records of what Marked does: the same
// phases with the same parts, and what it knows besides.
func Engine(s State) *Recording {
	r := Marked(s)
	out := &Recording{}
	for _, e := range r.Events {
		switch e := e.(type) {
		case *recording.Header:
			e.Command, e.Args, e.Program, e.Model.File = "metal", []string{"metal", "1"}, nil, "model.gguf"
		case *recording.Output:
			continue
		case *recording.Count:
			if e.Name == names.CountBarriers {
				continue
			}
		case *recording.Span:
			switch {
			case e.Name == names.SpanPhase:
				e.Name, e.Detail, e.N, e.Parent = names.SpanArguments, "", 0, 0
			case e.Name == names.SpanRound:
				continue // told below, as it begins behind the arguments
			case e.Name == names.SpanPrefill:
				e.N = 2
			}
			// The arguments come first, then the round.
			if e.ID == 2 {
				e.ID = 1
			}
			if e.Name == names.SpanRead {
				round := *r.Events[2].(*recording.Span)
				round.ID, round.Start = 2, At(100)
				out.Events = append(out.Events, &round)
			}
			if e.Parent == 1 {
				e.Parent = 2
			}
		case *recording.Round:
			e.Span, e.Prompt, e.IDs = 2, 2, []int32{1, 2, 3, 4}
		}
		out.Events = append(out.Events, e)
	}
	return out
}

// Detailed is Threads with every dispatch and barrier of its pass, its kernels and
// what was lost of it.
func Detailed() *Recording {
	r := Threads()
	var out []recording.Event
	for _, e := range r.Events {
		switch e := e.(type) {
		case *recording.Span:
			out = append(out, e)
			if e.Name == names.SpanEncoder {
				for range 4 {
					out = append(out, &recording.Dispatch{Span: e.ID, Library: "A", Function: "add", Grid: [3]int64{10, 2, 3}, Group: [3]int64{32, 4, 5}, Threads: true})
				}
				out = append(out, &recording.Barrier{Span: e.ID, Scope: "buffers"}, &recording.Barrier{Span: e.ID, Scope: "textures"})
			}
			continue
		case *recording.Round:
			out = append(out, &recording.Kernel{Name: "add", Dispatches: 4}, &recording.Output{At: int64(At(460)), Stream: recording.StreamErr, Bytes: 3, More: 2})
		case *recording.End:
			e.Lost, e.LostSlots = 5, 1
		}
		out = append(out, e)
	}
	r.Events = out
	return r
}
