package tokenizer

import (
	"fmt"
	"strings"

	"github.com/introgen/introgen/engine/gguf"
)

// vocabulary holds the tokens and the merges of a file.
type vocabulary struct {
	tokens *index
	merges *index     // "left right"; the number of a merge is its rank
	bytes  [256]int32 // the token of each byte, or -1
}

func newVocabulary(s *source) (v *vocabulary, err error) {
	v = &vocabulary{}
	// Tokens and merges are indexed beside each other: that is nearly all of what it
	// takes to be ready.
	merged := make(chan error, 1)
	go func() {
		merged <- gguf.Fault(func() (err error) {
			if v.merges, err = newIndex(s.merges); err == nil {
				err = checkMerges(v.merges)
			}
			return err
		})
	}()
	err = gguf.Fault(func() (err error) {
		v.tokens, err = newIndex(s.tokens)
		return err
	})
	failed := <-merged // in any case: it reads the file, which may be closed then
	if err != nil {
		return nil, fmt.Errorf("%s %w", keyTokens, err)
	}
	if failed != nil {
		return nil, fmt.Errorf("%s %w", keyMerges, failed)
	}
	for b, r := range byteRunes {
		v.bytes[b] = v.tokens.find(string(r))
	}
	return v, nil
}

// checkMerges refuses a merge that is not two texts with one space between.
// That they are tokens is not checked, since that would take longer than all
// the rest: a merge of others is never used.
func checkMerges(merges *index) error {
	// Each has a space inside, and there are no more spaces than merges.
	spaces := strings.Count(merges.text, " ")
	for i := range int32(merges.len()) {
		m := merges.at(i)
		if at := strings.IndexByte(m, ' '); at <= 0 || at == len(m)-1 || spaces != merges.len() && strings.Count(m, " ") != 1 {
			return fmt.Errorf("element %d is %q; it must be two tokens with one space between", i, m)
		}
	}
	return nil
}

// VocabSize returns the number of tokens.
func (v *vocabulary) VocabSize() int { return v.tokens.len() }

// Piece implements Tokenizer.
func (v *vocabulary) Piece(id int32) ([]byte, error) { return v.appendToken(nil, id) }

// Pieces implements Tokenizer.
func (v *vocabulary) Pieces(ids []int32) ([][]byte, error) {
	all := make([][]byte, len(ids))
	for i, id := range ids {
		var err error
		if all[i], err = v.Piece(id); err != nil {
			return nil, fmt.Errorf("decode: element %d: %w", i, err)
		}
	}
	return all, nil
}

// appendToken appends the bytes that token id stands for.
func (v *vocabulary) appendToken(dst []byte, id int32) ([]byte, error) {
	if id < 0 || int(id) >= v.tokens.len() {
		return dst, outside(id, v.tokens.len())
	}
	return appendBytes(dst, v.tokens.at(id)), nil
}

func outside(id int32, tokens int) error {
	return fmt.Errorf("token id %d is outside the vocabulary of %d tokens", id, tokens)
}
