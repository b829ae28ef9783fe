package breakdown_test

import (
	"errors"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/trace"
	"github.com/introgen/introgen/trace/names"
)

func at(ms float64) time.Duration { return time.Duration(math.Round(ms * 1e6)) }

func experiment(t *testing.T, arm string) *recording.Run {
	t.Helper()
	f, err := recording.Open(filepath.Join("..", "recorded", "experiment-states.introgen"))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range f.Runs {
		if r.Start.Arm == arm {
			return r
		}
	}
	t.Fatalf("no arm %s", arm)
	return nil
}

// The figures are those that the experiment printed.
func TestRoundsOfTheExperiment(t *testing.T) {
	rounds := breakdown.Rounds(experiment(t, "cold"))
	if len(rounds) != 2 || rounds[0].Number != 1 || rounds[1].Number != 2 {
		t.Fatalf("rounds are %+v", rounds)
	}
	r := rounds[0]
	for _, c := range []struct {
		phase     string
		ms        float64
		libraries string
		libs      float64
		pipes     int
	}{
		{names.SpanRead, 129.0, "", 0, 0},
		{names.SpanBuild, 4111.2, "Cast Gemm Unary", 77.5 + 3828.6 + 114.2, 4},
		{names.SpanPrefill, 5869.4, "Indexing Reduce Quantized Affine Ternary Binary", 70.5 + 4333.7 + 789.1 + 26.1 + 44.0 + 566.6, 16},
		{names.SpanStep, 2144.1, "Sdpa", 2130.6, 1},
	} {
		p, ok := r.Phase(c.phase)
		if !ok || p.Time() != at(c.ms) {
			t.Errorf("%s takes %v, want %v ms", c.phase, p.Time(), c.ms)
		}
		var names []string
		var libs time.Duration
		pipes := 0
		for _, x := range p.Compiles {
			if x.IsLibrary() {
				names = append(names, x.Library)
				libs += x.Time
			} else {
				pipes++
			}
		}
		if got := strings.Join(names, " "); got != c.libraries || libs != at(c.libs) || pipes != c.pipes {
			t.Errorf("%s compiles %s in %v and makes %d pipelines; want %s in %v ms, %d", c.phase, got, libs, pipes, c.libraries, c.libs, c.pipes)
		}
	}
	if steps := r.Steps(); len(steps) != 20 || steps[1].Time() != at(5.9) || steps[19].N != 20 {
		t.Errorf("%d steps", len(steps))
	}
	for n, want := range map[int]float64{1: 129.0 + 4111.2 + 5869.4, 2: 129.0 + 4111.2 + 5869.4 + 2144.1, 3: 129.0 + 4111.2 + 5869.4 + 2144.1 + 5.9} {
		if got, ok := r.Token(n); !ok || got != at(want) {
			t.Errorf("token %d is there after %v, %v; want %v ms", n, got, ok, want)
		}
	}
	for _, n := range []int{0, -1, 22} {
		if _, ok := r.Token(n); ok {
			t.Errorf("there is no token %d", n)
		}
	}
	for _, p := range rounds[1].Phases {
		if len(p.Compiles) > 0 {
			t.Errorf("round 2 compiles %v", p.Compiles)
		}
	}
}

// A phase on a device, with everything that can be in one.
func device() *recording.Run {
	var run recording.Run
	add := func(parent trace.ID, name, detail string, n int64, from, to float64) trace.ID {
		id := trace.ID(len(run.Spans) + 1)
		run.Spans = append(run.Spans, trace.Record{ID: id, Parent: parent, Name: name, Detail: detail, N: n, Start: at(from), End: at(to)})
		return id
	}
	count := func(span trace.ID, name string, v int64) {
		run.Samples = append(run.Samples, trace.Sample{Span: span, Name: name, Value: v})
	}
	add(0, names.SpanTokenizer, "go", 0, 1, 11)
	round := add(0, names.SpanRound, "", 1, 20, 120)
	step := add(round, names.SpanStep, "", 1, 30, 100)
	encode := add(step, "encode", "compute", 600, 30, 60)
	lib := add(encode, "LIB", "Sdpa", 9000, 32, 42)
	pipe := add(encode, "PIPE", "Sdpa sdpa_vector", 1, 42, 47)
	add(encode, "recording", "", 0, 47, 48)
	add(encode, "weights", "norm", 4, 48, 49)
	add(step, "commit", "", 600, 60, 62)
	add(step, "encode", "blit", 0, 62, 63)
	add(step, "commit", "", 0, 63, 64)
	add(step, "wait", "", 0, 64, 95)
	add(step, "gpu", "", 300, 50, 70) // beside encoding until 60, commit 62 … 64: 14 ms of 20
	add(step, "gpu", "", 300, 70, 90) // all of it in the wait
	add(round, "gpu", "", 1, 96, 99)  // told between two phases: no phase of its own
	add(round, names.SpanClose, "", 0, 101, 103)
	for range 2 {
		count(step, "metal command buffers", 1)
		count(step, "metal encoders", 1)
		count(step, "metal dispatches", 300)
	}
	count(encode, "metal buffer bytes", 4)
	run.Libraries = []recording.Library{{Span: lib, Name: "Sdpa", Cache: "hit"}}
	run.Pipelines = []recording.Pipeline{{Span: pipe, Library: "Sdpa", Function: "sdpa_vector", Constants: "20:bool=1", Cache: "miss"}}
	run.End = &recording.End{At: int64(at(130))}
	return &run
}

func TestPhaseOnADevice(t *testing.T) {
	p, ok := breakdown.Rounds(device())[0].Phase(names.SpanStep)
	if !ok {
		t.Fatal("no step")
	}
	for _, c := range []struct {
		what string
		got  time.Duration
		ms   float64
	}{
		{"compiling", p.Compiling(), 15}, {"recording", p.Recording, 1}, {"weights", p.Weights, 1}, {"encode", p.Encode, 30 - 17 + 1}, {"commit", p.Commit, 3},
		{"wait", p.Wait, 31}, {"gpu", p.GPU, 40}, {"overlap", p.Overlap, 14}, {"own", p.Own(), 70 - 16},
	} {
		if c.got != at(c.ms) {
			t.Errorf("%s is %v, want %v ms", c.what, c.got, c.ms)
		}
	}
	if p.CommandBuffers != 2 || p.Encoders != 2 || p.Dispatches != 600 {
		t.Errorf("%d buffers, %d encoders, %d dispatches", p.CommandBuffers, p.Encoders, p.Dispatches)
	}
	want := []breakdown.Compile{
		{Library: "Sdpa", Cache: "hit", Told: true, Start: at(32), Time: at(10)},
		{Library: "Sdpa", Function: "sdpa_vector", Constants: "20:bool=1", Cache: "miss", Told: true, Start: at(42), Time: at(5)},
	}
	if len(p.Compiles) != 2 || p.Compiles[0] != want[0] || p.Compiles[1] != want[1] {
		t.Errorf("compiles are %+v, want %+v", p.Compiles, want)
	}
	if n := len(breakdown.Rounds(device())[0].Phases); n != 2 {
		t.Errorf("the round has %d phases, want 2", n)
	}
}

// The time to a token is without what the instrument did, and from the start of
// the process it is with what came before the first round.
func TestFromStart(t *testing.T) {
	var run recording.Run
	add := func(parent trace.ID, name string, n int64, from, to float64) {
		run.Spans = append(run.Spans, trace.Record{ID: trace.ID(len(run.Spans) + 1), Parent: parent, Name: name, N: n, Start: at(from), End: at(to)})
	}
	add(0, names.SpanArguments, 0, 0, 2)
	add(0, names.SpanTokenizer, 0, 2, 182)
	add(0, names.SpanRecord, 0, 182, 190)
	add(0, names.SpanEvict, 0, 190, 195)
	add(0, names.SpanRound, 1, 196, 300)
	add(5, names.SpanRead, 0, 196, 200)
	add(5, names.SpanRecord, 0, 200, 207)
	add(5, names.SpanPrefill, 13, 207, 220)
	add(0, names.SpanRound, 2, 300, 400)
	add(9, names.SpanPrefill, 13, 307, 320)
	rounds := breakdown.Rounds(&run)
	if got, ok := rounds[0].Token(1); !ok || got != at(4+13) {
		t.Errorf("token 1 after %v", got)
	}
	// 2 + 180 + 1 that nothing explains + 17
	if got, ok := rounds[0].FromStart(1); !ok || got != at(200) {
		t.Errorf("token 1 after %v from the run's clock", got)
	}
	run.Header.Clock, run.Exit = 1e12, &recording.Exit{Spawned: 1e12 - int64(at(9))}
	if got, ok := breakdown.Rounds(&run)[0].FromStart(1); !ok || got != at(209) {
		t.Errorf("token 1 after %v from the parent's call", got)
	}
	if _, ok := rounds[1].FromStart(1); ok {
		t.Error("a later round starts no process")
	}
	if _, ok := breakdown.Rounds(experiment(t, "cold"))[0].FromStart(1); ok {
		t.Error("the experiment does not tell when its process began")
	}
}

func TestFromCache(t *testing.T) {
	for _, c := range []struct {
		cache string
		ms    float64
		want  bool
	}{{"hit", 900, true}, {"miss", 0.1, false}, {"off", 0.1, false}, {"", 2.5, true}, {"", 26.1, false}} {
		if got := (breakdown.Compile{Cache: c.cache, Time: at(c.ms)}).FromCache(); got != c.want {
			t.Errorf("%q in %v ms: %v", c.cache, c.ms, got)
		}
	}
}

func TestAccount(t *testing.T) {
	run := device()
	a, err := breakdown.Take(run).Account()
	if err != nil {
		t.Fatal(err)
	}
	// 130 less tokenizer 10, step 70, close 2
	if a.ByParent || a.Wall != at(130) || a.Unattributed != at(48) {
		t.Errorf("wall %v, unattributed %v", a.Wall, a.Unattributed)
	}
	run.Header.Clock = int64(time.Hour)
	run.Exit = &recording.Exit{Spawned: int64(time.Hour - at(7)), Reaped: int64(time.Hour + at(133))}
	if a, err = breakdown.Take(run).Account(); err != nil {
		t.Fatal(err)
	}
	var names []string
	var sum time.Duration
	for _, l := range a.Lines {
		names = append(names, strings.TrimSpace(strings.Join([]string{l.Phase, l.What, l.Library, l.Function, l.Time.String()}, " ")))
		sum += l.Time
	}
	if !a.ByParent || a.Wall != at(140) || sum+a.Unattributed != a.Wall || math.Abs(a.Named()-(92.-5)/140) > 1e-12 {
		t.Errorf("wall %v, sum %v, unattributed %v, named %v", a.Wall, sum, a.Unattributed, a.Named())
	}
	want := "process start    7ms|tokenizer    10ms|decode step LIB Sdpa  10ms|decode step PIPE Sdpa sdpa_vector 5ms|decode step weights to the device   1ms|decode step encoding   14ms|decode step committing   3ms|decode step waiting for the device   31ms|decode step recording   1ms|decode step unattributed   5ms|close    2ms|process exit    3ms"
	if got := strings.Join(names, "|"); got != want {
		t.Errorf("lines are\n%s\nwant\n%s", got, want)
	}
}

// The parts of a run that exceed the whole fail the account.
func TestAccountExceeds(t *testing.T) {
	for _, c := range []struct {
		name, want string
		change     func(*recording.Run)
	}{
		{"a library longer than its step", `"decode step" of round 1`, func(r *recording.Run) { r.Spans[4].End = at(132) }},
		{"phases that overlap", "round 1", func(r *recording.Run) { r.Spans[15].Start, r.Spans[15].End = at(60), at(119) }},
		{"spans at the top that overlap", `"tokenizer" and "round"`, func(r *recording.Run) { r.Spans[0].End = at(30) }},
		{"a parent that saw less", "the run", func(r *recording.Run) {
			r.Header.Clock, r.Exit = 1e9, &recording.Exit{Spawned: 1e9, Reaped: 1e9 + int64(at(50))}
			r.End.At = int64(at(50))
		}},
	} {
		run := device()
		c.change(run)
		var exceeds *breakdown.ExceedsError
		if _, err := breakdown.Take(run).Account(); !errors.As(err, &exceeds) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want an ExceedsError of %s", c.name, err, c.want)
		}
	}
	run := device()
	run.Header.Clock, run.Exit = 1e9, &recording.Exit{Spawned: 2e9, Reaped: 4e9}
	if _, err := breakdown.Take(run).Account(); err == nil || !strings.Contains(err.Error(), "process start takes a negative time") {
		t.Errorf("a run that began before it was started: %v", err)
	}
}

// A recording that breaks off has what was there until then.
func TestCutOff(t *testing.T) {
	run := device()
	run.End = nil
	run.Spans = run.Spans[:12] // in the wait
	for _, i := range []int{1, 2, 11} {
		run.Spans[i].End = -1
	}
	rounds := breakdown.Rounds(run)
	p, _ := rounds[0].Phase(names.SpanStep)
	if !p.Open || len(rounds[0].Steps()) != 0 || p.End != at(64) {
		t.Errorf("the open step is %+v", p)
	}
	a, err := breakdown.Take(run).Account()
	if err != nil || a.Wall != at(64) {
		t.Errorf("wall is %+v, %v", a, err)
	}
	if a, err := breakdown.Take(&recording.Run{}).Account(); err != nil || a.Named() != 0 || len(a.Lines) != 0 {
		t.Errorf("nothing: %+v, %v", a, err)
	}
}

// Parents that go in circles are damage, and no reason to hang.
func TestCircle(t *testing.T) {
	run := &recording.Run{Spans: []trace.Record{{ID: 1, Parent: 2, Name: "a", End: 1}, {ID: 2, Parent: 1, Name: "b", End: 1}, {ID: 3, Parent: 3, Name: "round", End: 1}}}
	breakdown.Rounds(run)
	if _, err := breakdown.Take(run).Account(); err != nil {
		t.Error(err)
	}
}
