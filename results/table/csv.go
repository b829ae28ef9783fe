package table

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/introgen/introgen/results/sanitize"
)

// writeCSV writes a line of headings and one for each row.
func (t *Table) writeCSV(w io.Writer) error {
	c := csv.NewWriter(w)
	var head []string
	names := distinct(t.names())
	for i, col := range t.Columns {
		if len(col.Parts) == 0 && !col.Drawn {
			head = append(head, sanitize.Field(names[i]))
		}
		for _, p := range col.Parts {
			head = append(head, sanitize.Field(strings.TrimSpace(names[i]+" "+sanitize.Line(p))))
		}
	}
	number(head)
	lines := append([][]string{head}, make([][]string, len(t.Rows), len(t.Rows)+1)...)
	rows := t.Rows
	if t.Footer != nil {
		rows, lines = append(slices.Clip(rows), t.Footer), append(lines, nil)
	}
	for i, col := range t.Columns {
		if col.Drawn {
			continue
		}
		for p := range max(1, len(col.Parts)) {
			column := make([]string, len(rows))
			for k, r := range rows {
				column[k] = part(r, i, p)
			}
			for k, text := range distinct(column) {
				lines[1+k] = append(lines[1+k], sanitize.Field(text))
			}
		}
	}
	return c.WriteAll(lines)
}

// number makes headings that are one with one before them differ from it: a
// program finds a column by its heading.
func number(head []string) {
	seen := map[string]bool{}
	for i, name := range head {
		for n := 2; seen[head[i]]; n++ {
			head[i] = fmt.Sprintf("%s (%d)", name, n)
		}
		seen[head[i]] = true
	}
}

// part is value p of a row's cell i, or "". A cell without parts has its text in
// the first, without what sets it in.
func part(row []Cell, i, p int) string {
	switch {
	case i >= len(row):
	case p < len(row[i].Parts):
		return row[i].Parts[p]
	case p == 0 && row[i].Parts == nil:
		return strings.TrimSpace(row[i].Text)
	}
	return ""
}
