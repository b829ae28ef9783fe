package peer

import (
	"fmt"
	"strings"
)

// Table writes a Markdown table; the first column is text, the others numbers.
func Table(b *strings.Builder, header []string, rows [][]string) {
	line := func(cells []string) {
		fmt.Fprintf(b, "| %s |\n", strings.Join(cells, " | "))
	}
	line(header)
	rule := make([]string, len(header))
	for i := range rule {
		rule[i] = "---:"
	}
	rule[0] = "---"
	line(rule)
	for _, row := range rows {
		line(row)
	}
	b.WriteByte('\n')
}

// None stands in a cell that has no value.
const None = "–"

// Cell is a spread with so many decimals: its median and, in parentheses, its
// range.
func (s Spread) Cell(decimals int, unit string) string {
	if s.N == 0 {
		return None
	}
	f := func(v float64) string { return fmt.Sprintf("%.*f", decimals, v) }
	if s.N == 1 {
		return f(s.Mid) + unit
	}
	return fmt.Sprintf("%s%s (%s–%s)", f(s.Mid), unit, f(s.Min), f(s.Max))
}

// Times is a ratio: how many times as fast.
func (s Spread) Times() string { return s.Cell(2, "×") }

// Percent is a share of 1.
func (s Spread) Percent() string {
	s.Mid, s.Min, s.Max = 100*s.Mid, 100*s.Min, 100*s.Max
	return s.Cell(0, " %")
}
