// Package metrics has the figures of a round and of a run, each once: what asks for
// it, what it is called, and how it is computed. Every view and answer that shows
// one has it from here, and docs/numbers.md lists them.
package metrics

import (
	"math"
	"slices"
	"time"

	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/stats"
	"github.com/introgen/introgen/trace/names"
)

// Metric is a figure of a round, or of a whole run.
type Metric struct {
	Key, Also string // what --metric calls it; "" where nothing asks for it
	Name      string // its heading
	Bench     string // its name in the Go benchmark format, without the leading Benchmark; "" where it has none there
	// Rate says that the figure is a number a second, and more is better; else
	// it is a time in nanoseconds.
	Rate bool
	// Kind says what the figure is that is no time and no rate.
	Kind Kind
	Text string // what it is, in words
	// Of is the figure of a round, and whether the round has it; nil where only a
	// run has.
	Of func(breakdown.Round) (float64, bool)

	later bool // whether later rounds of a run speak for it, where there are any
	run   func(*breakdown.Run) (float64, bool)
}

// Kind is what a figure is.
type Kind int

// The kinds. The zero Kind is a time, or with Rate a number a second.
const (
	Count Kind = iota + 1 // a number
	Bytes
)

// The figures. Times to a token are from opening the file on, as in the experiment;
// Start1 is from the start of the process. What is missing in a recording makes
// none: there is no figure of a sum that lacks a part.
var (
	Read = Metric{Key: "read", Name: names.SpanRead, Bench: "ReadGGUF", Of: phase(names.SpanRead),
		Text: "opening the model file, until its directory is known"}
	Build = Metric{Key: "build", Name: names.SpanBuild, Bench: "Build", Of: phase(names.SpanBuild),
		Text: "from there until the model can run"}
	EncodePrompt = Metric{Name: names.SpanEncodePrompt, Of: phase(names.SpanEncodePrompt),
		Text: "the prompt's text to ids"}
	Prefill = Metric{Key: "prefill", Name: names.SpanPrefill, Bench: "Prefill", Of: phase(names.SpanPrefill),
		Text: "the prompt's pass, until the first new token is known"}
	First = Metric{Name: "first decode step", Bench: "Decode/step=1", Of: step(1),
		Text: "the first decode step of a round, which may have to compile"}
	Later = Metric{Name: "later steps", Bench: "Decode/step=later", Of: afterFirst(stepTime),
		Text: "the median of the decode steps after the first"}
	Decode = Metric{Key: "decode", Name: names.SpanStep, Of: allSteps, later: true,
		Text: "the median of all decode steps of a round"}
	Rate = Metric{Key: "rate", Name: "tokens/s", Rate: true, Of: afterFirst(stepRate),
		Text: "the number of later steps by the time of all of them"}
	Token1 = Metric{Key: "ttft", Also: "token1", Name: "to token 1", Bench: "FirstToken", Of: token(1),
		Text: "from opening the model file until the first new token is known, without what the instrument did between phases"}
	Token2 = Metric{Key: "token2", Name: "to token 2", Bench: "SecondToken", Of: token(2),
		Text: "the same until the second is known"}
	Start1 = Metric{Name: "start to token 1", Of: fromStart,
		Text: "the same for the first, from the start of the process"}
	Total = Metric{Key: "total", Name: "total", Bench: "Total", Of: total,
		Text: "prefill and all decode steps of a round, the experiment's total"}
	Process = Metric{Key: "process", Name: "process", Bench: "Process", run: process,
		Text: "from before the process is started until it has ended, as its parent takes it"}
	PerStep = Metric{Key: "per-step", Name: "per step", run: perStep,
		Text: "from the end of the prefill to the check at the end of the round, divided by the decode steps, in the median of the rounds: what the harness does between steps is in it"}
)

// All are the figures, in the order in which a run comes to them.
var All = slices.Concat([]Metric{Read, Build, EncodePrompt, Prefill, First, Later, Decode}, Tail, []Metric{Rate, Token1, Token2, Start1, Total, Process, PerStep}, Beginning, Totals)

// Called says whether --metric calls it so.
func (m Metric) Called(key string) bool { return key != "" && (key == m.Key || key == m.Also) }

// Unit is that of the metric where it is shown.
func (m Metric) Unit() string {
	switch {
	case m.Rate:
		return "1/s"
	case m.Kind == Count:
		return "number"
	case m.Kind == Bytes:
		return "MB"
	}
	return "ms"
}

// Over is the metric's median over rounds that have it, and whether any does. What
// is not finite is none.
func (m Metric) Over(rounds []breakdown.Round) (float64, bool) {
	var of []float64
	for _, r := range rounds {
		if v, ok := m.Of(r); ok && !math.IsNaN(v) && !math.IsInf(v, 0) {
			of = append(of, v)
		}
	}
	return stats.Median(of), len(of) > 0
}

// OfRun is the metric's of a run, which is one sample: over those of its rounds that
// speak for it.
func (m Metric) OfRun(r *breakdown.Run) (float64, bool) {
	switch {
	case m.run != nil:
		return m.run(r)
	case m.later:
		return m.Over(r.Later())
	}
	return m.Over(r.First())
}

// Alone is the same of a run that nothing else is asked of.
func (m Metric) Alone(r *recording.Run) (float64, bool) { return m.OfRun(breakdown.Take(r)) }

func phase(name string) func(breakdown.Round) (float64, bool) {
	return func(r breakdown.Round) (float64, bool) { return known(r.Took(name)) }
}

func known(t time.Duration) (float64, bool) { return float64(t), t != figures.Missing }

func token(n int) func(breakdown.Round) (float64, bool) {
	return func(r breakdown.Round) (float64, bool) {
		d, ok := r.Token(n)
		return float64(d), ok
	}
}

func fromStart(r breakdown.Round) (float64, bool) {
	d, ok := r.FromStart(1)
	return float64(d), ok
}

func total(r breakdown.Round) (float64, bool) { return known(r.Total()) }

func step(n int) func(breakdown.Round) (float64, bool) {
	return func(r breakdown.Round) (float64, bool) {
		s, ok := r.Step(n)
		return float64(s.Time()), ok
	}
}

// afterFirst leaves the first step out, which may have to compile.
func afterFirst(of func([]breakdown.Phase) (float64, bool)) func(breakdown.Round) (float64, bool) {
	return func(r breakdown.Round) (float64, bool) { return of(r.Later()) }
}

func allSteps(r breakdown.Round) (float64, bool) { return stepTime(r.Steps()) }

func stepTime(steps []breakdown.Phase) (float64, bool) {
	return StepMedian(steps, func(s breakdown.Phase) float64 { return float64(s.Time()) })
}

// StepMedian is the median of a figure over decode steps, and whether there are
// any.
func StepMedian(steps []breakdown.Phase, of func(breakdown.Phase) float64) (float64, bool) {
	v := make([]float64, len(steps))
	for i, s := range steps {
		v[i] = of(s)
	}
	return stats.Median(v), len(v) > 0
}

func stepRate(steps []breakdown.Phase) (float64, bool) {
	var sum time.Duration
	for _, s := range steps {
		sum += s.Time()
	}
	if sum <= 0 {
		return 0, false
	}
	return float64(len(steps)) / sum.Seconds(), true
}

func process(r *breakdown.Run) (float64, bool) {
	if r.Header.Program != nil {
		return Lives.run(r) // what the plan started is the recorder of it
	}
	if r.Exit == nil || r.Exit.Reaped <= r.Exit.Spawned || r.Exit.Spawned <= 0 {
		return 0, false
	}
	return float64(r.Exit.Reaped - r.Exit.Spawned), true
}

// perStep is the median over a run's rounds.
func perStep(r *breakdown.Run) (float64, bool) {
	if len(r.Lost) > 0 {
		return 0, false // what is missing may be the check at the end
	}
	var times []float64
	for _, round := range r.Told {
		var from, to time.Duration = -1, -1
		for _, p := range round.Phases {
			switch {
			case p.Open:
			case p.Name == names.SpanPrefill:
				from = p.End
			case p.Name == names.SpanCheck:
				to = p.Start // the last one ends decoding
			}
		}
		if steps := round.Made(); round.Event.Error == "" && steps > 0 && from >= 0 && to > from {
			times = append(times, float64(to-from)/float64(steps))
		}
	}
	return stats.Median(times), len(times) > 0
}
