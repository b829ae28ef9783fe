package table

import (
	"testing"
	"unicode"

	"github.com/olekukonko/tablewriter/pkg/twwidth"

	"github.com/introgen/introgen/system/terminal"
)

// TestWidth: columns are aligned by the widths that names are shortened by.
func TestWidth(t *testing.T) {
	twwidth.SetOptions(twwidth.Options{})
	for r := range unicode.MaxRune + 1 {
		if !unicode.IsGraphic(r) {
			continue // it is not printed
		}
		if text := string(r); terminal.Width(text) != twwidth.WidthNoCache(text) {
			t.Errorf("%q takes %d columns, and %d in a table", r, terminal.Width(text), twwidth.WidthNoCache(text))
		}
	}
}
