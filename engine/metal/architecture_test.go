package metal

import (
	"context"
	"slices"
	"testing"

	"github.com/introgen/introgen/engine/metal/metaltest"
	"github.com/introgen/introgen/metalshim"
)

// named is a fake device with an architecture.
type named struct {
	*fake
	architecture string
}

func (n named) Info() metalshim.Info {
	i := n.fake.Info()
	i.Architecture = n.architecture
	return i
}

// TestArchitecture: candle's rule for tiles sees the device's architecture
// through the instrumented wrapper. The software driver has none, so that its
// list is the experiment's.
func TestArchitecture(t *testing.T) {
	for architecture, want := range map[string]string{
		"":              "PIPE Gemm gemm_nn_f32_f32_64_32_32_2_2",
		"applegpu_g14s": "PIPE Gemm gemm_nn_f32_f32_64_32_32_2_2",
		"applegpu_g13g": "PIPE Gemm gemm_nn_f32_f32_64_64_16_2_2",
		"applegpu_g16p": "PIPE Gemm gemm_nn_f32_f32_64_64_16_2_2",
	} {
		dev := named{newFake(), architecture}
		shim, err := metalshim.Instrument(dev, metalshim.InstrumentOptions{})
		if err != nil {
			t.Fatal(err)
		}
		d, err := NewDevice(context.Background(), shim, Options{CommandsPerBuffer: 50})
		if err != nil {
			t.Fatal(err)
		}
		if err := build(t, d, small(t)).Close(); err != nil {
			t.Error(err)
		}
		if !slices.Contains(dev.events, want) {
			t.Errorf("architecture %q: compiled %v, by candle's rule %s", architecture, dev.events, want)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
	if got := metaltest.Soft(t).Info().Architecture; got != "" {
		t.Errorf("the software driver calls its architecture %q", got)
	}
}
