package diff

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/results/benchtext"
	"github.com/introgen/introgen/results/stats"
	"github.com/introgen/introgen/results/table"
	"golang.org/x/perf/benchunit"
)

// Document shows the judgement: for each unit and each column beside the base a
// table, then what it means.
func (r *Report) Document() *table.Document {
	d := &table.Document{}
	r.documents(func(one *table.Document, _ bool) { d.Append(one) })
	if r.tests() {
		d.Say("%s", legend)
	}
	r.sayLacks(d)
	r.sayNotes(d)
	return d
}

// Divided is the same in two parts, for who shows the second only where it is asked
// for: the tables in which something is compared, with what to know of them, and what
// one side has alone.
func (r *Report) Divided() (compared, alone *table.Document) {
	compared, alone = &table.Document{}, &table.Document{}
	r.documents(func(one *table.Document, both bool) {
		if both {
			compared.Append(one)
		} else {
			alone.Append(one)
		}
	})
	if r.tests() {
		compared.Say("%s", legend)
	}
	r.sayNotes(compared)
	r.sayLacks(alone)
	return compared, alone
}

// documents has the tables in order, and whether a row of one is there on both sides.
func (r *Report) documents(take func(d *table.Document, both bool)) {
	for i := range r.Tables {
		t := &r.Tables[i]
		for col := range max(1, len(t.Cols)-1) {
			for _, g := range groups(t) {
				take(g.document(t, col+1), slices.ContainsFunc(g.rows, func(r Row) bool { return col+1 < len(r.Cells) && r.Cells[0] != nil && r.Cells[col+1] != nil }))
			}
		}
	}
}

func (r *Report) sayNotes(d *table.Document) {
	for _, n := range r.Notes {
		d.Say("%s", n)
	}
	for _, w := range r.Warnings {
		d.Say("warning: %s", w)
	}
}

const legend = "p: how often chance alone makes such a difference, by benchstat's test (Mann–Whitney U). ~: not told from chance. detects: the smallest change that a comparison of this size and noise finds in 4 of 5 cases; –: none, however large."

// sayLacks tells, column by column, which rows one side of a comparison lacks.
// Their names are in the tables, so of many only the first are told.
func (r *Report) sayLacks(d *table.Document) {
	for _, k := range []struct {
		lacks  []Lack
		wanted func(Lack) bool
		format string
	}{
		{r.Missing, func(l Lack) bool { return !l.Zero }, "Missing in %[1]s, of what %[2]s has: %[3]s."},
		{r.Missing, func(l Lack) bool { return l.Zero }, "0 in %[1]s, which leaves such a count out, and not in %[2]s: %[3]s."},
		{r.Added, func(l Lack) bool { return !l.Zero }, "In %[1]s and not in %[2]s: %[3]s."},
		{r.Added, func(l Lack) bool { return l.Zero }, "0 in %[2]s, which leaves such a count out, and not in %[1]s: %[3]s."},
	} {
		names := map[string][]string{}
		var cols []string
		for _, l := range k.lacks {
			if k.wanted(l) {
				if names[l.Col] == nil {
					cols = append(cols, l.Col)
				}
				text := fmt.Sprintf("%s (%s)", l.Row, strings.Join(append([]string{unitName(l.Unit)}, l.Config...), ", "))
				if l.Instead != "" {
					text += ", " + l.Instead
				}
				names[l.Col] = append(names[l.Col], text)
			}
		}
		for _, c := range cols {
			d.Say(k.format, colName(c), colName(r.Base), listed(names[c]))
		}
	}
}

// tests says whether anything was tested.
func (r *Report) tests() bool {
	return slices.ContainsFunc(r.Tables, func(t Table) bool { return !t.Exact && len(t.Cols) > 1 })
}

// group is the rows that stand in one table.
type group struct {
	title string
	rows  []Row
	short []string // what of each row's name tells it from others of the group
}

// names are what is shown of the rows, which differ: where two short names are
// one, as of pipelines of two libraries, both are whole.
func (g group) names() []string {
	n := map[string]int{}
	for _, s := range g.short {
		n[s]++
	}
	out := slices.Clone(g.short)
	for i, r := range g.rows {
		if n[out[i]] > 1 {
			out[i] = r.Name
		}
	}
	return out
}

// groups divides rows by what they are of; rows of other programs' texts are
// one group.
func groups(t *Table) []group {
	all := []group{benchtext.Phases: {}, benchtext.LaterRounds: {title: "later rounds"}, benchtext.Libraries: {title: "libraries"}, benchtext.Pipelines: {title: "pipelines"}}
	for _, r := range t.Rows {
		kind, short := benchtext.KindOf(r.Name)
		g := &all[kind]
		g.rows, g.short = append(g.rows, r), append(g.short, short)
	}
	return slices.DeleteFunc(all, func(g group) bool { return len(g.rows) == 0 })
}

// A terminal of 80 columns shows so much of a row's name, and of a column's.
const (
	widestRow = 23
	widestCol = 12
)

func (g group) document(t *Table, col int) *table.Document {
	d := &table.Document{}
	if col >= len(t.Cols) {
		d.Table(g.summary(t))
		return d
	}
	main := &table.Table{Title: g.heading(t, col), Columns: []table.Column{
		{Name: unitName(t.Unit), Left: true, Narrow: widestRow}, {Name: colName(t.Cols[0]), Narrow: widestCol, Parts: partsIn(t.Unit)},
		{Name: colName(t.Cols[col]), Narrow: widestCol, Parts: partsIn(t.Unit)},
		{Name: "change", Parts: table.InPercent}, {Name: "p"}, {Name: "n"}, {Name: "detects", Parts: table.InPercent}}}
	pairs := &table.Table{Title: "the same by pairs, one a block (introgen's own judgement, not benchstat's)", Columns: []table.Column{
		{Name: "pairs", Left: true, Narrow: widestRow}, {Name: "ratio", Parts: []string{""}}, {Name: "95 % interval", Parts: []string{"lo", "hi"}}, {Name: "p"}, {Name: "n"}, {Name: "detects", Parts: table.InPercent}}}
	said, decidable, names := remarks{}, false, g.names()
	for i, r := range g.rows {
		name := names[i]
		a, b := r.Cells[0], r.Cells[col]
		row := []table.Cell{{Text: name, Parts: []string{r.Name}}, {}, {}, {}, {}, {}, {}}
		for i, scale := range scales(t.Unit, a, b) {
			if c := []*Cell{a, b}[i]; c != nil {
				row[1+i] = value(c, t, scale)
			}
		}
		if a != nil && b != nil {
			v := b.Versus
			row[3], row[5].Text = change(v), counts(a.N, b.N)
			if !t.Exact {
				row[4], row[6] = probability(v.P), detects(v.MDE)
				said.add(a, b)
			}
			if p := v.Pairs; p != nil {
				pairs.Add(pairRow(name, r.Name, p)...)
				decidable = decidable || p.Decidable
			}
		}
		main.Add(row...)
	}
	d.Table(main)
	for _, s := range said.sentences() {
		d.Say("%s", s)
	}
	switch {
	case decidable:
		d.Table(pairs)
	case len(pairs.Rows) > 0:
		d.Say("By pairs nothing can be said: a 95 %% interval of a ratio needs %d blocks.", stats.LeastForInterval)
	}
	return d
}

// summary is the table of a single column, which is compared with nothing.
func (g group) summary(t *Table) *table.Table {
	out := &table.Table{Title: g.heading(t, 0), Columns: []table.Column{
		{Name: unitName(t.Unit), Left: true}, {Name: colName(t.Cols[0]), Narrow: widestRow, Parts: partsIn(t.Unit)}, {Name: "n"}}}
	names := g.names()
	for i, r := range g.rows {
		c := r.Cells[0]
		scale := benchunit.CommonScale(centers(c), benchunit.ClassOf(t.Unit))
		out.Add(table.Cell{Text: names[i], Parts: []string{r.Name}}, value(c, t, scale), table.Text(strconv.Itoa(c.N)))
	}
	return out
}

func (g group) heading(t *Table, col int) string {
	var parts []string
	if g.title != "" {
		parts = append(parts, g.title)
	}
	parts = append(append(parts, unitName(t.Unit)), t.Apart...)
	if col > 0 {
		parts = append(parts, fmt.Sprintf("%s against %s", colName(t.Cols[col]), colName(t.Cols[0])))
	}
	return strings.Join(parts, ", ")
}

// colName is what a column is called: that of samples which have nothing of what
// the columns are has a name too.
func colName(col string) string { return cmp.Or(col, "(none)") }

// unitName is the unit as people know it: benchstat's sec/op is a time.
func unitName(unit string) string {
	switch unit {
	case "sec/op":
		return "time"
	case "time": // of somebody's own
		return "unit time"
	}
	return unit
}

func centers(cells ...*Cell) []float64 {
	var out []float64
	for _, c := range cells {
		if c != nil {
			out = append(out, c.Summary.Center)
		}
	}
	return out
}

// farApart is from which ratio on two values of a row have units of their own:
// 1784788.4µs beside 799.0µs is read by nobody.
const farApart = 100

// scales are the units of a row's two values: one that both can be compared in,
// unless they are far apart.
func scales(unit string, a, b *Cell) [2]benchunit.Scaler {
	class := benchunit.ClassOf(unit)
	if a != nil && b != nil {
		x, y := math.Abs(a.Summary.Center), math.Abs(b.Summary.Center)
		if max(x, y) > farApart*min(x, y) {
			return [2]benchunit.Scaler{benchunit.CommonScale(centers(a), class), benchunit.CommonScale(centers(b), class)}
		}
	}
	both := benchunit.CommonScale(centers(a, b), class)
	return [2]benchunit.Scaler{both, both}
}

// change is benchstat's, with more decimals where fewer than three digits would
// count; what is more than eleven times as much is told as a factor. Of a base of
// 0 or below benchstat has none, or one with the wrong sign.
func change(v *Versus) table.Cell {
	c := table.Cell{Text: v.Delta, Parts: []string{number(100 * v.Change)}}
	switch {
	case v.Delta == "~":
	case math.IsInf(v.Change, 0):
		c.Text = "from 0"
	case v.Change > 10:
		c.Text = "×" + figures.Text(1+v.Change, 0)
	case strings.HasSuffix(v.Delta, "%"):
		c.Text = figures.Signed(100*v.Change, 2) + "%"
	}
	return c
}

// partsIn are the columns of a value and its interval in CSV.
func partsIn(unit string) []string {
	if unit == "sec/op" {
		unit = "s"
	}
	return []string{unit, "lo " + unit, "hi " + unit}
}

// value is a median and half the width of its interval, as benchstat shows
// them; in CSV the numbers themselves.
func value(c *Cell, t *Table, scale benchunit.Scaler) table.Cell {
	s := c.Summary
	text := scale.Format(s.Center)
	if t.Unit == "sec/op" {
		text += "s"
	}
	parts := []string{number(s.Center), "", ""}
	if !math.IsInf(s.Lo, 0) && !math.IsInf(s.Hi, 0) {
		parts[1], parts[2] = number(s.Lo), number(s.Hi)
	}
	if !t.Exact {
		text += " ±" + s.PctRangeString()
	}
	return table.Cell{Text: text, Parts: parts}
}

// number has all digits, also those that the conversion of units made.
func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

func counts(a, b int) string {
	if a == b {
		return strconv.Itoa(a)
	}
	return fmt.Sprintf("%d+%d", a, b)
}

// detects is the smallest effect that would have been found.
func detects(mde float64) table.Cell {
	if mde == 0 {
		return table.Cell{Text: "–", Parts: []string{""}}
	}
	c := table.Cell{Text: figures.Text(100*mde, 1) + "%", Parts: []string{number(100 * mde)}}
	if mde >= 10 {
		c.Text = "×" + figures.Text(1+mde, 0)
	}
	return c
}

func probability(p float64) table.Cell {
	return table.Cell{Text: figures.Text(p, 3), Parts: []string{number(p)}}
}

func pairRow(name, full string, p *stats.Ratio) []table.Cell {
	row := []table.Cell{{Text: name, Parts: []string{full}}, table.Text(figures.Text(p.Ratio, 3)),
		{Text: "–", Parts: []string{"", ""}}, probability(p.P), table.Text(strconv.Itoa(p.N)), detects(p.MDE)}
	row[1].Parts = []string{number(p.Ratio)}
	if p.Decidable {
		row[2] = table.Cell{Text: figures.Text(p.Lo, 3) + " – " + figures.Text(p.Hi, 3), Parts: []string{number(p.Lo), number(p.Hi)}}
	}
	return row
}

// remarks gathers what is to be said below a table.
type remarks struct {
	tested, differ int
	fewest         int // samples on the poorer side of a row
	undecidable    int // rows in which no difference could be told from chance
}

func (s *remarks) add(a, b *Cell) {
	s.tested++
	if b.Versus.Significant() {
		s.differ++
	}
	if n := min(a.N, b.N); s.tested == 1 || n < s.fewest {
		s.fewest = n
	}
	if max(a.N, b.N) < stats.LeastForCompare {
		s.undecidable++
	}
}

func (s *remarks) sentences() []string {
	if s.tested == 0 {
		return nil
	}
	var out []string
	if s.undecidable < s.tested || s.differ > 0 { // rows that cannot differ say nothing by not differing
		out = append(out, s.counted())
	}
	switch {
	case s.undecidable > 0:
		out = append(out, fmt.Sprintf("Undecidable where a side has %d: no difference however large can be told from chance with fewer than %d a side, and an interval needs %d.",
			s.fewest, stats.LeastForCompare, stats.LeastForInterval))
	case s.fewest < stats.LeastForInterval:
		out = append(out, fmt.Sprintf("±∞ where a side has %d: a 95 %% interval needs %d samples; changes smaller than what is seen are undecidable.", s.fewest, stats.LeastForInterval))
	}
	return out
}

// counted says how many rows differ, and how many would by chance alone.
func (s *remarks) counted() string {
	rows, share := figures.Number(s.tested, "row")+" "+figures.Verb(s.tested, "differs", "differ"), ""
	if s.tested > 1 {
		share = fmt.Sprintf(", about %.1f of these %d", stats.Alpha*float64(s.tested), s.tested)
	}
	return fmt.Sprintf("%d of %s by more than chance explains. One row in %.0f looks so by chance alone%s.", s.differ, rows, 1/stats.Alpha, share)
}
