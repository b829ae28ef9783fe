package sweep

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/metrics"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/table"
	"github.com/introgen/introgen/trace"
	"github.com/introgen/introgen/trace/names"
)

// setting is a value of a made-up sweep: a step takes so many ms, in which the
// device runs from the one time to the other and the CPU waits from a time on.
type setting struct {
	name                     string
	ms, gpuFrom, gpuTo, wait float64
	buffers                  int64
}

// swept is a sweep of so many blocks with noise of 1 %, and drift of 30 % that
// all arms share.
func swept(blocks int, factors []string, levels []setting) *recording.File {
	rnd := rand.New(rand.NewPCG(7, 7))
	f := &recording.File{Plan: &recording.Plan{Factors: factors}}
	for _, l := range levels {
		arm := recording.Arm{Name: l.name, Levels: map[string]string{}}
		for _, word := range strings.Fields(l.name) {
			k, v, _ := strings.Cut(word, "=")
			arm.Levels[k] = v
		}
		f.Plan.Arms = append(f.Plan.Arms, arm)
	}
	for b := range blocks {
		drift := 1 + 0.3*float64(b)/float64(blocks)
		for _, l := range levels {
			r := &recording.Run{Start: &recording.Start{Block: b + 1, Arm: l.name}, Exit: &recording.Exit{}, End: &recording.End{}}
			clock := time.Duration(0)
			add := func(parent trace.ID, name string, n int64, from, to float64) trace.ID {
				r.Spans = append(r.Spans, trace.Record{ID: trace.ID(len(r.Spans) + 1), Parent: parent, Name: name, N: n,
					Start: clock + time.Duration(from*1e6), End: clock + time.Duration(to*1e6)})
				return trace.ID(len(r.Spans))
			}
			for n := range int64(2) {
				round := add(0, names.SpanRound, n+1, 0, 1000)
				for i := range int64(5) {
					scale := drift * (1 + 0.01*rnd.Float64())
					if n == 0 {
						scale *= 7 // first rounds do not count
					}
					step := add(round, names.SpanStep, i+1, 0, l.ms*scale)
					if l.buffers > 0 {
						add(step, names.SpanGPU, 0, l.gpuFrom*scale, l.gpuTo*scale)
						add(step, names.SpanWait, 0, l.wait*scale, l.ms*scale)
						add(step, names.SpanEncoder, 0, 0, 0.5*scale)
						r.Samples = append(r.Samples, trace.Sample{Span: step, Name: names.CountCommandBuffers, Value: l.buffers},
							trace.Sample{Span: step, Name: names.CountDispatches, Value: 604})
					}
					clock += time.Duration(l.ms * scale * 1e6)
				}
			}
			f.Runs = append(f.Runs, r)
		}
	}
	return f
}

func verdict(t *testing.T, f *recording.File) Group {
	t.Helper()
	a, err := Of(breakdown.Of(f), metrics.Decode)
	if err != nil {
		t.Fatal(err)
	}
	return a.Groups[0]
}

// Every buffer costs 15 µs; below 10 of them the device starts late.
var mechanism = []setting{
	{"per-buffer=1", 2.4 + 605*0.015, 0.1, 11.4, 1, 605}, {"per-buffer=10", 2.4 + 61*0.015, 0.1, 3.2, 1, 61},
	{"per-buffer=50", 2.4 + 13*0.015, 0.1, 2.5, 1, 13}, {"per-buffer=100000", 3.4, 1, 3.4, 1, 1},
}

func TestRecommends(t *testing.T) {
	g := verdict(t, swept(6, []string{PerBuffer}, mechanism))
	v := g.Verdict
	if v.Take != "50" || !v.Effect || !v.Decidable {
		t.Errorf("the verdict is %+v", v)
	}
	if want := "Recommended: per-buffer=50, the default; 1 takes 4."; !strings.HasPrefix(v.Sentence(), want) || !strings.Contains(v.Sentence(), "100000 1.3") {
		t.Errorf("the sentence is %q", v.Sentence())
	}
	if b := g.Boundary; !b.Decidable || math.Abs(b.Median-15000*1.15) > 3000 {
		t.Errorf("a boundary costs %+v ns, want 15 µs and the drift", b)
	}
	// The device runs from 1.0 to 3.4, and the CPU waits from 1.0 on: nothing
	// overlaps; at 1 a buffer it is 0.9 of 11.3.
	if d := g.Rows[3].Device; math.Abs(d.Overlap) > 1e-3 || math.Abs(d.GPU/d.Wait-1) > 1e-3 {
		t.Errorf("the last row's device is %+v", d)
	}
	if d := g.Rows[0].Device; math.Abs(d.Overlap-0.9/11.3) > 1e-3 || d.Buffers != 605 {
		t.Errorf("the first row's device is %+v", d)
	}
}

// Where nothing differs nothing is recommended, and it is said what would have
// been found.
func TestNoEffect(t *testing.T) {
	var same []setting
	for _, n := range []string{"1", "50", "200"} {
		same = append(same, setting{"per-buffer=" + n, 8, 0, 7, 1, 13})
	}
	v := verdict(t, swept(8, []string{PerBuffer}, same)).Verdict
	if v.Effect || !v.Decidable || v.Take != "50" {
		t.Errorf("the verdict is %+v", v)
	}
	if s := v.Sentence(); !strings.HasPrefix(s, "No effect: no value of per-buffer is told apart from 50, the default; an effect of ") {
		t.Errorf("the sentence is %q", s)
	}
}

func TestUndecided(t *testing.T) {
	v := verdict(t, swept(3, []string{PerBuffer}, mechanism)).Verdict
	if v.Decidable || !strings.HasSuffix(v.Sentence(), "undecided, since that needs 6 runs of each") {
		t.Errorf("the sentence is %q", v.Sentence())
	}
	one := verdict(t, swept(6, []string{PerBuffer}, mechanism[:1])).Verdict
	if one.Take != "" || !strings.Contains(one.Sentence(), "nothing to choose") {
		t.Errorf("of one value: %q", one.Sentence())
	}
}

// Crossed settings make a table for each value of the second.
func TestCrossed(t *testing.T) {
	var levels []setting
	for _, n := range []int{1, 2} {
		for _, io := range []string{"mmap", "file"} {
			levels = append(levels, setting{name: fmt.Sprintf("threads=%d io=%s", n, io), ms: 8 / float64(n)})
		}
	}
	a, err := Of(breakdown.Of(swept(6, []string{"threads", "io"}, levels)), metrics.Decode)
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Groups) != 2 || a.Groups[0].Others != "io=mmap" || a.Groups[1].Others != "io=file" {
		t.Fatalf("the groups are %+v", a.Groups)
	}
	for _, g := range a.Groups {
		if g.Verdict.Take != "2" || !g.Verdict.Effect || g.Boundary.N != 0 {
			t.Errorf("%s: %+v", g.Others, g.Verdict)
		}
	}
	var b strings.Builder
	if err := a.Document().Write(&b, table.Plain); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "io=file: Recommended: threads=2; 1 takes 2.0") || strings.Contains(b.String(), "bufs") {
		t.Errorf("got\n%s", b.String())
	}
}

// A rate is better when it is more.
func TestRate(t *testing.T) {
	a, err := Of(breakdown.Of(swept(6, []string{"threads"}, []setting{{name: "threads=1", ms: 8}, {name: "threads=2", ms: 4}})), metrics.Rate)
	if err != nil {
		t.Fatal(err)
	}
	v := a.Groups[0].Verdict
	if v.Take != "2" || !v.Effect {
		t.Errorf("the verdict is %+v", v)
	}
	if s := v.Sentence(); s != "Recommended: threads=2; 1 reaches 0.501× its rate" {
		t.Errorf("the sentence is %q", s)
	}
}
