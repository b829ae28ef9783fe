package transformertest

import (
	"testing"

	"github.com/introgen/introgen/engine/gguf/gguftest"
	"github.com/introgen/introgen/engine/quant"
)

// DrawnIDs are the tokens after which the logits of Drawn are known.
var DrawnIDs = []int32{10, 20, 30, 40, 50, 60}

// The largest logits of Drawn after DrawnIDs. They come from
// scripts/reference/tiny_llama.py, which draws the same weights.
var (
	DrawnPlain   = []Logit{{71, 8.990759}, {60, 8.789396}, {0, 8.464565}}
	DrawnQuarter = []Logit{{60, 9.904655}, {0, 8.629047}, {35, 8.555685}} // positions divided by 4
	DrawnBiased  = []Logit{{71, 8.024542}, {1, 7.827531}, {35, 7.340309}} // with FFNBias
)

// Drawn writes a small F32 model, whose weights are drawn so that another program
// can draw them too, and returns its path. biased adds biases of the feed-forward.
func Drawn(t testing.TB, biased bool, edit func(*Writable)) string {
	t.Helper()
	d := drawer{state: 1, at: map[string][]byte{}}
	c := Config{RopeBase: 10000, FFNBias: biased}
	c.defaults()
	d.draw("token_embd.weight", c.Vocab*c.Hidden, 1, 0)
	d.draw("output_norm.weight", c.Hidden, 0.125, 1)
	layer := []string{"blk.0.", "blk.1."}
	for _, b := range layer {
		d.draw(b+"attn_norm.weight", c.Hidden, 0.125, 1)
		d.draw(b+"attn_q.weight", c.Heads*c.HeadDim*c.Hidden, 0.25, 0)
		d.draw(b+"attn_k.weight", c.KVHeads*c.HeadDim*c.Hidden, 0.25, 0)
		d.draw(b+"attn_v.weight", c.KVHeads*c.HeadDim*c.Hidden, 0.25, 0)
		d.draw(b+"attn_output.weight", c.Hidden*c.Heads*c.HeadDim, 0.25, 0)
		d.draw(b+"ffn_norm.weight", c.Hidden, 0.125, 1)
		d.draw(b+"ffn_gate.weight", c.FFN*c.Hidden, 0.25, 0)
		d.draw(b+"ffn_up.weight", c.FFN*c.Hidden, 0.25, 0)
		d.draw(b+"ffn_down.weight", c.Hidden*c.FFN, 0.25, 0)
	}
	for _, b := range layer {
		d.draw(b+"ffn_gate.bias", c.FFN, 1, 0)
		d.draw(b+"ffn_up.bias", c.FFN, 1, 0)
		d.draw(b+"ffn_down.bias", c.Hidden, 1, 0)
	}
	c.Edit = func(w *Writable) {
		for i := range w.Tensors {
			x := &w.Tensors[i]
			x.Type, x.Data = quant.F32, d.at[x.Name]
		}
		if edit != nil {
			edit(w)
		}
	}
	return Write(t, c)
}

// drawer draws numbers as the script does.
type drawer struct {
	state uint64
	at    map[string][]byte
}

func (d *drawer) draw(name string, n int, scale, mean float32) {
	x := make([]float32, n)
	for i := range x {
		d.state = d.state*6364136223846793005 + 1442695040888963407
		x[i] = mean + scale*(float32(d.state>>40)/(1<<23)-1)
	}
	d.at[name] = gguftest.F32(x...)
}
