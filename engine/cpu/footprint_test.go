package cpu_test

import (
	"testing"

	"github.com/introgen/introgen/engine"
	"github.com/introgen/introgen/engine/cpu"
	"github.com/introgen/introgen/engine/transformer"
)

// TestFootprint: of SmolLM2-135M's 30 layers of 3 heads of 64, a position takes 2 x 30 x
// 3 x 2 blocks of 68 bytes.
func TestFootprint(t *testing.T) {
	p := &transformer.Params{Layers: 30, KVHeads: 3, HeadDim: 64}
	want := engine.Footprint{Weights: 144_811_072, Cache: 24_480_000, Positions: 1000}
	if got := (cpu.Options{}).Footprint(p, 144_811_072, 1000); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	want.Copies = want.Weights
	if got := (cpu.Options{Pack: cpu.PackOn}).Footprint(p, 144_811_072, 1000); got != want {
		t.Errorf("packed: %+v, want %+v", got, want)
	}
}
