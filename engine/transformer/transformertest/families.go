package transformertest

import (
	"fmt"
	"slices"
	"strings"
)

// become makes the model of the configured architecture out of a llama: the keys get its
// name, what it has beside a llama is added, and what it has in one matrix is joined.
func (c *Config) become(w *Writable, vector func(name string, n int, mean float32)) {
	if c.LayerHeads != nil {
		w.Set("llama.attention.head_count", unsigned(c.LayerHeads))
	}
	if c.LayerKVHeads != nil {
		w.Set("llama.attention.head_count_kv", unsigned(c.LayerKVHeads))
	}
	if c.LayerFFN != nil {
		w.Set("llama.feed_forward_length", unsigned(c.LayerFFN))
	}
	if c.Window > 0 {
		w.Set("llama.attention.sliding_window", uint32(c.Window))
	}
	if c.Architecture == "" {
		return
	}
	w.Set("general.architecture", c.Architecture)
	for i := range w.Keys {
		if rest, ok := strings.CutPrefix(w.Keys[i].Name, "llama."); ok {
			w.Keys[i].Name = c.Architecture + "." + rest
		}
	}
	for l := range c.Layers {
		name := func(s string) string { return fmt.Sprintf("blk.%d.%s", l, s) }
		switch c.Architecture {
		case "gemma3":
			vector(name("post_attention_norm.weight"), c.Hidden, 0.5)
			vector(name("post_ffw_norm.weight"), c.Hidden, 0.3)
			fallthrough
		case "qwen3":
			vector(name("attn_q_norm.weight"), c.HeadDim, 0.9)
			vector(name("attn_k_norm.weight"), c.HeadDim, 1.1)
		case "phi3":
			w.join(name("attn_q.weight"), name("attn_k.weight"), name("attn_v.weight"))
			w.Tensor(name("attn_q.weight")).Name = name("attn_qkv.weight")
			w.join(name("ffn_gate.weight"), name("ffn_up.weight"))
			w.Tensor(name("ffn_gate.weight")).Name = name("ffn_up.weight")
			if c.Bias {
				w.join(name("attn_q.bias"), name("attn_k.bias"), name("attn_v.bias"))
				w.Tensor(name("attn_q.bias")).Name = name("attn_qkv.bias")
			}
		}
		if c.Bias && c.Architecture != "llama" {
			w.Drop(name("attn_output.bias"))
		}
	}
}

// join appends the rows of others to those of a tensor, and drops the others.
func (w *Writable) join(first string, others ...string) {
	t := w.Tensor(first)
	for _, name := range others {
		o := w.Tensor(name)
		last := len(t.Dims) - 1
		t.Dims = slices.Clone(t.Dims)
		t.Dims[last] += o.Dims[last]
		t.Data = append(t.Data[:len(t.Data):len(t.Data)], o.Data...)
	}
	for _, name := range others {
		w.Drop(name)
	}
}

// unsigned is an array of numbers as keys hold it.
func unsigned(n []int) []uint32 {
	var a []uint32
	for _, v := range n {
		a = append(a, uint32(v))
	}
	return a
}

// layerOf returns what a layer has: its own, or what all have.
func layerOf(own []int, layer, all int) int {
	if own == nil {
		return all
	}
	return own[layer]
}
