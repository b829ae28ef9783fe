// Package compare answers where the time to the first token and to every later
// one goes, in each state of the caches and on the CPU: the experiment's table,
// with what was compiled in each stage, and the cause in a sentence.
package compare

import (
	"fmt"
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
	"github.com/introgen/introgen/trace/names"
)

// Metrics are the rows of the table, in order.
var Metrics = []metrics.Metric{metrics.Read, metrics.Build, metrics.EncodePrompt, metrics.Prefill, metrics.First, metrics.Later,
	metrics.P90, metrics.P99, metrics.Max, metrics.Token1, metrics.Token2, metrics.Start1, metrics.Rate}

// ratioMetrics are those that are compared with the CPU.
var ratioMetrics = []metrics.Metric{metrics.Build, metrics.Prefill, metrics.First, metrics.Later, metrics.Token1, metrics.Token2, metrics.Start1}

// Answer is what the comparison says.
type Answer struct {
	Series  []samples.Series // the columns
	Stages  []Stage          // with what was compiled in them; empty where nothing was
	Blocks  bool             // whether the runs were made in blocks
	Verdict string           // the slowest column and what it spends its time on; "" where there is none
	Base    int              // which column the others are a ratio of: the CPU; −1 where there is none
	Causes  []string         // a sentence for each column that compiles
	Pairs   []Difference     // of arms that claim one state and differ otherwise
	Notes   table.Notes      // what to know before believing it
}

// Stage is a phase of the first round, and what was first needed in it.
type Stage struct {
	Name      string
	Libraries []Row  // in the order in which they were first needed
	Columns   []Sums // one for each series
}

// Row is what was compiled of one library within a stage.
type Row struct {
	Library string
	// First says that the library itself was made in this stage; else only
	// pipelines of a library that an earlier stage made were.
	First   bool
	Columns []Sums
}

// Sums are the times of one series: of libraries, and of how many pipelines.
type Sums struct {
	Library, Pipeline stats.Summary
	Pipelines         int
}

// Of compares the arms of a recording. It fails where no run counts.
func Of(f *breakdown.File) (*Answer, error) {
	all := samples.Of(f)
	a := &Answer{Base: -1, Blocks: f.Plan != nil}
	for _, s := range all {
		if len(s.Samples) > 0 {
			a.Series = append(a.Series, s)
		} else {
			why := "none was made"
			if s.Refused > 0 {
				why = fmt.Sprintf("%d refused, failed or cut off", s.Refused)
			}
			a.Notes.Add("%s has no run that counts (%s)", s.Name, why)
		}
	}
	if len(a.Series) == 0 {
		return nil, fmt.Errorf("no run counts, so there is nothing to compare: %s", strings.Join(append(a.Notes, samples.Uncounted(f.File)...), "; "))
	}
	a.Base = slices.IndexFunc(a.Series, func(s samples.Series) bool { return s.State == recording.StateCPU })
	a.stages()
	for _, s := range a.Series {
		if c := Cause(s); c != "" {
			a.Causes = append(a.Causes, c)
		}
	}
	a.Verdict = Verdict(a.Series)
	a.pairs()
	a.remarks(f)
	return a, nil
}

// remarks are about how far the figures can be believed.
func (a *Answer) remarks(f *breakdown.File) {
	fewest := len(a.Series[0].Samples)
	for _, s := range a.Series {
		fewest = min(fewest, len(s.Samples))
	}
	a.laterSteps()
	a.Notes = append(a.Notes, samples.Silent(f.File)...)
	a.Notes = append(a.Notes, samples.Taints(a.Series)...)
	if fewest < stats.LeastForInterval {
		a.Notes.Add("±?: an interval needs %d runs of each kind, and there %s %d; what differs cannot be decided", stats.LeastForInterval, figures.Verb(fewest, "is", "are"), fewest)
	}
	a.Notes = append(a.Notes, samples.Uncounted(f.File)...)
}

// stageOf is the name that a phase has as a stage; "" for what is none.
func stageOf(p breakdown.Phase) string {
	switch {
	case p.Name == names.SpanBuild, p.Name == names.SpanPrefill:
		return p.Name
	case p.Name == names.SpanStep && p.N == 1:
		return metrics.First.Name
	case p.Name == names.SpanStep:
		return metrics.Later.Name
	case p.Name == names.SpanRepeat && p.N == 1:
		return metrics.Repeat1.Name
	case p.Name == names.SpanRepeat:
		return metrics.Repeats.Name
	case p.Name == names.SpanPhase:
		return p.Title()
	}
	return ""
}

// stagesOf are the names of the stages in order: those that an engine has, and
// where programs were recorded theirs, as they come to them.
func stagesOf(all []samples.Series) []string {
	out := slices.Clone(stageNames)
	for _, s := range all {
		for _, x := range s.Samples {
			if !x.Rounds[0].Program() {
				continue
			}
			for i, name := range titles(x.Rounds[0]) {
				if !slices.Contains(out, name) {
					out = slices.Insert(out, min(i, len(out)), name)
				}
			}
		}
	}
	return out
}

// titles are the stages of a program, each once.
func titles(r breakdown.Round) []string {
	var out []string
	for _, p := range r.Phases {
		if name := stageOf(p); name != "" && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// stageNames are the stages, in order.
var stageNames = []string{names.SpanBuild, names.SpanPrefill, metrics.First.Name, metrics.Later.Name}

// compiled are by stage the libraries of a sample's first round. A stage of which
// spans are missing is left out: what they made is not known.
func compiled(s samples.Sample, stages []string) map[string][]breakdown.Library {
	compiles, lost := map[string][]breakdown.Compile{}, map[string]bool{}
	for _, p := range s.Rounds[0].Phases {
		name := stageOf(p)
		compiles[name] = append(compiles[name], p.Compiles...)
		lost[name] = lost[name] || p.Lost
	}
	out := map[string][]breakdown.Library{}
	for _, name := range stages {
		if !lost[name] {
			out[name] = breakdown.Libraries(compiles[name])
		}
	}
	return out
}

// stages collects what every series compiled in every stage.
func (a *Answer) stages() {
	stages := stagesOf(a.Series)
	by := make([][]map[string][]breakdown.Library, len(a.Series)) // series, sample, stage
	for i, s := range a.Series {
		for _, x := range s.Samples {
			by[i] = append(by[i], compiled(x, stages))
		}
	}
	found := false
	for _, name := range stages {
		st := Stage{Name: name, Columns: make([]Sums, len(a.Series))}
		for i := range a.Series {
			st.Columns[i] = sums(by[i], name, "")
			for _, sample := range by[i] {
				for _, l := range sample[name] {
					k := slices.IndexFunc(st.Libraries, func(r Row) bool { return r.Library == l.Name })
					if k < 0 {
						k = len(st.Libraries)
						st.Libraries = append(st.Libraries, Row{Library: l.Name})
					}
					st.Libraries[k].First = st.Libraries[k].First || len(l.Made) > 0
				}
			}
		}
		for k := range st.Libraries {
			found = true
			for i := range a.Series {
				st.Libraries[k].Columns = append(st.Libraries[k].Columns, sums(by[i], name, st.Libraries[k].Library))
			}
		}
		a.Stages = append(a.Stages, st)
	}
	if !found {
		a.Stages = nil
	}
}

// sums adds up, run by run, what was compiled in a stage: of one library, or of
// all where that is "".
func sums(samples []map[string][]breakdown.Library, stage, library string) Sums {
	var libs, pipes []float64
	var s Sums
	for _, x := range samples {
		var lib, pipe time.Duration
		n, found := 0, false
		for _, l := range x[stage] {
			if library == "" || l.Name == library {
				found = true
				lib += breakdown.Compiling(l.Made)
				pipe += breakdown.Compiling(l.Pipelines)
				n += len(l.Pipelines)
			}
		}
		if !found {
			continue
		}
		libs, pipes = append(libs, float64(lib)), append(pipes, float64(pipe))
		s.Pipelines = max(s.Pipelines, n)
	}
	s.Library, s.Pipeline = stats.Summarize(libs), stats.Summarize(pipes)
	return s
}

// laterSteps says of programs that mark one generation what their later steps are
// steps of: later ones of a process are warm where nothing is compiled in them.
func (a *Answer) laterSteps() {
	if slices.ContainsFunc(a.Series, func(s samples.Series) bool { return s.State == recording.StateWarmProcess }) {
		return
	}
	var warm, cold []string
	for _, s := range a.Series {
		steps, compiled := 0, 0
		for _, x := range s.Samples {
			if !x.Rounds[0].Program() {
				return
			}
			for _, p := range x.Rounds[0].Phases {
				if !names.IsStep(p.Name) || p.N < 2 {
					continue
				}
				steps++
				for _, c := range p.Compiles {
					if !c.FromCache() {
						compiled++
					}
				}
			}
		}
		switch {
		case steps == 0:
		case compiled == 0:
			warm = append(warm, s.Name)
		default:
			cold = append(cold, s.Name)
		}
	}
	if len(warm) > 0 {
		a.Notes.Add("Later steps of %s compiled nothing: they are those of a warm process", listed(warm))
	}
	if len(cold) > 0 {
		a.Notes.Add("In later steps of %s something was compiled: they are not yet those of a warm process", listed(cold))
	}
}
