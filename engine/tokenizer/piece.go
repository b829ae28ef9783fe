package tokenizer

// Piece returns the bytes that an id stands for, which may end inside of a
// character; a special token is spelled out. An id outside the vocabulary is an
// error. A Tokenizer from outside this package must have a Decode that works on
// each id by itself.
func Piece(t Tokenizer, id int32) ([]byte, error) {
	if t, ok := t.(interface {
		appendToken(dst []byte, id int32) ([]byte, error)
	}); ok {
		return t.appendToken(nil, id)
	}
	text, err := t.Decode([]int32{id})
	return []byte(text), err
}
