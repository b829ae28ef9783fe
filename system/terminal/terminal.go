// Package terminal writes for people at a terminal: texts as wide as it shows
// them, and how far a long step is, which is one line rewritten in place there,
// plain lines in a log, or nothing.
package terminal

import (
	"io"
	"os"
	"strings"

	"github.com/clipperhouse/displaywidth"
	"golang.org/x/term"
)

// Columns is how wide texts become that are broken for a terminal.
const Columns = 80

// Is says whether w is a terminal.
func Is(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Width is how many columns a text takes on a terminal that shows ambiguous
// characters (±, –) narrow, whatever the locale: so the same text is always as
// wide. Characters are taken one by one, as package tablewriter takes them when it
// aligns columns.
func Width(text string) int {
	columns := 0
	for _, r := range text {
		columns += displaywidth.Rune(r)
	}
	return columns
}

// Fold breaks text at its spaces into lines, of which the first begins with first
// and the others with next. None is wider than columns, unless a word is.
func Fold(text, first, next string, columns int) []string {
	lines := []string{first}
	used, begun := Width(first), false
	for word := range strings.FieldsSeq(text) {
		n := Width(word)
		last := &lines[len(lines)-1]
		switch {
		case !begun:
			*last += word
			used += n
		case used+1+n <= columns:
			*last += " " + word
			used += 1 + n
		default:
			lines = append(lines, next+word)
			used = Width(next) + n
		}
		begun = true
	}
	return lines
}
