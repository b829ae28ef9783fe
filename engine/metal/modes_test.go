package metal

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/introgen/introgen/engine/metal/forward"
	"github.com/introgen/introgen/engine/transformer"
	"github.com/introgen/introgen/engine/transformer/transformertest"
	"github.com/introgen/introgen/metalshim"
	"github.com/introgen/introgen/metalshim/callfault"
	"github.com/introgen/introgen/trace"
	"github.com/introgen/introgen/trace/names"
)

// everyMode are the modes, with one compile thread and with several.
func everyMode() []Options {
	var out []Options
	for _, text := range CompileModes() {
		c, err := ParseCompile("", text)
		if err != nil {
			panic(err)
		}
		out = append(out, Options{CommandsPerBuffer: 7, Compile: c, Threads: 1})
		if c.When != Serial {
			out = append(out, Options{CommandsPerBuffer: 7, Compile: c, Threads: 3})
		}
	}
	return out
}

// ran is what a run leaves: ids, the bits of its logits, what was encoded, and what
// was compiled.
type ran struct {
	ids                  []int32
	logits               []float32
	dispatches, compiled []string
}

// once makes a device and a model on it, expects the whole run where that is to be,
// and walks. The recorder has what was compiled where.
func once(t *testing.T, m *transformer.Model, o Options, expected passes, walk passes) (ran, *trace.Recorder) {
	t.Helper()
	dev, rec := newFake(), trace.New()
	timed, err := metalshim.Instrument(dev, metalshim.InstrumentOptions{Recorder: rec})
	if err != nil {
		t.Fatal(err)
	}
	d, err := NewDevice(t.Context(), timed, o)
	if err != nil {
		t.Fatal(err)
	}
	needs, err := Needs(m, 0, "", OfModel)
	if err != nil {
		t.Fatal(err)
	}
	list := needs.Build()
	for _, p := range expected {
		more, err := needs.Next(p[0], p[1])
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, more...)
	}
	d.Expect(list)
	e := build(t, d, m)
	var out ran
	for i, p := range walk {
		ids := make([]int32, p[0])
		for j := range ids {
			ids[j] = int32((7*i + 13*j + 1) % m.Vocab)
		}
		id, err := e.Step(ids, p[1])
		if err != nil {
			t.Fatal(err)
		}
		logits, err := e.Logits()
		if err != nil {
			t.Fatal(err)
		}
		out.ids, out.logits = append(out.ids, id), append(out.logits, logits...)
	}
	if err := errors.Join(e.Close(), d.Close()); err != nil {
		t.Error(err)
	}
	noneLive(t, dev)
	out.dispatches, out.compiled = dev.dispatches, dev.events
	slices.Sort(out.compiled)
	return out, rec
}

// Whatever the mode, a run gives the same and does the same, and nothing is compiled
// by the thread that generates which was foreseen: that is all, for every model.
func TestModes(t *testing.T) {
	for name, c := range shapes(t) {
		t.Run(name, func(t *testing.T) {
			m := load(t, transformertest.Write(t, c))
			want, _ := once(t, m, Options{CommandsPerBuffer: 7}, nil, walk)
			modes := everyMode()
			if name != "mixed types" { // which has the most of them
				modes = []Options{{CommandsPerBuffer: 7, Compile: Compile{When: Concurrent}, Threads: 3}, {CommandsPerBuffer: 7, Compile: Compile{When: Early}, Threads: 3}}
			}
			for _, o := range modes {
				got, rec := once(t, m, o, walk, walk)
				if !slices.Equal(got.ids, want.ids) || !slices.Equal(got.logits, want.logits) {
					t.Errorf("%v: ids %v, want %v, or other logits", o.Compile, got.ids, want.ids)
				}
				if !slices.Equal(got.dispatches, want.dispatches) {
					t.Errorf("%v: other dispatches", o.Compile)
				}
				if !slices.Equal(got.compiled, want.compiled) {
					t.Errorf("%v compiled %q, want %q", o.Compile, got.compiled, want.compiled)
				}
				for _, s := range rec.Spans() {
					compile := s.Name == names.SpanLibrary || s.Name == names.SpanPipeline
					if beside := s.Track > 0; compile && beside != (o.Compile.When != Serial) || beside && !compile || int(s.Track) > o.Threads {
						t.Errorf("%v with %d threads: %s %s on track %d", o.Compile, o.Threads, s.Name, s.Detail, s.Track)
					}
				}
			}
		})
	}
}

// What was not foreseen is compiled where it is needed.
func TestUnforeseen(t *testing.T) {
	m := small(t)
	walk := passes{{3, 0}, {1, 3}}
	want, _ := once(t, m, Options{CommandsPerBuffer: 7}, nil, walk)
	got, rec := once(t, m, Options{CommandsPerBuffer: 7, Compile: Compile{When: Early}, Threads: 2}, passes{{3, 0}}, walk)
	if !slices.Equal(got.logits, want.logits) || !slices.Equal(got.compiled, want.compiled) {
		t.Errorf("compiled %q, want %q, or other logits", got.compiled, want.compiled)
	}
	var here []string
	for _, s := range rec.Spans() {
		if s.Track == 0 && (s.Name == names.SpanLibrary || s.Name == names.SpanPipeline) {
			here = append(here, s.Name+" "+s.Detail)
		}
	}
	if len(here) == 0 || here[0] != "LIB Sdpa" || !strings.HasPrefix(here[1], "PIPE Sdpa ") {
		t.Errorf("compiled where it is needed: %q, want Sdpa and its pipeline", here)
	}
}

// A compile that fails beside the thread that generates fails the run with the words
// of one that fails in it, and nothing is left on the device.
func TestFailsBeside(t *testing.T) {
	m := small(t)
	fail := func(o Options, rule callfault.Rule) error {
		dev := newFake()
		d, err := NewDevice(t.Context(), callfault.New(callfault.Rules{rule}).Wrap(dev), o)
		if err != nil {
			t.Fatal(err)
		}
		needs, err := Needs(m, 0, "", OfModel)
		if err != nil {
			t.Fatal(err)
		}
		list, err := needs.Run(3, 1)
		if err != nil {
			t.Fatal(err)
		}
		d.Expect(list)
		e, err := d.New(m)
		if err == nil {
			if _, err = e.Step([]int32{1, 2, 3}, 0); err == nil {
				_, err = e.Step([]int32{4}, 3)
			}
			err = errors.Join(err, e.Close())
		}
		if closed := d.Close(); closed != nil {
			t.Errorf("%v: the failure surfaces once more: %v", o.Compile, closed)
		}
		noneLive(t, dev)
		return err
	}
	for _, rule := range []callfault.Rule{
		{Call: callfault.Library, Name: "Cast", Fail: true}, {Call: callfault.Library, Name: "Sdpa", Fail: true},
		{Call: callfault.Pipeline, Name: "cos_f32", Fail: true}, {Call: callfault.Pipeline, Name: "rmsnorm_f32", Fail: true},
	} {
		want := fail(Options{CommandsPerBuffer: 7}, rule)
		for _, o := range everyMode() {
			if got := fail(o, rule); got == nil || want == nil || got.Error() != want.Error() || !errors.Is(got, callfault.ErrInjected) {
				t.Errorf("%v, %v: error %v, want %v", o.Compile, rule, got, want)
			}
		}
	}
}

// A run that ends while something is being compiled beside it ends that too.
func TestEndsBeside(t *testing.T) {
	m := small(t)
	for _, o := range everyMode() {
		if o.Compile.When == Serial {
			continue
		}
		dev := newFake()
		ctx, cancel := context.WithCancel(t.Context())
		slow := callfault.New(callfault.Rules{{Call: callfault.Library, Delay: time.Hour}}).Wrap(dev)
		d, err := NewDevice(ctx, slow, o)
		if err != nil {
			t.Fatal(err)
		}
		needs, err := Needs(m, 0, "", OfModel)
		if err != nil {
			t.Fatal(err)
		}
		d.Expect(needs.Build())
		time.AfterFunc(5*time.Millisecond, cancel)
		if _, err := d.New(m); !errors.Is(err, context.Canceled) {
			t.Errorf("%v: error %v, want the cancellation", o.Compile, err)
		}
		if err := d.Close(); err != nil {
			t.Errorf("%v: %v", o.Compile, err)
		}
		noneLive(t, dev)
	}
}

// A device that was warmed compiles nothing any more, whatever the mode.
func TestWarm(t *testing.T) {
	m := small(t)
	needs, err := Needs(m, 0, "", OfModel)
	if err != nil {
		t.Fatal(err)
	}
	list, err := needs.Run(3, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range everyMode() {
		dev := newFake()
		d, err := NewDevice(t.Context(), dev, o)
		if err != nil {
			t.Fatal(err)
		}
		d.Expect(list)
		if err := d.Warm(t.Context(), list); err != nil {
			t.Fatal(err)
		}
		warm := len(dev.events)
		e := build(t, d, m)
		if _, err := e.Step([]int32{1, 2, 3}, 0); err != nil {
			t.Fatal(err)
		}
		if _, err := e.Step([]int32{4}, 3); err != nil {
			t.Fatal(err)
		}
		if len(dev.events) != warm || warm < len(list) {
			t.Errorf("%v: the warm-up compiled %d, and the run then %q", o.Compile, warm, dev.events[warm:])
		}
		if err := d.Warm(t.Context(), []forward.Pipeline{{Library: "Absent", Function: "f"}}); err == nil || !strings.Contains(err.Error(), "Absent") {
			t.Errorf("%v: a library that is not there: %v", o.Compile, err)
		}
		if err := errors.Join(e.Close(), d.Close()); err != nil {
			t.Error(err)
		}
		noneLive(t, dev)
	}
}
