package table_test

import (
	"strings"
	"testing"

	"github.com/introgen/introgen/results/table"
)

// TestDraw: a drawing is as the reader's terminal has characters, stands apart, is
// code in Markdown whatever it holds, and no part of CSV.
func TestDraw(t *testing.T) {
	doc := func() *table.Document {
		d := &table.Document{}
		d.Say("before")
		d.Draw("the *run*", func(unicode bool) []string {
			if unicode {
				return []string{"a │█ │", "  ```"}
			}
			return []string{"a |# |"}
		})
		d.Say("behind")
		d.Draw("nothing", func(bool) []string { return nil })
		return d
	}
	for _, c := range []struct {
		style table.Style
		ascii bool
		want  string
	}{
		{table.Plain, false, "before\n\nthe *run*\na │█ │\n  ```\nbehind\n"},
		{table.Plain, true, "before\n\nthe *run*\na |# |\nbehind\n"},
		{table.ASCII, false, "before\n\nthe *run*\na |# |\nbehind\n"},
		{table.Markdown, false, "before\n\n**the \\*run\\***\n\n````\na │█ │\n  ```\n````\n\nbehind\n"},
		{table.CSV, false, "# before\n# behind\n"},
	} {
		d := doc()
		d.ASCII = c.ascii
		var b strings.Builder
		if err := d.Write(&b, c.style); err != nil {
			t.Fatal(err)
		}
		if b.String() != c.want {
			t.Errorf("%s, ASCII %v: got\n%s\nwant\n%s", c.style, c.ascii, b.String(), c.want)
		}
	}
	said := 0
	doc().Each(func(string) { said++ }, func(*table.Table) { t.Error("a drawing is no table") })
	if said != 2 {
		t.Errorf("%d paragraphs, want 2", said)
	}
}
