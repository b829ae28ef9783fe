package plan

import (
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/stats"
)

// Width is how well a plan's answer is known: the width of the widest 95 %
// interval as a part of its middle, of the paired ratio of each arm to the
// first, or of the only arm's median. It is not known as long as an interval
// does not exist.
func Width(f *recording.File, metric func(*recording.Run) (float64, bool)) (width float64, known bool) {
	if f.Plan == nil || len(f.Plan.Arms) == 0 {
		return 0, false
	}
	first := f.Plan.Arms[0].Name
	if len(f.Plan.Arms) == 1 {
		var x []float64
		for _, r := range f.Counted(first) {
			if v, ok := metric(r); ok {
				x = append(x, v)
			}
		}
		s := stats.Summarize(x)
		if !s.Decidable || s.Median <= 0 {
			return 0, false
		}
		return (s.Hi - s.Lo) / s.Median, true
	}
	for _, arm := range f.Plan.Arms[1:] {
		as, bs := f.Pairs(first, arm.Name)
		r := stats.Paired(recording.PairValues(as, bs, metric))
		if !r.Decidable || r.Ratio <= 0 {
			return 0, false
		}
		width = max(width, (r.Hi-r.Lo)/r.Ratio)
	}
	return width, true
}
