package remedy

import (
	"fmt"
	"math"
	"time"

	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/results/stats"
	"github.com/introgen/introgen/results/table"
)

// Document is the answer as tables and sentences.
func (a *Measurement) Document() *table.Document {
	d := &table.Document{}
	d.Say("%s", a.Plain.heading())
	d.Say("%s", a.Plain.checked())
	for g := range a.Plain.Goals {
		if len(a.Compared) > 0 {
			d.Table(a.goal(g))
		}
	}
	if t := a.installs(); len(t.Rows) > 0 {
		d.Table(t)
	}
	d.Say("Predicted by the %s of %s alone. A prediction held where what was measured lies between its bounds, or no more than %s of the plain start beside it.",
		figures.Number(a.Runs, "run"), Plain, figures.Percent(Near))
	held, of := 0, 0
	for _, v := range a.Compared {
		for _, g := range v.Goals {
			if of++; g.Held() {
				held++
			}
		}
	}
	d.Say("%d of %d predictions held.", held, of)
	if n := a.fewest(); n < stats.LeastForInterval {
		d.Say("?: an interval needs %d runs of each kind, and there %s %d.", stats.LeastForInterval, figures.Verb(n, "is", "are"), n)
	}
	if a.IDs > 0 {
		d.Say("All runs generated the same %s by the same number of dispatches, %d.", figures.Number(a.IDs, "token"), a.Dispatches)
	}
	for _, l := range a.Lacking {
		d.Say("%s.", l)
	}
	return d
}

// fewest is how many runs the kind has that has the least of them.
func (a *Measurement) fewest() int {
	n := a.Runs
	for _, v := range a.Compared {
		n = min(n, v.Runs)
	}
	return n
}

// goal is the table of the time to one goal.
func (a *Measurement) goal(g int) *table.Table {
	name := a.Plain.Goals[g].Name
	t := &table.Table{Title: fmt.Sprintf("milliseconds to %s, predicted and measured; %s takes %s", name, Plain, ms(a.Plain.Goals[g].Time)),
		Columns: []table.Column{{Name: Factor, Left: true}, {Name: "predicted"}, {Name: "between", Parts: []string{"lo ms", "hi ms"}, Joined: true},
			{Name: "measured"}, {Name: "±", Parts: []string{"low ms", "high ms"}, Joined: true}, {Name: "off", Parts: []string{"%"}}, {Name: "held", Left: true}, {Name: "sooner", Parts: []string{"times"}}}}
	for _, v := range a.Compared {
		x := v.Goals[g]
		how := "no"
		switch {
		case x.Between():
			how = "between"
		case x.Held():
			how = "near"
		}
		s := x.Measured
		t.Add(table.Text(Name(v.Keys...)), table.Cell{Text: ms(x.Predicted), Parts: []string{exact(x.Predicted)}},
			table.Cell{Text: ms(x.Lo) + " – " + ms(x.Hi), Parts: []string{exact(x.Lo), exact(x.Hi)}},
			table.Cell{Text: ms(time.Duration(s.Median)), Parts: []string{exact(time.Duration(s.Median))}},
			interval(s),
			table.Cell{Text: figures.Percent(x.Off()), Parts: []string{figures.Exact(100 * x.Off())}}, table.Text(how),
			table.Cell{Text: figures.Text(x.Sooner(), 2) + "×", Parts: []string{figures.Exact(x.Sooner())}})
	}
	return t
}

// interval is how far the ends of the 95 % interval lie from the median, in milliseconds.
// Of too few runs there is none.
func interval(s stats.Summary) table.Cell {
	if !s.Decidable {
		return table.Cell{Text: "?", Parts: []string{"", ""}}
	}
	width := math.Max(s.Hi-s.Median, s.Median-s.Lo)
	return table.Cell{Text: ms(time.Duration(width)), Parts: []string{exact(time.Duration(s.Lo)), exact(time.Duration(s.Hi))}}
}

// installs is the table of the work that was done before.
func (a *Measurement) installs() *table.Table {
	t := &table.Table{Title: "milliseconds of work at install time", Columns: []table.Column{{Name: Factor, Left: true}, {Name: "predicted"}, {Name: "measured"}}}
	for _, v := range a.Compared {
		if v.Install > 0 {
			t.Add(table.Text(Name(v.Keys...)), table.Text(ms(v.Predicted)), table.Text(ms(v.Install)))
		}
	}
	return t
}
