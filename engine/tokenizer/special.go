package tokenizer

import (
	"fmt"
	"slices"
	"strings"
)

// maxSpecial is the length in bytes up to which special tokens are accepted.
// The longest in use have some tens; the bound keeps the search linear in the
// text whatever a file says.
const maxSpecial = 256

// specials finds special tokens in text.
type specials struct {
	tokens []special // sorted by text
	first  [256]bool // the bytes that tokens start with
}

type special struct {
	text string
	id   int32
}

// newSpecials takes the ids of those tokens that are special, and how they stand in
// texts. Empty ones are never found.
func newSpecials(ids []int32, textOf func(id int32) string) (*specials, error) {
	s := &specials{}
	for _, id := range ids {
		t := textOf(id)
		if t == "" {
			continue
		}
		if len(t) > maxSpecial {
			return nil, fmt.Errorf("%s: special token %d has %d bytes; at most %d are supported", keyTokens, id, len(t), maxSpecial)
		}
		s.tokens = append(s.tokens, special{t, id})
		s.first[t[0]] = true
	}
	slices.SortFunc(s.tokens, func(a, b special) int { return strings.Compare(a.text, b.text) })
	return s, nil
}

// next returns where the first special token in text stands, the longest if
// several start there; id is -1 when there is none.
func (s *specials) next(text string) (start, end int, id int32) {
	for i := range len(text) {
		if !s.first[text[i]] {
			continue
		}
		if n, id := s.at(text[i:]); n > 0 {
			return i, i + n, id
		}
	}
	return len(text), len(text), -1
}

// at returns length and id of the longest special token that text starts with.
// It narrows the sorted tokens to those that agree with text, byte by byte.
func (s *specials) at(text string) (n int, id int32) {
	rest := s.tokens
	for i := 0; i < len(text) && len(rest) > 0; i++ {
		lo, _ := slices.BinarySearchFunc(rest, text[i], func(t special, b byte) int { return int(t.text[i]) - int(b) })
		rest = rest[lo:]
		hi, _ := slices.BinarySearchFunc(rest, int(text[i])+1, func(t special, b int) int { return int(t.text[i]) - b })
		rest = rest[:hi]
		// A token that ends here sorts before those that go on.
		if len(rest) > 0 && len(rest[0].text) == i+1 {
			n, id = i+1, rest[0].id
			rest = rest[1:]
		}
	}
	return n, id
}
