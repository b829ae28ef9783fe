package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/trace"
)

// madeUp is a recording that is made up event by event. Times are in
// milliseconds.
type madeUp struct {
	text  bytes.Buffer
	last  trace.ID
	clock float64
	lost  map[trace.ID]bool // spans that are left out
	wrote []trace.Record    // spans that are not written yet
	read  []trace.Sample    // counters, likewise
}

func (m *madeUp) put(t *testing.T, e recording.Event) {
	t.Helper()
	line, err := recording.Encode(nil, e)
	if err != nil {
		t.Fatal(err)
	}
	m.text.Write(append(bytes.TrimRight(line, "\n"), '\n'))
}

// begin opens a span, end ends it, and took is one of so long that nothing is in.
func (m *madeUp) begin(in trace.ID, name, detail string, n int64) trace.ID {
	m.last++
	m.wrote = append(m.wrote, trace.Record{ID: m.last, Parent: in, Name: name, Detail: detail, N: n, Start: inMS(m.clock), End: -1})
	return m.last
}

func (m *madeUp) end(id trace.ID) {
	for i := range m.wrote {
		if m.wrote[i].ID == id {
			m.wrote[i].End = inMS(m.clock)
		}
	}
}

func (m *madeUp) took(in trace.ID, name, detail string, n int64, ms float64) trace.ID {
	id := m.begin(in, name, detail, n)
	m.clock += ms
	m.end(id)
	return id
}

// gpu is a span of the device's clock, beside what the CPU does.
func (m *madeUp) gpu(in trace.ID, n int64, from, to float64) {
	m.last++
	m.wrote = append(m.wrote, trace.Record{ID: m.last, Parent: in, Name: "gpu", N: n, Start: inMS(from), End: inMS(to)})
}

func inMS(ms float64) time.Duration { return time.Duration(ms*1e6 + 0.5) }

// flush writes the spans.
func (m *madeUp) flush(t *testing.T) {
	t.Helper()
	for _, s := range m.wrote {
		if !m.lost[s.ID] {
			m.put(t, &recording.Span{Record: s})
		}
	}
	for _, c := range m.read {
		m.put(t, &recording.Count{Sample: c})
	}
	m.wrote, m.read = nil, nil
}

// file is where the recording is written to.
func (m *madeUp) file(t *testing.T, dir, name string) string {
	t.Helper()
	path := filepath.Join(dir, name+recording.Ending)
	if err := os.WriteFile(path, m.text.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

func (m *madeUp) header(t *testing.T, command string, knobs ...string) {
	t.Helper()
	h := &recording.Header{Format: recording.Format, Version: recording.Version, Command: command, Args: []string{command}, View: recording.View{Label: command, Trace: command == "metal"}}
	h.Model.File, h.Model.Bytes, h.Host.Cores = "a.gguf", 1000, 2
	for _, k := range knobs {
		name, value, _ := strings.Cut(k, "=")
		h.Knobs = append(h.Knobs, recording.Knob{Name: name, Value: value, Origin: recording.FromFlag})
	}
	m.put(t, h)
}

// finish ends a run.
func (m *madeUp) finish(t *testing.T) {
	t.Helper()
	m.flush(t)
	m.clock++
	m.put(t, &recording.End{At: int64(inMS(m.clock)), SpanCost: 100_000})
}

// begun is what a process does before its rounds.
func (m *madeUp) begun(t *testing.T) {
	t.Helper()
	m.last, m.clock = 0, 0
	m.took(0, "arguments", "", 0, 1)
	m.took(0, "recording", "", 0, 2)
	m.took(0, "tokenizer", "go", 0, 11)
}

// round is one on the CPU: steps of these lengths.
func (m *madeUp) round(t *testing.T, n int, prefill float64, steps ...float64) {
	t.Helper()
	id := m.begin(0, "round", "", int64(n))
	m.took(id, "read gguf", "", 0, 3)
	m.took(id, "recording", "", 0, 0.5)
	m.took(id, "build model", "", 0, 20)
	m.took(id, "encode prompt", "", 0, 0.25)
	m.took(id, "prefill", "", 3, prefill)
	for i, ms := range steps {
		m.took(id, "decode step", "", int64(i+1), ms)
		m.took(id, "recording", "", 0, 0.125)
	}
	m.took(id, "close", "", 0, 1)
	m.rounded(t, id, n, len(steps))
}

func (m *madeUp) rounded(t *testing.T, id trace.ID, n, steps int) {
	t.Helper()
	m.end(id)
	m.flush(t)
	m.put(t, &recording.Round{Number: n, Span: id, Prompt: 3, IDs: make([]int32, steps+1), Text: "x"})
}

// compile is a library or a pipeline, with its event.
func (m *madeUp) compile(in trace.ID, library, function, constants string, ms float64) recording.Event {
	if function == "" {
		return &recording.Library{Span: m.took(in, "LIB", library, 100, ms), Name: library, SourceBytes: 100, Kernels: 9, Cache: "miss"}
	}
	return &recording.Pipeline{Span: m.took(in, "PIPE", library+" "+function, 0, ms), Library: library, Function: function, Constants: constants, Cache: "miss"}
}

// metalRound is one on Metal. In the first one something is compiled, written and
// brought to the device within an encoder and directly in a phase, and where nested
// says so in something else within an encoder; the device's spans overlap.
func (m *madeUp) metalRound(t *testing.T, n int, nested bool, steps ...float64) {
	t.Helper()
	var made []recording.Event
	id := m.begin(0, "round", "", int64(n))
	m.took(id, "read gguf", "", 0, 3)
	build := m.begin(id, "build model", "", 0)
	if n == 1 {
		made = append(made, m.compile(build, "Cast", "", "", 40))
		m.took(build, "weights", "a", 1, 4)
	}
	m.clock += 2
	m.end(build)
	m.took(id, "encode prompt", "", 0, 0.25)
	prefill := m.begin(id, "prefill", "", 3)
	encoder := m.begin(prefill, "encode", "compute", 9)
	m.clock += 6
	if n == 1 {
		made = append(made, m.compile(encoder, "Gemm", "", "", 50), m.compile(encoder, "Gemm", "gemm", "1:bool=0", 20), m.compile(encoder, "Gemm", "gemm", "1:bool=1", 30))
		m.took(encoder, "recording", "", 0, 7)
		m.took(encoder, "weights", "norm", 1, 5)
		other := encoder
		if nested {
			other = m.begin(encoder, "something", "", 0)
		}
		m.clock++
		made = append(made, m.compile(other, "Sort", "", "", 65), m.compile(other, "Sort", "sort", "", 25))
		if nested {
			m.end(other)
			moved := m.begin(encoder, "weights", "head", 1)
			m.clock += 2
			m.took(moved, "recording", "", 0, 3)
			m.end(moved)
		}
	}
	m.end(encoder)
	m.device(prefill, 9)
	m.end(prefill)
	for i, ms := range steps {
		step := m.begin(id, "decode step", "", int64(i+1))
		if n == 1 && i == 0 {
			made = append(made, m.compile(step, "Gemm", "", "", 51), m.compile(step, "Cast", "cast", "", 45))
		}
		m.took(step, "encode", "compute", 9, ms/4)
		m.device(step, 9)
		m.clock += ms
		m.end(step)
	}
	m.took(id, "close", "", 0, 1)
	m.end(id)
	m.flush(t)
	for _, e := range made {
		m.put(t, e)
	}
	m.rounded(t, id, n, len(steps))
}

// device commits two command buffers, which overlap on the device.
func (m *madeUp) device(in trace.ID, dispatches int64) {
	m.took(in, "commit", "", dispatches, 0.5)
	m.took(in, "commit", "", 0, 0.25)
	from := m.clock
	m.gpu(in, dispatches, from-0.25, from+3)
	m.gpu(in, 0, from+2, from+3.5)
	m.took(in, "wait", "", 0, 4)
	for name, v := range map[string]int64{"metal command buffers": 2, "metal dispatches": dispatches, "metal encoders": 1} {
		m.read = append(m.read, trace.Sample{Span: in, Name: name, Value: v, At: inMS(m.clock)})
	}
}

// child is a run of a plan.
func (m *madeUp) child(t *testing.T, n, block int, arm, refused string, run func()) {
	t.Helper()
	m.put(t, &recording.Start{Run: n, Block: block, Arm: arm})
	m.header(t, "cpu", "rounds=3")
	m.begun(t)
	run()
	m.finish(t)
	m.put(t, &recording.Exit{Run: n, Spawned: int64(n) * 1e9, Reaped: int64(n)*1e9 + int64(inMS(m.clock+5)), Refused: refused})
}

// madeUps are recordings in which the definitions of figures come apart.
func madeUps(t *testing.T, dir string) map[string]string {
	t.Helper()
	var metal, nested, cpu, lost, plan madeUp
	for m, within := range map[*madeUp]bool{&metal: false, &nested: true} {
		m.header(t, "metal")
		m.begun(t)
		m.metalRound(t, 1, within, 8, 9, 7, 6, 5.5)
		m.metalRound(t, 2, within, 8, 3, 7, 4, 5.5)
		m.finish(t)
	}

	rounds := [][]float64{{30, 8, 9, 7, 6}, {9, 8, 5, 1}, {4, 3, 2.5, 2}}
	cpu.header(t, "cpu")
	cpu.begun(t)
	for i, steps := range rounds {
		cpu.round(t, i+1, 40, steps...)
	}
	cpu.finish(t)

	lost.header(t, "cpu")
	lost.lost = map[trace.ID]bool{6: true, 14: true} // of round 1 a span before its prefill, and a decode step
	lost.begun(t)
	for i, steps := range rounds {
		lost.round(t, i+1, 40, steps...)
	}
	lost.finish(t)

	plan.header(t, "bench", "metric=")
	plan.put(t, &recording.Plan{Arms: []recording.Arm{{Name: "a", State: recording.StateCPU}, {Name: "b", State: recording.StateWarmCache}, {Name: "c", State: recording.StateColdFile}}, Blocks: 7, Order: "random"})
	n := 0
	run := func(block int, arm, refused string, by float64) {
		n++
		plan.child(t, n, block, arm, refused, func() {
			plan.round(t, 1, 10*by, 9*by, 2*by, 3*by, by)
			plan.round(t, 2, 10*by, 4*by, 2*by, 3*by, by)
			plan.round(t, 3, 10*by, 5*by, 6*by, 20*by, 30*by)
		})
	}
	for block := 1; block <= 7; block++ {
		by := 1 + float64(block)/10
		run(block, "a", "", by)
		run(block, "b", "", 2*by+float64(block%3)/8)
		if block == 3 { // once more, and of these the last counts
			run(block, "b", "", 5)
		}
		if block%2 == 0 {
			run(block, "b", "its evidence says otherwise", 9)
		}
		if block == 5 {
			run(block, "c", "was killed", 9)
		}
	}
	plan.last, plan.clock = 0, 0
	plan.finish(t)
	out := map[string]string{}
	for name, m := range map[string]*madeUp{"metal": &metal, "nested": &nested, "cpu": &cpu, "lost": &lost, "plan": &plan} {
		out["made up "+name] = m.file(t, dir, fmt.Sprint("made-", name))
	}
	return out
}
