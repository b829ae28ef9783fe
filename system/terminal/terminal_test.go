package terminal

import (
	"strings"
	"testing"
)

func TestWidth(t *testing.T) {
	for text, want := range map[string]int{"": 0, "abc": 3, "±1 – 2 °C": 9, "…": 1, "漢字": 4, "e\u0301": 1} {
		if got := Width(text); got != want {
			t.Errorf("%q takes %d columns, want %d", text, got, want)
		}
	}
}

func TestFold(t *testing.T) {
	for _, c := range []struct{ text, first, next, want string }{
		{"one two three", "", "", "one two|three"},
		{"one two three", "- ", "    ", "- one two|    three"},
		{"  one  two ", "", "", "one two"},
		{"one-two-three four", "", "> ", "one-two-three|> four"},
		{"漢字 漢字 a", "", "", "漢字 漢字|a"},
		{"", "- ", "", "- "},
	} {
		if got := strings.Join(Fold(c.text, c.first, c.next, 9), "|"); got != c.want {
			t.Errorf("%q is broken to %q, want %q", c.text, got, c.want)
		}
	}
}
