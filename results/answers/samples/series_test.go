package samples_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/results/answers/samples"
	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/metrics"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/stats"
	"github.com/introgen/introgen/trace"
	"github.com/introgen/introgen/trace/names"
)

// run is a run whose rounds take so many ms until token 1, with one decode step
// of 10 and two of 4 ms each.
func run(arm string, block int, prefills ...float64) *recording.Run {
	r := &recording.Run{Start: &recording.Start{Run: block, Block: block, Arm: arm}, Exit: &recording.Exit{}, End: &recording.End{}}
	clock := time.Duration(0)
	add := func(parent trace.ID, name string, n int64, took float64) trace.ID {
		id := trace.ID(len(r.Spans) + 1)
		end := clock + time.Duration(took*1e6)
		r.Spans = append(r.Spans, trace.Record{ID: id, Parent: parent, Name: name, N: n, Start: clock, End: end})
		return id
	}
	for i, p := range prefills {
		round := add(0, names.SpanRound, int64(i+1), p+18)
		for n, took := range []float64{p, 10, 4, 4} {
			name := names.SpanStep
			if n == 0 {
				name = names.SpanPrefill
			}
			id := add(round, name, int64(n), took)
			clock = r.Spans[id-1].End
		}
	}
	return r
}

func file(arms []recording.Arm, runs ...*recording.Run) *recording.File {
	return &recording.File{Plan: &recording.Plan{Arms: arms}, Runs: runs}
}

func armNames(all []samples.Series) string {
	var out []string
	for _, s := range all {
		out = append(out, s.Name)
	}
	return strings.Join(out, ",")
}

func TestOf(t *testing.T) {
	warm := []recording.Arm{{Name: "cold", State: recording.StateCold}, {Name: "warm-cache", State: recording.StateWarmCache}, {Name: "never", State: recording.StateCPU}}
	refused, failed, flagged := run("cold", 3, 900), run("cold", 4, 900), run("cold", 5, 110)
	refused.Exit.Refused, failed.End.Code, flagged.Exit.Flags = "no", 1, []string{"load: others"}
	f := file(warm, run("cold", 1, 100), run("warm-cache", 1, 50, 20, 40, 30), run("cold", 2, 120), refused, failed, flagged)
	all := samples.Of(breakdown.Of(f))
	if got := armNames(all); got != "cold,warm-cache,warm-process,never" {
		t.Fatalf("the series are %s", got)
	}
	if c := all[0]; len(c.Samples) != 3 || c.Refused != 2 || c.Flagged != 1 {
		t.Errorf("cold: %d samples, %d refused, %d flagged", len(c.Samples), c.Refused, c.Flagged)
	}
	v, blocks := all[0].Values(metrics.Prefill)
	if !slices.Equal(v, []float64{100e6, 120e6, 110e6}) || !slices.Equal(blocks, []int{1, 2, 5}) {
		t.Errorf("cold prefills are %v in blocks %v", v, blocks)
	}
	// One value a run: of its three later rounds the median.
	if v, _ := all[2].Values(metrics.Prefill); !slices.Equal(v, []float64{30e6}) {
		t.Errorf("warm-process prefills are %v", v)
	}
	for name, c := range map[string]struct {
		m    metrics.Metric
		want float64
	}{
		"token 1": {metrics.Token1, 100e6}, "token 2": {metrics.Token2, 110e6}, "first": {metrics.First, 10e6}, "later": {metrics.Later, 4e6},
		"rate": {metrics.Rate, 250}, "decode": {metrics.Decode, 4e6},
	} {
		if v, _ := all[0].Values(c.m); math.Abs(v[0]-c.want) > 1e-6 {
			t.Errorf("%s is %v, want %v", name, v[0], c.want)
		}
	}
	if s := all[0].Summary(metrics.Prefill); s.N != 3 || s.Median != 110e6 || s.Min != 100e6 || s.Max != 120e6 {
		t.Errorf("cold prefills are together %+v", s)
	}
	if v, _ := all[0].Values(metrics.Build); len(v) != 0 {
		t.Errorf("builds that were not made: %v", v)
	}
	later := samples.LaterRounds(breakdown.Of(f))
	if got := armNames(later); got != "cold,warm-cache,never" {
		t.Errorf("the arms are %s", got)
	}
	if v, _ := later[1].Values(metrics.Prefill); !slices.Equal(v, []float64{30e6}) {
		t.Errorf("later rounds of warm-cache: %v", v)
	}
}

// Pairs are of one block; what only one of the arms has is left out.
func TestPairs(t *testing.T) {
	arms := []recording.Arm{{Name: "a"}, {Name: "b"}}
	f := file(arms, run("a", 1, 10), run("b", 2, 40), run("b", 1, 20), run("a", 3, 30), run("b", 3, 60), run("a", 4, 1))
	all := samples.Of(breakdown.Of(f))
	a, b := samples.Pairs(all[0], all[1], metrics.Prefill)
	if !slices.Equal(a, []float64{10e6, 30e6}) || !slices.Equal(b, []float64{20e6, 60e6}) {
		t.Errorf("pairs are %v and %v", a, b)
	}
	if r := samples.Ratio(all[0], all[1], metrics.Prefill); r.N != 2 || math.Abs(r.Ratio-2) > 1e-9 || r.Decidable {
		t.Errorf("the ratio is %+v", r)
	}
	// NaN and infinities are no values.
	odd := metrics.Metric{Of: func(r breakdown.Round) (float64, bool) {
		p, _ := r.Phase(names.SpanPrefill)
		return map[time.Duration]float64{10e6: math.NaN(), 30e6: math.Inf(1)}[p.Time()], true
	}}
	if v, blocks := all[0].Values(odd); len(v) != 1 || blocks[0] != 4 {
		t.Errorf("values %v in blocks %v", v, blocks)
	}
}

func TestShown(t *testing.T) {
	metal := func(e ...recording.Evidence) *recording.Run {
		return &recording.Run{Header: recording.Header{Command: "metal"}, Evidence: e}
	}
	for want, r := range map[string]*recording.Run{
		"cold":         metal(recording.Evidence{What: recording.EvidencePageCache}, recording.Evidence{What: recording.EvidenceMetalCache, Nonce: "n", LibraryMisses: 10}),
		"cold-natural": metal(recording.Evidence{What: recording.EvidenceMetalCache, LibraryHits: 9, LibraryMisses: 1}),
		"warm-cache":   metal(recording.Evidence{What: recording.EvidenceMetalCache, LibraryHits: 10}),
		"cpu":          {Header: recording.Header{Command: "cpu"}},
		"cold-file":    {Header: recording.Header{Command: "cpu"}, Evidence: []recording.Evidence{{What: recording.EvidencePageCache, Evicted: true}}},
	} {
		if got := samples.Shown(r); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	// What an archive gave makes a run neither cold nor warm; one that gave nothing
	// leaves a run that compiles cold, and never makes one warm by the cache.
	archived := func(given int, e recording.Evidence) *recording.Run {
		e.What, e.Archive = recording.EvidenceMetalCache, &recording.Archive{File: "a", Libraries: given}
		return metal(e)
	}
	for _, c := range []struct {
		run  *recording.Run
		want string
	}{
		{archived(10, recording.Evidence{}), "archive"}, {archived(1, recording.Evidence{LibraryMisses: 9}), "archive"},
		{archived(1, recording.Evidence{Nonce: "n", LibraryMisses: 9}), "archive"},
		{archived(0, recording.Evidence{LibraryMisses: 10}), "cold-natural"}, {archived(0, recording.Evidence{LibraryMisses: 10, Nonce: "n"}), "cold"},
		{archived(0, recording.Evidence{LibraryHits: 10}), "archive"},
		{&recording.Run{Header: recording.Header{Command: "metal"}, Pipelines: []recording.Pipeline{{Cache: names.CacheMiss}, {Cache: names.CacheArchive}}}, "archive"},
	} {
		if got := samples.Shown(c.run); got != c.want {
			t.Errorf("with the archive %+v: got %s, want %s", c.run.Evidence, got, c.want)
		}
	}
	// One that was cut off before it wrote its evidence is cold where it compiled
	// something, and in no state that anything shows where it did not.
	cut := func(nonce string, caches ...string) *recording.Run {
		r := metal(recording.Evidence{What: recording.EvidencePageCache})
		r.Device = &recording.Device{Nonce: nonce}
		for _, cache := range caches {
			r.Libraries = append(r.Libraries, recording.Library{Cache: cache})
		}
		return r
	}
	made := cut("")
	made.Pipelines = []recording.Pipeline{{Cache: names.CacheMiss}}
	for _, c := range []struct {
		run  *recording.Run
		want string
	}{
		{cut("n", names.CacheMiss), recording.StateCold}, {cut("", names.CacheHit, names.CacheMiss), recording.StateColdNatural},
		{made, recording.StateColdNatural}, {cut("n"), samples.StateOther}, {cut("", names.CacheHit), samples.StateOther}, {metal(), samples.StateOther},
	} {
		if got := samples.Shown(c.run); got != c.want {
			t.Errorf("cut off with %+v and %+v: got %s, want %s", c.run.Libraries, c.run.Pipelines, got, c.want)
		}
	}
	// Recordings of single runs make arms of what they show.
	one, two := metal(recording.Evidence{What: recording.EvidenceMetalCache, LibraryHits: 10}), run("", 0, 5)
	one.Spans, one.End, two.Start, two.Exit = run("", 0, 5).Spans, &recording.End{}, nil, nil
	two.Header.Command = "cpu"
	all := samples.Of(breakdown.Of(&recording.File{Runs: []*recording.Run{one, two}}))
	if got := armNames(all); got != "warm-cache,cpu" {
		t.Errorf("the series are %s", got)
	}
}

func TestMixed(t *testing.T) {
	a, b := run("a", 1, 1), run("a", 2, 1)
	a.Header.Command, b.Header.Command = "cpu", "cpu"
	if got := samples.Mixed([]*recording.Run{a, b}); len(got) != 0 {
		t.Errorf("equal runs are mixed: %v", got)
	}
	b.Header.Host.Name, b.Header.Tool.Commit, b.Header.Model.Bytes = "other", "abc", 7
	a.Header.Model.Digest, b.Header.Model.Digest = "1", "2"
	got := strings.Join(samples.Mixed([]*recording.Run{a, b}), "\n")
	for _, want := range []string{"machine: ", "model: ", "version of introgen: ", "different content"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is without %q", got, want)
		}
	}
}

// TestMixedPrompts: single runs with other prompts are not of one kind, told by
// the ids where both have them, by the length where one has not; the arms of a
// plan may have their own.
func TestMixedPrompts(t *testing.T) {
	single := func(length int, ids ...int32) *recording.Run {
		r := &recording.Run{Rounds: []recording.Round{{Number: 1, Span: 1, Prompt: length, PromptIDs: ids}, {Number: 2, Span: 2, Prompt: length}}}
		r.Header.Command = "cpu"
		return r
	}
	arm := func(length int, ids ...int32) *recording.Run {
		r := single(length, ids...)
		r.Start = &recording.Start{Run: 1, Block: 1, Arm: fmt.Sprint(ids)}
		return r
	}
	for _, c := range []struct {
		name string
		runs []*recording.Run
		want string
	}{
		{"equal", []*recording.Run{single(3, 5, 6, 7), single(3, 5, 6, 7)}, ""},
		{"one unknown", []*recording.Run{single(3, 5, 6, 7), single(3)}, ""},
		{"lengths", []*recording.Run{single(3, 5, 6, 7), single(2)}, "prompt: 3 tokens and 2 tokens"},
		// echo -n 5,6,7 | sha256sum, and of 7,6,5
		{"ids", []*recording.Run{single(3, 5, 6, 7), single(3), single(3, 7, 6, 5)}, "prompt: 3 tokens, with the ids 9988e8a7 and 0e03007f"},
		{"arms", []*recording.Run{arm(3, 5, 6, 7), arm(3, 7, 6, 5)}, ""},
		{"failed", []*recording.Run{single(3, 5, 6, 7), single(0)}, ""},
	} {
		if got := strings.Join(samples.Mixed(c.runs), "; "); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestCutAfterStart: a plan that ends right behind the start of a run can be
// read, and the run counts as cut off.
func TestCutAfterStart(t *testing.T) {
	a, b := run("a", 1, 1), &recording.Run{Start: &recording.Start{Run: 2, Block: 2, Arm: "a"}}
	a.Header.Command, a.Header.Host.Name = "cpu", "here"
	if got := samples.Mixed([]*recording.Run{a, b}); len(got) != 0 {
		t.Errorf("a run without a header differs from others: %v", got)
	}
	all := samples.Of(breakdown.Of(&recording.File{Plan: &recording.Plan{Arms: []recording.Arm{{Name: "a"}}}, Runs: []*recording.Run{a, b}}))
	if len(all) != 1 || all[0].Refused != 1 || len(all[0].Samples) != 1 {
		t.Fatalf("%+v", all)
	}
	if got := strings.Join(samples.Taints(all), "\n"); !strings.Contains(got, "cut off): a 1 of 2") {
		t.Errorf("%q does not count it", got)
	}
}

func TestCells(t *testing.T) {
	six := stats.Summarize([]float64{1e6, 1.1e6, 1.2e6, 1.2e6, 1.3e6, 1.5e6})
	for _, c := range []struct {
		got, want string
	}{
		{samples.Cell(six).Text, "1.20 ±25.0 %"},
		{samples.Cell(stats.Summarize([]float64{10e6, 10e6, 10e6, 10e6, 10e6, 140e6})).Text, "10.0 (10.0–140.0)"},
		{samples.Cell(stats.Summarize([]float64{4.1112e9})).Text, "4111.2 ±?"},
		{samples.Cell(stats.Summarize(nil)).Text, ""},
		{samples.RateCell(stats.Summarize([]float64{118.24})).Text, "118.2 ±?"},
		{figures.Percent(0.0214), "2.14 %"}, {figures.Percent(0.5), "50.0 %"}, {figures.Percent(0), "0 %"}, {figures.Percent(-0.03), "-3.00 %"},
		{samples.RatioCell(stats.Paired([]float64{1}, []float64{97.4})).Text, "97.4× ±?"},
		{samples.RatioCell(stats.Paired([]float64{1}, []float64{974})).Text, "974× ±?"},
		{samples.RatioCell(stats.Paired([]float64{1, 1, 1, 1, 1, 1}, []float64{2, 2, 2, 2, 2, 2})).Text, "2.00× [2.00, 2.00]"},
		{samples.RatioCell(stats.Paired(nil, nil)).Text, ""},
		// A metric's own cell and unit are those of a time or of a rate.
		{samples.CellOf(metrics.Decode, six).Text, "1.20 ±25.0 %"}, {metrics.Decode.Unit(), "ms"},
		{samples.CellOf(metrics.Rate, stats.Summarize([]float64{118.24})).Text, "118.2 ±?"}, {metrics.Rate.Unit(), "1/s"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
	if got := strings.Join(samples.Cell(six).Parts, " "); got != "1.2 1 1.5 6" {
		t.Errorf("parts are %q", got)
	}
}

// TestUncounted: each reason once, with how many runs had it.
func TestUncounted(t *testing.T) {
	failed := func() *recording.Run {
		r := run("a", 1, 1)
		r.End = &recording.End{Code: 1, Error: "no memory"}
		return r
	}
	refused, cut, counts := run("b", 1, 1), run("b", 2, 1), run("b", 3, 1)
	refused.Exit.Refused, cut.End, cut.Start = "the cache was warm", nil, nil
	cut.Header.Command = "cpu"
	got := strings.Join(samples.Uncounted(&recording.File{Runs: []*recording.Run{failed(), refused, counts, failed(), cut}}), "; ")
	if want := "a: ended with exit code 1: no memory (2 times); b: the cache was warm; cpu: was cut off"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
