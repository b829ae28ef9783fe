package metalshim_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/introgen/introgen/metalshim"
	"github.com/introgen/introgen/metalshim/callfault"
	"github.com/introgen/introgen/metalshim/shimtest"
	"github.com/introgen/introgen/trace"
	"github.com/introgen/introgen/trace/names"
)

func TestNonce(t *testing.T) {
	inner := &shimtest.Device{}
	d, err := metalshim.Instrument(inner, metalshim.InstrumentOptions{Nonce: "2026-01-02T03:04:05"})
	if err != nil {
		t.Fatal(err)
	}
	l, err := d.NewLibrary(context.Background(), metalshim.Source{Name: "Cast", Text: "kernel"})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := inner.Sources()[0].Text, "kernel\n// 2026-01-02T03:04:05\n"; got != want {
		t.Errorf("the driver got %q, want %q", got, want)
	}
	if l.SourceBytes() != 6 || d.Libraries()[0].SourceBytes != 6 {
		t.Errorf("source bytes %d, want those without the nonce", l.SourceBytes())
	}
	for _, bad := range []string{"a\nb", "a\r", `a\`} {
		if _, err := metalshim.Instrument(inner, metalshim.InstrumentOptions{Nonce: bad}); err == nil || !strings.Contains(err.Error(), "one line") {
			t.Errorf("nonce %q: error %v", bad, err)
		}
	}
}

// drive builds two libraries and a pipeline, and runs a command buffer of two
// dispatches and a copy.
func drive(t *testing.T, d metalshim.Device) {
	t.Helper()
	ctx := context.Background()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	q, err := d.NewQueue()
	must(err)
	defer q.Release()
	cb, err := q.NewCommandBuffer()
	must(err)
	a, err := d.NewBufferWithBytes([]byte{1, 2, 3, 4})
	must(err)
	b, err := d.NewBuffer(8, metalshim.Private)
	must(err)
	memory := make([]byte, 5)
	c, err := metalshim.NewBufferNoCopy(d, memory)
	must(err)
	if &c.Contents()[0] != &memory[0] {
		t.Error("memory that is not to be copied was")
	}
	e, err := cb.NewEncoder(metalshim.Concurrent)
	must(err)
	l, err := d.NewLibrary(ctx, metalshim.Source{Name: "Unary", Text: "text"})
	must(err)
	p, err := l.NewPipeline(ctx, "cos_f32", []metalshim.Constant{metalshim.BoolConstant(1, true)})
	must(err)
	e.SetPipeline(p)
	e.SetBuffer(0, a, 0)
	must(e.DispatchThreadgroups(metalshim.Size{X: 2, Y: 1, Z: 1}, metalshim.Size{X: 32, Y: 1, Z: 1}))
	e.MemoryBarrier(metalshim.BarrierBuffers)
	must(e.DispatchThreads(metalshim.Size{X: 2, Y: 1, Z: 1}, metalshim.Size{X: 32, Y: 1, Z: 1}))
	must(e.EndEncoding())
	bl, err := cb.NewBlit()
	must(err)
	bl.Copy(b, 0, a, 0, 4)
	must(bl.EndEncoding())
	must(cb.Commit())
	must(cb.Wait(ctx))
	cb.Release()
	a.Release()
	b.Release()
	c.Release()
	p.Release()
	l.Release()
}

func TestInstrument(t *testing.T) {
	inner := &shimtest.Device{Took: 3 * time.Millisecond}
	rec := trace.New()
	var compiled []time.Duration
	d, err := metalshim.Instrument(inner, metalshim.InstrumentOptions{Recorder: rec,
		Compiled: func(took time.Duration) { compiled = append(compiled, took) }})
	if err != nil {
		t.Fatal(err)
	}
	phase := rec.Begin("decode", "", 1)
	drive(t, d)
	phase.End()

	var order []string
	byName := map[string]trace.Record{}
	for _, s := range rec.Spans() {
		order = append(order, s.Name)
		byName[s.Name] = s
	}
	if got, want := strings.Join(order, " "), "decode encode LIB PIPE encode commit wait queued gpu"; got != want {
		t.Errorf("spans %s, want %s", got, want)
	}
	if s := byName["PIPE"]; s.Detail != "Unary cos_f32" || s.N != 1 {
		t.Errorf("PIPE %q, N %d", s.Detail, s.N)
	}
	if s := byName["LIB"]; s.Detail != "Unary" || s.N != 4 {
		t.Errorf("LIB %q, N %d", s.Detail, s.N)
	}
	if s := byName["gpu"]; s.Duration() < 3*time.Millisecond-time.Microsecond || s.Duration() > 4*time.Millisecond || s.Parent != byName["decode"].ID || s.N != 2 {
		t.Errorf("gpu span %+v", s)
	}
	sums := map[string]int64{}
	for _, s := range rec.Samples() {
		if s.Span != byName["decode"].ID {
			t.Errorf("sample %+v outside of the phase", s)
		}
		sums[s.Name] += s.Value
	}
	for name, want := range map[string]int64{names.CountDispatches: 2, names.CountEncoders: 2,
		names.CountCommandBuffers: 1, names.CountAllocated: 12, names.CountMapped: 5} {
		if sums[name] != want {
			t.Errorf("%s: %d, want %d", name, sums[name], want)
		}
	}
	if w := byName["wait"].Duration(); w < 2*time.Millisecond {
		t.Errorf("wait %v, want about 3ms", w)
	}
	if k := d.KernelTimes(); len(k) != 1 || k[0].Kernel != "cos_f32" || k[0].Dispatches != 2 || k[0].Time != 3*time.Millisecond {
		t.Errorf("kernel times %+v", k)
	}
	if live := inner.Live(); live != (metalshim.Counts{}) {
		t.Errorf("left over: %+v", live)
	}
	if libs, pipes := d.Libraries(), d.Pipelines(); len(libs) != 1 || len(pipes) != 1 || libs[0].Span != byName["LIB"].ID || pipes[0].Span != byName["PIPE"].ID ||
		libs[0].Took != byName["LIB"].Duration() || !slices.Equal(compiled, []time.Duration{libs[0].Took, pipes[0].Took}) {
		t.Errorf("libraries %+v, pipelines %+v, told of %v", libs, pipes, compiled)
	}
}

// TestNoCopyUnsupported: a driver that can only copy says so, by its name,
// whatever stands around it.
func TestNoCopyUnsupported(t *testing.T) {
	copies := struct{ metalshim.Device }{&shimtest.Device{}}
	timed, err := metalshim.Instrument(copies, metalshim.InstrumentOptions{})
	if err != nil {
		t.Fatal(err)
	}
	plan := callfault.Rules{{Call: callfault.Alloc, N: 9, Fail: true}}
	for name, d := range map[string]metalshim.Device{"bare": copies, "timed": timed, "with faults": callfault.New(plan).Wrap(copies)} {
		var e *metalshim.AllocationError
		_, err := metalshim.NewBufferNoCopy(d, make([]byte, 7))
		if !errors.As(err, &e) || e.Length != 7 || !errors.Is(err, errors.ErrUnsupported) || !strings.Contains(err.Error(), "driver test") {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// Without a recorder it works all the same.
// Begin is a span where somebody instruments the device, and nothing elsewhere.
func TestBegin(t *testing.T) {
	rec := trace.New()
	d, err := metalshim.Instrument(&shimtest.Device{}, metalshim.InstrumentOptions{Recorder: rec})
	if err != nil {
		t.Fatal(err)
	}
	metalshim.Begin(d, names.SpanWeights, "norm", 4).End()
	metalshim.Begin(&shimtest.Device{}, names.SpanWeights, "norm", 4).End()
	if s := rec.Spans(); len(s) != 1 || s[0].Name != "weights" || s[0].Detail != "norm" || s[0].N != 4 || s[0].End < s[0].Start {
		t.Errorf("spans are %+v", s)
	}
}

func TestInstrumentWithoutRecorder(t *testing.T) {
	d, err := metalshim.Instrument(&shimtest.Device{}, metalshim.InstrumentOptions{})
	if err != nil {
		t.Fatal(err)
	}
	drive(t, d)
	if l := d.Libraries(); len(l) != 1 || l[0].Name != "Unary" {
		t.Errorf("libraries %+v", l)
	}
}

// A command buffer that is released before it ends is kept until its times
// have been taken.
func TestReleaseInFlight(t *testing.T) {
	inner := &shimtest.Device{Took: 2 * time.Millisecond}
	rec := trace.New()
	d, err := metalshim.Instrument(inner, metalshim.InstrumentOptions{Recorder: rec})
	if err != nil {
		t.Fatal(err)
	}
	q, _ := d.NewQueue()
	cb, _ := q.NewCommandBuffer()
	if err := cb.Commit(); err != nil {
		t.Fatal(err)
	}
	cb.Release()
	if n := inner.Live().CommandBuffers; n != 1 {
		t.Errorf("%d command buffers live while it runs, want 1", n)
	}
	time.Sleep(3 * time.Millisecond)
	d.KernelTimes() // looks what has ended
	var gpu time.Duration
	for _, s := range rec.Spans() {
		if s.Name == names.SpanGPU {
			gpu += s.Duration()
		}
	}
	if gpu < 2*time.Millisecond-time.Microsecond || gpu > 2*time.Millisecond+time.Microsecond {
		t.Errorf("gpu %v, want 2ms", gpu)
	}
	if n := inner.Live().CommandBuffers; n != 0 {
		t.Errorf("%d command buffers left over", n)
	}
}
