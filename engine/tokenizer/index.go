package tokenizer

import (
	"errors"
	"fmt"
	"hash/maphash"
	"math"
	"math/bits"
	"strings"
	"unicode/utf8"
)

// index is a list of distinct strings that are found by number and by text. It
// copies them, since the file that they come from may be closed, into a handful
// of blocks instead of one a string: it is built anew in every process.
type index struct {
	text    string   // the strings, one after another
	ends    []uint32 // string i ends at text[ends[i]]
	longest int      // bytes of the longest string
	seed    maphash.Seed
	// slots is a hash table with open addressing. A slot that is not 0 holds a
	// string's number plus 1 in its low bits, those of number, and bits of the
	// hash in the others, which save most comparisons of texts.
	slots  []uint32
	number uint32
}

// newIndex copies a list. Strings that are not UTF-8 and equal strings are
// errors. Empty strings, which some files have as fillers, are not found by
// their text and may be several.
func newIndex(l list) (*index, error) {
	if l.n > math.MaxInt32-1 {
		return nil, fmt.Errorf("has %d elements; at most %d are supported", l.n, math.MaxInt32-1)
	}
	x := &index{
		ends:   make([]uint32, l.n),
		seed:   maphash.MakeSeed(),
		slots:  make([]uint32, 1<<bits.Len(uint(2*l.n))), // at most half full
		number: 1<<bits.Len(uint(l.n)) - 1,
	}
	var text strings.Builder
	text.Grow(10 * l.n) // tokens and merges have 7 to 9 bytes in the mean
	split := false      // a string starts inside a character
	for i, s := range l.all {
		split = split || s != "" && !utf8.RuneStart(s[0])
		if uint64(text.Len())+uint64(len(s)) > math.MaxUint32 {
			return nil, errors.New("has more than 4 GiB of text")
		}
		text.WriteString(s)
		x.ends[i] = uint32(text.Len())
		x.longest = max(x.longest, len(s))
	}
	x.text = text.String()
	if split || !utf8.ValidString(x.text) {
		return nil, x.notUTF8()
	}
	for i := range x.ends {
		if err := x.insert(int32(i)); err != nil {
			return nil, err
		}
	}
	return x, nil
}

// notUTF8 names the first string that is not UTF-8.
func (x *index) notUTF8() error {
	for i := range x.ends {
		if s := x.at(int32(i)); !utf8.ValidString(s) {
			return fmt.Errorf("element %d, %q, is not UTF-8", i, s)
		}
	}
	return errors.New("is not UTF-8")
}

// insert enters string i into the hash table.
func (x *index) insert(i int32) error {
	s := x.at(i)
	if s == "" {
		return nil
	}
	h := maphash.String(x.seed, s)
	slot, same := x.probe(h, s)
	if same >= 0 {
		return fmt.Errorf("elements %d and %d are both %q", same, i, s)
	}
	x.slots[slot] = uint32(h>>32)&^x.number | uint32(i+1)
	return nil
}

// probe returns the number of the string s with hash h, or -1 and the slot
// where it belongs.
func (x *index) probe(h uint64, s string) (slot int, i int32) {
	tag := uint32(h>>32) &^ x.number
	mask := len(x.slots) - 1
	for slot = int(h) & mask; ; slot = (slot + 1) & mask {
		e := x.slots[slot]
		if e == 0 {
			return slot, -1
		}
		if e&^x.number == tag {
			if i = int32(e&x.number) - 1; x.at(i) == s {
				return slot, i
			}
		}
	}
}

// find returns the number of the string s, or -1.
func (x *index) find(s string) int32 {
	if len(s) > x.longest {
		return -1
	}
	_, i := x.probe(maphash.String(x.seed, s), s)
	return i
}

// len returns the number of strings.
func (x *index) len() int { return len(x.ends) }

// at returns string i.
func (x *index) at(i int32) string {
	start := uint32(0)
	if i > 0 {
		start = x.ends[i-1]
	}
	return x.text[start:x.ends[i]]
}
