package recording_test

import (
	"testing"
	"time"

	"github.com/introgen/introgen/results/answers/overhead"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/trace"
	"github.com/introgen/introgen/trace/names"
)

// maker writes a small recording by hand, with a clock that goes on with every
// span.
type maker struct {
	t    *testing.T
	text []byte
	id   trace.ID
	now  time.Duration
	// kernels are the sums of what ran, and operations how many have been told.
	kernels    [2]recording.Kernel
	operations int
}

func (m *maker) put(events ...recording.Event) {
	m.t.Helper()
	for _, e := range events {
		var err error
		if m.text, err = recording.Encode(m.text, e); err != nil {
			m.t.Fatal(err)
		}
	}
}

// span writes a span that lasts as long as what is done in it, and took besides.
func (m *maker) span(in trace.ID, name, detail string, n int64, took time.Duration, inside func(id trace.ID)) trace.ID {
	m.id++
	s := trace.Record{ID: m.id, Parent: in, Name: name, Detail: detail, N: n, Start: m.now, End: -1}
	m.now += took
	if inside != nil {
		m.put(&recording.Span{Record: s})
		inside(s.ID)
	}
	s.End = m.now
	m.put(&recording.Span{Record: s})
	return s.ID
}

func (m *maker) count(in trace.ID, name string, value int64) {
	m.put(&recording.Count{Sample: trace.Sample{Span: in, Name: name, Value: value, At: m.now}})
}

const (
	us = time.Microsecond
	ms = time.Millisecond
)

// header is a header with something in every field.
func (m *maker) header(command string, n int, more ...recording.Knob) {
	m.id, m.now, m.operations, m.kernels = 0, 0, 0, [2]recording.Kernel{}
	m.put(&recording.Header{
		Format: recording.Format, Version: 1, Tool: recording.Tool{Version: "v1", Commit: "abc", Go: "go1.26"}, Command: command,
		Args: []string{command, "2"}, Started: time.Date(2026, 11, 30, 1, 2, n, 0, time.UTC), Clock: int64(n) * 1e9, PID: 100 + n,
		Host:        recording.Host{Name: "h", OS: "linux", Arch: "amd64", Build: "6.1", CPU: "cpu", Cores: 2, MemoryBytes: 1 << 33},
		Model:       recording.Model{File: "m.gguf", Bytes: 144811072, Digest: map[bool]string{true: "ab"}[command == "metal"], Types: "211 Q8_0 + 61 F32"},
		Knobs:       append([]recording.Knob{{Name: "io", Value: "mmap", Origin: recording.FromDefault}, {Name: "threads", Value: "2", Origin: recording.FromEnvironment, Source: "V"}}, more...),
		Environment: map[string]string{"GODEBUG": "x=1"}, View: recording.View{Label: command, IDs: true, Trace: command == "metal"},
	})
}

// knobs say how many rounds and decode steps were to be made.
func knobs(rounds, tokens int) []recording.Knob {
	return []recording.Knob{{Name: "tokens", Value: number(tokens), Origin: recording.FromFlag}, {Name: "rounds", Value: number(rounds), Origin: recording.FromFlag}}
}

// run writes what a run does from its header on.
func (m *maker) run(rounds, steps int, metal, untraced bool, pauses []time.Duration) {
	m.span(0, names.SpanArguments, "", 0, 2*ms, nil)
	m.put(&recording.Machine{At: int64(m.now), Load: 0.25, OtherCores: 0.125, MHz: 2600.5, Throttled: 3, Thermal: "cool"})
	m.span(0, names.SpanTokenizer, "go", 0, 30*ms, nil)
	if metal {
		m.span(0, names.SpanDevice, "", 0, 5*ms, nil)
		m.put(&recording.Device{Driver: "soft", Name: "soft", Compiler: "clang", Nonce: "n", Kernels: "own", Digest: "cd", System: "s"})
	}
	m.span(0, names.SpanEvict, "", 0, ms, nil)
	m.put(&recording.Evidence{What: recording.EvidencePageCache, Round: 1, Resident: 0.75, Evicted: true})
	for n := 1; n <= rounds; n++ {
		m.round(n, steps, metal, untraced, pauses)
	}
	m.span(0, names.SpanClose, "", 0, ms, nil)
	if metal {
		m.put(&m.kernels[0], &m.kernels[1],
			&recording.Evidence{What: recording.EvidenceMetalCache, LibraryHits: 1, LibraryMisses: 1, PipelineMisses: 2, Nonce: "n", Folder: "/c",
				Before: &recording.CacheFolder{Entries: 3, Bytes: 40, Changed: "2026-01-02T03:04:05Z"}, After: &recording.CacheFolder{Entries: 5, Bytes: 60, Changed: "2026-01-02T03:04:06Z"}})
	}
	m.span(0, names.SpanDigest, "", 0, ms, nil)
	if !untraced {
		m.put(&recording.Limit{What: recording.LimitMemory, Threads: 2, Best: 40e9, Median: 39.5e9, Samples: 10, Kernel: "avx512", Bytes: 1 << 28, Cache: 1 << 25},
			&recording.Limit{What: recording.LimitFloat32, Threads: 2, Best: 90e9, Median: 89e9, Samples: 10, Kernel: "avx2"})
	}
	m.span(0, names.SpanRecord, "", 0, ms, nil)
	m.put(&recording.Note{Text: "a note"}, &recording.End{At: int64(m.now), MajorFaults: 200, MinorFaults: 3, SpanCost: 80_000, ModelDigest: map[bool]string{false: "ab"}[metal]})
}

func (m *maker) round(n, steps int, metal, untraced bool, pauses []time.Duration) {
	var round trace.ID
	ids := []int32{66}
	round = m.span(0, names.SpanRound, "", int64(n), 0, func(round trace.ID) {
		m.span(round, names.SpanRead, "mmap", 0, 2*ms, nil)
		if n == 1 {
			m.put(&recording.Subject{IO: "file", PageCache: "some", Engine: "engine", Tokenizer: "go"})
		}
		m.span(round, names.SpanBuild, "", 0, 10*ms, func(build trace.ID) {
			if metal && n == 1 {
				m.span(build, names.SpanWeights, "token_embd.weight", 1024, 3*ms, nil)
				m.library(build, "Gemm", "gemm_nn", 20*ms, "miss")
				m.count(build, names.CountAllocated, 1024)
				m.count(build, names.CountMapped, 64)
			}
		})
		m.span(round, names.SpanEncodePrompt, "", 0, ms, nil)
		m.span(round, names.SpanRecord, "", 0, ms, nil)
		m.span(round, names.SpanPrefill, "", 13, 9*ms, func(prefill trace.ID) {
			if metal {
				m.commit(prefill, 50, n == 1)
			}
		})
		for i := 1; i <= steps; i++ {
			if len(pauses) > 0 && i > 2 && i%2 == 1 {
				p := pauses[(i/2-1)%len(pauses)]
				m.span(round, names.SpanPause, "", int64(p), p, nil)
			}
			ids = append(ids, int32(100+i))
			took := 4*ms + time.Duration(i*i+7*n)*10*us
			if untraced {
				m.now += took
				continue
			}
			m.span(round, names.SpanStep, "", int64(i), took, func(step trace.ID) {
				if metal {
					m.commit(step, 5+int64(i), false)
				} else {
					m.threads(step, m.now-took, took)
				}
			})
		}
		m.span(round, names.SpanCheck, "", 0, ms, nil)
	})
	m.put(&recording.Round{Number: n, Span: round, Prompt: 13, IDs: ids, Text: "text \xf0", Top: [][]recording.Logit{{{ID: 66, Value: 1.5}}}})
}

// library is a library with a pipeline.
func (m *maker) library(in trace.ID, name, function string, took time.Duration, cache string) {
	lib := m.span(in, names.SpanLibrary, name, 500, took, nil)
	m.put(&recording.Library{Span: lib, Name: name, SourceBytes: 500, Kernels: 3, Cache: cache})
	pipe := m.span(in, names.SpanPipeline, name+" "+function, 1, took/4, nil)
	m.put(&recording.Pipeline{Span: pipe, Library: name, Function: function, Constants: "1:bool=0", Cache: "miss"})
}

// commit encodes, commits and waits for a command buffer.
func (m *maker) commit(in trace.ID, dispatches int64, compile bool) {
	var inside func(trace.ID)
	if compile {
		inside = func(encode trace.ID) { m.library(encode, "Unary", "cos", 8*ms, "hit") }
	}
	m.span(in, names.SpanEncoder, "compute", 0, ms, inside)
	m.span(in, names.SpanCommit, "", dispatches, 200*us, nil)
	m.count(in, names.CountCommandBuffers, 1)
	m.count(in, names.CountEncoders, 1)
	m.count(in, names.CountDispatches, dispatches)
	from := m.now
	m.span(in, names.SpanWait, "", 0, 2*ms, nil)
	for _, s := range []trace.Record{{Name: names.SpanQueued, Start: from, End: from + 100*us}, {Name: names.SpanGPU, Start: from + 100*us, End: from + 1900*us}} {
		m.id++
		s.ID, s.Parent, s.N = m.id, in, dispatches
		m.put(&recording.Span{Record: s})
	}
	m.executed(m.id, dispatches, from+100*us, 1800*us)
}

// tell tells of the two operations that all of a run consists of.
func (m *maker) tell(library string, kernels [2]string) {
	if m.operations > 0 {
		return
	}
	m.operations = 2
	m.put(&recording.Operation{ID: 1, Layer: 3, Name: "ffn_down", Library: library, Kernel: kernels[0], Grid: [3]int64{4, 3, 2}, Group: [3]int64{32, 2, 1}, Threads: true, Read: 3000, Written: 20, Ops: 6000},
		&recording.Operation{ID: 2, Layer: recording.NoLayer, Name: "rope", Library: library, Kernel: kernels[1], Unknown: true})
}

// executed lets dispatches run without a pause.
func (m *maker) executed(span trace.ID, dispatches int64, from, took time.Duration) {
	kernels := [2]string{"gemm_nn", "cos"}
	m.tell("Gemm", kernels)
	e := &recording.Executed{Span: span}
	each := took / time.Duration(dispatches)
	for i := range dispatches {
		id := 1
		if i == 0 {
			id = 2
		}
		e.Operations, e.Start, e.Time = append(e.Operations, id), append(e.Start, int64(from+time.Duration(i)*each)), append(e.Time, int64(each))
		k := &m.kernels[id-1]
		k.Name, k.Dispatches, k.Time = kernels[id-1], k.Dispatches+1, k.Time+int64(each)
		if id == 1 {
			k.Read, k.Written, k.Ops = k.Read+3000, k.Written+20, k.Ops+6000
		} else {
			k.Unknown++
		}
	}
	m.put(e)
}

// threads lets two threads run both operations in a pass of the CPU engine.
func (m *maker) threads(span trace.ID, from, took time.Duration) {
	m.tell("", [2]string{"mul_q8_0 avx512", "rope go"})
	for track := range 2 {
		m.put(&recording.Executed{Span: span, Track: track, Operations: []int{1, 2}, Start: []int64{int64(from), int64(from + took/2)}, Time: []int64{int64(took / 2), int64(took / 2)}})
	}
}

// madeRecordings are one of each kind.
func madeRecordings(t *testing.T) map[string][]byte {
	out := map[string][]byte{}
	m := &maker{t: t}
	m.header("cpu", 1, knobs(2, 3)...)
	m.run(2, 3, false, false, nil)
	out["cpu"] = m.text

	m = &maker{t: t}
	m.header("metal", 1, knobs(2, 3)...)
	m.run(2, 3, true, false, nil)
	out["metal"] = m.text

	// A plan of two arms, metal and cpu.
	out["plan"] = madePlan(t, "compare", []recording.Arm{
		{Name: "cold", State: recording.StateCold, Args: []string{"metal", "2"}, Env: map[string]string{"E": "1"}, Levels: map[string]string{"cache": "cold"}, Cache: "empty"},
		{Name: "cpu", State: recording.StateCPU, Args: []string{"cpu", "2"}, Levels: map[string]string{"cache": "cpu"}},
	}, func(m *maker, arm, n int) {
		m.header([]string{"metal", "cpu"}[arm], n, knobs(2, 3)...)
		m.run(2, 3, arm == 0, false, nil)
	})
	out["overhead"] = madePlan(t, "overhead", []recording.Arm{{Name: overhead.Untraced, Args: []string{"cpu"}}, {Name: overhead.Traced, Args: []string{"cpu"}}},
		func(m *maker, arm, n int) {
			m.header("cpu", n, knobs(2, 3)...)
			m.run(2, 3, false, arm == 0, nil)
		})
	out["idle-gap"] = madePlan(t, "idle-gap", []recording.Arm{{Name: "cpu", Args: []string{"cpu", "1"}}}, func(m *maker, _, n int) {
		m.header("cpu", n, append(knobs(1, 10), recording.Knob{Name: "pauses", Value: "0s,10ms", Origin: recording.FromFlag})...)
		m.run(1, 10, false, false, []time.Duration{0, 10 * ms})
	})
	return out
}

// madePlan is a plan of two blocks.
func madePlan(t *testing.T, command string, arms []recording.Arm, run func(m *maker, arm, n int)) []byte {
	m := &maker{t: t}
	m.header(command, 1)
	m.put(&recording.Plan{Arms: arms, Blocks: 2, Order: "random", Seed: 7, Until: 0.5, Factors: []string{"cache"}}, &recording.Note{Text: "the plan's"},
		&recording.Machine{At: 5, Load: 1, OtherCores: 0.5, MHz: 2000, Throttled: 1})
	n := 1
	for block := range 2 {
		for i, a := range arms {
			n++
			m.put(&recording.Start{Run: n - 1, Block: block + 1, Arm: a.Name})
			run(m, i, n)
			m.put(&recording.Exit{Run: n - 1, Spawned: int64(n)*1e9 - int64(4*ms), Reaped: int64(n)*1e9 + int64(m.now) + int64(3*ms), MaxRSS: 1 << 20, Flags: []string{"load: other processes kept 1.50 of 2 cores busy"}})
		}
	}
	m.put(&recording.End{At: int64(time.Hour), SpanCost: 5})
	return m.text
}
