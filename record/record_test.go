//go:build linux && (amd64 || arm64)

package record_test

import (
	"bytes"
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/introgen/introgen/metalshim/apple/standin/sdk/sdktest"
	"github.com/introgen/introgen/record"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/trace"
	"github.com/introgen/introgen/trace/names"
)

// spans are a run's spans of a name.
func spans(r *recording.Run, name string) (out []trace.Record) {
	for _, s := range r.Spans {
		if s.Name == name {
			out = append(out, s)
		}
	}
	return out
}

// sum adds a counter up.
func sum(r *recording.Run, name string) (n int64) {
	for _, s := range r.Samples {
		if s.Name == name {
			n += s.Value
		}
	}
	return n
}

// TestSteps: a program of a loop, each time round with a line.
func TestSteps(t *testing.T) {
	x := run(t, nil, sdktest.Compile(t, "testdata/steps.c"), "pace", "30", "steps", "8", "5", "exit", "7")
	if x.out.String() != "0\n1\n2\n3\n4\n5\n6\n7\n" || x.errs.Len() > 0 || x.Status() != 7 || x.Used != 1 || x.Sources != 1 {
		t.Errorf("stdout %q, stderr %q, %+v", &x.out, &x.errs, x.Result)
	}
	r := x.Runs[0]
	if r.End == nil || r.End.Code != 7 || r.End.Lost+r.End.LostSlots > 0 || r.Header.Program.PID == 0 || r.Header.Program.Args[0] != "pace" {
		t.Errorf("end %+v, program %+v", r.End, r.Header.Program)
	}
	if got := spans(r, names.SpanRepeat); len(got) != 7 {
		t.Errorf("%d steps, want 7 behind the first output", len(got))
	}
	for name, want := range map[string]int64{names.CountDispatches: 40, names.CountCommandBuffers: 8, names.CountEncoders: 8, names.CountAllocated: 4096} {
		if got := sum(r, name); got != want {
			t.Errorf("%s: %d, want %d", name, got, want)
		}
	}
	if len(spans(r, names.SpanWait)) != 8 || len(spans(r, names.SpanGPU)) != 8 || len(r.Libraries) != 1 || r.Libraries[0].Name != "one" || r.Pipelines[0].Function != "one" {
		t.Errorf("%d waits, %d of the device, libraries %+v, pipelines %+v", len(spans(r, names.SpanWait)), len(spans(r, names.SpanGPU)), r.Libraries, r.Pipelines)
	}
	phase := map[trace.ID]string{}
	for _, s := range spans(r, names.SpanPhase) {
		phase[s.ID] = s.Detail
	}
	if in := phase[spans(r, names.SpanLibrary)[0].Parent]; in != "to first output" {
		t.Errorf("the library was made in the phase %q", in)
	}
}

// TestMarks: marks that the program calls stand where its calls do.
func TestMarks(t *testing.T) {
	x := run(t, func(o *record.Options) { o.Marks = append(o.Marks, mark(t, "^3$=late")) },
		sdktest.Compile(t, "testdata/steps.c"), "mark", "build model", "steps", "1", "3", "mark", "prefill", "steps", "2", "7", "mark", "decode step", "steps", "1", "2", "mark", "decode step", "pace", "30", "steps", "5", "2")
	r := x.Runs[0]
	want := map[string]int64{"phase start": 0, "build model ": 3, "prefill ": 14, "decode step ": 2 + 8, "phase late": 2}
	got := map[string]int64{}
	for _, s := range r.Spans {
		if s.Parent == 1 {
			got[s.Name+" "+s.Detail] += 0
			for _, c := range r.Samples {
				if c.Name == names.CountDispatches && c.Span == s.ID {
					got[s.Name+" "+s.Detail] += c.Value
				}
			}
		}
	}
	if len(got) != len(want) {
		t.Errorf("phases %v, want %v", got, want)
	}
	for name, n := range want {
		if got[name] != n {
			t.Errorf("%s has %d dispatches, want %d", name, got[name], n)
		}
	}
}

// TestChildren: children that use Metal have runs of their own, the one that used it
// first is first.
func TestChildren(t *testing.T) {
	program := sdktest.Compile(t, "testdata/steps.c")
	x := run(t, nil, program, "steps", "1", "1", "fork", "2")
	if x.Used != 3 || len(x.Runs) != 3 {
		t.Fatalf("%d processes, %d runs", x.Used, len(x.Runs))
	}
	main := x.Runs[0].Header.Program
	for i, r := range x.Runs {
		want, parent := int64(6), main.PID
		if i == 0 {
			want, parent = 1, 0
		}
		if sum(r, names.CountDispatches) != want || r.Header.Program.Parent != parent || r.End == nil {
			t.Errorf("run %d: %d dispatches, %+v, end %+v", i+1, sum(r, names.CountDispatches), r.Header.Program, r.End)
		}
	}
	// A shell that uses none itself.
	x = run(t, nil, "/bin/sh", "-c", program+" steps 2 2; "+program+" steps 1 1; exit 5")
	if x.Used != 2 || len(x.Runs) != 2 || x.Status() != 5 || x.out.String() != "0\n1\n0\n" {
		t.Errorf("%d processes, %d runs, %q, %+v", x.Used, len(x.Runs), &x.out, x.Result)
	}
	// One that goes on when its parent has ended.
	x = run(t, nil, program, "leave")
	if len(x.Runs) != 1 || sum(x.Runs[0], names.CountCommandBuffers) != 3 {
		t.Errorf("%d runs, %d command buffers of 3", len(x.Runs), sum(x.Runs[0], names.CountCommandBuffers))
	}
}

// TestAnew: a process that becomes another program has a run for each.
func TestAnew(t *testing.T) {
	x := run(t, nil, sdktest.Compile(t, "testdata/steps.c"), "steps", "1", "1", "anew", "steps", "2", "3", "exit", "6")
	if len(x.Runs) != 2 || x.Status() != 6 || x.out.String() != "0\n0\n1\n" {
		t.Fatalf("%d runs, %q, %+v", len(x.Runs), &x.out, x.Result)
	}
	first, then := x.Runs[0], x.Runs[1]
	if sum(first, names.CountDispatches) != 1 || sum(then, names.CountDispatches) != 6 || then.Header.PID != first.Header.PID || then.Header.Program.Parent != 0 {
		t.Errorf("%d and %d dispatches, %+v", sum(first, names.CountDispatches), sum(then, names.CountDispatches), then.Header.Program)
	}
	if first.End.Code != 0 || then.End.Code != 6 || len(then.Notes) > 0 && strings.Contains(then.Notes[len(then.Notes)-1].Text, "which knows how it ended") {
		t.Errorf("ends %+v and %+v, notes %+v", first.End, then.End, then.Notes)
	}
}

// TestChildrenNamed: a child is known by its program, however soon its ring is found;
// of forty some were called by their numbers.
func TestChildrenNamed(t *testing.T) {
	program := sdktest.Compile(t, "testdata/steps.c")
	x := run(t, nil, program, "steps", "1", "1", "fork", "40")
	if len(x.Runs) != 41 {
		t.Errorf("%d runs", len(x.Runs))
	}
	for _, r := range x.Runs {
		if r.Header.Program.Path != program {
			t.Errorf("process %d is %q", r.Header.Program.PID, r.Header.Program.Path)
		}
	}
}

// TestNoSuchLine: a mark that nothing matches is told of.
func TestNoSuchLine(t *testing.T) {
	x := run(t, func(o *record.Options) {
		o.Marks = append(o.Marks, mark(t, "^word=prefill"), mark(t, "^never=decode step"))
	}, "/bin/sh", "-c", "echo words")
	if want := `no line of the output began the phase "decode step": none matches "^never"`; len(x.Result.Notes) != 1 || x.Result.Notes[0] != want {
		t.Errorf("notes %q, want %q", x.Result.Notes, want)
	}
}

// TestThreads: several threads at once are tracks beside each other.
func TestThreads(t *testing.T) {
	r := run(t, nil, sdktest.Compile(t, "testdata/steps.c"), "threads", "6").Runs[0]
	tracks := map[int32]int{}
	for _, s := range spans(r, names.SpanEncoder) {
		tracks[s.Track]++
	}
	if len(tracks) != 6 || sum(r, names.CountDispatches) != 6*20*5 || len(r.Libraries) != 6 {
		t.Errorf("tracks %v, %d dispatches, %d libraries", tracks, sum(r, names.CountDispatches), len(r.Libraries))
	}
}

// TestFlood: a million dispatches, as fast as they come; what is lost is said.
func TestFlood(t *testing.T) {
	const many = 1_000_000
	x := run(t, nil, sdktest.Compile(t, "testdata/steps.c"), "flood", strconv.Itoa(many))
	r := x.Runs[0]
	if n := r.Kernels[0].Dispatches; n > many || n+r.End.Lost < many || r.End.Lost != x.Lost {
		t.Errorf("%d dispatches and %d events lost, want %d", n, r.End.Lost, many)
	}
}

// TestManyLibraries: each has its span, and a name.
func TestManyLibraries(t *testing.T) {
	const many = 40
	nonce := "nonce " + time.Now().String()
	x := run(t, func(o *record.Options) { o.Nonce = nonce }, sdktest.Compile(t, "testdata/steps.c"), "sources", strconv.Itoa(many), "large", "3000000")
	r := x.Runs[0]
	if len(r.Libraries) != many+2 || len(spans(r, names.SpanLibrary)) != many+2 || x.Sources != many+2 || !x.Nonce {
		t.Errorf("%d libraries, %d spans, %+v", len(r.Libraries), len(spans(r, names.SpanLibrary)), x.Result)
	}
	if last := r.Libraries[many+1]; last.SourceBytes != 3_000_000 {
		t.Errorf("the large one is %+v", last)
	}
	if r.Device.Nonce != nonce || r.Evidence[0].Nonce != nonce || r.Evidence[0].LibraryHits > 0 {
		t.Errorf("device %+v, evidence %+v", r.Device, r.Evidence)
	}
}

// TestSilent: a program without Metal, which a nonce does not make cold.
func TestSilent(t *testing.T) {
	x := run(t, func(o *record.Options) { o.Nonce = "n" }, "/bin/sh", "-c", "echo words >&2")
	if x.Used != 0 || x.Nonce || len(x.Runs) != 1 || len(x.Runs[0].Evidence) > 0 || x.Written[recording.StreamErr] != 6 || x.errs.String() != "words\n" {
		t.Errorf("%+v, %d runs", x.Result, len(x.Runs))
	}
}

// TestEnvironment: what an earlier recorder left is replaced, what is the user's
// stays.
func TestEnvironment(t *testing.T) {
	x := run(t, func(o *record.Options) {
		old := filepath.Join("/old", filepath.Base(filepath.Dir(filepath.Dir(o.Library))), filepath.Base(filepath.Dir(o.Library)), "x.so")
		o.Env = append(o.Env, "INTROGEN_RECORD=0:/x", "INTROGEN_NONCE=old", "LD_PRELOAD="+old+" "+o.Library, "LD_LIBRARY_PATH=/users")
		o.Folders = []string{"/ours"}
	}, "/bin/sh", "-c", `echo "$LD_LIBRARY_PATH $INTROGEN_NONCE"; case $LD_PRELOAD in *[:\ ]*) echo two;; */recorder/*) echo one;; esac; case $INTROGEN_RECORD in 1:/*) echo new;; esac`)
	if x.out.String() != "/ours:/users \none\nnew\n" || len(x.Result.Notes) != 4 {
		t.Errorf("%q, notes %q", &x.out, x.Result.Notes)
	}
}

// TestKilled kills the program at random moments: every recording opens, and has
// what the program had done.
func TestKilled(t *testing.T) {
	program, random := sdktest.Compile(t, "testdata/steps.c"), rand.New(rand.NewPCG(7, 7))
	times := 50
	if testing.Short() {
		times = 5
	}
	for i := range times {
		ctx, cancel := context.WithCancel(t.Context())
		after := time.Duration(random.IntN(150_000)) * time.Microsecond
		x := run(t, func(o *record.Options) {
			o.Streams.Stdout = &killer{Buffer: &bytes.Buffer{}, after: after, ctx: ctx}
		}, program, "steps", "1000000", "20")
		cancel()
		r := x.Runs[0]
		if x.Signal != syscall.SIGKILL || r.End == nil || r.End.Signal != "SIGKILL" || r.End.Lost > 0 {
			t.Fatalf("kill %d after %v: %+v, end %+v", i, after, x.Result, r.End)
		}
		lines := x.Written[recording.StreamOut]
		done := int64(0)
		for n := range sum(r, names.CountCommandBuffers) {
			done += int64(len(strconv.FormatInt(n, 10)) + 1)
		}
		if done < lines {
			t.Errorf("kill %d after %v: %d bytes were printed, and the recording has command buffers for %d", i, after, lines, done)
		}
		if gpu := len(spans(r, names.SpanGPU)); int64(gpu) > sum(r, names.CountCommandBuffers) || len(r.Libraries) != 1 {
			t.Errorf("kill %d: %d of the device, %d libraries", i, gpu, len(r.Libraries))
		}
	}
}

// killer kills the program so long after it was first written to.
type killer struct {
	*bytes.Buffer
	after time.Duration
	ctx   context.Context
	begun bool
}

func (k *killer) Write(b []byte) (int, error) {
	if !k.begun {
		k.begun = true
		pid := child()
		time.AfterFunc(k.after, func() {
			if k.ctx.Err() == nil && pid > 0 {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		})
	}
	return k.Buffer.Write(b)
}

// child is the number of this process's only child; 0 where nobody can tell.
func child() int {
	text, err := os.ReadFile("/proc/self/task/" + strconv.Itoa(syscall.Gettid()) + "/children")
	all, _ := filepath.Glob("/proc/self/task/*/children")
	for _, path := range all {
		if b, failed := os.ReadFile(path); failed == nil {
			text = append(text, b...)
		}
	}
	if err != nil && len(text) == 0 {
		return 0
	}
	for _, word := range strings.Fields(string(text)) {
		if pid, err := strconv.Atoi(word); err == nil {
			return pid
		}
	}
	return 0
}
