package page

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/results/answers/samples"
	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/plot"
)

// mostCompiles is how many libraries and pipelines are drawn; the table has all.
const mostCompiles = 24

// compiles shows what was compiled, the longest first, and what would be left of it
// if all that may be compiled at once were.
func (s subject) compiles() []block {
	var run *breakdown.Run
	name := ""
	var all []breakdown.Compile
	for _, x := range samples.Of(s.file) { // the kind of run that compiles the longest
		if len(x.Samples) == 0 {
			continue
		}
		m := medianStart(x)
		made := compiledIn(m.Run)
		if breakdown.Compiling(made) > breakdown.Compiling(all) {
			run, all, name = m.Run, made, clean(runName(m.Run.Run, x.Name))
		}
	}
	if run == nil {
		for _, r := range s.file.Runs {
			taken := s.file.Run(r)
			if made := compiledIn(taken); breakdown.Compiling(made) > breakdown.Compiling(all) {
				all, name = made, clean(runName(r, samples.Shown(r)))
			}
		}
	}
	if len(all) == 0 {
		return nil
	}
	sorted := slices.Clone(all)
	slices.SortStableFunc(sorted, func(a, b breakdown.Compile) int { return cmp.Compare(b.Time, a.Time) })
	sum, chain := breakdown.Compiling(all), breakdown.LongestChain(breakdown.Libraries(all))
	var rows []plot.Row
	table := grid{Caption: "What was made in " + name + ", the longest first, in ms", Head: append(words("name", "what", "from"), numbers("ms", "part of the sum")...)}
	for i, c := range sorted {
		kind, what := plot.Library, "library"
		label := clean(c.Library)
		if !c.IsLibrary() {
			kind, what, label = plot.Pipeline, "pipeline", clean(c.Library+" "+c.Function)
			if c.Constants != "" {
				label = clean(c.Library + " " + c.Function + " " + c.Constants)
			}
		}
		from := "its source"
		if c.FromCache() {
			from = "the cache"
		}
		part := figures.Percent(float64(c.Time) / float64(max(1, sum)))
		table.Rows = append(table.Rows, []string{label, what, from, figures.Milliseconds(c.Time), part})
		if i < mostCompiles {
			rows = append(rows, plot.Row{Label: label, Value: inMS(c.Time), Kind: kind, Tip: fmt.Sprintf("%s %s, from %s: %s ms, %s of all", what, label, from, figures.Milliseconds(c.Time), part)})
		}
	}
	table.Foot = []string{"sum", figures.Number(len(all), "thing"), "", figures.Milliseconds(sum), figures.Percent(1)}
	f := s.figure("compiles", "Libraries and pipelines, the longest first", "Each bar is the time that a library took, or hatched a pipeline; milliseconds.", func(o plot.Options) plot.Figure {
		o.X, o.Text = "ms", milliseconds
		return plot.Bars(o, rows)
	})
	f.Table = table
	var out []block
	if chain.Time > 0 {
		of := clean(chain.Library)
		if chain.Function != "" {
			of += " and its slowest pipeline, " + clean(chain.Function)
		}
		out = append(out, block{Text: fmt.Sprintf("In %s they take %s ms one after the other. The longest chain is %s: %s ms, %s of the sum. That is what would be left if every library had a core of its own, and then every pipeline.",
			name, figures.Milliseconds(sum), of, figures.Milliseconds(chain.Time), figures.Percent(float64(chain.Time)/float64(max(1, sum))))})
		both := s.figure("chain", "The sum against the longest chain", "What compiling one after the other takes, and the longest chain of a library and a pipeline of it, in milliseconds.", func(o plot.Options) plot.Figure {
			o.X, o.Text = "ms", milliseconds
			return plot.Bars(o, []plot.Row{{Label: "one after the other", Value: inMS(sum), Kind: plot.Library}, {Label: "longest chain", Value: inMS(chain.Time), Kind: plot.Library, Strong: true}})
		})
		both.Table = grid{Caption: "The sum against the longest chain", Head: append(words("what"), numbers("ms")...),
			Rows: [][]string{{"one after the other", figures.Milliseconds(sum)}, {"longest chain", figures.Milliseconds(chain.Time)}}}
		out = append(out, block{Figure: both})
	}
	out = append(out, block{Figure: f})
	if n := len(sorted) - mostCompiles; n > 0 {
		var rest time.Duration
		for _, c := range sorted[mostCompiles:] {
			rest += c.Time
		}
		out = append(out, block{Text: fmt.Sprintf("The %d shortest, %s ms together, are in the table alone.", n, figures.Milliseconds(rest))})
	}
	return out
}

// compiledIn is what was made in the first round of a run.
func compiledIn(run *breakdown.Run) []breakdown.Compile {
	var out []breakdown.Compile
	if len(run.Rounds) > 0 {
		for _, p := range run.Rounds[0].Phases {
			out = append(out, p.Compiles...)
		}
	}
	return out
}
