package transformer

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/introgen/introgen/engine/gguf"
)

// use is what becomes of a metadata key.
type use uint8

const (
	// read: it is a hyper-parameter.
	read use = iota
	// idle: whatever it says, the logits are the same.
	idle
	// neutral: it may stand there with a value that changes nothing.
	neutral
)

// key is what is known of a metadata key.
type key struct {
	use use
	why string // why it is idle, or what another value than a neutral one means

	// Of neutral keys: whether v changes nothing in a model of p, and which values
	// those are, in words.
	same    func(v gguf.Value, p *hyper) bool
	allowed string // where it names a key, itsArchitecture stands before that
}

// itsArchitecture stands in a text for the file's architecture.
const itsArchitecture = "{architecture}"

// commonKeys are the keys, without their architecture, that files of any of
// architectures have or could have. llama.cpp (src/models and load_hparams of
// src/llama-model.cpp) decides what is read and what is idle; most neutral ones it
// does not read either, but a file that sets one to another value is meant for a
// forward pass that neither of the two programs does.
var commonKeys = map[string]key{
	"block_count":                          {use: read},
	"context_length":                       {use: read},
	"embedding_length":                     {use: read},
	"feed_forward_length":                  {use: read},
	"vocab_size":                           {use: read},
	"attention.head_count":                 {use: read},
	"attention.head_count_kv":              {use: read},
	"attention.key_length":                 {use: read},
	"attention.value_length":               {use: read},
	"attention.layer_norm_rms_epsilon":     {use: read},
	"rope.dimension_count":                 {use: read},
	"rope.freq_base":                       {use: read},
	"rope.scaling.type":                    {use: read},
	"rope.scaling.factor":                  {use: read},
	"rope.scale_linear":                    {use: read},
	"rope.scaling.attn_factor":             {use: read},
	"rope.scaling.original_context_length": {use: read},
	"rope.scaling.yarn_beta_fast":          {use: read},
	"rope.scaling.yarn_beta_slow":          {use: read},

	"rope.scaling.finetuned":       {use: idle, why: "it says how the model was trained, not how it runs"},
	"attention.layer_norm_epsilon": {use: idle, why: "the architecture has RMS norms only, which have a key of their own"},
	"pooling_type":                 {use: idle, why: "embeddings are pooled, logits are not"},

	"rope.scaling.alpha":               only("0 or 1", "the base of the rotations is scaled", 0, 1),
	"rope.scaling.yarn_ext_factor":     {use: neutral, why: "YaRN is mixed in by another share", same: wholeYaRN, allowed: "1 with YaRN, 0 without"},
	"rope.scaling.yarn_attn_factor":    {use: neutral, why: "the rotated queries and keys are scaled in another way", same: usualYaRN, allowed: "what YaRN has without it, 1 without YaRN"},
	"rope.scaling.yarn_log_multiplier": only("0", "the rotated queries and keys are scaled", 0),
	"rope.dimension_sections":          only("0", "parts of a head turn by positions of their own", 0),

	"attention.scale":              {use: neutral, why: "the attention scores are scaled in another way", same: usualScale, allowed: "0 or 1 divided by the root of the head dimension"},
	"attention.head_dim":           {use: neutral, why: "heads have another length than the key says that is read", same: headLength, allowed: itsArchitecture + ".attention.key_length, or what holds without that"},
	"attention.clamp_kqv":          only("0", "queries, keys and values are clamped", 0),
	"attention.max_alibi_bias":     only("0", "attention has biases of distance (ALiBi)", 0),
	"attention.causal":             only("true", "tokens attend to those that follow", 1),
	"attention.sliding_window":     {use: neutral, why: "attention reaches only so many positions back", same: wholeContext, allowed: "0, or " + itsArchitecture + ".context_length or more"},
	"attention.output_scale":       only("0 or 1", "attention's output is scaled", 0, 1),
	"attention.value_scale":        only("0 or 1", "attention's values are scaled", 0, 1),
	"attention.temperature_scale":  only("0", "the attention scores are scaled by position", 0),
	"attention.temperature_length": only("0", "the attention scores are scaled by position", 0),

	"attn_logit_softcapping":  only("0", "the attention scores are capped", 0),
	"final_logit_softcapping": only("0", "the logits are capped", 0),
	"logit_scale":             only("0 or 1", "the logits are scaled", 0, 1),
	"residual_scale":          only("0 or 1", "what layers add is scaled", 0, 1),
	"embedding_scale":         only("0 or 1", "the embeddings are scaled", 0, 1),
	"use_parallel_residual":   only("false", "attention and feed-forward run side by side", 0),
	"tensor_data_layout": {use: neutral, why: "the rows of queries and keys may be in another order", same: knownLayout,
		allowed: `"Meta AI original pth" or "reference"`},
	"embedding_length_out":      {use: neutral, why: "embeddings come out with another length", same: sameLength, allowed: "0 or " + itsArchitecture + ".embedding_length"},
	"nextn_predict_layers":      only("0", "some layers predict later tokens", 0),
	"leading_dense_block_count": only("0", "layers differ from each other", 0),

	"expert_count":                      only("0", experts, 0),
	"expert_used_count":                 only("0", experts, 0),
	"expert_shared_count":               only("0", experts, 0),
	"expert_group_count":                only("0", experts, 0),
	"expert_group_used_count":           only("0", experts, 0),
	"expert_feed_forward_length":        only("0", experts, 0),
	"expert_shared_feed_forward_length": only("0", experts, 0),
	"expert_weights_scale":              only("0 or 1", experts, 0, 1),
	"expert_weights_norm":               only("false", experts, 0),
	"expert_gating_func":                only("0", experts, 0),
	"moe_every_n_layers":                only("0", experts, 0),
	"interleave_moe_layer_step":         only("0", experts, 0),
}

const experts = "a mixture of experts is meant"

// allowedIn says which values change nothing, in a file of the architecture.
func (k key) allowedIn(arch string) string {
	return strings.ReplaceAll(k.allowed, itsArchitecture, arch)
}

// only is a neutral key, which a number or bool of one of the values leaves
// without effect, or an array of such.
func only(allowed, why string, values ...float64) key {
	return key{use: neutral, why: why, allowed: allowed, same: func(v gguf.Value, _ *hyper) bool {
		return each(v, func(x float64) bool { return slices.Contains(values, x) })
	}}
}

// each says whether v is a number or bool, or an array of such, and ok holds for
// each.
func each(v gguf.Value, ok func(float64) bool) bool {
	if v.Kind() == gguf.KindArray {
		for _, e := range v.Elems() {
			if !each(e, ok) {
				return false
			}
		}
		return v.Len() > 0
	}
	x, number := v.Float64()
	if i, is := v.Int64(); is {
		x, number = float64(i), true
	}
	if b, is := v.Bool(); is {
		x, number = 0, true
		if b {
			x = 1
		}
	}
	return number && ok(x)
}

func usualScale(v gguf.Value, p *hyper) bool {
	usual := 1 / math.Sqrt(float64(p.HeadDim))
	return each(v, func(x float64) bool { return x == 0 || math.Abs(x-usual) <= 1e-6*usual })
}

func wholeContext(v gguf.Value, p *hyper) bool {
	return each(v, func(x float64) bool { return x == 0 || x >= float64(p.Context) })
}

// headLength: the converter of github.com/ollama/ollama writes a head's length a
// second time, under a name that llama.cpp does not know.
func headLength(v gguf.Value, p *hyper) bool {
	return each(v, func(x float64) bool { return x == float64(p.HeadDim) })
}

func sameLength(v gguf.Value, p *hyper) bool {
	return each(v, func(x float64) bool { return x == 0 || x == float64(p.Hidden) })
}

func knownLayout(v gguf.Value, _ *hyper) bool {
	s, _ := v.Str()
	return s == "Meta AI original pth" || s == "reference"
}

// wholeYaRN: llama.cpp reads the key for other architectures alone.
func wholeYaRN(v gguf.Value, p *hyper) bool {
	return each(v, func(x float64) bool { return p.rope.yarn() && x == 1 || !p.rope.yarn() && x == 0 })
}

// usualYaRN: converters write transformers' attention_factor under the key, which
// llama.cpp reads for other architectures alone.
func usualYaRN(v gguf.Value, p *hyper) bool {
	usual := 1.0
	if p.rope.yarn() {
		usual = yarnScale(float64(p.RopeScale), 1)
	}
	return each(v, func(x float64) bool { return math.Abs(x-usual) <= 1e-6*usual })
}

// key returns what is known of a key that stands under the architecture's name.
func (a *Architecture) key(name string) (key, bool) {
	if k, own := a.keys[name]; own {
		return k, true
	}
	k, common := commonKeys[name]
	return k, common
}

// checkKeys refuses a file with a key under its architecture that this package does
// not know, or that says that the model is run in a way in which it is not. p is
// what was read of the others.
func checkKeys(f *gguf.File, arch *Architecture, p *hyper) error {
	for name, v := range f.Keys() {
		rest, ours := strings.CutPrefix(name, arch.Name+".")
		if !ours {
			continue
		}
		k, known := arch.key(rest)
		switch {
		case !known:
			return fmt.Errorf("metadata %s = %v is not known: it may change what the model computes, so the model is not run without it; docs/models.md lists the keys that are known", name, v)
		case k.use == neutral && !k.same(v, p):
			return fmt.Errorf("metadata %s is %v: %s, which this program does not do; it runs models in which that is %s, or missing", name, v, k.why, k.allowedIn(arch.Name))
		}
	}
	return nil
}
