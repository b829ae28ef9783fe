package cpu_test

import (
	"math"
	"testing"

	"github.com/introgen/introgen/engine/cpu"
	"github.com/introgen/introgen/engine/llama"
	"github.com/introgen/introgen/engine/llama/llamatest"
	"github.com/introgen/introgen/engine/quant"
)

// A feed-forward so wide that a thread's share of it is more than it does in one
// go, by one unit and by several, and in the look for a value that is not finite
// all of it.
func TestWideFeedForward(t *testing.T) {
	m := model(t, llamatest.Write(t, llamatest.Config{Type: quant.Q8_0, Embedding: quant.Q8_0, FFN: 10272, Context: 128}))
	want, err := llama.NewReference(m).Step([]int32{1}, 0)
	if err != nil {
		t.Fatal(err)
	}
	for threads := 1; threads <= 5; threads++ {
		e := newEngine(t, m, cpu.Options{Threads: threads})
		if _, err := e.Step([]int32{1}, 0); err != nil {
			t.Fatal(err)
		}
		got, err := e.Logits()
		if err != nil {
			t.Fatal(err)
		}
		for i, w := range want {
			if !(math.Abs(float64(got[i])-w) < 2e-3) {
				t.Fatalf("%d threads: logit %d is %v, want %v", threads, i, got[i], w)
			}
		}
	}
}
