// Package remedy answers what would make a start quicker: each remedy with what it is
// predicted to save, between which bounds, what it costs and needs, how sure that is,
// and the command that measures it. Predictions are replays of recorded runs by
// package start under the rules that the remedy states. docs/remedies.md derives them
// by hand for one recording.
package remedy

import (
	"cmp"
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

// Options are what a recording does not decide.
type Options struct {
	// Threads is on how many the compiles go on beside each other; 0 is as many as
	// the recording says.
	Threads int
}

// Answer is about the arms of a recording, in the order of its plan.
type Answer struct {
	Arms []*Arm
	// Lacking says of arms that have runs which count why they are not among them.
	Lacking []string
}

// Arm is what would make the start of an arm's runs quicker.
type Arm struct {
	Name string
	Runs int
	// Threads are those on which compiles go on beside each other, Cores those that
	// they and the main thread share; 0 where that is not known. Threads are Assumed
	// where the recording does not say them and nobody else did.
	Threads, Cores int
	Assumed        bool
	Checks         []start.Check // the model replayed unchanged, of the run that is furthest off
	Goals          []Goal
	Compiling      time.Duration // libraries and pipelines, of the run with the median of it
	Libraries      int
	Pipelines      int
	Limit          Limit
	// Remedies are those that save enough, what saves the most of the first goal
	// first; Slight the keys of those that do not.
	Remedies []Remedy
	Slight   []string
	All      []Remedy // that were looked at, whatever they save
	// Without and With are the best combinations, without and with work at install
	// time; nil where nothing is worth it.
	Without, With *Combination
	Notes         []string // what cannot be known, and what is not worth a line
}

// Goal is what is waited for, and how long it took: the median of the runs.
type Goal struct {
	Name string
	Time time.Duration
}

// Limit is the chain that is left however many threads compile, to the last goal.
type Limit struct {
	Library, Function string // of its longest compile; "" where the main thread's own work is all
	Chain             time.Duration
	Goal              time.Duration // the last goal, where compiling takes no more than the chain
	Steps             []string
}

// Saving is what a remedy saves of the time to a goal.
type Saving struct {
	Saves, Lo, Hi time.Duration
}

// Sure is what a prediction rests on.
type Sure string

// How sure a prediction is.
const (
	Measured   Sure = "measured"   // other runs of the recording have it
	Arithmetic Sure = "arithmetic" // of what was recorded, and of nothing else
	Assumption Sure = "assumption" // of something that the recording does not say
)

// Remedy is one, with its prediction.
type Remedy struct {
	Key     string
	Title   string
	Savings []Saving      // of each goal
	Install time.Duration // work that has to be done before
	Costs   string
	Needs   string
	Rests   string // what the prediction rests on
	Sure    Sure
	Command []string // arguments of introgen that measure it; empty where nothing here does
}

// Combination is several remedies at once.
type Combination struct {
	Keys    []string
	Steps   []Saving // of the first goal, when one more is added
	Savings []Saving // of each goal
	Install time.Duration
	Command []string
}

// Worth is the part of the time to a goal from which on a remedy is worth telling.
const Worth = 0.01

// Of makes the answer. Where an arm is cold the others are not asked what would make
// them quicker, but what is known of a start after everything was compiled.
func Of(f *recording.File, o Options) (*Answer, error) {
	if o.Threads < 0 || o.Threads > start.MostThreads {
		return nil, fmt.Errorf("%d compile threads: 1 to %d are allowed", o.Threads, start.MostThreads)
	}
	taken := breakdown.Of(f)
	var cases []*model
	a := &Answer{}
	for _, s := range samples.Of(taken) {
		if s.State == recording.StateWarmProcess || len(s.Samples) == 0 {
			continue
		}
		m, err := modelOf(s, o)
		if err != nil {
			a.Lacking = append(a.Lacking, fmt.Sprintf("%s: %v", s.Name, err))
			continue
		}
		cases = append(cases, m)
	}
	if len(cases) == 0 {
		why := append(a.Lacking, samples.Uncounted(f)...)
		if len(why) == 0 {
			why = []string{"no run that counts has its first round"}
		}
		return nil, fmt.Errorf("there is no start to find remedies for: %s", strings.Join(why, "; "))
	}
	cold := slices.ContainsFunc(cases, (*model).compiles)
	for _, m := range cases {
		if cold && !m.compiles() {
			continue
		}
		m.warm = warmOf(m, cases)
		a.Arms = append(a.Arms, m.arm())
	}
	return a, nil
}

// Predict says what remedies together are predicted to save of each goal of an arm, by
// its own runs alone: so that other arms can be held against it. A key that the start
// has nothing of saves nothing.
func Predict(f *recording.File, arm string, keys []string, o Options) ([]Goal, []Saving, error) {
	m, err := armOf(breakdown.Of(f), arm, o)
	if err != nil {
		return nil, nil, err
	}
	saves, _ := m.predict(keys)
	return m.goals(), saves, nil
}

// armOf is the model of one arm, by its own runs alone.
func armOf(f *breakdown.File, arm string, o Options) (*model, error) {
	for _, s := range samples.Of(f) {
		if s.Name != arm || len(s.Samples) == 0 {
			continue
		}
		m, err := modelOf(s, o)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", arm, err)
		}
		return m, nil
	}
	return nil, fmt.Errorf("no run of %q counts, so that nothing can be predicted: `introgen show` of the recording says how its runs ended", arm)
}

// median is that of durations.
func median(all []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(all))
	if len(sorted) == 0 {
		return 0
	}
	return sorted[stats.Lower(len(sorted))]
}

// arm answers for one.
func (m *model) arm() *Arm {
	a := &Arm{Name: m.name, Runs: len(m.runs), Threads: m.threads, Cores: m.cores, Assumed: m.assumed, Checks: m.checks()}
	a.Goals = m.goals()
	var compiling []time.Duration
	for _, r := range m.runs {
		compiling = append(compiling, r.compiling)
	}
	a.Compiling = median(compiling)
	for _, c := range m.runs[0].start.Compiles {
		if c.IsLibrary() {
			a.Libraries++
		} else {
			a.Pipelines++
		}
	}
	a.Limit = m.limit()
	var all []candidate
	for _, of := range remedies {
		c, ok := of(m)
		if !ok {
			continue
		}
		c.Savings = m.savings(c.change)
		a.All = append(a.All, c.Remedy)
		if !worth(c.Savings, a.Goals) {
			a.Slight = append(a.Slight, c.Key)
			continue
		}
		all = append(all, c)
	}
	slices.SortStableFunc(all, func(x, y candidate) int {
		return cmp.Or(cmp.Compare(y.Savings[0].Saves, x.Savings[0].Saves), cmp.Compare(y.last().Saves, x.last().Saves))
	})
	for _, c := range all {
		a.Remedies = append(a.Remedies, c.Remedy)
	}
	a.Without, a.With = m.combine(all, false), m.combine(all, true)
	a.Notes = m.notes()
	return a
}

// worth says whether a remedy saves enough of a goal.
func worth(s []Saving, goals []Goal) bool {
	for i, x := range s {
		if goals[i].Time > 0 && float64(x.Saves) >= Worth*float64(goals[i].Time) {
			return true
		}
	}
	return false
}

// last is the saving of the last goal.
func (c candidate) last() Saving { return c.Savings[len(c.Savings)-1] }
