package tokenizer

import (
	"errors"
	"fmt"
	"strings"
)

// spm is SentencePiece's BPE (tokenizer.ggml.model = llama): pieces of text with
// scores, of which neighbours are merged whose union has the best score.
type spm struct {
	tokens  *index
	types   []int32
	scores  []float32
	control *specials // found in the text as it is; what lies between is a text of its own
	user    *specials // found in what lies between, once its spaces are escaped
	bytes   [256]int32
	unknown int32 // for what has no token; -1 where there is none
	spacing
	// trims are the ids of special tokens that take the white space behind them.
	trims map[int32]bool
}

// spacing says what becomes of the spaces of a text.
type spacing struct {
	prefix bool // one is put before it
	single bool // those at the ends are dropped, and of several in a row one stays
}

// escapedSpace stands for the space in tokens and, before it is cut, in text.
const escapedSpace = "\u2581"

// unknownText is what a token of type 2 decodes to (unk_surface of SentencePiece's
// trainer_spec).
const unknownText = " \u2047 "

func newSPM(s *source) (t *spm, err error) {
	t = &spm{types: s.types, scores: s.scores, unknown: s.unknown, spacing: s.spacing}
	if t.tokens, err = newIndex(s.tokens); err != nil {
		return nil, fmt.Errorf("%s %w", keyTokens, err)
	}
	s.takeMarks(t.tokens)
	if err := t.findBytes(); err != nil {
		return nil, err
	}
	var control, user []int32
	for _, id := range s.specIDs {
		if s.types[id] == typeControl || s.phi3 {
			control = append(control, id)
		} else {
			user = append(user, id)
		}
	}
	if s.phi3 {
		t.trims = phi3Trims(control, t.tokens)
	}
	if t.control, err = newSpecials(control, t.tokens.at); err != nil {
		return nil, err
	}
	escaped := func(id int32) string { return escape(t.tokens.at(id)) }
	if t.user, err = newSpecials(user, escaped); err != nil {
		return nil, err
	}
	return t, nil
}

// escape writes spaces as tokens have them.
func escape(text string) string { return strings.ReplaceAll(text, " ", escapedSpace) }

// findBytes collects the tokens of single bytes.
func (t *spm) findBytes() error {
	for b := range t.bytes {
		t.bytes[b] = -1
	}
	for id, typ := range t.types {
		if typ != typeByte {
			continue
		}
		text := t.tokens.at(int32(id))
		b, ok := byteOf(text)
		if !ok {
			return fmt.Errorf("%s: token %d, of type %d (a byte), is %q; it must be one of <0x00> to <0xFF>", keyTokens, id, typeByte, text)
		}
		t.bytes[b] = int32(id)
	}
	return nil
}

// byteOf reads the text of a byte's token.
func byteOf(text string) (b byte, ok bool) {
	const digits = "0123456789ABCDEF"
	if len(text) != len("<0x00>") || text[:3] != "<0x" || text[5] != '>' {
		return 0, false
	}
	hi, lo := strings.IndexByte(digits, text[3]), strings.IndexByte(digits, text[4])
	return byte(hi<<4 | lo), hi >= 0 && lo >= 0
}

// phi3Trims are the special tokens that take the white space behind them, in a model
// whose name has phi-3 in it: the file does not say so, and llama.cpp goes by the name
// too.
func phi3Trims(special []int32, tokens *index) map[int32]bool {
	trims := map[int32]bool{}
	for _, id := range special {
		switch tokens.at(id) {
		case "<unk>", "<s>", "<|endoftext|>":
		default:
			trims[id] = true
		}
	}
	return trims
}

// Name returns "go".
func (t *spm) Name() string { return "go" }

// VocabSize returns the number of tokens.
func (t *spm) VocabSize() int { return t.tokens.len() }

// Piece implements Tokenizer.
func (t *spm) Piece(id int32) ([]byte, error) {
	if err := t.check(id); err != nil {
		return nil, err
	}
	if t.types[id] == typeByte {
		b, _ := byteOf(t.tokens.at(id))
		return []byte{b}, nil
	}
	return []byte(t.text(id)), nil
}

func (t *spm) check(id int32) error {
	if id < 0 || int(id) >= t.tokens.len() {
		return outside(id, t.tokens.len())
	}
	return nil
}

// text returns what a token that is no byte stands for.
func (t *spm) text(id int32) string {
	switch t.types[id] {
	case typeControl:
		return t.tokens.at(id)
	case typeUnknown:
		return unknownText
	}
	return strings.ReplaceAll(t.tokens.at(id), escapedSpace, " ")
}

// checkScores refuses what cannot be put in order.
func checkScores(scores []float32, tokens int) error {
	if len(scores) != tokens {
		return fmt.Errorf("%s has %d elements and %s has %d; they must be as many", keyScores, len(scores), keyTokens, tokens)
	}
	for id, score := range scores {
		if score != score {
			return fmt.Errorf("%s of token %d is not a number", keyScores, id)
		}
	}
	return nil
}

var errCharsmap = errors.New(keyCharsmap + " is there: texts are normalized by a table before they are cut, which is not supported; only SPM vocabularies without one are")
