package metal

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/introgen/introgen/engine/metal/forward"
	"github.com/introgen/introgen/engine/metal/metaltest"
	"github.com/introgen/introgen/engine/transformer"
	"github.com/introgen/introgen/engine/transformer/transformertest"
)

// caseNamed is the model of a case.
func caseNamed(t *testing.T, name string) *transformer.Model {
	t.Helper()
	for _, c := range transformertest.Cases() {
		if c.Name == name {
			return load(t, c.Write(t))
		}
	}
	t.Fatalf("no case is called %s", name)
	return nil
}

// TestLeftOutOfFamilies: what quantized_gemma3.rs and quantized_phi3.rs compute
// otherwise than the models is told.
func TestLeftOutOfFamilies(t *testing.T) {
	const gelu = "the gate's function is GELU and not SiLU"
	for name, want := range map[string][]string{
		"gemma3-pattern-of-six": {gelu, "attention within a window of 8 positions and not of 9, in passes of one token too"},
		"gemma3-all-windowed":   {gelu, "attention within a window of 4 positions and not of 5, in passes of one token too"},
		"gemma3-linear": {"positions are divided by 8 (metadata gemma3.rope.scaling.factor or rope.scale_linear)", gelu,
			"attention within a window of 10 positions and not of 11, in passes of one token too",
			"layers without a window are others than each 6th"},
		"gemma3-no-window": {gelu},
		"phi3-small":       nil,
		"phi3-part-of-a-head": {
			"24 values of each head of 32 are turned (metadata phi3.rope.dimension_count)"},
		"phi3-wide-heads":     {"the base of the rotations' frequencies is 250000 and not 10000 (metadata phi3.rope.freq_base)"},
		"phi3-longrope-short": {"the frequencies of the rotations are divided or scaled (tensor rope_freqs.weight, or metadata phi3.rope.scaling.type)"},
	} {
		if said := LeftOut(caseNamed(t, name)); !slices.Equal(said, want) {
			t.Errorf("%s: %q, want %q", name, said, want)
		}
	}
}

// TestCandleArithmetic holds what candle computes of gemma3 and phi3 to the reference in
// float64 over models that are altered to be what candle takes them for: a window of one
// more for several tokens and none for one, SiLU, frequencies of base 10000.
func TestCandleArithmetic(t *testing.T) {
	dev := metaltest.Soft(t)
	metaltest.Models(t, dev)
	d, err := NewDevice(context.Background(), dev, Options{CommandsPerBuffer: 50, Arithmetic: OfCandle})
	if err != nil {
		t.Fatal(err)
	}
	prompt := []int32{3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8}
	for name, take := range map[string]func(m *transformer.Model){
		"gemma3-all-windowed": func(m *transformer.Model) {
			a := *m.Architecture
			a.Activation = transformer.SiLU
			m.Architecture = &a
			for i := range m.Blocks {
				if m.Blocks[i].Window > 0 {
					m.Blocks[i].Window++
				}
			}
		},
		"phi3-wide-heads": func(m *transformer.Model) { m.RopeBase = 10000 },
	} {
		m, altered := caseNamed(t, name), caseNamed(t, name)
		take(altered)
		e, r := build(t, d, m), transformer.NewReference(altered)
		whole := transformer.NewReference(m)
		for i, ids := range [][]int32{prompt, {7}, {9}} {
			pos := 0
			if i > 0 {
				pos = len(prompt) + i - 1
				for l := range altered.Blocks { // one token sees all
					altered.Blocks[l].Window = 0
				}
			}
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
			model, err := whole.Step(ids, pos)
			if err != nil {
				t.Fatal(err)
			}
			if off := far(got, want); !(off < 1e-3) || far(got, model) < 0.01 {
				t.Errorf("%s, pass %d: a logit is %g off candle's, %g off the model's", name, i, off, far(got, model))
			}
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}

// TestCandleRefuses: what candle's models themselves do not take is refused by name,
// and computed by the model's arithmetic.
func TestCandleRefuses(t *testing.T) {
	theirs := plan{arithmetic: OfCandle}
	for name, want := range map[string]string{
		"gemma3-no-window":    "a head of keys for each of 4 heads of queries",
		"phi3-part-of-a-head": "rotary dimension 24 differs from the head dimension 32",
	} {
		m := caseNamed(t, name)
		if _, err := forward.New(theirs.config(m, weightsOf(m))); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s by candle's arithmetic: %v", name, err)
		}
		if _, err := forward.New(plan{}.config(m, weightsOf(m))); err != nil {
			t.Errorf("%s by the model's: %v", name, err)
		}
	}
	d := open(t, newFake(), 50)
	d.arithmetic = OfCandle
	e := build(t, d, caseNamed(t, "gemma3-heads-of-256"))
	if _, err := e.Step([]int32{1, 2, 3}, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Step([]int32{1, 2}, 3); err == nil || !strings.Contains(err.Error(), "a pass of 2 tokens from position 3 on: candle's gemma3 takes several tokens from position 0 alone") {
		t.Errorf("several tokens behind others: %v", err)
	}
	if err := errors.Join(e.Close(), d.Close()); err != nil {
		t.Error(err)
	}
}
