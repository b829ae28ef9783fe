package tokenizer

import "unicode/utf8"

// Byte-level BPE spells each byte as one character: the printable ones of
// Latin-1 as themselves and the other 68 as U+0100 and following, in the order
// of the bytes (bytes_to_unicode of GPT-2's encoder.py). So the space is "Ġ".

// byteRunes is the character of each byte.
var byteRunes = func() (r [256]rune) {
	next := rune(256)
	for b := range r {
		switch {
		case b >= '!' && b <= '~', b >= 0xA1 && b <= 0xAC, b >= 0xAE:
			r[b] = rune(b)
		default:
			r[b] = next
			next++
		}
	}
	return r
}()

// lastByteRune is the largest of byteRunes.
const lastByteRune = 256 + 67

// runeBytes is the reverse of byteRunes: the byte plus 1, or 0 for a character
// that stands for none.
var runeBytes = func() (b [lastByteRune + 1]uint16) {
	for i, r := range byteRunes {
		b[r] = uint16(i) + 1
	}
	return b
}()

// appendSpelled appends the byte-level spelling of text to dst.
func appendSpelled(dst []byte, text string) []byte {
	for i := range len(text) {
		dst = utf8.AppendRune(dst, byteRunes[text[i]])
	}
	return dst
}

// appendBytes appends to dst the bytes that a token spells. A token with a
// character that stands for no byte (only special tokens have them) stands for
// its own text, as in HuggingFace's ByteLevel decoder.
func appendBytes(dst []byte, token string) []byte {
	start := len(dst)
	for _, r := range token {
		if r > lastByteRune || runeBytes[r] == 0 {
			return append(dst[:start], token...)
		}
		dst = append(dst, byte(runeBytes[r]-1))
	}
	return dst
}
