package metalshim_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/introgen/introgen/metalshim"
	"github.com/introgen/introgen/metalshim/callfault"
	"github.com/introgen/introgen/metalshim/shimtest"
	"github.com/introgen/introgen/trace"
	"github.com/introgen/introgen/trace/names"
)

type manyCompilers struct{ shimtest.Device }

func (*manyCompilers) CompileThreads() int { return 7 }

func TestCompileThreads(t *testing.T) {
	for _, c := range []struct {
		inner metalshim.Device
		want  int
	}{{&shimtest.Device{}, 1}, {&manyCompilers{}, 7}} {
		d, err := metalshim.Instrument(callfault.New(nil).Wrap(c.inner), metalshim.InstrumentOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if got := metalshim.CompileThreads(d); got != c.want {
			t.Errorf("%d threads, want %d", got, c.want)
		}
	}
}

// What is compiled on a track is recorded there, in the phase in which it began, and
// only what the thread that generates waits for is told to whoever wants to know.
func TestCompilesBeside(t *testing.T) {
	rec := trace.New()
	var told []time.Duration
	d, err := metalshim.Instrument(&shimtest.Device{}, metalshim.InstrumentOptions{Recorder: rec, Compiled: func(took time.Duration) { told = append(told, took) }})
	if err != nil {
		t.Fatal(err)
	}
	phase := rec.Begin(names.SpanBuild, "", 0)
	call := rec.Begin(names.SpanEncoder, "compute", 0)
	var made sync.WaitGroup
	for n := range int32(4) {
		made.Go(func() {
			ctx := trace.OnTrack(context.Background(), n+1)
			l, err := d.NewLibrary(ctx, metalshim.Source{Name: "Gemm"})
			if err != nil {
				t.Error(err)
				return
			}
			defer l.Release()
			p, err := l.NewPipeline(ctx, "a", nil)
			if err != nil {
				t.Error(err)
				return
			}
			p.Release()
		})
	}
	metalshim.Await(d, "Gemm a", func() { time.Sleep(2 * time.Millisecond); made.Wait() })
	call.End()
	phase.End()
	count := map[string]int{}
	for _, s := range rec.Spans() {
		count[s.Name]++
		compile := s.Name == names.SpanLibrary || s.Name == names.SpanPipeline
		if compile && (s.Parent != phase.ID() || s.Track < 1 || s.Track > 4) {
			t.Errorf("%+v does not lie in the phase %d on a track of its own", s, phase.ID())
		}
		if s.Name == names.SpanAwait && (s.Parent != call.ID() || s.Track != 0 || s.Detail != "Gemm a" || !slices.Equal(told, []time.Duration{s.Duration()})) {
			t.Errorf("%+v is the wait in %d; told were %v", s, call.ID(), told)
		}
	}
	if count[names.SpanLibrary] != 4 || count[names.SpanPipeline] != 4 || count[names.SpanAwait] != 1 {
		t.Errorf("spans are %v", count)
	}
	if len(d.Libraries()) != 4 || len(d.Pipelines()) != 4 {
		t.Errorf("%d libraries and %d pipelines are told of", len(d.Libraries()), len(d.Pipelines()))
	}
	waited := false
	metalshim.Await(&shimtest.Device{}, "Gemm a", func() { waited = true })
	if !waited {
		t.Error("nobody waits where nobody instruments")
	}
}
