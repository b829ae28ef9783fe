package view

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/draw"
	"github.com/introgen/introgen/results/stats"
	"github.com/introgen/introgen/results/steps"
	"github.com/introgen/introgen/results/table"
)

// shownStalls is how many stalls of a round are told one by one.
const shownStalls = 5

// addSteps adds how the steps of a run's rounds are distributed, and which stalled.
func addSteps(d *table.Document, run *breakdown.Run) {
	if t := percentiles(run); len(t.Rows) > 0 {
		d.Table(t)
	}
	drawOrder(d, run)
	drawHistogram(d, run)
	for _, s := range steps.StalledRounds(run) {
		for _, line := range s.Lines(shownStalls) {
			d.Say("%s", line)
		}
	}
}

// percentiles has a row for each round with enough steps.
func percentiles(run *breakdown.Run) *table.Table {
	t := &table.Table{Columns: []table.Column{{Name: "round"}, {Name: "steps"}, {Name: "p50"}, {Name: "p90"}, {Name: "p99"}, {Name: "max"}}}
	for _, r := range run.Rounds {
		s := steps.Of(r)
		if !s.Enough() {
			continue
		}
		t.Title = fmt.Sprintf("%ss after the first: percentiles and their 95 %% intervals, where there are enough (ms)", s.Name)
		t.Add(table.Texts(strconv.Itoa(r.Number), strconv.Itoa(len(s.Later)), quantile(s.P50), quantile(s.P90), quantile(s.P99), figures.Milliseconds(s.Max))...)
	}
	return t
}

// quantile is "8.04 (7.90–8.20)", or the value alone where it has no interval.
func quantile(q stats.Quantile) string {
	if !q.Decidable {
		return milliseconds(q.Value)
	}
	return fmt.Sprintf("%s (%s–%s)", milliseconds(q.Value), milliseconds(q.Lo), milliseconds(q.Hi))
}

// drawnSteps is how many later steps a round, or a run, has at least to be drawn.
const drawnSteps = 10

// drawOrder draws the steps of each round in their order.
func drawOrder(d *table.Document, run *breakdown.Run) {
	title := ""
	var rounds []steps.Steps
	var labels []string
	widest := 0
	for _, r := range run.Rounds {
		if s := steps.Of(r); len(s.Later) >= drawnSteps {
			title = fmt.Sprintf("%ss after the first in their order, each column as high as the longest of its own", s.Name)
			rounds, labels = append(rounds, s), append(labels, fmt.Sprintf("round %d ", r.Number))
			widest = max(widest, len(labels[len(labels)-1]))
		}
	}
	d.Draw(title, func(unicode bool) []string {
		var out []string
		for i, s := range rounds {
			out = append(out, fmt.Sprintf("%-*s%s", widest, labels[i], draw.Sparkline(s.Values(), table.Width-widest, unicode)))
		}
		return out
	})
}

// drawHistogram draws how many of the steps of a run took how long, a line for each
// bin. Stalls would leave one bin for all the others, and are told instead.
func drawHistogram(d *table.Document, run *breakdown.Run) {
	s := steps.OfRun(run)
	if len(s.Later) < drawnSteps {
		return
	}
	limit := steps.Limit * s.P50.Value
	usual := slices.DeleteFunc(s.Values(), func(v float64) bool { return v > limit })
	title := fmt.Sprintf("how many of these took how long (ms)%s", ofRounds(run))
	if n := len(s.Later) - len(usual); n > 0 {
		title += fmt.Sprintf("; %d more took over %s", n, milliseconds(limit))
	}
	d.Draw(title, func(unicode bool) []string { return draw.Histogram(usual, milliseconds, table.Width, unicode) })
}

// ofRounds says which rounds speak for a run that made several.
func ofRounds(run *breakdown.Run) string {
	if len(run.Rounds) < 2 {
		return ""
	}
	return ", in the rounds after the first"
}

func milliseconds(v float64) string { return figures.Milliseconds(time.Duration(math.Round(v))) }
