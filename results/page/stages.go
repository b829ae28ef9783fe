package page

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/results/answers/bench"
	"github.com/introgen/introgen/results/answers/compare"
	"github.com/introgen/introgen/results/answers/samples"
	"github.com/introgen/introgen/results/foreign"
	"github.com/introgen/introgen/results/metrics"
	"github.com/introgen/introgen/results/plot"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/stats"
)

// milliseconds writes a figure of a plot's axis in ms.
func milliseconds(v float64) string {
	return figures.Milliseconds(time.Duration(math.Round(v * 1e6)))
}

// spelled are the figures whose headings are short for the sake of a terminal.
var spelled = map[string]string{
	metrics.LibraryTime.Name:  "libraries, all together",
	metrics.PipelineTime.Name: "pipelines, all together",
	metrics.GPUTime.Name:      "on the device",
}

// state is a kind of run of a recording, as it is called where several are shown.
type state struct {
	name string
	samples.Series
}

// ran are those of a recording that have runs which count, after its name where
// there are other recordings.
func (s subject) ran(named bool) []state {
	var out []state
	for _, x := range samples.Of(s.file) {
		if len(x.Samples) == 0 {
			continue
		}
		one := state{clean(x.Name), x}
		if named {
			one.name = clean(s.name + ": " + x.Name)
		}
		out = append(out, one)
	}
	return out
}

// stages shows how long each stage took in each state, with its interval.
func (s subject) stages() []block { return s.staged(s.ran(false)) }

// mostTogether is how many kinds of runs of several recordings are drawn on one scale.
const mostTogether = 8

// together shows the stages of several recordings on one scale, where that leaves each
// of them to be seen; else it is nil.
func together(all []subject) []block {
	var states []state
	for _, s := range all {
		states = append(states, s.ran(true)...)
	}
	if len(states) > mostTogether {
		return nil
	}
	return all[0].staged(states)
}

// staged draws the stages of some kinds of runs.
func (s subject) staged(all []state) []block {
	if len(all) == 0 {
		return nil
	}
	shown := slices.DeleteFunc(slices.Clone(compare.Metrics), func(m metrics.Metric) bool { return m.Rate })
	if slices.ContainsFunc(all, func(x state) bool { return slices.ContainsFunc(x.Runs, foreign.Is) }) {
		for _, m := range bench.Program {
			if m.Kind == 0 && !m.Rate {
				shown = append(shown, m)
			}
		}
	}
	drawn := all[:min(len(all), mostTogether)]
	var groups []plot.Group
	table := grid{Caption: "Each stage in ms: the median over runs with its 95 % interval, and how many runs", Head: append(words("stage", "kind of run"), numbers("median", "from", "to", "runs")...)}
	for _, m := range shown {
		name := m.Name
		if long, ok := spelled[m.Name]; ok {
			name = long
		}
		g := plot.Group{Label: name}
		for i, x := range all {
			sum := x.Summary(m)
			if sum.N == 0 {
				continue
			}
			table.Rows = append(table.Rows, append([]string{name, x.name}, interval95(sum)...))
			if i < len(drawn) {
				g.Points = append(g.Points, point(x.name, 0, sum, 1e-6))
			}
		}
		if len(g.Points) > 0 {
			groups = append(groups, g)
		}
	}
	if len(groups) == 0 {
		return nil
	}
	about := "A point is the median over runs, the line through it its 95 % interval; a point without a line has too few runs for one."
	repeated := func(x samples.Sample) bool { return len(x.Run.Rounds) > 1 }
	if slices.ContainsFunc(all, func(x state) bool { return slices.ContainsFunc(x.Samples, repeated) }) {
		about += " Of each run its first round counts"
		if slices.ContainsFunc(all, func(x state) bool { return x.State == recording.StateWarmProcess }) {
			about += "; the later ones are the kind warm-process"
		}
		about += "."
	}
	f := s.figure("stages", "How long each stage takes", about+" Milliseconds.",
		func(o plot.Options) plot.Figure {
			o.X, o.Text = "ms", milliseconds
			return plot.Intervals(o, groups)
		})
	f.Table = table
	out := []block{{Figure: f}}
	if n := len(all) - len(drawn); n > 0 {
		out = append(out, block{Text: fmt.Sprintf("%d more kinds of runs are in the table alone.", n)})
	}
	return out
}

// point is a summary as a plot has it: where there is no interval, none is drawn.
func point(label string, x float64, s stats.Summary, factor float64) plot.Point {
	p := plot.Point{Label: label, X: x, Value: s.Median * factor, Known: s.N > 0}
	p.Lo, p.Hi = p.Value, p.Value
	if s.Decidable {
		p.Lo, p.Hi = s.Lo*factor, s.Hi*factor
	}
	return p
}

// interval95 are a summary of times as cells: the median, its interval where there
// is one, and the number of samples.
func interval95(s stats.Summary) []string {
	lo, hi := "", ""
	if s.Decidable {
		lo, hi = milliseconds(s.Lo/1e6), milliseconds(s.Hi/1e6)
	}
	return []string{milliseconds(s.Median / 1e6), lo, hi, fmt.Sprint(s.N)}
}
