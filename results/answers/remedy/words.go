package remedy

import (
	"fmt"
	"strings"
	"time"

	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/results/shellwords"
	"github.com/introgen/introgen/results/start"
	"github.com/introgen/introgen/results/table"
)

// title is how a compile is called.
func title(c start.Compile) string {
	if c.IsLibrary() {
		return c.Library
	}
	return c.Library + " " + c.Function
}

// firstOf are the first names of a list, and how many follow.
func firstOf(all []string, n int) string {
	if len(all) <= n {
		return strings.Join(all, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(all[:n], ", "), len(all)-n)
}

// notes are what cannot be known of the arm, and what is not worth a line.
func (m *model) notes() (out []string) {
	if m.header.Program != nil && m.runs[0].beside() {
		out = append(out, "The program compiles on several threads already. Which of them waited for which compile is not recorded: what the wall clock counts for one is taken as the wait for it")
	}
	if m.header.Program != nil {
		out = append(out, "What the program could do sooner, and with which libraries, only its source says: the predictions are what is possible by the order and the times that were recorded")
	}
	if text := m.macros(); text != "" {
		out = append(out, text)
	}
	return out
}

// Document is the answer as tables and sentences.
func (a *Answer) Document() *table.Document {
	d := &table.Document{}
	for _, x := range a.Arms {
		x.say(d)
	}
	for _, l := range a.Lacking {
		d.Say("%s.", l)
	}
	return d
}

func ms(t time.Duration) string { return figures.Milliseconds(t) }

func (a *Arm) say(d *table.Document) {
	if a.off() > start.Exact {
		d.Say("%s", a.checked())
	}
	d.Say("%s", a.heading())
	a.combined(d)
	if len(a.Remedies) == 0 {
		d.Say("Nothing that introgen knows of saves %s of it.", figures.Percent(Worth))
	}
	if a.Compiling > 0 {
		d.Say("%s", a.limited())
		d.Say("%s", a.simulated())
	}
	if a.off() <= start.Exact {
		d.Say("%s", a.checked())
	}
	if len(a.Remedies) > 0 {
		d.Table(a.Table())
		measured := false
		for _, r := range a.Remedies {
			r.say(d)
			measured = measured || len(r.Command) > 0
		}
		if measured && a.Compiling > 0 {
			d.Say("%s", measuring)
		}
	}
	if len(a.Slight) > 0 {
		d.Say("Less than %s each, or nothing: %s.", figures.Percent(Worth), strings.Join(a.Slight, ", "))
	}
	for _, n := range a.Notes {
		d.Say("%s.", n)
	}
}

// measuring says what the commands that measure remedies do not do by themselves.
const measuring = "To measure one alone, run its command with an empty cache: INTROGEN_CACHE names a folder, on a Mac --nonce passes the system's by. An archive is written by the first run, and used from the second on. `introgen remedy --measure` does all of this for each remedy and for the best together, interleaved with plain starts."

// heading says of what the answer is.
func (a *Arm) heading() string {
	var goals []string
	for _, g := range a.Goals {
		goals = append(goals, fmt.Sprintf("%s after %s ms", g.Name, ms(g.Time)))
	}
	runs := figures.Number(a.Runs, "run")
	return fmt.Sprintf("%s (%s): %s.", a.Name, runs, strings.Join(goals, ", "))
}

// simulated says for what machine it is predicted.
func (a *Arm) simulated() string {
	threads := fmt.Sprintf("on %s", figures.Number(a.Threads, "compile thread"))
	if a.Cores > 0 {
		threads += fmt.Sprintf(" of %s", figures.Number(a.Cores, "core"))
	}
	if a.Assumed {
		threads += " (the recording does not say how many there were: --threads does)"
	}
	return "Predicted for compiling " + threads + "."
}

// off is by how much the model does not fit, at the worst.
func (a *Arm) off() (worst float64) {
	for _, c := range a.Checks {
		worst = max(worst, c.Off())
	}
	return worst
}

// checked says how well the model fits.
func (a *Arm) checked() string {
	var all []string
	for _, c := range a.Checks {
		all = append(all, fmt.Sprintf("%s %s ms, recorded %s", c.What, ms(c.Replay), ms(c.Recorded)))
	}
	text := "The model, replayed unchanged: " + strings.Join(all, "; ") + "."
	if worst := a.off(); worst > start.Exact {
		text += fmt.Sprintf(" That is off by %s, more than %s: believe none of what follows.", figures.Percent(worst), figures.Percent(start.Exact))
	}
	return text
}

func (a *Arm) limited() string {
	text := fmt.Sprintf("Compiling takes %s ms: %d %s and %s.", ms(a.Compiling), a.Libraries, figures.Verb(a.Libraries, "library", "libraries"), figures.Number(a.Pipelines, "pipeline"))
	l := a.Limit
	if l.Library == "" {
		return text
	}
	chain := l.Library
	if l.Function != "" {
		chain += ", then " + l.Function
	}
	return text + fmt.Sprintf(" However many compile at once, the longest chain is left: %s, %s ms; with it %s is there after %s ms.",
		chain, ms(l.Chain), a.Goals[len(a.Goals)-1].Name, ms(l.Goal))
}

// Table has a line for each remedy.
func (a *Arm) Table() *table.Table {
	t := &table.Table{Title: a.Name + ": milliseconds that each remedy alone saves", Columns: []table.Column{{Name: "remedy", Left: true}}}
	for _, g := range a.Goals {
		t.Columns = append(t.Columns, table.Column{Name: g.Name, Parts: []string{"ms", "%"}}, table.Column{Name: g.Name + " between", Brief: "between", Parts: []string{"lo ms", "hi ms"}, Joined: true})
	}
	t.Columns = append(t.Columns, table.Column{Name: "sure", Left: true})
	for _, r := range a.Remedies {
		t.Add(append(a.cells(r.Key, r.Savings), table.Text(string(r.Sure)))...)
	}
	for i, c := range []*Combination{a.Without, a.With} {
		if c != nil && len(c.Keys) > 1 {
			t.Add(a.cells(bests[i], c.Savings)...)
		}
	}
	return t
}

// bests are what the table calls the best combinations.
var bests = []string{"best", "best+install"}

func (a *Arm) cells(name string, all []Saving) []table.Cell {
	cells := []table.Cell{table.Text(name)}
	for i, s := range all {
		share := ""
		if a.Goals[i].Time > 0 {
			share = figures.Exact(100 * float64(s.Saves) / float64(a.Goals[i].Time))
		}
		cells = append(cells, table.Cell{Text: ms(s.Saves), Parts: []string{exact(s.Saves), share}},
			table.Cell{Text: ms(s.Lo) + " – " + ms(s.Hi), Parts: []string{exact(s.Lo), exact(s.Hi)}})
	}
	return cells
}

func exact(t time.Duration) string { return figures.Exact(float64(t) / float64(time.Millisecond)) }

// say tells of a remedy what the table does not.
func (r Remedy) say(d *table.Document) {
	text := fmt.Sprintf("%s: %s.", r.Key, r.Title)
	for _, x := range [][2]string{{"Costs", r.Costs}, {"Needs", r.Needs}, {"Rests on", r.Rests}} {
		if x[1] != "" {
			text += fmt.Sprintf(" %s: %s.", x[0], x[1])
		}
	}
	d.Say("%s", text)
	if len(r.Command) > 0 {
		d.Say("  measure it: introgen %s", shellwords.Join(r.Command))
	}
}

// combined tells of the best combinations.
func (a *Arm) combined(d *table.Document) {
	for _, c := range []*Combination{a.Without, a.With} {
		if c == nil {
			continue
		}
		which := "Best without work at install time"
		if c == a.With {
			which = fmt.Sprintf("Best with %s ms of work at install time", ms(c.Install))
		}
		var goals []string
		for i, g := range a.Goals {
			goals = append(goals, fmt.Sprintf("%s after %s ms (%s – %s) instead of %s", g.Name, ms(g.Time-c.Savings[i].Saves), ms(g.Time-c.Savings[i].Hi), ms(g.Time-c.Savings[i].Lo), ms(g.Time)))
		}
		d.Say("%s is %s: %s.", which, strings.Join(c.Keys, " + "), strings.Join(goals, ", "))
		if len(c.Command) > 0 {
			d.Say("  measure it: introgen %s", shellwords.Join(c.Command))
		}
	}
}
