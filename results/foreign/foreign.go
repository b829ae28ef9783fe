// Package foreign shows a program that was recorded from outside: its phases and
// what each did for the device, the figures of the whole, and what it compiled.
// What nobody can know of a program, such as its tokens, is left out.
package foreign

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/results/answers/samples"
	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/metrics"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/shellwords"
	"github.com/introgen/introgen/results/table"
)

// longestName is how much a terminal shows of what a program calls its phases,
// libraries and kernels: that may be a hundred kilobytes.
const longestName = 32

// Is says whether the run is one of a program.
func Is(run *recording.Run) bool { return run.Header.Program != nil }

// Name is what a program is called where there is little room.
func Name(p *recording.Program) string { return filepath.Base(p.Path) }

// Add adds what is to be shown of a run.
func Add(d *table.Document, run *breakdown.Run) {
	AddHead(d, run)
	AddTables(d, run)
}

// AddHead adds what ran, how it ended, and what there is to know of its figures.
func AddHead(d *table.Document, run *breakdown.Run) {
	d.Say("%s", command(run.Header.Program))
	d.Say("%s", ending(run))
	if text := device(run.Device); text != "" {
		d.Say("%s", text)
	}
	for _, e := range run.Evidence {
		if text := cache(e); text != "" {
			d.Say("%s", text)
		}
	}
	if text := Lost(run.Run); text != "" {
		d.Say("%s", text)
	}
	for _, n := range run.Notes {
		d.Say("%s", n.Text)
	}
}

// AddTables adds the figures.
func AddTables(d *table.Document, run *breakdown.Run) {
	if len(run.Rounds) == 0 {
		return
	}
	m := run.Metal()
	d.Table(phases(m))
	if text := unmarked(run.Rounds[0]); text != "" {
		d.Say("%s", text)
	}
	if t := figuresOf(run); len(t.Rows) > 0 {
		d.Table(t)
	}
	if len(m.Libraries)+len(m.Pipelines) > 0 {
		d.Table(libraries(m))
	}
	if len(m.Kernels) > 0 {
		d.Table(kernels(m))
	}
}

// softDriver is the driver of recordings that were made where no GPU is.
const softDriver = "soft"

// device says what Metal was; "" where it was not used.
func device(d *recording.Device) string {
	if d == nil {
		return ""
	}
	text := "Metal is the driver " + d.Driver
	if d.Driver == softDriver {
		text = "Metal is the soft driver, which runs kernels on the CPU"
	}
	about := slices.DeleteFunc([]string{d.Name, d.Compiler, d.System}, func(s string) bool { return s == "" || s == d.Driver })
	if len(about) > 0 {
		text += ": " + strings.Join(about, ", ")
	}
	if d.Nonce != "" {
		text += fmt.Sprintf("; every source ends in the nonce %q", d.Nonce)
	}
	return text
}

// cache says what came from where; "" where nobody knows, or nothing was made.
func cache(e recording.Evidence) string {
	if e.What != recording.EvidenceMetalCache || e.LibraryHits+e.LibraryMisses+e.PipelineHits+e.PipelineMisses+e.Unknown == 0 {
		return ""
	}
	text := fmt.Sprintf("Libraries: %d from the cache and %d compiled, pipelines: %d from the cache and %d compiled", e.LibraryHits, e.LibraryMisses, e.PipelineHits, e.PipelineMisses)
	if e.Unknown > 0 {
		text = fmt.Sprintf("Of %d libraries and pipelines the driver does not say whether its cache had them", e.Unknown)
	}
	if e.Folder != "" && e.Before != nil && e.After != nil {
		text += fmt.Sprintf("; %s held %d entries before and %d after", e.Folder, e.Before.Entries, e.After.Entries)
	}
	return text
}

// command says what ran.
func command(p *recording.Program) string {
	text := fmt.Sprintf("%s (process %d", shellwords.Join(append([]string{p.Path}, p.Args...)), p.PID)
	if p.Parent != 0 {
		text += fmt.Sprintf(", started by process %d", p.Parent)
	}
	return text + ")"
}

// ending says how a program ended, and what it did before.
func ending(run *breakdown.Run) string {
	text := "It " + ended(run)
	if len(run.Rounds) > 0 && run.Rounds[0].FirstMetal == figures.Missing {
		text += "; it never called Metal"
	}
	if n := written(run.Outputs); n != "" {
		text += "; it wrote " + n
	}
	return text
}

func ended(run *breakdown.Run) string {
	after := ""
	if t := run.Life(); t != figures.Missing {
		after = " after " + figures.Milliseconds(t) + " ms"
	}
	switch e := run.End; {
	case e == nil:
		return "was being recorded when the recording was cut off"
	case e.Signal != "":
		return "was ended by the signal " + e.Signal + after
	default:
		return fmt.Sprintf("ended with exit code %d%s", e.Code, after)
	}
}

// written is "5 bytes on stdout, 7 on stderr".
func written(outputs []recording.Output) string {
	bytes := map[string]int64{}
	for _, o := range outputs {
		bytes[o.Stream] += o.Bytes
	}
	var all []string
	for _, stream := range []string{recording.StreamOut, recording.StreamErr} {
		if n := bytes[stream]; n > 0 {
			all = append(all, figures.Number(int(n), "byte")+" on "+stream)
		}
	}
	return strings.Join(all, " and ")
}

// Lost says what the recorder lost of a run; "" where nothing.
func Lost(run *recording.Run) string {
	if run.End == nil || run.End.Lost+run.End.LostSlots == 0 {
		return ""
	}
	return fmt.Sprintf("its recorder lost %d events and %d slots of the ring: figures are of what is there", run.End.Lost, run.End.LostSlots)
}

// phases has a row for each, of steps beyond the second the one in the middle.
func phases(m breakdown.Metal) *table.Table {
	t := &table.Table{Title: "phases of the program (ms of the wall clock; GPU beside it)", Columns: []table.Column{{Name: "phase", Left: true, Narrow: longestName}, {Name: "wall"}}}
	rows := m.Folded()
	// Columns in which nothing stands are left out: a program need not do
	// everything that one can.
	for _, c := range []struct {
		name string
		of   func(breakdown.Phase) (text string, there bool)
	}{
		{"compile", timed(breakdown.Phase.Compiling)},
		{"weights", timed(func(p breakdown.Phase) time.Duration { return p.Weights })},
		{"encode", timed(func(p breakdown.Phase) time.Duration { return p.Encode })},
		{"commit", timed(func(p breakdown.Phase) time.Duration { return p.Commit })},
		{"wait", timed(func(p breakdown.Phase) time.Duration { return p.Wait })},
		{"unattr.", func(p breakdown.Phase) (string, bool) { return figures.Milliseconds(p.Rest()), p.Rest() != p.Time() }},
		{"GPU", timed(func(p breakdown.Phase) time.Duration { return p.GPU })},
		{"bufs", counted(func(p breakdown.Phase) int64 { return p.CommandBuffers })},
		{"disp.", counted(func(p breakdown.Phase) int64 { return p.Dispatches })},
		{"barr.", counted(func(p breakdown.Phase) int64 { return p.Barriers })},
	} {
		some, cells := false, make([]string, len(rows))
		for i, p := range rows {
			text, there := c.of(p.Phase)
			cells[i], some = text, some || there
		}
		if !some {
			continue
		}
		t.Columns = append(t.Columns, table.Column{Name: c.name})
		for i := range rows {
			if len(t.Rows) <= i {
				t.Add(table.Texts(rows[i].Title, figures.Milliseconds(rows[i].Time()))...)
			}
			t.Rows[i] = append(t.Rows[i], table.Text(cells[i]))
		}
	}
	for i := len(t.Rows); i < len(rows); i++ {
		t.Add(table.Texts(rows[i].Title, figures.Milliseconds(rows[i].Time()))...)
	}
	return t
}

// unmarked says where the phases of a program that marks none begin; "" of one that
// does.
func unmarked(r breakdown.Round) string {
	if len(r.Phases) < 2 || r.Phases[0].Title() != breakdown.PhaseStart || r.Phases[1].Title() != breakdown.PhaseOutput {
		return ""
	}
	return "start: until the first Metal call; to first output: from there until the first byte that it wrote; after: what is left until its end. First Metal call and first output below are counted from its start."
}

func timed(of func(breakdown.Phase) time.Duration) func(breakdown.Phase) (string, bool) {
	return func(p breakdown.Phase) (string, bool) { return figures.Milliseconds(of(p)), of(p) > 0 }
}

func counted(of func(breakdown.Phase) int64) func(breakdown.Phase) (string, bool) {
	return func(p breakdown.Phase) (string, bool) { return strconv.FormatInt(of(p), 10), of(p) > 0 }
}

// figuresOf are those of the whole program.
func figuresOf(run *breakdown.Run) *table.Table {
	t := &table.Table{Title: "the whole program", Columns: []table.Column{{Name: "figure", Left: true}, {Name: "value"}, {Name: "unit", Left: true}}}
	for _, m := range shown {
		if v, ok := m.OfRun(run); ok {
			t.Add(table.Text(m.Name), samples.Single(m, v), table.Text(m.Unit()))
		}
	}
	return t
}

// shown are the figures of one run; the program's own life is in its head.
var shown = append([]metrics.Metric{metrics.FirstMetal, metrics.FirstOutput, metrics.Token1, metrics.Token2, metrics.First, metrics.Later}, metrics.Totals...)

// libraries has a row for each library, with its pipelines.
func libraries(m breakdown.Metal) *table.Table {
	t := &table.Table{Title: "libraries, in the order in which they were needed", Columns: []table.Column{{Name: "library", Left: true, Narrow: longestName}, {Name: "source bytes"},
		{Name: "compile ms"}, {Name: "cache", Left: true}, {Name: "pipelines"}, {Name: "create ms"}, {Name: "in", Left: true, Narrow: longestName}}}
	for _, l := range m.ByLibrary() {
		pipelines := []string{strconv.Itoa(len(l.Pipelines)), figures.Milliseconds(breakdown.Compiling(l.Pipelines)), m.PhaseAt(earliest(l))}
		if len(l.Made) == 0 {
			t.Add(table.Texts(append([]string{l.Name, "", "", ""}, pipelines...)...)...)
		}
		for i, made := range l.Made {
			if i > 0 {
				pipelines = []string{"", "", m.PhaseAt(made.Start)}
			}
			bytes := strconv.Itoa(made.SourceBytes)
			if made.SourceBytes == 0 {
				bytes = ""
			}
			t.Add(table.Texts(append([]string{made.Library, bytes, figures.Milliseconds(made.Time), made.Cache}, pipelines...)...)...)
		}
	}
	t.Footer = table.Texts("sum", "", figures.Milliseconds(breakdown.Compiling(m.Libraries)), "", strconv.Itoa(len(m.Pipelines)), figures.Milliseconds(breakdown.Compiling(m.Pipelines)), "")
	return t
}

// earliest is when the library was first needed.
func earliest(l breakdown.Library) time.Duration {
	for _, some := range [][]breakdown.Compile{l.Made, l.Pipelines} {
		if len(some) > 0 {
			return some[0].Start
		}
	}
	return figures.Missing
}

// kernels has a row for each, those with the most time, or else dispatches, first.
func kernels(m breakdown.Metal) *table.Table {
	t := &table.Table{Title: "kernels", Columns: []table.Column{{Name: "kernel", Left: true, Narrow: longestName}, {Name: "dispatches"}}}
	var sum int64
	for _, k := range m.Kernels {
		sum += k.Time
	}
	if sum > 0 {
		t.Columns = append(t.Columns, table.Column{Name: "device ms"}, table.Column{Name: "share"})
	}
	for _, k := range m.Kernels {
		cells := []string{cmp.Or(k.Name, "?"), strconv.FormatInt(k.Dispatches, 10)}
		if sum > 0 {
			cells = append(cells, figures.Milliseconds(time.Duration(k.Time)), figures.Percent(float64(k.Time)/float64(sum)))
		}
		t.Add(table.Texts(cells...)...)
	}
	return t
}
