// Package terminal writes for people at a terminal: texts as wide as it shows
// them, and how far a long step is, which is one line rewritten in place there,
// plain lines in a log, or nothing.
package terminal

import (
	"io"
	"os"

	"github.com/clipperhouse/displaywidth"
	"golang.org/x/term"
)

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
