package sweep

import (
	"fmt"
	"strconv"

	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/results/answers/samples"
	"github.com/introgen/introgen/results/metrics"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/stats"
	"github.com/introgen/introgen/results/table"
)

// leastPoints is how many contexts a line needs to say anything: two have always one.
const leastPoints = 3

// Growth is how a time grows with the context: a line through the medians, of ns by
// positions, and the slopes of the lines through single blocks. The line has no N where
// there is none.
type Growth struct {
	Line  stats.Line
	Slope stats.Summary
}

// growth fits the lines.
func (g *Group) growth(m metrics.Metric) Growth {
	var x, y []float64
	blocks := map[int][]point{}
	for _, r := range g.Rows {
		positions, err := strconv.ParseFloat(r.Level, 64)
		if err != nil {
			return Growth{}
		}
		x, y = append(x, positions), append(y, r.Time.Median)
		for block, sample := range recording.LastOfBlocks(r.Series.Samples, samples.Block) {
			if v, ok := sample.Value(m); ok {
				blocks[block] = append(blocks[block], point{positions, v})
			}
		}
	}
	if len(x) < leastPoints {
		return Growth{}
	}
	var slopes []float64
	for _, points := range blocks {
		var bx, by []float64
		for _, p := range points {
			bx, by = append(bx, p.x), append(by, p.y)
		}
		if l := stats.FitLine(bx, by); l.N == len(x) {
			slopes = append(slopes, l.Slope)
		}
	}
	return Growth{stats.FitLine(x, y), stats.Summarize(slopes)}
}

// sentence says the line; it is empty where there is none.
func (g Growth) sentence(name string) string {
	if g.Line.N == 0 {
		return ""
	}
	within := "±?"
	if g.Slope.Decidable {
		within = fmt.Sprintf("[%s, %s]", thousand(g.Slope.Lo), thousand(g.Slope.Hi))
	}
	return fmt.Sprintf("%s: %s ms with nothing in the cache, and %s ms %s more for each 1000 positions; the farthest value is %s off this line, r² is %.3f.",
		name, figures.Text(g.Line.Intercept/1e6, 2), thousand(g.Line.Slope), within, figures.Percent(g.Line.Worst), g.Line.R2)
}

// speeds has beside each context how fast its prompt passed, and how fast tokens came
// after it.
func (g *Group) speeds() *table.Table {
	t := &table.Table{Title: "the same as speeds: medians of the runs' second rounds", Columns: []table.Column{{Name: Context},
		{Name: metrics.Prefill.Name, Parts: []string{"ms"}}, {Name: "prefill tokens/s", Parts: []string{"tokens/s"}}, {Name: "decode tokens/s", Parts: []string{"tokens/s"}}}}
	for _, r := range g.Rows {
		positions, err := strconv.ParseFloat(r.Level, 64)
		prefill, decode := r.Series.Summary(metrics.Prefill), r.Series.Summary(metrics.Rate)
		if err != nil || prefill.N == 0 || decode.N == 0 {
			return nil
		}
		t.Add(table.Text(r.Level), ms(prefill.Median), samples.Single(metrics.Rate, positions/prefill.Median*1e9), samples.Single(metrics.Rate, decode.Median))
	}
	return t
}

// thousand is what 1000 positions add in ms, of ns a position.
func thousand(slope float64) string { return figures.Text(1000*slope/1e6, 3) }
