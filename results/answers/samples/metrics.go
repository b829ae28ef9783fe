package samples

import (
	"time"

	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/stats"
	"github.com/introgen/introgen/trace/names"
)

// The figures of a round. Times to a token are from opening the file on, as in
// the experiment; Start1 is from the start of the process.
var (
	Read    = phase("read gguf", names.SpanRead)
	Build   = phase("build model", names.SpanBuild)
	Encode  = phase("encode prompt", names.SpanEncodePrompt)
	Prefill = phase("prefill", names.SpanPrefill)
	First   = Metric{Name: "first decode step", Of: step(1)}
	Later   = Metric{Name: "later steps", Of: afterFirst(stepMedian)} // the median step of the round
	Token1  = Metric{Name: "to token 1", Of: token(1)}
	Token2  = Metric{Name: "to token 2", Of: token(2)}
	Start1  = Metric{Name: "start to token 1", Of: fromStart}
	Rate    = Metric{Name: "tokens/s", Rate: true, Of: afterFirst(stepRate)} // of the later steps
	Decode  = Metric{Name: "decode step", Of: allSteps}                      // the median of all steps of the round
)

func phase(name, span string) Metric {
	return Metric{Name: name, Of: func(r breakdown.Round) (float64, bool) {
		p, ok := r.Phase(span)
		return float64(p.Time()), ok && !p.Open
	}}
}

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

func step(n int) func(breakdown.Round) (float64, bool) {
	return func(r breakdown.Round) (float64, bool) {
		s, ok := r.Step(n)
		return float64(s.Time()), ok
	}
}

// afterFirst leaves the first step out, which may have to compile.
func afterFirst(of func([]breakdown.Phase) (float64, bool)) func(breakdown.Round) (float64, bool) {
	return func(r breakdown.Round) (float64, bool) {
		s := r.Later()
		if len(s) == 0 {
			return 0, false
		}
		return of(s)
	}
}

func allSteps(r breakdown.Round) (float64, bool) { return stepMedian(r.Steps()) }

func stepMedian(steps []breakdown.Phase) (float64, bool) {
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
