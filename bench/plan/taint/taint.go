// Package taint finds what taints a run that counts: the machine was not the
// run's own, or was not as fast as before. It drops nothing; whoever reads the
// samples decides. What can only be seen over many runs, drift and two modes,
// is package results/stats's.
package taint

import (
	"fmt"
	"slices"
	"time"

	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/stats"
	"github.com/introgen/introgen/trace"
	"github.com/introgen/introgen/trace/names"
)

// Limits from which on a run is tainted.
const (
	// mostOthers, in cores, is about what a system's own services take.
	mostOthers = 0.2
	// mostChange is the part by which the clock may differ from the median
	// of the runs before; leastBefore is how many those must be.
	mostChange  = 0.1
	leastBefore = 3
	// mostIdle between two passes is far more than printing takes. After a
	// second of idleness processors have left their highest clock.
	mostIdle = 100 * time.Millisecond
	// leastResident is the part of a model that lies in memory where it does.
	leastResident = 0.98
)

// Ended is a run that has ended, with the machine around it.
type Ended struct {
	Run   *recording.Run
	Cores int // that runs may use
	// Before and After are readings right before and right after it;
	// After.OtherCores covers what lies between.
	Before, After recording.Machine
	// MHz are the readings after the runs before it, in order.
	MHz []float64
}

// Of is what taints the run; nothing where nothing does.
func Of(e Ended) []recording.Taint {
	var taints []recording.Taint
	add := func(code string, value float64, format string, a ...any) {
		taints = append(taints, recording.Taint{Code: code, Value: value, Text: fmt.Sprintf(format, a...)})
	}
	if o := e.After.OtherCores; o >= mostOthers && !deviceBeside(e.Run) {
		add(recording.TaintLoad, o, "other processes kept %s of %d cores busy", figures.Text(o, 1), e.Cores)
	}
	if m, usual := e.After.MHz, stats.Median(e.MHz); m > 0 && usual > 0 && len(e.MHz) >= leastBefore && (m < usual*(1-mostChange) || m > usual*(1+mostChange)) {
		add(recording.TaintFrequency, m, "%s MHz after it, %s MHz after the runs before", figures.Text(m, 0), figures.Text(usual, 0))
	}
	if a, b := e.After.Throttled, e.Before.Throttled; b >= 0 && a > b {
		add(recording.TaintThrottled, float64(a-b), "%d times for heat", a-b)
	}
	if gap, where := longestGap(e.Run); gap > mostIdle {
		add(recording.TaintIdle, float64(gap.Milliseconds()), "%d ms between passes, before %s", gap.Milliseconds(), where)
	}
	for _, v := range e.Run.Evidence {
		if v.What == recording.EvidencePageCache && !v.Evicted && v.Resident >= 0 && v.Resident < leastResident {
			add(recording.TaintFile, v.Resident, "%s of the model lay in memory before round %d", figures.Percent(v.Resident), v.Round)
		}
	}
	return taints
}

// deviceBeside says that the run's device was a process that nobody here waits for, as
// the soft driver beside a recorded program is: what it did cannot be told from what
// others did.
func deviceBeside(r *recording.Run) bool {
	return r.Header.Program != nil && r.Device != nil && r.Device.Driver == "soft"
}

// longestGap is the longest time between the end of a pass and the begin of the
// next one of its round, and which one that is.
func longestGap(r *recording.Run) (longest time.Duration, before string) {
	if r.Header.Program != nil {
		return 0, "" // what it does between passes is its own
	}
	if slices.ContainsFunc(r.Spans, func(s trace.Record) bool { return s.Name == names.SpanPause }) {
		return 0, ""
	}
	var parent int32
	end, last := time.Duration(-1), trace.ID(0)
	for _, s := range r.Spans {
		if s.Name != names.SpanPrefill && s.Name != names.SpanStep || s.End < 0 {
			continue
		}
		if int32(s.Parent) == parent && end >= 0 && s.Start-end > longest && !r.Lacks(last, s.ID) {
			longest, before = s.Start-end, fmt.Sprintf("%s %d", s.Name, s.N)
		}
		parent, end, last = int32(s.Parent), s.End, s.ID
	}
	return longest, before
}
