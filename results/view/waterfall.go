package view

import (
	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/draw"
	"github.com/introgen/introgen/results/table"
	"github.com/introgen/introgen/results/waterfall"
)

// addWaterfall draws the first round of a run that compiled in it: where a cold
// start went. The other rounds have nothing to show that the tables do not.
func addWaterfall(d *table.Document, title string, run *breakdown.Run) {
	for _, r := range run.First() {
		if len(r.Together().Compiles) == 0 {
			continue
		}
		lanes := waterfall.Phases(r)
		d.Draw(title, func(unicode bool) []string { return draw.Waterfall(lanes, table.Width, unicode) })
	}
}
