package page

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/results/answers/samples"
	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/plot"
	"github.com/introgen/introgen/results/stats"
	"github.com/introgen/introgen/results/steps"
)

// Limits of the steps that are shown: as dots, in the table, of stalls, and of series
// that have a sign of their own.
const mostDots, mostListed, mostStalls, mostSeries = 40_000, 20_000, 20, 12

// readStalls is how many stalls a reader sees without opening anything.
const readStalls = 5

// stepped are the steps of a round, or of all runs of one kind.
type stepped struct {
	label   string
	rounds  int        // that have steps after the first
	begin   int        // the number of the first of later, where they are of one round
	later   []float64  // in ms, those after the first of each round, in order
	firsts  []float64  // in ms
	rows    [][]string // ten steps a row
	stalled []stalled
}

// stalled is a stall in words, with which run it is of, and by which factor it took
// longer than the median.
type stalled struct {
	text string
	over float64
}

// decodeSteps shows every decode step as a dot, with percentiles.
func (s subject) decodeSteps() []block {
	var all []stepped
	if s.file.Plan != nil {
		for _, x := range samples.Of(s.file) {
			one := stepped{label: clean(x.Name)}
			for _, sample := range x.Samples {
				one.add(sample.Run, sample.Rounds, true, stallsOf(sample.Run))
			}
			all = append(all, one)
		}
	} else {
		for _, r := range s.file.Runs {
			run := s.file.Run(r)
			stalls := stallsOf(run)
			for i := range run.Rounds {
				name := fmt.Sprintf("round %d", run.Rounds[i].Number)
				if len(s.file.Runs) > 1 {
					name = clean(fmt.Sprintf("%s, %s", runName(r, samples.Shown(r)), name))
				}
				one := stepped{label: name}
				one.add(run, run.Rounds[i:i+1], false, stalls)
				all = append(all, one)
			}
		}
	}
	all = slices.DeleteFunc(all, func(x stepped) bool { return len(x.later)+len(x.firsts) == 0 })
	if len(all) == 0 {
		return nil
	}
	return s.stepBlocks(all, s.speaking(all))
}

// speaking are the steps that percentiles are drawn of: of a single run those of the
// rounds that speak for it; nil of several kinds of runs, whose percentiles stand in
// the table.
func (s subject) speaking(all []stepped) *stepped {
	switch {
	case len(all) == 1:
		return &all[0]
	case len(s.file.Runs) != 1:
		return nil
	}
	of := steps.OfRun(s.file.Run(s.file.Runs[0]))
	x := &stepped{label: "the rounds after the first"}
	for _, d := range of.Later {
		x.later = append(x.later, inMS(d))
	}
	return x
}

// stallsOf are the stalls of a run by their rounds. They are found once for all rounds
// of the run, of which there may be thousands.
func stallsOf(run *breakdown.Run) map[int][]steps.Stall {
	out := map[int][]steps.Stall{}
	for _, stall := range steps.Stalls(run) {
		out[stall.Round] = append(out[stall.Round], stall)
	}
	return out
}

// add takes the steps of some rounds of a run with these stalls.
func (x *stepped) add(run *breakdown.Run, rounds []breakdown.Round, named bool, stalls map[int][]steps.Stall) {
	for _, r := range rounds {
		of := steps.Of(r)
		name := fmt.Sprintf("round %d", r.Number)
		if named && run.Start != nil {
			name = fmt.Sprintf("run %d, round %d", run.Start.Run, r.Number)
		}
		if of.First != figures.Missing && of.First > 0 {
			x.firsts = append(x.firsts, inMS(of.First))
			x.rows = append(x.rows, []string{name + ": step 1", figures.Milliseconds(of.First)})
		}
		if len(of.Later) > 0 {
			x.rounds++
			x.begin = int(of.Numbers[0])
		}
		for i, d := range of.Later {
			x.later = append(x.later, inMS(d))
			if i%10 == 0 {
				x.rows = append(x.rows, []string{fmt.Sprintf("%s: from step %d", name, of.Numbers[i])})
			}
			last := len(x.rows) - 1
			x.rows[last] = append(x.rows[last], figures.Milliseconds(d))
		}
		for _, stall := range stalls[r.Number] {
			text := stall.Text()
			if named && run.Start != nil {
				text = fmt.Sprintf("run %d, %s", run.Start.Run, text)
			}
			x.stalled = append(x.stalled, stalled{text, float64(stall.Time) / float64(max(1, stall.Median))})
		}
	}
}

// quantiles of steps, by their names.
var quantiles = []struct {
	name string
	q    float64
}{{"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}}

func (s subject) stepBlocks(all []stepped, spoken *stepped) []block {
	table := grid{Caption: "Decode steps after the first of each round, in ms: percentiles with their 95 % intervals", Head: words("steps of")}
	table.Head = append(table.Head, numbers("steps", "first step", "p50", "interval", "p90", "interval ", "p99", "interval  ", "max")...)
	listed := grid{Caption: "Every decode step in ms, in order, ten in a row", Head: append(words("steps"), numbers("1st", "2nd", "3rd", "4th", "5th", "6th", "7th", "8th", "9th", "10th")...)}
	var series []plot.Series
	var lines []plot.Line
	dots, cells, omitted := 0, 0, 0
	var stalls []stalled
	over := false
	for i, x := range all {
		table.Rows = append(table.Rows, x.row())
		if cells < mostListed {
			for _, r := range x.rows {
				if len(all) > 1 {
					r[0] = x.named(r[0])
				}
				if cells += len(r) - 1; cells > mostListed {
					omitted += len(r) - 1
					continue
				}
				listed.Rows = append(listed.Rows, r)
			}
		} else {
			omitted += len(x.later) + len(x.firsts)
		}
		if len(x.later) > 0 {
			one := plot.Series{Label: x.label, Kind: plot.Nth(i), First: x.begin, Values: x.later}
			if over = over || x.rounds > 1; x.rounds > 1 {
				one.First = 1
			}
			dots += len(one.Values)
			if len(series) < mostSeries {
				series = append(series, one)
			} else {
				last := &series[mostSeries-1]
				last.Label, last.First, over = "all others", 1, true
				last.Values = slices.Concat(last.Values, one.Values)
			}
		}
		stalls = append(stalls, x.stalled...)
	}
	if spoken != nil {
		if len(all) > 1 && len(spoken.later) > 0 {
			table.Rows = append(table.Rows, spoken.row())
		}
		lines = spoken.lines()
	}
	out := []block{}
	title, about := "Every decode step after the first of its round", "A dot is a step, in the order in which a round made them"
	switch {
	case len(lines) > 0 && len(all) > 1:
		about += "; the lines are percentiles of " + spoken.label
	case len(lines) > 0:
		about += "; the lines are percentiles"
	default:
		about += "; the table has percentiles"
	}
	if len(series) > 0 {
		f := s.figure("steps", title, about+". Milliseconds.", func(o plot.Options) plot.Figure {
			o.X, o.Y, o.Text = "decode step of the round", "ms", milliseconds
			if over {
				o.X = "decode step, through all rounds of a kind of run"
			}
			return plot.Dots(o, thinned(series, dots), lines)
		})
		f.Table = table
		out = append(out, block{Figure: f})
		if dots > mostDots {
			out = append(out, block{Text: fmt.Sprintf("Of %d steps the longest of every %d neighbours is drawn; percentiles are of all.", dots, stride(dots))})
		}
	} else {
		out = append(out, block{Table: &table})
	}
	if len(listed.Rows) > 0 {
		d := &details{"Every step as a number", []block{{Table: &listed}}}
		if omitted > 0 {
			d.Blocks = append(d.Blocks, block{Text: fmt.Sprintf("%d further steps are in the CSV below.", omitted)})
		}
		out = append(out, block{Details: d})
	}
	return append(out, stallBlocks(stalls)...)
}

// stallBlocks names the few worst stalls, and more in what can be opened: a list of
// twenty hides what comes after it.
func stallBlocks(found []stalled) []block {
	n := len(found)
	if n == 0 {
		return nil
	}
	worst := slices.Clone(found)
	slices.SortStableFunc(worst, func(a, b stalled) int { return cmp.Compare(b.over, a.over) })
	var stalls []string
	for _, s := range worst[:min(n, mostStalls)] {
		stalls = append(stalls, s.text)
	}
	text := fmt.Sprintf("Stalls, which are steps over %d times the median of their round: %d.", steps.Limit, n)
	if n > 1 {
		text += " The worst come first."
	}
	out := []block{{Text: text}, {List: sentences(stalls[:min(n, readStalls)])}}
	if n <= readStalls {
		return out
	}
	more := stalls[readStalls:]
	d := &details{figures.Number(len(more), "more stall"), []block{{List: sentences(more)}}}
	if n > mostStalls {
		d.Blocks = append(d.Blocks, block{Text: fmt.Sprintf("%d further stalls are not listed.", n-mostStalls)})
	}
	return append(out, block{Details: d})
}

// named is a row of the list with what its steps are of, whose last part may be the
// round that the row names too.
func (x stepped) named(row string) string {
	round, rest, _ := strings.Cut(row, ":")
	if strings.HasSuffix(x.label, round) {
		return x.label + ":" + rest
	}
	return x.label + ", " + row
}

// row has the figures of steps, as the table shows them.
func (x stepped) row() []string {
	row := []string{x.label, strconv.Itoa(len(x.later)), firsts(x.firsts)}
	if len(x.later) < steps.Least {
		return row
	}
	for _, q := range x.percentiles() {
		row = append(row, milliseconds(q.Value), between(q))
	}
	return append(row, milliseconds(slices.Max(x.later)))
}

func (x stepped) percentiles() []stats.Quantile {
	return stats.Quantiles(x.later, quantiles[0].q, quantiles[1].q, quantiles[2].q)
}

// lines are the percentiles as a plot draws them.
func (x stepped) lines() []plot.Line {
	if len(x.later) < steps.Least {
		return nil
	}
	var out []plot.Line
	for i, q := range x.percentiles() {
		out = append(out, plot.Line{Label: quantiles[i].name, Value: q.Value})
	}
	return out
}

// stride is how many neighbours one dot stands for.
func stride(dots int) int { return (dots + mostDots - 1) / mostDots }

// thinned keeps of each stride of neighbours the longest step: what a reader looks
// for are those that took long.
func thinned(all []plot.Series, dots int) []plot.Series {
	n := stride(dots)
	if n <= 1 {
		return all
	}
	out := slices.Clone(all)
	for i, s := range out {
		var kept []float64
		for group := range slices.Chunk(s.Values, n) {
			kept = append(kept, slices.Max(group))
		}
		out[i].Values = kept
	}
	return out
}

// firsts are the first steps of rounds: one, or the least and the most.
func firsts(ms []float64) string {
	if len(ms) == 0 {
		return ""
	}
	lo, hi := milliseconds(slices.Min(ms)), milliseconds(slices.Max(ms))
	if lo == hi {
		return lo
	}
	return lo + " to " + hi
}

func between(q stats.Quantile) string {
	if !q.Decidable {
		return ""
	}
	return strings.Join([]string{milliseconds(q.Lo), milliseconds(q.Hi)}, " to ")
}
