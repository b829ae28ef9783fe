// Package transformertest holds what tests of several packages need of a llama
// model: the exact answers of the real model's files, and small synthetic
// models of any shape.
package transformertest

import "github.com/introgen/introgen/models"

// Prompt is `<|im_start|>user\nWhat is Rust?<|im_end|>\n<|im_start|>assistant\n`.
var Prompt = []int32{1, 4093, 198, 1780, 314, 36828, 47, 2, 198, 1, 520, 9531, 198}

// Greedy are the exact ids that follow Prompt, the same for both files: the
// first token and 20 steps, "Rust is a modern, high-level, statically typed,
// and dynamically typed programming language developed by".
var Greedy = []int32{66, 467, 314, 253, 2148, 28, 904, 29, 4638, 28, 2091, 947, 30473, 28, 284, 29444, 30473, 6256, 1789, 2452, 411}

// Logit is the exact logit of a token.
type Logit struct {
	ID    int32
	Value float64
}

// Exact are the largest logits of one model file, largest first, to six
// decimals: dequantized weights, float64 everywhere, no quantization of
// activations.
type Exact struct {
	File    string  // file name in the models folder
	Prefill []Logit // after Prompt
	Step    []Logit // after the first step, that is Prompt and Greedy[0]
}

// Files are the exact answers of the files that the project works with. They
// come from outside of this project's code.
var Files = []Exact{
	{
		File:    models.StandIn,
		Prefill: []Logit{{66, 30.892009}, {5714, 27.092799}, {504, 26.958209}, {54, 26.871707}, {39887, 26.860959}},
		Step:    []Logit{{467, 23.974427}, {31307, 17.055587}, {19200, 15.293871}, {2909, 14.971288}, {316, 14.756815}},
	},
	{
		File:    models.Source,
		Prefill: []Logit{{66, 30.569245}, {5714, 26.815674}, {504, 26.587466}, {54, 26.496823}, {39887, 26.450339}},
		Step:    []Logit{{467, 23.697046}, {31307, 16.890012}, {19200, 15.381893}, {2909, 14.938057}, {314, 14.695716}},
	},
}
