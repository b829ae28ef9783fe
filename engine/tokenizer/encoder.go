package tokenizer

import (
	"fmt"
	"iter"
	"math"
	"unicode/utf8"
)

// encoder is byte-level BPE in Go.
type encoder struct {
	*vocabulary
	specials *specials
	pre      *preTokenizer
}

func newEncoder(s *source) (t *encoder, err error) {
	t = &encoder{}
	if t.pre, err = findPreTokenizer(s.pre); err != nil {
		return nil, err
	}
	if t.vocabulary, err = newVocabulary(s); err != nil {
		return nil, err
	}
	s.takeMarks(t.tokens)
	if t.specials, err = newSpecials(s.specIDs, t.tokens.at); err != nil {
		return nil, err
	}
	return t, nil
}

// Name returns "go".
func (t *encoder) Name() string { return "go" }

// Encode implements Tokenizer.
func (t *encoder) Encode(text string) ([]int32, error) {
	if err := checkText(text); err != nil {
		return nil, err
	}
	// English has 4 to 5 bytes a token; append finds room for other text.
	w := words{t: t, ids: make([]int32, 0, len(text)/4+4), merger: merger{v: t.vocabulary}}
	for s := range t.segments(text) {
		if s.id >= 0 {
			w.ids = append(w.ids, s.id)
		} else if err := w.encode(t.normal(text, s), s.start); err != nil {
			return nil, err
		}
	}
	return w.ids, nil
}

// checkText refuses what is not UTF-8 and what is too long to number.
func checkText(text string) error {
	if len(text) > math.MaxInt32 {
		return fmt.Errorf("text has %d bytes; at most %d are supported", len(text), math.MaxInt32)
	}
	if utf8.ValidString(text) {
		return nil
	}
	for i, r := range text {
		if _, n := utf8.DecodeRuneInString(text[i:]); r == utf8.RuneError && n == 1 {
			return fmt.Errorf("text is not UTF-8: byte 0x%02x at offset %d", text[i], i)
		}
	}
	return nil
}

// segment is a part of a text: a special token, or what lies between two.
type segment struct {
	start, end int
	id         int32 // of the special token, or -1
}

// segments yields the parts of text in order.
func (t *encoder) segments(text string) iter.Seq[segment] {
	return func(yield func(segment) bool) {
		for at := 0; at < len(text); {
			start, end, id := t.specials.next(text[at:])
			if start > 0 && !yield(segment{at, at + start, -1}) {
				return
			}
			if id >= 0 && !yield(segment{at + start, at + end, id}) {
				return
			}
			at += end
		}
	}
}

// normal returns the text of a segment that is not a special token, normalized
// as the pre-tokenizer has it.
func (t *encoder) normal(text string, s segment) string {
	if t.pre.nfc {
		return nfc(text[s.start:s.end])
	}
	return text[s.start:s.end]
}

// words is one call of Encode.
type words struct {
	t       *encoder
	ids     []int32
	merger  merger
	spelled []byte
}

// encode appends the ids of text, which has no special tokens, is normalized,
// and stands at the given offset of the whole.
func (w *words) encode(text string, offset int) error {
	at := 0
	for word := range w.t.pre.words(text) {
		if w.t.pre.ignoreMerges && w.whole(word) {
			at += len(word)
			continue
		}
		w.merger.reset(len(word))
		for i := range len(word) {
			id := w.t.bytes[word[i]]
			if id < 0 {
				return w.t.noToken(word[i], offset, at+i)
			}
			w.merger.add(id)
		}
		if err := w.merger.run(); err != nil {
			return err
		}
		w.ids = w.merger.appendIDs(w.ids)
		at += len(word)
	}
	return nil
}

// whole appends the word's id if the whole word is a token.
func (w *words) whole(word string) bool {
	w.spelled = appendSpelled(w.spelled[:0], word)
	id := w.t.tokens.find(string(w.spelled))
	if id >= 0 {
		w.ids = append(w.ids, id)
	}
	return id >= 0
}

// noToken says that byte b has no token. It stands at offset+at, or after
// normalization at byte at of what follows offset.
func (t *encoder) noToken(b byte, offset, at int) error {
	where := fmt.Sprintf("at offset %d", offset+at)
	if t.pre.nfc {
		where = fmt.Sprintf("%d bytes behind offset %d, in NFC", at, offset)
	}
	return fmt.Errorf("text has byte 0x%02x %s, for which the vocabulary has no token; take it out of the text", b, where)
}

// Decode implements Tokenizer.
func (t *encoder) Decode(ids []int32) (string, error) {
	var b []byte
	for i, id := range ids {
		var err error
		if b, err = t.appendToken(b, id); err != nil {
			return "", fmt.Errorf("decode: element %d: %w", i, err)
		}
	}
	return validUTF8(b), nil
}
