package draw

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/introgen/introgen/results/plot"
)

// Histogram draws how many of the values lie where, a line for each bin: where it
// begins and ends, a bar, and how many. text writes a value; it is given no values
// that are no numbers.
func Histogram(values []float64, text func(float64) string, width int, unicode bool) []string {
	kept := slices.DeleteFunc(slices.Clone(values), func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) })
	if len(kept) == 0 {
		return nil
	}
	bins := plot.Bins(kept, 16)
	most, from, to, count := 0, 0, 0, 0
	for _, b := range bins {
		most = max(most, b.Count)
		from, to = max(from, len(text(b.From))), max(to, len(text(b.To)))
	}
	count = len(strconv.Itoa(most))
	columns := max(8, width-from-to-count-8)
	var lines []string
	for _, b := range bins {
		lines = append(lines, right(text(b.From), from)+" to "+right(text(b.To), to)+"  "+right(strconv.Itoa(b.Count), count)+"  "+bar(float64(b.Count), float64(most), columns, unicode))
	}
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " ")
	}
	return lines
}

func right(s string, width int) string { return strings.Repeat(" ", max(0, width-len(s))) + s }
