package steps_test

import (
	"strings"
	"testing"
	"time"

	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/steps"
	"github.com/introgen/introgen/trace"
	"github.com/introgen/introgen/trace/names"
)

// texts are what the stalls of a run say.
func texts(m *made) []string {
	var out []string
	for _, s := range steps.Stalls(m.taken()) {
		out = append(out, s.Text())
	}
	return out
}

func want(t *testing.T, what string, m *made, want ...string) {
	t.Helper()
	got := texts(m)
	if len(got) != len(want) {
		t.Fatalf("%s: %d stalls %q, want %d", what, len(got), got, len(want))
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%s: %q, want %q", what, got[i], want[i])
		}
	}
}

// TestStalls: which steps are stalls. The first step of a round is none, nor is one
// of three times the median to the nanosecond.
func TestStalls(t *testing.T) {
	m := &made{}
	m.round(nil, 900, 10, 10, 30, 10, 31, 10, 10)
	m.round(nil, 10, 100, 100, 10, 10, 10)
	want(t, "two rounds", m,
		"round 1, decode step 6 took 31.0 ms, 3.10 × the median: nothing that is recorded happened beside it",
		"round 2, decode step 2 took 100.0 ms, 10.0 × the median: nothing that is recorded happened beside it",
		"round 2, decode step 3 took 100.0 ms, 10.0 × the median: nothing that is recorded happened beside it")
	m = &made{}
	m.round(nil, 900, 10)
	m.round(nil)
	want(t, "too few", m)
}

// device lies in each step: 2 ms of encoding, 1 of committing, and then the wait for
// what runs on the device for 4; step 5 has more.
func (m *made) device(more func(step trace.ID)) func(trace.ID, int) {
	return func(step trace.ID, n int) {
		at := m.clock
		m.span(step, names.SpanEncoder, "compute", 0, 2*ms)
		m.clock += 2 * ms
		m.span(step, names.SpanCommit, "", 1, ms)
		m.clock += ms
		m.span(step, names.SpanGPU, "", 1, 4*ms)
		m.span(step, names.SpanWait, "", 0, 4*ms)
		m.clock += 4 * ms
		if n == 5 {
			more(step)
		}
		m.clock = at
	}
}

func TestStallsWithCauses(t *testing.T) {
	m := &made{}
	m.round(m.device(func(step trace.ID) {
		id := m.span(step, names.SpanLibrary, "Gemm", 100, 30*ms)
		m.Libraries = append(m.Libraries, recording.Library{Span: id, Name: "Gemm", Cache: names.CacheMiss})
		m.clock += 30 * ms
		id = m.span(step, names.SpanPipeline, "Gemm gemm_f32", 0, 20*ms)
		m.Pipelines = append(m.Pipelines, recording.Pipeline{Span: id, Library: "Gemm", Function: "gemm_f32", Cache: names.CacheHit})
		m.clock += 20 * ms
		m.span(step, names.SpanRecord, "", 0, 10*ms)
	}), 8, 8, 8, 8, 70, 8, 8)
	want(t, "compiling", m, "round 1, decode step 5 took 70.0 ms, 8.75 × the median: Gemm was compiled for 30.0 ms, Gemm gemm_f32 was taken from the cache in 20.0 ms, the recording was written for 10.0 ms")

	m = &made{}
	m.round(m.device(func(step trace.ID) { m.span(step, names.SpanLibrary, strings.Repeat("é", 1<<20), 100, 30*ms) }), 8, 8, 8, 8, 40, 8, 8)
	want(t, "a long name", m, "round 1, decode step 5 took 40.0 ms, 5.00 × the median: "+strings.Repeat("é", 99)+"… was compiled for 30.0 ms")

	m = &made{}
	m.round(m.device(func(step trace.ID) {
		m.span(step, names.SpanGPU, "", 1, 35*ms)
		m.span(step, names.SpanWait, "", 0, 40*ms)
	}), 8, 8, 8, 8, 49, 8, 8)
	want(t, "the device", m, "round 1, decode step 5 took 49.0 ms, 6.12 × the median: it waited for the device 40.0 ms longer, the device ran 35.0 ms longer")

	m = &made{}
	m.round(m.device(func(step trace.ID) { m.span(step, names.SpanEncoder, "compute", 0, 2*ms) }), 8, 8, 8, 8, 50, 8, 8)
	want(t, "nothing that is recorded", m, "round 1, decode step 5 took 50.0 ms, 6.25 × the median: 40.0 ms longer in none of its parts")
}

// TestStallsOnTheMachine: what the readings around the round say.
func TestStallsOnTheMachine(t *testing.T) {
	m := &made{}
	m.Header.Host.Cores = 2
	m.Machine = append(m.Machine, recording.Machine{At: 0, OtherCores: -1, Throttled: 4})
	m.round(nil, 10, 10, 10, 40, 10, 10)
	at := int64(m.clock + ms)
	m.Machine = append(m.Machine, recording.Machine{At: at, OtherCores: 0.94, Throttled: 7})
	want(t, "load", m, "round 1, decode step 4 took 40.0 ms, 4.00 × the median: other processes kept 0.940 of 2 cores busy in the 92.0 ms around it, the processor was throttled 3 times in the 92.0 ms around it")
	m.Machine[1] = recording.Machine{At: at, OtherCores: 0.1, Throttled: -1}
	want(t, "idle", m, "round 1, decode step 4 took 40.0 ms, 4.00 × the median: nothing that is recorded happened beside it")
	m.Machine = m.Machine[1:]
	want(t, "no reading before", m, "round 1, decode step 4 took 40.0 ms, 4.00 × the median: nothing that is recorded happened beside it")
	if s := steps.Stalls(m.taken())[0]; s.Round != 1 || s.Step != 4 || s.Time != 40*ms || s.Median != 10*ms || s.Start != 31*time.Millisecond || s.With != nil {
		t.Errorf("%+v", s)
	}
}

// TestStalledRounds: what happened around all stalls of a round is told once, and the
// longest come first.
func TestStalledRounds(t *testing.T) {
	m := &made{}
	m.Header.Host.Cores = 2
	m.Machine = append(m.Machine, recording.Machine{At: 0, OtherCores: -1, Throttled: -1})
	m.round(m.device(func(step trace.ID) { m.span(step, names.SpanRecord, "", 0, 20*ms) }), 8, 8, 8, 8, 29, 8, 8, 40, 8, 25)
	m.Machine = append(m.Machine, recording.Machine{At: int64(m.clock), OtherCores: 0.5, Throttled: -1})
	m.round(nil, 8, 8, 8, 8)
	m.round(nil, 8, 8, 8, 80)
	all := steps.StalledRounds(m.taken())
	if len(all) != 2 || all[0].Round != 1 || all[0].Of != 9 || all[0].More != 70*ms || all[1].Round != 3 {
		t.Fatalf("%+v", all)
	}
	for i, want := range [][]string{
		{
			"stalls in round 1: 3 of 9 steps took over 3 × their median, together 70.0 ms more: other processes kept 0.500 of 2 cores busy in the 151.0 ms around it",
			"decode step 8 took 40.0 ms, 5.00 × the median: 32.0 ms longer in none of its parts",
			"decode step 5 took 29.0 ms, 3.62 × the median: the recording was written for 20.0 ms",
			"and 1 more, the shortest of which took 25.0 ms",
		},
		{
			"stalls in round 3: 1 of 3 steps took over 3 × their median, together 72.0 ms more",
			"decode step 4 (80.0 ms): nothing that is recorded happened in it",
		},
	} {
		got := all[i].Lines(2)
		if len(got) != len(want) {
			t.Fatalf("%q", got)
		}
		for k := range want {
			if got[k] != want[k] {
				t.Errorf("%q, want %q", got[k], want[k])
			}
		}
	}
}

// TestThousandsOfRounds: what was traced is looked at once for all rounds, of which a
// run may have thousands with a stall in each.
func TestThousandsOfRounds(t *testing.T) {
	m := &made{}
	m.Operations = []*recording.Operation{{ID: 1, Layer: 3, Name: "attn_q", Kernel: "mul"}}
	const rounds = 6000
	for range rounds {
		m.round(func(step trace.ID, _ int) {
			s := m.Spans[step-1]
			m.Executed = append(m.Executed, &recording.Executed{Span: step, Operations: []int{1}, Start: []int64{int64(s.Start)}, Time: []int64{int64(s.End - s.Start)}})
		}, 8, 8, 8, 8, 49, 8, 8)
	}
	run := m.taken()
	began := time.Now()
	all := steps.Stalls(run)
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("the stalls of %d rounds took %v", rounds, took)
	}
	if len(all) != rounds || !strings.HasSuffix(all[rounds-1].Text(), "attn_q of layer 3 ran 41.0 ms longer") {
		t.Errorf("%d stalls, the last is %q", len(all), all[len(all)-1].Text())
	}
}
