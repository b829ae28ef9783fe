package transformertest

import (
	_ "embed"
	"sync"
)

// Answer is what a real model answers to a text. The ids are llama.cpp's on the same
// file, and as well the greedy ones of transformers in float64 with the file's weights,
// whose logits these are.
type Answer struct {
	Text    string
	Prompt  []int32 // of Text, with the token that begins a text
	Next    []int32 // the 60 greedy ids that follow
	Margin  float64 // by which the best logit leads the second, at the narrowest of Next
	Largest []Logit // the five largest logits after Prompt
}

//go:embed testdata/gemma3-270m-exact.json
var gemmaExact []byte

var answers = sync.OnceValues(func() ([]Answer, error) { return parsed[[]Answer](gemmaExact) })

// ExactGemma returns what models.Gemma answers to five texts in which no choice is a
// narrow one, so that nothing is left to how an engine rounds; Gemma has texts with
// narrow ones. The figures come from scripts/reference/gemma_exact.py.
func ExactGemma() []Answer {
	all, err := answers()
	if err != nil {
		panic("testdata/gemma3-270m-exact.json: " + err.Error())
	}
	return all
}
