package steps_test

import (
	"testing"
	"time"

	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/trace"
	"github.com/introgen/introgen/trace/names"
)

// executed tells that operations ran one behind the other, for so many milliseconds
// each; the first is operation 1.
func (m *made) executed(span trace.ID, track int, took ...time.Duration) {
	e := &recording.Executed{Span: span, Track: track}
	at := m.clock
	for i, t := range took {
		e.Operations, e.Start, e.Time = append(e.Operations, i+1), append(e.Start, int64(at)), append(e.Time, int64(t))
		at += t
	}
	m.Executed = append(m.Executed, e)
}

func traced() *made {
	m := &made{}
	m.Operations = []*recording.Operation{{ID: 1, Layer: 3, Name: "ffn_down"}, {ID: 2, Layer: recording.NoLayer, Name: "output"}, {ID: 3, Layer: 4, Name: "ffn_down"}}
	return m
}

// TestStalledThreads: the operation whose share of one thread took longer is named,
// and the thread. Else it is all of a thread together, and what no thread ran.
func TestStalledThreads(t *testing.T) {
	m := traced()
	m.round(func(step trace.ID, n int) {
		m.executed(step, 0, 4*ms, 3*ms, 2*ms)
		if n == 5 {
			m.executed(step, 1, 4*ms, 33*ms, 2*ms)
		} else {
			m.executed(step, 1, 4*ms, 3*ms, 2*ms)
		}
	}, 10, 10, 10, 10, 40, 10)
	want(t, "one thread", m, "round 1, decode step 5 took 40.0 ms, 4.00 × the median: output ran 30.0 ms longer on thread 1")

	// One after the other: thread 1 waits for thread 0, and then thread 0 for thread 1.
	m = traced()
	m.round(func(step trace.ID, n int) {
		m.executed(step, 0, 4*ms, 3*ms)
		if n == 5 {
			m.executed(step, 1, 4*ms)
			m.clock += 7 * ms
			m.executed(step, 0, 19*ms)
			m.clock += 4 * ms
			m.executed(step, 1, 1*ms, 23*ms)
			m.clock -= 11 * ms
		}
	}, 10, 10, 10, 10, 40, 10)
	want(t, "by turns", m, "round 1, decode step 5 took 40.0 ms, 4.00 × the median: output ran 20.0 ms longer on thread 1, ffn_down of layer 3 ran 15.0 ms longer on thread 0")

	m = traced()
	m.round(func(step trace.ID, n int) {
		took := []time.Duration{4 * ms, 3 * ms, 2 * ms}
		if n == 5 { // each longer by less than a tenth of 25 ms
			took = []time.Duration{6 * ms, 5 * ms, 4 * ms}
		}
		m.executed(step, 0, took...)
		m.executed(step, 1, took[:2]...)
	}, 10, 10, 10, 10, 35, 10)
	want(t, "all of a thread", m, "round 1, decode step 5 took 35.0 ms, 3.50 × the median: no thread ran an operation for 19.0 ms longer, all operations together ran 6.00 ms longer on thread 0")
}

// TestStalledKernels: on a device operations ran in the command buffer that began in
// the step.
func TestStalledKernels(t *testing.T) {
	m := traced()
	m.round(func(step trace.ID, n int) {
		m.span(step, names.SpanEncoder, "compute", 0, ms)
		took := 4 * ms
		if n == 3 {
			took = 36 * ms
		}
		gpu := m.span(step, names.SpanGPU, "", 2, took+4*ms)
		m.executed(gpu, 0, 3*ms, took, ms)
		m.executed(step+1000, 0, ms) // of a span that is missing
	}, 10, 10, 42, 10, 10, 10)
	want(t, "one kernel", m, "round 1, decode step 3 took 42.0 ms, 4.20 × the median: the device ran 32.0 ms longer, 32.0 ms longer in none of its parts, output ran 32.0 ms longer")
	for _, e := range m.Executed { // nobody knows when they ran
		e.Start, e.Time = nil, nil
	}
	want(t, "untimed", m, "round 1, decode step 3 took 42.0 ms, 4.20 × the median: the device ran 32.0 ms longer, 32.0 ms longer in none of its parts")
}
