package idlegap_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/introgen/introgen/results/answers/idlegap"
	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/table"
	"github.com/introgen/introgen/trace"
	"github.com/introgen/introgen/trace/names"
)

// run makes three steps and then pauses so often for each length, with the next
// step slower by the factor that belongs to it, and two other steps after that.
func run(times int, factor map[time.Duration]float64) *recording.Run {
	r := &recording.Run{End: &recording.End{}, Spans: []trace.Record{{ID: 1, Name: names.SpanRound, N: 1}}}
	now, n := time.Duration(0), int64(0)
	step := func(d time.Duration) {
		n++
		r.Spans = append(r.Spans, trace.Record{ID: trace.ID(len(r.Spans) + 1), Parent: 1, Name: names.SpanStep, N: n, Start: now, End: now + d})
		now += d + time.Microsecond
	}
	for range 3 {
		step(time.Millisecond)
	}
	for i := range times {
		for _, length := range []time.Duration{time.Second, 0, 10 * time.Second} {
			usual := 4*time.Millisecond + time.Duration(i)*time.Microsecond
			r.Spans = append(r.Spans, trace.Record{ID: trace.ID(len(r.Spans) + 1), Parent: 1, Name: names.SpanPause, N: int64(length), Start: now, End: now + length})
			now += length
			step(time.Duration(factor[length] * float64(usual)))
			step(usual)
			step(usual)
		}
	}
	r.Spans[0].End = now
	return r
}

func TestAnswer(t *testing.T) {
	f := &recording.File{Runs: []*recording.Run{run(7, map[time.Duration]float64{0: 1, time.Second: 1, 10 * time.Second: 1.5})}}
	a, err := idlegap.Of(breakdown.Of(f))
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Pauses) != 3 || a.Pauses[0].Length != 0 || a.Pauses[2].Length != 10*time.Second {
		t.Fatalf("pauses %+v", a.Pauses)
	}
	for i, want := range []float64{0, 1, 1.5} {
		p := a.Pauses[i]
		if len(p.After) != 7 || p.Ratio.Ratio-want > 1e-6 || want-p.Ratio.Ratio > 1e-6 || p.Second[6] != 4_006_000 {
			t.Errorf("%v: %+v, want a ratio of %v", p.Length, p, want)
		}
	}
	if want := "after a pause of 10s the next step takes 1.50 times as long as after 0s (p 0.0156)"; len(a.Notes) != 1 || a.Notes[0] != want {
		t.Errorf("notes %q, want %q", a.Notes, want)
	}
	var b bytes.Buffer
	if err := a.Document().Write(&b, table.Plain); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(b.String()) {
		if n := len([]rune(line)); n > table.Width+1 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}

// TestLostPauses: what is missing shifts no pair. Each repetition is slower than
// the one before, so that a ratio of two repetitions would not be 1.5.
func TestLostPauses(t *testing.T) {
	for name, lost := range map[string]func(trace.Record) bool{
		"the first pause":          func(s trace.Record) bool { return s.Name == names.SpanPause && s.ID == 5 },
		"a short pause":            func(s trace.Record) bool { return s.Name == names.SpanPause && s.ID == 5+4*10 },
		"the step after a pause":   func(s trace.Record) bool { return s.Name == names.SpanStep && s.N == 3+3*7+1 },
		"the step before a pause":  func(s trace.Record) bool { return s.Name == names.SpanStep && s.N == 3+3*8 },
		"all pauses of the second": func(s trace.Record) bool { return s.Name == names.SpanPause && s.ID >= 5+4*3 && s.ID < 5+4*6 },
	} {
		r := run(9, map[time.Duration]float64{0: 1, time.Second: 1, 10 * time.Second: 1.5})
		next := trace.ID(1)
		for _, s := range r.Spans {
			if lost(s) {
				r.Lost = append(r.Lost, recording.Hole{First: next, Last: next})
			}
			next++
		}
		r.Spans = slices.DeleteFunc(r.Spans, lost)
		a, err := idlegap.Of(breakdown.Of(&recording.File{Runs: []*recording.Run{r}}))
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, p := range a.Pauses {
			n += len(p.After)
		}
		if p := a.Pauses[2]; n >= 27 || len(p.After) == 9 && len(a.Pauses[0].After) == 9 && len(a.Pauses[1].After) == 9 {
			t.Errorf("%s: %d samples of 27", name, n)
		} else if d := p.Ratio.Ratio - 1.5; d > 1e-9 || d < -1e-9 || p.Ratio.N < 8 {
			t.Errorf("%s: a ratio of %v from %d pairs, want 1.5", name, p.Ratio.Ratio, p.Ratio.N)
		}
	}
}

func TestNothingFound(t *testing.T) {
	flat := map[time.Duration]float64{0: 1, time.Second: 1, 10 * time.Second: 1}
	a, err := idlegap.Of(breakdown.Of(&recording.File{Runs: []*recording.Run{run(8, flat)}}))
	if err != nil || len(a.Notes) != 1 || !strings.HasPrefix(a.Notes[0], "no pause makes the next step slower") {
		t.Errorf("%+v, %v", a, err)
	}
	a, err = idlegap.Of(breakdown.Of(&recording.File{Runs: []*recording.Run{run(2, flat)}}))
	if err != nil || len(a.Notes) != 1 || !strings.Contains(a.Notes[0], "there are 2, so nothing can be decided") {
		t.Errorf("%+v, %v", a, err)
	}
	cut := run(1, flat)
	cut.Spans = cut.Spans[:6]
	if _, err := idlegap.Of(breakdown.Of(&recording.File{Runs: []*recording.Run{cut, {}}})); err == nil || !strings.Contains(err.Error(), "introgen idle-gap") {
		t.Errorf("error %v", err)
	}
}
