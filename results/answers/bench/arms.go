// Package bench answers how the arms of a plan compare, whatever they are: each
// with its median and interval, its ratio to the first arm from the pairs of
// blocks, and the smallest effect that the plan could have found.
package bench

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/results/answers/samples"
	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/metrics"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/shellwords"
	"github.com/introgen/introgen/results/stats"
	"github.com/introgen/introgen/results/table"
)

// Answer is what the comparison says.
type Answer struct {
	Arms  []Arm
	Rows  []Row       // by metric, then by arm
	Notes table.Notes // what to know before believing it
}

// Arm is one arm of the plan.
type Arm struct {
	Name    string
	Command string // its arguments, as a shell takes them
	samples.Tally
}

// Row is one metric of one arm.
type Row struct {
	Metric  metrics.Metric
	Arm     string
	Samples []float64     // nanoseconds, of the runs that count, in the order of execution
	Summary stats.Summary // of Samples
	// Ratio is to the first arm's runs of the same blocks; of the first arm
	// itself it is zero.
	Ratio stats.Ratio
}

// Of compares the arms of a plan by the metrics; none are all that fit. It fails where the recording
// is no plan's, or where no run counts.
func Of(f *breakdown.File, shown []metrics.Metric) (*Answer, error) {
	if f.Plan == nil || len(f.Plan.Arms) == 0 {
		return nil, fmt.Errorf("%s holds no plan, so it has no arms to compare", cmp.Or(f.Path, "the recording"))
	}
	a := &Answer{}
	counted := 0
	for _, arm := range f.Plan.Arms {
		line := Arm{Name: arm.Name, Command: Command(arm)}
		for _, r := range f.Runs {
			if r.Start != nil && r.Start.Arm == arm.Name {
				line.Add(r)
			}
		}
		counted += line.Counted
		a.Arms = append(a.Arms, line)
	}
	if counted == 0 {
		return nil, fmt.Errorf("no run counts, so there is nothing to compare: %s", strings.Join(samples.Uncounted(f.File), "; "))
	}
	if len(shown) == 0 {
		shown = slices.Concat(Metrics, Tail)
		if slices.ContainsFunc(f.File.Counted(""), func(r *recording.Run) bool { return r.Header.Program != nil }) {
			shown = all()
		}
	}
	lacks := map[string][]string{}
	var order []string
	for _, m := range shown {
		var lacking []string
		before := len(a.Rows)
		for i, arm := range f.Plan.Arms {
			if row := rowOf(f, m, arm.Name); len(row.Samples) > 0 {
				a.Rows = append(a.Rows, row)
			} else if a.Arms[i].Counted > 0 {
				lacking = append(lacking, arm.Name)
			}
		}
		if len(a.Rows) > before && len(lacking) > 0 {
			arms := strings.Join(lacking, ", ")
			if lacks[arms] == nil {
				order = append(order, arms)
			}
			lacks[arms] = append(lacks[arms], m.Name)
		}
	}
	for _, arms := range order {
		a.Notes.Add("%s: no run has a figure of %s, so nothing is compared by %s", arms, strings.Join(lacks[arms], ", "), figures.Verb(len(lacks[arms]), "it", "them"))
	}
	a.remarks(f.File)
	return a, nil
}

func rowOf(f *breakdown.File, m metrics.Metric, arm string) Row {
	row := Row{Metric: m, Arm: arm}
	for _, r := range f.Counted(arm) {
		if v, ok := m.OfRun(r); ok {
			row.Samples = append(row.Samples, v)
		}
	}
	row.Summary = stats.Summarize(row.Samples)
	first := f.Plan.Arms[0].Name
	if arm == first {
		return row
	}
	firsts, others := f.Pairs(first, arm)
	row.Ratio = stats.Paired(recording.PairValues(firsts, others, func(r *recording.Run) (float64, bool) { return m.OfRun(f.Run(r)) }))
	return row
}

// Command is an arm's command line as a shell takes it, with what it adds to
// the environment.
func Command(a recording.Arm) string {
	var line []string
	for _, k := range slices.Sorted(maps.Keys(a.Env)) {
		line = append(line, k+"="+a.Env[k])
	}
	return shellwords.Join(append(line, a.Args...))
}

// remarks are about how far the figures can be believed.
func (a *Answer) remarks(f *recording.File) {
	fewest := -1
	for _, arm := range a.Arms {
		if fewest < 0 || arm.Counted < fewest {
			fewest = arm.Counted
		}
		if arm.Refused > 0 {
			a.Notes.Add("%s: %s not counted", arm.Name, figures.Number(arm.Refused, "run"))
		}
		if arm.Flagged > 0 {
			a.Notes.Add("%s: %s of %d tainted: %s", arm.Name, figures.Number(arm.Flagged, "run"), arm.Counted, strings.Join(taints(f, arm.Name), "; "))
		}
	}
	for _, arm := range a.Arms {
		if arm.Lacking > 0 {
			a.Notes.Add("%s: spans are missing of %s of %d, so that there are fewer samples", arm.Name, figures.Number(arm.Lacking, "run"), arm.Counted)
		}
	}
	a.Notes = append(a.Notes, samples.Silent(f)...)
	a.Notes = append(a.Notes, samples.Uncounted(f)...)
	if len(a.Rows) > 0 && fewest < stats.LeastForInterval {
		a.Notes.Add("an interval needs %d runs of each arm and there are %d, so nothing can be decided", stats.LeastForInterval, fewest)
	}
	for _, r := range a.Rows {
		if d := stats.Drift(r.Samples); d.Drifted {
			a.Notes.Add("%s, %s: the runs drifted by %s %% from the first to the last (p %s)", r.Arm, r.Metric.Name, figures.Signed(100*d.Change, 0), figures.Text(d.P, 3))
		}
		if b := stats.Bimodal(r.Samples); b.Bimodal {
			a.Notes.Add("%s, %s: the runs fall into two groups, around %s and %s ms", r.Arm, r.Metric.Name, milliseconds(b.Low), milliseconds(b.High))
		}
	}
	if f.Parent != nil {
		for _, n := range f.Parent.Notes {
			a.Notes = append(a.Notes, n.Text)
		}
	}
	for _, m := range samples.Mixed(f.Counted("")) {
		a.Notes.Add("the runs differ in their %s", m)
	}
}

// taints are what tainted an arm's runs, each code with the figures that came
// last.
func taints(f *recording.File, arm string) []string {
	count, last := map[string]int{}, map[string]string{}
	var codes []string
	for _, r := range f.Counted(arm) {
		if r.Exit == nil {
			continue
		}
		for _, t := range r.Exit.Taints {
			if count[t.Code]++; count[t.Code] == 1 {
				codes = append(codes, t.Code)
			}
			last[t.Code] = t.Text
		}
	}
	for i, code := range codes {
		codes[i] = fmt.Sprintf("%s %d× (%s)", code, count[code], last[code])
	}
	return codes
}

func milliseconds(v float64) string { return figures.Milliseconds(time.Duration(v)) }

// Document is the answer as a table and sentences.
func (a *Answer) Document() *table.Document {
	var d table.Document
	for _, arm := range a.Arms {
		d.Say("%s: introgen %s", arm.Name, arm.Command)
	}
	t := &table.Table{Title: "ms: median of the runs ± 95 % interval; ratio to " + a.Arms[0].Name + " within blocks",
		Columns: []table.Column{{Name: "metric", Left: true, Parts: []string{""}}, {Name: "arm", Left: true}, {Name: "runs", Drawn: true}, {Name: "median", Parts: samples.TimeParts}}}
	paired := len(a.Arms) > 1
	if paired {
		t.Columns = append(t.Columns, table.Column{Name: "ratio", Parts: samples.RatioParts}, table.Column{Name: "p", Drawn: true}, table.Column{Name: "detects", Parts: table.InPercent})
	}
	last := ""
	for _, r := range a.Rows {
		name := table.Cell{Text: r.Metric.Name, Parts: []string{r.Metric.Name}}
		if r.Metric.Name == last {
			name.Text = ""
		}
		last = r.Metric.Name
		row := []table.Cell{name, table.Text(r.Arm), table.Text(strconv.Itoa(r.Summary.N)), samples.CellOf(r.Metric, r.Summary)}
		if paired {
			row = append(row, samples.RatioCell(r.Ratio), samples.PCell(r.Ratio), r.detects())
		}
		t.Add(row...)
	}
	d.Table(t)
	if paired {
		d.Sentences(a.Verdicts()...)
		d.Say("detects: the smallest effect that a plan of this size and noise finds in 4 of 5 cases.")
	}
	d.Sentences(a.Notes...)
	return &d
}

// detects is the smallest effect that could have been found.
func (r Row) detects() table.Cell {
	if r.Ratio.MDE == 0 {
		return table.Cell{Parts: []string{}}
	}
	return table.Cell{Text: "±" + figures.Percent(r.Ratio.MDE), Parts: []string{figures.Exact(100 * r.Ratio.MDE)}}
}
