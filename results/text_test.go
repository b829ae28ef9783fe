package results

import (
	"strings"
	"testing"
	"time"

	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/trace"
)

// The lines are the experiment's own: its first CPU round, digit for digit.
func TestLinesOfTheExperiment(t *testing.T) {
	rec := trace.New()
	at := time.Duration(0)
	round := rec.Add(0, SpanRound, "", 1, 0, time.Second)
	add := func(name string, n int64, ms float64) {
		d := time.Duration(ms * 1e6)
		rec.Add(round, name, "", n, at, at+d)
		at += d
	}
	add(SpanRead, 0, 130.8)
	add(SpanBuild, 0, 42.2)
	add(SpanPrefill, 13, 35.54)
	for i, ms := range []float64{10.2, 7.3, 7.6, 8.4, 7.2, 9.7, 7.4, 8.6, 7.2, 7.0, 8.3, 8.5, 8.1, 8.7, 8.5, 9.0, 9.6, 8.9, 10.8, 9.82} {
		add(SpanStep, int64(i+1), ms)
	}
	var b strings.Builder
	p := PhasesOf(&recording.Run{Spans: rec.Spans(), Rounds: []recording.Round{{Number: 1, Span: round}}})[0]
	if err := WritePhases(&b, "cpu", p, true); err != nil {
		t.Fatal(err)
	}
	if err := WriteText(&b, "cpu", 1, "Rust is \"safe\"\né"); err != nil {
		t.Fatal(err)
	}
	if err := WriteIDs(&b, "cpu", 1, []int32{66, 467}); err != nil {
		t.Fatal(err)
	}
	if err := WriteLogits(&b, "cpu", 1, "prefill", []Logit{{ID: 66, Value: 30.892009}, {ID: 5714, Value: 27.092799}}); err != nil {
		t.Fatal(err)
	}
	want := `[cpu round 1] read gguf 130.8 ms, build model 42.2 ms, prefill (13 tokens) 35.5 ms, 20 decode steps 170.8 ms (mean 8.5 ms), total 206.4 ms
[cpu round 1] decode steps (ms): 10.2 7.3 7.6 8.4 7.2 9.7 7.4 8.6 7.2 7.0 8.3 8.5 8.1 8.7 8.5 9.0 9.6 8.9 10.8 9.8
[cpu round 1] text: "Rust is \"safe\"\né"
[cpu round 1] ids: 66 467
[cpu round 1] logits after prefill: 66 30.892010, 5714 27.092798
`
	if got := b.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if p.Unattributed != time.Second-at {
		t.Errorf("unattributed is %v, want %v", p.Unattributed, time.Second-at)
	}

	b.Reset()
	if err := WritePhases(&b, "cpu", Phases{Round: 2, PromptTokens: 1, Prefill: time.Millisecond}, true); err != nil {
		t.Fatal(err)
	}
	if got, want := b.String(), "[cpu round 2] read gguf 0.0 ms, build model 0.0 ms, prefill (1 tokens) 1.0 ms, 0 decode steps 0.0 ms, total 1.0 ms\n"; got != want {
		t.Errorf("without steps: got %q, want %q", got, want)
	}
}
