package recording

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/introgen/introgen/trace"
	"github.com/introgen/introgen/trace/names"
)

// small is a run with an event of every kind.
func small() []Event {
	return []Event{
		&Header{Format: Format, Version: Version, Tool: Tool{Version: "v1", Go: "go1.26"}, Command: "metal",
			Args: []string{"metal", "2", "<é>"}, Started: time.Date(2026, 11, 29, 20, 0, 0, 5, time.UTC), Clock: 77, PID: 4711,
			Host:        Host{Name: "h", OS: "linux", Arch: "amd64", Build: "6.1", CPU: "a \"fast\" one", Cores: 2, MemoryBytes: 1 << 33},
			Model:       Model{File: "m.gguf", Bytes: 144811072, Types: "211 Q8_0 + 61 F32"},
			Knobs:       []Knob{{"threads", "2", FromDefault, ""}, {"commands-per-buffer", "10", FromEnvironment, "CANDLE_METAL_COMPUTE_PER_BUFFER"}},
			Environment: map[string]string{"INTROGEN_CPU": "avx2"}, View: View{Label: "metal", Trace: true}},
		&Device{Driver: "soft", Name: "soft: clang", Compiler: "clang 19.1.7", Nonce: "nonce 1", Kernels: "own", Digest: "ab"},
		&Subject{IO: "mmap", PageCache: "100 % of the file in the page cache", Engine: "metal", Tokenizer: "go"},
		&Span{trace.Record{ID: 1, Name: "arguments", Start: 0, End: 100}},
		&Span{trace.Record{ID: 2, Name: "round", N: 1, Start: 200, End: -1}},
		&Span{trace.Record{ID: 3, Parent: 2, Name: "read gguf", Start: 200, End: 203}},
		&Span{trace.Record{ID: 4, Parent: 2, Name: "build model", Start: 203, End: 210}},
		&Span{trace.Record{ID: 5, Parent: 2, Name: "prefill", Detail: "ü\"", N: 3, Start: 210, End: 1 << 39}},
		&Count{trace.Sample{Span: 5, Name: "metal dispatches", Value: 904, At: 220}},
		&Span{trace.Record{ID: 6, Parent: 5, Name: "LIB", Detail: "Gemm", N: 10, Start: 220, End: 230}},
		&Library{Span: 6, Name: "Gemm", SourceBytes: 10, Kernels: 3, Cache: "miss"},
		&Span{trace.Record{ID: 7, Parent: 5, Name: "PIPE", Detail: "Gemm gemm_nn", N: 1, Start: 230, End: 240}},
		&Pipeline{Span: 7, Library: "Gemm", Function: "gemm_nn", Constants: "1=2", Cache: ""},
		&Span{trace.Record{ID: 8, Parent: 2, Name: "decode step", N: 1, Start: 1 << 39, End: 1 << 40}},
		&Round{Number: 1, Span: 2, Prompt: 3, PromptIDs: []int32{1, 4093, 198}, IDs: []int32{66, 467}, Text: "ends in \xf0\x9f", Top: [][]Logit{{{66, 30.892009}, {7, -0.1}}}},
		&Span{trace.Record{ID: 2, Name: "round", N: 1, Start: 200, End: 1<<40 + 1}},
		&Kernel{Name: "k", Dispatches: 7, Time: 12345, Read: 100, Written: 20, Ops: 3000, Unknown: 1},
		&Operation{ID: 1, Layer: NoLayer, Name: "output", Library: "Quantized", Kernel: "kernel_mul_mv_q8_0_f32", Grid: [3]int64{7, 1, 1}, Group: [3]int64{32, 1, 1}, Threads: true, Read: 30, Written: 4, Ops: 60},
		&Operation{ID: 2, Layer: 29, Name: "attention", Kernel: "sdpa", Unknown: true},
		&Executed{Span: 8, Track: 1, Operations: []int{1, 2}, Start: []int64{1 << 39, 1<<39 + 7}, Time: []int64{7, 0}},
		&Executed{Span: 8, Operations: []int{1}, Start: []int64{}, Time: []int64{}},
		&Limit{What: LimitMemory, Threads: 2, Best: 40.5e9, Median: 39e9, Samples: 10, Kernel: "avx512", Bytes: 1 << 28, Cache: 1 << 25},
		&Evidence{What: EvidenceMetalCache, LibraryMisses: 1, Folder: "/c", Before: &CacheFolder{Entries: 3, Bytes: 40, Changed: "2026-01-02T03:04:05Z"}, After: &CacheFolder{}},
		&Machine{At: 9, Load: 0.25, OtherCores: -1, MHz: 3000.5},
		&Note{Text: "cache: rebuilt\nin two lines"},
		&Unknown{Name: "weather", Line: []byte(`{"k":"weather", "sun":true}`)},
		&End{At: 1 << 41, Code: 130, Error: "interrupted", MajorFaults: -1, MinorFaults: 3, SpanCost: 61000},
	}
}

// foreign are the events that a recorded program has and an engine has not.
func foreign() []Event {
	return []Event{
		&Header{Format: Format, Version: Version, Tool: Tool{Version: "v1", Go: "go1.26"}, Command: "record", Args: []string{"record", "--", "./p", "a b"},
			Started: time.Date(2026, 11, 29, 20, 0, 0, 5, time.UTC), Host: Host{OS: "linux", Arch: "amd64"},
			Program: &Program{Path: "./p", Args: []string{"a b", "\x1b"}, PID: 4712, Parent: 4711}},
		&Span{trace.Record{ID: 1, Name: names.SpanRound, N: 1, Start: 0, End: 900}},
		&Span{trace.Record{ID: 2, Parent: 1, Name: names.SpanPhase, Detail: "load", N: 1, Start: 0, End: 400}},
		&Span{trace.Record{ID: 3, Parent: 2, Name: names.SpanLibrary, Detail: "Gemm", N: 10, Track: trace.AsyncTrack, Start: 20, End: 300}},
		&Span{trace.Record{ID: 4, Parent: 2, Name: names.SpanEncoder, Detail: "compute", Track: 2, Start: 30, End: 40}},
		&Dispatch{Span: 4, Library: "Gemm", Function: "k", Grid: [3]int64{7, 1, 1}, Group: [3]int64{32, 1, 1}, Threads: true},
		&Barrier{Span: 4, Scope: "buffers"},
		&Span{trace.Record{ID: 5, Parent: 2, Name: names.SpanWait, Detail: names.WaitSharedEvent, Track: 1, Start: 50, End: 60}},
		&Count{trace.Sample{Span: 2, Name: names.CountBarriers, Value: 3, At: 45}},
		&Output{At: 500, Stream: StreamErr, Bytes: 12, More: 3},
		&End{At: 900, Code: -1, MajorFaults: -1, MinorFaults: 3, Signal: "killed", MaxRSS: 1 << 30, Lost: 7, LostSlots: 1},
	}
}

func encode(t testing.TB, events ...Event) []byte {
	t.Helper()
	var out []byte
	for _, e := range events {
		var err error
		if out, err = Encode(out, e); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func TestEveryEventComesBack(t *testing.T) {
	want := append(small(), foreign()...)
	var got []Event
	for e, err := range Events(bytes.NewReader(encode(t, want...))) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, e)
	}
	if len(got) != len(want) {
		t.Fatalf("%d events, want %d", len(got), len(want))
	}
	for i := range want {
		if !reflect.DeepEqual(got[i], want[i]) {
			t.Errorf("event %d is\n%+v, want\n%+v", i, got[i], want[i])
		}
		var line struct {
			Kind string `json:"k"`
		}
		if err := json.Unmarshal(encode(t, want[i]), &line); err != nil || got[i].Kind() != line.Kind {
			t.Errorf("event %d is of the kind %q and its line of %q, %v", i, got[i].Kind(), line.Kind, err)
		}
	}
	again := encode(t, got...)
	if !bytes.Equal(again, encode(t, want...)) {
		t.Error("written again it differs")
	}
}

func TestLinesAreAsDocumented(t *testing.T) {
	for want, e := range map[string]Event{
		`{"k":"span","id":3,"in":2,"name":"prefill","n":13,"start":210,"end":-1}`: &Span{trace.Record{ID: 3, Parent: 2, Name: "prefill", N: 13, Start: 210, End: -7}},
		`{"k":"span","id":1,"in":0,"name":"a\"b","detail":"ü","start":0,"end":1}`: &Span{trace.Record{ID: 1, Name: "a\"b", Detail: "ü", End: 1}},
		`{"k":"count","in":0,"name":"c","value":-1,"at":5}`:                       &Count{trace.Sample{Name: "c", Value: -1, At: 5}},
		`{"k":"note","text":"<a>"}`:                                               &Note{"<a>"},
	} {
		if got := string(encode(t, e)); got != want+"\n" {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestNotANumber(t *testing.T) {
	nan := math.NaN()
	line := encode(t, &Round{Number: 1, Span: 1, Top: [][]Logit{{{1, float32(nan)}, {2, float32(math.Inf(1))}, {3, 0.5}}}})
	e, err := new(decoder).decode(bytes.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	top := e.(*Round).Top[0]
	if !math.IsNaN(float64(top[0].Value)) || !math.IsNaN(float64(top[1].Value)) || top[2].Value != 0.5 {
		t.Errorf("logits came back as %v", top)
	}
	line = encode(t, &Machine{Load: nan, OtherCores: math.Inf(-1), MHz: 1})
	if want := `{"k":"machine","at_ns":0,"load":-1,"other_cores":-1,"mhz":1,"throttled":0}` + "\n"; string(line) != want {
		t.Errorf("got %s, want %s", line, want)
	}
	if _, err := Encode(nil, &Plan{Until: nan}); err == nil {
		t.Error("a plan until NaN was written")
	}
	// Other writers' NaN is no JSON: the line is skipped, the file is good.
	text := string(encode(t, small()[0])) + `{"k":"machine","load":NaN}` + "\n" + `{"k":"machine","load":1e999}` + "\n" + string(encode(t, &End{}))
	f, err := Read(strings.NewReader(text), "x")
	if err != nil || len(f.Warnings) != 2 || f.Runs[0].End == nil || len(f.Runs[0].Machine) != 0 {
		t.Errorf("%v, %+v", err, f)
	}
}

// TestCutAnywhere cuts a recording at every byte: it opens, and holds what
// stands before the cut.
func TestCutAnywhere(t *testing.T) {
	events := small()
	whole := encode(t, events...)
	full, err := Read(bytes.NewReader(whole), "whole")
	if err != nil || full.Broken != "" || len(full.Warnings) != 1 || !strings.Contains(full.Warnings[0], `the event "weather" is not known`) {
		t.Fatalf("%v, %+v", err, full)
	}
	ends := []int{0}
	for i := range events {
		ends = append(ends, len(encode(t, events[:i+1]...)))
	}
	for n := range whole {
		f, err := Read(bytes.NewReader(whole[:n]), "cut")
		if err != nil {
			t.Fatalf("cut after %d bytes: %v", n, err)
		}
		// A line is good when all but its line break is there.
		good := 0
		for good < len(events) && n >= ends[good+1]-1 {
			good++
		}
		atEnd := slices.Contains(ends[1:], n) || slices.Contains(ends[1:], n+1)
		if (f.Broken == "") != atEnd {
			t.Errorf("cut after %d bytes: broken is %q", n, f.Broken)
		}
		want := collect(events[:good])
		want.Path, want.Broken = f.Path, f.Broken
		if !reflect.DeepEqual(f, want) {
			t.Fatalf("cut after %d bytes it holds\n%+v, want\n%+v", n, f, want)
		}
	}
}

func TestBadInput(t *testing.T) {
	header := string(encode(t, small()[0]))
	newer := strings.Replace(header, `"version":1`, `"version":2`, 1)
	start := string(encode(t, &Start{Run: 1, Block: 1}))
	exit := func(run int, spawned, reaped int64) string {
		return fmt.Sprintf(`{"k":"exit","run":%d,"spawned_ns":%d,"reaped_ns":%d,"code":0}`+"\n", run, spawned, reaped)
	}
	for _, c := range []struct {
		name, text string
		is         error  // the error, or nil
		want       string // in the error, Broken or a warning
	}{
		{"a text", "Hello\n", ErrNotRecording, "invalid character"},
		{"a text without an end", "Hello", ErrNotRecording, "x.introgen: not a recording"},
		{"JSON of something else", `{"k":"span","id":1}` + "\n", ErrNotRecording, ""},
		{"another format", strings.Replace(header, Format, "other", 1), ErrNotRecording, `format "other"`},
		{"version 0", strings.Replace(header, `"version":1`, `"version":0`, 1), ErrNotRecording, "version 0"},
		{"a newer version", newer, ErrNewer, "version 2, written by introgen v1, and this introgen reads versions up to 1"},
		{"a newer version in a plan", header + start + newer, ErrNewer, ""},
		{"a first line without end", strings.Repeat("x", MaxLine+1), ErrNotRecording, ""},
		{"nothing", "", nil, "before its header"},
		{"half a header", header[:60], nil, "cut off"},
		{"a huge line", header + strings.Repeat("x", MaxLine+1) + "\n", nil, "line 2: longer than 16777216 bytes"},
		{"a line with no kind", header + "{}\n", nil, `"k", its kind`},
		{"an array", header + "[1]\n", nil, "line 2"},
		{"an empty line", header + "\n", nil, "line 2"},
		{"a span of itself", header + `{"k":"span","id":1,"in":1,"name":"a","start":1,"end":2}` + "\n", nil, "younger"},
		{"a span backwards", header + `{"k":"span","id":2,"in":1,"name":"a","start":5,"end":2}` + "\n", nil, "ends before it begins"},
		{"a span of no name", header + `{"k":"span","id":2,"in":1,"name":"","start":5,"end":8}` + "\n", nil, "no name"},
		{"a span's number", header + `{"k":"span","id":99999999999,"in":1,"name":"a","start":5,"end":8}` + "\n", nil, "99999999999"},
		{"a count before time", header + `{"k":"count","in":2,"name":"a","value":5,"at":-8}` + "\n", nil, "negative"},
		{"an event of a wrong shape", header + `{"k":"round","round":"one"}` + "\n", nil, `event "round"`},
		{"an exit without a start", header + exit(7, 1, 2), nil, "run 7 has an exit"},
		{"a time beyond all", header + `{"k":"span","id":2,"in":1,"name":"a","start":5,"end":9223372036854775807}` + "\n", nil, "at most 9007199254740992"},
		{"a count beyond all", header + `{"k":"count","in":2,"name":"a","value":-9007199254740993,"at":8}` + "\n", nil, "at most"},
		{"a run longer than all", header + start + exit(1, 1, 9007199254740994), nil, "at most"},
		{"two plans", header + strings.Repeat(`{"k":"plan","arms":null,"blocks":1,"order":"abba","seed":0,"factors":null}`+"\n", 2), nil, "plan stands"},
	} {
		f, err := Read(strings.NewReader(c.text), "x.introgen")
		if !errors.Is(err, c.is) {
			t.Errorf("%s: error %v, want %v", c.name, err, c.is)
			continue
		}
		said := fmt.Sprint(err)
		if f != nil {
			said = f.Broken + strings.Join(f.Warnings, "\n")
		}
		if !strings.Contains(said, c.want) || len(said) > 400 {
			t.Errorf("%s: said %q, want %q in it", c.name, said, c.want)
		}
	}
	f, err := Read(strings.NewReader(header+strings.Repeat("?\n", 1000)), "x")
	if err != nil || len(f.Warnings) != maxWarnings+1 || !strings.Contains(f.Warnings[maxWarnings], "980 more") {
		t.Errorf("%v, %d warnings", err, len(f.Warnings))
	}
	f, err = Read(strings.NewReader(header+strings.Repeat(exit(7, 1, 2), 1000)), "x")
	if err != nil || len(f.Warnings) != maxWarnings+1 || !strings.Contains(f.Warnings[maxWarnings], "980 more") {
		t.Errorf("exits: %v, %d warnings", err, len(f.Warnings))
	}
	// A machine that has been up for a year is no fault of the recording.
	f, err = Read(strings.NewReader(header+start+exit(1, 31536000000000000, 31536000000000009)), "x")
	if err != nil || len(f.Warnings) > 0 || len(f.Runs) != 2 || f.Runs[1].Exit == nil {
		t.Errorf("after a year: %v, %q", err, f.Warnings)
	}
	if _, err := Read(endless{}, "x"); !errors.Is(err, ErrNotRecording) {
		t.Errorf("of a line without end: %v", err)
	}
	if _, err := Open(t.TempDir()); err == nil || !strings.Contains(err.Error(), "directory") {
		t.Errorf("a folder was read: %v", err)
	}
	if _, err := Encode(nil, &Note{strings.Repeat("x", MaxLine)}); err == nil {
		t.Error("a line too long to be read was written")
	}
}

// endless is a file such as /dev/zero.
type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

func TestPlansAndMixedRuns(t *testing.T) {
	run := func(command string) []Event {
		return []Event{&Header{Format: Format, Version: 1, Command: command}, &Note{command + " note"}, &End{}}
	}
	events := []Event{&Header{Format: Format, Version: 1, Command: "compare"}, &Plan{Order: "abba"}, &Note{"before"}}
	events = append(append(append(events, &Start{Run: 1, Arm: "cold"}), run("metal")...), &Exit{Run: 1})
	events = append(events, &Machine{Load: 1})
	events = append(events, &Start{Run: 2, Arm: "cpu"}, &Exit{Run: 2, Code: -1, Refused: "it crashed"})
	events = append(append(append(events, &Start{Run: 3, Arm: "cpu"}), run("cpu")...), &Exit{Run: 3})
	events = append(events, &Start{Run: 4, Arm: "cpu"}, &Header{Format: Format, Version: 1}, &Exit{Run: 4, Code: -1})
	events = append(events, &Note{"after"}, &End{Code: 3})
	f := collect(events)
	if f.Header == nil || f.Header.Command != "compare" || f.Plan == nil || f.PlanEnd == nil || f.PlanEnd.Code != 3 {
		t.Fatalf("the plan is %+v", f)
	}
	if got := fmt.Sprint(f.Parent.Notes, len(f.Parent.Machine)); got != "[{before} {after}] 1" {
		t.Errorf("the plan's own process wrote %s", got)
	}
	if len(f.Runs) != 4 || f.Runs[0].Header.Command != "metal" || f.Runs[1].Header.Version != 0 || f.Runs[2].Notes[0].Text != "cpu note" {
		t.Fatalf("runs are %+v", f.Runs)
	}
	if got := f.Counted(""); len(got) != 2 || len(f.Counted("cpu")) != 1 || f.Counted("cpu")[0] != f.Runs[2] {
		t.Errorf("%d runs count", len(got))
	}
	// Recordings put behind each other are a file of several runs.
	f = collect(append(run("cpu"), run("metal")...))
	if len(f.Runs) != 2 || f.Runs[1].Header.Command != "metal" || f.Header != nil || len(f.Warnings) > 0 {
		t.Errorf("two recordings behind each other are %+v", f)
	}
}

// TestPairs: of each block the last runs of both arms that count, in the order
// of the blocks.
func TestPairs(t *testing.T) {
	f := &File{Plan: &Plan{}}
	add := func(n, block int, arm, refused string) {
		f.Runs = append(f.Runs, &Run{Start: &Start{Run: n, Block: block, Arm: arm}, Exit: &Exit{Run: n, Refused: refused}, End: &End{}})
	}
	add(1, 3, "a", "")
	add(2, 3, "b", "")
	add(3, 1, "b", "")
	add(4, 1, "a", "")
	add(5, 2, "a", "it crashed")
	add(6, 2, "b", "")
	add(7, 4, "a", "")
	add(8, 1, "a", "") // again
	as, bs := f.Pairs("a", "b")
	var got []string
	for i := range as {
		got = append(got, fmt.Sprintf("%d-%d", as[i].Start.Run, bs[i].Start.Run))
	}
	if s := strings.Join(got, " "); s != "8-3 1-2" || len(bs) != len(as) {
		t.Errorf("the pairs are %q", s)
	}
}

func TestKnob(t *testing.T) {
	h := small()[0].(*Header)
	if v, said := h.Knob("commands-per-buffer"); v != "10" || !said {
		t.Errorf("commands-per-buffer is %q, %v", v, said)
	}
	if v, said := h.Knob("io"); v != "" || said {
		t.Errorf("io, of which nothing is said, is %q", v)
	}
}

func TestGrew(t *testing.T) {
	for _, c := range []struct {
		before, after *CacheFolder
		want          bool
	}{
		{&CacheFolder{Entries: 3, Bytes: 40}, &CacheFolder{Entries: 3, Bytes: 40}, false},
		{&CacheFolder{Entries: 3, Bytes: 40}, &CacheFolder{Entries: 4, Bytes: 40}, true},
		{&CacheFolder{Entries: 3, Bytes: 40}, &CacheFolder{Entries: 3, Bytes: 41}, true},
		{nil, &CacheFolder{Entries: 3}, false}, // it was not looked at
		{&CacheFolder{Entries: 3}, nil, false},
	} {
		if got := c.after.Grew(c.before); got != c.want {
			t.Errorf("from %+v to %+v: %v", c.before, c.after, got)
		}
	}
}

// TestErrorsLeadToTheirCause: a line that holds a time beyond all, and a file
// that cannot be read on.
func TestErrorsLeadToTheirCause(t *testing.T) {
	header := encode(t, small()[0])
	broken := errors.New("input/output error")
	var line *LineError
	var cut *CutError
	for _, err := range Events(io.MultiReader(bytes.NewReader(header), strings.NewReader("?\n"), iotest.ErrReader(broken))) {
		switch {
		case err == nil:
		case errors.As(err, &line):
			var syntax *json.SyntaxError
			if !errors.As(err, &syntax) || line.Line != 2 {
				t.Errorf("%v does not lead to what the line lacks", err)
			}
		case errors.As(err, &cut):
			if !errors.Is(err, broken) || cut.Line != 3 {
				t.Errorf("%v does not lead to what ended reading", err)
			}
		default:
			t.Error(err)
		}
	}
	if line == nil || cut == nil {
		t.Errorf("told were %v and %v", line, cut)
	}
}

// TestSpansInAnyOrder: spans that were open at a flush come twice, and other
// writers may put them in another order.
func TestSpansInAnyOrder(t *testing.T) {
	span := func(id, parent trace.ID, end time.Duration) Event {
		return &Span{trace.Record{ID: id, Parent: parent, Name: names.SpanEncodePrompt, Start: time.Duration(id), End: end}}
	}
	f := collect([]Event{&Header{}, span(1, 0, -1), span(2, 1, 9), span(1, 0, 10), span(5, 1, 9), span(4, 1, 8), span(3, 1, 7), span(4, 1, 8), span(5, 1, 11)})
	var got []string
	for _, s := range f.Runs[0].Spans {
		got = append(got, fmt.Sprint(s.ID, "-", int64(s.End)))
	}
	// Of 4, which stands there twice, one counts; of 5, which is two things, none.
	if s := strings.Join(got, " "); s != "1-10 2-9 3-7 4-8" || len(f.Warnings) != 2 ||
		!strings.Contains(f.Warnings[0], "1 spans stand there more than once") || !strings.Contains(f.Warnings[1], "(span 5) stands there once more as something else: neither counts") {
		t.Errorf("spans are %s, warnings %q", s, f.Warnings)
	}
}

// BenchmarkPass is what writing down a pass costs, between it and the next one:
// on the CPU a span, on Metal with 50 commands a buffer some 75 spans and 40
// counts.
func BenchmarkPass(b *testing.B) {
	for name, n := range map[string][2]int{"cpu": {2, 0}, "metal": {76, 39}} {
		b.Run(name, func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "a"+Ending)
			w, err := Create(path)
			if err != nil {
				b.Fatal(err)
			}
			defer w.Close()
			rec := trace.New()
			feed := Feed{Recorder: rec}
			for b.Loop() {
				for range n[0] {
					rec.Add(0, "encode", "compute", 0, 123456789, 123498765)
				}
				for range n[1] {
					rec.Count("metal dispatches", 50)
				}
				feed.Take(func(e Event) {
					if err := w.Put(e); err != nil {
						b.Fatal(err)
					}
				})
				if err := w.Flush(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func FuzzRead(f *testing.F) {
	whole := encode(f, small()...)
	f.Add(whole)
	f.Add(encode(f, foreign()...))
	f.Add(whole[:len(whole)/2])
	f.Add([]byte(`{"k":"header","format":"introgen recording","version":1}` + "\n" + `{"k":"plan"}` + "\n" + `{"k":"start","run":1}` + "\n" + `{"k":"exit","run":1}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		var events []Event
		for e, err := range Events(bytes.NewReader(b)) {
			if err == nil {
				events = append(events, e)
			}
		}
		if _, err := Read(bytes.NewReader(b), "fuzz"); err != nil && !errors.Is(err, ErrNotRecording) && !errors.Is(err, ErrNewer) {
			t.Errorf("error %v", err)
		}
		if len(events) == 0 {
			return
		}
		// What was read can be written, and is then the same.
		again := encode(t, events...)
		i := 0
		for e, err := range Events(bytes.NewReader(again)) {
			if err != nil {
				t.Fatalf("what was written is refused: %v", err)
			}
			if second := encode(t, e); !bytes.Equal(second, encode(t, events[i])) {
				t.Fatalf("%s was read again as %s", encode(t, events[i]), second)
			}
			i++
		}
		if i != len(events) {
			t.Fatalf("%d of %d events came back", i, len(events))
		}
	})
}

// FuzzQuick holds the quick reader to package json's reading.
func FuzzQuick(f *testing.F) {
	f.Add([]byte(`{"k":"span","id":3,"in":2,"name":"prefill","n":13,"start":210,"end":-1}`))
	f.Add([]byte(`{"k":"count","in":0,"name":"c","value":-1,"at":5}`))
	f.Add([]byte(`{"k":"span","id":3,"in":2,"name":"LIB","detail":"A","n":13,"track":1000,"start":210,"end":220}`))
	f.Add([]byte(`{"k":"executed","span":8,"track":1,"operations":[1,2],"start_ns":[5,7],"ns":[2,0]}`))
	f.Add([]byte(`{"k":"executed","span":8,"operations":[1],"start_ns":[],"ns":[]}`))
	f.Add([]byte(`{"k":"executed","span":8,"operations":[1,],"start_ns":[01],"ns":[,2]}`))
	f.Add([]byte(`{"k":"count","in":00,"name":"c","value":-0,"at":5}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		e, ok := new(decoder).quick(b)
		if !ok {
			return
		}
		spaced := bytes.Replace(b, []byte(`{"k":`), []byte(`{ "k":`), 1)
		slow, err := new(decoder).decode(spaced)
		if check(e) != nil {
			if err == nil {
				t.Fatalf("%s: package json takes what is refused", b)
			}
			return
		}
		if err != nil || !reflect.DeepEqual(e, slow) {
			t.Fatalf("%s: %+v, package json %+v, %v", b, e, slow, err)
		}
	})
}
