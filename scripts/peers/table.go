package main

import (
	"fmt"
	"strings"
)

// table writes a Markdown table; the first column is text, the others numbers.
func table(b *strings.Builder, header []string, rows [][]string) {
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

// none stands in a cell that has no value.
const none = "–"

// cell is a spread with so many decimals: its median and, in parentheses, its
// range.
func (s Spread) cell(decimals int, unit string) string {
	if s.N == 0 {
		return none
	}
	f := func(v float64) string { return fmt.Sprintf("%.*f", decimals, v) }
	if s.N == 1 {
		return f(s.Mid) + unit
	}
	return fmt.Sprintf("%s%s (%s–%s)", f(s.Mid), unit, f(s.Min), f(s.Max))
}

// times is a ratio: how many times as fast.
func (s Spread) times() string { return s.cell(2, "×") }

// percent is a share of 1.
func (s Spread) percent() string {
	s.Mid, s.Min, s.Max = 100*s.Mid, 100*s.Min, 100*s.Max
	return s.cell(0, " %")
}
