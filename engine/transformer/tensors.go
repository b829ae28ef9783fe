package transformer

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/introgen/introgen/engine/gguf"
)

// commonForeign says of tensors that the forward pass has no place for what they are.
// They stand under their names, those of a layer without "blk.N.". Any other name
// is refused as well, with fewer words.
var commonForeign = map[string]string{
	"output.bias":                "a bias of the logits",
	"output_norm.bias":           "a bias of a norm",
	"attn_norm.bias":             "a bias of a norm",
	"ffn_norm.bias":              "a bias of a norm",
	"attn_q_norm.weight":         "a norm of the queries",
	"attn_k_norm.weight":         "a norm of the keys",
	"attn_sub_norm.weight":       "a norm of attention's output",
	"ffn_sub_norm.weight":        "a norm inside the feed-forward",
	"post_attention_norm.weight": "a norm after attention",
	"post_ffw_norm.weight":       "a norm after the feed-forward",
	"attn_qkv.weight":            "queries, keys and values in one matrix, instead of attn_q, attn_k and attn_v",
	"attn_qkv.bias":              "biases in one vector, instead of those of attn_q, attn_k and attn_v",
	"attn_sinks.weight":          "sinks of attention",
	"attn_rot_embd":              "rotation frequencies of old converters, instead of rope.freq_base",
	"attn_rot_embd.weight":       "rotation frequencies of old converters, instead of rope.freq_base",
	"rope_factors_long.weight":   "factors of LongRoPE",
	"rope_factors_short.weight":  "factors of LongRoPE",
	"ffn_gate_inp.weight":        "a part of a mixture of experts",
	"ffn_gate_exps.weight":       "a part of a mixture of experts",
	"ffn_down_exps.weight":       "a part of a mixture of experts",
	"ffn_up_exps.weight":         "a part of a mixture of experts",
	"cls.weight":                 "a classifier in place of the logits",
	"cls.output.weight":          "a classifier in place of the logits",
}

// scaleEnds end the names of numbers by which a matrix, or what it is multiplied
// with, is scaled. They may have no dimensions.
var scaleEnds = []string{".scale", ".input_scale"}

// checkTensors refuses a file with a tensor that was not used, as llama.cpp does
// ("wrong number of tensors"): it has weights that the forward pass leaves out.
// What holds no elements, or is a scalar that nothing in the architecture is named
// after, is left alone.
func checkTensors(f *gguf.File, arch *Architecture, layers int, used map[string]bool) error {
	var unused []string
	for i := range f.Tensors {
		if !used[f.Tensors[i].Name] {
			unused = append(unused, f.Tensors[i].Name)
		}
	}
	for i := range f.Skipped {
		if t := &f.Skipped[i]; t.Elements() > 0 && arch.hasMeaning(t.Name) {
			unused = append(unused, t.Name)
		}
	}
	if len(unused) == 0 {
		return nil
	}
	text := fmt.Sprintf("tensor %s is not used: %s", unused[0], whatIs(unused[0], arch, layers))
	if more := len(unused) - 1; more > 0 {
		text += fmt.Sprintf(" (and %d more, %s the next)", more, unused[1])
	}
	return errors.New(text + "; the model is not run without it")
}

// foreignTensor says what a tensor is that the architecture has no place for, or
// nothing.
func (a *Architecture) foreignTensor(name string) string {
	if what := a.foreign[name]; what != "" {
		return what
	}
	return commonForeign[name]
}

// split takes the layer off a tensor's name; layer is -1 where it has none.
func split(name string) (layer int, rest string) {
	if after, ok := strings.CutPrefix(name, "blk."); ok {
		number, rest, ok := strings.Cut(after, ".")
		if n, err := strconv.ParseUint(number, 10, 31); ok && err == nil {
			return int(n), rest
		}
	}
	return -1, name
}

// hasMeaning says whether the architecture, or one akin to it, has a tensor of
// that name.
func (a *Architecture) hasMeaning(name string) bool {
	_, rest := split(name)
	return a.foreignTensor(rest) != "" || slices.ContainsFunc(scaleEnds, func(end string) bool { return strings.HasSuffix(rest, end) })
}

// whatIs says what an unused tensor is.
func whatIs(name string, arch *Architecture, layers int) string {
	layer, rest := split(name)
	switch {
	case layer >= layers:
		return fmt.Sprintf("it belongs to layer %d, and metadata %s.block_count is %d, so the last one is layer %d", layer, arch.Name, layers, layers-1)
	case arch.foreignTensor(rest) != "":
		return "it is " + arch.foreignTensor(rest) + ", which this program does not compute in a model of " + arch.Name
	case arch.hasMeaning(name):
		return "it scales a matrix, which this program does not do"
	}
	return "the " + arch.Name + " architecture has no such tensor"
}
