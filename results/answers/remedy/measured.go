package remedy

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/introgen/introgen/results/answers/samples"
	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/start"
	"github.com/introgen/introgen/results/stats"
)

// Factor is what the arms of a plan differ in whose runs measure remedies, and Plain
// the arm that has none.
const (
	Factor = "remedy"
	Plain  = "serial"
)

// Near is the part of the plain start by which a prediction may be off.
const Near = 0.15

// Name is what an arm of such a plan is called.
func Name(keys ...string) string { return strings.Join(keys, "+") }

// Measurement is what was predicted of remedies, by the plain runs of a plan alone, beside
// what its other runs took.
type Measurement struct {
	Plain    *Arm
	Runs     int      // of the plain start
	Compared []Versus // in the order of the plan
	IDs      int      // new tokens of each run, the same of all
	// Dispatches are those of a run's first round, the same of all.
	Dispatches int64
	Lacking    []string
}

// Versus is a remedy, predicted and measured.
type Versus struct {
	Keys  []string
	Runs  int
	Goals []GoalVersus
	// Install is how long the last of the runs that prepared one took, the median;
	// Predicted what was predicted of it. Both are 0 where nothing is to be done.
	Install, Predicted time.Duration
}

// GoalVersus is the time to a goal.
type GoalVersus struct {
	Name              string
	Plain             time.Duration // the median of the plain runs
	Predicted, Lo, Hi time.Duration
	Measured          stats.Summary // ns
}

// Off is by how much of the plain start the prediction was off.
func (g GoalVersus) Off() float64 {
	return (g.Measured.Median - float64(g.Predicted)) / float64(g.Plain)
}

// Between says whether what was measured lies within the bounds of the prediction.
func (g GoalVersus) Between() bool {
	return g.Measured.Median >= float64(g.Lo) && g.Measured.Median <= float64(g.Hi)
}

// Held says whether the prediction held.
func (g GoalVersus) Held() bool { return g.Between() || g.Off() <= Near && g.Off() >= -Near }

// Sooner is how many times sooner the goal was reached.
func (g GoalVersus) Sooner() float64 { return float64(g.Plain) / g.Measured.Median }

// Measure makes the answer of a plan whose arms are remedies. Runs that gave other ids,
// or dispatched something else, are an error: then nothing can be compared.
func Measure(f *recording.File, o Options) (*Measurement, error) {
	if f.Plan == nil || !slices.Contains(f.Plan.Factors, Factor) {
		return nil, errors.New("it holds no plan of remedies: `introgen remedy --measure` makes one")
	}
	taken := breakdown.Of(f)
	out := &Measurement{Lacking: samples.Uncounted(f)}
	if err := out.alike(taken); err != nil {
		return nil, err
	}
	m, err := armOf(taken, Plain, o)
	if err != nil {
		return nil, err
	}
	out.Plain, out.Runs = m.arm(), len(m.runs)
	for _, a := range f.Plan.Arms {
		if a.Name == Plain {
			continue
		}
		v, err := m.versus(taken, a)
		if err != nil {
			out.Lacking = append(out.Lacking, fmt.Sprintf("%s: %v", a.Name, err))
			continue
		}
		out.Compared = append(out.Compared, v)
	}
	return out, nil
}

// alike holds that all runs generated the same and dispatched as much.
func (out *Measurement) alike(f *breakdown.File) error {
	first, of := []int32(nil), ""
	for _, r := range f.Counted("") {
		if len(r.Run.Rounds) == 0 || len(r.Rounds) == 0 {
			continue
		}
		ids, dispatches := r.Run.Rounds[0].IDs, int64(0)
		for _, p := range r.Rounds[0].Phases {
			dispatches += p.Dispatches
		}
		arm := r.Start.Arm
		if of == "" {
			first, of, out.IDs, out.Dispatches = ids, arm, len(ids), dispatches
		}
		if !slices.Equal(ids, first) {
			return fmt.Errorf("a run of %s generated other tokens than one of %s: a remedy that changes what is computed is none, and nothing is compared", arm, of)
		}
		if dispatches != out.Dispatches {
			return fmt.Errorf("a run of %s dispatched %d kernels and one of %s %d: they do not compute the same, and nothing is compared", arm, dispatches, of, out.Dispatches)
		}
	}
	return nil
}

// versus compares an arm with what the plain runs predict of it.
func (m *model) versus(f *breakdown.File, a recording.Arm) (v Versus, err error) {
	v.Keys = strings.Split(a.Levels[Factor], "+")
	saves, install := m.predict(v.Keys)
	v.Predicted = install
	goals := m.runs[0].start.Goals
	took := make([][]float64, len(goals))
	var prepared []time.Duration
	for _, r := range f.Counted(a.Name) {
		s, err := start.Of(r)
		if err != nil {
			return v, err
		}
		if !slices.EqualFunc(s.Goals, goals, func(x, y start.Goal) bool { return x.Name == y.Name }) {
			return v, errors.New("its runs did not get to what the plain ones did")
		}
		for g := range goals {
			took[g] = append(took[g], float64(s.Goals[g].Recorded))
		}
		if n := len(r.Exit.Prepared); n > 0 {
			prepared = append(prepared, time.Duration(r.Exit.Prepared[n-1]))
		}
		v.Runs++
	}
	if v.Runs == 0 {
		return v, errors.New("no run of it counts")
	}
	v.Install = median(prepared)
	for g, plain := range m.goals() {
		p := plain.Time
		v.Goals = append(v.Goals, GoalVersus{Name: goals[g].Name, Plain: p, Predicted: p - saves[g].Saves, Lo: p - saves[g].Hi, Hi: p - saves[g].Lo, Measured: stats.Summarize(took[g])})
	}
	return v, nil
}

// predict is what remedies save together, and the work that they need before. One that
// the start has nothing of saves nothing.
func (m *model) predict(keys []string) (saves []Saving, install time.Duration) {
	var all change
	for _, of := range remedies {
		if c, ok := of(m); ok && slices.Contains(keys, c.Key) {
			all, install = all.with(c.change), install+c.Install
		}
	}
	return m.savings(all), install
}
