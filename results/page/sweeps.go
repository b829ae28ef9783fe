package page

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/results/answers/sweep"
	"github.com/introgen/introgen/results/plot"
	"github.com/introgen/introgen/results/stats"
)

// sweeps shows of a sweep the curve of each group, and what a command buffer costs.
func (s subject) sweeps() []block {
	if h := s.header(); h == nil || h.Command != "sweep" || s.file.Plan == nil {
		return nil
	}
	a, err := sweep.Of(s.file, s.swept())
	if err != nil {
		return []block{{Text: sentence("There is no answer: " + err.Error())}}
	}
	var out []block
	for i, g := range a.Groups {
		if i == mostArms {
			out = append(out, block{Text: fmt.Sprintf("%d further combinations are in the report alone.", len(a.Groups)-i)})
			break
		}
		out = append(out, s.curve(fmt.Sprintf("sweep-%d", i+1), a, g)...)
		out = append(out, s.boundary(fmt.Sprintf("buffers-%d", i+1), a, g)...)
	}
	return out
}

// unitOf is what a sweep's figure is in, and the factor from what is recorded.
func unitOf(a *sweep.Answer) (unit string, factor float64) {
	if a.Metric.Rate {
		return a.Metric.Unit(), 1
	}
	return "ms", 1e-6
}

// curve is the figure by the values of what was varied.
func (s subject) curve(id string, a *sweep.Answer, g sweep.Group) []block {
	unit, factor := unitOf(a)
	title := clean(a.Metric.Name + " by " + a.Factors[0])
	if g.Others != "" {
		title = clean(g.Others) + ": " + title
	}
	text := milliseconds
	if a.Metric.Rate {
		text = func(v float64) string { return figures.Text(v, 1) }
	}
	table := grid{Caption: title + ": the median over runs, in " + unit + ", with its 95 % interval", Head: append(words(clean(a.Factors[0])), numbers("median", "from", "to", "runs")...)}
	var points []plot.Point
	numeric := true
	for _, r := range g.Rows {
		x, err := strconv.ParseFloat(r.Level, 64)
		numeric = numeric && err == nil
		t := r.Time
		points = append(points, point(clean(r.Level), x, t, factor))
		row := []string{clean(r.Level), text(t.Median * factor), "", "", strconv.Itoa(t.N)}
		if t.Decidable {
			row[2], row[3] = text(t.Lo*factor), text(t.Hi*factor)
		}
		table.Rows = append(table.Rows, row)
	}
	f := s.figure(id, title, "A point is the median over runs, the line through it its 95 % interval.", func(o plot.Options) plot.Figure {
		o.Text = text
		if !numeric {
			o.X = unit
			groups := make([]plot.Group, len(points))
			for i, p := range points {
				groups[i] = plot.Group{Label: p.Label, Points: []plot.Point{p}}
			}
			return plot.Intervals(o, groups)
		}
		o.X, o.Y = clean(a.Factors[0]), clean(a.Metric.Name)+", "+unit
		return plot.Curve(o, points, nil)
	})
	f.Table = table
	if len(a.Groups) == 1 {
		return []block{{Figure: f}} // the page begins with its sentence
	}
	return []block{{Figure: f}, {Text: sentence(capital(g.Verdict.Sentence()))}}
}

// boundary is the same by the command buffers of a step, with the line whose slope is
// what one more of them costs.
func (s subject) boundary(id string, a *sweep.Answer, g sweep.Group) []block {
	b := g.Boundary
	if b.N == 0 || a.Metric.Rate {
		return nil
	}
	type measured struct{ buffers, ms float64 }
	var points []plot.Point
	var all []measured
	for _, r := range g.Rows {
		if r.Device == nil || r.Device.Buffers == 0 {
			continue
		}
		t := r.Time
		points = append(points, point(clean(a.Factors[0]+" "+r.Level), r.Device.Buffers, t, 1e-6))
		all = append(all, measured{r.Device.Buffers, t.Median / 1e6})
	}
	if len(all) < 2 {
		return nil
	}
	rest := make([]float64, len(all))
	for i, m := range all {
		rest[i] = m.ms - b.Median/1e6*m.buffers
	}
	base := stats.Median(rest)
	fit := func(x float64) float64 { return base + b.Median/1e6*x }
	title := "What a command buffer costs"
	micro := func(ns float64) string { return figures.Text(ns/1e3, 1) }
	text := fmt.Sprintf("One more command buffer in a step costs %s µs", micro(b.Median))
	if b.Decidable {
		text += fmt.Sprintf(" (95 %% interval %s to %s µs, from %d blocks)", micro(b.Lo), micro(b.Hi), b.N)
	} else {
		text += fmt.Sprintf(" (too few blocks for an interval: %d)", b.N)
	}
	text += fmt.Sprintf("; without any of it a step would take %s ms.", milliseconds(base))
	f := s.figure(id, title, "The same points by the command buffers of a step. The line has the cost of a buffer as its slope, and is bent where the scale is logarithmic.", func(o plot.Options) plot.Figure {
		o.X, o.Y, o.Text = "command buffers in a step", clean(a.Metric.Name)+", ms", milliseconds
		return plot.Curve(o, points, fit)
	})
	f.Table = grid{Caption: title + ", in ms", Head: append(words(clean(a.Factors[0])), numbers("command buffers", "median", "on the line")...)}
	slices.SortStableFunc(points, func(x, y plot.Point) int { return cmp.Compare(x.X, y.X) })
	for _, p := range points {
		f.Table.Rows = append(f.Table.Rows, []string{p.Label, figures.Count(p.X), milliseconds(p.Value), milliseconds(fit(p.X))})
	}
	return []block{{Figure: f}, {Text: text}}
}
