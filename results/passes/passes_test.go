package passes

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/passes/passestest"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/trace/names"
)

const ms = int64(time.Millisecond)

func TestOf(t *testing.T) {
	got := Of(breakdown.Take(passestest.Run()))
	if got == nil || len(got.Phases) != 2 || got.Number != 2 || got.Observations != 7+0+4+3+4 || got.Writing != 2*time.Millisecond {
		t.Fatalf("%+v", got)
	}
	prefill, step := got.Phases[0], got.Phases[1]
	hold := func(p Phase, name, kernel string, times, working, elapsed int64, read, written, ops float64) {
		t.Helper()
		for _, o := range p.Operations {
			if o.Name == name && strings.HasPrefix(o.Kernel, kernel) {
				if o.Times != times || o.Working != time.Duration(working*ms) || o.Elapsed != time.Duration(elapsed*ms) || float64(o.Read) != read || float64(o.Written) != written || float64(o.Ops) != ops {
					t.Errorf("%s: %+v", p.Name, o)
				}
				return
			}
		}
		t.Errorf("%s: no %s", p.Name, name)
	}
	if prefill.Name != names.SpanPrefill || prefill.Times != 1 || prefill.Passes != 2 || prefill.Wall != 30*time.Millisecond || prefill.Busy[0] != 10*time.Millisecond || prefill.Busy[1] != 14*time.Millisecond {
		t.Errorf("%+v", prefill)
	}
	hold(prefill, "token_embd", "expand", 2, 2, 2, 200, 600, 0)
	hold(prefill, "ffn_down", "pack_tile", 2, 4+2+2+4+10, 5+10, 8e6, 2000, 1600e6)
	if step.Name != names.SpanStep || step.Times != 2 || step.Passes != 2 || step.Wall != 30*time.Millisecond || step.Busy[0] != 24*time.Millisecond || step.Busy[1] != 4*time.Millisecond {
		t.Errorf("%+v", step)
	}
	hold(step, "attn_norm", "rms_norm", 2, 4, 3, 1000, 1000, 2000)
	hold(step, "ffn_down", "mul", 4, 2+1+2+1+8+8, 2+3+8+8, 16e6-800, 800, 32e6)
	if whole := step.Whole(); whole.Read+whole.Written != 16e6+2000+800 || whole.Ops != 32e6+2000 || whole.Elapsed != 30*time.Millisecond || whole.Working != 28*time.Millisecond {
		t.Errorf("%+v", whole)
	}
	// 18 observations of a microsecond, of 2 threads in 60 ms.
	if each, share, ok := got.Cost(); each != time.Microsecond || math.Abs(share-18e-6/0.12) > 1e-12 || !ok {
		t.Errorf("%v, %v, %v", each, share, ok)
	}
}

// TestMany: a file that names a hundred thousand operations, on the last thread that
// it may name, is summed up at once.
func TestMany(t *testing.T) {
	r := passestest.Run()
	e := &recording.Executed{Span: 4, Track: 1 << 16}
	for id := 6; id < 100_000; id++ {
		r.Operations = append(r.Operations, &recording.Operation{ID: id, Name: fmt.Sprint("x", id), Kernel: "y"})
		e.Operations, e.Start, e.Time = append(e.Operations, id), append(e.Start, 50*ms), append(e.Time, 0)
	}
	r.Executed = append(r.Executed, e)
	began := time.Now()
	got := Of(breakdown.Take(r))
	if took := time.Since(began); took > 20*time.Second || len(got.Phases[1].Operations) != 3+100_000-6 {
		t.Errorf("%d operations in %v", len(got.Phases[1].Operations), took)
	}
	if got.Number != 1<<16+1 || len(got.Phases[1].Busy) != got.Number {
		t.Errorf("%d threads", got.Number)
	}
}

// TestNothing: of runs without executed operations, or without times, there is
// nothing to say; operations of no phase do not count.
func TestNothing(t *testing.T) {
	r := passestest.Run()
	for _, e := range r.Executed {
		e.Start, e.Time = nil, nil
	}
	if got := Of(breakdown.Take(r)); got != nil {
		t.Errorf("%+v", got)
	}
	r = passestest.Run()
	for _, e := range r.Executed {
		e.Span = 77
	}
	if got := Of(breakdown.Take(r)); got != nil {
		t.Errorf("%+v", got)
	}
	r = passestest.Run()
	r.Operations = nil
	if got := Of(breakdown.Take(r)); got == nil || len(got.Phases[0].Operations) != 0 {
		t.Errorf("%+v", got)
	}
}
