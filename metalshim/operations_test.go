package metalshim_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/introgen/introgen/metalshim"
	"github.com/introgen/introgen/metalshim/callfault"
	"github.com/introgen/introgen/metalshim/shimtest"
	"github.com/introgen/introgen/trace"
	"github.com/introgen/introgen/trace/names"
)

var (
	one   = metalshim.Size{X: 1, Y: 1, Z: 1}
	wide  = metalshim.Size{X: 32, Y: 1, Z: 1}
	query = metalshim.Operation{Layer: 2, Name: "attn_q", Work: metalshim.Work{Read: 100, Written: 10, Ops: 200, Known: true}}
)

// three encodes and runs a dispatch that is described, one that is not, and a copy.
func three(t *testing.T, d metalshim.Device) error {
	t.Helper()
	ctx := context.Background()
	q, err := d.NewQueue()
	if err != nil {
		t.Fatal(err)
	}
	defer q.Release()
	cb, err := q.NewCommandBuffer()
	if err != nil {
		t.Fatal(err)
	}
	l, err := d.NewLibrary(ctx, metalshim.Source{Name: "Quantized"})
	if err != nil {
		t.Fatal(err)
	}
	p, err := l.NewPipeline(ctx, "mul", nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := d.NewBuffer(8, metalshim.Shared)
	if err != nil {
		t.Fatal(err)
	}
	e, err := cb.NewEncoder(metalshim.Concurrent)
	if err != nil {
		t.Fatal(err)
	}
	e.SetPipeline(p)
	metalshim.Describe(e, query)
	if err := e.DispatchThreadgroups(one, wide); err != nil {
		t.Fatal(err)
	}
	if err := e.DispatchThreads(wide, wide); err != nil {
		t.Fatal(err)
	}
	if err := e.EndEncoding(); err != nil {
		t.Fatal(err)
	}
	blit, err := cb.NewBlit()
	if err != nil {
		t.Fatal(err)
	}
	metalshim.Describe(blit, metalshim.Operation{Layer: metalshim.NoLayer, Name: "next token"})
	blit.Copy(b, 0, b, 4, 4)
	if err := blit.EndEncoding(); err != nil {
		t.Fatal(err)
	}
	if err := cb.Commit(); err != nil {
		t.Fatal(err)
	}
	err = cb.Wait(ctx)
	cb.Release()
	return err
}

func TestOperations(t *testing.T) {
	inner := &shimtest.Device{Took: time.Millisecond, Commands: []metalshim.CommandTime{{Start: 0, Took: 300}, {Start: 300, Took: 200}, {Start: 700, Took: 50}}}
	rec := trace.New()
	d, err := metalshim.Instrument(inner, metalshim.InstrumentOptions{Recorder: rec, Operations: true})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := three(t, d); err != nil {
			t.Fatal(err)
		}
	}
	want := []metalshim.OperationRecord{
		{Operation: query, Library: "Quantized", Kernel: "mul", Grid: one, Group: wide},
		{Operation: metalshim.Operation{Layer: metalshim.NoLayer}, Library: "Quantized", Kernel: "mul", Grid: wide, Group: wide, Threads: true},
		{Operation: metalshim.Operation{Layer: metalshim.NoLayer, Name: "next token", Work: metalshim.Work{Read: 4, Written: 4, Known: true}}, Kernel: names.Blit},
	}
	if got := d.OperationsFrom(0); !slices.Equal(got, want) {
		t.Errorf("operations %+v, want %+v", got, want)
	}
	if got := d.OperationsFrom(2); !slices.Equal(got, want[2:]) {
		t.Errorf("operations from the third on %+v", got)
	}
	var gpu []trace.Record
	for _, s := range rec.Spans() {
		if s.Name == names.SpanGPU {
			gpu = append(gpu, s)
		}
	}
	executed := d.TakeExecuted()
	if len(gpu) != 2 || len(executed) != 2 {
		t.Fatalf("%d command buffers ran, and %d are told of", len(gpu), len(executed))
	}
	for i, e := range executed {
		begin := gpu[i].Start
		if e.Span != gpu[i].ID || !slices.Equal(e.Operations, []int{1, 2, 3}) || !slices.Equal(e.Start, []time.Duration{begin, begin + 300, begin + 700}) || !slices.Equal(e.Took, []time.Duration{300, 200, 50}) {
			t.Errorf("%+v ran in %+v", e, gpu[i])
		}
	}
	if again := d.TakeExecuted(); again != nil {
		t.Errorf("told of once more: %+v", again)
	}
	if k := d.KernelTimes(); len(k) != 1 || k[0].Dispatches != 4 || k[0].Read != 200 || k[0].Written != 20 || k[0].Ops != 400 || k[0].Unknown != 2 {
		t.Errorf("kernels %+v", k)
	}
}

// TestOperationsOfDriversThatCannotTell: the order is known all the same, and what
// was encoded is counted.
func TestOperationsOfDriversThatCannotTell(t *testing.T) {
	for name, commands := range map[string][]metalshim.CommandTime{"nothing": nil, "too few": {{Took: 5}}} {
		d, err := metalshim.Instrument(untold{&shimtest.Device{Commands: commands}}, metalshim.InstrumentOptions{Recorder: trace.New(), Operations: true})
		if err != nil {
			t.Fatal(err)
		}
		if err := three(t, d); err != nil {
			t.Fatal(err)
		}
		if e := d.TakeExecuted(); len(e) != 1 || !slices.Equal(e[0].Operations, []int{1, 2, 3}) || e[0].Start != nil || e[0].Took != nil {
			t.Errorf("%s: %+v", name, e)
		}
		k := d.KernelTimes()
		if len(k) != 2 || k[0].Kernel != names.Blit || k[0].Dispatches != 1 || k[0].Read != 4 || k[1].Kernel != "mul" || k[1].Dispatches != 2 || k[1].Time != 0 || k[1].Ops != 200 || k[1].Unknown != 1 {
			t.Errorf("%s: kernels %+v", name, k)
		}
	}
}

// TestAloneInItsCommandBuffer: what a driver cannot tell of kernels is told by their
// command buffers where each has its own, and of none where some have not.
func TestAloneInItsCommandBuffer(t *testing.T) {
	inner := &shimtest.Device{Took: 2 * time.Millisecond}
	d, err := metalshim.Instrument(untold{inner}, metalshim.InstrumentOptions{Recorder: trace.New(), Operations: true})
	if err != nil {
		t.Fatal(err)
	}
	q, err := d.NewQueue()
	if err != nil {
		t.Fatal(err)
	}
	l, err := d.NewLibrary(context.Background(), metalshim.Source{Name: "Quantized"})
	if err != nil {
		t.Fatal(err)
	}
	p, err := l.NewPipeline(context.Background(), "mul", nil)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		cb, err := q.NewCommandBuffer()
		if err != nil {
			t.Fatal(err)
		}
		e, err := cb.NewEncoder(metalshim.Serial)
		if err != nil {
			t.Fatal(err)
		}
		e.SetPipeline(p)
		if err := errors.Join(e.DispatchThreads(wide, wide), e.EndEncoding(), cb.Commit(), cb.Wait(context.Background())); err != nil {
			t.Fatal(err)
		}
	}
	if k := d.KernelTimes(); len(k) != 1 || k[0].Dispatches != 2 || k[0].Time != 4*time.Millisecond {
		t.Errorf("kernels %+v", k)
	}
	for _, e := range d.TakeExecuted() {
		if !slices.Equal(e.Took, []time.Duration{2 * time.Millisecond}) || len(e.Start) != 1 {
			t.Errorf("executed %+v", e)
		}
	}
	if err := three(t, d); err != nil {
		t.Fatal(err)
	}
	for _, k := range d.KernelTimes() {
		if k.Time != 0 {
			t.Errorf("%s has the time of some of its dispatches: %+v", k.Kernel, k)
		}
	}
}

// untold is a driver that says nothing of kernels.
type untold struct{ metalshim.Device }

type untoldQueue struct{ metalshim.Queue }

type untoldCommands struct{ metalshim.CommandBuffer }

func (d untold) NewQueue() (metalshim.Queue, error) {
	q, err := d.Device.NewQueue()
	return untoldQueue{q}, err
}

func (q untoldQueue) NewCommandBuffer() (metalshim.CommandBuffer, error) {
	c, err := q.Queue.NewCommandBuffer()
	return untoldCommands{c}, err
}

func (c untoldCommands) CommandTimes() []metalshim.CommandTime {
	return metalshim.CommandTimes(c.CommandBuffer)
}

// TestOperationsNotKept: nobody asked, nobody records, or the command buffer failed.
func TestOperationsNotKept(t *testing.T) {
	times := []metalshim.CommandTime{{Took: 5}, {Took: 5}, {Took: 5}}
	for name, o := range map[string]metalshim.InstrumentOptions{"not asked": {Recorder: trace.New()}, "no recorder": {Operations: true}} {
		d, err := metalshim.Instrument(&shimtest.Device{Commands: times}, o)
		if err != nil {
			t.Fatal(err)
		}
		if err := three(t, d); err != nil {
			t.Fatal(err)
		}
		if e, ops := d.TakeExecuted(), d.OperationsFrom(0); len(e) > 0 || len(ops) > 0 {
			t.Errorf("%s: %+v, %+v", name, e, ops)
		}
		if k := d.KernelTimes(); len(k) != 1 || k[0].Ops != 200 {
			t.Errorf("%s: kernels %+v", name, k)
		}
	}
	failing := callfault.New(callfault.Rules{{Call: callfault.Wait, N: 1, Fail: true}}).Wrap(&shimtest.Device{Took: 20 * time.Millisecond, Commands: times})
	d, err := metalshim.Instrument(failing, metalshim.InstrumentOptions{Recorder: trace.New(), Operations: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := three(t, d); err == nil {
		t.Fatal("the wait did not fail")
	}
	if e := d.TakeExecuted(); len(e) > 0 {
		t.Errorf("of a command buffer that failed: %+v", e)
	}
	if err := three(t, d); err != nil {
		t.Fatal(err)
	}
	if e := d.TakeExecuted(); len(e) != 1 || len(e[0].Start) != 3 {
		t.Errorf("behind faults: %+v", e)
	}
}

// BenchmarkDispatch is what an instrumented dispatch costs, with and without what it
// was.
func BenchmarkDispatch(b *testing.B) {
	for name, keep := range map[string]bool{"counted": false, "kept": true} {
		b.Run(name, func(b *testing.B) {
			d, err := metalshim.Instrument(&shimtest.Device{}, metalshim.InstrumentOptions{Recorder: trace.New(), Operations: keep})
			if err != nil {
				b.Fatal(err)
			}
			l, _ := d.NewLibrary(context.Background(), metalshim.Source{Name: "Quantized"})
			p, _ := l.NewPipeline(context.Background(), "kernel_mul_mv_q8_0_f32", nil)
			q, _ := d.NewQueue()
			for b.Loop() {
				cb, _ := q.NewCommandBuffer()
				e, _ := cb.NewEncoder(metalshim.Concurrent)
				e.SetPipeline(p)
				for i := range 1000 {
					o := query
					o.Layer = i % 30
					metalshim.Describe(e, o)
					if err := e.DispatchThreadgroups(one, wide); err != nil {
						b.Fatal(err)
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/dispatch")
		})
	}
}
