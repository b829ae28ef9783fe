package engine_test

import (
	"math"
	"strings"
	"testing"

	"github.com/introgen/introgen/engine"
)

func TestFootprint(t *testing.T) {
	// SmolLM2-135M: 30 layers of 3 key and value heads of 64, float32.
	if n := engine.KeysAndValues(30, 3, 64, 1000, 4); n != 46_080_000 {
		t.Errorf("keys and values of 1000 positions take %d bytes; want 46,080 a position", n)
	}
	if n := engine.KeysAndValues(1<<24, 1<<24, 1<<24, 1<<24, 4); n <= 0 || n > math.MaxInt64/2 {
		t.Errorf("a cache that cannot be has %d bytes", n)
	}
	f := engine.Footprint{Weights: 20e9, Copies: 2e9, Cache: 3e9, Positions: 4096}
	if err := f.Check(25e9); err != nil {
		t.Errorf("as much as there is: %v", err)
	}
	err := f.Check(25e9 - 1)
	const want = "the run needs at least 25.0 GB of memory (20.0 GB of weights, 2.00 GB of copies of them, 3.00 GB of keys and values of 4096 positions), and the system can give 25.0 GB: "
	if err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("a byte more than there is: %v", err)
	}
	if err := (engine.Footprint{Weights: 5, Positions: 1}).Check(4); err == nil || strings.Contains(err.Error(), "copies") {
		t.Errorf("without copies: %v", err)
	}
}
