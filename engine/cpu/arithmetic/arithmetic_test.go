package arithmetic

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestRun also holds the rate below what the hardware can do at the most, which a
// busy machine cannot make false: no processor's clock is above 7 GHz, and none
// begins more than two multiply-adds of 16 values, or four of 4, in a cycle.
func TestRun(t *testing.T) {
	most := map[string]float64{"avx512": 2 * 16, "avx2": 2 * 8, "neon": 4 * 4, "generic": 4}
	for _, o := range []Options{{Threads: 1, Rounds: 1}, {Threads: 2, Rounds: 4}, {Threads: 3, Rounds: 5}} {
		r, err := Run(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		if r.Options != o || len(r.Samples) != o.Rounds || r.Best != slices.Max(r.Samples) || r.Median > r.Best || !slices.Contains(r.Samples, r.Median) || r.Samples[0] <= 0 {
			t.Errorf("%+v", r)
		}
		if limit := 7 * float64(o.Threads) * most[r.Kernel] * 2; r.Best > limit {
			t.Errorf("%d threads: %.0f GFLOP/s with %s, where no processor does more than %.0f", o.Threads, r.Best, r.Kernel, limit)
		}
	}
}

func TestRunStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Run(ctx, Options{Threads: 1, Rounds: MaxRounds}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// TestMultipliers: every way of this machine comes to the twin's numbers, and both to
// those that the formula gives. They are whole numbers or halves that float32
// holds exactly, so that rounding once or twice is the same.
func TestMultipliers(t *testing.T) {
	a := [factors]float32{1, -2, 3, 0.5, -8, 16, 0, 7}
	for _, m := range append(supported(), generic()) {
		if m.lanes%factors != 0 || m.lanes > maxLanes {
			t.Fatalf("%s has %d lanes", m.name, m.lanes)
		}
		for _, turns := range []int{1, 2, 3, 1000} {
			for _, b := range []float32{1, -3, 0.25} {
				x := make([]float32, m.lanes+2*factors) // and what must stay as it is
				for i := range x {
					x[i] = float32(100 - i)
				}
				want := slices.Clone(x)
				m.run(&x[factors], &a, b, turns)
				for i := factors; i < factors+m.lanes; i += factors {
					multiplyAddGeneric(&want[i], &a, b, turns)
				}
				if !slices.Equal(x, want) {
					t.Fatalf("%s, %d turns with %v:\n%v, the twin has\n%v", m.name, turns, b, x, want)
				}
				for i, v := range x {
					sum := float32(100 - i)
					if i >= factors && i < factors+m.lanes {
						sum += a[i%factors] * b * float32(turns)
					}
					if v != sum {
						t.Fatalf("%s, %d turns with %v: lane %d is %v, not %v", m.name, turns, b, i-factors, v, sum)
					}
				}
			}
		}
	}
}

// TestWrong: a multiplier that does less than it says is no fast one.
func TestWrong(t *testing.T) {
	m := generic()
	c := &computer{multiplier: m, lanes: make([]lanes, 1), a: [factors]float32{1, 2, 3, 4, 5, 6, 7, 8}}
	if c.Do(0, 0, 0, 2); c.wrong.Load() {
		t.Error("the twin counts as wrong")
	}
	c.run = func(x *float32, a *[factors]float32, b float32, turns int) { m.run(x, a, b, turns-1) }
	if c.Do(0, 0, 0, 1); !c.wrong.Load() {
		t.Error("one turn less was not noticed")
	}
}

func TestRefusals(t *testing.T) {
	for want, o := range map[string]Options{
		"0 threads; allowed are": {Threads: 0, Rounds: 1},
		"257 threads; allowed":   {Threads: 257, Rounds: 1},
		"0 rounds; allowed are":  {Threads: 1},
		"10001 rounds; allowed":  {Threads: 1, Rounds: 10001},
	} {
		if _, err := Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: error %v, want one with %q", o, err, want)
		}
	}
}

func BenchmarkMultiplyAdd(b *testing.B) {
	for _, m := range append(supported(), generic()) {
		b.Run(fmt.Sprintf("%s/%d", m.name, m.lanes), func(b *testing.B) {
			x, a := make([]float32, m.lanes), [factors]float32{1}
			for b.Loop() {
				m.run(&x[0], &a, 1, unitTurns)
			}
			b.ReportMetric(2*float64(m.lanes)*unitTurns*float64(b.N)/float64(b.Elapsed().Nanoseconds()), "GFLOP/s")
		})
	}
}
