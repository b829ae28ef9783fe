package metal

import (
	"context"
	"testing"

	"github.com/introgen/introgen/engine/llama/llamatest"
	"github.com/introgen/introgen/metalshim"
	"github.com/introgen/introgen/metalshim/soft"
	"github.com/introgen/introgen/models/modeltest"
)

// softDevice opens the software driver for one test.
func softDevice(t testing.TB) metalshim.Device {
	t.Helper()
	d, err := soft.Open(context.Background(), soft.Options{})
	if err != nil {
		t.Skipf("SKIP: needs the software Metal driver: %v", err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

// TestSoft generates the exact text of both model files on the software
// driver, at several commands a buffer.
func TestSoft(t *testing.T) {
	dev := softDevice(t)
	for i, exact := range llamatest.Files {
		m := load(t, modeltest.Path(t, exact.File))
		for _, perBuffer := range []int{50, 1, 100000}[:3-2*i] {
			d := open(t, dev, perBuffer)
			e := build(t, d, m)
			ids, pos := llamatest.Prompt, 0
			for step, want := range llamatest.Greedy {
				next, err := e.Step(ids, pos)
				if err != nil {
					t.Fatal(err)
				}
				if next != want {
					t.Fatalf("%s, %d commands a buffer: token %d is %d, exactly %d", exact.File, perBuffer, step, next, want)
				}
				if step < 2 {
					checkLogits(t, e, [][]llamatest.Logit{exact.Prefill, exact.Step}[step])
				}
				pos += len(ids)
				ids = []int32{next}
			}
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

func checkLogits(t *testing.T, e *Engine, want []llamatest.Logit) {
	t.Helper()
	logits, err := e.Logits()
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range want {
		if diff := float64(logits[l.ID]) - l.Value; diff < -0.03 || diff > 0.03 {
			t.Errorf("logit of %d is %g, exactly %g", l.ID, logits[l.ID], l.Value)
		}
	}
}
