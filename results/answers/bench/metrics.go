package bench

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/results/answers/samples"
	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/stats"
)

// Metric is a time of a run in nanoseconds, of which less is better.
type Metric struct {
	Key  string // what --metric calls it
	Name string // its heading
	Help string
	// Of is the run's value, and whether it has one that is finite.
	Of func(*breakdown.Run) (float64, bool)
}

// The metrics. A process's first round is its own figure; what comes later is
// its median.
var (
	Decode  = Metric{"decode", "decode step", "the median decode step, of the rounds after the first where there are any", decode}
	ToFirst = Metric{"ttft", "to token 1", "from opening the model file until the first new token is known, in the first round", firstRound(samples.Token1.Of)}
	Prefill = Metric{"prefill", "prefill", "the prompt's pass, in the first round", firstRound(samples.Prefill.Of)}
	Total   = Metric{"total", "total", "the first round's prefill and decode steps", firstRound(total)}
	Process = Metric{"process", "process", "the whole process, from before it is started until it has ended, as its parent takes it", process}
)

// Metrics are all of them, as the table has them.
var Metrics = []Metric{ToFirst, Prefill, Decode, Total, Process}

// Find is the metric with the key.
func Find(key string) (Metric, error) {
	i := slices.IndexFunc(Metrics, func(m Metric) bool { return m.Key == key })
	if i >= 0 {
		return Metrics[i], nil
	}
	keys := make([]string, len(Metrics))
	for j, m := range Metrics {
		keys[j] = m.Key
	}
	return Metric{}, fmt.Errorf("metric %q is not known: %s are allowed", key, strings.Join(keys, ", "))
}

func decode(r *breakdown.Run) (float64, bool) {
	var steps []float64
	for _, round := range samples.LaterOf(r) {
		for _, s := range round.Steps() {
			steps = append(steps, float64(s.Time()))
		}
	}
	if len(steps) == 0 {
		return 0, false
	}
	return finite(stats.Median(steps))
}

func finite(v float64) (float64, bool) { return v, v > 0 && !math.IsInf(v, 0) }

// firstRound is a figure of the first round of a run.
func firstRound(of func(breakdown.Round) (float64, bool)) func(*breakdown.Run) (float64, bool) {
	return func(r *breakdown.Run) (float64, bool) {
		if len(r.Rounds) == 0 || r.Rounds[0].Number != 1 {
			return 0, false
		}
		return of(r.Rounds[0])
	}
}

func total(r breakdown.Round) (float64, bool) {
	t := r.Total()
	return float64(t), t != figures.Missing
}

func process(r *breakdown.Run) (float64, bool) {
	if r.Exit == nil || r.Exit.Reaped <= r.Exit.Spawned || r.Exit.Spawned <= 0 {
		return 0, false
	}
	return float64(r.Exit.Reaped - r.Exit.Spawned), true
}
