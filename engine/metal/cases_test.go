package metal

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/introgen/introgen/engine/metal/forward"
	"github.com/introgen/introgen/engine/metal/kernels"
	"github.com/introgen/introgen/engine/metal/metaltest"
	"github.com/introgen/introgen/engine/quant"
	"github.com/introgen/introgen/engine/transformer"
	"github.com/introgen/introgen/engine/transformer/transformertest"
	"github.com/introgen/introgen/models"
	"github.com/introgen/introgen/models/modeltest"
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

// TestCasesQuantized holds a model of each architecture in the quantized types that
// candle has to the float64 reference over the same file: a prompt, whose products have
// rows that are rounded to half precision, then steps. candle's kernels dequantize the
// K types in half precision as well, which costs a digit.
func TestCasesQuantized(t *testing.T) {
	t.Run("own", func(t *testing.T) {
		runQuantized(t, kernels.OwnSet(), 2e-3, quant.Q8_0, quant.Q4_0, quant.Q5_0, quant.Q4_K, quant.Q5_K, quant.Q6_K)
	})
	t.Run("candle", func(t *testing.T) {
		set, err := kernels.Open(metaltest.Candle(t))
		if err != nil {
			t.Fatal(err)
		}
		runQuantized(t, set, 2e-2, quant.Q8_0, quant.Q4_K)
	})
}

// runQuantized runs the cases whose rows are whole blocks of every type. No logit may be
// further off than most, as a part of the largest.
func runQuantized(t *testing.T, set *kernels.Set, most float64, types ...quant.Type) {
	dev := metaltest.Device(t)
	metaltest.Models(t, dev)
	d, err := NewDevice(context.Background(), dev, Options{CommandsPerBuffer: 50, Kernels: set})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range transformertest.Cases() {
		if !strings.HasSuffix(c.Name, "-blocks-of-256") {
			continue
		}
		for _, typ := range types {
			t.Run(c.Family()+"/"+typ.String(), func(t *testing.T) {
				steps, pos := [][]int32{c.Prompt, {5}, {70}}, 0
				m := load(t, c.Quantized(t, typ))
				d.positions = len(c.Prompt) + len(steps)
				e, r := build(t, d, m), transformer.NewReferenceOf(m, d.positions)
				for i, ids := range steps {
					if _, err := e.Step(ids, pos); err != nil {
						t.Fatal(err)
					}
					got, err := e.Logits()
					if err != nil {
						t.Fatal(err)
					}
					want, err := r.Step(ids, pos)
					if err != nil {
						t.Fatal(err)
					}
					if off := far(got, want) / max(slices.Max(want), -slices.Min(want)); !(off < most) {
						t.Errorf("step %d: a logit is %g off the reference's, of the largest", i, off)
					}
					pos += len(ids)
				}
				if err := e.Close(); err != nil {
					t.Error(err)
				}
			})
		}
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}

// TestExactGemma: Gemma 3 270M continues texts on Metal as llama.cpp does, 60 ids each,
// and its logits are those of transformers.
func TestExactGemma(t *testing.T) {
	m := load(t, modeltest.Path(t, models.Gemma))
	dev := metaltest.Device(t)
	metaltest.Models(t, dev)
	texts := transformertest.ExactGemma()
	if testing.Short() {
		texts = texts[:1]
	}
	d, err := NewDevice(context.Background(), dev, Options{CommandsPerBuffer: 50, Positions: 128})
	if err != nil {
		t.Fatal(err)
	}
	e := build(t, d, m)
	for _, a := range texts {
		next, err := e.Step(a.Prompt, 0)
		if err != nil {
			t.Fatal(err)
		}
		logits, err := e.Logits()
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range a.Largest {
			if diff := float64(logits[l.ID]) - l.Value; math.Abs(diff) > 0.03 {
				t.Errorf("%q: logit of %d is %g, exactly %g", a.Text, l.ID, logits[l.ID], l.Value)
			}
		}
		got := []int32{next}
		for len(got) < len(a.Next) {
			if next, err = e.Step([]int32{next}, len(a.Prompt)+len(got)-1); err != nil {
				t.Fatal(err)
			}
			got = append(got, next)
		}
		if !slices.Equal(got, a.Next) {
			t.Errorf("%q: ids %v, want %v", a.Text, got, a.Next)
		}
	}
	if err := errors.Join(e.Close(), d.Close()); err != nil {
		t.Error(err)
	}
	noneLive(t, dev)
}
