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
	// slots is a hash table with open addressing. The low bits of a string's hash,
	// those of mask, say where it belongs. A slot that is not 0 holds the string's
	// number plus 1 in its low bits and the hash in the others, which save most
	// comparisons of texts.
	slots []uint32
	mask  uint32
}

// newIndex copies a list. Strings that are not UTF-8 and equal strings are
// errors. Empty strings, which some files have as fillers, are not found by
// their text and may be several.
func newIndex(l list) (*index, error) {
	if l.n > math.MaxInt32-1 {
		return nil, fmt.Errorf("has %d elements; at most %d are supported", l.n, math.MaxInt32-1)
	}
	size := 1 << bits.Len(uint(max(2*l.n, 2)-1)) // at most half full
	x := &index{
		ends:  make([]uint32, l.n),
		seed:  maphash.MakeSeed(),
		slots: make([]uint32, size),
		mask:  uint32(size - 1),
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
	// Beside the table: what is in many scripts takes a third of the time.
	valid := make(chan bool, 1)
	go func() { valid <- !split && utf8.ValidString(x.text) }()
	err := x.insertAll()
	if !<-valid {
		return nil, x.notUTF8()
	}
	if err != nil {
		return nil, err
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

// regionBits says into how many regions insertAll divides the table: those of
// vocabularies in use fit into a core's cache then.
const regionBits = 6

// insertAll enters all strings into the hash table, region by region: in the order of
// the strings nearly every one would wait for memory.
func (x *index) insertAll() error {
	hashes := make([]uint32, len(x.ends))
	var starts [1<<regionBits + 1]uint32
	shift := max(bits.Len32(x.mask)-regionBits, 0)
	for i := range hashes {
		h := x.hash(x.at(int32(i)))
		hashes[i] = h
		starts[h&x.mask>>shift+1]++
	}
	for r := range 1 << regionBits {
		starts[r+1] += starts[r]
	}
	order := make([]int32, len(hashes))
	for i, h := range hashes {
		r := h & x.mask >> shift
		order[starts[r]] = int32(i)
		starts[r]++
	}
	for _, i := range order {
		s := x.at(i)
		if s == "" {
			continue
		}
		h := hashes[i]
		slot, same := x.probe(h, s)
		if same >= 0 {
			return fmt.Errorf("elements %d and %d are both %q", same, i, s)
		}
		x.slots[slot] = h&^x.mask | uint32(i+1)
	}
	return nil
}

func (x *index) hash(s string) uint32 { return uint32(maphash.String(x.seed, s)) }

// probe returns the number of the string s with hash h, or -1 and the slot
// where it belongs.
func (x *index) probe(h uint32, s string) (slot uint32, i int32) {
	for at := h & x.mask; ; at = (at + 1) & x.mask {
		e := x.slots[at]
		if e == 0 {
			return at, -1
		}
		if (e^h)&^x.mask == 0 {
			if i = int32(e&x.mask) - 1; x.at(i) == s {
				return at, i
			}
		}
	}
}

// find returns the number of the string s, or -1.
func (x *index) find(s string) int32 {
	if len(s) > x.longest {
		return -1
	}
	_, i := x.probe(x.hash(s), s)
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
