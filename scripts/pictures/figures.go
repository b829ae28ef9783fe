package main

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/metrics"
	"github.com/introgen/introgen/results/plot"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/waterfall"
)

func open(folder, name string) (*breakdown.File, error) {
	f, err := recording.Open(filepath.Join(folder, name))
	if err != nil {
		return nil, err
	}
	if f.Broken != "" || len(f.Warnings) > 0 {
		return nil, fmt.Errorf("%s is damaged: %s %q", name, f.Broken, f.Warnings)
	}
	return breakdown.Of(f), nil
}

// first is the first run of the arm that counts.
func first(f *breakdown.File, arm string) (*breakdown.Run, error) {
	runs := f.Counted(arm)
	if len(runs) == 0 {
		return nil, fmt.Errorf("no run of %q counts", arm)
	}
	return runs[0], nil
}

func ms(v float64) float64 { return v / 1e6 }

func milliseconds(v float64) string { return figures.Milliseconds(time.Duration(v * 1e6)) }

func coldStart(f *breakdown.File) (plot.Figure, error) {
	run, err := first(f, "cold")
	if err != nil {
		return plot.Figure{}, err
	}
	return plot.Waterfall(plot.Options{
		ID: "cold-start", Title: "A cold start on Metal: what took twelve seconds until the second token",
		Description: "Each bar is a phase of the first round, or a library that was compiled in it, in milliseconds from opening the model file.",
		X:           "ms from opening the model file",
	}, waterfall.Of(run, run.Rounds[0])), nil
}

// arms are those of the experiment, in the order in which it made them.
func arms(f *breakdown.File) []string {
	var out []string
	for _, run := range f.Runs {
		if arm := run.Start.Arm; !slices.Contains(out, arm) {
			out = append(out, arm)
		}
	}
	return out
}

func stages(f *breakdown.File) (plot.Figure, error) {
	var groups []plot.Group
	for _, m := range []metrics.Metric{metrics.Build, metrics.Prefill, metrics.First, metrics.Later} {
		g := plot.Group{Label: m.Name}
		for _, arm := range arms(f) {
			run, err := first(f, arm)
			if err != nil {
				return plot.Figure{}, err
			}
			v, ok := m.OfRun(run)
			g.Points = append(g.Points, plot.Point{Label: arm, Value: ms(v), Known: ok})
		}
		groups = append(groups, g)
	}
	return plot.Intervals(plot.Options{
		ID: "states", Title: "The same stages, cold, warm and on the CPU",
		Description: "The time of each stage of the first round in each state, in milliseconds on a logarithmic scale; one run each.",
		X:           "ms, first round of one run each", Text: milliseconds,
	}, groups), nil
}

func compiles(f *breakdown.File) (plot.Figure, error) {
	run, err := first(f, "cold")
	if err != nil {
		return plot.Figure{}, err
	}
	m := run.Metal()
	libraries := m.ByLibrary()
	var rows []plot.Row
	for _, l := range libraries {
		if t := breakdown.Compiling(l.Made); t > 0 {
			rows = append(rows, plot.Row{Label: l.Name, Kind: plot.Library, Value: ms(float64(t))})
		}
	}
	slices.SortStableFunc(rows, func(a, b plot.Row) int { return cmp.Compare(b.Value, a.Value) })
	rows = append(rows, plot.Row{Label: "all, one by one", Kind: plot.Other, Value: ms(float64(breakdown.Compiling(m.Libraries))), Strong: true})
	chain := breakdown.LongestChain(libraries)
	rows = append(rows, plot.Row{Label: "longest chain", Kind: plot.Other, Value: ms(float64(chain.Time)), Strong: true,
		Text: milliseconds(ms(float64(chain.Time))) + ": " + chain.Library + ", then " + chain.Function})
	return plot.Bars(plot.Options{
		ID: "compiles", Title: "Libraries of a cold start by compile time",
		Description: "Each bar is how long a library took to compile. The last but one is all of them one after the other, as they were; the last the longest library with its slowest pipeline, which would be left if each had a core of its own.",
		X:           "ms", Text: milliseconds,
	}, rows), nil
}

func steps(f *breakdown.File) (plot.Figure, error) {
	var series []plot.Series
	for i, arm := range []string{"cold", "cold-natural", "warm-cache", "cpu"} {
		run, err := first(f, arm)
		if err != nil {
			return plot.Figure{}, err
		}
		s := plot.Series{Label: arm, Kind: plot.Nth(i), First: 2}
		for _, p := range run.Rounds[0].Later() {
			s.Values = append(s.Values, ms(float64(p.Time())))
		}
		series = append(series, s)
	}
	return plot.Dots(plot.Options{
		ID: "steps", Title: "Every decode step of the first round after the first step",
		Description: "A dot is a decode step, in the order in which they were made, in milliseconds.",
		X:           "decode step", Y: "ms", Text: milliseconds,
	}, series, nil), nil
}

func sweep(f *breakdown.File) (plot.Figure, error) {
	var points []plot.Point
	for _, arm := range f.Plan.Arms {
		n, err := strconv.ParseFloat(arm.Levels["per-buffer"], 64)
		if err != nil {
			return plot.Figure{}, err
		}
		run, err := first(f, arm.Name)
		if err != nil {
			return plot.Figure{}, err
		}
		v, ok := metrics.Decode.OfRun(run)
		points = append(points, plot.Point{X: n, Value: ms(v), Known: ok})
	}
	return plot.Curve(plot.Options{
		ID: "sweep", Title: "What the operations in a command buffer do to a decode step",
		Description: "The median decode step of the second round by how many operations a command buffer holds, in milliseconds.",
		X:           "operations per command buffer", Y: "ms per decode step", Text: milliseconds,
	}, points, nil), nil
}
