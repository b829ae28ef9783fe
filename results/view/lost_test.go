package view

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/console"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/trace"
	"github.com/introgen/introgen/trace/names"
)

// lostStep is a run whose second of three decode steps is not recorded, and
// whose building is.
func lostStep(t *testing.T) []byte {
	t.Helper()
	var text []byte
	span := func(id, in trace.ID, name string, n int64, from, to time.Duration) recording.Event {
		return &recording.Span{Record: trace.Record{ID: id, Parent: in, Name: name, N: n, Start: from, End: to}}
	}
	for _, e := range []recording.Event{
		&recording.Header{Format: recording.Format, Version: 1, Command: "cpu", View: recording.View{Label: "cpu"}},
		span(1, 0, names.SpanRound, 1, 0, -1),
		span(2, 1, names.SpanRead, 0, 0, 1_000_003),
		span(4, 1, names.SpanPrefill, 13, 2_000_000, 9_000_000),
		span(5, 1, names.SpanStep, 1, 9_000_000, 9_019_709),
		span(7, 1, names.SpanStep, 3, 9_040_000, 9_057_126),
		span(1, 0, names.SpanRound, 1, 0, 9_100_000),
		&recording.Round{Number: 1, Span: 1, Prompt: 13, IDs: []int32{1, 2, 3, 4}, Text: "t"},
		&recording.End{At: 9_200_000},
	} {
		var err error
		if text, err = recording.Encode(text, e); err != nil {
			t.Fatal(err)
		}
	}
	return text
}

// TestLostStep: no view has a figure of what is missing, or one under another's
// name.
func TestLostStep(t *testing.T) {
	text := lostStep(t)
	f, err := recording.Read(bytes.NewReader(text), "x")
	if err != nil {
		t.Fatal(err)
	}
	if said := strings.Join(f.Warnings, "\n"); !strings.Contains(said, "2 spans are missing, the first is span 3") || !strings.Contains(said, "round 1 has no decode step 2") {
		t.Errorf("told is %q", said)
	}
	var b bytes.Buffer
	if err := CSV(&b, f); err != nil {
		t.Fatal(err)
	}
	if want := `1,,,true,cpu,1,read gguf,,,1000003,
1,,,true,cpu,1,prefill,,,7000000,
1,,,true,cpu,1,decode step,,1,19709,
1,,,true,cpu,1,decode step,,3,17126,
`; !strings.HasSuffix(b.String(), want) || strings.Count(b.String(), "\n") != 5 {
		t.Errorf("samples are\n%s\nwant\n%s", b.String(), want)
	}
	b.Reset()
	if err := JSON(&b, f); err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Warnings []string
		Runs     []struct {
			Lost   int `json:"lost_spans"`
			Rounds []struct {
				Build *int64   `json:"build_ns"`
				Read  *int64   `json:"read_ns"`
				Steps []*int64 `json:"steps_ns"`
			}
		}
	}
	if err := json.Unmarshal(b.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	r := doc.Runs[0].Rounds[0]
	if doc.Runs[0].Lost != 2 || len(doc.Warnings) != 2 || r.Build != nil || *r.Read != 1000003 || len(r.Steps) != 3 || *r.Steps[0] != 19709 || r.Steps[1] != nil || *r.Steps[2] != 17126 {
		t.Errorf("JSON is %s", b.String())
	}
	b.Reset()
	if err := Table(&b, f); err != nil {
		t.Fatal(err)
	}
	if want := "    1  1.00      –     7.00  0.0197           0.0171       –  2 of 3\n"; !strings.Contains(b.String(), want) {
		t.Errorf("the table is\n%s\nwithout %q", b.String(), want)
	}
	b.Reset()
	p := console.New(&b)
	for e, err := range recording.Events(bytes.NewReader(text)) {
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Event(e); err != nil {
			t.Fatal(err)
		}
	}
	want := "[cpu round 1] read gguf 1.00 ms, build model – ms, prefill (13 tokens) 7.00 ms, 2 of 3 decode steps 0.0368 ms (mean 0.0184 ms), total – ms\n" +
		"[cpu round 1] decode steps (ms): 0.0197 – 0.0171\n"
	if !strings.HasPrefix(b.String(), want) {
		t.Errorf("printed is\n%s\nwant\n%s", b.String(), want)
	}
	if d, ok := breakdown.Take(f.Runs[0]).Told[0].Token(1); ok {
		t.Errorf("without building, the first token is there after %v", d)
	}
}

// TestEveryDigit: what the samples and JSON hold is what was recorded, to the
// nanosecond, from 1 of them to the most that a recording takes.
func TestEveryDigit(t *testing.T) {
	for _, took := range []time.Duration{1, 412, 19_709, 7_300_001, 97_448_764_765, 1 << 52} {
		c := recording.NewCollector()
		for _, e := range []recording.Event{&recording.Header{},
			&recording.Span{Record: trace.Record{ID: 1, Name: names.SpanRound, N: 1, End: 2 * took}},
			&recording.Span{Record: trace.Record{ID: 2, Parent: 1, Name: names.SpanPrefill, N: 13, End: took}},
			&recording.Span{Record: trace.Record{ID: 3, Parent: 1, Name: names.SpanStep, N: 1, Start: took, End: 2 * took}},
			&recording.Round{Number: 1, Span: 1, Prompt: 13, IDs: []int32{1, 2}},
		} {
			c.Add(e)
		}
		f := c.File()
		var csv, text bytes.Buffer
		if err := CSV(&csv, f); err != nil {
			t.Fatal(err)
		}
		if err := JSON(&text, f); err != nil {
			t.Fatal(err)
		}
		if want := fmt.Sprintf("decode step,,1,%d,\n", int64(took)); !strings.Contains(csv.String(), want) {
			t.Errorf("samples are %s without %q", csv.String(), want)
		}
		if want := fmt.Sprintf("\"prefill_ns\": %d,", int64(took)); !strings.Contains(text.String(), want) {
			t.Errorf("JSON is %s without %q", text.String(), want)
		}
	}
}

// TestFailedBeforeAToken: of a round that failed before its first token no view
// has a phase that did not come to its end, nor 0 ms of decode steps.
func TestFailedBeforeAToken(t *testing.T) {
	span := func(id, in trace.ID, name string, n int64, from, to time.Duration) recording.Event {
		return &recording.Span{Record: trace.Record{ID: id, Parent: in, Name: name, N: n, Start: from, End: to}}
	}
	var text []byte
	for _, e := range []recording.Event{
		&recording.Header{Format: recording.Format, Version: 1, Command: "metal", View: recording.View{Label: "metal"}},
		span(1, 0, names.SpanRound, 1, 0, -1),
		span(2, 1, names.SpanRead, 0, 0, 1_000_003),
		span(3, 1, names.SpanBuild, 0, 2_000_000, 9_000_000),
		span(1, 0, names.SpanRound, 1, 0, 9_100_000),
		&recording.Round{Number: 1, Span: 1, Prompt: 13, Error: "metal library Cast does not compile"},
		&recording.End{At: 9_200_000, Code: 1, Error: "metal library Cast does not compile"},
	} {
		var err error
		if text, err = recording.Encode(text, e); err != nil {
			t.Fatal(err)
		}
	}
	f, err := recording.Read(bytes.NewReader(text), "x")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := Markdown(&b, f); err != nil {
		t.Fatal(err)
	}
	if want := "it ended with exit code 1: metal library Cast does not compile\n"; b.String() != want {
		t.Errorf("%s\nwant %s", b.String(), want)
	}
}

// TestPartsAddUp: what stands of a phase's parts adds up to its wall clock, also
// where weights were brought to the device, and each part of a divided table says
// of which phase its rows are.
func TestPartsAddUp(t *testing.T) {
	at := func(id, in trace.ID, name, detail string, n int64, from, to time.Duration) trace.Record {
		return trace.Record{ID: id, Parent: in, Name: name, Detail: detail, N: n, Start: from * time.Millisecond, End: to * time.Millisecond}
	}
	f := &recording.File{Runs: []*recording.Run{{
		Spans: []trace.Record{at(1, 0, names.SpanRound, "", 1, 0, 2000), at(2, 1, names.SpanBuild, "", 0, 0, 1000), at(3, 2, names.SpanLibrary, "Gemm", 7, 0, 100),
			at(4, 2, names.SpanWeights, "w", 8, 100, 450), at(5, 2, names.SpanEncoder, "blit", 0, 450, 500), at(6, 2, names.SpanCommit, "", 0, 500, 525),
			at(7, 2, names.SpanWait, "", 0, 525, 900), at(8, 1, names.SpanPrefill, "", 3, 1000, 2000)},
		Libraries: []recording.Library{{Span: 3, Name: "Gemm", SourceBytes: 7, Cache: "miss"}},
	}}}
	var b strings.Builder
	if err := Markdown(&b, f); err != nil {
		t.Fatal(err)
	}
	if want := "1, build model | 1000.0 |   100.0 |   350.0 |   50.0 |   25.0 | 375.0 |   100.0 |"; !strings.Contains(b.String(), want) {
		t.Errorf("no %q in\n%s", want, b.String())
	}
	b.Reset()
	if err := Table(&b, f); err != nil {
		t.Fatal(err)
	}
	if heads, rows := strings.Count(b.String(), "round, phase "), strings.Count(b.String(), "1, build model "); heads != rows || heads == 0 {
		t.Errorf("%d headings and %d rows of a phase in\n%s", heads, rows, b.String())
	}
}
