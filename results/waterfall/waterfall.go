// Package waterfall lays a round out in lanes, one below the other in the order in
// which they began: the phases, within them what they compiled, and what the host
// and the device did for the passes. The page draws them, and so does the terminal.
package waterfall

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/plot"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/trace/names"
)

// leastPart is the part of a round that a library takes to have a lane of its own;
// those that take less share one.
const leastPart = 0.02

// Of lays out a round of the run. Times are milliseconds from the round's start. It
// is empty for a round whose start is not recorded.
func Of(run *breakdown.Run, r breakdown.Round) []plot.Lane {
	b := layout{round: r}
	rest := b.phases()
	if len(b.lanes) > 0 {
		b.device(run)
		b.between(rest)
	}
	return b.lanes
}

// Phases are of a round the lanes of its phases and of what they compiled.
func Phases(r breakdown.Round) []plot.Lane {
	b := layout{round: r}
	b.phases()
	return b.lanes
}

type layout struct {
	round breakdown.Round
	lanes []plot.Lane
}

// phases lays out the phases of the generation, and returns the others.
func (b *layout) phases() (rest []breakdown.Phase) {
	if b.round.Start == figures.Missing {
		return nil
	}
	var steps []breakdown.Phase
	at := 0
	for _, p := range b.round.Phases {
		switch {
		case p.Time() <= 0:
		case names.IsStep(p.Name) && p.N > 1 && len(p.Compiles)+len(p.Carried) == 0:
			if len(steps) == 0 {
				at = len(b.lanes)
			}
			steps = append(steps, p)
		case beside[p.Name]:
			rest = append(rest, p)
		default:
			b.phase(p)
		}
	}
	if len(steps) > 0 {
		b.lanes = slices.Insert(b.lanes, at, b.steps(steps))
	}
	return rest
}

// beside are phases that stand between others again and again, or behind all of
// them, and are no part of a generation: each sort has one lane, below all others.
var beside = map[string]bool{names.SpanRecord: true, names.SpanPause: true, names.SpanCheck: true, names.SpanClose: true}

func (b *layout) bar(start, end time.Duration, k plot.Kind, name string) plot.Bar {
	return plot.Bar{Start: ms(start - b.round.Start), End: ms(end - b.round.Start), Kind: k, Tip: name + ": " + figures.Milliseconds(end-start) + " ms"}
}

func ms(d time.Duration) float64 { return float64(d) / 1e6 }

// kinds are those of phases; a program's own phases are of none of them.
var kinds = map[string]plot.Kind{names.SpanRead: plot.Read, names.SpanBuild: plot.Build, names.SpanPrefill: plot.Prefill,
	names.SpanStep: plot.Decode, names.SpanRepeat: plot.Decode, names.SpanRecord: plot.Recording, names.SpanTokenizer: plot.Read,
	names.SpanEncodePrompt: plot.Read, names.SpanPhase: plot.CPU}

func kindOf(p breakdown.Phase) plot.Kind { return cmp.Or(kinds[p.Name], plot.Other) }

// phase is a lane, and below it the lanes of what it compiled.
func (b *layout) phase(p breakdown.Phase) {
	b.lanes = append(b.lanes, plot.Lane{Label: p.Title(), Bars: []plot.Bar{b.bar(p.Start, p.End, kindOf(p), p.Title())}})
	if len(p.Compiles) == 0 {
		return
	}
	var small, pipelines []plot.Bar
	for _, l := range breakdown.Libraries(p.Compiles) {
		var bars []plot.Bar
		var sum time.Duration
		for _, c := range l.Made {
			bars = append(bars, b.bar(c.Start, c.Start+c.Time, plot.Library, "compile library "+l.Name))
			sum += c.Time
		}
		switch {
		case len(bars) == 0:
		case float64(sum) < leastPart*float64(b.round.End-b.round.Start):
			small = append(small, bars...)
		default:
			b.lanes = append(b.lanes, plot.Lane{Label: "library " + l.Name, Depth: 1, Bars: bars})
		}
		for _, c := range l.Pipelines {
			pipelines = append(pipelines, b.bar(c.Start, c.Start+c.Time, plot.Pipeline, "compile pipeline "+c.Library+" "+c.Function))
		}
	}
	if len(small) > 0 {
		b.lanes = append(b.lanes, plot.Lane{Label: libraries(len(small)), Depth: 1, Bars: small})
	}
	if len(pipelines) > 0 {
		b.lanes = append(b.lanes, plot.Lane{Label: figures.Number(len(pipelines), "pipeline"), Depth: 1, Bars: pipelines})
	}
}

func libraries(n int) string {
	if n == 1 {
		return "1 small library"
	}
	return fmt.Sprintf("%d small libraries", n)
}

// steps is the lane of the later steps.
func (b *layout) steps(steps []breakdown.Phase) plot.Lane {
	first, last := steps[0], steps[len(steps)-1]
	l := plot.Lane{Label: fmt.Sprintf("%ss %d to %d", first.Name, first.N, last.N)}
	if len(steps) == 1 {
		l.Label = first.Title()
	}
	for _, p := range steps {
		l.Bars = append(l.Bars, b.bar(p.Start, p.End, kindOf(p), p.Title()))
	}
	return l
}

// between are lanes of what is no part of a generation, one for each sort.
func (b *layout) between(phases []breakdown.Phase) {
	at := map[string]int{}
	for _, p := range phases {
		i, ok := at[p.Name]
		if !ok {
			i, at[p.Name] = len(b.lanes), len(b.lanes)
			b.lanes = append(b.lanes, plot.Lane{Label: p.Name})
		}
		b.lanes[i].Bars = append(b.lanes[i].Bars, b.bar(p.Start, p.End, kindOf(p), p.Name))
	}
}

// device are lanes of what was done for the device, and by it. What was compiled or
// brought to the device while an encoder was open is no encoding, as in a phase's
// parts.
func (b *layout) device(run *breakdown.Run) {
	of := map[string][]stretch{}
	for _, s := range run.Spans {
		if s.End >= s.Start && s.Start >= b.round.Start && s.End <= b.round.End && !recording.Beside(s) {
			of[s.Name] = append(of[s.Name], stretch{s.Start, s.End})
		}
	}
	inner := slices.Concat(of[names.SpanLibrary], of[names.SpanPipeline], of[names.SpanAwait], of[names.SpanWeights], of[names.SpanRecord])
	for _, x := range []struct {
		name, label string
		kind        plot.Kind
		less        []stretch
	}{
		{names.SpanAwait, "wait for compiles", plot.Wait, nil},
		{names.SpanWeights, "weights to the device", plot.Weights, slices.Concat(of[names.SpanLibrary], of[names.SpanPipeline])},
		{names.SpanEncoder, "encode", plot.Encode, slices.Concat(inner, of[names.SpanCommit], of[names.SpanWait])},
		{names.SpanCommit, "commit", plot.Commit, nil},
		{names.SpanWait, "wait for the device", plot.Wait, nil},
		{names.SpanGPU, "device", plot.GPU, nil},
	} {
		var bars []plot.Bar
		for _, s := range without(of[x.name], x.less) {
			bars = append(bars, b.bar(s.from, s.to, x.kind, x.label))
		}
		if len(bars) > 0 {
			b.lanes = append(b.lanes, plot.Lane{Label: x.label, Bars: bars})
		}
	}
}

// stretch is a stretch of time.
type stretch struct{ from, to time.Duration }

// without are the stretches less what others of them, that lie within them, take.
func without(all, less []stretch) []stretch {
	byStart := func(x, y stretch) int { return cmp.Compare(x.from, y.from) }
	slices.SortStableFunc(less, byStart)
	var out []stretch
	for _, s := range slices.SortedFunc(slices.Values(all), byStart) {
		i, _ := slices.BinarySearchFunc(less, s, byStart)
		for ; i < len(less) && less[i].from < s.to; i++ {
			if less[i].from > s.from {
				out = append(out, stretch{s.from, less[i].from})
			}
			s.from = max(s.from, less[i].to)
		}
		if s.from < s.to {
			out = append(out, s)
		}
	}
	return out
}
