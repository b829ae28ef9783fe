package page

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/results/answers/samples"
	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/plot"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/trace"
	"github.com/introgen/introgen/trace/names"
)

// Limits of the waterfall: of phases and libraries that have a lane of their own,
// and of arms that are drawn.
const mostPhases, mostLibraries, mostArms = 14, 30, 6

// startTitle calls the start cold only where a run was.
func startTitle(all []subject) string {
	for _, s := range all {
		if slices.ContainsFunc(samples.Of(s.file), func(x samples.Series) bool { return strings.HasPrefix(x.State, recording.StateCold) }) {
			return "Cold start"
		}
	}
	return "Start"
}

// start shows where the first round of a run went until its goal: of a plan that
// of the arm which was slowest to reach it, then those of the others.
func (s subject) start() []block {
	type begun struct {
		series samples.Series
		sample samples.Sample
		goal   breakdown.Goal
		ok     bool
	}
	var all []begun
	for _, x := range samples.Of(s.file) {
		if x.State == recording.StateWarmProcess || len(x.Samples) == 0 {
			continue
		}
		one := begun{series: x}
		one.sample = medianStart(x)
		one.goal, one.ok = one.sample.Rounds[0].Goal()
		all = append(all, one)
	}
	slices.SortStableFunc(all, func(a, b begun) int { return cmp.Compare(b.goal.Time, a.goal.Time) })
	var out []block
	for i, x := range all {
		if i == mostArms {
			out = append(out, block{Text: fmt.Sprintf("%d further kinds of runs, which were quicker, are not drawn.", len(all)-i)})
			break
		}
		b := s.waterfall(fmt.Sprintf("start-%d", i+1), x.sample)
		if i == 0 {
			out = append(out, b...)
			continue
		}
		title := clean(x.series.Name)
		if x.ok {
			title += fmt.Sprintf(": %s ms to %s", figures.Milliseconds(x.goal.Time), x.goal.Brief())
		}
		out = append(out, block{Details: &details{title, b}})
	}
	if len(all) == 0 { // what can be seen of a run that does not count
		for _, run := range s.file.Runs {
			if taken := s.file.Run(run); len(taken.Rounds) > 0 {
				out = append(out, s.waterfall("start-1", samples.Sample{Run: taken, Block: 1, Rounds: taken.Rounds})...)
				break
			}
		}
	}
	return out
}

// medianStart is the run of a series whose first round took the median time to its
// goal: one that there was.
func medianStart(s samples.Series) samples.Sample {
	order := slices.Clone(s.Samples)
	slices.SortStableFunc(order, func(a, b samples.Sample) int {
		x, _ := a.Rounds[0].Goal()
		y, _ := b.Rounds[0].Goal()
		return cmp.Compare(x.Time, y.Time)
	})
	return order[(len(order)-1)/2]
}

// cascade is the beginning of a run in lanes, and as a table.
type cascade struct {
	zero  time.Duration // on the run's clock
	until time.Duration
	lanes []plot.Lane
	rows  [][]string
}

// waterfall draws the first round of a run until its goal.
func (s subject) waterfall(id string, x samples.Sample) []block {
	r := x.Rounds[0]
	c := cascade{zero: r.Start, until: window(r)}
	for _, before := range r.Before {
		c.zero = min(c.zero, 0) // the run's clock begins with it
		if before.Kind == breakdown.ProcessStart {
			c.zero = -before.Time
		}
	}
	c.before(x.Run, r)
	c.phases(r)
	c.compiles(r)
	c.device(x.Run.Run, r)
	if len(c.lanes) == 0 || c.until <= c.zero {
		return nil
	}
	title := "The start of " + clean(runName(x.Run.Run, samples.Shown(x.Run.Run)))
	text := ""
	if g, ok := r.Goal(); ok {
		text = fmt.Sprintf("%s was reached %s ms after the start", capital(g.Name), figures.Milliseconds(g.Until-c.zero))
		if c.zero < r.Start {
			text += fmt.Sprintf(" of the process. Of these %s ms are the round's own; the others passed before it, or in the recording's own work.", figures.Milliseconds(g.Time))
		} else {
			text += " of the round."
		}
	} else if r.Open {
		text = "The recording ends before the second token was known."
	}
	f := s.figure(id, title, "Time runs to the right. A lane is a phase of the run, a library with its pipelines (hatched), or what the CPU and the device did; behind it stands its sum in milliseconds.",
		func(o plot.Options) plot.Figure { return plot.Waterfall(o, c.lanes) })
	f.Table = grid{Caption: title + ", in ms from its begin", Head: append(words("what", "name"), numbers("begins", "takes")...), Rows: c.rows}
	return []block{{Text: text}, {Figure: f}}
}

// runName is what a run is called: its place in its plan, or what it is.
func runName(r *recording.Run, otherwise string) string {
	if r.Start != nil {
		return fmt.Sprintf("run %d (%s)", r.Start.Run, r.Start.Arm)
	}
	return "the run (" + otherwise + ")"
}

// window is how much of a round is drawn: until the phase has ended in which its
// goal was reached, and one phase more to compare with.
func window(r breakdown.Round) time.Duration {
	g, ok := r.Goal()
	if !ok {
		end := r.End
		for _, p := range r.Phases {
			end = max(end, p.End)
		}
		return end
	}
	for i, p := range r.Phases {
		if p.End >= g.Until {
			if i+1 < len(r.Phases) && !r.Phases[i+1].Open {
				return r.Phases[i+1].End
			}
			return p.End
		}
	}
	return g.Until
}

// bar adds one to a lane, and a row for it to the table.
func (c *cascade) bar(kind plot.Kind, what, name string, from, to time.Duration) plot.Bar {
	c.rows = append(c.rows, []string{what, name, c.at(from), figures.Milliseconds(to - from)})
	return c.drawn(kind, join(what, name), from, to)
}

func (c *cascade) drawn(kind plot.Kind, what string, from, to time.Duration) plot.Bar {
	return plot.Bar{Start: inMS(from - c.zero), End: inMS(min(to, c.until) - c.zero), Kind: kind,
		Tip: fmt.Sprintf("%s: %s ms, from %s ms on", what, figures.Milliseconds(to-from), c.at(from))}
}

// at is a moment as the table has it.
func (c *cascade) at(t time.Duration) string {
	if t == c.zero {
		return "0"
	}
	return figures.Milliseconds(t - c.zero)
}

func inMS(d time.Duration) float64 { return float64(d) / 1e6 }

func join(what, name string) string {
	if name == "" {
		return what
	}
	return what + " " + name
}

// before is what the process did before its first round.
func (c *cascade) before(run *breakdown.Run, r breakdown.Round) {
	lane := plot.Lane{Label: "before"}
	if c.zero < 0 {
		lane.Bars = append(lane.Bars, c.bar(plot.Other, breakdown.ProcessStart, "", c.zero, 0))
	}
	for _, s := range run.Spans {
		if s.Parent == 0 && s.End >= 0 && s.End <= r.Start && s.Name != names.SpanRound && s.End > s.Start && s.Start >= c.zero && s.Track == 0 {
			lane.Bars = append(lane.Bars, c.bar(kindOf(s.Name), clean(s.Name), clean(s.Detail), s.Start, s.End))
		}
	}
	if len(lane.Bars) > 0 {
		c.lanes = append(c.lanes, lane)
	}
}

// phases has a lane for each of the first phases, and one for those beyond.
func (c *cascade) phases(r breakdown.Round) {
	more := plot.Lane{}
	for i, p := range r.Phases {
		if p.Start >= c.until {
			break
		}
		name := clean(p.Title())
		if p.Open {
			name += " (the recording ends in it)"
		}
		b := c.bar(kindOf(p.Name), name, "", p.Start, p.End)
		at := slices.IndexFunc(c.lanes, func(l plot.Lane) bool { return l.Label == clean(p.Title()) })
		switch { // what is made again and again, as the instrument's own work, has one lane
		case at >= 0:
			c.lanes[at].Bars = append(c.lanes[at].Bars, b)
		case i < mostPhases:
			c.lanes = append(c.lanes, plot.Lane{Label: clean(p.Title()), Bars: []plot.Bar{b}})
		case len(more.Bars) < 4*mostPhases:
			more.Bars = append(more.Bars, b)
		}
	}
	if len(more.Bars) > 0 {
		more.Label = "further phases"
		c.lanes = append(c.lanes, more)
	}
}

// compiles has a lane for each library, with the pipelines that were made of it.
func (c *cascade) compiles(r breakdown.Round) {
	var all []breakdown.Compile
	for _, p := range r.Phases {
		for _, x := range p.Compiles {
			if x.Start < c.until {
				all = append(all, x)
			}
		}
	}
	more := plot.Lane{Label: "further libraries"}
	for i, l := range breakdown.Libraries(all) {
		lane := plot.Lane{Label: clean(l.Name)}
		for _, x := range slices.Concat(l.Made, l.Pipelines) {
			kind, what, name := plot.Library, "library", x.Library
			if !x.IsLibrary() {
				kind, what, name = plot.Pipeline, "pipeline", x.Library+" "+x.Function
			}
			if x.FromCache() {
				what += " from the cache"
			}
			lane.Bars = append(lane.Bars, c.bar(kind, what, clean(name), x.Start, x.Start+x.Time))
		}
		if i < mostLibraries {
			c.lanes = append(c.lanes, lane)
		} else {
			more.Bars = append(more.Bars, lane.Bars...)
		}
	}
	if len(more.Bars) > 0 {
		c.lanes = append(c.lanes, more)
	}
}

// activities are what the CPU and the device do beside the phases, in the order of
// their lanes.
var activities = []struct {
	span, label string
	kind        plot.Kind
}{
	{names.SpanAwait, "wait for compiles", plot.Wait},
	{names.SpanWeights, "weights", plot.Weights},
	{names.SpanEncoder, "encode", plot.Encode},
	{names.SpanCommit, "commit", plot.Commit},
	{names.SpanWait, "wait", plot.Wait},
	{names.SpanGPU, "device", plot.GPU},
}

// device has a lane for each of what the CPU did for the device, less compiling,
// and one for what the device itself did.
func (c *cascade) device(run *recording.Run, r breakdown.Round) {
	var compiling []trace.Record
	for _, s := range run.Spans {
		if made := s.Name == names.SpanLibrary || s.Name == names.SpanPipeline; (made && !recording.Beside(s) || s.Name == names.SpanAwait) && s.End >= 0 {
			compiling = append(compiling, s)
		}
	}
	for _, a := range activities {
		var of []interval
		for _, s := range run.Spans {
			if s.Name == a.span && s.End > s.Start && s.Start >= r.Start && s.Start < c.until {
				of = append(of, interval{s.Start, min(s.End, c.until)})
			}
		}
		if a.span != names.SpanGPU && a.span != names.SpanAwait {
			of = without(of, compiling)
		}
		of = union(of)
		if len(of) == 0 {
			continue
		}
		var sum time.Duration
		for _, x := range of {
			sum += x.to - x.from
		}
		lane := plot.Lane{Label: a.label}
		for _, x := range merged(of, (c.until-c.zero)/800) {
			lane.Bars = append(lane.Bars, c.drawn(a.kind, a.label, x.from, x.to))
		}
		c.lanes = append(c.lanes, lane)
		c.rows = append(c.rows, []string{a.label, fmt.Sprintf("%s, until %s ms", figures.Number(len(of), "interval"), c.at(of[len(of)-1].to)), c.at(of[0].from), figures.Milliseconds(sum)})
	}
}
