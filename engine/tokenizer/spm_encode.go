package tokenizer

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"
)

// Encode implements Tokenizer.
func (t *spm) Encode(text string) ([]int32, error) {
	w := joiner{t: t}
	return t.each(text, w.encode)
}

// each returns the ids of text, in which encode appends those of the texts between
// control tokens.
func (t *spm) each(text string, encode func(ids []int32, text string) ([]int32, error)) ([]int32, error) {
	if err := checkText(text); err != nil {
		return nil, err
	}
	ids := make([]int32, 0, len(text)/4+4)
	for at := 0; at < len(text); {
		start, end, id := t.control.next(text[at:])
		var err error
		if ids, err = encode(ids, t.normal(text[at:at+start])); err != nil {
			return nil, fmt.Errorf("text behind offset %d: %w", at, err)
		}
		at += end
		if id >= 0 {
			ids = append(ids, id)
		}
		if t.trims[id] {
			at = len(text) - len(strings.TrimLeft(text[at:], " \t\n\v\f\r"))
		}
	}
	return ids, nil
}

// normal prepares a text without control tokens (Normalize in SentencePiece's
// src/normalizer.cc, where the table of its characters is empty).
func (t *spm) normal(text string) string {
	if t.single {
		text = singleSpaces(strings.TrimLeft(text, " "))
	}
	if text == "" {
		return ""
	}
	if t.prefix {
		text = " " + text
	}
	text = escape(text)
	if t.single {
		for strings.HasSuffix(text, escapedSpace) {
			text = strings.TrimSuffix(text, escapedSpace)
		}
	}
	return text
}

// singleSpaces makes one space of several in a row.
func singleSpaces(text string) string {
	if !strings.Contains(text, "  ") {
		return text
	}
	var b strings.Builder
	for i := range len(text) {
		if text[i] != ' ' || i == 0 || text[i-1] != ' ' {
			b.WriteByte(text[i])
		}
	}
	return b.String()
}

// joiner merges the pieces of one text after another; its buffers are reused.
type joiner struct {
	t      *spm
	text   string // the one at hand
	parts  []part
	best   queue            // of the order of a union's score in the high half, and the left part's number
	splits map[string]int32 // of a piece that is not to be used, the length of the left part that it came from
	parted []span
	ids    []int32
}

// part is a piece of the text, in a list whose order is that of the text.
type part struct {
	span
	prev, next int32  // numbers, or -1
	id         int32  // -1 where it is no token
	union      int32  // the token that it makes with the next one
	order      uint32 // of that one's score; noUnion where they make none
	whole      bool   // a user-defined token, which is not merged
	gone       bool   // it became a part of its neighbour
}

// span is a part of a text, in bytes.
type span struct{ start, end int32 }

// noUnion comes behind every score.
const noUnion = math.MaxUint32

// orderOf puts scores in the order of merging, the best first. It is below noUnion for
// every number.
func orderOf(score float32) uint32 {
	if score == 0 {
		score = 0 // of two zeros none is better
	}
	b := math.Float32bits(score)
	if b>>31 == 0 {
		return 1<<31 - 1 - b
	}
	return b
}

// encode appends to ids those of text, which is prepared and has no control tokens
// (Encode in SentencePiece's src/bpe_model.cc).
func (w *joiner) encode(ids []int32, text string) ([]int32, error) {
	if len(text) > math.MaxInt32 {
		return nil, fmt.Errorf("it has %d bytes with its spaces escaped; at most %d are supported", len(text), math.MaxInt32)
	}
	w.ids, w.text, w.best = ids, text, w.best[:0]
	w.cut()
	for i := range w.parts {
		w.join(int32(i))
	}
	for len(w.best) > 0 {
		e := w.best.pop()
		i := int32(uint32(e))
		left := &w.parts[i]
		if left.gone || left.order != uint32(e>>32) {
			continue // the pair has changed since it was entered
		}
		right := &w.parts[left.next]
		left.id, left.end, left.next, right.gone = left.union, right.end, right.next, true
		if left.next >= 0 {
			w.parts[left.next].prev = i
		}
		w.join(i)
		if left.prev >= 0 {
			w.join(left.prev)
		}
	}
	err := w.take()
	return w.ids, err
}

// cut makes a part of every character and of every user-defined token.
func (w *joiner) cut() {
	if n := utf8.RuneCountInString(w.text); cap(w.parts) < n {
		w.parts, w.best = make([]part, 0, n), make(queue, 0, n)
	}
	w.parts = w.parts[:0]
	for at := 0; at < len(w.text); {
		n, id, whole := 0, int32(-1), false
		if w.t.user.first[w.text[at]] {
			n, id = w.t.user.at(w.text[at:])
			whole = n > 0
		}
		if !whole {
			_, n = utf8.DecodeRuneInString(w.text[at:])
			id = w.t.tokens.find(w.text[at : at+n])
		}
		i := int32(len(w.parts))
		w.parts = append(w.parts, part{span: span{int32(at), int32(at + n)}, prev: i - 1, next: i + 1, id: id, whole: whole})
		at += n
	}
	if n := len(w.parts); n > 0 {
		w.parts[n-1].next = -1
	}
}

// join finds what part i and the next one make, and enters it if that is a token.
func (w *joiner) join(i int32) {
	left := &w.parts[i]
	left.order = noUnion
	if left.next < 0 || left.whole || w.parts[left.next].whole {
		return
	}
	text := w.text[left.start:w.parts[left.next].end]
	id := w.t.tokens.find(text)
	if id < 0 {
		return
	}
	switch w.t.types[id] {
	case typeUnused:
		if w.splits == nil {
			w.splits = map[string]int32{}
		}
		w.splits[text] = left.end - left.start
	case typeNormal, typeUserDefined:
	default:
		return
	}
	left.union, left.order = id, orderOf(w.t.scores[id])
	w.best.push(uint64(left.order)<<32 | uint64(i))
}

// take appends the ids of the parts that are left.
func (w *joiner) take() error {
	unknown := false // what stands before is an unknown token
	for i := int32(0); i >= 0 && int(i) < len(w.parts); i = w.parts[i].next {
		w.parted = append(w.parted[:0], w.parts[i].span)
		for len(w.parted) > 0 {
			s := w.parted[len(w.parted)-1]
			w.parted = w.parted[:len(w.parted)-1]
			text, id := w.text[s.start:s.end], w.parts[i].id
			if s != w.parts[i].span {
				id = w.t.tokens.find(text)
			}
			switch left, split := w.splits[text]; {
			case id < 0 || w.t.types[id] == typeUnknown:
			case w.t.types[id] != typeUnused:
				w.ids, unknown = append(w.ids, id), false
				continue
			case split:
				w.parted = append(w.parted, span{s.start + left, s.end}, span{s.start, s.start + left})
				continue
			}
			known, err := w.fallBack(text, unknown)
			if err != nil {
				return err
			}
			unknown = !known
		}
	}
	return nil
}

// fallBack appends the tokens of the bytes of a character that is no token; where
// they are missing, the unknown token, unless that stands there already.
func (w *joiner) fallBack(text string, unknown bool) (known bool, err error) {
	had := len(w.ids)
	for i := range len(text) {
		id := w.t.bytes[text[i]]
		if id >= 0 {
			w.ids = append(w.ids, id)
			continue
		}
		if w.t.unknown < 0 {
			return false, fmt.Errorf("%q has byte 0x%02x, for which the vocabulary has no token, and it has none for what is unknown; take it out of the text", text, text[i])
		}
		if w.ids = w.ids[:had]; !unknown {
			w.ids = append(w.ids, w.t.unknown)
		}
		return false, nil
	}
	return true, nil
}
