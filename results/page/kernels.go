package page

import (
	"strconv"
	"time"

	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/plot"
)

// kernels shows where the device's time went, kernel by kernel.
func (s subject) kernels() []block {
	var run *breakdown.Run
	for _, r := range s.file.Runs { // the first whose device told of kernels
		if taken := s.file.Run(r); len(taken.Metal().Kernels) > 0 {
			run = taken
			break
		}
	}
	if run == nil {
		return nil
	}
	kernels := run.Metal().Kernels
	var sum int64
	for _, k := range kernels {
		sum += k.Time
	}
	if sum == 0 {
		return nil
	}
	table := grid{Caption: "Kernels over the whole run, in ms", Head: append(words("kernel"), numbers("dispatches", "ms", "part")...)}
	var rows []plot.Row
	for i, k := range kernels {
		part := figures.Percent(float64(k.Time) / float64(sum))
		table.Rows = append(table.Rows, []string{clean(k.Name), strconv.FormatInt(k.Dispatches, 10), figures.Milliseconds(time.Duration(k.Time)), part})
		if i < mostCompiles {
			rows = append(rows, plot.Row{Label: clean(k.Name), Value: float64(k.Time) / 1e6, Kind: plot.GPU})
		}
	}
	f := s.figure("kernels", "Kernels by the time that the device ran them", "Each bar is the device's time in a kernel over the whole run, in milliseconds.", func(o plot.Options) plot.Figure {
		o.X, o.Text = "ms", milliseconds
		return plot.Bars(o, rows)
	})
	f.Table = table
	return []block{{Figure: f}}
}
