package benchtext

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/trace"
	"github.com/introgen/introgen/trace/names"
	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchproc"
)

// sample is what the format's own reader finds.
type sample struct {
	values map[string]float64
	config map[string]string
}

// read reads a text with the format's own reader, and fails where that finds
// anything wrong.
func read(t *testing.T, text []byte) (map[string][]sample, benchfmt.UnitMetadataMap) {
	t.Helper()
	out := map[string][]sample{}
	r := benchfmt.NewReader(bytes.NewReader(text), "x.txt")
	for r.Scan() {
		switch rec := r.Result().(type) {
		case *benchfmt.SyntaxError:
			t.Errorf("%v", rec)
		case *benchfmt.Result:
			s := sample{map[string]float64{}, map[string]string{}}
			for _, v := range rec.Values {
				s.values[v.Unit] = v.Value
			}
			for _, c := range rec.Config {
				s.config[c.Key] = string(c.Value)
			}
			out[rec.Name.String()] = append(out[rec.Name.String()], s)
		}
	}
	if err := r.Err(); err != nil {
		t.Error(err)
	}
	return out, r.Units()
}

func open(t *testing.T, name string) *recording.File {
	t.Helper()
	f, err := recording.Open(filepath.Join("..", "recorded", name))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func text(t *testing.T, f *recording.File) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, f); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestExperiment finds the figures that the experiment printed.
func TestExperiment(t *testing.T) {
	got, units := read(t, text(t, open(t, "experiment-states.introgen")))
	for name, ms := range map[string]float64{
		"Device/cache=cold":                          8.9,
		"Lib/lib=Gemm/cache=cold":                    3828.6,
		"Lib/lib=Sdpa/cache=cold":                    2130.6,
		"Pipe/lib=Cast/pipe=cast_u32_f32/cache=cold": 0.9,
	} {
		if s := got[name]; len(s) != 1 || !near(s[0].values["sec/op"], ms/1e3) {
			t.Errorf("%s: %v, want %v ms", name, s, ms)
		}
	}
	if s := got["Compile/cache=cold"]; len(s) != 1 || s[0].values["misses"] != 31 {
		t.Errorf("ten libraries and 21 pipelines were compiled: %v", s)
	}
	for _, name := range []string{"Build/cache=cold", "Build/cache=warm-process", "Build/cache=cpu", "Build/round=later/cache=cpu", "Build/round=later/cache=cold"} {
		if len(got[name]) != 1 {
			t.Errorf("%s: %d samples, want 1", name, len(got[name]))
		}
	}
	if len(got["Build/round=later/cache=warm-cache"]) != 0 {
		t.Error("the later rounds of warm-cache stand under two names")
	}
	if c := got["Build/cache=cold"][0].config; c["goos"] != "darwin" || c["model"] == "" || c["workload"] != "13 prompt tokens, 20 decode steps" || len(c) != 4 {
		t.Errorf("configuration %v", c)
	}
	for unit, better := range map[string]int{"ns/op": -1, "tok/s": 1, "B/s": 1, "misses": -1} {
		if units.GetBetter(unit) != better || units.Get(unit, "better") == nil {
			t.Errorf("unit %s: better %d", unit, units.GetBetter(unit))
		}
	}
	if units.Get("misses", "assume") == nil || units.Get("ns/op", "assume") != nil {
		t.Error("misses are exact, times are not")
	}
}

func TestSweepIsNamed(t *testing.T) {
	got, _ := read(t, text(t, open(t, "experiment-sweep.introgen")))
	for _, n := range []string{"1", "10", "50", "200", "100000"} {
		name := "Decode/step=later/round=later/per-buffer=" + n
		if len(got[name]) != 1 {
			t.Errorf("%s: %d samples, want 1", name, len(got[name]))
		}
	}
}

func near(a, b float64) bool { return a > b*(1-1e-9) && a < b*(1+1e-9) }

// run makes a run of rounds whose phases take what base says, in
// milliseconds, and r more in round r.
func run(rounds int, base float64) *recording.Run {
	r := &recording.Run{Header: recording.Header{Tool: recording.Tool{Version: "1"}, Command: "cpu", Args: []string{"cpu", "3\nBenchmarkFoo 1 1 ns/op"},
		Host:  recording.Host{OS: "linux", Arch: "amd64", CPU: "AMD", Cores: 2},
		Model: recording.Model{File: "m.gguf", Bytes: 1000, Types: "1 Q8_0"}},
		Subject: &recording.Subject{IO: "buffered", Engine: "cpu: generic: 2 threads", Tokenizer: "go"},
		End:     &recording.End{}}
	var at time.Duration
	span := func(parent trace.ID, name string, n int, ms float64) trace.ID {
		s := trace.Record{ID: trace.ID(len(r.Spans) + 1), Parent: parent, Name: name, N: int64(n), Start: at}
		s.End = at + time.Duration(ms*1e6)
		if parent != 0 {
			at = s.End
		}
		r.Spans = append(r.Spans, s)
		return s.ID
	}
	for n := 1; n <= rounds; n++ {
		more := float64(n)
		id := span(0, names.SpanRound, n, 4*(base+more)+10)
		span(id, names.SpanRead, 0, 1)
		span(id, names.SpanBuild, 0, base+more)
		span(id, names.SpanPrefill, 13, base+more)
		for step := 1; step <= 3; step++ {
			span(id, names.SpanStep, step, float64(step))
		}
		at = r.Spans[id-1].End
		r.Rounds = append(r.Rounds, recording.Round{Number: n, Span: id, Prompt: 13})
	}
	return r
}

// TestOneRun: a sample a round, the first one apart.
func TestOneRun(t *testing.T) {
	r := run(7, 10)
	r.Rounds[6].Error = "interrupted"
	r.End.Code = 130
	got, _ := read(t, text(t, &recording.File{Runs: []*recording.Run{r}}))
	if n := len(got["Build"]); n != 1 || !near(got["Build"][0].values["sec/op"], 0.011) {
		t.Errorf("%d first rounds: %v", n, got["Build"])
	}
	later := got["Build/round=later"]
	if len(later) != 5 || !near(later[0].values["sec/op"], 0.012) || !near(later[4].values["sec/op"], 0.016) {
		t.Errorf("later rounds, of which the one that was cut short is none: %v", later)
	}
	if v := later[0].values["B/s"]; v != 1000/(12*time.Millisecond).Seconds() {
		t.Errorf("1000 bytes in 12 ms are %v B/s", v)
	}
	if v := got["Prefill"][0].values["tok/s"]; v != 13/(11*time.Millisecond).Seconds() {
		t.Errorf("13 tokens in 11 ms are %v tok/s", v)
	}
	r.Subject.IO = "mmap"
	if m, _ := read(t, text(t, &recording.File{Runs: []*recording.Run{r}})); m["Build"][0].values["B/s"] != 0 {
		t.Errorf("a map has a rate of reading: %v", m["Build"])
	}
	step := got["Decode/step=later"][0].values
	if !near(step["sec/op"], 0.0025) || step["tok/s"] != 400 {
		t.Errorf("steps of 2 and 3 ms: %v", step)
	}
	if v := got["SecondToken"][0].values["sec/op"]; !near(v, 0.001+0.011+0.011+0.001) {
		t.Errorf("second token after %v s", v)
	}
	if len(got["Foo"]) != 0 {
		t.Error("an argument became a result")
	}
	for name := range got {
		if strings.Contains(name, "buffered") || strings.Contains(name, "cpu") {
			t.Errorf("the name %s says more than what is timed", name)
		}
	}
}

// plan is one of arms a and b, b slower by 1 ms, six blocks, two rounds a run.
func plan(factors ...string) *recording.File {
	f := &recording.File{Header: &recording.Header{Command: "bench"}, Plan: &recording.Plan{Factors: factors}}
	for i, arm := range []string{"a", "b"} {
		a := recording.Arm{Name: arm, Levels: map[string]string{}}
		for _, factor := range factors {
			a.Levels[factor] = arm
		}
		f.Plan.Arms = append(f.Plan.Arms, a)
		for block := 1; block <= 6; block++ {
			r := run(4, float64(10+i+10*block))
			r.Start = &recording.Start{Run: len(f.Runs) + 1, Block: block, Arm: arm}
			r.Exit = &recording.Exit{Run: r.Start.Run, Spawned: 5, Reaped: 1e9 + 5, MaxRSS: 1 << 20}
			f.Runs = append(f.Runs, r)
		}
	}
	return f
}

// TestPlan: a sample a run, also of its later rounds; what does not count is no
// sample.
func TestPlan(t *testing.T) {
	f := plan("per-buffer")
	f.Runs[0].Exit.Refused = "warm is not warm"
	f.Runs[1].End.Code = 1
	f.Runs[2].End = nil
	got, _ := read(t, text(t, f))
	for name, n := range map[string]int{"Build/per-buffer=a": 3, "Build/per-buffer=b": 6, "Build/round=later/per-buffer=a": 3,
		"Build/round=later/per-buffer=b": 6, "Process/per-buffer=b": 6} {
		if len(got[name]) != n {
			t.Errorf("%s: %d samples, want %d", name, len(got[name]), n)
		}
	}
	// Rounds 2, 3 and 4 of the arm's first run that counts, block 4: 52, 53, 54.
	if v := got["Build/round=later/per-buffer=a"][0].values["sec/op"]; !near(v, 0.053) {
		t.Errorf("the median of later rounds is %v s", v)
	}
	if v := got["Process/per-buffer=b"][0].values; !near(v["sec/op"], 1) || v["rss-bytes"] != 1<<20 {
		t.Errorf("process: %v", v)
	}
}

// TestArmsAreToldApart also where no factor does.
func TestArmsAreToldApart(t *testing.T) {
	got, _ := read(t, text(t, plan()))
	if len(got["Build/arm=a"]) != 6 || len(got["Build/arm=b"]) != 6 || len(got["Build"]) != 0 {
		t.Errorf("names: %v", got)
	}
}

// TestVaries: what the columns are is a key of the names.
func TestVaries(t *testing.T) {
	for _, c := range []struct {
		f    *recording.File
		want string
	}{
		{open(t, "experiment-states.introgen"), "/cache"},
		{open(t, "experiment-sweep.introgen"), "/per-buffer"},
		{plan("per-buffer", "threads"), "/per-buffer,/threads"},
		{plan(), "/arm"},
		{&recording.File{Runs: []*recording.Run{run(1, 10)}}, ""},
	} {
		if got := Varies(c.f); got != c.want {
			t.Errorf("%q varies, want %q", got, c.want)
		}
	}
	same := plan("threads")
	same.Plan.Arms[1].Levels = same.Plan.Arms[0].Levels
	if got := Varies(same); got != "/threads,/arm" {
		t.Errorf("%q varies between arms of one level", got)
	}
}

func TestWarmProcess(t *testing.T) {
	f := plan("cache")
	f.Plan.Arms[0].State, f.Plan.Arms[0].Levels["cache"] = recording.StateWarmProcess, recording.StateWarmProcess
	f.Plan.Arms[1].State, f.Plan.Arms[1].Levels["cache"] = recording.StateWarmCache, recording.StateWarmCache
	got, _ := read(t, text(t, f))
	for name, n := range map[string]int{"Build/cache=warm-process": 6, "Build/cache=warm-cache": 6, "Build/round=later/cache=warm-cache": 6,
		"Process/cache=warm-process": 0} {
		if len(got[name]) != n {
			t.Errorf("%s: %d samples, want %d", name, len(got[name]), n)
		}
	}
	if v := got["Build/cache=warm-process"][0].values["sec/op"]; !near(v, 0.023) {
		t.Errorf("warm-process is the median of rounds 2 to 4 and not %v s", v)
	}
}

// TestInexactCounts: what varies is judged as a measurement, so that benchstat
// has nothing to warn of.
func TestInexactCounts(t *testing.T) {
	f := &recording.File{}
	for n := range 2 {
		r := run(1, 10)
		r.Samples = []trace.Sample{{Span: 5, Name: "metal dispatches", Value: int64(100 + n)}, {Span: 5, Name: "metal command buffers", Value: 3}}
		f.Runs = append(f.Runs, r)
	}
	got, units := read(t, text(t, f))
	if v := got["Decode/step=1"][1].values; v[UnitDispatches] != 101 || v[UnitBuffers] != 3 {
		t.Errorf("counts: %v", v)
	}
	if units.Get(UnitDispatches, "assume") != nil || units.Get(UnitBuffers, "assume") == nil {
		t.Error("dispatches vary and command buffers do not")
	}
}

// TestMiddle: the values of a unit are those of that unit, whichever of them a
// line lacks.
func TestMiddle(t *testing.T) {
	line := func(v ...Value) Line { return Line{Name: "Prefill", Iterations: 1, Values: v} }
	got := middle([]Line{
		line(Value{10, UnitTime}, Value{13, UnitBuffers}),
		line(Value{30, UnitTime}, Value{604, UnitDispatches}, Value{13, UnitBuffers}),
		line(Value{20, UnitTime}, Value{604, UnitDispatches}),
	})
	want := []Value{{20, UnitTime}, {13, UnitBuffers}, {604, UnitDispatches}}
	if len(got) != 1 || !slices.Equal(got[0].Values, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestWords: what a name cannot hold is written as in a URL (RFC 3986, 2.1).
func TestWords(t *testing.T) {
	for in, want := range map[string]string{"Gemm": "Gemm", "a b/c": "a%20b%2Fc", "a_b_c": "a_b_c", "x-12": "x%2D12", "x_12": "x_12", "x-y": "x-y",
		"cold-natural": "cold-natural", "\x00é": "%00%C3%A9", "50%": "50%25", "": "", "-": "%2D", "1-2-3": "1-2%2D3"} {
		if got := word(in); got != want {
			t.Errorf("word(%q) = %q, want %q", in, got, want)
		}
	}
	if got := key("a=b"); got != "a%3Db" {
		t.Errorf("a key with = is %q", got)
	}
}

// TestAlike: libraries, levels and arms whose names differ in what a benchmark
// name cannot hold have samples of their own, and columns to compare.
func TestAlike(t *testing.T) {
	f := plan("ba r")
	f.Plan.Arms[0].Levels["ba r"], f.Plan.Arms[1].Levels["ba r"] = "a b", "a/b"
	for _, r := range f.Runs {
		for i, name := range []string{"x y", "x/y"} {
			id := trace.ID(len(r.Spans) + 1)
			r.Spans = append(r.Spans, trace.Record{ID: id, Parent: 3, Name: names.SpanLibrary, Detail: name, Start: r.Spans[2].Start, End: r.Spans[2].Start + time.Duration(1+i)})
			r.Libraries = append(r.Libraries, recording.Library{Span: id, Name: name})
		}
	}
	got, _ := read(t, text(t, f))
	for _, name := range []string{"Lib/lib=x%20y/ba%20r=a%20b", "Lib/lib=x%2Fy/ba%20r=a%20b", "Lib/lib=x%20y/ba%20r=a%2Fb", "Lib/lib=x%2Fy/ba%20r=a%2Fb"} {
		if len(got[name]) != 6 {
			t.Errorf("%s: %d samples, want 6", name, len(got[name]))
		}
	}
	if got := Varies(f); got != "/ba%20r" {
		t.Errorf("%q varies", got)
	}
	var p benchproc.ProjectionParser
	if _, err := p.Parse(Varies(f), nil); err != nil {
		t.Errorf("columns cannot be made of it: %v", err)
	}
}

// TestTruncated: whatever is left of a recording makes a valid text.
func TestTruncated(t *testing.T) {
	whole, err := os.ReadFile(filepath.Join("..", "recorded", "experiment-states.introgen"))
	if err != nil {
		t.Fatal(err)
	}
	for n := 0; n < len(whole); n += 97 {
		f, err := recording.Read(bytes.NewReader(whole[:n]), "cut")
		if err != nil {
			continue
		}
		read(t, text(t, f))
	}
	if got := text(t, &recording.File{}); !bytes.HasPrefix(got, []byte("# ")) {
		t.Errorf("an empty file: %q", got)
	}
}

// TestLinesAreFound: Text tells which line is which sample.
func TestLinesAreFound(t *testing.T) {
	b, at := Text(plan("cache"))
	lines := strings.Split(string(b), "\n")
	n := 0
	for i, line := range lines {
		if !strings.HasPrefix(line, "Benchmark") {
			continue
		}
		n++
		if l := at[i+1]; !strings.HasPrefix(line, fmt.Sprintf("Benchmark%s\t%d\t", l.Name, l.Iterations)) {
			t.Errorf("line %d is %q and not %+v", i+1, line, l)
		}
	}
	if n != len(at) || n == 0 {
		t.Errorf("%d lines, %d samples", n, len(at))
	}
}

// TestConsoleIsIgnored: no line that the console shows is taken for a result,
// a unit or a configuration, so that both can go into one file.
func TestConsoleIsIgnored(t *testing.T) {
	experiment, err := os.ReadFile(filepath.Join("..", "recorded", "experiment.txt"))
	if err != nil {
		t.Fatal(err)
	}
	console := string(experiment) + strings.Join([]string{
		"# m.gguf: 211 Q8_0 + 61 F32, read by mmap, 100 % of the file in the page cache; cpu: avx512, 2 threads; tokenizer go, ready in 50.1 ms",
		"[cpu round 1] read gguf 0.3 ms, build model 1.1 ms, prefill (13 tokens) 9.9 ms, 20 decode steps 60.0 ms (mean 3.0 ms), total 69.9 ms",
		"[cpu round 1] decode steps (ms): 3.0 3.1 2.9",
		"[cpu round 1] text: \"BenchmarkX 1 1 ns/op\\nkey: value\"",
		"[cpu round 1] ids: 1 2 3",
		"[cpu round 1] logits after prefill: 1 2.000000",
		"# cache: libraries 10 from the cache and 0 compiled, pipelines 21 from the cache and 0 compiled; no nonce; no cache folder in use",
		"library    source bytes  kernels  used  compile ms  cache",
		"sum                                     77.5",
		"longest chain: Reduce and softmax_f32, 4333.7 of 9000.0 ms: what would remain if all the rest ran beside it",
		"round  phase          wall ms  compile  encode  commit  wait",
		"kernel  dispatches  device ms  share",
		"kernel_mul_mm_q8_0_f32  210  12.0  30.0 %",
	}, "\n") + "\nBenchmarkEnd 1 1 ns/op\n"
	results := 0
	for r := benchfmt.NewReader(strings.NewReader(console), "console"); r.Scan(); {
		rec, ok := r.Result().(*benchfmt.Result)
		if !ok || rec.Name.String() != "End" {
			_, line := r.Result().Pos()
			t.Errorf("line %d is taken for %T: %s", line, r.Result(), strings.Split(console, "\n")[line-1])
			continue
		}
		results++
		for _, c := range rec.Config {
			t.Errorf("configuration %s: %s", c.Key, c.Value)
		}
	}
	if results != 1 {
		t.Errorf("%d results", results)
	}
}

// TestNamesAreDocumented: docs/statistics.md has every name and every unit.
func TestNamesAreDocumented(t *testing.T) {
	docs, err := os.ReadFile(filepath.Join("..", "..", "docs", "statistics.md"))
	if err != nil {
		t.Fatal(err)
	}
	got, _ := read(t, text(t, open(t, "experiment-states.introgen")))
	for name := range got {
		base, _, _ := strings.Cut(name, "/")
		if !bytes.Contains(docs, []byte("`Benchmark"+base+"`")) && !bytes.Contains(docs, []byte("`Benchmark"+base+"/")) {
			t.Errorf("docs/statistics.md does not say what Benchmark%s is", base)
		}
	}
	for _, u := range units {
		if !bytes.Contains(docs, []byte("`"+u.name+"`")) {
			t.Errorf("docs/statistics.md does not say what %s is", u.name)
		}
	}
}

// TestPromptLine: the line of the prompt's ids stands there where all rounds have
// the same, and names them by their digest (of "5,6,7" by sha256sum).
func TestPromptLine(t *testing.T) {
	for want, later := range map[string][]int32{"prompt-ids: 9988e8a7\n": nil, "": {7, 6, 5}} {
		r := run(2, 1000)
		for i := range r.Rounds {
			r.Rounds[i].Prompt = 3
		}
		r.Rounds[0].PromptIDs, r.Rounds[1].PromptIDs = []int32{5, 6, 7}, later
		got := string(text(t, &recording.File{Runs: []*recording.Run{r}}))
		if strings.Contains(got, "prompt-ids: ") != (want != "") || !strings.Contains(got, want) {
			t.Errorf("later ids %v: want the line %q in\n%s", later, want, got)
		}
	}
}
