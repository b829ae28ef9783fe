package view

import (
	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/draw"
	"github.com/introgen/introgen/results/table"
	"github.com/introgen/introgen/results/waterfall"
)

// waterfalls are the kinds of run of a plan that have been drawn: the others of a
// kind look alike.
type waterfalls map[string]bool

// add draws the first round of a run that compiled in it, where a cold start went; of
// a plan the first run of each kind that counts.
// The other rounds have nothing to show that the tables do not.
func (w waterfalls) add(d *table.Document, title string, run *breakdown.Run) {
	if run.Start != nil && (w[run.Start.Arm] || !run.Counts()) {
		return
	}
	for _, r := range run.First() {
		if len(r.Together().Compiles) == 0 {
			continue
		}
		if run.Start != nil {
			w[run.Start.Arm] = true
		}
		lanes := waterfall.Phases(r)
		d.Draw(title, func(unicode bool) []string { return draw.Waterfall(lanes, table.Width, unicode) })
	}
}
