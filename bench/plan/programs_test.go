package plan_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/introgen/introgen/bench/plan"
	"github.com/introgen/introgen/bench/plan/plantest"
	"github.com/introgen/introgen/results/programtest"
	"github.com/introgen/introgen/results/recording"
)

// left is what a run of a program leaves.
func left(code int, all ...*programtest.Recording) plan.Outcome {
	return plan.Outcome{Recording: programtest.Bytes(all...), Spawned: 1, Reaped: 2e9, Code: code}
}

func programArms() []recording.Arm {
	var out []recording.Arm
	for _, state := range []string{recording.StateCold, recording.StateColdNatural, recording.StateWarmCache} {
		out = append(out, recording.Arm{Name: state, State: state, Args: []string{"record", "--", "./p", state}})
	}
	return out
}

// TestProgramPlan: runs of programs are believed where their evidence fits, those
// of the children that they start are kept with them.
func TestProgramPlan(t *testing.T) {
	states := map[string]programtest.State{recording.StateCold: programtest.Cold, recording.StateColdNatural: programtest.Natural, recording.StateWarmCache: programtest.Warm}
	x := &plantest.Executor{Answer: func(c plan.Child) plan.Outcome {
		main := programtest.Marked(states[c.Arm.Name])
		_, child := programtest.Child()
		for _, r := range []*programtest.Recording{main, child} {
			r.Events[0].(*recording.Header).PID = 100*c.Run + c.Block // that of the process that records
		}
		return left(0, main, child)
	}}
	var text bytes.Buffer
	f, err := plan.Run(t.Context(), plan.Options{Plan: recording.Plan{Arms: programArms(), Order: plan.OrderABBA}, Max: 2, Executor: x, Out: recording.NewWriter(&text),
		Header: recording.Header{Format: recording.Format, Version: recording.Version, Command: "compare"}})
	if err != nil {
		t.Fatal(err)
	}
	again, err := recording.Read(bytes.NewReader(text.Bytes()), "written")
	if err != nil || len(again.Warnings) > 0 {
		t.Fatal(err, again.Warnings)
	}
	for _, f := range []*recording.File{f, again} {
		if len(f.Runs) != 6 {
			t.Fatalf("%d runs", len(f.Runs))
		}
		for _, r := range f.Runs {
			if !r.Counts() || len(r.Children) != 1 || r.Children[0].Header.Program.Path != "./worker" || r.Exit == nil || r.Start == nil {
				t.Errorf("run %+v: %s, %d children", r.Start, r.Uncounted(), len(r.Children))
			}
		}
	}
	if fills := slices.DeleteFunc(slices.Clone(x.Log), func(s string) bool { return !strings.HasPrefix(s, "fill") }); len(fills) != 1 {
		t.Errorf("caches were filled by %q", fills)
	}
}

// TestProgramEvidence: a label that the evidence of a program contradicts is refused
// with what contradicts it, as that of an engine is.
func TestProgramEvidence(t *testing.T) {
	lost := programtest.Marked(programtest.Warm)
	lost.Events[len(lost.Events)-1].(*recording.End).Lost = 7
	parent, child := programtest.Child()
	quiet := programtest.New(1, 0, "./shell")
	round := quiet.Span(0, "round", "", 1, 0, 900)
	quiet.Span(round, "phase", "start", 1, 0, 900)
	quiet.End(round, 900, 0)
	for _, c := range []struct {
		state string
		left  []*programtest.Recording
		want  string // "" is accepted
	}{
		{recording.StateCold, []*programtest.Recording{programtest.Unmarked(programtest.Cold)}, ""},
		{recording.StateCold, []*programtest.Recording{programtest.Unmarked(programtest.Natural)}, "labelled cold: its sources had no nonce"},
		{recording.StateCold, []*programtest.Recording{programtest.Silent()}, "the program compiled nothing"},
		{recording.StateColdNatural, []*programtest.Recording{programtest.Unmarked(programtest.Warm)}, "labelled cold-natural: everything came from the cache"},
		{recording.StateColdNatural, []*programtest.Recording{parent, child}, ""},
		{recording.StateWarmCache, []*programtest.Recording{programtest.Unmarked(programtest.Natural)}, "labelled warm-cache: 1 of 1 libraries and 1 of 1 pipelines were compiled"},
		{recording.StateWarmCache, []*programtest.Recording{programtest.Silent()}, ""},                                            // it needs none
		{recording.StateWarmCache, []*programtest.Recording{programtest.Steps(1, 1, false)}, ""},                                  // neither does it
		{recording.StateWarmCache, []*programtest.Recording{quiet, child}, "1 of 1 libraries and 0 of 0 pipelines were compiled"}, // in a process that it starts
		{recording.StateWarmCache, []*programtest.Recording{lost}, "its recorder lost 7 events"},
	} {
		f := programtest.File(c.left...)
		r := f.Runs[0]
		r.Children = f.Runs[1:]
		err := plan.Check(c.state, recording.Arm{State: c.state, Cache: plan.CacheEmpty}, r)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.state, err, c.want)
		}
	}
}

// TestProgramCode: a program that ends with 2 is refused as one that failed; it is
// no command line that is wrong.
func TestProgramCode(t *testing.T) {
	x := &plantest.Executor{Answer: func(plan.Child) plan.Outcome {
		r := programtest.Marked(programtest.Cold)
		r.Events[len(r.Events)-1].(*recording.End).Code = 2
		return left(2, r)
	}}
	f, err := plan.Run(t.Context(), plan.Options{Plan: recording.Plan{Arms: programArms()[:1], Order: plan.OrderABBA}, Max: 1, Executor: x})
	if err != nil || len(f.Runs) != 3 || f.Runs[0].Exit.RefusedCode != recording.RefusedExit {
		t.Errorf("%d runs, %v", len(f.Runs), err)
	}
}

// TestWhyProgramsFail: what a program says last is why it failed, and not what introgen
// notes behind it; a signal that ended it is told by its name.
func TestWhyProgramsFail(t *testing.T) {
	for _, c := range []struct {
		code               int
		signal, said, want string
	}{
		{7, "", "loading\nmodel not found\n\nintrogen: note: --nonce: the program never used Metal, so that the run does not count as cold", "ended with exit code 7: model not found"},
		{7, "", "introgen: note: --nonce: the program never used Metal", "ended with exit code 7"},
		{1, "", "device 3ms\nError: No such file or directory (os error 2)\n\nStack backtrace:\n   0: anyhow::error::from\n             at ./lib.rs:5:9\n   8: _start\nintrogen: note: n", "ended with exit code 1: Error: No such file or directory (os error 2)"},
		{101, "", "thread 'main' panicked at src/main.rs:3:5:\nno model\nnote: run with `RUST_BACKTRACE=1` environment variable to display a backtrace", "ended with exit code 101: no model"},
		{1, "", "   8: _start", "ended with exit code 1: 8: _start"},
		{7, "", "introgen: no recorder", "ended with exit code 7: no recorder"},
		{139, "SIGSEGV", "loading", "was ended by the signal SIGSEGV: loading"},
	} {
		x := &plantest.Executor{Answer: func(plan.Child) plan.Outcome {
			r := programtest.Marked(programtest.Cold)
			end := r.Events[len(r.Events)-1].(*recording.End)
			if end.Code, end.Signal = c.code, c.signal; c.signal != "" {
				end.Code = -1
			}
			out := left(c.code, r)
			out.Error = c.said
			return out
		}}
		f, err := plan.Run(t.Context(), plan.Options{Plan: recording.Plan{Arms: programArms()[:1], Order: plan.OrderABBA}, Max: 1, Executor: x})
		if err != nil || len(f.Runs) == 0 || f.Runs[0].Exit.Refused != c.want {
			t.Errorf("%q: %+v, %v, want %q", c.said, f.Runs[0].Exit, err, c.want)
		}
	}
}
