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
	// their text stands, and none are added: Additions are. Text that is not UTF-8, or
	// has a byte without a token, is an error that names the byte and its offset; but
	// an SPM vocabulary with an unknown token has that for it.
	Encode(text string) ([]int32, error)

	// Decode returns the text of ids, special tokens spelled out. Bytes that
	// are not UTF-8, such as the first half of a character, become U+FFFD, one
	// for each longest prefix of a character, and of SPM one for each byte. An id outside the vocabulary is an
	// error.
	Decode(ids []int32) (string, error)

	// Piece returns the bytes that an id stands for, which may end inside of a
	// character; a special token is spelled out. An id outside the vocabulary is an
	// error.
	Piece(id int32) ([]byte, error)

	// Pieces returns the bytes that each id adds to the text of all, which is its
	// Piece, but for the space that SPM drops at the beginning of a text.
	Pieces(ids []int32) ([][]byte, error)

	// VocabSize returns the number of tokens.
	VocabSize() int
}

// Kinds are the names that Choose takes.
var Kinds = []string{"auto", "go", "hf"}

// Choice is a tokenizer, and why it is that one.
type Choice struct {
	Tokenizer Tokenizer
	// Why is the reason that auto has, as it stands behind "since"; "" where the
	// tokenizer was asked for by its name.
	Why string
	// Declined is what hf, which auto would have taken, has against the vocabulary;
	// nil where it has nothing, or was not asked.
	Declined error
	// Taken are the texts of tokens that end a turn, such as <|im_end|>, which are
	// found in texts though the file has them as ordinary tokens.
	Taken []string
}

// Choose returns the tokenizer of a GGUF file. kind is "go", "hf" or "auto": that is
// go, which is ready in a tenth of the time, where tests hold its ids equal to hf's,
// and where they do not, hf if it is built in and takes the vocabulary, and else go.
// Metadata that are missing, of a kind that this package does not know, or at odds
// with themselves are an error that names the file and the key.
func Choose(f *gguf.File, kind string) (c Choice, err error) {
	switch kind {
	case "go":
		return load(f, func(s *source) (c Choice, err error) {
			c.Tokenizer, err = newGo(s)
			c.Taken = s.taken
			return c, err
		})
	case "hf":
		c.Tokenizer, err = newHF(f)
		return c, err
	case "auto":
		return load(f, func(s *source) (Choice, error) {
			c, err := choose(s)
			c.Taken = s.taken
			return c, err
		})
	}
	return c, fmt.Errorf("tokenizer %q is not known; it is one of auto, go and hf", kind)
}

// newGo returns the tokenizer in Go.
func newGo(s *source) (Tokenizer, error) {
	if s.model == modelSPM {
		return newSPM(s)
	}
	return newEncoder(s)
}

// choose is the choice of auto.
func choose(s *source) (Choice, error) {
	if s.model == modelSPM {
		t, err := newSPM(s)
		return Choice{Tokenizer: t, Why: "tests hold its ids equal to SentencePiece's"}, err
	}
	e, err := newEncoder(s)
	switch {
	case err != nil:
		return Choice{}, err
	case e.pre.equal:
		return Choice{Tokenizer: e, Why: fmt.Sprintf("tests hold its ids equal to hf's for %s", s.pre)}, nil
	case !hfBuiltIn:
		return Choice{Tokenizer: e, Why: "hf is not built in"}, nil
	}
	h, err := newHFFrom(s, e)
	if err != nil {
		return Choice{Tokenizer: e, Why: "hf does not take the vocabulary", Declined: err}, nil
	}
	return Choice{Tokenizer: h, Why: fmt.Sprintf("no test holds the ids of go equal to its for %s", s.pre)}, nil
}

// Go returns the tokenizer in Go of the same vocabulary, which takes the texts and
// tokens with NUL bytes that hf does not.
func Go(t Tokenizer) Tokenizer {
	if h, ok := t.(interface{ inGo() Tokenizer }); ok {
		return h.inGo()
	}
	return t
}

// HFBuiltIn reports whether this program was built with HuggingFace's
// tokenizers library, that is with cgo and the tag hf.
func HFBuiltIn() bool { return hfBuiltIn }
