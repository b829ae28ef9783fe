package benchtext_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/introgen/introgen/results/benchtext"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/trace"
	"github.com/introgen/introgen/trace/names"
	"golang.org/x/perf/benchfmt"
)

// steps is a run of one round whose decode steps take so long, one of which,
// from 1, is not recorded; backwards has it end before it begins.
func steps(t *testing.T, took []time.Duration, lost int, backwards bool) *recording.File {
	t.Helper()
	var text []byte
	put := func(e recording.Event) {
		var err error
		if text, err = recording.Encode(text, e); err != nil {
			t.Fatal(err)
		}
	}
	now, id := time.Duration(0), trace.ID(1)
	span := func(name string, n int64, took time.Duration) {
		id++
		s := trace.Record{ID: id, Parent: 1, Name: name, N: n, Start: now, End: now + took}
		now += took
		if name == names.SpanStep && n == int64(lost) {
			if !backwards {
				return
			}
			s.Start, s.End = s.End, s.Start
		}
		put(&recording.Span{Record: s})
	}
	put(&recording.Header{Format: recording.Format, Version: 1, Command: "cpu"})
	put(&recording.Span{Record: trace.Record{ID: 1, Name: names.SpanRound, N: 1, End: -1}})
	span(names.SpanRead, 0, 1000)
	span(names.SpanBuild, 0, 2000)
	span(names.SpanPrefill, 2, 30_000)
	ids := []int32{7}
	for i, d := range took {
		span(names.SpanStep, int64(i+1), d)
		ids = append(ids, int32(i))
	}
	put(&recording.Span{Record: trace.Record{ID: 1, Name: names.SpanRound, N: 1, End: now}})
	put(&recording.Round{Number: 1, Span: 1, Prompt: 2, IDs: ids})
	put(&recording.End{At: int64(now)})
	f, err := recording.Read(bytes.NewReader(text), "x")
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// samples are the values of each name, as benchstat's own reader reads them.
func samples(t *testing.T, f *recording.File) map[string]map[string]float64 {
	t.Helper()
	text, _ := benchtext.Text(f)
	out := map[string]map[string]float64{}
	r := benchfmt.NewReader(bytes.NewReader(text), "x")
	for r.Scan() {
		if e, ok := r.Result().(*benchfmt.SyntaxError); ok {
			t.Fatal(e)
		}
		if x, ok := r.Result().(*benchfmt.Result); ok {
			values := map[string]float64{"n": float64(x.Iters)}
			for _, v := range x.Values {
				if v.OrigUnit != "" {
					values[v.OrigUnit] = v.OrigValue
				} else {
					values[v.Unit] = v.Value
				}
			}
			out[x.Name.String()] = values
		}
	}
	return out
}

// TestLostStep: a step that is not recorded, or cannot be, has no sample, and
// the others keep their numbers.
func TestLostStep(t *testing.T) {
	took := []time.Duration{19709, 16575, 17126}
	whole := samples(t, steps(t, took, 0, false))
	if got := whole["Decode/step=1"]["ns/op"]; got != 19709 || whole["SecondToken"]["ns/op"] != 33000+19709 || whole["Total"]["ns/op"] != 30000+19709+16575+17126 {
		t.Fatalf("of a whole run: %v", whole)
	}
	for _, backwards := range []bool{false, true} {
		for lost := 1; lost <= 3; lost++ {
			f := steps(t, took, lost, backwards)
			if text := strings.Join(f.Warnings, "\n"); !strings.Contains(text, "round 1 has no decode step "+string(rune('0'+lost))) ||
				backwards != strings.Contains(text, "it ends before it begins") {
				t.Errorf("step %d, backwards %v: told is %q", lost, backwards, text)
			}
			got := samples(t, f)
			_, first := got["Decode/step=1"]
			_, second := got["SecondToken"]
			_, total := got["Total"]
			if first != (lost != 1) || second != (lost != 1) || total || got["FirstToken"]["ns/op"] != 33000 {
				t.Errorf("step %d, backwards %v: samples are %v", lost, backwards, got)
			}
			later := slices.Clone(took[1:])
			if lost > 1 {
				later = slices.Delete(later, lost-2, lost-1)
			}
			want := float64(later[0]+later[len(later)-1]) / 2
			if l := got["Decode/step=later"]; l["ns/op"] != want || l["n"] != float64(len(later)) {
				t.Errorf("step %d: later steps are %v, want %v of %d", lost, l, want, len(later))
			}
		}
	}
}

// TestRatesOfSlowModels: tokens a second have all their digits, so that a change
// of the rate is that of the time.
func TestRatesOfSlowModels(t *testing.T) {
	var before float64
	for i, took := range []time.Duration{30_300 * time.Millisecond, 26_700 * time.Millisecond, 250 * time.Second, 158_730_158_730} {
		x := samples(t, steps(t, []time.Duration{took, took, took + 7}, 0, false))["Decode/step=later"]
		rate := x["tok/s"]
		if want := 2 / (2*took + 7).Seconds(); rate != want {
			t.Errorf("%v a step are written as %v tok/s, want %v", took, rate, want)
		}
		if i == 1 {
			if change := rate/before - 1; change < 0.13482 || change > 0.13484 { // 30.3 / 26.7
				t.Errorf("13.48 %% more are shown as %v", change)
			}
		}
		before = rate
	}
}

// TestLostSubject: without the event that says how the model was read and which
// tokenizer was made, what the header says was to be done decides what has a
// sample.
func TestLostSubject(t *testing.T) {
	for _, c := range []struct {
		knobs []recording.Knob
		want  bool
	}{
		{nil, true}, // as in the figures of the experiment, which read from a file
		{[]recording.Knob{{Name: "io", Value: "mmap"}}, false},
		{[]recording.Knob{{Name: "io", Value: "file"}}, true},
	} {
		f := steps(t, []time.Duration{5000, 6000}, 0, false)
		f.Runs[0].Header.Knobs, f.Runs[0].Header.Model.Bytes = c.knobs, 1000
		text, _ := benchtext.Text(f)
		if got := bytes.Contains(text, []byte(" B/s")); got != c.want {
			t.Errorf("knobs %v: a rate of reading is there: %v, want %v\n%s", c.knobs, got, c.want, text)
		}
	}
}
