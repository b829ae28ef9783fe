// Package view shows a recording in the forms that other programs and documents
// take: JSON, CSV and Markdown, and as tables for the terminal. All of it is
// what the recording holds; nothing is computed but sums of spans.
package view

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/foreign"
	"github.com/introgen/introgen/results/metrics"
	"github.com/introgen/introgen/results/passes"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/roofline"
	"github.com/introgen/introgen/results/stats"
	"github.com/introgen/introgen/results/table"
	"github.com/introgen/introgen/system/terminal"
	"github.com/introgen/introgen/trace/names"
)

// Listed are the figures of a recording that a list of them has: when the first
// token was known, and the median decode step; of a program that marks neither its
// first output, and the median of what it repeats.
func Listed(f *breakdown.File) (token1, decode string) {
	var steps []float64
	for _, run := range f.Runs {
		r := f.Run(run)
		if len(r.Told) > 0 && token1 == "" && r.Told[0].Number == 1 && len(r.Told[0].Event.IDs) > 0 {
			if t, ok := metrics.Token1.Of(r.Told[0]); ok {
				token1 = figures.Milliseconds(time.Duration(t))
			}
		}
		if foreign.Is(run) {
			first, ok := metrics.Token1.OfRun(r)
			if !ok {
				first, ok = metrics.FirstOutput.OfRun(r)
			}
			if ok && token1 == "" {
				token1 = figures.Milliseconds(time.Duration(first))
			}
		}
		if v, ok := metrics.Decode.OfRun(r); ok {
			steps = append(steps, v)
		} else if v, ok := metrics.Repeats.OfRun(r); ok {
			steps = append(steps, v)
		}
		if foreign.Is(run) {
			break // the others are those that it started
		}
	}
	if len(steps) > 0 {
		decode = figures.Milliseconds(time.Duration(stats.Median(steps)))
	}
	return token1, decode
}

// name tells the runs of a file apart.
func name(f *recording.File, run *recording.Run, n int) string {
	switch {
	case run.Start != nil:
		return fmt.Sprintf("run %d, block %d: %s", run.Start.Run, run.Start.Block, run.Start.Arm)
	case len(f.Runs) > 1 && foreign.Is(run):
		return fmt.Sprintf("run %d: %s", n, foreign.Name(run.Header.Program))
	case len(f.Runs) > 1:
		return fmt.Sprintf("run %d: %s", n, run.Header.Command)
	}
	return ""
}

// remarks are what a reader must know of a run beside its figures.
func remarks(run *recording.Run) []string {
	var out []string
	if text := run.Ending(); text != "" && !foreign.Is(run) {
		out = append(out, "it "+text)
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
	drawn := waterfalls{}
	for i, run := range f.Runs {
		if n := name(f, run, i+1); n != "" {
			d.Say("%s", n)
		}
		if s := run.Subject; s != nil {
			words := s.TokenizerWords()
			if s.Template != "" && s.TemplateWords() != recording.NoTemplate {
				words += "; template " + s.TemplateWords()
			}
			d.Say("%s: %s, read by %s, %s; %s; tokenizer %s", run.Header.Model.File, run.Header.Model.Types, s.IO, s.PageCache, s.Engine, words)
		}
		for _, r := range remarks(run) {
			d.Say("%s", r)
		}
		taken := breakdown.Take(run)
		if foreign.Is(run) {
			foreign.AddHead(d, taken)
			drawn.add(d, "where the time went (ms)", taken)
			foreign.AddTables(d, taken)
			for _, child := range run.Children {
				foreign.Add(d, breakdown.Take(child))
			}
			addSteps(d, taken)
			continue
		}
		drawn.add(d, "where the first round went (ms)", taken)
		if t := rounds(taken); len(t.Rows) > 0 {
			d.Table(t)
		}
		addSteps(d, taken)
		if m := taken.Metal(); len(m.Libraries) > 0 {
			d.Table(libraries(m))
			d.Table(device(m))
		}
		if p := passes.Of(taken); p != nil {
			roofline.AddPasses(d, p)
		} else if r := roofline.Of(taken); r.Known() {
			r.Add(d)
		}
	}
	if f.Broken != "" {
		d.Say("the recording is not whole: %s", f.Broken)
	}
	return d
}

// rounds has those that came to a token, as the lines of a run do.
func rounds(run *breakdown.Run) *table.Table {
	t := &table.Table{Title: "phases of each round (ms)", Columns: []table.Column{{Name: "round"}, {Name: "read"}, {Name: "build"}, {Name: "prefill"},
		{Name: "step 1"}, {Name: "median of later"}, {Name: "decode"}, {Name: "steps"}}}
	for _, r := range run.Told {
		if e := r.Event; e.Error != "" && len(e.IDs) == 0 {
			continue // it failed before a token, in a phase that is not whole
		}
		steps := r.StepTimes()
		sum, known := r.Decode()
		first, median, decode, number := "", "", figures.None, strconv.Itoa(known)
		if len(steps) > 0 {
			first = figures.Milliseconds(steps[0])
		}
		if later, ok := metrics.Later.Of(r); ok {
			median = figures.Milliseconds(time.Duration(later))
		}
		if known == len(steps) {
			decode = figures.Milliseconds(sum)
		} else {
			number += fmt.Sprintf(" of %d", len(steps))
		}
		t.Add(table.Texts(strconv.Itoa(r.Number), figures.Milliseconds(r.Took(names.SpanRead)), figures.Milliseconds(r.Took(names.SpanBuild)),
			figures.Milliseconds(r.Took(names.SpanPrefill)), first, median, decode, number)...)
	}
	return t
}

func libraries(m breakdown.Metal) *table.Table {
	t := &table.Table{Title: "libraries, in the order in which they were needed", Columns: []table.Column{{Name: "library", Left: true}, {Name: "source bytes"},
		{Name: "compile ms"}, {Name: "cache", Left: true}, {Name: "pipelines"}, {Name: "create ms"}}}
	beside := slices.ContainsFunc(m.Libraries, func(c breakdown.Compile) bool { return c.Beside })
	if beside {
		t.Title += ", made beside the thread that generates, which lost some of that time waiting"
		t.Columns = append(t.Columns, table.Column{Name: "lost ms"})
	}
	pipelines := map[string][]breakdown.Compile{}
	for _, l := range m.ByLibrary() {
		pipelines[l.Name] = l.Pipelines
	}
	for _, l := range m.Libraries {
		of := pipelines[l.Library]
		cells := []string{l.Library, strconv.Itoa(l.SourceBytes), figures.Milliseconds(l.Time), l.Cache, strconv.Itoa(len(of)), figures.Milliseconds(breakdown.Compiling(of))}
		if beside {
			cells = append(cells, figures.Milliseconds(l.Wall()+breakdown.Lost(of)))
		}
		t.Add(table.Texts(cells...)...)
	}
	foot := []string{"sum", "", figures.Milliseconds(breakdown.Compiling(m.Libraries)), "", strconv.Itoa(len(m.Pipelines)), figures.Milliseconds(breakdown.Compiling(m.Pipelines))}
	if beside {
		foot = append(foot, figures.Milliseconds(breakdown.Lost(m.Libraries)+breakdown.Lost(m.Pipelines)))
	}
	t.Footer = table.Texts(foot...)
	return t
}

// device has a row for each phase, whose first column says which it is: a terminal
// may divide the table behind that.
func device(m breakdown.Metal) *table.Table {
	t := &table.Table{Title: "what the phases did on the device (ms)", Columns: []table.Column{{Name: "round, phase", Left: true}, {Name: "wall"}, {Name: "compile"}}}
	rows := m.Folded()
	weighed := slices.ContainsFunc(rows, func(p breakdown.DevicePhase) bool { return p.Weights > 0 })
	if weighed {
		t.Columns = append(t.Columns, table.Column{Name: "weights"})
	}
	for _, name := range []string{"encode", "commit", "wait", "unattr.", "GPU", "bufs"} {
		t.Columns = append(t.Columns, table.Column{Name: name})
	}
	for _, p := range rows {
		cells := []string{fmt.Sprintf("%d, %s", p.Round, p.Title), figures.Milliseconds(p.Time()), figures.Milliseconds(p.Compiling())}
		if weighed {
			cells = append(cells, figures.Milliseconds(p.Weights))
		}
		t.Add(table.Texts(append(cells, figures.Milliseconds(p.Encode), figures.Milliseconds(p.Commit), figures.Milliseconds(p.Wait),
			figures.Milliseconds(p.Unattributed()), figures.Milliseconds(p.GPU), strconv.FormatInt(p.CommandBuffers, 10))...)...)
	}
	return t
}

// Table writes a recording as tables and drawings of at most 80 columns.
func Table(w io.Writer, f *recording.File) error {
	d := Document(f)
	d.ASCII = !terminal.Unicode()
	return d.Write(w, table.Plain)
}

// Markdown writes the same tables in Markdown.
func Markdown(w io.Writer, f *recording.File) error { return Document(f).Write(w, table.Markdown) }
