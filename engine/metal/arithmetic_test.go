package metal

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/introgen/introgen/engine/gguf/gguftest"
	"github.com/introgen/introgen/engine/metal/forward"
	"github.com/introgen/introgen/engine/metal/kernels"
	"github.com/introgen/introgen/engine/metal/metaltest"
	"github.com/introgen/introgen/engine/quant"
	"github.com/introgen/introgen/engine/transformer"
	"github.com/introgen/introgen/engine/transformer/transformertest"
)

// TestLeftOut: what quantized_llama.rs of candle 0.11.0 does not look up is told by its
// name; and by the model's arithmetic the engine computes it, by candle's it does not,
// beside the reference in float64.
func TestLeftOut(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	bias := func(name string, n int) func(*transformertest.Writable) {
		return func(w *transformertest.Writable) {
			x := make([]float32, n)
			for i := range x {
				x[i] = float32(r.NormFloat64())
			}
			w.Tensors = append(w.Tensors, transformertest.Tensor{Name: name, Type: quant.F32, Dims: []uint64{uint64(n)}, Data: gguftest.F32(x...)})
		}
	}
	dev := metaltest.Soft(t)
	metaltest.Models(t, dev)
	devices := map[Arithmetic]*Device{}
	for _, a := range []Arithmetic{OfModel, OfCandle} {
		d, err := NewDevice(context.Background(), dev, Options{CommandsPerBuffer: 50, Arithmetic: a})
		if err != nil {
			t.Fatal(err)
		}
		devices[a] = d
	}
	config := transformertest.Config{Heads: 2, KVHeads: 1, HeadDim: 32, FFN: 96}
	plain := load(t, transformertest.Write(t, config))
	for want, edit := range map[string]func(*transformertest.Writable){
		"rope.scaling.factor":    func(w *transformertest.Writable) { w.Set("llama.rope.scaling.factor", float32(4)) },
		"rope.scale_linear":      func(w *transformertest.Writable) { w.Set("llama.rope.scale_linear", float32(2)) },
		"blk.1.attn_q.bias":      bias("blk.1.attn_q.bias", 64),
		"blk.0.attn_k.bias":      bias("blk.0.attn_k.bias", 32),
		"blk.0.attn_v.bias":      bias("blk.0.attn_v.bias", 32),
		"blk.0.attn_output.bias": bias("blk.0.attn_output.bias", 64),
		"blk.1.ffn_gate.bias":    bias("blk.1.ffn_gate.bias", 96),
		"blk.1.ffn_up.bias":      bias("blk.1.ffn_up.bias", 96),
		"blk.0.ffn_down.bias":    bias("blk.0.ffn_down.bias", 64),
		"tensor rope_freqs.weight": func(w *transformertest.Writable) {
			x := make([]float32, 16)
			for i := range x {
				x[i] = 1
			}
			x[15] = 8
			w.Tensors = append(w.Tensors, transformertest.Tensor{Name: "rope_freqs.weight", Type: quant.F32, Dims: []uint64{16}, Data: gguftest.F32(x...)})
		},
	} {
		config.Edit = edit
		m := load(t, transformertest.Write(t, config))
		if said := LeftOut(m); len(said) != 1 || !strings.Contains(said[0], want) {
			t.Errorf("%s: %q", want, said)
		}
		if err := Fit(kernels.OwnSet(), m, OfModel); err != nil {
			t.Error(err)
		}
		whole := referenceLogits(t, m)
		if got := logitsOf(t, devices[OfModel], m); far(got, whole) > 1e-3 {
			t.Errorf("%s: by the model's arithmetic a logit is %g off", want, far(got, whole))
		}
		if got := logitsOf(t, devices[OfCandle], m); far(got, whole) < 1e-3 || far(got, referenceLogits(t, plain)) > 1e-3 {
			t.Errorf("%s: by candle's arithmetic the logits are %g off the model's, and %g off those without", want, far(got, whole), far(got, referenceLogits(t, plain)))
		}
	}
	// Factors of 1, and a factor that counts for nothing, change nothing.
	for name, edit := range map[string]func(*transformertest.Writable){
		"factor 1": func(w *transformertest.Writable) { w.Set("llama.rope.scaling.factor", float32(1)) },
		"factor, no scale": func(w *transformertest.Writable) {
			w.Set("llama.rope.scaling.factor", float32(4))
			w.Set("llama.rope.scaling.type", "none")
		},
	} {
		config.Edit = edit
		if said := LeftOut(load(t, transformertest.Write(t, config))); len(said) != 0 {
			t.Errorf("%s: %q", name, said)
		}
	}
	for _, d := range devices {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
	noneLive(t, dev)
}

// TestHalfTables: candle's qwen3 keeps rotary tables as float16 unless general.dtype is 0,
// so that its logits are a little off the model's, and with it are not.
func TestHalfTables(t *testing.T) {
	dev := metaltest.Soft(t)
	metaltest.Models(t, dev)
	d, err := NewDevice(context.Background(), dev, Options{CommandsPerBuffer: 50, Arithmetic: OfCandle})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range transformertest.Cases() {
		if c.Name != "qwen3-small" {
			continue
		}
		m := load(t, c.Write(t))
		if said := LeftOut(m); len(said) != 1 || !strings.Contains(said[0], "float16") {
			t.Errorf("without a type: %q", said)
		}
		if off := far(logitsOf(t, d, m), referenceLogits(t, m)); off < 1e-4 || off > 0.1 {
			t.Errorf("with tables of float16 the logits are %g off", off)
		}
		m = load(t, c.Write(t, func(w *transformertest.Writable) { w.Set("general.dtype", uint32(0)) }))
		if said := LeftOut(m); len(said) != 0 {
			t.Errorf("of float32: %q", said)
		}
		if off := far(logitsOf(t, d, m), referenceLogits(t, m)); off > 1e-3 {
			t.Errorf("with tables of float32 the logits are %g off", off)
		}
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}

// text is a prompt and what follows it, so that a pass of several tokens and such of one
// are run.
var text = [][]int32{{3, 1, 4, 1, 5}, {9}, {2}}

// logitsOf are an engine's after each pass of text.
func logitsOf(t *testing.T, d *Device, m *transformer.Model) (all []float32) {
	t.Helper()
	e := build(t, d, m)
	pos := 0
	for _, ids := range text {
		if _, err := e.Step(ids, pos); err != nil {
			t.Fatal(err)
		}
		logits, err := e.Logits()
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, logits...)
		pos += len(ids)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	return all
}

func referenceLogits(t *testing.T, m *transformer.Model) (all []float64) {
	t.Helper()
	ref, pos := transformer.NewReference(m), 0
	for _, ids := range text {
		logits, err := ref.Step(ids, pos)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, logits...)
		pos += len(ids)
	}
	return all
}

func far(a []float32, b []float64) float64 {
	d := 0.0
	for i := range a {
		d = max(d, math.Abs(float64(a[i])-b[i]))
	}
	return d
}

// TestParseArithmetic: the names, and what is said of others.
func TestParseArithmetic(t *testing.T) {
	for _, a := range []Arithmetic{OfModel, OfCandle} {
		if got, err := ParseArithmetic(a.String()); got != a || err != nil {
			t.Errorf("%s: %v, %v", a, got, err)
		}
	}
	if _, err := ParseArithmetic("float64"); err == nil || err.Error() != `arithmetic "float64"; it is model or candle` {
		t.Errorf("error %v", err)
	}
}

// TestNoPlan: layers of several sizes, and windows of an architecture whose plan has
// none, are refused by name.
func TestNoPlan(t *testing.T) {
	d := open(t, newFake(), 50)
	for want, alter := range map[string]func(*transformer.Model){
		"layer 1 has 1 heads and another has 2":                      func(m *transformer.Model) { m.Blocks[1].Heads = 1 },
		"layer 0 has 48 values in the feed-forward part":             func(m *transformer.Model) { m.Blocks[0].FFN = 48 },
		"layer 1 attends to a window of 7 positions; of llama there": func(m *transformer.Model) { m.Blocks[1].Window = 7 },
	} {
		m := load(t, transformertest.Write(t, transformertest.Config{Layers: 2, Heads: 2, KVHeads: 1, HeadDim: 32, FFN: 96}))
		alter(m)
		_, err := d.New(m)
		var refused *forward.UnsupportedError
		if !errors.As(err, &refused) || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}
