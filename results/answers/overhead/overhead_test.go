package overhead_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/introgen/introgen/results/answers/overhead"
	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/table"
	"github.com/introgen/introgen/trace"
	"github.com/introgen/introgen/trace/names"
)

const ms = time.Millisecond

// run decodes ten tokens in steps of 4 ms and a pause of 1 ms behind each; a
// traced run has a span for each with two others below and a sample.
func run(n int, arm string, slower float64) *recording.Run {
	r := &recording.Run{
		Start: &recording.Start{Run: n, Block: (n + 1) / 2, Arm: arm}, Exit: &recording.Exit{Run: n}, End: &recording.End{SpanCost: 80_000},
		Rounds: []recording.Round{{Number: 1, Span: 1, IDs: make([]int32, 11)}},
	}
	add := func(parent trace.ID, name string, start, end time.Duration) trace.ID {
		id := trace.ID(len(r.Spans) + 1)
		r.Spans = append(r.Spans, trace.Record{ID: id, Parent: parent, Name: name, Start: start, End: end})
		return id
	}
	add(0, names.SpanRound, 0, 100*ms)
	add(1, names.SpanPrefill, 10*ms, 20*ms)
	add(1, names.SpanCheck, 20*ms, 21*ms) // after the prefill, as with --logits
	now := 21 * ms
	for range 10 {
		took := time.Duration(slower * float64(4*ms))
		if arm == overhead.Traced {
			s := add(1, names.SpanStep, now, now+took)
			add(s, "encode", now, now+ms)
			add(add(s, "commit", now, now+ms), "below", now, now+1)
			r.Samples = append(r.Samples, trace.Sample{Span: s, At: now}, trace.Sample{Span: 1, At: ms})
		}
		now += took + ms
	}
	add(1, names.SpanCheck, now, now+ms)
	return r
}

func file(slower float64, blocks int) *recording.File {
	f := &recording.File{Plan: &recording.Plan{Arms: []recording.Arm{{Name: overhead.Untraced, Args: []string{"cpu"}}, {Name: overhead.Traced, Args: []string{"cpu"}}}}}
	for b := range blocks {
		f.Runs = append(f.Runs, run(2*b+1, overhead.Untraced, 1), run(2*b+2, overhead.Traced, slower))
	}
	return f
}

// TestAnswer: 51 ms of decoding in 10 steps are 5.1 ms a step; steps that are
// 10 % slower make that 5.5. Four spans and a sample at 80 ns are 400 ns of
// 4.4 ms.
func TestAnswer(t *testing.T) {
	a, err := overhead.Of(breakdown.Of(file(1.1, 6)))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := a.Ratio.Ratio, 5.5/5.1; math.Abs(got-want) > 1e-6 || !a.Ratio.Significant {
		t.Errorf("ratio %+v, want %v", a.Ratio, want)
	}
	if a.Span != 80 || a.Step != 4.4e6 || a.Spans != 5 || math.Abs(a.Share-400/4.4e6) > 1e-12 || !a.Within() {
		t.Errorf("answer %+v", a)
	}
	var shown strings.Builder
	if err := a.Document().Write(&shown, table.CSV); err != nil {
		t.Fatal(err)
	}
	// Both arms by what decoding takes for each step, then what that means.
	for _, want := range []string{"untraced,5.1,", "traced,5.5,", "a span costs 80.0 ns", "traced runs take 1.078 times as long"} {
		if !strings.Contains(shown.String(), want) {
			t.Errorf("%q is not shown in\n%s", want, shown.String())
		}
	}
	text := strings.Join(a.Notes, "\n")
	for _, want := range []string{"a span costs 80.0 ns, a decode step of 4.40 ms has 5 spans and samples: 0.00909 % of it, at most the 1 % that are allowed",
		"traced runs take 1.078 times as long as untraced ones, from 1.078 to 1.078 with 95 % (p 0.0312)"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
}

func TestNothingSeen(t *testing.T) {
	a, err := overhead.Of(breakdown.Of(file(1, 6)))
	if err != nil || !strings.Contains(strings.Join(a.Notes, "\n"), "no difference between traced and untraced runs is seen; the ratio lies between 1.000 and 1.000") {
		t.Errorf("%+v, %v", a, err)
	}
	f := file(1, 6)
	for _, r := range f.Runs {
		r.End.SpanCost = 80_000_000
	}
	if a, err := overhead.Of(breakdown.Of(f)); err != nil || a.Within() || !strings.Contains(a.Notes[0], "MORE than the 1 %") {
		t.Errorf("%+v, %v", a, err)
	}
	f = file(1, 1)
	f.Runs = f.Runs[:1]
	if _, err := overhead.Of(breakdown.Of(f)); err == nil || !strings.Contains(err.Error(), "no traced run") {
		t.Errorf("error %v", err)
	}
}
