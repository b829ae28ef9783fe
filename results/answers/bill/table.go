package bill

import (
	"fmt"
	"time"

	"github.com/introgen/introgen/results"
	"github.com/introgen/introgen/results/answers/anatomy"
	"github.com/introgen/introgen/results/answers/series"
	"github.com/introgen/introgen/results/table"
)

// Document is bills as tables and sentences.
func Document(bills []*Bill) *table.Document {
	var d table.Document
	for _, b := range bills {
		d.Table(b.Table())
		b.say(&d)
	}
	return &d
}

// Table has a line for every part in the order of their begin, and the wall
// clock that they add up to.
func (b *Bill) Table() *table.Table {
	clock := "its own clock"
	if b.ByParent {
		clock = "the parent's clock"
	}
	title := fmt.Sprintf("%s: where the wall clock went, by %s", b.Arm, clock)
	if b.Runs > 1 {
		title += fmt.Sprintf("; run %d, the median of %d", b.Run, b.Runs)
	}
	t := &table.Table{Title: title, Columns: []table.Column{{Name: "part", Left: true, Parts: []string{"", "of"}}, {Name: "ms"}, {Name: "share"}}}
	if b.Runs > 1 {
		t.Columns = append(t.Columns, table.Column{Name: fmt.Sprintf("range of %d", b.Runs), Parts: []string{"min", "max"}})
	}
	round := 0
	for _, l := range b.Lines {
		if l.Round == 1 && round == 0 {
			t.Add(table.Text("round 1"))
			round = 1
		}
		t.Add(b.row(l, l.label())...)
	}
	t.Add(b.row(b.Unattributed, "unattributed")...)
	t.Footer = b.row(b.Wall, "wall clock")
	return t
}

func (b *Bill) row(l Line, label string) []table.Cell {
	name := table.Text(label)
	switch l.What {
	case anatomy.KindLibrary, anatomy.KindPipeline:
		name.Parts = []string{label, l.Phase}
	}
	cells := []table.Cell{name, table.Text(results.Milliseconds(l.Time)), table.Text(share(l.Time, b.Wall.Time))}
	if b.Runs > 1 {
		lo, hi := results.Milliseconds(l.Min), results.Milliseconds(l.Max)
		cells = append(cells, table.Cell{Text: lo + " – " + hi, Parts: []string{lo, hi}})
	}
	return cells
}

// share leaves out what rounds to nothing.
func share(part, whole time.Duration) string {
	if whole <= 0 || float64(part) < 0.0005*float64(whole) {
		return ""
	}
	return fmt.Sprintf("%.1f %%", 100*float64(part)/float64(whole))
}

func (b *Bill) say(d *table.Document) {
	below := ""
	if b.Named < Wanted {
		below = fmt.Sprintf(", less than the %s that a bill should explain", series.Percent(Wanted))
	}
	d.Say("Named lines are %.1f %% of the wall clock%s.", 100*b.Named, below)
	if !b.ByParent {
		d.Say("The start and the end of the process are not in it: only a parent sees them (introgen bill without a FILE, compare).")
	}
	if b.Compiling > 0 {
		d.Say("A phase's line is without the lines below it. Compiling takes %s ms, one after the other. Compiled at once, what does not need each other, %s ms would be left: %s.",
			results.Milliseconds(b.Compiling), results.Milliseconds(b.Chain), b.ChainOf)
	}
}
