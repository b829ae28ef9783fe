package metal

import (
	"context"
	"math"
	"testing"

	"github.com/introgen/introgen/engine/cpu"
	"github.com/introgen/introgen/engine/metal/kernels"
	"github.com/introgen/introgen/engine/metal/metaltest"
	"github.com/introgen/introgen/engine/transformer"
	"github.com/introgen/introgen/engine/transformer/transformertest"
	"github.com/introgen/introgen/models/modeltest"
)

// TestSoft runs both model files on the software driver, at several commands a
// buffer, with their weights copied and mapped: the text is the exact one, and the
// logits of every step are close to the CPU engine's. The narrowest choice in this
// text is 0.06 wide.
func TestSoft(t *testing.T) {
	dev := metaltest.Device(t)
	metaltest.Models(t, dev)
	for i, exact := range transformertest.Files {
		f, m := mapped(t, modeltest.Path(t, exact.File))
		want := cpuLogits(t, exact.File)
		for _, run := range []struct {
			perBuffer int
			mapped    bool
		}{{50, false}, {50, true}, {1, false}, {100000, false}}[:4-2*i] {
			d := open(t, dev, run.perBuffer)
			newEngine := d.New
			if run.mapped {
				newEngine = func(m *transformer.Model) (*Engine, error) { return d.NewMapped(m, f) }
			}
			e, err := newEngine(m)
			if err != nil {
				t.Fatal(err)
			}
			follow(t, e, func(step int, logits []float32) {
				if diff := furthest(logits, want[step]); diff > 0.03 {
					t.Errorf("%s, step %d: a logit is %g off the CPU engine's", exact.File, step, diff)
				}
				if step > 1 {
					return
				}
				for _, l := range [][]transformertest.Logit{exact.Prefill, exact.Step}[step] {
					if diff := float64(logits[l.ID]) - l.Value; math.Abs(diff) > 0.03 {
						t.Errorf("%s, step %d: logit of %d is %g, exactly %g", exact.File, step, l.ID, logits[l.ID], l.Value)
					}
				}
			})
			if err := e.Close(); err != nil {
				t.Error(err)
			}
			if err := d.Close(); err != nil {
				t.Error(err)
			}
			noneLive(t, dev)
		}
	}
}

// TestCandleKernels runs the real model on candle's own kernel files.
func TestCandleKernels(t *testing.T) {
	set, err := kernels.Open(metaltest.Candle(t))
	if err != nil {
		t.Fatal(err)
	}
	if set.Digest() == kernels.OwnSet().Digest() {
		t.Fatal("candle's kernels are the project's own")
	}
	m := load(t, modeltest.Path(t, transformertest.Files[0].File))
	if err := Fit(set, m, OfModel); err != nil {
		t.Error(err)
	}
	dev := metaltest.Device(t)
	metaltest.Models(t, dev)
	d, err := NewDevice(context.Background(), dev, Options{CommandsPerBuffer: 50, Kernels: set})
	if err != nil {
		t.Fatal(err)
	}
	e := build(t, d, m)
	follow(t, e, func(int, []float32) {})
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	noneLive(t, dev)
}

// follow generates the exact text and hands on the logits of each step.
func follow(t *testing.T, e interface {
	Step([]int32, int) (int32, error)
	Logits() ([]float32, error)
}, see func(step int, logits []float32)) {
	t.Helper()
	ids, pos := transformertest.Prompt, 0
	for step, want := range transformertest.Greedy {
		next, err := e.Step(ids, pos)
		if err != nil {
			t.Fatal(err)
		}
		if next != want {
			t.Fatalf("token %d is %d, exactly %d", step, next, want)
		}
		logits, err := e.Logits()
		if err != nil {
			t.Fatal(err)
		}
		see(step, logits)
		pos += len(ids)
		ids = []int32{next}
	}
}

// cpuLogits are the CPU engine's for each step of the exact text.
func cpuLogits(t *testing.T, file string) [][]float32 {
	t.Helper()
	e, err := cpu.New(load(t, modeltest.Path(t, file)), cpu.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var all [][]float32
	follow(t, e, func(_ int, logits []float32) { all = append(all, append([]float32(nil), logits...)) })
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	return all
}

func furthest(a, b []float32) float64 {
	d := 0.0
	for i := range a {
		d = max(d, math.Abs(float64(a[i])-float64(b[i])))
	}
	return d
}
