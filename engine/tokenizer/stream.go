package tokenizer

import (
	"strings"
	"unicode/utf8"
)

// Stream decodes ids one at a time, for text that is shown while it is being
// generated. A token may end inside a character; its bytes are held back until
// the character is whole, so that what Next and Flush return, put together, is
// what Decode returns for all the ids.
type Stream struct {
	t    Tokenizer
	held []byte
}

// NewStream returns a Stream of ids of t. A Tokenizer from outside this package
// must have a Decode that works on each id by itself.
func NewStream(t Tokenizer) *Stream { return &Stream{t: t} }

// Next returns the text that id completes, which may be empty.
func (s *Stream) Next(id int32) (string, error) {
	if t, ok := s.t.(interface {
		appendToken(dst []byte, id int32) ([]byte, error)
	}); ok {
		var err error
		if s.held, err = t.appendToken(s.held, id); err != nil {
			return "", err
		}
	} else {
		text, err := s.t.Decode([]int32{id})
		if err != nil {
			return "", err
		}
		s.held = append(s.held, text...)
	}
	n := len(s.held) - openTail(s.held)
	text := validUTF8(s.held[:n])
	s.held = append(s.held[:0], s.held[n:]...)
	return text, nil
}

// Flush returns what is held back: U+FFFD if a character was left unfinished,
// else nothing.
func (s *Stream) Flush() string {
	text := validUTF8(s.held)
	s.held = s.held[:0]
	return text
}

// openTail returns the number of bytes at the end of b that begin a character
// which more bytes may complete.
func openTail(b []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(b); n++ {
		tail := b[len(b)-n:]
		if utf8.RuneStart(tail[0]) {
			if utf8.FullRune(tail) {
				return 0
			}
			return n
		}
	}
	return 0
}

// validUTF8 returns b with every longest prefix of a character that is not
// completed, and every byte that begins none, replaced by U+FFFD (Unicode
// chapter 3.9, "substitution of maximal subparts", as Rust's from_utf8_lossy).
// Package strings' ToValidUTF8 would make one of several such.
func validUTF8(b []byte) string {
	if utf8.Valid(b) {
		return string(b)
	}
	var out strings.Builder
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		if r == utf8.RuneError && n == 1 {
			for n < len(b) && n < utf8.UTFMax && !utf8.FullRune(b[:n]) {
				n++
			}
			// b[:n] is the shortest prefix that cannot be completed, or all.
			if n > 1 && utf8.FullRune(b[:n]) {
				n--
			}
		}
		out.WriteRune(r)
		b = b[n:]
	}
	return out.String()
}
