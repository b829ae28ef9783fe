package timeline_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/introgen/introgen/results/breakdown/breakdowntest"
	"github.com/introgen/introgen/results/programtest"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/timeline"
	"github.com/introgen/introgen/results/timeline/timelinetest"
	"github.com/introgen/introgen/trace"
	"github.com/introgen/introgen/trace/names"
)

// written is a timeline as a viewer reads it. Nothing of it may be complained of.
func written(t testing.TB, l *timeline.Timeline) *timelinetest.Trace {
	t.Helper()
	var b bytes.Buffer
	if err := l.Write(&b); err != nil {
		t.Fatal(err)
	}
	got, err := timelinetest.Read(&b)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range got.Complaints {
		t.Errorf("the importer complains: %s", c)
	}
	if a, b := got.Overlap(); a != nil {
		t.Errorf("on one track %q (%v to %v) and %q (%v to %v) overlap", a.Name, a.Start, a.End, b.Name, b.Start, b.End)
	}
	return got
}

// metal is a run of two rounds, with the operations of each command buffer.
func metal(rounds, steps, buffers int) *recording.File {
	r := breakdowntest.Metal(rounds, steps, buffers)
	r.Operations = []*recording.Operation{
		{ID: 1, Layer: 0, Name: "attn_q", Library: "Quantized", Kernel: "mul_mv", Read: 100, Written: 10, Ops: 1000},
		{ID: 2, Layer: recording.NoLayer, Name: "output", Library: "Quantized", Kernel: "mul_mm", Unknown: true},
	}
	for _, s := range r.Spans {
		if s.Name == names.SpanGPU {
			r.Executed = append(r.Executed, &recording.Executed{Span: s.ID, Operations: []int{1, 2}, Start: []int64{int64(s.Start), int64(s.Start) + 9}, Time: []int64{8, 10}})
		}
	}
	return &recording.File{Runs: []*recording.Run{r}}
}

func experiment(t testing.TB) *recording.File {
	t.Helper()
	f, err := recording.Open(filepath.Join("..", "recorded", "experiment-states.introgen"))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// spent adds the spans of a file up by their names, those that are open until their
// run's last moment.
func spent(f *recording.File) map[string]time.Duration {
	out := map[string]time.Duration{}
	for _, r := range f.Runs {
		for _, r := range append([]*recording.Run{r}, r.Children...) {
			last := time.Duration(0)
			for _, s := range r.Spans {
				last = max(last, s.Start, s.End)
			}
			if r.End != nil {
				last = max(last, time.Duration(r.End.At))
			}
			for _, s := range r.Spans {
				end := s.End
				if end < 0 {
					end = last
				}
				out[s.Name] += end - s.Start
			}
		}
	}
	return out
}

// sameTotals holds the times of slices to those of the recording's spans, within a
// thousandth.
func sameTotals(t *testing.T, what string, f *recording.File, got *timelinetest.Trace) {
	t.Helper()
	totals := got.Totals()
	for name, want := range spent(f) {
		if have := totals[name]; math.Abs(float64(have-want)) > 0.001*float64(want) {
			t.Errorf("%s: %q takes %v in the timeline and %v in the recording", what, name, have, want)
		}
	}
}

// TestImported: a viewer takes every kind of recording without a complaint, and of
// each span as much time as was recorded.
func TestImported(t *testing.T) {
	parent, child := programtest.Child()
	for name, f := range map[string]*recording.File{
		"experiment": experiment(t), "metal": metal(2, 3, 5), "threads": programtest.File(programtest.Threads()),
		"child": programtest.File(parent, child), "across": programtest.File(programtest.Across()), "silent": programtest.File(programtest.Silent()),
		"marked": programtest.File(programtest.Marked(programtest.Cold)), "unmarked": programtest.File(programtest.Unmarked(programtest.Warm)),
		"detailed": programtest.File(programtest.Detailed()), "steps": programtest.File(programtest.Steps(20, 4, false)), "nothing": {},
	} {
		t.Run(name, func(t *testing.T) {
			got := written(t, timeline.Of(f))
			sameTotals(t, name, f, got)
			for track := range got.Names {
				if track.Process < 1 {
					t.Errorf("track %v", track)
				}
			}
		})
	}
}

// TestTracks: what an engine's run did stands on tracks by its kind, phases in their
// round, kernels below their command buffer with what they are.
func TestTracks(t *testing.T) {
	got := written(t, timeline.Of(metal(1, 1, 2)))
	on := map[string][]string{}
	for _, s := range got.Slices {
		name := got.Names[s.Track]
		if s.Kind == timeline.KindNote {
			continue
		}
		on[name] = append(on[name], strings.Repeat(">", s.Depth)+s.Name)
	}
	want := map[string][]string{
		"phases":          {"round 1", ">read gguf", ">build model", ">prefill", ">decode step 1"},
		"compile":         {"LIB L0", "PIPE L0 f0", "LIB L1", "PIPE L1 f1"},
		"encode":          {"encode", "commit", "encode", "commit", "encode", "commit", "encode", "commit"},
		"wait":            {"wait", "wait"},
		"command buffers": {"gpu", ">mul_mv", ">mul_mm", "gpu", ">mul_mv", ">mul_mm", "gpu", ">mul_mv", ">mul_mm", "gpu", ">mul_mv", ">mul_mm"},
	}
	for track, names := range want {
		if !slices.Equal(on[track], names) {
			t.Errorf("on %q are %q, want %q", track, on[track], names)
		}
	}
	if len(on) != len(want) {
		t.Errorf("there are %d tracks, want %d: %v", len(on), len(want), on)
	}
	for _, s := range got.Slices {
		switch s.Name {
		case "mul_mv":
			text, _ := json.Marshal(s.Args)
			if string(text) != `{"arithmetic":1000,"layer":0,"library":"Quantized","operation":"attn_q","read bytes":100,"written bytes":10}` {
				t.Errorf("mul_mv has %s", text)
			}
		case "mul_mm":
			if s.Args["bytes"] != "unknown" || s.Args["layer"] != nil {
				t.Errorf("mul_mm has %v", s.Args)
			}
		case "LIB L1":
			if s.Args["cache"] != "miss" || s.Args["library"] != "L1" {
				t.Errorf("LIB L1 has %v", s.Args)
			}
		}
	}
}

// TestThreads: a program has a track for each of its threads, and what the CPU
// engine's threads computed stands on theirs.
func TestThreads(t *testing.T) {
	got := written(t, timeline.Of(programtest.File(programtest.Threads())))
	threads := map[string]string{}
	for _, s := range got.Slices {
		threads[s.Name] = got.Names[s.Track]
	}
	for slice, want := range map[string]string{"LIB A": "thread 0", "LIB B": "thread 1", "LIB C": "beside the threads", "wait": "thread 0", "gpu": "command buffers", "stdout": "output", "start": "phases"} {
		if threads[slice] != want {
			t.Errorf("%q is on %q, want %q", slice, threads[slice], want)
		}
	}

	run := &recording.Run{Header: recording.Header{Command: "cpu"},
		Spans:      []trace.Record{{ID: 1, Name: names.SpanRound, N: 1, Start: 0, End: 1000}, {ID: 2, Parent: 1, Name: names.SpanStep, N: 1, Start: 100, End: 900}},
		Operations: []*recording.Operation{{ID: 1, Layer: 3, Name: "ffn_down", Kernel: "mul avx2"}},
		Executed: []*recording.Executed{{Span: 2, Operations: []int{1, 1}, Start: []int64{110, 500}, Time: []int64{390, 390}},
			{Span: 2, Track: 1, Operations: []int{1}, Start: []int64{120}, Time: []int64{700}}}}
	got = written(t, timeline.Of(&recording.File{Runs: []*recording.Run{run}}))
	sum := map[string]time.Duration{}
	for _, s := range got.Slices {
		if s.Kind == timeline.KindOperation {
			sum[got.Names[s.Track]+" "+s.Name] += s.End - s.Start
		}
	}
	if len(sum) != 2 || sum["thread 0 ffn_down"] != 780 || sum["thread 1 ffn_down"] != 700 {
		t.Errorf("threads computed %v", sum)
	}
}

// TestArrows: an arrow leads from where a command buffer was encoded over its commit
// to where it ran, and as many are in flight as were committed and have not ended.
func TestArrows(t *testing.T) {
	run := &recording.Run{Header: recording.Header{Command: "metal"}, Spans: []trace.Record{
		{ID: 1, Name: names.SpanStep, N: 1, Start: 0, End: 1000},
		{ID: 2, Parent: 1, Name: names.SpanEncoder, Start: 0, End: 90},
		{ID: 3, Parent: 1, Name: names.SpanCommit, N: 4, Start: 100, End: 110},
		{ID: 4, Parent: 1, Name: names.SpanEncoder, Start: 120, End: 190},
		{ID: 5, Parent: 1, Name: names.SpanCommit, N: 7, Start: 200, End: 210},
		{ID: 6, Parent: 1, Name: names.SpanQueued, N: 4, Start: 105, End: 150},
		{ID: 7, Parent: 1, Name: names.SpanGPU, N: 4, Start: 150, End: 300},
		{ID: 8, Parent: 1, Name: names.SpanQueued, N: 7, Start: 205, End: 300},
		{ID: 9, Parent: 1, Name: names.SpanGPU, N: 7, Start: 300, End: 400},
	}}
	arrows := func(got *timelinetest.Trace) []string {
		var out []string
		for _, a := range got.Arrows {
			out = append(out, a.From.Name+" "+a.From.Start.String()+" → "+a.To.Name+" "+a.To.Start.String())
		}
		slices.Sort(out)
		return out
	}
	f := &recording.File{Runs: []*recording.Run{run}}
	got := written(t, timeline.Of(f))
	want := []string{"commit 100ns → gpu 150ns", "commit 200ns → gpu 300ns", "encode 0s → commit 100ns", "encode 120ns → commit 200ns"}
	if have := arrows(got); !slices.Equal(have, want) {
		t.Errorf("arrows are %q, want %q", have, want)
	}
	if have := got.Counters["1 buffers in flight"]; !slices.Equal(have, []float64{1, 2, 1, 0}) {
		t.Errorf("in flight are %v", have)
	}

	// The first of two commits is missing: what ran is of the one that is there by
	// when it was queued, and of the other nobody knows.
	run.Spans = slices.Delete(slices.Clone(run.Spans), 2, 3)
	l := timeline.Of(f)
	if have := arrows(written(t, l)); !slices.Equal(have, []string{"commit 200ns → gpu 300ns", "encode 120ns → commit 200ns"}) {
		t.Errorf("without a commit arrows are %q", have)
	}
	if !strings.Contains(strings.Join(l.Notes, "\n"), "of 1 command buffers that ran it is not known where they were committed") {
		t.Errorf("notes are %q", l.Notes)
	}

	// What the device does not tell has no track, no arrow and no counter.
	run.Spans = run.Spans[:4]
	l = timeline.Of(f)
	if got := written(t, l); len(got.Arrows)+len(got.Counters) > 0 || !strings.Contains(strings.Join(l.Notes, "\n"), "the device did not tell when it ran what") {
		t.Errorf("%d arrows, counters %v, notes %q", len(got.Arrows), got.Counters, l.Notes)
	}
}

// TestCounters: what was counted and read stands there as it changed, and what was not
// is said.
func TestCounters(t *testing.T) {
	f := metal(1, 1, 1)
	r := f.Runs[0]
	r.Machine = []recording.Machine{{At: 5, OtherCores: 0.5, MHz: 2600}, {At: 9, OtherCores: -1, MHz: -1}}
	r.Samples = append(r.Samples, trace.Sample{Name: names.CountAllocated, Value: 100, At: 10}, trace.Sample{Name: names.CountAllocated, Value: 50, At: 20})
	l := timeline.Of(f)
	if !strings.Contains(strings.Join(l.Notes, "\n"), "neither its resident memory nor the bytes of its KV cache are recorded") {
		t.Errorf("notes are %q", l.Notes)
	}
	r.Samples = append(r.Samples, trace.Sample{Name: names.CountResident, Value: 1 << 30, At: 30}, trace.Sample{Name: names.CountCache, Value: 599040, At: 31}, trace.Sample{Name: names.CountCache, Value: 645120, At: 32})
	l = timeline.Of(f)
	got := written(t, l)
	for name, want := range map[string][]float64{"metal buffers made bytes": {100, 150}, "resident memory bytes": {1 << 30}, "KV cache bytes": {599040, 645120},
		"cores of other processes": {0.5}, "processor clock MHz": {2600}} {
		if have := got.Counters["1 "+name]; !slices.Equal(have, want) {
			t.Errorf("%s is %v, want %v", name, have, want)
		}
	}
	if len(l.Notes) > 0 {
		t.Errorf("notes are %q", l.Notes)
	}
}

// TestOverlapping: what overlaps on a track is moved to another and what reaches out
// of its command buffer is cut, and both are said.
func TestOverlapping(t *testing.T) {
	f := metal(1, 0, 1)
	r := f.Runs[0]
	e := r.Executed[0]
	e.Start[0], e.Time[1] = e.Start[0]-5, e.Time[1]+5 // of 8 ns 5 before the buffer, of 15 4 behind it
	l := timeline.Of(f)
	got := written(t, l)
	if sum := got.Totals()[timeline.KindOperation]; sum != 3+11 {
		t.Errorf("operations take %v, want 14ns", sum)
	}
	if !strings.Contains(strings.Join(l.Notes, "\n"), "2 operations reach out of their command buffer or pass, or into the one before, as clocks that are read one after the other do: they are cut there, by 9ns together") {
		t.Errorf("notes are %q", l.Notes)
	}

	// On a device that runs two command buffers at once, the second begins in the
	// first and ends behind it.
	run := &recording.Run{Spans: []trace.Record{{ID: 1, Name: names.SpanStep, N: 1, End: 100},
		{ID: 2, Parent: 1, Name: names.SpanGPU, Start: 10, End: 50}, {ID: 3, Parent: 1, Name: names.SpanGPU, Start: 40, End: 80}, {ID: 4, Parent: 1, Name: names.SpanGPU, Start: 80, End: 90}}}
	l = timeline.Of(&recording.File{Runs: []*recording.Run{run}})
	got = written(t, l)
	if sum := got.Totals()[names.SpanGPU]; sum != 90 {
		t.Errorf("the device ran for %v, want 90ns", sum)
	}
	if !strings.Contains(strings.Join(l.Notes, "\n"), `of the track "command buffers" 1 of 3 slices overlap others without lying in them: they are on 1 further tracks`) {
		t.Errorf("notes are %q", l.Notes)
	}
}

// TestCutOff: a run that was cut off is shown as far as it went, and what was open is
// said to be.
func TestCutOff(t *testing.T) {
	f := metal(1, 2, 1)
	r := f.Runs[0]
	cut := len(r.Spans) - 3
	r.Spans, r.End, r.Executed = slices.Clone(r.Spans[:cut]), nil, nil
	r.Spans[0].End, r.Spans[cut-1].End = -1, -1
	l := timeline.Of(f)
	sameTotals(t, "cut off", f, written(t, l))
	if !strings.Contains(strings.Join(l.Notes, "\n"), "the recording ends within 2 spans") {
		t.Errorf("notes are %q", l.Notes)
	}
}

// TestThin: a timeline that would be too large loses its shortest operations and says
// so; with what it says is missing, its totals are the recording's.
func TestThin(t *testing.T) {
	f := metal(1, 20, 50)
	for _, most := range []int{400_000, 60_000} {
		l := timeline.Of(f)
		l.Thin(most)
		var b bytes.Buffer
		if err := l.Write(&b); err != nil {
			t.Fatal(err)
		}
		if b.Len() > most || b.Len() < most/4 {
			t.Errorf("%d bytes, and %d are allowed", b.Len(), most)
		}
		got := written(t, l)
		totals := got.Totals()
		longest := map[string]time.Duration{}
		for _, x := range l.LeftOut {
			totals[x.Kind] += x.Time
			longest[x.Kind] = x.Longest
		}
		for name, want := range spent(f) {
			if totals[name] != want {
				t.Errorf("%d bytes: %q takes %v and %v was recorded", most, name, totals[name], want)
			}
		}
		if totals[timeline.KindOperation] != 1050*18 {
			t.Errorf("%d bytes: operations take %v, want %v", most, totals[timeline.KindOperation], 1050*18)
		}
		for _, s := range got.Slices {
			if s.End-s.Start < longest[s.Kind]/2 {
				t.Errorf("%q of %v is there, and longer ones are not", s.Name, s.End-s.Start)
			}
		}
		if len(l.LeftOut) == 0 || !strings.Contains(strings.Join(l.Notes, "\n"), "the shortest of its slices are left out") {
			t.Errorf("%d bytes: left out is %v, notes are %q", most, l.LeftOut, l.Notes)
		}
	}
	l := timeline.Of(f)
	if l.Thin(timeline.MostBytes); len(l.LeftOut) > 0 {
		t.Errorf("a small timeline is thinned: %v", l.LeftOut)
	}
}

// TestHostile: names that are no names for a viewer stand there as parts of a line,
// and long ones are cut.
func TestHostile(t *testing.T) {
	bad := "</script>\x1b]0;t\x07\u202e\"\\\r\n\xff"
	run := &recording.Run{Header: recording.Header{Command: bad}, Spans: []trace.Record{
		{ID: 1, Name: names.SpanPhase, Detail: strings.Repeat("x", 1<<20), N: 1, End: 10},
		{ID: 2, Name: names.SpanLibrary, Detail: bad, Start: 20, End: 30}}}
	var b bytes.Buffer
	if err := timeline.Of(&recording.File{Runs: []*recording.Run{run}}).Write(&b); err != nil {
		t.Fatal(err)
	}
	for _, r := range b.String() {
		if r < ' ' && r != '\n' || r == '<' || r == '\u202e' || r == 0x7f {
			t.Errorf("%q is in the file", r)
		}
	}
	if b.Len() > 5000 {
		t.Errorf("a long name makes %d bytes", b.Len())
	}
}

// TestClocks: a run of a plan stands where its clock says, one whose clock cannot be
// at the begin of the plan, and nothing begins before that.
func TestClocks(t *testing.T) {
	of := func(clock, spawned int64) *recording.Run {
		r := breakdowntest.Metal(1, 1, 1)
		r.Header.Clock = clock
		r.Start, r.Exit = &recording.Start{Run: 1, Arm: "a"}, &recording.Exit{Run: 1, Spawned: spawned, Reaped: spawned + int64(time.Second)}
		r.Machine = []recording.Machine{{At: -7, MHz: 1}, {At: 7, MHz: 2}}
		r.Outputs = []recording.Output{{At: -9, Bytes: 1}}
		r.Samples = append(r.Samples, trace.Sample{Name: names.CountResident, Value: 1, At: -1}, trace.Sample{Name: names.CountCache, Value: 1, At: 1})
		return r
	}
	const hour = int64(time.Hour)
	file := &recording.File{Header: &recording.Header{Command: "compare"}, Plan: &recording.Plan{}, Parent: &recording.Run{},
		Runs: []*recording.Run{of(hour, hour-1000), of(hour+5_000_000_000, hour+4_000_000_000), of(0, 0), of(-5, -9), of(math.MinInt64, math.MinInt64), of(math.MaxInt64, math.MaxInt64-int64(time.Hour))}}
	l := timeline.Of(file)
	got := written(t, l)
	begins := map[int64]time.Duration{}
	for _, s := range got.Slices {
		if s.Kind == names.SpanRound {
			begins[s.Track.Process] = s.Start
		}
	}
	// The first process is that of the plan.
	if want := map[int64]time.Duration{2: 1000, 3: 5_000_001_000, 4: 0, 5: 0, 6: 0, 7: 0}; !maps.Equal(begins, want) {
		t.Errorf("rounds begin at %v, want %v", begins, want)
	}
	if !strings.Contains(strings.Join(l.Notes, "\n"), "of 4 runs of the plan it is not known when they were made: they begin with it") {
		t.Errorf("notes are %q", l.Notes)
	}
}

// TestFilesOfOneName: processes of several files have their names, with the folder
// where it alone tells them apart; and so have the notes.
func TestFilesOfOneName(t *testing.T) {
	old, recent, other := metal(1, 1, 1), metal(1, 1, 1), metal(1, 1, 1)
	old.Path, recent.Path, other.Path = "a/old/run.introgen", "a/new/run.introgen", "other.introgen"
	recent.Runs[0].Outputs = []recording.Output{{At: -9, Bytes: 1}}
	l := timeline.Of(old, recent, other)
	var got []string
	for _, p := range l.Processes {
		name, _, _ := strings.Cut(p.Name, ": ")
		got = append(got, name)
	}
	if want := []string{"old/run", "new/run", "other"}; !slices.Equal(got, want) {
		t.Errorf("processes are of %q, want %q", got, want)
	}
	if len(l.Notes) != 5 || !strings.HasPrefix(l.Notes[1], "new/run: introgen metal: 1 readings and writes are said to have been before the run began") {
		t.Errorf("notes are %q", l.Notes)
	}
	if name := timeline.Of(old).Processes[0].Name; strings.Contains(name, ": ") {
		t.Errorf("the process of one file is %q", name)
	}
}

// FuzzTimeline: whatever a recording says, a viewer takes its timeline without a
// complaint, and no span of it takes another time.
func FuzzTimeline(f *testing.F) {
	for seed := range uint64(20) {
		f.Add(seed, uint8(seed*7))
	}
	f.Fuzz(func(t *testing.T, seed uint64, n uint8) {
		r := rand.New(rand.NewPCG(seed, uint64(n)))
		all := []string{names.SpanRound, names.SpanStep, names.SpanPhase, names.SpanLibrary, names.SpanEncoder, names.SpanCommit, names.SpanQueued, names.SpanGPU, names.SpanWait, names.SpanRecord, "odd"}
		run := &recording.Run{Operations: []*recording.Operation{{ID: 1, Name: "a", Kernel: "k"}}}
		if r.IntN(2) == 0 {
			run.Header.Program = &recording.Program{Path: "/bin/x"}
		}
		for i := range int(n) {
			start := time.Duration(r.Int64N(100))
			end := start + time.Duration(r.Int64N(60))
			if r.IntN(20) == 0 {
				end = -1
			}
			s := trace.Record{ID: trace.ID(i + 1), Parent: trace.ID(r.IntN(i + 1)), Name: all[r.IntN(len(all))], N: r.Int64N(3), Track: r.Int32N(3) * 600, Start: start, End: end}
			run.Spans = append(run.Spans, s)
			if r.IntN(3) == 0 {
				run.Executed = append(run.Executed, &recording.Executed{Span: s.ID, Track: r.IntN(2), Operations: []int{1, 2, 1}, Start: []int64{r.Int64N(90), 50, r.Int64N(90)}, Time: []int64{r.Int64N(40), 1, 10}})
			}
			run.Samples = append(run.Samples, trace.Sample{Span: s.ID, Name: names.CountAllocated, Value: r.Int64N(100), At: start})
		}
		file := &recording.File{Runs: []*recording.Run{run}}
		sameTotals(t, "made by chance", file, written(t, timeline.Of(file)))
	})
}
