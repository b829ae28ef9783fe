package view

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/results/breakdown"
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
	ms := func(v float64) string { return figures.Milliseconds(time.Duration(math.Round(v))) }
	if !q.Decidable {
		return ms(q.Value)
	}
	return fmt.Sprintf("%s (%s–%s)", ms(q.Value), ms(q.Lo), ms(q.Hi))
}
