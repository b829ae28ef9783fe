// Package sweep answers what a setting does: for each of its values the time of
// a decode step in the second round, as in the experiment, and what the device
// and the CPU did meanwhile; what one boundary of a command buffer costs; and
// which value to take.
package sweep

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/results/answers/samples"
	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/metrics"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/stats"
	"github.com/introgen/introgen/results/table"
)

// PerBuffer is the factor that has a mechanism of its own: operations that a
// command buffer holds.
const PerBuffer = "per-buffer"

// Context is the factor of how many positions a decode step finds in the cache.
const Context = "context"

// Answer is what a sweep says.
type Answer struct {
	Factors  []string // what was varied
	Programs bool     // whether the runs are of a program that was recorded
	Metric   metrics.Metric
	Whole    bool    // whether the programs are compared as a whole, since their steps are not the same work
	Groups   []Group // one, or where several factors were crossed one for each combination of the others
	Notes    table.Notes
}

// Group are the values of the first factor at fixed values of the others.
type Group struct {
	Others string // "threads=2", or ""
	Rows   []Row  // in the order of the plan
	// Boundary is the cost of one boundary of a command buffer in ns, one
	// value a block; N is 0 where buffers were not counted or did not vary.
	Boundary stats.Summary
	Growth   Growth
	Verdict  Verdict
}

// Row is one value.
type Row struct {
	Level  string
	Series samples.Series
	Time   stats.Summary // of the metric
	Device *Device       // nil where there is none
}

// Device is what happens in a decode step, the median step of the median run.
type Device struct {
	Buffers, Dispatches     float64
	Encode, Commit          float64 // ns
	GPU, Wait               float64
	Overlap                 float64 // the part of GPU in which the CPU did something else than wait for it
	TimesKnown, GPUReported bool
}

// Of makes the answer for the metric. Where the recording has no factors the
// arms' names are the levels.
func Of(f *breakdown.File, m metrics.Metric) (*Answer, error) {
	a := &Answer{Metric: m}
	if f.Plan != nil {
		a.Factors = f.Plan.Factors
	}
	if len(a.Factors) == 0 {
		a.Factors = []string{"arm"}
	}
	all := samples.LaterRounds(f)
	a.Notes = samples.Taints(all)
	a.Programs = slices.ContainsFunc(all, func(s samples.Series) bool {
		return slices.ContainsFunc(s.Samples, func(x samples.Sample) bool { return x.Rounds[0].Program() })
	})
	if a.Programs && m.Name == metrics.Decode.Name {
		m = metricOf(all)
		if least, most := work(all); m.Name == metrics.Repeats.Name && least*sameWork < most {
			m, a.Whole = metrics.Lives, true
			a.Notes.Add("Compared is the time of the whole program: what it repeats until a wait has from %s to %s dispatches, by the value, so that these steps are not the same work; `--mark REGEXP='decode step'` cuts steps that are", figures.Count(least), figures.Count(most))
		}
		a.Metric = m
	}
	for _, s := range all {
		sum := s.Summary(m)
		if sum.N == 0 {
			if s.Counted > 0 || s.Refused == 0 { // else why none counts is said
				a.Notes.Add("%s has no run with a %s", s.Name, m.Name)
			}
			continue
		}
		a.add(Row{Level: level(s, a.Factors[0]), Series: s, Time: sum, Device: device(s, a.stepsOf)}, others(s, a.Factors[1:]))
	}
	if len(a.Groups) == 0 {
		return nil, fmt.Errorf("no run counts, so there is nothing to sweep over: %s", strings.Join(append(a.Notes, samples.Uncounted(f.File)...), "; "))
	}
	a.Notes = append(a.Notes, samples.Silent(f.File)...)
	for i := range a.Groups {
		g := &a.Groups[i]
		g.Boundary = g.boundary(a.Metric)
		if a.Factors[0] == Context && !a.Metric.Rate {
			g.Growth = g.growth(a.Metric)
		}
		g.Verdict = judge(a.Factors[0], g.Rows, m)
	}
	return a, nil
}

// metricOf is what a program is swept by where nothing is asked for: its decode
// steps where it marks them, else what it repeats (if that is the same work at all
// values), else when its first output comes,
// else how long it runs.
func metricOf(all []samples.Series) metrics.Metric {
	for _, m := range []metrics.Metric{metrics.Decode, metrics.Repeats, metrics.FirstOutput} {
		if slices.ContainsFunc(all, func(s samples.Series) bool { return s.Summary(m).N > 0 }) {
			return m
		}
	}
	return metrics.Lives
}

func level(s samples.Series, factor string) string {
	if l, ok := s.Levels[factor]; ok {
		return l
	}
	return s.Name
}

func others(s samples.Series, factors []string) string {
	words := make([]string, len(factors))
	for i, f := range factors {
		words[i] = f + "=" + s.Levels[f]
	}
	return strings.Join(words, ", ")
}

func (a *Answer) add(r Row, others string) {
	i := slices.IndexFunc(a.Groups, func(g Group) bool { return g.Others == others })
	if i < 0 {
		i = len(a.Groups)
		a.Groups = append(a.Groups, Group{Others: others})
	}
	a.Groups[i].Rows = append(a.Groups[i].Rows, r)
}

// device takes the medians over steps, then over rounds and runs. It is nil
// where nothing of a device was recorded.
func device(s samples.Series, stepsOf func(breakdown.Round) []breakdown.Phase) *Device {
	d := &Device{}
	// Over the steps that say it: a count that is missing is none of 0, and where
	// spans are missing times are.
	of := func(says func(breakdown.Phase) bool, what func(breakdown.Phase) float64) float64 {
		v, _ := s.Values(metrics.Metric{Of: func(r breakdown.Round) (float64, bool) {
			return metrics.StepMedian(slices.DeleteFunc(stepsOf(r), func(p breakdown.Phase) bool { return !says(p) }), what)
		}})
		return stats.Median(v)
	}
	whole := func(p breakdown.Phase) bool { return !p.Lost }
	ns := func(what func(breakdown.Phase) time.Duration) float64 {
		return of(whole, func(p breakdown.Phase) float64 { return float64(what(p)) })
	}
	d.Buffers = of(buffered, func(p breakdown.Phase) float64 { return float64(p.CommandBuffers) })
	if d.Buffers == 0 {
		return nil
	}
	d.Dispatches = of(func(p breakdown.Phase) bool { return p.Dispatches > 0 }, func(p breakdown.Phase) float64 { return float64(p.Dispatches) })
	d.Encode = ns(func(p breakdown.Phase) time.Duration { return p.Encode })
	d.Commit = ns(func(p breakdown.Phase) time.Duration { return p.Commit })
	d.GPU = ns(func(p breakdown.Phase) time.Duration { return p.GPU })
	d.Wait = ns(func(p breakdown.Phase) time.Duration { return p.Wait })
	d.Overlap = of(whole, func(p breakdown.Phase) float64 { return float64(p.Overlap) / float64(max(1, p.GPU)) })
	d.TimesKnown, d.GPUReported = d.Encode+d.Wait > 0, d.GPU > 0
	return d
}

// sameWork is how many times the dispatches of another a step may have and still be
// compared with it.
const sameWork = 1.05

// work is the least and the most dispatches that a step which repeats has at any
// value; 0 is the least where nothing repeats at one.
func work(all []samples.Series) (least, most float64) {
	least = math.Inf(1)
	for _, s := range all {
		v, _ := s.Values(metrics.Metric{Of: func(r breakdown.Round) (float64, bool) {
			return metrics.StepMedian(r.Repeats(), func(p breakdown.Phase) float64 { return float64(p.Dispatches) })
		}})
		n := 0.0
		if len(v) > 0 {
			n = stats.Median(v)
		}
		least, most = min(least, n), max(most, n)
	}
	return least, most
}

// stepsOf are what the table has the parts of.
func (a *Answer) stepsOf(r breakdown.Round) []breakdown.Phase {
	if a.Whole && r.Program() {
		return []breakdown.Phase{r.Together()}
	}
	return stepsOf(r)
}

// stepsOf are a round's decode steps; of a program without any what it repeats, or all
// of it.
func stepsOf(r breakdown.Round) []breakdown.Phase {
	if s := r.Steps(); len(s) > 0 || !r.Program() {
		return s
	}
	return r.Repeated()
}

func buffered(p breakdown.Phase) bool { return p.CommandBuffers > 0 }

// boundary is the cost of one command buffer more in a step, block by block, so
// that its interval is over what was repeated.
func (g *Group) boundary(m metrics.Metric) stats.Summary {
	if m.Name != metrics.Repeats.Name {
		m = metrics.Decode // whatever is shown
	}
	buffers := metrics.Metric{Of: func(r breakdown.Round) (float64, bool) {
		var n, steps int64
		for _, p := range stepsOf(r) {
			if buffered(p) {
				n, steps = n+p.CommandBuffers, steps+1
			}
		}
		return float64(n) / float64(max(1, steps)), n > 0
	}}
	points := map[int][]point{}
	for _, r := range g.Rows {
		for block, sample := range recording.LastOfBlocks(r.Series.Samples, samples.Block) {
			x, counted := sample.Value(buffers)
			if y, ok := sample.Value(m); ok && counted {
				points[block] = append(points[block], point{x, y})
			}
		}
	}
	var slopes []float64
	for _, p := range points {
		if s, ok := slope(p); ok {
			slopes = append(slopes, s)
		}
	}
	return stats.Summarize(slopes)
}

type point struct{ x, y float64 }

// slope is the median of the slopes between all pairs of points, each weighted
// by how far apart its points are (H. Scholz, Weighted median regression
// estimates, Ann. Stat. 6, 1978): one value, as in Theil and Sen's, may be
// anything, while 605 buffers against 13 count for more than 4 against 1, whose
// difference is not the cost of three boundaries but the loss of overlap.
func slope(p []point) (float64, bool) {
	type weighted struct{ slope, weight float64 }
	var all []weighted
	var sum float64
	for i := range p {
		for j := i + 1; j < len(p); j++ {
			if w := math.Abs(p[j].x - p[i].x); w > 0 {
				all = append(all, weighted{(p[j].y - p[i].y) / (p[j].x - p[i].x), w})
				sum += w
			}
		}
	}
	if len(all) == 0 {
		return 0, false
	}
	slices.SortFunc(all, func(a, b weighted) int { return cmp.Compare(a.slope, b.slope) })
	var below float64
	for _, w := range all {
		if below += w.weight; below >= sum/2 {
			return w.slope, true
		}
	}
	return all[len(all)-1].slope, true
}
