package explain

import (
	"math"
	"slices"
	"time"

	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/results/answers/samples"
	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/metrics"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/stats"
	"github.com/introgen/introgen/trace/names"
)

// What rules ask of a case. Times are nanoseconds.

// figure is one of a round, and whether the round has it, as Metric.Of is.
type figure = func(breakdown.Round) (float64, bool)

// over is the median over the arm's runs of a figure of their first round.
func (c *Case) over(of figure) float64 { return median(c.Arm, of) }

// overLater is the same over later rounds.
func (c *Case) overLater(of figure) float64 { return median(c.Later, of) }

func median(s samples.Series, of figure) float64 {
	v, _ := s.Values(metrics.Metric{Of: of})
	return stats.Median(v)
}

// start2 is the time from the start of the process until the second token is known.
func start2(r breakdown.Round) (float64, bool) {
	d, ok := r.FromStart(2)
	return float64(d), ok
}

// phase is a figure of a phase whose spans are all there.
func phase(name string, of func(breakdown.Phase) time.Duration) figure {
	return func(r breakdown.Round) (float64, bool) {
		p, ok := r.Phase(name)
		return float64(of(p)), ok && !p.Open && !p.Lost
	}
}

// counted is a number that a phase may not have counted: then it is none.
func counted(n int64) float64 {
	if n == 0 {
		return math.NaN()
	}
	return float64(n)
}

// stepMedian is the median of a figure over a round's decode steps, as the sweep
// has it; in a process's first round without the first step, which may compile.
// Steps of which spans are missing are left out. Of a program without decode steps
// it is over what it repeats, and of one that repeats nothing over its phases
// together.
func stepMedian(of func(breakdown.Phase) float64) figure {
	return func(r breakdown.Round) (float64, bool) {
		steps := r.Steps()
		switch {
		case len(steps) == 0 && r.Program():
			steps = r.Repeated()
		case r.Number == 1:
			steps = r.Later()
		}
		steps = slices.DeleteFunc(steps, func(p breakdown.Phase) bool { return p.Lost || math.IsNaN(of(p)) })
		return metrics.StepMedian(steps, of)
	}
}

// program says whether the arm's runs are of a program that was recorded.
func (c *Case) program() bool {
	return slices.ContainsFunc(c.Runs, func(r *recording.Run) bool { return r.Header.Program != nil })
}

// noMetal says whether the arm's runs are of a program that never called Metal.
func (c *Case) noMetal() bool {
	return c.program() && !slices.ContainsFunc(c.Arm.Samples, func(x samples.Sample) bool { return x.Rounds[0].FirstMetal != figures.Missing })
}

// knob is a setting of the arm's first run; "" where it is not recorded.
func (c *Case) knob(name string) string {
	for _, r := range c.Runs {
		if v, said := r.Header.Knob(name); said {
			return v
		}
	}
	return ""
}

// taints are those of one code, the first of each run that has one.
func (c *Case) taints(code string) []recording.Taint {
	var out []recording.Taint
	for _, r := range c.Runs {
		if r.Exit == nil || r.Exit.Refused != "" {
			continue
		}
		if i := slices.IndexFunc(r.Exit.Taints, func(t recording.Taint) bool { return t.Code == code }); i >= 0 {
			out = append(out, r.Exit.Taints[i])
		}
	}
	return out
}

// ms prints a time.
func ms(d time.Duration) string { return figures.Milliseconds(d) }

// before is what an arm's runs spent on a part before their first round, the
// median.
func before(s samples.Series, kind string) float64 {
	return median(s, func(r breakdown.Round) (float64, bool) {
		var sum time.Duration
		for _, p := range r.Before {
			if p.Kind == kind {
				sum += p.Time
			}
		}
		return float64(sum), len(r.Before) > 0
	})
}

// residentBefore is the part of the file that was in memory before the first
// round, the median over runs, also those that do not count, and whether it had
// been dropped from there.
func (c *Case) residentBefore() (part float64, evicted, known bool) {
	var v []float64
	for _, r := range c.Runs {
		for _, e := range r.Evidence {
			if e.What == recording.EvidencePageCache && e.Round == 1 && e.Resident >= 0 {
				v, evicted = append(v, e.Resident), evicted || e.Evicted
			}
		}
	}
	return stats.Median(v), evicted, len(v) > 0
}

// firstPays is what the first build and prefill take longer than later ones,
// compiling left out; 0 where there is one round.
func (c *Case) firstPays() time.Duration {
	own := func(r breakdown.Round) (float64, bool) {
		build, ok := phase(names.SpanBuild, breakdown.Phase.Own)(r)
		prefill, also := phase(names.SpanPrefill, breakdown.Phase.Own)(r)
		return build + prefill, ok && also
	}
	if len(c.Later.Samples) == 0 || c.Later.Samples[0].Rounds[0].Number < 2 {
		return 0
	}
	return time.Duration(max(0, c.over(own)-c.overLater(own)))
}
