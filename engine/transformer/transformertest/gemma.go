package transformertest

import (
	_ "embed"
	"encoding/json"
	"slices"
	"testing"
)

// Continuation is what llama.cpp generates after a prompt.
type Continuation struct {
	Prompt string
	IDs    []int32 // of the prompt, with the token that begins a text
	Steps  []Choice
}

// Choice is a greedy step: the tokens whose logits are largest, the one that is taken
// first.
type Choice []Candidate

// Candidate is a token, and how far its logit lies below the largest.
type Candidate struct {
	Token int32
	Below float64
}

// gemmaGreedy is written by scripts/reference/gemma_greedy.py.
//
//go:embed testdata/gemma3-270m.json
var gemmaGreedy []byte

// Gemma is what llama.cpp generates with Gemma 3 270M.
func Gemma(t testing.TB) []Continuation {
	t.Helper()
	var read []struct {
		Prompt string
		IDs    []int32
		Steps  [][]json.RawMessage
	}
	if err := json.Unmarshal(gemmaGreedy, &read); err != nil {
		t.Fatal(err)
	}
	var all []Continuation
	for _, r := range read {
		c := Continuation{Prompt: r.Prompt, IDs: r.IDs}
		for _, s := range r.Steps {
			var choice Choice
			for _, candidate := range s[1:] { // after the largest logit
				var x [2]float64
				if err := json.Unmarshal(candidate, &x); err != nil {
					t.Fatal(err)
				}
				choice = append(choice, Candidate{int32(x[0]), x[1]})
			}
			c.Steps = append(c.Steps, choice)
		}
		all = append(all, c)
	}
	return all
}

// rounding is by how much llama.cpp's logits may be off, since it rounds activations to
// 8 bits: of this model by up to 0.48 where they were compared with float64. So tokens
// whose logits lie less than twice that apart may change places.
const rounding = 0.5

// Follow has step pass the prompt and then llama.cpp's own tokens, one after another,
// and compares each next token with llama.cpp's. Where the best lie so close that
// rounding decides, each of them is right. step returns the greedy next token after
// ids, whose first stands at position pos.
func (c Continuation) Follow(t testing.TB, step func(ids []int32, pos int) int32) {
	t.Helper()
	ids, pos, ties := c.IDs, 0, 0
	for i, s := range c.Steps {
		next := step(ids, pos)
		at := slices.IndexFunc(s, func(c Candidate) bool { return c.Token == next })
		switch {
		case at < 0 || s[at].Below >= 2*rounding:
			t.Errorf("%q, step %d: token %d; llama.cpp takes %d, and the best are %v", c.Prompt, i, next, s[0].Token, s)
		case at > 0:
			ties++
		}
		pos += len(ids)
		ids = []int32{s[0].Token}
	}
	if ties > len(c.Steps)/6 {
		t.Errorf("%q: %d of %d tokens are not llama.cpp's best", c.Prompt, ties, len(c.Steps))
	}
}
