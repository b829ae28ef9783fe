package compare_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/introgen/introgen/results/answers/compare"
	"github.com/introgen/introgen/results/answers/samples"
	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/table"
	"github.com/introgen/introgen/trace"
	"github.com/introgen/introgen/trace/names"
)

// item is a span in a made-up run, its time in ms.
type item struct {
	phase, name, detail string
	ms                  float64
}

// made is a run whose phases take 10 ms more than what is in them. The machine
// drifts: all phases of a block take drift ms more.
func made(arm string, block int, drift float64, items ...item) *recording.Run {
	r := &recording.Run{Start: &recording.Start{Run: block, Block: block, Arm: arm}}
	clock := time.Duration(0)
	ms := func(v float64) time.Duration { return time.Duration(math.Round(v * 1e6)) }
	add := func(parent trace.ID, name, detail string, n int64, from, took time.Duration) trace.ID {
		r.Spans = append(r.Spans, trace.Record{ID: trace.ID(len(r.Spans) + 1), Parent: parent, Name: name, Detail: detail, N: n, Start: from, End: from + took})
		return trace.ID(len(r.Spans))
	}
	round := add(0, names.SpanRound, "", 1, 0, 0)
	for _, p := range []struct {
		name string
		n    int64
	}{{names.SpanRead, 0}, {names.SpanBuild, 0}, {names.SpanPrefill, 13}, {names.SpanStep, 1}, {names.SpanStep, 2}} {
		own := ms(10 + drift)
		phase := add(round, p.name, "", p.n, clock, 0)
		for _, i := range items {
			if i.phase != p.name || p.n == 2 {
				continue
			}
			add(phase, i.name, i.detail, 0, clock, ms(i.ms))
			clock += ms(i.ms)
		}
		clock += own
		r.Spans[phase-1].End = clock
	}
	r.Spans[round-1].End = clock
	r.Header.Clock = int64(time.Second)
	r.End = &recording.End{At: int64(clock)}
	r.Exit = &recording.Exit{Spawned: int64(time.Second - ms(5)), Reaped: int64(time.Second + clock + ms(1))}
	return r
}

func twoArms(blocks int, base, slow []item) *recording.File {
	f := &recording.File{Plan: &recording.Plan{Arms: []recording.Arm{{Name: "cold", State: recording.StateCold}, {Name: "cold/slow", State: recording.StateCold}}}}
	for b := range blocks {
		drift := 0.5 * float64(b)
		f.Runs = append(f.Runs, made("cold", b+1, drift, base...), made("cold/slow", b+1, drift, slow...))
	}
	return f
}

var compiled = []item{
	{names.SpanBuild, "LIB", "Gemm", 300}, {names.SpanBuild, "PIPE", "Gemm gemm_nn", 20}, {names.SpanPrefill, "LIB", "Reduce", 400},
	{names.SpanPrefill, "PIPE", "Reduce softmax", 30}, {names.SpanStep, "LIB", "Sdpa", 200},
}

// What differs is named, with its own time, whatever else the machine does.
func TestDifference(t *testing.T) {
	delayed := append([]item{}, compiled...)
	delayed[2].ms += 2000
	a, err := compare.Of(breakdown.Of(twoArms(6, compiled, delayed)))
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Pairs) != 1 {
		t.Fatalf("pairs are %+v", a.Pairs)
	}
	d := a.Pairs[0]
	if d.From != "cold" || d.To != "cold/slow" || d.Blocks != 6 || d.Wall.Median != 2e9 || !d.Wall.Decidable {
		t.Errorf("the difference is %+v", d)
	}
	if p := d.Parts[0]; p.Name != "library Reduce" || p.Time.Median != 2e9 || p.Time.Lo != 2e9 || p.Time.Hi != 2e9 {
		t.Errorf("the largest part is %+v", p)
	}
	if got := d.Sentence(); got != "cold/slow takes 2.00 s longer than cold: library Reduce 2.00 s more" {
		t.Errorf("the sentence is %q", got)
	}
	// The CPU's part of what a phase did on the device is told apart.
	slow := append(append([]item{}, compiled...), item{names.SpanPrefill, names.SpanCommit, "", 700})
	if a, err = compare.Of(breakdown.Of(twoArms(6, compiled, slow))); err != nil {
		t.Fatal(err)
	}
	if got := a.Pairs[0].Sentence(); got != "cold/slow takes 700 ms longer than cold: committing 700 ms more" {
		t.Errorf("the sentence is %q", got)
	}
	// The same the other way round, and nothing at all.
	if a, err = compare.Of(breakdown.Of(twoArms(6, delayed, compiled))); err != nil {
		t.Fatal(err)
	}
	if got := a.Pairs[0].Sentence(); got != "cold/slow takes 2.00 s less than cold: library Reduce 2.00 s less" {
		t.Errorf("the sentence is %q", got)
	}
	if a, err = compare.Of(breakdown.Of(twoArms(6, compiled, compiled))); err != nil {
		t.Fatal(err)
	}
	want := "As a whole cold/slow and cold do not differ by more than repetition changes (0.0 ms, from 0.0 to 0.0)"
	if got := a.Pairs[0].Sentence(); got != want {
		t.Errorf("the sentence is %q", got)
	}
	// Where something else varies more than the whole differs, a part that is
	// slower in every block is found all the same.
	f := twoArms(6, compiled, delayed)
	for b, more := range []float64{-9000, 8000, -3000, 9000, -8000, 100} {
		noisy := append([]item{}, delayed...)
		noisy[4].ms += 10000 + more
		base := append([]item{}, compiled...)
		base[4].ms += 12000
		f.Runs[2*b], f.Runs[2*b+1] = made("cold", b+1, 0, base...), made("cold/slow", b+1, 0, noisy...)
	}
	if a, err = compare.Of(breakdown.Of(f)); err != nil {
		t.Fatal(err)
	}
	want = "As a whole cold/slow and cold do not differ by more than repetition changes (-1450.0 ms, from -9000.0 to +9000.0); of its parts cold/slow has library Reduce 2.00 s more"
	if got := a.Pairs[0].Sentence(); got != want {
		t.Errorf("the sentence is %q, want %q", got, want)
	}
}

func TestDifferencesNeedPairs(t *testing.T) {
	f := twoArms(2, compiled, compiled)
	f.Runs[1].Exit.Refused, f.Runs[2].Exit.Refused = "no", "no"
	a, err := compare.Of(breakdown.Of(f))
	if err != nil {
		t.Fatal(err)
	}
	if notes := strings.Join(a.Notes, "\n"); len(a.Pairs) != 0 || !strings.Contains(notes, "no block has a run of both") || !strings.Contains(notes, "cold: no") {
		t.Errorf("pairs %+v, notes %q", a.Pairs, a.Notes)
	}
	for _, r := range f.Runs {
		r.Exit.Refused = "the cache was warm"
	}
	if _, err := compare.Of(breakdown.Of(f)); err == nil || !strings.Contains(err.Error(), "no run counts") || !strings.Contains(err.Error(), "the cache was warm") {
		t.Errorf("got %v", err)
	}
}

// The sentence follows the data.
func TestCauses(t *testing.T) {
	for name, c := range map[string]struct {
		items []item
		want  string
	}{
		// 900 of 990 ms; 300 + 400 + 200
		"libraries": {[]item{compiled[0], compiled[2], compiled[4]}, "95.7 % of the cold time to the second token is 3 library compiles; Gemm and Reduce are 77.8 % of those (the first token needs 2 of the libraries)"},
		"pipelines": {[]item{{names.SpanBuild, "LIB", "Gemm", 100}, {names.SpanPrefill, "PIPE", "Gemm a", 300}, {names.SpanPrefill, "PIPE", "Gemm b", 300}},
			"94.6 % of the cold time to the second token is 1 library compile and 2 pipelines (13.5 % and 81.1 %); Gemm is 100 % of those"},
		// Only what was compiled counts as that: 500 of 740 ms, not what the cache had.
		"half a cache": {[]item{{names.SpanBuild, "LIB", "Gemm", 500}, {names.SpanPrefill, "LIB", "Reduce", 200}},
			"67.6 % of the cold time to the second token is 1 library compile; Gemm is 100 % of those"},
		"a phase that compiled": {[]item{{names.SpanBuild, "LIB", "Gemm", 20}, {names.SpanBuild, "weights", "", 100}},
			"The largest part of the cold time to the second token is build model without compiling, most of it bringing the weights to the device: 68.8 % of 160.0 ms"},
		"neither": {nil, "The largest part of the cold time to the second token is build model: 25.0 % of 40.0 ms"},
	} {
		f := twoArms(1, c.items, c.items)
		if name == "half a cache" {
			for _, s := range f.Runs[0].Spans {
				if s.Name == "LIB" {
					f.Runs[0].Libraries = append(f.Runs[0].Libraries, recording.Library{Span: s.ID, Name: s.Detail, Cache: map[string]string{"Gemm": "miss", "Reduce": "hit"}[s.Detail]})
				}
			}
		}
		if got := compare.Cause(samples.Of(breakdown.Of(f))[0]); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
	if got := compare.Cause(samples.Series{Name: "none"}); got != "" {
		t.Errorf("of nothing: %q", got)
	}
}

// What comes before opening the file is a part of the whole where it is known.
func TestCauseBeforeTheFile(t *testing.T) {
	f := twoArms(1, nil, nil)
	r := f.Runs[0]
	for i := range r.Spans {
		r.Spans[i].Start += 191 * time.Millisecond
		r.Spans[i].End += 191 * time.Millisecond
	}
	n := trace.ID(len(r.Spans))
	r.Spans = append(r.Spans, trace.Record{ID: n + 1, Name: names.SpanArguments, End: time.Millisecond},
		trace.Record{ID: n + 2, Name: names.SpanTokenizer, Start: time.Millisecond, End: 191 * time.Millisecond})
	// 5 until the clock began, 1 for the arguments, 190, 40
	want := "The largest part of the cold time from the start of the process to the second token is making the tokenizer ready: 80.5 % of 236.0 ms"
	if got := compare.Cause(samples.Of(breakdown.Of(f))[0]); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	want = "cold: 236 ms from the start of the process to token 2, 80.5 % of it making the tokenizer ready; `introgen explain` says what to do"
	if got := compare.Verdict(samples.Of(breakdown.Of(f))[:1]); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestDifferenceTable(t *testing.T) {
	delayed := append([]item{}, compiled...)
	delayed[2].ms += 2000
	a, err := compare.Of(breakdown.Of(twoArms(6, compiled, delayed)))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := a.Pairs[0].Table().Write(&b, table.Plain); err != nil {
		t.Fatal(err)
	}
	want := `part               more     from       to  share
library Reduce  +2000.0  +2000.0  +2000.0  100 %
the whole run   +2000.0  +2000.0  +2000.0  100 %
`
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
	for _, c := range []struct {
		base, other []item
		title       string
		share       bool
	}{
		{compiled, delayed, "what cold/slow takes longer than cold: ", true},
		{delayed, compiled, "what cold/slow takes less than cold: ", true},
		{compiled, compiled, "what cold/slow takes more (+) or less (-) than cold: ", false},
	} {
		if a, err = compare.Of(breakdown.Of(twoArms(6, c.base, c.other))); err != nil {
			t.Fatal(err)
		}
		if got := a.Pairs[0].Table(); !strings.HasPrefix(got.Title, c.title) || (got.Footer[4].Text != "") != c.share {
			t.Errorf("the heading is %q, the whole's share %q", got.Title, got.Footer[4].Text)
		}
	}
}
