package table

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/introgen/introgen/results/sanitize"
	"github.com/introgen/introgen/system/terminal"
)

// shown is the table as the style shows its texts: harmless everywhere, what
// means something in Markdown escaped, and long names shortened where the style
// is a terminal's, which is as wide as it is. Names that differ still do.
func (t *Table) shown(s Style) *Table {
	out := &Table{Title: t.Title, Columns: slices.Clone(t.Columns)}
	names := distinct(t.names())
	rows := append(slices.Clip(t.Rows), t.Footer)
	cells := make([][]Cell, len(rows))
	for k, r := range rows {
		cells[k] = slices.Clone(r)
	}
	for i, c := range t.Columns {
		var column []string
		for _, r := range rows {
			column = append(column, textOf(r, i))
		}
		if column = distinct(column); s != Markdown && c.Left {
			column = apart(column, slices.Repeat([]cut{{c.Narrow, c.End}}, len(column)))
		}
		for k := range cells {
			if i < len(cells[k]) {
				cells[k][i].Text = column[k]
			}
		}
	}
	if s == Markdown {
		for i := range names {
			names[i] = escaped(names[i])
		}
		for _, r := range cells {
			for i := range r {
				r[i].Text = escaped(r[i].Text)
			}
		}
	} else {
		cuts := make([]cut, len(t.Columns))
		for i, c := range t.Columns {
			cuts[i] = cut{c.Narrow, c.End}
		}
		names = apart(names, cuts)
		for i, c := range t.Columns {
			if c.Brief != "" {
				names[i] = c.Brief
			}
		}
	}
	for i := range out.Columns {
		out.Columns[i].Name = names[i]
	}
	out.Rows = cells[:len(t.Rows)]
	if t.Footer != nil {
		out.Footer = cells[len(t.Rows)]
	}
	return out
}

func textOf(row []Cell, i int) string {
	if i < len(row) {
		return row[i].Text
	}
	return ""
}

// distinct makes texts parts of a line. Where two that differ would look alike,
// since what cannot be shown is what they differ in, all of them are written
// with escapes, as Go quotes a string.
func distinct(texts []string) []string {
	out, from, alike := make([]string, len(texts)), map[string]string{}, false
	for i, s := range texts {
		out[i] = sanitize.Line(s)
		before, ok := from[out[i]]
		alike = alike || ok && before != s
		from[out[i]] = s
	}
	if alike {
		for i, s := range texts {
			quoted := strconv.QuoteToGraphic(s)
			out[i] = quoted[1 : len(quoted)-1]
		}
	}
	return out
}

// cut is how wide a name may be, and how much of its end is kept, as Column has
// them.
type cut struct{ width, end int }

// keeps says whether a name is not cut.
func (c cut) keeps(s string) bool { return c.width == 0 || terminal.Width(s) <= c.width }

// apart shortens each name that is too wide: to its beginning and its end, or
// where that makes two names one, to the places where they differ. What differs
// in more places than there is room for is numbered.
func apart(names []string, cuts []cut) []string {
	out := make([]string, len(names))
	for i, s := range names {
		out[i] = cuts[i].ends(s)
	}
	for _, same := range collisions(names, out) {
		var among []string
		for _, i := range same {
			among = append(among, names[i])
		}
		at := differ(among)
		for _, i := range same {
			out[i] = cuts[i].places(names[i], at)
		}
	}
	for n := 0; ; { // no number is given to two names, so this ends
		left := collisions(names, out)
		if len(left) == 0 {
			return out
		}
		tails := map[string]string{}
		for _, i := range slices.Concat(left...) {
			if cuts[i].keeps(names[i]) {
				continue // it is whole
			}
			if tails[names[i]] == "" {
				n++
				tails[names[i]] = fmt.Sprintf("~%d", n)
			}
			tail := tails[names[i]]
			out[i] = cut{width: max(3, cuts[i].width-len(tail))}.ends(names[i]) + tail
		}
	}
}

// collisions are the places of names that differ and are shown alike.
func collisions(names, shown []string) [][]int {
	at := map[string][]int{}
	var order []string
	for i, s := range shown {
		if len(at[s]) == 0 {
			order = append(order, s)
		}
		at[s] = append(at[s], i)
	}
	var out [][]int
	for _, s := range order {
		if slices.ContainsFunc(at[s], func(i int) bool { return names[i] != names[at[s][0]] }) {
			out = append(out, at[s])
		}
	}
	return out
}

// ends keeps the beginning and the end of a name that is too wide.
func (c cut) ends(s string) string {
	if c.keeps(s) {
		return s
	}
	r := []rune(s)
	for keep := min(c.width-1, len(r)-1); ; keep-- {
		tail := keep - keep/2
		if c.end > 0 {
			tail = min(c.end, keep)
		}
		text := string(r[:keep-tail]) + "…" + string(r[len(r)-tail:])
		if keep <= 1 || terminal.Width(text) <= c.width {
			return text
		}
	}
}

// differ are the places at which two of the names begin to differ, in order: in
// the order of their characters, those of neighbours are all there are.
func differ(names []string) []int {
	sorted := slices.Sorted(slices.Values(names))
	var at []int
	for i, s := range sorted[1:] {
		if s != sorted[i] {
			at = append(at, shared(sorted[i], s))
		}
	}
	slices.Sort(at)
	return slices.Compact(at)
}

// places keeps of a name what begins at those places.
func (c cut) places(s string, at []int) string {
	if c.keeps(s) {
		return s
	}
	r := []rune(s)
	for each := c.width; each > 0; each-- {
		var b strings.Builder
		end := 0
		for _, p := range at {
			from := max(end, min(p, len(r)-each))
			if from >= len(r) {
				break
			}
			if from > end {
				b.WriteRune('…')
			}
			to := min(len(r), from+each)
			b.WriteString(string(r[from:to]))
			end = to
		}
		if end < len(r) {
			b.WriteRune('…')
		}
		if terminal.Width(b.String()) <= c.width {
			return b.String()
		}
	}
	return c.ends(s)
}

// shared is how many characters two names begin with in common.
func shared(a, b string) int {
	x, y := []rune(a), []rune(b)
	n := 0
	for n < min(len(x), len(y)) && x[n] == y[n] {
		n++
	}
	return n
}
