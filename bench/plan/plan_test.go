package plan_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/introgen/introgen/bench/plan"
	"github.com/introgen/introgen/bench/plan/plantest"
	"github.com/introgen/introgen/results/recording"
)

func arms(names ...string) []recording.Arm {
	var a []recording.Arm
	for _, n := range names {
		a = append(a, recording.Arm{Name: n, Args: []string{"cpu", n}})
	}
	return a
}

// whole is a run's time.
func whole(r *recording.Run) (float64, bool) { return float64(r.End.At), r.End.At > 0 }

func TestSequence(t *testing.T) {
	if got := fmt.Sprint(plan.Sequence(plan.OrderABBA, 0, 1, 3), plan.Sequence(plan.OrderABBA, 0, 2, 3), plan.Sequence(plan.OrderABBA, 0, 3, 3)); got != "[0 1 2] [2 1 0] [0 1 2]" {
		t.Errorf("abba: %s", got)
	}
	// Every order of three arms comes about equally often (1000 of 6000; the
	// deviation is below 29), and the same for the same seed.
	count := map[string]int{}
	for block := 1; block <= 6000; block++ {
		s := plan.Sequence(plan.OrderRandom, 7, block, 3)
		count[fmt.Sprint(s)]++
		if !slices.Equal(s, plan.Sequence(plan.OrderRandom, 7, block, 3)) {
			t.Fatal("one seed gives two orders")
		}
	}
	for order, n := range count {
		if len(count) != 6 || n < 850 || n > 1150 {
			t.Errorf("order %s came %d times of 6000, %d orders", order, n, len(count))
		}
	}
	same := 0
	for block := range 100 {
		if slices.Equal(plan.Sequence(plan.OrderRandom, 1, block, 5), plan.Sequence(plan.OrderRandom, 2, block, 5)) {
			same++
		}
	}
	if same > 5 {
		t.Errorf("two seeds give the same order in %d of 100 blocks", same)
	}
}

// TestOrderOfExecution is the whole sequence of what happens outside.
func TestOrderOfExecution(t *testing.T) {
	x := &plantest.Executor{}
	a := arms("a", "b", "c")
	a[1].State, a[1].Cache = recording.StateColdNatural, plan.CacheHalf
	a[2].State = recording.StateWarmCache
	x.Answer = func(c plan.Child) plan.Outcome {
		e := &recording.Evidence{What: recording.EvidenceMetalCache, LibraryHits: 3, PipelineHits: 4}
		if c.Arm.Name == "b" {
			e.LibraryMisses = 1
		}
		return plantest.Good(c, time.Second, e)
	}
	f, err := plan.Run(t.Context(), plan.Options{Plan: recording.Plan{Arms: a, Order: plan.OrderABBA}, Max: 2,
		Cooldown: time.Second, Prepare: "sync", Executor: x})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"fill b", "fill c",
		"pause 1s", "prepare sync", "run a", "pause 1s", "prepare sync", "run b", "pause 1s", "prepare sync", "run c",
		"pause 1s", "prepare sync", "run c", "pause 1s", "prepare sync", "run b", "pause 1s", "prepare sync", "run a", "close"}
	if !slices.Equal(x.Log, want) {
		t.Errorf("did  %q\nwant %q", x.Log, want)
	}
	if len(f.Counted("")) != 6 || f.PlanEnd == nil || f.PlanEnd.Code != 0 {
		t.Errorf("%d runs count, end %+v", len(f.Counted("")), f.PlanEnd)
	}
	for i, r := range f.Runs {
		if r.Start.Run != i+1 || r.Start.Block != i/3+1 || r.Exit.Run != i+1 {
			t.Errorf("run %d has start %+v", i+1, r.Start)
		}
	}
}

func TestFirstRunHasNoCooldown(t *testing.T) {
	x := &plantest.Executor{}
	_, err := plan.Run(t.Context(), plan.Options{Plan: recording.Plan{Arms: arms("a"), Order: plan.OrderABBA}, Max: 2, Cooldown: time.Minute, Executor: x})
	if want := []string{"run a", "pause 1m0s", "run a", "close"}; err != nil || !slices.Equal(x.Log, want) {
		t.Errorf("did %q, want %q, error %v", x.Log, want, err)
	}
}

// TestRunsThatDoNotCount: each is kept with its reason and made again, and the
// plan goes on.
func TestRunsThatDoNotCount(t *testing.T) {
	crash := plan.Outcome{Code: -1, Signal: "SIGSEGV", Reaped: 5, Error: "first\nintrogen: boom"}
	for _, c := range []struct {
		name    string
		out     plan.Outcome // of the second run, of arm b
		code    string
		reasons string
	}{
		{"a crash", crash, recording.RefusedSignal, "was ended by the signal SIGSEGV: boom"},
		{"an error", plan.Outcome{Code: 1, Error: "introgen: no memory"}, recording.RefusedExit, "ended with exit code 1: no memory"},
		{"not started", plan.Outcome{Code: -1, Error: "fork: no memory"}, recording.RefusedStart, "could not be started: fork: no memory"},
		{"no recording", plan.Outcome{}, recording.RefusedRecording, "left a recording that cannot be used: nothing is in it"},
		{"a cut recording", plan.Outcome{Recording: plantest.Lines(&recording.Header{Format: recording.Format, Version: 1})}, recording.RefusedRecording, "left a recording without an end"},
		{"a line that is not whole", plan.Outcome{Recording: append(plantest.Lines(&recording.Header{Format: recording.Format, Version: 1}), `{"k":"en`...)},
			recording.RefusedRecording, "left a recording that cannot be used: it was cut off in line 2"},
		{"another state", plantest.Good(plan.Child{Arm: recording.Arm{Args: []string{"cpu"}}}, time.Second, &recording.Device{}), recording.RefusedEvidence, "was labelled cpu: it was a run"},
	} {
		n := 0
		x := &plantest.Executor{Answer: func(ch plan.Child) plan.Outcome {
			if n++; n == 2 {
				return c.out
			}
			return plantest.Good(ch, time.Second)
		}}
		a := arms("a", "b")
		a[1].State = recording.StateCPU
		f, err := plan.Run(t.Context(), plan.Options{Plan: recording.Plan{Arms: a, Order: plan.OrderABBA}, Max: 2, Executor: x})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got := f.Runs[1].Exit; !strings.HasPrefix(got.Refused, c.reasons) || got.RefusedCode != c.code {
			t.Errorf("%s: refused as %q because it %q, want %q, %q", c.name, got.RefusedCode, got.Refused, c.code, c.reasons)
		}
		if want := []string{"run a", "run b", "run b", "run b", "run a", "close"}; !slices.Equal(x.Log, want) {
			t.Errorf("%s: did %q, want %q", c.name, x.Log, want)
		}
		if len(f.Counted("a")) != 2 || len(f.Counted("b")) != 2 {
			t.Errorf("%s: %d and %d runs count", c.name, len(f.Counted("a")), len(f.Counted("b")))
		}
	}
}

// TestHungRunIsNotRepeated, since each costs the whole timeout; and an arm of
// which nothing ever counts is left out.
func TestHungRunIsNotRepeated(t *testing.T) {
	x := &plantest.Executor{Answer: func(c plan.Child) plan.Outcome {
		if c.Arm.Name == "b" {
			return plan.Outcome{Hung: true, Code: -1, Signal: "SIGKILL", Reaped: int64(c.Timeout)}
		}
		return plantest.Good(c, time.Second)
	}}
	f, err := plan.Run(t.Context(), plan.Options{Plan: recording.Plan{Arms: arms("a", "b"), Order: plan.OrderABBA}, Max: 5, Executor: x, Timeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Join(x.Log, ","), "run a,run b,run b,run a,run a,run b,run a,run a,close"; got != want {
		t.Errorf("did %s, want %s", got, want)
	}
	if got := f.Runs[1].Exit.RefusedCode; got != recording.RefusedHung {
		t.Errorf("refused as %q", got)
	}
	if got, want := f.Runs[1].Exit.Refused, "hung: it had not ended after 1m0s"; got != want {
		t.Errorf("refused because it %q, want %q", got, want)
	}
	if n := f.Parent.Notes; len(n) != 1 || !strings.Contains(n[0].Text, `arm "b" is left out`) {
		t.Errorf("notes %+v", n)
	}
	x.Answer = func(plan.Child) plan.Outcome { return plan.Outcome{Code: 1} }
	if _, err := plan.Run(t.Context(), plan.Options{Plan: recording.Plan{Arms: arms("a", "b")}, Executor: x}); err == nil || !strings.Contains(err.Error(), "no arm has a run that counts") {
		t.Errorf("nothing ever counts: %v", err)
	}
}

// TestNothingCounts: the error says why, once where the reasons are the same.
func TestNothingCounts(t *testing.T) {
	for _, c := range []struct {
		why  map[string]string // by arm
		want string
	}{
		{map[string]string{"a": "model absent: m.gguf", "b": "model absent: m.gguf"},
			`no arm has a run that counts: the last of "a" ended with exit code 1: model absent: m.gguf`},
		{map[string]string{"a": "model absent: m.gguf", "b": "no clang"},
			`no arm has a run that counts: the last of "a" ended with exit code 1: model absent: m.gguf; the last of "b" ended with exit code 1: no clang`},
	} {
		x := &plantest.Executor{Answer: func(child plan.Child) plan.Outcome {
			return plan.Outcome{Code: 1, Error: "introgen: " + c.why[child.Arm.Name]}
		}}
		_, err := plan.Run(t.Context(), plan.Options{Plan: recording.Plan{Arms: arms("a", "b")}, Executor: x})
		if err == nil || err.Error() != c.want {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
}

func TestWrongCommandLineEndsThePlan(t *testing.T) {
	x := &plantest.Executor{Answer: func(plan.Child) plan.Outcome {
		return plan.Outcome{Code: 2, Error: "introgen: introgen cpu has no flag \"--x\""}
	}}
	f, err := plan.Run(t.Context(), plan.Options{Plan: recording.Plan{Arms: arms("a")}, Executor: x})
	var usage *plan.UsageError
	if !errors.As(err, &usage) || usage.Error() != `arm "a": introgen cpu has no flag "--x"` {
		t.Errorf("error %v", err)
	}
	if len(f.Runs) != 1 || len(f.Counted("")) != 0 || f.PlanEnd.Code != 1 {
		t.Errorf("file %+v", f)
	}
}

// TestInterrupt stands for Ctrl-C: the run under way is kept and does not
// count, and those before it do.
func TestInterrupt(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	n := 0
	x := &plantest.Executor{Answer: func(c plan.Child) plan.Outcome {
		if n++; n == 3 {
			cancel()
			return plantest.Good(c, time.Second, &recording.End{At: 5, Code: 130})
		}
		return plantest.Good(c, time.Second)
	}}
	var out bytes.Buffer
	f, err := plan.Run(ctx, plan.Options{Plan: recording.Plan{Arms: arms("a", "b")}, Executor: x, Out: recording.NewWriter(&out),
		Header: recording.Header{Format: recording.Format, Version: 1}})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if len(f.Runs) != 3 || len(f.Counted("")) != 2 || f.Runs[2].Exit.Refused != "was interrupted" || f.Runs[2].Exit.RefusedCode != recording.RefusedInterrupted || f.PlanEnd.Code != 130 {
		t.Errorf("%d runs, %d count, end %+v", len(f.Runs), len(f.Counted("")), f.PlanEnd)
	}
	again, err := recording.Read(&out, "")
	if err != nil || again.Broken != "" || len(again.Runs) != 3 || again.PlanEnd == nil || again.PlanEnd.Code != 130 {
		t.Errorf("recorded: %+v, %v", again, err)
	}
}

// TestRecordingIsWhatIsReturned: what is read from the file and what Run
// returns answer alike, and the children's lines are theirs to the byte.
func TestRecordingIsWhatIsReturned(t *testing.T) {
	var out bytes.Buffer
	var lines [][]byte
	x := &plantest.Executor{
		Answer: func(c plan.Child) plan.Outcome {
			o := plantest.Good(c, time.Second)
			o.Recording = append(bytes.TrimSuffix(o.Recording, []byte("\n")), "\n{\"k\":\"later\",  \"x\": 1}\n"...)
			lines = append(lines, o.Recording)
			return o
		},
		Readings: []recording.Machine{{OtherCores: 0.1, MHz: 2600, Throttled: 1}, {OtherCores: 0.9, MHz: 2600, Throttled: 1}},
	}
	f, err := plan.Run(t.Context(), plan.Options{Plan: recording.Plan{Arms: arms("a", "b"), Seed: 3}, Max: 2, Executor: x, Out: recording.NewWriter(&out),
		Header: recording.Header{Format: recording.Format, Version: 1, Command: "bench", Host: recording.Host{Cores: 2}}})
	if err != nil {
		t.Fatal(err)
	}
	for i, l := range lines {
		if !bytes.Contains(out.Bytes(), l) {
			t.Errorf("the lines of run %d are not in the recording as they were", i+1)
		}
	}
	again, err := recording.Read(&out, "")
	if err != nil || again.Broken != "" || len(again.Warnings) != 1 || !strings.Contains(again.Warnings[0], `the event "later" is not known`) {
		t.Fatalf("%v, %+v", err, again)
	}
	if again.Plan.Seed != 3 || again.Plan.Order != plan.OrderRandom || again.Plan.Blocks != 2 || len(again.Parent.Machine) != len(f.Parent.Machine) {
		t.Errorf("plan %+v, %d readings of %d", again.Plan, len(again.Parent.Machine), len(f.Parent.Machine))
	}
	for i, r := range f.Runs {
		g := again.Runs[i]
		if *r.Start != *g.Start || fmt.Sprint(*r.Exit) != fmt.Sprint(*g.Exit) || len(r.Spans) != len(g.Spans) || len(g.Unknown) != 1 {
			t.Errorf("run %d is %+v, read again %+v", i+1, r, g)
		}
		if want := []string{"load: other processes kept 0.900 of 2 cores busy"}; !slices.Equal(g.Exit.Flags, want) {
			t.Errorf("run %d has flags %q, want %q", i+1, g.Exit.Flags, want)
		}
	}
}

// TestJudgementEndsThePlan: what is wrong with runs that were all made is the
// plan's error, and its recording says so.
func TestJudgementEndsThePlan(t *testing.T) {
	for _, wrong := range []error{nil, errors.New("1 of 2 kinds of run is missing")} {
		var out bytes.Buffer
		judged := 0
		f, err := plan.Run(t.Context(), plan.Options{Plan: recording.Plan{Arms: arms("a", "b")}, Max: 2, Executor: &plantest.Executor{}, Out: recording.NewWriter(&out),
			Header: recording.Header{Format: recording.Format, Version: 1, Command: "bench"},
			Judge: func(f *recording.File) error {
				judged += len(f.Runs)
				return wrong
			}})
		if !errors.Is(err, wrong) || judged != 4 {
			t.Errorf("%v, judged by %d runs", err, judged)
		}
		again, err := recording.Read(&out, "")
		if err != nil {
			t.Fatal(err)
		}
		code, text := 0, ""
		if wrong != nil {
			code, text = 1, wrong.Error()
		}
		if f.PlanEnd.Code != code || f.PlanEnd.Error != text || again.PlanEnd.Code != code || again.PlanEnd.Error != text {
			t.Errorf("%v: the end is %+v, read again %+v", wrong, f.PlanEnd, again.PlanEnd)
		}
	}
}

func TestUntilDecided(t *testing.T) {
	spread := 0.1 // of b's times from block to block, until the tenth block
	blocks := map[string]int{}
	x := &plantest.Executor{Answer: func(c plan.Child) plan.Outcome {
		blocks[c.Arm.Name]++
		took := float64(time.Second)
		if c.Arm.Name == "b" && c.Block < 10 {
			took *= 1.5 + spread*float64(c.Block%3)
		} else if c.Arm.Name == "b" {
			took *= 1.6
		}
		return plantest.Good(c, time.Duration(took))
	}}
	o := plan.Options{Plan: recording.Plan{Arms: arms("a", "b"), Until: 0.02}, Metric: whole, Executor: x}
	f, err := plan.Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	width, known := plan.Width(f, whole)
	if n := len(f.Counted("b")); n <= 10 || n >= plan.MostBlocks || !known || width > 0.02 || len(f.Parent.Notes) > 0 {
		t.Errorf("ended after %d blocks with a width of %v, %v, %+v", n, width, known, f.Parent.Notes)
	}
	// A limit of blocks, or of time, ends it undecided, and says so.
	for limit, o := range map[string]plan.Options{
		"the most blocks, 7, are done":                           {Max: 7},
		"another block would not end within 23s":                 {MaxTime: 23 * time.Second},
		"another block would not end within 500ms":               {MaxTime: 500 * time.Millisecond, Min: 1},
		"another block would not end within 1m0.5s (--max-time)": {MaxTime: 60500 * time.Millisecond, Max: 50, Min: 30},
	} {
		o.Plan, o.Metric, o.Executor = recording.Plan{Arms: arms("a", "b"), Until: 1e-9}, whole, x
		f, err := plan.Run(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		if n := f.Parent.Notes; len(n) != 1 || !strings.Contains(n[0].Text, "not decided: "+limit) {
			t.Errorf("notes %+v, want one with %q", n, limit)
		}
		if o.MaxTime > 3*time.Second && f.PlanEnd.At > int64(o.MaxTime) {
			t.Errorf("ended after %v", time.Duration(f.PlanEnd.At))
		}
	}
}

func TestMaxTimeOfAFixedNumber(t *testing.T) {
	x := &plantest.Executor{Answer: func(c plan.Child) plan.Outcome { return plantest.Good(c, time.Second) }}
	f, err := plan.Run(t.Context(), plan.Options{Plan: recording.Plan{Arms: arms("a", "b")}, Max: 50, MaxTime: 9 * time.Second, Executor: x})
	if err != nil || len(f.Runs) != 8 || len(f.Parent.Notes) != 1 || !strings.HasPrefix(f.Parent.Notes[0].Text, "ended after 4 of 50 blocks") {
		t.Errorf("%d runs, %+v, %v", len(f.Runs), f.Parent.Notes, err)
	}
}

func TestProgress(t *testing.T) {
	x := &plantest.Executor{Answer: func(c plan.Child) plan.Outcome { return plantest.Good(c, time.Second) }}
	var got []string
	_, err := plan.Run(t.Context(), plan.Options{Plan: recording.Plan{Arms: arms("a", "b"), Order: plan.OrderABBA}, Max: 3, Cooldown: time.Second, Executor: x,
		Progress: func(p plan.Progress) {
			got = append(got, fmt.Sprint(p.Doing, " ", p.Arm, " ", p.Run, " ", p.Elapsed, " ", p.Left))
		}})
	if err != nil {
		t.Fatal(err)
	}
	// In the first block the arm that has not run counts as the other one. Then
	// Left is the first block's 3 s for each of the others, the cooldown of
	// which is not yet known then, and exact at the end.
	want := []string{"run a 1 0s -1ns", "cooldown b 1 1s 11s", "run b 2 2s 10s", "cooldown b 2 3s 6s", "run b 3 4s 5s", "cooldown a 3 5s 4s",
		"run a 4 6s 3s", "cooldown a 4 7s 3.5s", "run a 5 8s 2.5s", "cooldown b 5 9s 1.5s", "run b 6 10s 500ms", "end  6 11s 0s"}
	if !slices.Equal(got, want) {
		t.Errorf("told\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// full refuses what is written after so many bytes, as a full disk does.
type full struct{ left int }

func (f *full) Write(p []byte) (int, error) {
	if f.left -= len(p); f.left < 0 {
		return 0, &fs.PathError{Op: "write", Path: "x.introgen", Err: syscall.ENOSPC}
	}
	return len(p), nil
}

func TestFailuresOfThePlanItself(t *testing.T) {
	x := &plantest.Executor{}
	base := plan.Options{Plan: recording.Plan{Arms: arms("a")}, Executor: x}
	o := base
	o.Out = recording.NewWriter(&full{1200})
	f, err := plan.Run(t.Context(), o)
	if err == nil || err.Error() != "recording: write x.introgen: no space left on device" || len(f.Runs) == 0 {
		t.Errorf("a full disk: %d runs, %v", len(f.Runs), err)
	}
	o = base
	o.Prepare, x.PrepareError = "false", errors.New("exit status 1")
	if _, err := plan.Run(t.Context(), o); err == nil || err.Error() != `the command to prepare a run, "false": exit status 1` {
		t.Errorf("a prepare that fails: %v", err)
	}
	for want, change := range map[string]func(*plan.Options){
		"no arm":                   func(o *plan.Options) { o.Plan.Arms = nil },
		`two arms of the plan`:     func(o *plan.Options) { o.Plan.Arms = arms("a", "a") },
		"no name or no command":    func(o *plan.Options) { o.Plan.Arms = []recording.Arm{{Name: "x"}} },
		`order "x" is not known`:   func(o *plan.Options) { o.Plan.Order = "x" },
		`state "hot" is not known`: func(o *plan.Options) { o.Plan.Arms[0].State = "hot" },
		`cache "x" is neither`:     func(o *plan.Options) { o.Plan.Arms[0].Cache = "x" },
		"3 to 2 blocks":            func(o *plan.Options) { o.Min, o.Max = 3, 2 },
		"-1 to -1 blocks":          func(o *plan.Options) { o.Max = -1 },
		"a positive width":         func(o *plan.Options) { o.Plan.Until = 0.1 },
		"times are not negative":   func(o *plan.Options) { o.Cooldown = -1 },
	} {
		o := plan.Options{Plan: recording.Plan{Arms: arms("a")}, Executor: x}
		change(&o)
		if _, err := plan.Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
