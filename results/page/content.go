package page

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/introgen/introgen/results/sanitize"
	"github.com/introgen/introgen/results/table"
)

// What a page is made of. The template writes each as HTML.

// section is a part of the page with a heading, one panel for each recording that
// has something to show there.
type section struct {
	ID, Title string
	Panels    []panel
}

// Beside says whether the panels of several recordings stand side by side.
func (s section) Beside() bool { return len(s.Panels) > 1 }

// Scales says whether drawings stand side by side, of which each has a scale of its
// own.
func (s section) Scales() bool {
	drawn := 0
	for _, p := range s.Panels {
		if slices.ContainsFunc(p.Blocks, func(b block) bool { return b.Figure != nil }) {
			drawn++
		}
	}
	return drawn > 1
}

// panel is what a section has of one recording.
type panel struct {
	Name   string // of the recording; "" where the page has one
	Blocks []block
}

// block is one of its fields.
type block struct {
	Text      string
	Lead      string // a sentence that stands out
	List      []string
	Figure    *figure
	Table     *grid
	Details   *details
	Facts     []fact
	Downloads []download
}

// details are what a reader opens.
type details struct {
	Summary string
	Blocks  []block
}

// fact is a name and what it stands for.
type fact struct{ Name, Value string }

// grid is a table.
type grid struct {
	Caption string
	Head    []heading
	Rows    [][]string
	Foot    []string
}

// heading is that of a column; Left says that the column's cells are words.
type heading struct {
	Name string
	Left bool
}

// mostRows is how many rows of a table a page shows.
const mostRows = 2500

// Shown are the first rows, and More how many are left out.
func (g grid) Shown() [][]string { return g.Rows[:min(len(g.Rows), mostRows)] }
func (g grid) More() int         { return max(0, len(g.Rows)-mostRows) }

// cell is one of a row, as the template writes it: the first heads the row.
type cell struct {
	Text        string
	First, Left bool
}

// Cells are those of a row. One that ends early is filled, so that rows are of one
// length.
func (g grid) Cells(row []string) []cell {
	out := make([]cell, len(g.Head))
	for i, h := range g.Head {
		if i < len(row) {
			out[i].Text = row[i]
		}
		out[i].First, out[i].Left = i == 0 && out[i].Text != "", h.Left
	}
	return out
}

// words and numbers are headings of columns of either.
func words(names ...string) []heading   { return headings(true, names) }
func numbers(names ...string) []heading { return headings(false, names) }

func headings(left bool, names []string) []heading {
	out := make([]heading, len(names))
	for i, n := range names {
		out[i] = heading{n, left}
	}
	return out
}

// longest is how many characters of a name are shown, and longestText of a sentence,
// which may hold several.
const longest, longestText = 200, 2000

// clean is a name out of a recording as the page shows it.
func clean(s string) string { return line(s, longest) }

// line is a text as a part of a line of at most so many characters, however long it
// is.
func line(s string, most int) string {
	if enough := utf8.UTFMax * (most + 1); len(s) > enough {
		s = s[:enough]
	}
	return cut(sanitize.Line(s), most)
}

// cut shortens a text to so many characters, its begin.
func cut(s string, most int) string {
	if len(s) <= most || utf8.RuneCountInString(s) <= most {
		return s
	}
	n := 0
	for i := range s {
		if n == most-1 {
			return s[:i] + "…"
		}
		n++
	}
	return s
}

// sentence is a text of the project's own that may hold names.
func sentence(s string) string {
	s = line(strings.TrimSpace(s), longestText)
	if s == "" || strings.HasSuffix(s, ".") || strings.HasSuffix(s, ":") || strings.HasSuffix(s, "…") {
		return s
	}
	return s + "."
}

// blocksOf are the paragraphs and tables of a document.
func blocksOf(d *table.Document) []block {
	var out []block
	d.Each(func(text string) {
		var lines []string
		for one := range strings.Lines(text) {
			if one = line(strings.TrimSpace(one), longestText); one != "" {
				lines = append(lines, one)
			}
		}
		for _, one := range lines {
			out = append(out, block{Text: one})
		}
	}, func(t *table.Table) {
		g := gridOf(t)
		out = append(out, block{Table: &g})
	})
	return out
}

// gridOf is a table of the command line, without what is only drawn in it.
func gridOf(t *table.Table) grid {
	g := grid{Caption: line(t.Title, longestText)}
	var shown []int
	for i, c := range t.Columns {
		if !c.Drawn {
			shown = append(shown, i)
			g.Head = append(g.Head, heading{clean(c.Name), c.Left})
		}
	}
	row := func(cells []table.Cell) []string {
		out := make([]string, len(shown))
		for k, i := range shown {
			if i < len(cells) {
				out[k] = clean(cells[i].Text)
			}
		}
		return out
	}
	for _, r := range t.Rows {
		g.Rows = append(g.Rows, row(r))
	}
	if t.Footer != nil {
		g.Foot = row(t.Footer)
	}
	return g
}
