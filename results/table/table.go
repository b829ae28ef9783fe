// Package table writes answers as tables and sentences, in the style that the
// reader wants: for a terminal, for Markdown, or for a program. It computes
// nothing.
//
// Texts are whole in every style but those of the terminal, and mean nothing to
// what reads them: neither to Markdown nor, in CSV, to a spreadsheet.
//
// A style for the terminal is at most as wide as its cells; who fills a table
// keeps it within 80 columns, by Column.Narrow where names may be long. Widths are those of a terminal that shows
// ambiguous characters (±, –) narrow, whatever the locale of the reader, so
// that the same recording always gives the same bytes.
package table

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/pkg/twwidth"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"

	"github.com/introgen/introgen/results/sanitize"
	"github.com/introgen/introgen/system/terminal"
)

// Style is how tables look.
type Style string

// The styles. Plain has no lines at all.
const (
	Plain    Style = "plain"
	Rounded  Style = "rounded"
	Box      Style = "box"
	ASCII    Style = "ascii"
	Markdown Style = "markdown"
	CSV      Style = "csv"
)

// Styles are all styles, the default first.
var Styles = []Style{Plain, Rounded, Box, ASCII, Markdown, CSV}

// ParseStyle takes a style's name.
func ParseStyle(name string) (Style, error) {
	if s := Style(name); slices.Contains(Styles, s) {
		return s, nil
	}
	names := make([]string, len(Styles))
	for i, s := range Styles {
		names[i] = string(s)
	}
	return "", fmt.Errorf("style %q is not known: %s are allowed", name, strings.Join(names, ", "))
}

// Column is a column and its heading.
type Column struct {
	Name string
	// Left says that the column's cells are words; else they are numbers and
	// stand to the right.
	Left bool
	// Parts are the columns that take this one's place in CSV, their names
	// following its own: "" for the name alone. None means the column itself.
	Parts []string
	// Joined says that the column belongs to the one before it, from which it
	// is not divided. Brief is what a terminal heads it with there, where that
	// says whose it is; "" is its name.
	Joined bool
	Brief  string
	// Drawn says that the column is a drawing of others, which CSV leaves out.
	Drawn bool
	// Narrow is how wide a terminal shows the column's heading, and its cells
	// where they are words: what is longer is shortened there, and nowhere else,
	// so that no two become one. 0 is as wide as they are. End is how much of
	// their ends is kept, 0 being half.
	Narrow, End int
}

// InPercent are the Parts of a column of shares.
var InPercent = []string{"%"}

// Cell is what stands in a table.
type Cell struct {
	Text string
	// Parts are the cell's values in CSV, one for each part of its column.
	// A cell without them has its text in the first part.
	Parts []string
}

// Text is a cell of a text.
func Text(s string) Cell { return Cell{Text: s} }

// Texts is a row of texts.
func Texts(s ...string) []Cell {
	row := make([]Cell, len(s))
	for i := range s {
		row[i].Text = s[i]
	}
	return row
}

// Table is a table. Rows that are shorter than the columns end in empty cells.
type Table struct {
	Title   string
	Columns []Column
	Rows    [][]Cell
	Footer  []Cell // a sum, set apart from the rows; nil for none
}

// Add appends a row.
func (t *Table) Add(cells ...Cell) { t.Rows = append(t.Rows, cells) }

// Write writes the table without its title.
func (t *Table) Write(w io.Writer, s Style) error {
	if s == CSV {
		return t.writeCSV(w)
	}
	return t.shown(s).render(w, s)
}

// render writes a table whose texts are as the style shows them.
func (t *Table) render(w io.Writer, s Style) error {
	twwidth.SetOptions(twwidth.Options{}) // as terminal.Width has it, not as the locale
	var b bytes.Buffer
	tab := tablewriter.NewTable(&b, tablewriter.WithRenderer(t.renderer(s)), tablewriter.WithConfig(t.config(s)))
	tab.Header(t.names())
	for _, r := range t.Rows {
		if err := tab.Append(t.texts(r)); err != nil {
			return err
		}
	}
	if t.Footer != nil {
		tab.Footer(t.texts(t.Footer))
	}
	if err := tab.Render(); err != nil {
		return err
	}
	for line := range strings.Lines(b.String()) {
		if _, err := io.WriteString(w, strings.TrimRight(line, " \n")+"\n"); err != nil {
			return err
		}
	}
	return nil
}

// widths are how wide the columns are on a terminal.
func (t *Table) widths() []int {
	out := make([]int, len(t.Columns))
	for i, c := range t.Columns {
		out[i] = terminal.Width(sanitize.Line(c.Name))
	}
	for _, r := range append(slices.Clip(t.Rows), t.Footer) {
		for i, c := range r {
			out[i] = max(out[i], terminal.Width(sanitize.Line(c.Text)))
		}
	}
	return out
}

// Room is how many columns of a terminal are left beside the table in the plain
// style, the space before a further column taken off.
func (t *Table) Room() int {
	used := 0
	for _, w := range t.widths() {
		used += w + 2
	}
	return Width - used
}

// divide makes several tables of one that is wider than a terminal: each has
// the first column, and as many of the others as fit, at least one, or one with
// those that are joined to it.
func (t *Table) divide(s Style) []*Table {
	if s == CSV || s == Markdown || len(t.Columns) < 3 {
		return []*Table{t}
	}
	between, around := 2, 0
	if s != Plain {
		between, around = 3, 4
	}
	widths := t.widths()
	var out []*Table
	for from := 1; from < len(widths); {
		used, to := around+widths[0], from
		for to < len(widths) {
			next, more := to+1, between+widths[to]
			for ; next < len(widths) && t.Columns[next].Joined; next++ {
				more += between + widths[next]
			}
			if to > from && used+more > Width {
				break
			}
			used, to = used+more, next
		}
		if from > 1 && to == from+1 && t.Columns[from].Drawn {
			break // a drawing alone says nothing
		}
		pick := func(row []Cell) []Cell {
			if row == nil {
				return nil
			}
			return append(slices.Clone(row[:1]), row[min(from, len(row)):min(to, len(row))]...)
		}
		part := &Table{Columns: append(slices.Clone(t.Columns[:1]), t.Columns[from:to]...), Footer: pick(t.Footer)}
		for _, r := range t.Rows {
			if len(r) > 0 {
				part.Rows = append(part.Rows, pick(r))
			}
		}
		out = append(out, part)
		from = to
	}
	out[0].Title = t.Title
	return out
}

func (t *Table) renderer(s Style) tw.Renderer {
	switch s {
	case Markdown:
		return renderer.NewMarkdown()
	case Rounded, Box, ASCII:
		style := map[Style]tw.BorderStyle{Rounded: tw.StyleRounded, Box: tw.StyleLight, ASCII: tw.StyleASCII}[s]
		return renderer.NewBlueprint(tw.Rendition{Symbols: tw.NewSymbols(style)})
	}
	return renderer.NewBlueprint(tw.Rendition{
		Borders: tw.BorderNone,
		Settings: tw.Settings{
			Separators: tw.Separators{BetweenColumns: tw.Off, BetweenRows: tw.Off},
			Lines:      tw.Lines{ShowHeaderLine: tw.Off, ShowFooterLine: tw.Off},
		},
	})
}

func (t *Table) config(s Style) tablewriter.Config {
	align := make([]tw.Align, len(t.Columns))
	for i, c := range t.Columns {
		if align[i] = tw.AlignRight; c.Left {
			align[i] = tw.AlignLeft
		}
	}
	// The plain style has two spaces between columns and none outside.
	padding := tw.CellPadding{Global: tw.Padding{Left: " ", Right: " ", Overwrite: true}}
	if s == Plain {
		padding = tw.CellPadding{Global: tw.Padding{Left: "", Right: "  ", Overwrite: true}}
	}
	cells := tw.CellConfig{
		Formatting: tw.CellFormatting{AutoFormat: tw.Off, AutoWrap: tw.WrapNone},
		Alignment:  tw.CellAlignment{PerColumn: align},
		Padding:    padding,
	}
	return tablewriter.Config{Header: cells, Row: cells, Footer: cells,
		Behavior: tw.Behavior{TrimSpace: tw.Off}}
}

func (t *Table) names() []string {
	out := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		out[i] = c.Name
	}
	return out
}

func (t *Table) texts(row []Cell) []string {
	out := make([]string, len(t.Columns))
	for i, c := range row {
		out[i] = c.Text
	}
	return out
}
