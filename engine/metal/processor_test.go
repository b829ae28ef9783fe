package metal

import (
	"context"
	"math"
	"testing"

	"github.com/introgen/introgen/engine/metal/kernels"
	"github.com/introgen/introgen/engine/metal/metaltest"
	"github.com/introgen/introgen/engine/transformer/transformertest"
	"github.com/introgen/introgen/metalshim/soft"
	"github.com/introgen/introgen/models/modeltest"
)

// TestSameOnEveryProcessor: each logit of the first steps has the same bits on
// every processor that this machine can stand for, with the project's kernels, and
// on two of them with candle's.
func TestSameOnEveryProcessor(t *testing.T) {
	if len(soft.Processors()) == 0 {
		t.Skip("SKIP: needs linux on amd64 or arm64")
	}
	m := load(t, modeltest.Path(t, transformertest.Files[0].File))
	run := func(t *testing.T, set *kernels.Set, processors ...string) {
		var want []float32
		for _, name := range processors {
			t.Setenv(soft.EnvProcessor, name)
			d, err := NewDevice(context.Background(), metaltest.Soft(t), Options{CommandsPerBuffer: 50, Kernels: set})
			if err != nil {
				t.Fatal(err)
			}
			e := build(t, d, m)
			var got []float32
			for step, ids := range [][]int32{transformertest.Prompt, transformertest.Greedy[:1], transformertest.Greedy[1:2]} {
				if _, err := e.Step(ids, max(0, len(transformertest.Prompt)+step-1)*min(step, 1)); err != nil {
					t.Fatal(err)
				}
				logits, err := e.Logits()
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, logits...)
			}
			if err := e.Close(); err != nil {
				t.Error(err)
			}
			if err := d.Close(); err != nil {
				t.Error(err)
			}
			if want == nil {
				want = got
			}
			for i, w := range want {
				if math.Float32bits(got[i]) != math.Float32bits(w) {
					t.Fatalf("%q: logit %d is %v, and %v on %s", name, i, got[i], w, processors[0])
				}
			}
		}
	}
	t.Run("own", func(t *testing.T) { run(t, kernels.OwnSet(), append(soft.Processors(), "")...) })
	t.Run("candle", func(t *testing.T) {
		set, err := kernels.Open(metaltest.Candle(t))
		if err != nil {
			t.Fatal(err)
		}
		all := soft.Processors() // each takes twenty seconds of compiling
		run(t, set, all[len(all)/2], "")
	})
}
