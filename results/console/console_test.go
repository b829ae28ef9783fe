package console

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/trace"
	"github.com/introgen/introgen/trace/names"
)

func header(v recording.View) recording.Event {
	return &recording.Header{Format: recording.Format, Version: 1, Model: recording.Model{File: "m.gguf", Types: "211 Q8_0 + 61 F32"}, View: v}
}

// span is a span in tenths of a millisecond; to < 0 is open.
func span(id, in trace.ID, name, detail string, n int64, from, to int) recording.Event {
	end := time.Duration(to) * 100 * time.Microsecond
	if to < 0 {
		end = -1
	}
	return &recording.Span{Record: trace.Record{ID: id, Parent: in, Name: name, Detail: detail, N: n, Start: time.Duration(from) * 100 * time.Microsecond, End: end}}
}

var subject = &recording.Subject{IO: "mmap", PageCache: "100 % of the file in the page cache", Engine: "cpu: avx512", Tokenizer: "go"}

// printed feeds events as they are, and once more as read from a file.
func printed(t *testing.T, events ...recording.Event) string {
	t.Helper()
	var live, again strings.Builder
	p := New(&live)
	var file []byte
	for _, e := range events {
		if err := p.Event(e); err != nil {
			t.Fatal(err)
		}
		var err error
		if file, err = recording.Encode(file, e); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	p = New(&again)
	for e, err := range recording.Events(bytes.NewReader(file)) {
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Event(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if live.String() != again.String() {
		t.Errorf("printed live:\n%s\nand from the file:\n%s", live.String(), again.String())
	}
	return live.String()
}

// round is one with two steps, of which the second is cut off where cut is set.
func round(cut bool) []recording.Event {
	end, ids := 0, []int32{66, 467, 314}
	if cut {
		end, ids = -1, ids[:2]
	}
	return []recording.Event{
		span(1, 0, names.SpanTokenizer, "go", 0, 0, 82),
		span(2, 0, names.SpanRound, "", 1, 100, -1),
		span(3, 2, names.SpanRead, "mmap", 0, 100, 104),
		span(4, 2, names.SpanBuild, "", 0, 104, 113),
		subject,
		span(5, 2, names.SpanRecord, "", 0, 113, 114),
		span(6, 2, names.SpanPrefill, "", 13, 120, 220),
		span(7, 2, names.SpanStep, "", 1, 230, 268),
		span(8, 2, names.SpanStep, "", 2, 270, 304+1000*end),
		span(2, 0, names.SpanRound, "", 1, 100, 310),
		&recording.Round{Number: 1, Span: 2, Prompt: 13, IDs: ids, Text: "Rust \"is\"\n\xf0\x9f", Top: [][]recording.Logit{{{ID: 66, Value: 30.892009}}, {{ID: 467, Value: 23.5}}}},
	}
}

func TestRound(t *testing.T) {
	const subjectLine = "# m.gguf: 211 Q8_0 + 61 F32, read by mmap, 100 % of the file in the page cache; cpu: avx512; tokenizer go, ready in 8.20 ms\n"
	const phases = "[cpu round 1] read gguf 0.400 ms, build model 0.900 ms, prefill (13 tokens) 10.0 ms, 2 decode steps 7.20 ms (mean 3.60 ms), total 17.2 ms\n"
	const logits = "[cpu round 1] logits after prefill: 66 30.892010\n[cpu round 1] logits after step 1: 467 23.500000\n"
	for _, c := range []struct {
		name string
		view recording.View
		cut  bool
		want string
	}{
		{"as usual", recording.View{Label: "cpu", IDs: true}, false,
			subjectLine + phases + "[cpu round 1] decode steps (ms): 3.80 3.40\n[cpu round 1] ids: 66 467 314\n" + logits + `[cpu round 1] text: "Rust \"is\"\n\xf0\x9f"` + "\n"},
		{"quiet", recording.View{Label: "cpu", Quiet: true}, false, phases + logits},
		{"cut off in its second step", recording.View{Label: "cpu", Quiet: true}, true,
			"[cpu round 1] read gguf 0.400 ms, build model 0.900 ms, prefill (13 tokens) 10.0 ms, 1 decode steps 3.80 ms (mean 3.80 ms), total 13.8 ms\n" + logits},
	} {
		if got := printed(t, append([]recording.Event{header(c.view)}, round(c.cut)...)...); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
	// A round without a token says nothing, and neither does one of unknown spans.
	if got := printed(t, header(recording.View{Label: "cpu"}), &recording.Round{Number: 1, Span: 9, IDs: []int32{1}}, &recording.Round{Number: 1, Span: 9}); got != "" {
		t.Errorf("printed %q", got)
	}
}

// What is made beside the thread that generates says so.
func TestTraceBeside(t *testing.T) {
	lib := trace.Record{ID: 3, Parent: 1, Name: names.SpanLibrary, Detail: "Gemm", Track: 2, Start: 5e6, End: -1}
	ended := lib
	ended.End = 45e6
	got := printed(t, header(recording.View{Label: "metal", Trace: true}),
		&recording.Span{Record: trace.Record{ID: 1, Name: names.SpanRound, N: 1, End: -1}},
		&recording.Span{Record: trace.Record{ID: 2, Parent: 1, Name: names.SpanBuild, End: -1}},
		&recording.Span{Record: lib}, &recording.Span{Record: ended},
		&recording.Span{Record: trace.Record{ID: 4, Parent: 2, Name: names.SpanPipeline, Detail: "Gemm gemm_nn", Start: 50e6, End: 52e6}})
	const want = "--- metal round 1: build model\nLIB  Gemm 40.0 ms, beside\nPIPE Gemm gemm_nn 2.00 ms\n"
	if got != want {
		t.Errorf("printed %q, want %q", got, want)
	}
}

// TestTrace: the same lines whether a phase is told while it lasts, as when a
// slow library is written at once, or when it is over.
func TestTrace(t *testing.T) {
	const want = `[metal] Device::new_metal 12.3 ms
--- metal round 1: build model
LIB  Cast 77.5 ms
PIPE Cast cast_u32_f32 0.900 ms
--- metal round 1: prefill
--- metal round 1: decode step 1
LIB  Sdpa 2.00 ms
--- metal round 1: decode step 2
--- metal round 1: decode step 4
PIPE Sdpa sdpa_vector_float_64 0.100 ms
# cache: libraries 1 from the cache and 2 compiled, pipelines 3 from the cache and 4 compiled; nonce "n"; /c held 5 entries (1.50 MB) before and 6 (2.00 MB) after
`
	begin := []recording.Event{
		header(recording.View{Label: "metal", Trace: true}),
		span(1, 0, names.SpanDevice, "", 0, 0, 123),
		&recording.Device{Driver: "soft"},
		span(2, 0, names.SpanRound, "", 1, 200, -1),
	}
	live := []recording.Event{
		span(3, 2, names.SpanBuild, "", 0, 210, -1),
		span(4, 3, names.SpanLibrary, "Cast", 0, 210, 985),
		span(3, 2, names.SpanBuild, "", 0, 210, 1000),
		span(5, 3, names.SpanPipeline, "Cast cast_u32_f32", 0, 985, 994),
	}
	later := []recording.Event{
		span(3, 2, names.SpanBuild, "", 0, 210, 1000),
		span(4, 3, names.SpanLibrary, "Cast", 0, 210, 985),
		span(5, 3, names.SpanPipeline, "Cast cast_u32_f32", 0, 985, 994),
	}
	end := []recording.Event{
		span(6, 2, names.SpanPrefill, "", 13, 1000, 1100),
		span(7, 2, names.SpanStep, "", 1, 1100, 1150),
		span(8, 7, names.SpanLibrary, "Sdpa", 0, 1110, 1130),
		span(9, 2, names.SpanStep, "", 2, 1150, 1200),
		span(10, 2, names.SpanStep, "", 3, 1200, 1250),
		span(11, 2, names.SpanStep, "", 4, 1250, 1300),
		span(12, 11, names.SpanPipeline, "Sdpa sdpa_vector_float_64", 0, 1260, 1261),
		&recording.Evidence{What: recording.EvidencePageCache, Round: 1, Resident: 1},
		&recording.Evidence{What: recording.EvidenceMetalCache, LibraryHits: 1, LibraryMisses: 2, PipelineHits: 3, PipelineMisses: 4, Nonce: "n", Folder: "/c",
			Before: &recording.CacheFolder{Entries: 5, Bytes: 1_500_000}, After: &recording.CacheFolder{Entries: 6, Bytes: 2_000_000}},
		&recording.End{},
		&recording.Note{Text: "after the end"},
	}
	for name, phase := range map[string][]recording.Event{"while it lasts": live, "when it is over": later} {
		var events []recording.Event
		events = append(append(append(events, begin...), phase...), end...)
		got, tables, ok := strings.Cut(printed(t, events...), "library  source bytes")
		if got != want || !ok || !strings.Contains(tables, "decode step 1") {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, want)
		}
	}
}

// A driver that does not tell hit from miss has its folder tell.
func TestCacheUnknown(t *testing.T) {
	before := &recording.CacheFolder{Entries: 5, Bytes: 1_500_000, Changed: "2026-01-02T03:04:05Z"}
	for changed, want := range map[string]string{
		before.Changed:         "changed last at 2026-01-02T03:04:05Z, before the run",
		"2026-01-02T03:04:06Z": "changed last at 2026-01-02T03:04:06Z",
	} {
		e := &recording.Evidence{Unknown: 31, Folder: "/c", Before: before, After: &recording.CacheFolder{Entries: 5, Bytes: 1_500_000, Changed: changed}}
		want = "# cache: of 31 libraries and pipelines the driver does not say whether it had them; no nonce; /c held 5 entries (1.50 MB) before and 5 (1.50 MB) after, " + want
		if got := cacheLine(e); got != want {
			t.Errorf("%s\nwant\n%s", got, want)
		}
	}
}

func TestPlan(t *testing.T) {
	events := []recording.Event{header(recording.View{}), &recording.Plan{}, &recording.Start{Run: 1, Block: 1, Arm: "cold"}, header(recording.View{Label: "cpu", Quiet: true})}
	events = append(append(events, round(false)...), &recording.Exit{Run: 1, Refused: "labelled cold: it was warm"})
	events = append(events, &recording.Start{Run: 2, Block: 1, Arm: "cpu"}, &recording.Exit{Run: 2, Flags: []string{"drift", "load"}}, &recording.Note{Text: "n"}, &recording.End{})
	got := printed(t, events...)
	want := "# run 1, block 1: cold\n[cpu round 1] read gguf 0.400 ms"
	if !strings.HasPrefix(got, want) || !strings.HasSuffix(got, "# run 1 does not count: labelled cold: it was warm\n# run 2, block 1: cpu\n# run 2: drift; load\n") {
		t.Errorf("printed\n%s", got)
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("gone") }

func TestFirstErrorStays(t *testing.T) {
	p := New(failing{})
	for _, e := range append([]recording.Event{header(recording.View{Label: "cpu", Trace: true})}, round(false)...) {
		_ = p.Event(e)
	}
	if err := p.Close(); err == nil || err.Error() != "gone" || !errors.Is(p.Err(), err) {
		t.Errorf("error %v", err)
	}
}

// FuzzText prints whatever a file holds.
func FuzzText(f *testing.F) {
	var seed []byte
	for _, e := range append([]recording.Event{header(recording.View{Label: "metal", Trace: true, IDs: true})}, round(false)...) {
		var err error
		if seed, err = recording.Encode(seed, e); err != nil {
			f.Fatal(err)
		}
	}
	f.Add(seed)
	f.Fuzz(func(t *testing.T, b []byte) {
		p := New(io.Discard)
		for e, err := range recording.Events(bytes.NewReader(b)) {
			if err == nil {
				_ = p.Event(e)
			}
		}
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

// TestFailedEarly: a run that failed before anything was compiled or came to a
// token ends in no tables and no samples; of one that failed later those that
// have rows are there.
func TestFailedEarly(t *testing.T) {
	view := recording.View{Label: "metal", Trace: true, Bench: true, Quiet: true}
	failed := &recording.End{Code: 1, Error: "no Metal"}
	device := []recording.Event{header(view), span(1, 0, names.SpanTokenizer, "go", 0, 0, 50), span(2, 0, names.SpanDevice, "", 0, 50, 123)}
	if got := printed(t, append(device, failed)...); got != "" {
		t.Errorf("without a device: %q", got)
	}
	round := append(device, span(3, 0, names.SpanRound, "", 1, 200, -1), span(4, 3, names.SpanBuild, "", 0, 210, 900),
		span(5, 4, names.SpanLibrary, "Cast", 0, 210, 885))
	library := &recording.Library{Span: 5, Name: "Cast", Kernels: 1, Cache: "miss"}
	cut := &recording.Round{Number: 1, Span: 3, Error: "no Metal"}
	got := printed(t, append(round, cut, failed)...)
	if want := "--- metal round 1: build model\nLIB  Cast 67.5 ms\n"; got != want {
		t.Errorf("without a library: %q, want %q", got, want)
	}
	got = printed(t, append(round, library, cut, failed)...)
	if !strings.Contains(got, "library  source bytes") || strings.Contains(got, "pipeline") || strings.Contains(got, "Benchmark") || strings.Contains(got, "#") {
		t.Errorf("with a library:\n%s", got)
	}
}

// TestLostBegin: a round whose begin is not recorded, and is told with its end
// alone, has the phases that lie in it all the same.
func TestLostBegin(t *testing.T) {
	events := append([]recording.Event{header(recording.View{Label: "cpu"})}, round(false)...)
	want := printed(t, events...)
	lost := slices.DeleteFunc(slices.Clone(events), func(e recording.Event) bool {
		s, ok := e.(*recording.Span)
		return ok && s.Name == names.SpanRound && s.End < 0
	})
	if len(lost) != len(events)-1 {
		t.Fatalf("%d events of %d are left", len(lost), len(events))
	}
	if got := printed(t, lost...); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
