package samples_test

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/introgen/introgen/results/answers/samples"
	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/metrics"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/stats"
	"github.com/introgen/introgen/trace"
	"github.com/introgen/introgen/trace/names"
)

// without is the run without the first span of the name and the number, and what
// is in it.
func without(r *recording.Run, name string, n int64) *recording.Run {
	i := slices.IndexFunc(r.Spans, func(s trace.Record) bool { return s.Name == name && s.N == n })
	gone := r.Spans[i].ID
	r.Spans = slices.DeleteFunc(r.Spans, func(s trace.Record) bool { return s.ID == gone })
	r.Lost = append(r.Lost, recording.Hole{First: gone, Last: gone})
	return r
}

// TestLost: what is missing gives no sample under its name or another's.
func TestLost(t *testing.T) {
	of := func(m metrics.Metric, r *recording.Run) (float64, bool) {
		s := samples.Of(breakdown.Of(&recording.File{Plan: &recording.Plan{Arms: []recording.Arm{{Name: "a"}}}, Runs: []*recording.Run{r}}))
		v, _ := s[0].Values(m)
		if len(v) == 0 {
			return 0, false
		}
		return v[0], true
	}
	whole := map[string]float64{}
	shown := []metrics.Metric{metrics.Prefill, metrics.First, metrics.Later, metrics.Token1, metrics.Token2, metrics.Rate, metrics.Decode}
	for _, m := range shown {
		whole[m.Name], _ = of(m, run("a", 1, 30))
	}
	if whole["first decode step"] != 10e6 || whole["later steps"] != 4e6 {
		t.Fatalf("of a whole run: %v", whole)
	}
	for name, c := range map[string]struct {
		span string
		n    int64
		none []string // metrics without a sample
	}{
		"the first step": {names.SpanStep, 1, []string{"first decode step", "to token 2"}},
		"a later step":   {names.SpanStep, 2, nil},
	} {
		for _, m := range shown {
			v, ok := of(m, without(run("a", 1, 30), c.span, c.n))
			want := whole[m.Name]
			if m.Name == "decode step" { // over the steps that are left: 4 and 4, or 10 and 4
				want = map[int64]float64{1: 4e6, 2: 7e6}[c.n]
			}
			if none := slices.Contains(c.none, m.Name); ok == none || ok && math.Abs(v-want) > 1 {
				t.Errorf("without %s, %s is %v, %v; want %v", name, m.Name, v, ok, want)
			}
		}
		r := without(run("a", 1, 30), c.span, c.n)
		if _, ok := metrics.Total.Alone(r); ok {
			t.Errorf("without %s there is a total", name)
		}
		all := samples.Of(breakdown.Of(&recording.File{Plan: &recording.Plan{Arms: []recording.Arm{{Name: "a"}}}, Runs: []*recording.Run{r}}))
		if text := strings.Join(samples.Taints(all), "\n"); !strings.Contains(text, "spans are missing") || !strings.Contains(text, "a 1 of 1") {
			t.Errorf("without %s it says %q", name, text)
		}
	}
	// A run that lost its later rounds gives none of its first in their place.
	r := run("a", 1, 30, 20)
	r.Rounds = []recording.Round{{Number: 1}, {Number: 2}}
	later := samples.LaterRounds(breakdown.Of(&recording.File{Runs: []*recording.Run{without(r, names.SpanRound, 2)}}))
	if len(later[0].Samples) != 0 {
		t.Errorf("a first round stands for later ones: %+v", later[0].Samples)
	}
}

// TestCellsAreReadAgain: the parts of a cell, which CSV has, are the numbers.
func TestCellsAreReadAgain(t *testing.T) {
	for _, scale := range []float64{1e-9, 0.37, 1, 12_345.678, 9.7448764765e10, 3.6e12} {
		var v []float64
		for i := range 7 {
			v = append(v, scale*(1+float64(i*i)/700))
		}
		s := stats.Summarize(v)
		r := stats.Paired(v, append(v[1:len(v):len(v)], scale))
		for _, c := range []struct {
			text string
			want float64
		}{
			{samples.Cell(s).Parts[0], s.Median / 1e6}, {samples.Cell(s).Parts[1], s.Lo / 1e6}, {samples.Cell(s).Parts[2], s.Hi / 1e6},
			{samples.RateCell(s).Parts[0], s.Median}, {samples.RatioCell(r).Parts[0], r.Ratio}, {samples.RatioCell(r).Parts[3], r.P},
		} {
			if got, err := strconv.ParseFloat(c.text, 64); err != nil || got != c.want {
				t.Errorf("%v is written as %s", c.want, c.text)
			}
		}
		for text, want := range map[string]float64{samples.Times(scale): scale, strings.Fields(samples.RateCell(s).Text)[0]: s.Median} {
			if got, err := strconv.ParseFloat(text, 64); err != nil || math.Abs(got-want) > 0.00501*want {
				t.Errorf("%v is shown as %s", want, text)
			}
		}
	}
}
