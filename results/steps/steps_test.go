package steps_test

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/programtest"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/stats"
	"github.com/introgen/introgen/results/steps"
	"github.com/introgen/introgen/system/pythontest"
	"github.com/introgen/introgen/trace"
	"github.com/introgen/introgen/trace/names"
)

// made is a run of rounds whose decode steps take so many milliseconds each; what in
// adds lies in a step.
type made struct {
	recording.Run
	clock time.Duration
}

func (m *made) span(in trace.ID, name, detail string, n int64, took time.Duration) trace.ID {
	id := trace.ID(len(m.Spans) + 1)
	m.Spans = append(m.Spans, trace.Record{ID: id, Parent: in, Name: name, Detail: detail, N: n, Start: m.clock, End: m.clock + took})
	return id
}

func (m *made) round(in func(step trace.ID, n int), ms ...float64) {
	number := len(m.Rounds) + 1
	round := m.span(0, names.SpanRound, "", int64(number), 0)
	m.span(round, names.SpanPrefill, "", 5, time.Millisecond)
	m.clock += time.Millisecond
	for i, t := range ms {
		took := programtest.At(t)
		step := m.span(round, names.SpanStep, "", int64(i+1), took)
		if in != nil {
			in(step, i+1)
		}
		m.clock += took
	}
	m.Spans[round-1].End = m.clock
	m.Rounds = append(m.Rounds, recording.Round{Number: number, Span: round, Prompt: 5, IDs: make([]int32, len(ms)+1)})
}

func (m *made) taken() *breakdown.Run { return breakdown.Take(&m.Run) }

const ms = time.Millisecond

// TestSteps: the figures are those that numpy 2.4.6 has of 3, 1, 2, 10.
func TestSteps(t *testing.T) {
	m := &made{}
	m.round(nil, 50, 3, 1, 2, 10)
	m.round(nil, 7, 4, 4)
	r := m.taken()
	s := steps.Of(r.Rounds[0])
	if s.Name != names.SpanStep || s.First != 50*ms || !slices.Equal(s.Later, []time.Duration{3 * ms, ms, 2 * ms, 10 * ms}) || !slices.Equal(s.Numbers, []int64{2, 3, 4, 5}) {
		t.Errorf("%+v", s)
	}
	if s.P50.Value != 2.5e6 || s.P90.Value != 7900000.000000002 || s.P99.Value != 9789999.999999998 || s.Max != 10*ms || s.P50.Decidable || !s.Enough() {
		t.Errorf("%+v", s)
	}
	// The second round speaks for the run, as for its median decode step.
	if s := steps.OfRun(r); s.First != 7*ms || !slices.Equal(s.Later, []time.Duration{4 * ms, 4 * ms}) || s.P90.Value != 4e6 {
		t.Errorf("%+v", s)
	}
	m = &made{}
	m.round(nil, 50)
	if s := steps.OfRun(m.taken()); s.First != 50*ms || len(s.Later) != 0 || s.Enough() || s.Max != 0 || s.P50.Value != 0 {
		t.Errorf("one step: %+v", s)
	}
	m = &made{}
	m.round(nil)
	if s := steps.OfRun(m.taken()); s.First != figures.Missing || s.Enough() {
		t.Errorf("no step: %+v", s)
	}
}

// TestStepsOfPrograms: what a program repeats are its steps where it marks none.
func TestStepsOfPrograms(t *testing.T) {
	f := programtest.File(programtest.Unmarked(programtest.Cold))
	r := breakdown.Take(f.Runs[0])
	s := steps.OfRun(r)
	repeats := r.Rounds[0].Repeats()
	if len(repeats) < 3 {
		t.Fatalf("%d steps", len(repeats))
	}
	if s.Name != names.SpanRepeat || s.First != repeats[0].Time() || len(s.Later) != len(repeats)-1 || s.Later[0] != repeats[1].Time() {
		t.Errorf("%+v", s)
	}
	f = programtest.File(programtest.Marked(programtest.Cold))
	r = breakdown.Take(f.Runs[0])
	if s := steps.OfRun(r); s.Name != names.SpanStep || len(s.Later) != len(r.Rounds[0].Later()) {
		t.Errorf("%+v", s)
	}
}

// TestTenThousand: the percentiles of a run of 10,000 steps are numpy's of what its
// spans took.
func TestTenThousand(t *testing.T) {
	const script = `import json, sys, numpy
x = numpy.array(json.load(sys.stdin), dtype=numpy.float64)
json.dump(numpy.quantile(x, [0.5, 0.9, 0.99, 1]).tolist(), sys.stdout)`
	r := rand.New(rand.NewPCG(1, 2))
	took := make([]float64, 10000)
	for i := range took {
		took[i] = 7 * math.Exp(0.2*r.NormFloat64()+float64(r.IntN(50)/49)) // a step in 50 is slower
	}
	m := &made{}
	m.round(nil, took...)
	var nanoseconds []int64
	for _, s := range m.Spans {
		if s.Name == names.SpanStep && s.N > 1 {
			nanoseconds = append(nanoseconds, int64(s.End-s.Start))
		}
	}
	in, err := json.Marshal(nanoseconds)
	if err != nil {
		t.Fatal(err)
	}
	cmd := pythontest.Command(t, script, "numpy")
	cmd.Stdin, cmd.Stderr = bytes.NewReader(in), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var want []float64
	if err := json.Unmarshal(out, &want); err != nil {
		t.Fatal(err)
	}
	s := steps.OfRun(m.taken())
	if got := []float64{s.P50.Value, s.P90.Value, s.P99.Value, float64(s.Max)}; !slices.Equal(got, want) || len(s.Later) != 9999 {
		t.Errorf("of %d steps %v, numpy has %v", len(s.Later), got, want)
	}
	for _, q := range []stats.Quantile{s.P50, s.P90, s.P99} {
		if !q.Decidable || q.Lo >= q.Value || q.Hi <= q.Value {
			t.Errorf("%+v", q)
		}
	}
}
