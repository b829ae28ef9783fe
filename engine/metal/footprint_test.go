package metal_test

import (
	"testing"

	"github.com/introgen/introgen/engine"
	"github.com/introgen/introgen/engine/metal"
	"github.com/introgen/introgen/engine/transformer"
)

// TestFootprint: SmolLM2-135M's embedding of 49152 rows of 576 is expanded to float32,
// and a position takes 2 x 30 x 3 x 64 of them.
func TestFootprint(t *testing.T) {
	p := &transformer.Params{Layers: 30, KVHeads: 3, HeadDim: 64, Hidden: 576}
	want := engine.Footprint{Weights: 144_811_072, Copies: 113_246_208, Cache: 46_080_000, Positions: 1000}
	if got := metal.Footprint(p, 144_811_072, 49152, 1000); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}
