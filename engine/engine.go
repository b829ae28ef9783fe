// Package engine is the contract between a thing that generates tokens and the
// harness that times it. The engines themselves live below: engine/cpu and
// engine/metal; both build on engine/gguf, engine/tokenizer and engine/transformer.
package engine

import "fmt"

// Model is a loaded model with its KV cache, ready to generate. It is used by
// one goroutine at a time.
type Model interface {
	// Step runs one forward pass over ids, whose first token stands at
	// position pos, and returns the greedy next token: the smallest index
	// among the largest logits. pos = 0 starts a new sequence; otherwise
	// positions [0, pos) must have been passed before. It returns when the
	// result is in the CPU's hands: enqueued work does not count as done.
	Step(ids []int32, pos int) (next int32, err error)

	// Logits returns the logits of the last position of the latest Step, one
	// per vocabulary entry. The slice is valid until the next Step.
	Logits() ([]float32, error)

	// Context is the largest number of positions that Step accepts.
	Context() int

	// Close frees what the model holds. The model is not used afterwards.
	Close() error
}

// Bounded is a Model that knows whose limit its Context is.
type Bounded interface {
	// ContextLimit says whose limit that is and what to do about it, in words
	// that can end an error.
	ContextLimit() string
}

// Cached is a Model that knows how large its KV cache is.
type Cached interface {
	// CacheBytes is what the keys and values of the positions take that have passed.
	CacheBytes() int64
}

// NonFiniteError says that a forward pass met a value that is not a number or
// is infinite, and where it first appeared.
type NonFiniteError struct {
	Layer int    // 0-based block index, or -1 outside the blocks
	Where string // "attention", "feed-forward", "embedding", "output"
	Value float32
}

func (e *NonFiniteError) Error() string {
	if e.Layer < 0 {
		return fmt.Sprintf("%s is %v: the model's numbers are damaged or overflow", e.Where, e.Value)
	}
	return fmt.Sprintf("%s of layer %d is %v: the model's numbers are damaged or overflow", e.Where, e.Layer, e.Value)
}
