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
	begin := t.prefix || t.single // the next token may begin with such a space
	at := 0                       // where the text since the last control token begins
	for i, id := range ids {
		if err := t.check(id); err != nil {
			return "", fmt.Errorf("decode: element %d: %w", i, err)
		}
		if t.types[id] == typeByte {
			value, _ := byteOf(t.tokens.at(id))
			bytes = append(bytes, value)
			continue
		}
		writeBytes(&b, bytes)
		bytes = bytes[:0]
		text := t.text(id)
		switch {
		case t.types[id] == typeControl:
			b.WriteString(text)
			begin, at = t.prefix || t.single, b.Len()
			continue
		case t.types[id] == typeUnknown:
		case begin && b.Len() == at && strings.HasPrefix(text, " "):
			text = text[1:]
			begin = t.single
		}
		b.WriteString(text)
	}
	writeBytes(&b, bytes)
	return b.String(), nil
}

// writeBytes appends what bytes are as text.
func writeBytes(b *strings.Builder, bytes []byte) {
	for len(bytes) > 0 {
		r, n := utf8.DecodeRune(bytes)
		b.WriteRune(r) // U+FFFD for one byte that is part of no character
		bytes = bytes[n:]
	}
}
