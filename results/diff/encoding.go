package diff

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"unicode/utf16"
	"unicode/utf8"
)

// utf8Text is a text in UTF-8 without a byte order mark, whatever Unicode
// encoding it came in, as far as its first bytes tell: what a shell of Windows
// writes behind > is UTF-16 (the marks are those of the Unicode Standard, 23.8).
// A text that cannot be read so is an error, since lines that nobody understands
// would be no samples and nothing would say so.
func utf8Text(text []byte) ([]byte, error) {
	switch {
	case bytes.HasPrefix(text, []byte("\x1f\x8b")):
		return nil, errors.New("it is packed with gzip and holds no recording: unpack it first")
	case bytes.HasPrefix(text, []byte("\xff\xfe\x00\x00")), bytes.HasPrefix(text, []byte("\x00\x00\xfe\xff")):
		return nil, errors.New("it is in UTF-32: UTF-8 and UTF-16 can be read")
	case bytes.HasPrefix(text, []byte("\xff\xfe")):
		return fromUTF16(text[2:], binary.LittleEndian)
	case bytes.HasPrefix(text, []byte("\xfe\xff")):
		return fromUTF16(text[2:], binary.BigEndian)
	}
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	if i := bytes.IndexByte(text, 0); i >= 0 {
		return nil, fmt.Errorf("byte %d is 0, which no text has: it may be in UTF-16 without a byte order mark, wholly or in part; write it as UTF-8", i)
	}
	return text, nil
}

func fromUTF16(text []byte, order binary.ByteOrder) ([]byte, error) {
	if len(text)%2 != 0 {
		return nil, errors.New("it is in UTF-16 and its last character is not whole: it was cut off, or other bytes were appended")
	}
	out := make([]byte, 0, len(text)/2)
	for i := 0; i < len(text); i += 2 {
		r := rune(order.Uint16(text[i:]))
		if utf16.IsSurrogate(r) {
			second := rune(0)
			if i+4 <= len(text) {
				second = rune(order.Uint16(text[i+2:]))
			}
			if r = utf16.DecodeRune(r, second); r == utf8.RuneError {
				return nil, fmt.Errorf("it begins as UTF-16, and byte %d is none: other bytes may have been appended", i+2)
			}
			i += 2
		}
		if r == 0 {
			return nil, fmt.Errorf("it begins as UTF-16, and character %d is 0, which no text has", i/2)
		}
		out = utf8.AppendRune(out, r)
	}
	return out, nil
}
