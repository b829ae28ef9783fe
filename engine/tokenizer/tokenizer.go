package tokenizer

import (
	"fmt"

	"github.com/introgen/introgen/engine/gguf"
)

// Tokenizer turns text into token ids and back. Its methods may be called by
// several goroutines at once. It keeps no reference to the file that it was
// made from.
type Tokenizer interface {
	// Name is "go" or "hf".
	Name() string

	// Encode returns the ids of text. Special tokens are recognised where
	// their text stands, and none are added. Text that is not UTF-8, or has a
	// byte without a token, is an error that names the byte and its offset.
	Encode(text string) ([]int32, error)

	// Decode returns the text of ids, special tokens spelled out. Bytes that
	// are not UTF-8, such as the first half of a character, become U+FFFD, one
	// for each longest prefix of a character. An id outside the vocabulary is an
	// error.
	Decode(ids []int32) (string, error)

	// Piece returns the bytes that an id stands for, which may end inside of a
	// character; a special token is spelled out. An id outside the vocabulary is an
	// error.
	Piece(id int32) ([]byte, error)

	// VocabSize returns the number of tokens.
	VocabSize() int
}

// Kinds are the names that Choose takes.
var Kinds = []string{"auto", "go", "hf"}

// Choose returns the tokenizer of a GGUF file. kind is "go", "hf" or "auto", which
// is hf where it is built in and takes the vocabulary, and else go: declined is then
// what hf has against the vocabulary, where it is built in. Metadata that are
// missing, of a kind that this package does not know, or at odds with themselves are
// an error that names the file and the key.
func Choose(f *gguf.File, kind string) (t Tokenizer, declined, err error) {
	switch kind {
	case "go":
		t, err = newGo(f)
		return t, nil, err
	case "hf":
		t, err = newHF(f)
		return t, nil, err
	case "auto":
		if !HFBuiltIn() {
			t, err = newGo(f)
			return t, nil, err
		}
		if t, declined = newHF(f); declined == nil {
			return t, nil, nil
		}
		t, err = newGo(f)
		return t, declined, err
	}
	return nil, nil, fmt.Errorf("tokenizer %q is not known; it is one of auto, go and hf", kind)
}

// Go returns the tokenizer in Go of the same vocabulary, which takes the texts and
// tokens with NUL bytes that hf does not.
func Go(t Tokenizer) Tokenizer {
	if h, ok := t.(interface{ inGo() *encoder }); ok {
		return h.inGo()
	}
	return t
}

// HFBuiltIn reports whether this program was built with HuggingFace's
// tokenizers library, that is with cgo and the tag hf.
func HFBuiltIn() bool { return hfBuiltIn }

// newGo returns the tokenizer in Go.
func newGo(f *gguf.File) (Tokenizer, error) {
	return load(f, func(s *source) (Tokenizer, error) { return newEncoder(s) })
}
