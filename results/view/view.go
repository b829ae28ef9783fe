// Package view shows a recording in the forms that other programs and documents
// take: JSON, CSV and Markdown, and as tables for the terminal. All of it is
// what the recording holds; nothing is computed but sums of spans.
package view

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/introgen/introgen/results"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/sanitize"
	"github.com/introgen/introgen/results/table"
	"github.com/introgen/introgen/trace/names"
)

// FirstToken is how long the first round of the first run that came so far took
// until its first token was there, or 0.
func FirstToken(runs []*recording.Run) time.Duration {
	for _, r := range runs {
		if p := results.PhasesOf(r); len(p) > 0 && p[0].Round == 1 && len(r.Rounds[0].IDs) > 0 && p[0].FirstToken() != results.Missing {
			return p[0].FirstToken()
		}
	}
	return 0
}

// name tells the runs of a file apart.
func name(f *recording.File, run *recording.Run, n int) string {
	switch {
	case run.Start != nil:
		return fmt.Sprintf("run %d, block %d: %s", run.Start.Run, run.Start.Block, run.Start.Arm)
	case len(f.Runs) > 1:
		return fmt.Sprintf("run %d: %s", n, run.Header.Command)
	}
	return ""
}

// remarks are what a reader must know of a run beside its figures.
func remarks(run *recording.Run) []string {
	var out []string
	switch {
	case run.End == nil:
		out = append(out, "it was cut off")
	case run.End.Code != 0:
		out = append(out, fmt.Sprintf("it ended with exit code %d: %s", run.End.Code, run.End.Error))
	}
	if n := run.LostSpans(); n > 0 {
		out = append(out, fmt.Sprintf("%d of its spans are missing: sums and unattributed times are of what is there", n))
	}
	if run.Doubt != "" {
		out = append(out, "it does not count: "+run.Doubt)
	}
	if x := run.Exit; x != nil {
		if x.Refused != "" {
			out = append(out, "it does not count: "+x.Refused)
		}
		out = append(out, x.Flags...)
	}
	return out
}

// Document puts a recording together as tables.
func Document(f *recording.File) *table.Document {
	d := &table.Document{}
	for i, run := range f.Runs {
		if n := name(f, run, i+1); n != "" {
			d.Say("%s", n)
		}
		if s := run.Subject; s != nil {
			d.Say("%s: %s, read by %s, %s; %s; tokenizer %s", run.Header.Model.File, run.Header.Model.Types, s.IO, s.PageCache, s.Engine, s.Tokenizer)
		}
		for _, r := range remarks(run) {
			d.Say("%s", r)
		}
		if t := rounds(run); len(t.Rows) > 0 {
			d.Table(t)
		}
		if trace := results.MetalTraceOf(run); len(trace.Libraries) > 0 {
			d.Table(libraries(trace))
			d.Table(device(trace))
		}
	}
	if f.Broken != "" {
		d.Say("the recording is not whole: %s", f.Broken)
	}
	return d
}

// rounds has those that came to a token, as the lines of a run do.
func rounds(run *recording.Run) *table.Table {
	t := &table.Table{Title: "phases of each round (ms)", Columns: []table.Column{{Name: "round"}, {Name: "read"}, {Name: "build"}, {Name: "prefill"},
		{Name: "step 1"}, {Name: "median of later"}, {Name: "decode"}, {Name: "steps"}}}
	for i, p := range results.PhasesOf(run) {
		if e := run.Rounds[i]; e.Error != "" && len(e.IDs) == 0 {
			continue // it failed before a token, in a phase that is not whole
		}
		first, median, decode, known := "", "", results.None, p.Known()
		if len(p.Steps) > 0 {
			first = results.Milliseconds(p.Steps[0])
		}
		if later := p.Later(); len(later) > 0 {
			median = results.Milliseconds(results.Median(later))
		}
		number := strconv.Itoa(len(known))
		if len(known) == len(p.Steps) {
			decode = results.Milliseconds(p.Decode())
		} else {
			number += fmt.Sprintf(" of %d", len(p.Steps))
		}
		t.Add(table.Texts(strconv.Itoa(p.Round), results.Milliseconds(p.Read), results.Milliseconds(p.Build), results.Milliseconds(p.Prefill),
			first, median, decode, number)...)
	}
	return t
}

func libraries(trace results.MetalTrace) *table.Table {
	t := &table.Table{Title: "libraries, in the order in which they were needed", Columns: []table.Column{{Name: "library", Left: true}, {Name: "source bytes"},
		{Name: "compile ms"}, {Name: "cache", Left: true}, {Name: "pipelines"}, {Name: "create ms"}}}
	for _, l := range trace.Libraries {
		n, sum := 0, time.Duration(0)
		for _, p := range trace.Pipelines {
			if p.Library == l.Name {
				n++
				sum += p.Create
			}
		}
		t.Add(table.Texts(l.Name, strconv.Itoa(l.SourceBytes), results.Milliseconds(l.Compile), l.Cache, strconv.Itoa(n), results.Milliseconds(sum))...)
	}
	libs, pipes := trace.Sums()
	t.Footer = table.Texts("sum", "", results.Milliseconds(libs), "", strconv.Itoa(len(trace.Pipelines)), results.Milliseconds(pipes))
	return t
}

// device has a row for each phase, whose first column says which it is: a terminal
// may divide the table behind that.
func device(trace results.MetalTrace) *table.Table {
	t := &table.Table{Title: "what the phases did on the device (ms)", Columns: []table.Column{{Name: "round, phase", Left: true}, {Name: "wall"}, {Name: "compile"}}}
	weighed := slices.ContainsFunc(trace.Phases, func(p results.MetalPhase) bool { return p.Weights > 0 })
	if weighed {
		t.Columns = append(t.Columns, table.Column{Name: "weights"})
	}
	for _, name := range []string{"encode", "commit", "wait", "unattr.", "GPU", "bufs"} {
		t.Columns = append(t.Columns, table.Column{Name: name})
	}
	for _, p := range trace.Phases {
		cells := []string{fmt.Sprintf("%d, %s", p.Round, p.Name), results.Milliseconds(p.Wall), results.Milliseconds(p.Compile)}
		if weighed {
			cells = append(cells, results.Milliseconds(p.Weights))
		}
		t.Add(table.Texts(append(cells, results.Milliseconds(p.Encode), results.Milliseconds(p.Commit), results.Milliseconds(p.Wait),
			results.Milliseconds(p.Unattributed()), results.Milliseconds(p.GPU), strconv.FormatInt(p.CommandBuffers, 10))...)...)
	}
	return t
}

// Table writes a recording as tables of at most 80 columns.
func Table(w io.Writer, f *recording.File) error { return Document(f).Write(w, table.Plain) }

// Markdown writes the same tables in Markdown.
func Markdown(w io.Writer, f *recording.File) error { return Document(f).Write(w, table.Markdown) }

// CSV writes every sample of a recording as a row: a phase of a round, a decode
// step, a library, a pipeline. Times are in nanoseconds.
func CSV(w io.Writer, f *recording.File) error {
	c := csv.NewWriter(w)
	_ = c.Write([]string{"run", "block", "arm", "counts", "command", "round", "what", "name", "number", "ns", "cache"})
	for i, run := range f.Runs {
		begin := []string{strconv.Itoa(i + 1), "", "", strconv.FormatBool(run.Counts()), sanitize.Field(sanitize.Line(run.Header.Command))}
		if s := run.Start; s != nil {
			begin[0], begin[1], begin[2] = strconv.Itoa(s.Run), strconv.Itoa(s.Block), sanitize.Field(sanitize.Line(s.Arm))
		}
		row := func(round int, what, name string, number int, d time.Duration, cache string) {
			of := ""
			if round > 0 {
				of = strconv.Itoa(round)
			}
			if d == results.Missing {
				return
			}
			nth := ""
			if number > 0 {
				nth = strconv.Itoa(number)
			}
			what, name, cache = sanitize.Field(sanitize.Line(what)), sanitize.Field(sanitize.Line(name)), sanitize.Field(sanitize.Line(cache))
			_ = c.Write(append(begin[:len(begin):len(begin)], of, what, name, nth, strconv.FormatInt(int64(d), 10), cache))
		}
		for _, s := range run.Spans {
			if s.Parent == 0 && s.Name != names.SpanRound && s.End >= 0 {
				row(0, s.Name, s.Detail, 0, s.Duration(), "")
			}
		}
		for _, p := range results.PhasesOf(run) {
			row(p.Round, names.SpanRead, "", 0, p.Read, "")
			row(p.Round, names.SpanBuild, "", 0, p.Build, "")
			row(p.Round, names.SpanPrefill, "", 0, p.Prefill, "")
			for n, s := range p.Steps {
				row(p.Round, names.SpanStep, "", n+1, s, "")
			}
		}
		trace := results.MetalTraceOf(run)
		for _, l := range trace.Libraries {
			row(0, "library", l.Name, 0, l.Compile, l.Cache)
		}
		for _, p := range trace.Pipelines {
			row(0, "pipeline", p.Library+" "+p.Function, 0, p.Create, p.Cache)
		}
		for _, k := range trace.Kernels {
			row(0, "kernel", k.Kernel, int(k.Dispatches), k.Time, "")
		}
	}
	c.Flush()
	return c.Error()
}
