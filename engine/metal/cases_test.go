package metal

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/introgen/introgen/engine/metal/forward"
	"github.com/introgen/introgen/engine/metal/kernels"
	"github.com/introgen/introgen/engine/metal/metaltest"
	"github.com/introgen/introgen/engine/transformer/transformertest"
)

// TestCases holds small models of each architecture that there is a plan for to what
// transformers computes in float64 and to llama.cpp's ids, on the project's kernels and
// on candle's.
func TestCases(t *testing.T) {
	for name, folder := range map[string]func(testing.TB) string{
		"own":    func(testing.TB) string { return kernels.Own },
		"candle": metaltest.Candle,
	} {
		t.Run(name, func(t *testing.T) {
			set, err := kernels.Open(folder(t))
			if err != nil {
				t.Fatal(err)
			}
			dev := metaltest.Device(t)
			metaltest.Models(t, dev)
			d, err := NewDevice(context.Background(), dev, Options{CommandsPerBuffer: 50, Kernels: set})
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range transformertest.Cases() {
				if slices.Contains(forward.Models(), c.Architecture) {
					t.Run(c.Name, func(t *testing.T) { runCase(t, d, c) })
				}
			}
			if err := d.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

func runCase(t *testing.T, d *Device, c transformertest.Case) {
	m := load(t, c.Write(t))
	d.positions = len(c.Prompt) + len(c.Next)
	if m.RopeDim != m.HeadDim && c.Architecture != "phi3" {
		if _, err := d.New(m); !errors.As(err, new(*forward.UnsupportedError)) {
			t.Errorf("heads that are turned in part: %v", err)
		}
		return
	}
	e := build(t, d, m)
	next, err := e.Step(c.Prompt, 0)
	if err != nil {
		t.Fatal(err)
	}
	logits, err := e.Logits()
	if err != nil {
		t.Fatal(err)
	}
	if off := far(logits, c.Logits); off > 1e-3 {
		t.Errorf("a logit is %g off that of transformers", off)
	}
	for i, want := range c.Next {
		if next != want {
			t.Fatalf("id %d is %d, llama.cpp's %d", i, next, want)
		}
		if next, err = e.Step([]int32{next}, len(c.Prompt)+i); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}
