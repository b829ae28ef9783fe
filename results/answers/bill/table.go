package bill

import (
	"fmt"
	"strings"
	"time"

	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/results/answers/samples"
	"github.com/introgen/introgen/results/breakdown"
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
	if b.Program {
		clock = "the recorder's clock"
	}
	title := fmt.Sprintf("%s: where the wall clock went, by %s", b.Arm, clock)
	if b.Runs > 1 {
		which := "the median"
		if b.Runs%2 == 0 {
			which = "the lower of the two in the middle"
		}
		title += fmt.Sprintf("; run %d, %s of %d", b.Run, which, b.Runs)
	}
	t := &table.Table{Title: title, Columns: []table.Column{{Name: "part", Left: true, Parts: []string{"", "of"}}, {Name: "ms", Parts: []string{""}}, {Name: "share", Parts: table.InPercent}}}
	if b.Runs > 1 {
		t.Columns = append(t.Columns, table.Column{Name: fmt.Sprintf("range of %d", b.Runs), Parts: []string{"min ms", "max ms"}})
	}
	round, phase := 0, ""
	for i, l := range b.Lines {
		if l.Round == 1 && round == 0 {
			heading := "round 1"
			if b.Program {
				heading = "the program"
			}
			t.Add(table.Text(heading))
			round = 1
		}
		if l.What != "" && l.Phase != phase {
			t.Add(b.heading(i))
		}
		phase = l.Phase
		t.Add(b.row(l, l.label())...)
	}
	t.Add(b.row(b.Unattributed, "unattributed")...)
	t.Footer = b.row(b.Wall, "wall clock")
	return t
}

// heading is a phase whose parts begin at line i, with what they add up to.
func (b *Bill) heading(i int) table.Cell {
	first, sum, count := b.Lines[i], time.Duration(0), 0
	for _, l := range b.Lines[i:] {
		if l.Round != first.Round || l.Phase != first.Phase {
			break
		}
		sum += l.Time
		if l.What == breakdown.Unattributed {
			count = l.Count
		}
	}
	first.Count = count
	return table.Cell{Text: fmt.Sprintf("%s: %s ms", first.phase(), figures.Milliseconds(sum)), Parts: []string{first.Phase, ""}}
}

func (b *Bill) row(l Line, label string) []table.Cell {
	name := table.Text(label)
	if l.What != "" {
		name.Parts = []string{strings.TrimSpace(label), l.Phase}
	}
	cells := []table.Cell{name, {Text: figures.Milliseconds(l.Time), Parts: []string{exact(l.Time)}}, share(l.Time, b.Wall.Time)}
	if b.Runs > 1 {
		lo, hi := figures.Milliseconds(l.Min), figures.Milliseconds(l.Max)
		cells = append(cells, table.Cell{Text: lo + " – " + hi, Parts: []string{exact(l.Min), exact(l.Max)}})
	}
	return cells
}

func exact(d time.Duration) string { return samples.Exact(float64(d)) }

// share is a part of the wall clock. On the terminal it leaves out what is next
// to nothing.
func share(part, whole time.Duration) table.Cell {
	if whole <= 0 {
		return table.Cell{Parts: []string{""}}
	}
	of := float64(part) / float64(whole)
	c := table.Cell{Parts: []string{figures.Exact(100 * of)}}
	if of >= 0.0005 {
		c.Text = figures.Percent(of)
	}
	return c
}

// worthSaying is the part of the wall clock from which on it is told what
// compiling at once would leave of it: what comes from the cache takes less.
const worthSaying = 0.02

func (b *Bill) say(d *table.Document) {
	below := ""
	if b.Program && b.Named < 1 {
		below = "; the rest is what the program did beside Metal"
	} else if b.Named < Wanted {
		below = fmt.Sprintf(", less than the %s that a bill should explain", figures.Percent(Wanted))
	}
	d.Say("Named lines are %s of the wall clock%s.", figures.Percent(b.Named), below)
	if b.Lost > 0 {
		d.Say("%d spans of the run are missing: what they timed is unattributed, and what they made is not among the lines.", b.Lost)
	}
	if !b.ByParent {
		d.Say("The start and the end of the process are not in it: only a parent sees them (introgen bill without a FILE, compare).")
	}
	if float64(b.Compiling) >= worthSaying*float64(b.Wall.Time) {
		d.Say("%s", b.chained())
	}
}

// chained says what compiling costs, and what would be left of it.
func (b *Bill) chained() string {
	libraries := fmt.Sprintf("%d %s", b.Libraries, figures.Verb(b.Libraries, "library", "libraries"))
	if b.beside {
		return fmt.Sprintf("Compiling takes %s ms of the wall clock, in which the thread that generates waited: %s and %s of %s ms were made beside it. The longest chain of them takes %s ms: %s.",
			figures.Milliseconds(b.Compiling), libraries, figures.Number(b.pipelines, "pipeline"), figures.Milliseconds(b.atOnce), figures.Milliseconds(b.Chain), b.ChainOf)
	}
	if b.atOnce > b.Compiling {
		return fmt.Sprintf("Compiling takes %s ms of the wall clock: libraries and pipelines of %s ms, some of them at once. With a core for each, %s and then their pipelines, %s ms would be left: %s.",
			figures.Milliseconds(b.Compiling), figures.Milliseconds(b.atOnce), libraries, figures.Milliseconds(b.Chain), b.ChainOf)
	}
	text := fmt.Sprintf("Compiling takes %s ms, one after the other. With a core for each, %s at once and then their pipelines, %s ms would be left: %s",
		figures.Milliseconds(b.Compiling), libraries, figures.Milliseconds(b.Chain), b.ChainOf)
	if b.Token1 <= 0 {
		return text + "."
	}
	from := "opening the file"
	if b.FromStart {
		from = "the start of the process"
		if !b.ByParent {
			from = "the run's first moment"
		}
	}
	return text + fmt.Sprintf("; token 1 would be there %s ms after %s, instead of %s.", figures.Milliseconds(b.Token1-b.saved), from, figures.Milliseconds(b.Token1))
}
