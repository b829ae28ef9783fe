package samples

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/results/metrics"
	"github.com/introgen/introgen/results/stats"
	"github.com/introgen/introgen/results/table"
)

// Parts are the columns that a summary takes in CSV: the median, and between
// what it lies with 95 %. TimeParts are the same with the unit of a time.
var (
	Parts     = []string{"", "lo", "hi", "n"}
	TimeParts = []string{"ms", "lo ms", "hi ms", "n"}
)

// Exact is a time in milliseconds with all its digits, as CSV has it.
func Exact(ns float64) string { return figures.Exact(ns / 1e6) }

// Cell is a summary of times as "4111.2 ±2 %", in milliseconds; "±?" where there
// are too few runs for an interval, "12.0 (8.1–90.3)" where the interval reaches
// further than the median is long, and nothing where there are none.
func Cell(s stats.Summary) table.Cell {
	return cell(s, func(v float64) string { return figures.Milliseconds(time.Duration(math.Round(v))) }, Exact)
}

// RateCell is the same of numbers a second.
func RateCell(s stats.Summary) table.Cell {
	return cell(s, func(v float64) string { return figures.Text(v, 1) }, figures.Exact)
}

// CellOf is a summary of the metric.
func CellOf(m metrics.Metric, s stats.Summary) table.Cell {
	switch {
	case m.Rate:
		return RateCell(s)
	case m.Kind == metrics.Count:
		c := cell(s, figures.Count, figures.Exact)
		if s.N > 0 && s.Lo == s.Hi { // counted, and the same each time
			c.Text = figures.Count(s.Median)
		}
		return c
	case m.Kind == metrics.Bytes:
		return cell(s, func(v float64) string { return figures.Text(v/1e6, 1) }, Exact)
	}
	return Cell(s)
}

// Single is one value of the metric.
func Single(m metrics.Metric, v float64) table.Cell {
	switch {
	case m.Rate:
		return table.Cell{Text: figures.Text(v, 1), Parts: []string{figures.Exact(v)}}
	case m.Kind == metrics.Count:
		return table.Cell{Text: figures.Count(v), Parts: []string{figures.Exact(v)}}
	case m.Kind == metrics.Bytes:
		return table.Cell{Text: figures.Text(v/1e6, 1), Parts: []string{Exact(v)}}
	}
	return table.Cell{Text: figures.Milliseconds(time.Duration(math.Round(v))), Parts: []string{Exact(v)}}
}

// cell shows numbers with number, in CSV with exact.
func cell(s stats.Summary, number, exact func(float64) string) table.Cell {
	if s.N == 0 {
		return table.Cell{Parts: []string{}}
	}
	n := strconv.Itoa(s.N)
	if !s.Decidable {
		return table.Cell{Text: number(s.Median) + " ±?", Parts: []string{exact(s.Median), "", "", n}}
	}
	within := " ±" + figures.Percent(s.Spread())
	if s.Spread() > 1 {
		within = " (" + number(s.Lo) + "–" + number(s.Hi) + ")"
	}
	return table.Cell{Text: number(s.Median) + within, Parts: []string{exact(s.Median), exact(s.Lo), exact(s.Hi), n}}
}

// RatioParts are the columns that a ratio takes in CSV.
var RatioParts = []string{"", "lo", "hi", "p"}

// RatioCell is a ratio with its interval, as "0.31× [0.30, 0.33]".
func RatioCell(r stats.Ratio) table.Cell {
	if r.N == 0 || r.Ratio == 0 {
		return table.Cell{Parts: []string{}}
	}
	if !r.Decidable {
		return table.Cell{Text: Times(r.Ratio) + "× ±?", Parts: []string{figures.Exact(r.Ratio)}}
	}
	return table.Cell{
		Text:  fmt.Sprintf("%s× [%s, %s]", Times(r.Ratio), Times(r.Lo), Times(r.Hi)),
		Parts: []string{figures.Exact(r.Ratio), figures.Exact(r.Lo), figures.Exact(r.Hi), figures.Exact(r.P)},
	}
}

// PCell is the probability that chance alone makes such a ratio.
func PCell(r stats.Ratio) table.Cell {
	if !r.Decidable {
		return table.Cell{}
	}
	return table.Text(figures.Text(r.P, 3))
}

// Times prints a ratio with three digits that count.
func Times(v float64) string { return figures.Text(v, 0) }
