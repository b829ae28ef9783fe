package remedy_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/introgen/introgen/results/answers/remedy"
	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/programtest"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/start"
	"github.com/introgen/introgen/results/table"
	"github.com/introgen/introgen/results/table/tabletest"
	"github.com/introgen/introgen/trace/names"
)

// TestPrinted holds what is printed of recordings, in a terminal's width.
func TestPrinted(t *testing.T) {
	parent, child := programtest.Child()
	for name, f := range map[string]*recording.File{
		"experiment": experiment(t), "marked": programtest.File(programtest.Marked(programtest.Cold)), "threads": programtest.File(programtest.Threads()),
		"silent": programtest.File(programtest.Silent()), "child": programtest.File(parent, child), "engine": programtest.File(programtest.Engine(programtest.Cold)),
		"steps": programtest.File(programtest.Steps(30, 10, false)),
	} {
		out := printed(t, f, remedy.Options{}, table.Plain)
		tabletest.Golden(t, name+".txt", out)
		tabletest.Fits(t, out)
		if strings.Contains(out, "%!") {
			t.Errorf("%s: %s", name, out)
		}
		for _, style := range []table.Style{table.Markdown, table.CSV, table.Rounded} {
			printed(t, f, remedy.Options{Threads: 3}, style)
		}
	}
	tabletest.Golden(t, "experiment.csv", printed(t, experiment(t), remedy.Options{Threads: 8}, table.CSV))
	tabletest.Golden(t, "experiment.md", printed(t, experiment(t), remedy.Options{Threads: 8}, table.Markdown))
}

func of(t *testing.T, f *recording.File, o remedy.Options) *remedy.Arm {
	t.Helper()
	a, err := remedy.Of(f, o)
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Arms) != 1 {
		t.Fatalf("%d arms, want 1", len(a.Arms))
	}
	return a.Arms[0]
}

func saving(t *testing.T, a *remedy.Arm, key string, goal int) remedy.Saving {
	t.Helper()
	i := slices.IndexFunc(a.Remedies, func(r remedy.Remedy) bool { return r.Key == key })
	if i < 0 {
		t.Fatalf("there is no %s", key)
	}
	return a.Remedies[i].Savings[goal]
}

// TestProgram: of Marked, whose times are told with it. Compiles are Gemm 300 + 20 in
// the build, Reduce 300 + 20 in the prefill, Sdpa 110 + 10 in the step; Metal is first
// called at 110, 10 ms after the file is opened.
func TestProgram(t *testing.T) {
	a := of(t, programtest.File(programtest.Marked(programtest.Cold)), remedy.Options{Threads: 8})
	ms := func(f float64) time.Duration { return programtest.At(f) }
	if a.Goals[0].Time != ms(730) || a.Goals[1].Time != ms(900) || a.Compiling != ms(760) {
		t.Errorf("%+v, compiling %v", a.Goals, a.Compiling)
	}
	// At best Reduce is there with Gemm: token 1 comes after 10 + 320 + 20 + 60, all of
	// Reduce's 320 sooner, and token 2 with Sdpa there 120 more.
	if s := saving(t, a, remedy.Early, 0); s.Hi != ms(320) {
		t.Errorf("early saves up to %v of token 1, want 320 ms", s.Hi)
	}
	if s := saving(t, a, remedy.Early, 1); s.Hi != ms(440) {
		t.Errorf("early saves up to %v of token 2, want 440 ms", s.Hi)
	}
	if s := saving(t, a, remedy.Behind, 1); s != (remedy.Saving{Saves: ms(120), Lo: ms(120), Hi: ms(120)}) {
		t.Errorf("behind saves %+v of token 2, want 120 ms", s)
	}
	// One phase has one chain.
	if !slices.Contains(a.Slight, remedy.Concurrent) {
		t.Errorf("slight are %q", a.Slight)
	}
	// Of 320 + 320 are left 2 × (2.5 + 0.2).
	if s := saving(t, a, remedy.WarmUp, 0); s.Saves != ms(640-5.4) {
		t.Errorf("warm-up saves %v of token 1, want 634.6 ms", s.Saves)
	}
}

// plan is a plan of cold and warm runs of a program.
func plan() *recording.File {
	arms := []recording.Arm{{Name: "cold", State: recording.StateCold}, {Name: "warm", State: recording.StateWarmCache}}
	return programtest.Plan("compare", nil, 6, arms, func(arm, _ int) *programtest.Recording {
		return programtest.Marked([]programtest.State{programtest.Cold, programtest.Warm}[arm])
	})
}

// TestWarm: where warm runs are recorded, what a cache gives is taken from them.
func TestWarm(t *testing.T) {
	a := of(t, plan(), remedy.Options{})
	if a.Name != "cold" || a.Runs != 6 {
		t.Fatalf("%s, %d runs", a.Name, a.Runs)
	}
	i := slices.IndexFunc(a.Remedies, func(r remedy.Remedy) bool { return r.Key == remedy.WarmUp })
	r := a.Remedies[i]
	// Warm it took 154 instead of 730, and 216 instead of 900.
	for g, want := range []float64{730 - 154, 900 - 216} {
		if s := r.Savings[g]; s.Saves != programtest.At(want) || s.Lo != s.Saves || s.Hi != s.Saves {
			t.Errorf("%s: %+v, want %v ms", a.Goals[g].Name, s, want)
		}
	}
	if r.Sure != remedy.Measured {
		t.Errorf("it is %s", r.Sure)
	}
}

// TestMonotone: in the model of what was recorded more threads are never later, and
// what begins earlier never saves less.
func TestMonotone(t *testing.T) {
	for name, f := range map[string]*recording.File{"experiment": experiment(t), "engine": programtest.File(programtest.Engine(programtest.Cold))} {
		taken := breakdown.Of(f)
		s, err := start.Of(taken.Run(f.Runs[0]))
		if err != nil {
			t.Fatal(err)
		}
		last := s.Replay(start.Rules{When: start.Serial}).Goals
		for _, when := range []start.When{start.Concurrent, start.Early} {
			for threads := 1; threads <= 12; threads++ {
				got := s.Replay(start.Rules{When: when, Threads: threads}).Goals
				for g := range got {
					if got[g] > last[g] && (threads > 1 || when == start.Concurrent) {
						t.Errorf("%s: %v on %d threads: %v, before %v", name, when, threads, got, last)
					}
				}
				last = got
			}
		}
	}
}

// TestCombined: one more remedy never makes the best combination worse, and of two that
// exclude each other one is in it.
func TestCombined(t *testing.T) {
	a := of(t, experiment(t), remedy.Options{Threads: 8})
	for _, c := range []*remedy.Combination{a.Without, a.With} {
		for i, s := range c.Steps {
			if s.Saves < 0 {
				t.Errorf("%v: step %d saves %v", c.Keys, i, s.Saves)
			}
		}
		if len(remedy.Arguments(c.Keys...)) == 0 {
			t.Errorf("%v: introgen's engine ran, and cannot do that", c.Keys)
		}
	}
	if got := strings.Join(a.Without.Command, " "); got != "metal 1 --compile early,trim" {
		t.Errorf("the best is measured by %q", got)
	}
	if slices.ContainsFunc(a.Without.Keys, remedy.Installs) {
		t.Errorf("%v is work at install time", a.Without.Keys)
	}
}

// TestPredict: what other arms are held against is what the answer has, of the arm's own
// runs; the warm runs beside them do not change it.
func TestPredict(t *testing.T) {
	f := plan()
	a := of(t, f, remedy.Options{Threads: 8})
	goals, s, err := remedy.Predict(f, "cold", []string{remedy.Early}, remedy.Options{Threads: 8})
	if err != nil || s[1] != saving(t, a, remedy.Early, 1) || goals[1].Time != programtest.At(900) {
		t.Errorf("early: %+v of %+v, %v", s, goals, err)
	}
	if _, s, err := remedy.Predict(f, "cold", []string{remedy.WarmUp}, remedy.Options{}); err != nil || s[0].Saves != programtest.At(640-5.4) {
		t.Errorf("warm-up: %+v, %v", s, err)
	}
	if _, s, err := remedy.Predict(f, "cold", nil, remedy.Options{}); err != nil || s[0] != (remedy.Saving{}) {
		t.Errorf("nothing saves %+v, %v", s, err)
	}
	if _, _, err := remedy.Predict(f, "no such arm", nil, remedy.Options{}); err == nil {
		t.Error("an arm that is not there")
	}
}

func TestArguments(t *testing.T) {
	for keys, want := range map[string]string{
		"early": "--compile early", "trim": "--compile trim", "trim early": "--compile early,trim", "archive map": "--archive FILE --weights map",
		"concurrent trim tokenizer": "--compile concurrent,trim --tokenizer go", "split": "", "early split": "",
	} {
		if got := strings.Join(remedy.Arguments(strings.Fields(keys)...), " "); got != want {
			t.Errorf("%s: %q, want %q", keys, got, want)
		}
	}
}

// TestConstants: pipelines that differ in function constants alone are counted.
func TestConstants(t *testing.T) {
	f := programtest.File(programtest.Loading(4))
	for i := range f.Runs[0].Pipelines {
		p := &f.Runs[0].Pipelines[i]
		p.Function, p.Constants = "op0", string(rune('a'+i))
	}
	if out := strings.Join(strings.Fields(printed(t, f, remedy.Options{}, table.Plain)), " "); !strings.Contains(out, "4 pipelines of 1 kernel differ in function constants alone") {
		t.Errorf("it says\n%s", out)
	}
}

// TestWaste: Loading makes 6 pipelines of 20 ms each and dispatches one; and where all
// of them are the same, one is enough.
func TestWaste(t *testing.T) {
	five := remedy.Saving{Saves: programtest.At(100), Lo: programtest.At(100), Hi: programtest.At(100)}
	f := programtest.File(programtest.Loading(6))
	if s := saving(t, of(t, f, remedy.Options{}), remedy.Unused, 0); s != five {
		t.Errorf("unused saves %+v, want 100 ms", s)
	}
	for i := range f.Runs[0].Pipelines {
		f.Runs[0].Pipelines[i].Function = "op0"
	}
	if s := saving(t, of(t, f, remedy.Options{}), remedy.Once, 0); s != five {
		t.Errorf("once saves %+v, want 100 ms", s)
	}
}

// TestNothing: recordings without a start are an error that says why.
func TestNothing(t *testing.T) {
	f, err := recording.Open(filepath.Join("..", "..", "recorded", "experiment-sweep.introgen"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := remedy.Of(f, remedy.Options{}); err == nil || !strings.HasPrefix(err.Error(), "there is no start to find remedies for: ") {
		t.Errorf("without a first round: %v", err)
	}
	if _, err := remedy.Of(&recording.File{}, remedy.Options{}); err == nil {
		t.Error("nothing has a start")
	}
	if _, err := remedy.Of(f, remedy.Options{Threads: -1}); err == nil {
		t.Error("-1 threads are allowed")
	}
	cut := programtest.Engine(programtest.Cold)
	cut.Events = slices.DeleteFunc(cut.Events, func(e recording.Event) bool {
		s, ok := e.(*recording.Span)
		return ok && s.Name == names.SpanPrefill
	})
	if a, err := remedy.Of(programtest.File(cut), remedy.Options{}); err == nil && len(a.Arms[0].Goals) > 1 {
		t.Errorf("without a prefill: %+v", a.Arms[0].Goals)
	}
}

// FuzzRecording: whatever file is read as a recording, there is an answer or an error,
// and an answer is within its bounds.
func FuzzRecording(f *testing.F) {
	b, err := os.ReadFile(filepath.Join("..", "..", "recorded", "experiment-states.introgen"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b[:20_000])
	for _, r := range []*programtest.Recording{programtest.Marked(programtest.Cold), programtest.Threads(), programtest.Across(), programtest.Engine(programtest.Cold)} {
		f.Add(programtest.Bytes(r))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		file, err := recording.Read(bytes.NewReader(b), "x")
		if err != nil {
			return
		}
		a, err := remedy.Of(file, remedy.Options{Threads: 3})
		if err != nil {
			return
		}
		for _, x := range a.Arms {
			for _, r := range x.Remedies {
				for _, s := range r.Savings {
					if s.Lo > s.Saves || s.Saves > s.Hi {
						t.Errorf("%s saves %+v", r.Key, s)
					}
				}
			}
		}
		if err := a.Document().Write(&bytes.Buffer{}, table.Plain); err != nil {
			t.Error(err)
		}
	})
}
