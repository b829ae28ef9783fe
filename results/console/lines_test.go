package console

import (
	"strings"
	"testing"
	"time"

	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/trace"
	"github.com/introgen/introgen/trace/names"
)

// The lines are the experiment's own: its first CPU round, but for the digits of
// times below 10 ms, of which three count at least.
func TestLinesOfTheExperiment(t *testing.T) {
	rec := trace.New()
	at := time.Duration(0)
	round := rec.Add(0, names.SpanRound, "", 1, 0, time.Second)
	add := func(name string, n int64, ms float64) {
		d := time.Duration(ms * 1e6)
		rec.Add(round, name, "", n, at, at+d)
		at += d
	}
	add(names.SpanRead, 0, 130.8)
	add(names.SpanBuild, 0, 42.2)
	add(names.SpanPrefill, 13, 35.54)
	for i, ms := range []float64{10.2, 7.3, 7.6, 8.4, 7.2, 9.7, 7.4, 8.6, 7.2, 7.0, 8.3, 8.5, 8.1, 8.7, 8.5, 9.0, 9.6, 8.9, 10.8, 9.82} {
		add(names.SpanStep, int64(i+1), ms)
	}
	var b strings.Builder
	r := breakdown.Rounds(&recording.Run{Spans: rec.Spans()})[0]
	p := New(&b)
	p.phases("cpu", r, true)
	p.text("cpu", 1, "Rust is \"safe\"\né")
	p.ids("cpu", 1, []int32{66, 467})
	p.logits("cpu", 1, "prefill", []recording.Logit{{ID: 66, Value: 30.892009}, {ID: 5714, Value: 27.092799}})
	if err := p.Err(); err != nil {
		t.Fatal(err)
	}
	want := `[cpu round 1] read gguf 130.8 ms, build model 42.2 ms, prefill (13 tokens) 35.5 ms, 20 decode steps 170.8 ms (mean 8.54 ms), total 206.4 ms
[cpu round 1] decode steps (ms): 10.2 7.30 7.60 8.40 7.20 9.70 7.40 8.60 7.20 7.00 8.30 8.50 8.10 8.70 8.50 9.00 9.60 8.90 10.8 9.82
[cpu round 1] text: "Rust is \"safe\"\né"
[cpu round 1] ids: 66 467
[cpu round 1] logits after prefill: 66 30.892010, 5714 27.092798
`
	if got := b.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	// numpy has 8.50, 9.724, 10.6236 and 10.8 of the steps after the first.
	// Of each two steps that share a column the longer is drawn, in eighths of 10.8.
	for unicode, drawn := range map[bool]string{true: "▆▇█▆▇▇▇▇▇██", false: "+*#+*****##"} {
		b.Reset()
		p.Unicode = unicode
		if p.percentiles("cpu", r); p.Err() != nil {
			t.Fatal(p.Err())
		}
		if got, want := b.String(), "[cpu round 1] decode steps p50 8.50, p90 9.72, p99 10.6, max 10.8 ms "+drawn+"\n"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	b.Reset()
	made := func(number int, steps int, phases ...breakdown.Phase) breakdown.Round {
		return breakdown.Round{Number: number, Phases: phases, Event: &recording.Round{IDs: make([]int32, steps+1)}}
	}
	phase := func(name string, n, took int) breakdown.Phase {
		return breakdown.Phase{Name: name, N: int64(n), End: time.Duration(took) * time.Millisecond}
	}
	quick := made(2, 0, phase(names.SpanRead, 0, 0), phase(names.SpanBuild, 0, 0), phase(names.SpanPrefill, 1, 1))
	if p.phases("cpu", quick, true); p.Err() != nil {
		t.Fatal(p.Err())
	}
	if got, want := b.String(), "[cpu round 2] read gguf 0.0 ms, build model 0.0 ms, prefill (1 tokens) 1.00 ms, 0 decode steps 0.0 ms, total 1.00 ms\n"; got != want {
		t.Errorf("without steps: got %q, want %q", got, want)
	}

	// What is missing is said to be, and no sum that lacks it is shown as whole.
	b.Reset()
	lost := made(1, 3, phase(names.SpanRead, 0, 2), phase(names.SpanPrefill, 13, 30), phase(names.SpanStep, 2, 10), phase(names.SpanStep, 3, 20))
	if p.phases("cpu", lost, true); p.Err() != nil {
		t.Fatal(p.Err())
	}
	if got, want := b.String(), "[cpu round 1] read gguf 2.00 ms, build model – ms, prefill (13 tokens) 30.0 ms, 2 of 3 decode steps 30.0 ms (mean 15.0 ms), total – ms\n"+
		"[cpu round 1] decode steps (ms): – 10.0 20.0\n"; got != want {
		t.Errorf("with a step lost: got %q, want %q", got, want)
	}
}
