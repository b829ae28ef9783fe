package tokenizer

import (
	"slices"
	"unicode/utf8"
)

// class is what the pre-tokenizers' patterns tell apart.
type class uint8

const (
	other  class = iota // [^\s\p{L}\p{N}]
	letter              // \p{L}
	number              // \p{N}
	space               // \s: the property White_Space
)

// runeRange is a run of code points, both ends included.
type runeRange struct{ lo, hi rune }

// spaces holds White_Space, which has not changed since Unicode 6.3.
var spaces = []runeRange{
	{0x9, 0xD}, {0x20, 0x20}, {0x85, 0x85}, {0xA0, 0xA0}, {0x1680, 0x1680}, {0x2000, 0x200A},
	{0x2028, 0x2029}, {0x202F, 0x202F}, {0x205F, 0x205F}, {0x3000, 0x3000},
}

// asciiClasses answers for most text without a search.
var asciiClasses = func() (c [utf8.RuneSelf]class) {
	for r := range c {
		c[r] = searchClass(rune(r))
	}
	return c
}()

func searchClass(r rune) class {
	switch {
	case contains(letters16, r):
		return letter
	case contains(numbers16, r):
		return number
	case contains(spaces, r):
		return space
	}
	return other
}

// contains reports whether r lies in one of the sorted ranges.
func contains(ranges []runeRange, r rune) bool {
	_, ok := slices.BinarySearchFunc(ranges, r, func(a runeRange, r rune) int {
		switch {
		case a.hi < r:
			return -1
		case a.lo > r:
			return 1
		}
		return 0
	})
	return ok
}

// classAt returns the class and the length of the first character of s, and 0
// when s is empty.
func classAt(s string) (c class, n int) {
	if s == "" {
		return other, 0
	}
	if s[0] < utf8.RuneSelf {
		return asciiClasses[s[0]], 1
	}
	r, n := utf8.DecodeRuneInString(s)
	return searchClass(r), n
}

// runOf returns the length of the characters of class c that s starts with.
func runOf(s string, c class) int {
	i := 0
	for i < len(s) {
		k, n := classAt(s[i:])
		if k != c {
			break
		}
		i += n
	}
	return i
}
