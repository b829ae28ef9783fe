package compare

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/results/answers/samples"
	"github.com/introgen/introgen/results/metrics"
	"github.com/introgen/introgen/results/stats"
	"github.com/introgen/introgen/results/table"
	"github.com/introgen/introgen/trace/names"
)

// Document is the answer as tables and sentences.
func (a *Answer) Document() *table.Document {
	var d table.Document
	if a.Verdict != "" {
		d.Say("%s.", a.Verdict)
	}
	d.Table(a.stageTable())
	if t := a.ratioTable(); t != nil {
		d.Table(t)
	}
	if t := a.compileTable(); t != nil {
		d.Table(t)
	}
	for _, p := range a.Pairs {
		d.Table(p.Table())
	}
	d.Sentences(a.Causes...)
	for _, p := range a.Pairs {
		d.Say("%s.", p.Sentence())
	}
	d.Sentences(a.Notes...)
	return &d
}

func (a *Answer) stageTable() *table.Table {
	t := &table.Table{Title: title(a.Series), Columns: []table.Column{{Name: "stage", Left: true, Narrow: longestName, Parts: []string{"", "unit"}}}}
	runs := []table.Cell{table.Text("runs")}
	for _, s := range a.Series {
		t.Columns = append(t.Columns, table.Column{Name: s.Name, Parts: samples.Parts})
		runs = append(runs, table.Text(strconv.Itoa(len(s.Samples))))
	}
	t.Add(runs...)
	for _, m := range rowsOf(a.Series) {
		row := []table.Cell{{Text: labelled(m), Parts: []string{m.Name, m.Unit()}}}
		found := false
		for _, s := range a.Series {
			sum := s.Summary(m)
			found = found || sum.N > 0
			row = append(row, samples.CellOf(m, sum))
		}
		if found {
			t.Add(row...)
		}
	}
	return t
}

// title says what the table holds.
func title(all []samples.Series) string {
	if !programs(all) {
		return "ms: the median of the runs, ± its 95 % interval; tokens from opening the file" + fromStart(all)
	}
	text := "ms: the median of the runs, ± its 95 % interval"
	if slices.ContainsFunc(all, func(s samples.Series) bool { return s.Summary(metrics.Token1).N > 0 }) {
		text += "; tokens from opening the file"
	}
	return text + fromStart(all)
}

// programs says whether recorded programs are among the series.
func programs(all []samples.Series) bool {
	return slices.ContainsFunc(all, func(s samples.Series) bool {
		return slices.ContainsFunc(s.Samples, func(x samples.Sample) bool { return x.Rounds[0].Program() })
	})
}

// rowsOf are the figures that the table has a row for: those of an engine, and
// where programs were recorded theirs.
func rowsOf(all []samples.Series) []metrics.Metric {
	if !programs(all) {
		return Metrics
	}
	rows := slices.Clone(metrics.Beginning)
	seen := map[string]bool{}
	for _, s := range all {
		for _, x := range s.Samples {
			for _, p := range x.Rounds[0].Phases {
				if title := p.Title(); p.Name == names.SpanPhase && !seen[title] {
					seen[title] = true
					rows = append(rows, metrics.PhaseCalled(title))
				}
			}
		}
	}
	return slices.Concat(rows, Metrics, metrics.Totals)
}

// labelled is the name of a figure with its unit, where that is none of time.
func labelled(m metrics.Metric) string {
	if m.Kind == metrics.Bytes {
		return m.Name + " (" + m.Unit() + ")"
	}
	return m.Name
}

// fromStart explains the row that not every recording has.
func fromStart(all []samples.Series) string {
	if slices.ContainsFunc(all, func(s samples.Series) bool { return s.Summary(metrics.Start1).N > 0 }) {
		return ", start: of the process"
	}
	return ""
}

func (a *Answer) ratioTable() *table.Table {
	if a.Base < 0 || len(a.Series) < 2 {
		return nil
	}
	in := " in the same block"
	if !a.Blocks {
		in = ""
	}
	t := &table.Table{Title: "multiples of the CPU's time" + in + ", with the 95 % interval", Columns: []table.Column{{Name: "stage", Left: true, Narrow: longestName}}}
	for i, s := range a.Series {
		if i != a.Base {
			t.Columns = append(t.Columns, table.Column{Name: s.Name, Parts: samples.RatioParts})
		}
	}
	for _, m := range ratioMetrics {
		row := []table.Cell{table.Text(m.Name)}
		found := false
		for i, s := range a.Series {
			if i == a.Base {
				continue
			}
			r := samples.Ratio(a.Series[a.Base], s, m)
			found = found || r.N > 0
			row = append(row, samples.RatioCell(r))
		}
		if found {
			t.Add(row...)
		}
	}
	return t
}

// compileTable has a pair of columns for each series that compiles.
func (a *Answer) compileTable() *table.Table {
	var shown []int
	for i := range a.Series {
		for _, st := range a.Stages {
			if st.Columns[i].Library.N > 0 || st.Columns[i].Pipeline.N > 0 {
				shown = append(shown, i)
				break
			}
		}
	}
	if len(shown) == 0 {
		return nil
	}
	t := &table.Table{Title: "what was made in each stage: libraries in ms; pipelines as number: ms", Columns: []table.Column{{Name: "stage", Left: true, Narrow: longestName, Parts: []string{"", "library"}}}}
	for _, i := range shown {
		name := a.Series[i].Name
		t.Columns = append(t.Columns, table.Column{Name: name + " LIB", Parts: samples.TimeParts}, table.Column{Name: name + " PIPE", Brief: "PIPE", Joined: true, Parts: append([]string{"pipelines"}, samples.TimeParts...)})
	}
	row := func(name table.Cell, columns []Sums) {
		cells := []table.Cell{name}
		for _, i := range shown {
			cells = append(cells, columns[i].cells()...)
		}
		t.Add(cells...)
	}
	for _, st := range a.Stages {
		if len(st.Libraries) == 0 {
			continue
		}
		row(table.Text(st.Name), st.Columns)
		for _, l := range st.Libraries {
			name := "  " + l.Library
			if !l.First {
				name += " …"
			}
			row(table.Cell{Text: name, Parts: []string{st.Name, l.Library}}, l.Columns)
		}
	}
	return t
}

// cells are a library's time, and its pipelines' after their number.
func (s Sums) cells() []table.Cell {
	lib, pipe := samples.Cell(s.Library), samples.Cell(s.Pipeline)
	if s.Library.N == 0 || s.Library.Max == 0 {
		lib = table.Cell{Parts: []string{}}
	}
	if s.Pipelines == 0 {
		return []table.Cell{lib, {Parts: []string{}}}
	}
	pipe.Text = fmt.Sprintf("%d: %s", s.Pipelines, pipe.Text)
	pipe.Parts = append([]string{strconv.Itoa(s.Pipelines)}, pipe.Parts...)
	return []table.Cell{lib, pipe}
}

// longestName is how much a terminal shows of what a program calls its phases and
// libraries.
const longestName = 32

// shownParts is how many parts of a difference a table has, shownTime how large
// one is in ns at least: less is printed as 0.0 ms.
const (
	shownParts = 8
	shownTime  = 0.05e6
)

// Table has the largest parts of the difference. Where the whole is not told
// apart from nothing, they have no share of it.
func (d *Difference) Table() *table.Table {
	decided := d.Wall.Median != 0 && (excludesZero(d.Wall) || !d.Wall.Decidable)
	title := fmt.Sprintf("what %s takes more (+) or less (-) than %s", d.To, d.From)
	if decided && d.Wall.Median > 0 {
		title = fmt.Sprintf("what %s takes longer than %s", d.To, d.From)
	} else if decided {
		title = fmt.Sprintf("what %s takes less than %s", d.To, d.From)
	}
	t := &table.Table{
		Title:   fmt.Sprintf("%s: ms within blocks (%d)", title, d.Blocks),
		Columns: []table.Column{{Name: "part", Left: true}, {Name: "more", Parts: inMS}, {Name: "from", Parts: inMS}, {Name: "to", Parts: inMS}, {Name: "share", Parts: table.InPercent}},
	}
	add := func(name string, s stats.Summary) []table.Cell {
		cells := []table.Cell{table.Text(name), signedCell(s.Median), {}, {}, {}}
		if s.Decidable {
			cells[2], cells[3] = signedCell(s.Lo), signedCell(s.Hi)
		}
		if decided {
			share := s.Median / d.Wall.Median
			cells[4] = table.Cell{Text: figures.Percent(share), Parts: []string{figures.Exact(100 * share)}}
		}
		return cells
	}
	for _, p := range d.Parts[:min(shownParts, len(d.Parts))] {
		if math.Abs(p.Time.Median) >= shownTime {
			t.Add(add(p.Name, p.Time)...)
		}
	}
	t.Footer = add("the whole run", d.Wall)
	return t
}

// inMS is a column of times in CSV.
var inMS = []string{"ms"}

func signedCell(ns float64) table.Cell {
	return table.Cell{Text: signed(ns), Parts: []string{samples.Exact(ns)}}
}

func signed(ns float64) string {
	return figures.Signed(ns/1e6, 1)
}
