package metal

import (
	"strings"
	"testing"

	"github.com/introgen/introgen/engine/gguf/gguftest"
	"github.com/introgen/introgen/engine/metal/kernels"
	"github.com/introgen/introgen/engine/quant"
	"github.com/introgen/introgen/engine/transformer/transformertest"
)

// TestWhatCandlePassesOver: what quantized_llama.rs of candle 0.11.0 does not look
// up is refused by its name, and the engine that runs the model is named, by the
// engine and by those that foretell what it does.
func TestWhatCandlePassesOver(t *testing.T) {
	bias := func(name string, n int) func(*transformertest.Writable) {
		return func(w *transformertest.Writable) {
			w.Tensors = append(w.Tensors, transformertest.Tensor{Name: name, Type: quant.F32, Dims: []uint64{uint64(n)}, Data: make([]byte, 4*n)})
		}
	}
	dev := newFake()
	d := open(t, dev, 50)
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
		m := load(t, transformertest.Write(t, transformertest.Config{Heads: 2, KVHeads: 1, HeadDim: 32, Edit: edit}))
		for who, refuse := range map[string]func() error{
			"New":   func() error { _, err := d.New(m); return err },
			"Needs": func() error { _, err := Needs(m, ""); return err },
			"Fit":   func() error { return Fit(kernels.OwnSet(), m) },
		} {
			err := refuse()
			if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "candle 0.11.0") || !strings.Contains(err.Error(), "`introgen cpu` runs it") {
				t.Errorf("%s: %s: error %v", who, want, err)
			}
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
		e, err := d.New(load(t, transformertest.Write(t, transformertest.Config{Heads: 2, KVHeads: 1, HeadDim: 32, Edit: edit})))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	noneLive(t, dev)
}
