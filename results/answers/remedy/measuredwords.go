package remedy

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/results/answers/samples"
	"github.com/introgen/introgen/results/start"
	"github.com/introgen/introgen/results/stats"
	"github.com/introgen/introgen/results/table"
)

// Document is the answer as tables and sentences.
func (a *Measurement) Document() *table.Document {
	d := &table.Document{}
	off := a.Plain.off() > start.Exact
	if off {
		d.Say("%s", a.Plain.checked())
	}
	d.Say("%s", a.Plain.heading())
	a.soonest(d)
	held, of := 0, 0
	for _, v := range a.Compared {
		for _, g := range v.Goals {
			if of++; g.Held() {
				held++
			}
		}
	}
	d.Say("%d of %d predictions held.", held, of)
	for g := range a.Plain.Goals {
		if len(a.Compared) > 0 {
			d.Table(a.goal(g))
		}
	}
	if t := a.installs(); len(t.Rows) > 0 {
		d.Table(t)
	}
	d.Say("Predicted by the %s of %s alone. A prediction held where what was measured lies between its bounds (yes), or no more than %s of the plain start beside what was predicted (near); off is by how much of the plain start it was.",
		figures.Number(a.Runs, "run"), Plain, figures.Percent(Near))
	if a.Plain.Compiling > 0 {
		d.Say("%s", a.Plain.simulated())
	}
	if !off {
		d.Say("%s", a.Plain.checked())
	}
	if a.IDs > 0 {
		d.Say("All runs generated the same %s by the same number of dispatches, %d.", figures.Number(a.IDs, "token"), a.Dispatches)
	}
	for _, l := range a.Lacking {
		d.Say("%s.", l)
	}
	return d
}

// soonest tells which start was the quickest that was measured, without work at install
// time and with it.
func (a *Measurement) soonest(d *table.Document) {
	fewest := a.Runs
	for i, which := range []string{"without", "with"} {
		var best *Versus
		for j := range a.Compared {
			v := &a.Compared[j]
			fewest = min(fewest, v.Runs)
			if (slices.ContainsFunc(v.Keys, Installs)) == (i == 1) && (best == nil || v.Goals[0].Measured.Median < best.Goals[0].Measured.Median) {
				best = v
			}
		}
		switch {
		case best == nil:
			continue
		case best.Goals[0].Sooner() <= 1:
			d.Say("Measured %s work at install time, nothing was sooner than the plain start.", which)
			continue
		}
		var goals []string
		for _, g := range best.Goals {
			goals = append(goals, fmt.Sprintf("%s after %s ms instead of %s", g.Name, ms(time.Duration(g.Measured.Median)), ms(g.Plain)))
		}
		work := ""
		if best.Install > 0 {
			work = ms(best.Install) + " ms of "
		}
		d.Say("Soonest measured %s %swork at install time is %s: %s.", which, work, Name(best.Keys...), strings.Join(goals, ", "))
	}
	if fewest < stats.LeastForInterval {
		d.Say("±?: an interval needs %d runs of each kind, and there %s %d; how much of this is chance cannot be said.", stats.LeastForInterval, figures.Verb(fewest, "is", "are"), fewest)
	}
}

// goal is the table of the time to one goal.
func (a *Measurement) goal(g int) *table.Table {
	name := a.Plain.Goals[g].Name
	t := &table.Table{Title: fmt.Sprintf("milliseconds to %s, predicted and measured; %s takes %s", name, Plain, ms(a.Plain.Goals[g].Time)),
		Columns: []table.Column{{Name: Factor, Left: true}, {Name: "predicted"}, {Name: "between", Parts: []string{"lo ms", "hi ms"}, Joined: true},
			{Name: "measured"}, {Name: "±", Parts: []string{"low ms", "high ms"}, Joined: true}, {Name: "sooner", Parts: []string{"times"}}, {Name: "held", Left: true}, {Name: "off", Parts: []string{"%"}}}}
	for _, v := range a.Compared {
		x := v.Goals[g]
		how := "no"
		switch {
		case x.Between():
			how = "yes"
		case x.Held():
			how = "near"
		}
		s := x.Measured
		within := table.Cell{Text: "?", Parts: []string{"", ""}}
		if s.Decidable {
			width := math.Max(s.Hi-s.Median, s.Median-s.Lo)
			within = table.Cell{Text: ms(time.Duration(width)), Parts: []string{exact(time.Duration(s.Lo)), exact(time.Duration(s.Hi))}}
		}
		t.Add(table.Text(Name(v.Keys...)), table.Cell{Text: ms(x.Predicted), Parts: []string{exact(x.Predicted)}},
			table.Cell{Text: ms(x.Lo) + " – " + ms(x.Hi), Parts: []string{exact(x.Lo), exact(x.Hi)}},
			table.Cell{Text: ms(time.Duration(s.Median)), Parts: []string{exact(time.Duration(s.Median))}},
			within, table.Cell{Text: samples.Times(x.Sooner()) + "×", Parts: []string{figures.Exact(x.Sooner())}},
			table.Text(how), table.Cell{Text: figures.Percent(x.Off()), Parts: []string{figures.Exact(100 * x.Off())}})
	}
	return t
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
