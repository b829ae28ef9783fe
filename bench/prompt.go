package bench

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/introgen/introgen/engine/tokenizer"
)

// DefaultPrompt is what the experiment asked.
const DefaultPrompt = "What is Rust?"

// EncodePrompt turns a prompt's text into ids, and adds the tokens that the model's
// file wants around a text where they are not there yet. Text that is empty or is
// not UTF-8 is an error.
func EncodePrompt(t tokenizer.Tokenizer, a tokenizer.Additions, text string) ([]int32, error) {
	if text == "" {
		return nil, errors.New("the prompt is empty: at least one token is needed to begin with")
	}
	if err := CheckUTF8(text); err != nil {
		return nil, err
	}
	ids, err := t.Encode(text)
	if err != nil {
		return nil, err
	}
	return a.Around(ids), nil
}

// CheckUTF8 names the first byte of a prompt that is not UTF-8. It is meant for
// the text that the user gave: in a template, offsets are others.
func CheckUTF8(text string) error {
	for at := range text {
		if r, n := utf8.DecodeRuneInString(text[at:]); r == utf8.RuneError && n == 1 {
			return fmt.Errorf("the prompt is not UTF-8: byte %#02x at offset %d", text[at], at)
		}
	}
	return nil
}

// Lengthened repeats ids, or cuts them, until there are n: what such a prompt costs is
// that of any of its length.
func Lengthened(ids []int32, n int) []int32 {
	if len(ids) == 0 {
		return nil
	}
	out := make([]int32, n)
	for i := range out {
		out[i] = ids[i%len(ids)]
	}
	return out
}

// ParseIDs reads token ids separated by blanks or commas, each in
// [0, vocabulary).
func ParseIDs(s string, vocabulary int) ([]int32, error) {
	if strings.TrimSpace(s) == "" {
		return nil, errors.New("the list of prompt ids is empty: give at least one, such as 1,4093,198")
	}
	var words []string
	for part := range strings.SplitSeq(s, ",") {
		if fields := strings.Fields(part); len(fields) > 0 {
			words = append(words, fields...)
		} else {
			words = append(words, "") // between two commas: an id was forgotten
		}
	}
	ids := make([]int32, len(words))
	for i, w := range words {
		v, err := strconv.ParseInt(w, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("prompt id %d is %q: a whole number from 0 to %d is wanted", i+1, w, vocabulary-1)
		}
		if v < 0 || v >= int64(vocabulary) {
			return nil, fmt.Errorf("prompt id %d is %d: outside the vocabulary, which has 0 to %d", i+1, v, vocabulary-1)
		}
		ids[i] = int32(v)
	}
	return ids, nil
}
