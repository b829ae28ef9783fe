package waterfall

import (
	"testing"

	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/breakdown/breakdowntest"
)

// The wait for what is compiled beside has a lane, and what goes on beside takes
// nothing from the lane of encoding.
func TestBeside(t *testing.T) {
	run := breakdown.Take(breakdowntest.Beside(nil).Runs[0])
	lanes := map[string]float64{}
	for _, l := range Of(run, run.Rounds[0]) {
		for _, b := range l.Bars {
			lanes[l.Label] += b.End - b.Start
		}
	}
	for label, want := range map[string]float64{"wait for compiles": 60 + 100 + 70 + 30, "encode": 185 - 160, "library Gemm": 144, "library Sdpa": 270, "build model": 200} {
		if lanes[label] != want {
			t.Errorf("%s has %v ms, want %v", label, lanes[label], want)
		}
	}
}
