package draw

import (
	"strings"

	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/results/plot"
	"github.com/introgen/introgen/results/sanitize"
	"github.com/introgen/introgen/system/terminal"
)

// Waterfall draws what followed what, a line for each lane: its label, its bars
// over time from 0 on, and what they add up to in milliseconds. No line is wider than width,
// unless that is less than 40.
func Waterfall(lanes []plot.Lane, width int, unicode bool) []string {
	width = max(width, 40)
	var kept []plot.Lane
	lo, hi := 0.0, 0.0
	label, time := 0, len("ms")
	for _, l := range lanes {
		from, to, ok := l.Extent()
		if !ok {
			continue
		}
		l.Label = strings.Repeat("  ", min(max(l.Depth, 0), 3)) + sanitize.Line(l.Label)
		kept = append(kept, l)
		lo, hi = min(lo, from), max(hi, to)
		label = max(label, terminal.Width(l.Label))
		time = max(time, len(figures.Text(l.Time(), 1)))
	}
	if len(kept) == 0 {
		return nil
	}
	label = min(label, width/3)
	columns := width - label - time - 4
	edge := pickRune(unicode, '│', '|')
	lines := make([]string, 0, len(kept)+1)
	for _, l := range kept {
		ms := figures.Text(l.Time(), 1)
		lines = append(lines, pad(cut(l.Label, label, unicode), label)+" "+string(edge)+cells(l, lo, hi, columns, unicode)+string(edge)+" "+strings.Repeat(" ", max(0, time-len(ms)))+ms)
	}
	first, last := figures.Text(lo, 0), figures.Text(hi, 0)+" ms"
	if len(first)+1+len(last) > columns {
		first = ""
	}
	return append(lines, strings.Repeat(" ", label+2)+first+strings.Repeat(" ", max(0, columns-len(first)-len(last)))+last)
}

func pickRune(is bool, a, b rune) rune {
	if is {
		return a
	}
	return b
}

// cells are the columns of a lane: each half of one is full where bars take at
// least half of it, and what takes less is a thin line.
func cells(l plot.Lane, lo, hi float64, columns int, unicode bool) string {
	covered := make([]float64, 2*columns)
	scale := 0.0
	if hi > lo {
		scale = float64(len(covered)) / (hi - lo)
	}
	for _, b := range l.Bars {
		if !b.Usable() {
			continue
		}
		from, to := (b.Start-lo)*scale, (b.End-lo)*scale
		first, last := min(int(from), len(covered)-1), min(int(to), len(covered)-1)
		for i := first; i <= last; i++ {
			part := min(to, float64(i+1)) - max(from, float64(i))
			if i == first || part > 0 {
				covered[i] += max(part, 1e-6) // what took any time is seen
			}
		}
	}
	signs := []rune(" +:+#+:+:")
	if unicode {
		signs = []rune(" ▐▕▌█▌▏▐▏")
	}
	var b strings.Builder
	for i := range columns {
		b.WriteRune(signs[3*half(covered[2*i])+half(covered[2*i+1])])
	}
	return b.String()
}

// half says how much of half a column is covered: none, 1 for at least half of it,
// or 2 for less.
func half(part float64) int {
	switch {
	case part >= 0.5:
		return 1
	case part > 0:
		return 2
	}
	return 0
}

// cut shortens a text to so many columns.
func cut(s string, width int, unicode bool) string {
	if terminal.Width(s) <= width {
		return s
	}
	dots := "…"
	if !unicode {
		dots = ".."
	}
	out, used := "", terminal.Width(dots)
	for _, r := range s {
		n := terminal.Width(string(r))
		if used+n > width {
			break
		}
		out, used = out+string(r), used+n
	}
	return out + dots
}

func pad(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-terminal.Width(s)))
}
