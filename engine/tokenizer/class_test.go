package tokenizer

import (
	"testing"
	"unicode"
)

// TestClassCounts holds the tables against the numbers of code points that
// Oniguruma 6.9.10 (Unicode 16) matches with \p{L}, \p{N} and \s.
func TestClassCounts(t *testing.T) {
	var got [4]int
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if r < 0xD800 || r > 0xDFFF {
			got[searchClass(r)]++
		}
	}
	for c, want := range map[class]int{letter: 141028, number: 1911, space: 25} {
		if got[c] != want {
			t.Errorf("class %d has %d code points, want %d", c, got[c], want)
		}
	}
}

// TestSidesAgainstGo compares the letters by their case with package unicode, of an
// older version, where that knows the code point.
func TestSidesAgainstGo(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		want := 0
		switch {
		case unicode.Is(unicode.Ll, r):
			want = back
		case unicode.In(r, unicode.Lu, unicode.Lt):
			want = front
		case unicode.In(r, unicode.Lm, unicode.Lo, unicode.M):
			want = front | back
		}
		got, _ := sidesAt(string(r))
		if known := unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Z, unicode.Cc, unicode.Cf); known && got != want {
			t.Errorf("%U has the sides %b, want %b", r, got, want)
		}
	}
}

// TestClassesAgainstGo compares with package unicode, of an older or a newer
// version, where both know the code point.
func TestClassesAgainstGo(t *testing.T) {
	differ := 0
	for r := rune(0); r <= unicode.MaxRune; r++ {
		want := other
		switch {
		case unicode.IsLetter(r):
			want = letter
		case unicode.IsNumber(r):
			want = number
		case unicode.Is(unicode.White_Space, r):
			want = space
		}
		if got := searchClass(r); got != want {
			differ++
			if got != other && want != other {
				t.Errorf("%U is of class %d, package unicode has %d", r, got, want)
			}
		}
	}
	// Unicode 15, which Go 1.26 has, lacks 5,004 of these letters and numbers.
	if unicode.Version == "15.0.0" && differ != 4924+80 {
		t.Errorf("%d code points differ, want 5004", differ)
	}
}
