// Package samples turns a recording into samples: for every arm of a plan the
// rounds that speak for it, one value a run, in the order of execution. Runs
// that were refused are left out and counted.
package samples

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/metrics"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/shellwords"
	"github.com/introgen/introgen/results/stats"
	"github.com/introgen/introgen/trace/names"
)

// Series is what one arm gave.
type Series struct {
	Name    string
	State   string            // one of recording's states; "" where the arm claims none
	Levels  map[string]string // factor → level
	Runs    []*recording.Run  // all of them, also those that do not count
	Samples []Sample          // runs that count, in order
	Tally                     // of all runs but those that count and lack its rounds
}

// Tally counts runs.
type Tally struct {
	Counted int // that count
	Refused int // that do not
	Flagged int // that count, but something tainted them
	Lacking int // that count, and of which spans are missing
}

// Add counts one more.
func (t *Tally) Add(r *recording.Run) {
	if !r.Counts() {
		t.Refused++
		return
	}
	t.Counted++
	if r.Exit != nil && len(r.Exit.Flags) > 0 {
		t.Flagged++
	}
	if len(r.Lost) > 0 {
		t.Lacking++
	}
}

// Sample is what one run gives.
type Sample struct {
	Run    *breakdown.Run
	Block  int               // runs of one block are next to each other in time
	Rounds []breakdown.Round // at least one
}

// arm is an arm of a plan with its runs.
type arm struct {
	recording.Arm
	file *breakdown.File
	runs []*recording.Run
}

// arms are those of the plan, in its order. A run without one makes its own,
// named by the state that its evidence shows.
func arms(f *breakdown.File) []arm {
	var out []arm
	if f.Plan != nil {
		for _, a := range f.Plan.Arms {
			out = append(out, arm{Arm: a, file: f})
		}
	}
	for _, r := range f.Runs {
		name := armOf(r)
		i := slices.IndexFunc(out, func(a arm) bool { return a.Name == name })
		if i < 0 {
			i = len(out)
			out = append(out, arm{Arm: recording.Arm{Name: name, State: Shown(r)}, file: f})
		}
		out[i].runs = append(out[i].runs, r)
	}
	return out
}

// armOf is the arm of a run, or without a plan the state that its evidence shows.
// A program that another one started is no sample of that one's.
func armOf(r *recording.Run) string {
	switch p := r.Header.Program; {
	case r.Start != nil:
		return r.Start.Arm
	case p != nil && p.Parent != 0:
		return Shown(r) + " (" + filepath.Base(p.Path) + ", a child)"
	}
	return Shown(r)
}

// Child says whether the series is of a program that another recorded one started,
// and so is compared with nothing.
func (s Series) Child() bool {
	return slices.ContainsFunc(s.Runs, func(r *recording.Run) bool { return r.Header.Program != nil && r.Header.Program.Parent != 0 })
}

// collect makes a series of an arm with the rounds that pick chooses of each
// run that counts.
func (a arm) collect(name, state string, pick func(*breakdown.Run) []breakdown.Round) Series {
	s := Series{Name: name, State: state, Levels: a.Levels, Runs: a.runs}
	for i, r := range a.runs {
		if !r.Counts() {
			s.Add(r)
			continue
		}
		taken := a.file.Run(r)
		x := Sample{Run: taken, Block: i + 1, Rounds: pick(taken)}
		if r.Start != nil {
			x.Block = r.Start.Block
		}
		if len(x.Rounds) == 0 {
			continue
		}
		s.Add(r)
		s.Samples = append(s.Samples, x)
	}
	return s
}

// Of returns the arms of a plan in its order, each with its first rounds.
// Rounds after the first of a process in which everything was in the cache make
// a series of their own, warm-process, behind the arm that they belong to. A
// recording without a plan is one arm, named by the state that its evidence
// shows.
func Of(f *breakdown.File) []Series {
	var out []Series
	for _, a := range arms(f) {
		out = append(out, a.collect(a.Name, a.State, (*breakdown.Run).First))
		if a.State != recording.StateWarmCache {
			continue
		}
		name := recording.StateWarmProcess
		if a.Name != recording.StateWarmCache {
			name = a.Name + " " + name
		}
		s := a.collect(name, recording.StateWarmProcess, (*breakdown.Run).AfterFirst)
		s.Tally = Tally{} // it is told with the arm
		if len(s.Samples) > 0 {
			out = append(out, s)
		}
	}
	return out
}

// LaterRounds returns the arms with the rounds after the first of each run, and of
// runs that have one round with that.
func LaterRounds(f *breakdown.File) []Series {
	var out []Series
	for _, a := range arms(f) {
		out = append(out, a.collect(a.Name, a.State, (*breakdown.Run).Later))
	}
	return out
}

// StateOther is what a program is shown as that compiled nothing, or of which nobody
// says from where: it is in none of the states.
const StateOther = "recorded"

// Shown is the state that a run's evidence shows, for a run that claims none.
func Shown(r *recording.Run) string {
	if r.Header.Program != nil && len(r.Libraries)+len(r.Pipelines) == 0 {
		return StateOther
	}
	if r.Header.Command != "metal" && r.Header.Program == nil {
		for _, e := range r.Evidence {
			if e.What == recording.EvidencePageCache && e.Evicted {
				return recording.StateColdFile
			}
		}
		if r.Header.Command == "cpu" {
			return recording.StateCPU
		}
		return r.Header.Command
	}
	told := false
	for _, e := range r.Evidence {
		if e.What != recording.EvidenceMetalCache {
			continue
		}
		told = true
		switch {
		case e.Archive.Given() > 0:
			return recording.StateArchive
		case e.Nonce != "":
			return recording.StateCold
		case e.LibraryMisses+e.PipelineMisses > 0, e.Unknown > 0 && e.After.Grew(e.Before):
			return recording.StateColdNatural
		case r.Header.Program != nil && e.LibraryHits+e.PipelineHits == 0 && e.Before == nil:
			return StateOther // nobody says whether a cache had anything
		case e.Archive != nil:
			return recording.StateArchive // it gave nothing, but what it said of each took its time
		}
	}
	if !told {
		return cutOff(r)
	}
	return recording.StateWarmCache
}

// cutOff is the state of a run that ended before its evidence was written. What it
// compiled until then shows that it was cold; that it compiled nothing shows nothing.
func cutOff(r *recording.Run) string {
	told := func(state string) bool {
		return slices.ContainsFunc(r.Libraries, func(l recording.Library) bool { return l.Cache == state }) ||
			slices.ContainsFunc(r.Pipelines, func(p recording.Pipeline) bool { return p.Cache == state })
	}
	switch {
	case told(names.CacheArchive):
		return recording.StateArchive
	case !told(names.CacheMiss):
		return StateOther
	case r.Device != nil && r.Device.Nonce != "":
		return recording.StateCold
	}
	return recording.StateColdNatural
}

// Values are the metric's, one a run: the median of the run's rounds. A run
// that has none, or one that is not finite, is left out; blocks are those of
// the values.
func (s Series) Values(m metrics.Metric) (values []float64, blocks []int) {
	for _, x := range s.Samples {
		if v, ok := x.Value(m); ok {
			values, blocks = append(values, v), append(blocks, x.Block)
		}
	}
	return values, blocks
}

// Value is the metric's of the sample's rounds; one of a whole run is that of the
// sample with its first round.
func (x Sample) Value(m metrics.Metric) (float64, bool) {
	if m.Of == nil {
		v, ok := m.OfRun(x.Run)
		return v, ok && x.Rounds[0].Number == 1
	}
	return m.Over(x.Rounds)
}

// Summary is the middle of the metric over runs.
func (s Series) Summary(m metrics.Metric) stats.Summary {
	v, _ := s.Values(m)
	return stats.Summarize(v)
}

// Block is that of a sample.
func Block(x Sample) int { return x.Block }

// Pairs are the metric's values in the blocks that a and b share, one of each
// a block.
func Pairs(a, b Series, m metrics.Metric) (va, vb []float64) {
	as, bs := recording.Paired(a.Samples, b.Samples, Block)
	return recording.PairValues(as, bs, func(x Sample) (float64, bool) { return x.Value(m) })
}

// Ratio is b to a, paired by block.
func Ratio(a, b Series, m metrics.Metric) stats.Ratio {
	va, vb := Pairs(a, b, m)
	return stats.Paired(va, vb)
}

// Taints says, in a sentence each, how many runs of which series do not count or
// were tainted; nothing where there are none.
func Taints(all []Series) []string {
	var out []string
	tell := func(format string, count func(Series) (n, of int)) {
		var some []string
		for _, s := range all {
			if n, of := count(s); n > 0 {
				some = append(some, fmt.Sprintf("%s %d of %d", s.Name, n, of))
			}
		}
		if len(some) > 0 {
			out = append(out, fmt.Sprintf(format, strings.Join(some, ", ")))
		}
	}
	tell("Runs that do not count (refused, failed or cut off): %s", func(s Series) (n, of int) { return s.Refused, s.Refused + s.Counted })
	tell("Runs that something tainted: %s; `introgen explain` says what", func(s Series) (n, of int) { return s.Flagged, s.Counted })
	tell("Runs of whose recording spans are missing, so that they have fewer samples: %s", func(s Series) (n, of int) { return s.Lacking, s.Counted })
	return out
}

// Mixed says in what the runs of a recording, or of several, differ that
// should not be compared: the machine, the model, the tool, the prompt. It is empty where
// all are of one kind. A run that was cut off before it said what it is says
// nothing.
func Mixed(runs []*recording.Run) []string {
	runs = slices.DeleteFunc(slices.Clone(runs), func(r *recording.Run) bool { return r.Header.Command == "" })
	var out []string
	for _, k := range []struct {
		what string
		of   func(recording.Header) string // "" of what there is nothing to be said
	}{
		{"program", func(h recording.Header) string {
			if h.Program == nil || h.Program.Parent != 0 {
				return ""
			}
			return shellwords.Join(append([]string{h.Program.Path}, h.Program.Args...))
		}},
		{"machine", func(h recording.Header) string {
			return fmt.Sprintf("%s (%s/%s, %s, %d cores)", h.Host.Name, h.Host.OS, h.Host.Arch, h.Host.CPU, h.Host.Cores)
		}},
		{"model", func(h recording.Header) string {
			if h.Program != nil {
				return ""
			}
			return fmt.Sprintf("%s (%d bytes, %s)", h.Model.File, h.Model.Bytes, h.Model.Types)
		}},
		{"version of introgen", func(h recording.Header) string { return h.Tool.Version + " " + h.Tool.Commit }},
		{"profile of introgen itself", func(h recording.Header) string {
			if dir, _ := h.Knob("profile-self"); dir != "" {
				return "written, which costs time"
			}
			return "none"
		}},
	} {
		var seen []string
		for _, r := range runs {
			if v := k.of(r.Header); v != "" && !slices.Contains(seen, v) && (k.what != "program" || r.Start == nil) {
				seen = append(seen, v)
			}
		}
		if len(seen) > 1 {
			out = append(out, fmt.Sprintf("%s: %s and %s", k.what, seen[0], seen[1]))
		}
	}
	digests := map[string]bool{}
	for _, r := range runs {
		if d := r.Header.Model.Digest; d != "" {
			digests[d] = true
		}
	}
	if len(digests) > 1 {
		out = append(out, "model: files of different content")
	}
	if text := prompts(runs); text != "" {
		out = append(out, "prompt: "+text)
	}
	return out
}

// prompts says in which prompts runs differ that are no arms of a plan: by the
// number of tokens, and where the ids are known by those. What an arm of a plan
// is given is its own business.
func prompts(runs []*recording.Run) string {
	var lengths, names []string
	for _, r := range runs {
		if r.Start != nil || len(r.Rounds) == 0 || r.Rounds[0].Prompt == 0 {
			continue
		}
		one := r.Rounds[0]
		if v := fmt.Sprintf("%d tokens", one.Prompt); !slices.Contains(lengths, v) {
			lengths = append(lengths, v)
		}
		if v := recording.PromptName(r.PromptIDs(one.Number)); v != "" && !slices.Contains(names, v) {
			names = append(names, v)
		}
	}
	switch {
	case len(lengths) > 1:
		return strings.Join(lengths[:2], " and ")
	case len(names) > 1:
		return fmt.Sprintf("%s, with the ids %s and %s", lengths[0], names[0], names[1])
	}
	return ""
}
