package tokenizer

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Decode implements Tokenizer. It is the reverse of Encode: the space that Encode
// puts before a text, at the beginning and behind a control token, is dropped. The
// bytes between two tokens that are no bytes become text together; each that is part
// of no character becomes U+FFFD (Decode in SentencePiece's
// src/sentencepiece_processor.cc).
func (t *spm) Decode(ids []int32) (string, error) {
	var b strings.Builder
	var bytes []byte
	err := t.walk(ids, func(id int32, text string) {
		if t.types[id] == typeByte {
			bytes = append(bytes, text...)
			return
		}
		writeBytes(&b, bytes)
		bytes = bytes[:0]
		b.WriteString(text)
	})
	if err != nil {
		return "", err
	}
	writeBytes(&b, bytes)
	return b.String(), nil
}

// Pieces implements Tokenizer.
func (t *spm) Pieces(ids []int32) ([][]byte, error) {
	all := make([][]byte, 0, len(ids))
	err := t.walk(ids, func(_ int32, text string) { all = append(all, []byte(text)) })
	return all, err
}

// walk calls use with each id and what it adds to the text.
func (t *spm) walk(ids []int32, use func(id int32, text string)) error {
	added := t.prefix || t.single // a space that Encode added may stand at the beginning of a text
	begin, empty := added, true   // it may still come; the text is empty so far
	for i, id := range ids {
		piece, err := t.Piece(id)
		if err != nil {
			return fmt.Errorf("decode: element %d: %w", i, err)
		}
		text := string(piece)
		switch t.types[id] {
		case typeControl:
			begin, empty = added, true
			use(id, text)
			continue
		case typeByte, typeUnknown:
		default:
			if begin && empty && strings.HasPrefix(text, " ") {
				text, begin = text[1:], t.single
			}
		}
		empty = empty && text == ""
		use(id, text)
	}
	return nil
}

// writeBytes appends what bytes are as text.
func writeBytes(b *strings.Builder, bytes []byte) {
	for len(bytes) > 0 {
		r, n := utf8.DecodeRune(bytes)
		b.WriteRune(r) // U+FFFD for one byte that is part of no character
		bytes = bytes[n:]
	}
}
