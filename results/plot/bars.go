package plot

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/introgen/introgen/results/table"
)

// Row is a bar with its label. Strong sets one apart that is made of the others,
// such as their sum.
type Row struct {
	Label  string
	Kind   Kind
	Value  float64
	Text   string // beside the bar; the value where it is ""
	Tip    string
	Strong bool
}

// size is that of the row's texts, as wide as they are.
func (r Row) size(of float64) float64 {
	if r.Strong {
		return bold * of
	}
	return of
}

// mostRows bounds the height of bars; what is beyond them is one more.
const mostRows = 30

// Bars draws values as bars from nothing on, in the order given, with their labels
// and values beside them.
func Bars(o Options, rows []Row) Figure {
	kept := slices.DeleteFunc(slices.Clone(rows), func(r Row) bool { return !usable(r.Value) || r.Value < 0 })
	skipped := len(rows) - len(kept)
	kept, folded := fold(kept)
	c := draw(o, len(kept), table.Column{Name: "what", Left: true}, table.Column{Name: cmp.Or(o.X, "value")})
	c.skipped(skipped)
	if len(kept) == 0 {
		return c.empty("nothing to show")
	}
	hi, aside, widest := 0.0, 0.0, 0.0
	for i, r := range kept {
		if kept[i].Text == "" {
			kept[i].Text = c.o.Text(r.Value)
		}
		widest = max(widest, measure(line(r.Label), r.size(textSize)))
		hi = max(hi, r.Value)
		aside = max(aside, measure(line(kept[i].Text), r.size(tickSize))+8)
	}
	left, row, shift := c.side(widest), 21.0, 0.0
	if c.narrow() {
		left, row, shift = margin, 35, 15
	}
	aside = min(aside, 0.4*c.width())
	s := fromZero(hi, left, c.width()-margin-aside)
	tall := row*float64(len(kept)) + 4
	top := head(tall)
	height := c.across(s, top, top+tall, o.X)
	for i, r := range kept {
		y := top + row*float64(i)
		class := ""
		if r.Strong {
			class = "plot-strong"
		}
		if c.narrow() {
			c.text(margin, y+12, "start", class+" plot-halo", fit(r.Label, c.width()-2*margin, r.size(textSize)))
		} else {
			c.text(left-8, y+15, "end", class, fit(r.Label, left-margin-8, r.size(textSize)))
		}
		tip := r.Tip
		if tip == "" {
			tip = fmt.Sprintf("%s: %s", line(r.Label), r.Text)
		}
		c.mark(r.Kind, tip)
		c.bar(r.Kind, left, y+shift+3, s.at(r.Value)-left, row-shift-6)
		c.end()
		at := max(s.at(r.Value), left+1.5) + 5
		c.text(at, y+shift+(row-shift)/2+4, "start", "plot-tick plot-halo "+class, fit(r.Text, c.width()-at-2, r.size(tickSize)))
		c.data.Add(table.Texts(line(r.Label), line(r.Text))...)
	}
	if folded > 0 {
		c.note("%d more are one bar, which is their sum.", folded)
	}
	return c.figure(height)
}

// fold makes one row of those beyond the most.
func fold(rows []Row) (out []Row, folded int) {
	if len(rows) <= mostRows {
		return rows, 0
	}
	rest := Row{Kind: Other}
	for _, r := range rows[mostRows-1:] {
		if r.Strong && len(out) < mostRows {
			out = append(out, r)
			continue
		}
		rest.Value += r.Value
		folded++
	}
	rest.Label = fmt.Sprintf("%d others", folded)
	return append(append(slices.Clone(rows[:mostRows-1]), rest), out...), folded
}
