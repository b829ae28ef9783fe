package view

import (
	"encoding/csv"
	"io"
	"iter"
	"strconv"
	"time"

	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/metrics"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/sanitize"
	"github.com/introgen/introgen/trace/names"
)

// Sample is a figure of a run: how long a phase of a round, a decode step, a
// library, a pipeline or a kernel took. Its texts are as they were recorded.
type Sample struct {
	Round  int    // 0 outside of rounds
	What   string // "prefill", "decode step", "library" …
	Name   string // of the library, the kernel …
	Number int    // of a decode step; of a kernel its dispatches; 0 of others
	Time   time.Duration
	Cache  string // one of package names' states, of libraries and pipelines
}

// Samples are those of a run, which is taken apart; what is missing is none.
func Samples(run *breakdown.Run) iter.Seq[Sample] {
	return func(yield func(Sample) bool) {
		row := func(s Sample) bool { return s.Time == figures.Missing || yield(s) }
		for _, s := range run.Spans {
			if s.Parent == 0 && s.Name != names.SpanRound && s.End >= 0 && !row(Sample{What: s.Name, Name: s.Detail, Time: s.Duration()}) {
				return
			}
		}
		for _, r := range run.Rounds {
			if r.Program() && !programSamples(r, row) {
				return
			}
		}
		for _, r := range run.Told {
			if !r.Program() && !roundSamples(r, row) {
				return
			}
		}
		m := run.Metal()
		for _, l := range m.Libraries {
			if !row(Sample{What: "library", Name: l.Library, Time: l.Time, Cache: l.Cache}) {
				return
			}
		}
		for _, p := range m.Pipelines {
			if !row(Sample{What: "pipeline", Name: p.Library + " " + p.Function, Time: p.Time, Cache: p.Cache}) {
				return
			}
		}
		for _, k := range m.Kernels {
			if !row(Sample{What: "kernel", Name: k.Name, Number: int(k.Dispatches), Time: time.Duration(k.Time)}) {
				return
			}
		}
	}
}

// programSamples are the phases of a recorded program, and when it first did what.
func programSamples(r breakdown.Round, row func(Sample) bool) bool {
	if !row(Sample{Round: r.Number, What: metrics.FirstMetal.Name, Time: r.FirstMetal}) ||
		!row(Sample{Round: r.Number, What: metrics.FirstOutput.Name, Time: r.FirstOutput}) {
		return false
	}
	for _, p := range r.Phases {
		if !p.Open && !row(Sample{Round: r.Number, What: p.Name, Name: p.Detail, Number: int(p.N), Time: p.Time()}) {
			return false
		}
	}
	return true
}

// roundSamples are the phases of an engine's round, and its decode steps.
func roundSamples(r breakdown.Round, row func(Sample) bool) bool {
	for _, phase := range []string{names.SpanRead, names.SpanBuild, names.SpanPrefill} {
		if !row(Sample{Round: r.Number, What: phase, Time: r.Took(phase)}) {
			return false
		}
	}
	for n, t := range r.StepTimes() {
		if !row(Sample{Round: r.Number, What: names.SpanStep, Number: n + 1, Time: t}) {
			return false
		}
	}
	return true
}

// CSV writes every sample of a recording as a row. Times are in nanoseconds.
func CSV(w io.Writer, f *recording.File) error {
	c := csv.NewWriter(w)
	_ = c.Write([]string{"run", "block", "arm", "counts", "command", "round", "what", "name", "number", "ns", "cache"})
	text := func(s string) string { return sanitize.Field(sanitize.Line(s)) }
	positive := func(n int) string {
		if n > 0 {
			return strconv.Itoa(n)
		}
		return ""
	}
	for i, run := range f.Runs {
		begin := []string{strconv.Itoa(i + 1), "", "", strconv.FormatBool(run.Counts()), text(run.Header.Command)}
		if s := run.Start; s != nil {
			begin[0], begin[1], begin[2] = strconv.Itoa(s.Run), strconv.Itoa(s.Block), text(s.Arm)
		}
		for s := range Samples(breakdown.Take(run)) {
			_ = c.Write(append(begin[:len(begin):len(begin)], positive(s.Round), text(s.What), text(s.Name), positive(s.Number),
				strconv.FormatInt(int64(s.Time), 10), text(s.Cache)))
		}
	}
	c.Flush()
	return c.Error()
}
