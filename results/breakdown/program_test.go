package breakdown_test

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/programtest"
	"github.com/introgen/introgen/results/recording"
)

// The figures of these tests were added up by hand from the times in programtest.

// TestProgramsAreSound: nothing that a program's recording may have is told as a
// damage.
func TestProgramsAreSound(t *testing.T) {
	parent, child := programtest.Child()
	for name, all := range map[string][]*programtest.Recording{
		"marked": {programtest.Marked(programtest.Cold)}, "unmarked": {programtest.Unmarked(programtest.Warm)},
		"threads": {programtest.Threads()}, "child": {parent, child}, "silent": {programtest.Silent()}, "across": {programtest.Across()},
	} {
		f := programtest.File(all...)
		if len(f.Warnings) > 0 || f.Broken != "" || len(f.Runs) != len(all) {
			t.Errorf("%s: %d runs, broken %q, warnings %q", name, len(f.Runs), f.Broken, f.Warnings)
		}
		for _, r := range f.Runs {
			if _, err := breakdown.Take(r).Account(); err != nil || !r.Counts() {
				t.Errorf("%s: counts %v, account %v", name, r.Counts(), err)
			}
		}
	}
}

func first(t *testing.T, r *programtest.Recording) (*breakdown.Run, breakdown.Round) {
	t.Helper()
	run := breakdown.Take(programtest.File(r).Runs[0])
	if len(run.Rounds) != 1 {
		t.Fatalf("%d rounds", len(run.Rounds))
	}
	return run, run.Rounds[0]
}

func TestMarkedProgram(t *testing.T) {
	_, r := first(t, programtest.Marked(programtest.Cold))
	for n, want := range map[int]float64{1: 730, 2: 900, 3: 950} {
		if got, ok := r.Token(n); !ok || got != programtest.At(want) {
			t.Errorf("token %d after %v, %v, want %v ms", n, got, ok, want)
		}
	}
	if got, ok := r.FromStart(1); !ok || got != programtest.At(830) {
		t.Errorf("token 1 from the start after %v, %v", got, ok)
	}
	if r.FirstMetal != programtest.At(110) || r.FirstOutput != programtest.At(830) {
		t.Errorf("first Metal call at %v, first output at %v", r.FirstMetal, r.FirstOutput)
	}
	p := r.Steps()[0]
	if p.Compiling() != programtest.At(120) || p.Encode != programtest.At(10) || p.Commit != programtest.At(2) || p.Wait != programtest.At(28) ||
		p.GPU != programtest.At(20) || p.Overlap != 0 || p.Dispatches != 8 || p.Barriers != 4 || p.CommandBuffers != 1 || p.Waits != 1 || p.Rest() != programtest.At(10) {
		t.Errorf("step 1 is %+v", p)
	}
	if len(r.Later()) != 2 || r.Wall() != programtest.At(1120) {
		t.Errorf("%d later steps, wall %v", len(r.Later()), r.Wall())
	}
}

func TestUnmarkedProgram(t *testing.T) {
	_, r := first(t, programtest.Unmarked(programtest.Cold))
	var titles []string
	for _, p := range r.Phases {
		titles = append(titles, p.Title())
	}
	if want := []string{"start", "to first output", "step 1", "step 2", "step 3", "after"}; !slices.Equal(titles, want) {
		t.Errorf("phases %q, want %q", titles, want)
	}
	if r.FirstMetal != programtest.At(100) || r.FirstOutput != programtest.At(580) || len(r.Repeats()) != 3 || len(r.Steps()) != 0 {
		t.Errorf("first Metal call at %v, first output at %v, %d steps, %d decode steps", r.FirstMetal, r.FirstOutput, len(r.Repeats()), len(r.Steps()))
	}
	if _, ok := r.Token(1); ok {
		t.Error("there is a token, which nobody knows of")
	}
	_, r = first(t, programtest.Silent())
	if r.FirstMetal != figures.Missing || r.FirstOutput != programtest.At(20) {
		t.Errorf("without Metal: first call at %v, first output at %v", r.FirstMetal, r.FirstOutput)
	}
}

// TestThreads: each moment counts once, and what goes on in the next phase counts
// there.
func TestThreads(t *testing.T) {
	run, r := first(t, programtest.Threads())
	until, after := r.Phases[1], r.Phases[2]
	var walls []time.Duration
	for _, c := range until.Compiles {
		walls = append(walls, c.Wall())
	}
	if want := []time.Duration{programtest.At(100), programtest.At(150), programtest.At(150)}; !slices.Equal(walls, want) {
		t.Errorf("libraries take %v of the wall clock, want %v", walls, want)
	}
	if until.Compiling() != programtest.At(400) || until.Wait != 0 || until.Rest() != 0 {
		t.Errorf("to first output: %+v", until)
	}
	if len(after.Carried) != 1 || after.Carried[0].Library != "C" || after.Carried[0].Wall() != programtest.At(50) || after.Carried[0].Time != programtest.At(250) {
		t.Errorf("carried on: %+v", after.Carried)
	}
	if after.Encode != programtest.At(10) || after.Commit != programtest.At(2) || after.Wait != programtest.At(28) || after.Rest() != programtest.At(60) {
		t.Errorf("after: %+v", after)
	}
	a, err := run.Account()
	if err != nil {
		t.Fatal(err)
	}
	sum := a.Unattributed
	for _, l := range a.Lines {
		sum += l.Time
	}
	if sum != programtest.At(600) || a.Wall != programtest.At(600) || a.Unattributed != 0 {
		t.Errorf("lines add up to %v of %v, unattributed %v", sum, a.Wall, a.Unattributed)
	}
}

// TestThreadsAsTheyCome: events that are told while spans are open come to the
// same.
func TestThreadsAsTheyCome(t *testing.T) {
	_, want := first(t, programtest.Threads())
	b := breakdown.NewBuilder()
	var open []recording.Event
	for e, err := range recording.Events(bytes.NewReader(programtest.Bytes(programtest.Threads()))) {
		if err != nil {
			t.Fatal(err)
		}
		if s, ok := e.(*recording.Span); ok {
			early := *s
			early.End = -1
			b.Event(&early)
			b.Rounds() // what is asked meanwhile changes nothing
			open = append(open, s)
			continue
		}
		b.Event(e)
	}
	for _, e := range open {
		b.Event(e)
	}
	got := b.Rounds()[0]
	for i, p := range want.Phases {
		g := got.Phases[i]
		if g.Compiling() != p.Compiling() || g.Encode != p.Encode || g.Wait != p.Wait || g.Rest() != p.Rest() {
			t.Errorf("%s: %+v, want %+v", p.Title(), g, p)
		}
	}
}

// TestNestedThreads: on one track the innermost counts, also where spans do not
// nest, and of several tracks a library before all else.
func TestNestedThreads(t *testing.T) {
	r := programtest.New(1, 0, "./p")
	r.Device("")
	round := r.Span(0, "round", "", 1, 0, 100)
	p := r.Span(round, "phase", "start", 1, 0, 100)
	r.Track(0, p, "encode", "compute", 0, 0, 50)
	r.Track(0, p, "encode", "compute", 0, 10, 60) // reaches beyond the one that it began in
	r.Track(0, p, "wait", "completed", 0, 20, 30) // while an encoder is open
	r.Library(1, p, "L", "miss", 25, 28)
	r.Track(2, p, "wait", "completed", 0, 55, 70)
	r.End(round, 100, 0)
	_, got := first(t, r)
	ph := got.Phases[0]
	if ph.Encode != programtest.At(50) || ph.Wait != programtest.At(17) || ph.Compiling() != programtest.At(3) || ph.Rest() != programtest.At(30) {
		t.Errorf("encode %v, wait %v, compile %v, rest %v", ph.Encode, ph.Wait, ph.Compiling(), ph.Rest())
	}
}

// TestOverlapOnOneTrack: phases that overlap are a damage, whatever the tracks do.
func TestOverlapOnOneTrack(t *testing.T) {
	r := programtest.New(1, 0, "./p")
	round := r.Span(0, "round", "", 1, 0, 100)
	r.Span(round, "phase", "start", 1, 0, 60)
	r.Span(round, "phase", "after", 2, 50, 100)
	r.End(round, 100, 0)
	if f := programtest.File(r); len(f.Warnings) == 0 || len(f.Runs[0].Overlaps) != 2 {
		t.Errorf("warnings %q, overlaps %v", f.Warnings, f.Runs[0].Overlaps)
	}
}

// TestManyTracks: a program that compiles ten thousand pipelines at once is taken
// apart in a moment.
func TestManyTracks(t *testing.T) {
	r := programtest.New(1, 0, "./p")
	round := r.Span(0, "round", "", 1, 0, 30_000)
	p := r.Span(round, "phase", "start", 1, 0, 30_000)
	for i := range 10_000 {
		r.Library(1000+int32(i), p, "L", "miss", float64(i), 20_000+float64(i)/2)
	}
	r.End(round, 30_000, 0)
	_, got := first(t, r)
	if c := got.Phases[0].Compiling(); c != programtest.At(24_999.5) {
		t.Errorf("compiling takes %v", c)
	}
}

// TestGenerations: a program that marks two generations has a round of each, and
// the second, which compiles nothing, begins with its own prefill.
func TestGenerations(t *testing.T) {
	r := programtest.New(1, 0, "./p")
	r.Device("")
	round := r.Span(0, "round", "", 1, 0, 400)
	r.Span(round, "phase", "start", 1, 0, 50)
	prefill := r.Span(round, "prefill", "", 0, 50, 200)
	r.Library(0, prefill, "L", "miss", 60, 160)
	r.Span(round, "decode step", "", 1, 200, 230)
	r.Output(230, 1)
	r.Span(round, "encode prompt", "", 0, 230, 240)
	r.Span(round, "prefill", "", 0, 240, 290)
	r.Span(round, "decode step", "", 2, 290, 310)
	r.Span(round, "decode step", "", 3, 310, 330)
	r.Span(round, "close", "", 0, 330, 400)
	r.End(round, 400, 0)
	f := programtest.File(r)
	run := breakdown.Take(f.Runs[0])
	if len(run.Rounds) != 2 || len(f.Warnings) > 0 || run.Life() != programtest.At(400) {
		t.Fatalf("%d rounds, warnings %q, life %v", len(run.Rounds), f.Warnings, run.Life())
	}
	one, two := run.Rounds[0], run.Rounds[1]
	if g, ok := one.Goal(); !ok || g.Name != breakdown.GoalToken2 || g.Time != programtest.At(230) {
		t.Errorf("the first reached %+v, %v", g, ok)
	}
	if g, ok := two.Goal(); !ok || g.Time != programtest.At(80) || two.Number != 2 || len(two.Steps()) != 2 || two.Steps()[0].N != 1 {
		t.Errorf("the second reached %+v, %v with steps %+v", g, ok, two.Steps())
	}
	a, err := run.Account()
	if err != nil {
		t.Fatal(err)
	}
	sum := a.Unattributed
	for _, l := range a.Lines {
		sum += l.Time
	}
	if sum != programtest.At(400) {
		t.Errorf("lines add up to %v", sum)
	}
}

// TestAcross: what is under way when a phase ends lies in the round. It is no phase of
// its own, and each phase has of it what the wall clock had there.
func TestAcross(t *testing.T) {
	run, r := first(t, programtest.Across())
	type phase struct {
		name                       string
		compiling, wait, rest      float64
		libraries, carried, waited int
	}
	want := []phase{{"start", 0, 0, 50, 0, 0, 0}, {"to first output", 150, 0, 40, 1, 0, 1}, {"after", 20, 30, 100, 0, 1, 0}}
	if len(r.Phases) != len(want) {
		t.Fatalf("%d phases", len(r.Phases))
	}
	for i, w := range want {
		p := r.Phases[i]
		if p.Title() != w.name || p.Compiling() != programtest.At(w.compiling) || p.Wait != programtest.At(w.wait) || p.Rest() != programtest.At(w.rest) ||
			len(p.Compiles) != w.libraries || len(p.Carried) != w.carried || p.Waits != int64(w.waited) {
			t.Errorf("%s compiles for %v, waits %v, rests %v with %d libraries, %d carried and %d waits; want %+v",
				p.Title(), p.Compiling(), p.Wait, p.Rest(), len(p.Compiles), len(p.Carried), p.Waits, w)
		}
	}
	a, err := run.Account()
	if err != nil {
		t.Fatal(err)
	}
	sum := a.Unattributed
	for _, l := range a.Lines {
		sum += l.Time
	}
	if sum != programtest.At(400) || len(run.Metal().Libraries) != 1 {
		t.Errorf("lines add up to %v, libraries %d", sum, len(run.Metal().Libraries))
	}
}

// TestGoals: without tokens a program is waited for until its first output, and
// where that tells nothing until its end.
func TestGoals(t *testing.T) {
	_, child := programtest.Child()
	for _, c := range []struct {
		of   *programtest.Recording
		name string
		ms   float64
	}{
		{programtest.Marked(programtest.Warm), breakdown.GoalToken2, 216}, {programtest.Unmarked(programtest.Warm), breakdown.GoalStep, 252}, {programtest.Threads(), breakdown.GoalOutput, 450},
		{child, breakdown.GoalEnd, 500}, {programtest.Silent(), breakdown.GoalEnd, 30},
	} {
		_, r := first(t, c.of)
		if g, ok := r.Goal(); !ok || g.Name != c.name || g.Time != programtest.At(c.ms) {
			t.Errorf("goal %+v, %v, want %s after %v ms", g, ok, c.name, c.ms)
		}
	}
}
