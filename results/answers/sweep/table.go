package sweep

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/results/answers/samples"
	"github.com/introgen/introgen/results/metrics"
	"github.com/introgen/introgen/results/table"
	"github.com/introgen/introgen/trace/names"
)

// Each row has a bar, as wide as there is room.
const leastBar, mostBar = 3, 10

// Document is the answer as tables and sentences.
func (a *Answer) Document() *table.Document {
	var d table.Document
	for _, g := range a.Groups {
		d.Table(a.table(g))
		if a.Programs {
			d.Table(a.programTable(g))
		}
		if a.Factors[0] == Context && !a.Programs {
			if t := g.speeds(); t != nil {
				d.Table(t)
			}
		}
		prefix := ""
		if g.Others != "" {
			prefix = g.Others + ": "
		}
		if a.Factors[0] != Context { // no text is shortened because short ones are quick
			d.Say("%s%s.", prefix, g.Verdict.Sentence())
		}
		if b := g.Boundary; b.N > 0 {
			within := "±?"
			if b.Decidable {
				within = fmt.Sprintf("[%s, %s]", micro(b.Lo), micro(b.Hi))
			}
			d.Say("One more command buffer in a step costs %s µs %s.", micro(b.Median), within)
		}
		if text := g.Growth.sentence(a.Metric.Name); text != "" {
			d.Say("%s%s", prefix, text)
		}
		if text := g.overlap(); text != "" {
			d.Say("%s.", text)
		}
	}
	d.Sentences(a.Notes...)
	return &d
}

func micro(ns float64) string { return figures.Text(ns/1e3, 1) }

func (a *Answer) table(g Group) *table.Table {
	each := g.Rows[0].Time.N
	for _, r := range g.Rows {
		if r.Time.N != each {
			each = 0
		}
	}
	title := "ms: the median of the runs' second rounds ± its 95 % interval"
	if a.Programs {
		title = "ms: the median of the runs ± its 95 % interval"
	}
	if each > 0 {
		title += fmt.Sprintf("; runs of each: %d", each)
	}
	if g.Others != "" {
		title = g.Others + ": " + title
	}
	first, of := a.values(g.Rows)
	t := &table.Table{Title: of + title, Columns: []table.Column{first, {Name: a.Metric.Name, Parts: samples.TimeParts}}}
	if a.Metric.Rate {
		t.Columns[1].Parts = samples.Parts
	}
	counted, timed, gpu := false, false, false
	for _, r := range g.Rows {
		if d := r.Device; d != nil {
			counted, timed, gpu = true, timed || d.TimesKnown, gpu || d.GPUReported
		}
	}
	add := func(show bool, parts []string, names ...string) {
		for _, n := range names {
			if show {
				t.Columns = append(t.Columns, table.Column{Name: n, Parts: parts})
			}
		}
	}
	times := []string{"ms"}
	add(each == 0, nil, "runs")
	add(counted, nil, "bufs", "disp.")
	add(timed, times, "encode", "commit", "wait")
	add(gpu, times, "GPU")
	add(gpu, table.InPercent, "overlap")
	var most float64
	for _, r := range g.Rows {
		most = max(most, r.Time.Median)
		cells := []table.Cell{table.Text(r.Level), samples.CellOf(a.Metric, r.Time)}
		d := r.Device
		if d == nil {
			d = &Device{}
		}
		if each == 0 {
			cells = append(cells, table.Text(strconv.Itoa(r.Time.N)))
		}
		if counted {
			cells = append(cells, number(d.Buffers), number(d.Dispatches))
		}
		if timed {
			cells = append(cells, ms(d.Encode), ms(d.Commit), ms(d.Wait))
		}
		if gpu {
			cells = append(cells, ms(d.GPU), table.Cell{Text: figures.Percent(d.Overlap), Parts: []string{figures.Exact(100 * d.Overlap)}})
		}
		t.Add(cells...)
	}
	if room := min(mostBar, t.Room()); room >= leastBar {
		t.Columns = append(t.Columns, table.Column{Left: true, Drawn: true})
		for i, r := range g.Rows {
			t.Rows[i] = append(t.Rows[i], table.Text(table.Bar(r.Time.Median, most, room)))
		}
	}
	return t
}

// longestFactor is how long the name of a setting may be to head a column: that of
// a variable stands above the table instead.
const longestFactor = 16

// values is the column of a table's values, and what then stands before its title.
func (a *Answer) values(rows []Row) (c table.Column, title string) {
	c = table.Column{Name: a.Factors[0], Left: words(rows)}
	if len(c.Name) > longestFactor {
		c.Name, c.Parts, title = "value", []string{a.Factors[0]}, a.Factors[0]+": "
	}
	return c, title
}

// programTable has beside each value what the program as a whole did: when its first
// output came, its phases, and what it counted.
func (a *Answer) programTable(g Group) *table.Table {
	first, of := a.values(g.Rows)
	if g.Others != "" {
		of += g.Others + ": "
	}
	t := &table.Table{Title: of + "the whole program, medians in ms and numbers", Columns: []table.Column{first}}
	for _, r := range g.Rows {
		t.Add(table.Text(r.Level))
	}
	for _, m := range figuresOf(g.Rows) {
		found := false
		cells := make([]table.Cell, len(g.Rows))
		for i, r := range g.Rows {
			if s := r.Series.Summary(m); s.N > 0 {
				cells[i], found = samples.Single(m, s.Median), true
			}
		}
		if !found {
			continue
		}
		t.Columns = append(t.Columns, table.Column{Name: m.Name, Parts: []string{m.Unit()}})
		for i := range t.Rows {
			t.Rows[i] = append(t.Rows[i], cells[i])
		}
	}
	return t
}

// figuresOf are those of the programs: the beginning, the phases, the totals.
func figuresOf(rows []Row) []metrics.Metric {
	out := slices.Clone(metrics.Beginning)
	seen := map[string]bool{}
	for _, r := range rows {
		for _, x := range r.Series.Samples {
			for _, p := range x.Rounds[0].Phases {
				if title := p.Title(); !names.IsStep(p.Name) && !seen[title] {
					seen[title] = true
					out = append(out, metrics.PhaseCalled(title))
				}
			}
		}
	}
	return slices.Concat(out, []metrics.Metric{metrics.First, metrics.Later}, metrics.Totals)
}

// words says whether levels are no numbers.
func words(rows []Row) bool {
	return slices.ContainsFunc(rows, func(r Row) bool { _, err := strconv.ParseFloat(r.Level, 64); return err != nil })
}

func number(v float64) table.Cell {
	return table.Cell{Text: figures.Count(v), Parts: []string{figures.Exact(v)}}
}

func ms(ns float64) table.Cell {
	return table.Cell{Text: figures.Milliseconds(time.Duration(math.Round(ns))), Parts: []string{samples.Exact(ns)}}
}

// overlap says how well the device was fed at the ends of the sweep.
func (g Group) overlap() string {
	var least, most *Row
	for i, r := range g.Rows {
		if r.Device == nil || !r.Device.GPUReported {
			return ""
		}
		if least == nil || r.Device.Overlap < least.Device.Overlap {
			least = &g.Rows[i]
		}
		if most == nil || r.Device.Overlap > most.Device.Overlap {
			most = &g.Rows[i]
		}
	}
	if least == nil || least == most {
		return ""
	}
	return fmt.Sprintf("While the device worked, the CPU did something else than wait for %s of the time at %s, and %s at %s",
		figures.Percent(most.Device.Overlap), most.Level, figures.Percent(least.Device.Overlap), least.Level)
}
