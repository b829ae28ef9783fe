package main

import (
	"cmp"
	"compress/gzip"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/introgen/introgen/results/benchtext"
	"github.com/introgen/introgen/results/parquet"
	pprof "github.com/introgen/introgen/results/profile"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/table"
	"github.com/introgen/introgen/results/timeline"
	"github.com/introgen/introgen/results/view"
)

// formats are the forms in which a recording can be written: -o, `show --as`,
// their help, completion and errors read this table.
func formats() []format {
	in := func(s table.Style) func(*recording.Header) table.Style {
		return func(*recording.Header) table.Style { return s }
	}
	return []format{
		{ending: recording.Ending},
		{as: asText, named: true, report: printedStyle},
		{as: "table", named: true, runs: true, view: view.Table},
		{as: "bench", ending: ".txt", endingHelp: ".txt (benchstat's format)", view: benchtext.Write},
		{as: "json", ending: ".json", runs: true, view: view.JSON},
		{as: "csv", ending: ".csv", report: in(table.CSV), view: view.CSV},
		{as: "md", ending: ".md", named: true, report: in(table.Markdown), view: view.Markdown},
		{as: "perfetto", asHelp: "perfetto (a timeline in the Trace Event Format)", ending: ".trace.json.gz", view: timeline.View, together: timeline.Together, binary: true, packs: true},
		{ending: ".trace.json", view: timeline.View},
		{ending: pageEnding, endingHelp: pageEnding + " (a page to send around)", view: writeReport},
		{as: "pprof", asHelp: "pprof (a profile for go tool pprof)", ending: ".pb.gz", view: pprof.View, together: pprof.Together, binary: true},
		{as: "samples", asHelp: "samples (every sample as a row of CSV)", runs: true, view: view.CSV},
		{as: "parquet", asHelp: "parquet (tables of spans and samples, in the folder -o DIR)", runs: true, tables: parquet.Write},
	}
}

// format is one of them.
type format struct {
	as, asHelp         string // its name for `show --as`, "" where -o alone has it; what --help says where that is more
	ending, endingHelp string // that of its files for -o, "" where show alone has it
	named              bool   // show puts a file's name above it, where there are several
	// report is the style in which the report of a plan takes the place of its
	// runs one by one; nil where it does not.
	report func(*recording.Header) table.Style
	runs   bool // it is meant for them
	// view is of a whole recording; nil where its events are written as they come, or
	// tables are.
	view func(io.Writer, *recording.File) error
	// tables writes files of the name into a folder, and says which; nil of what is
	// one text.
	tables func(folder, name string, f *recording.File) ([]string, error)
	// together is of several recordings as one; nil where each has a view of its own.
	together func(io.Writer, []*recording.File) error
	binary   bool // programs read it: a terminal does not get it
	packs    bool // a file of it whose name ends in packedEnding is compressed
}

// packedEnding is what the name of a file ends in that is compressed.
const packedEnding = ".gz"

// file is what a file of the name is written to. What end returns is the last
// that can go wrong.
func (x format) file(name string, w io.Writer) (to io.Writer, end func() error) {
	if !x.packs || !strings.HasSuffix(name, packedEnding) {
		return w, func() error { return nil }
	}
	z := gzip.NewWriter(w)
	return z, z.Close
}

// writeFile writes the view of a recording to what lies under the name.
func (x format) writeFile(name string, w io.Writer, f *recording.File) error {
	to, end := x.file(name, w)
	return errors.Join(x.write(to, f), end())
}

// asText is the format of what the run printed.
const asText = "text"

// write writes a whole recording. A plan that has no report, since no run
// counts, is shown as its runs.
func (x format) write(w io.Writer, f *recording.File) error {
	if x.report != nil {
		if doc, err := reportOf(f); err == nil {
			return doc.Write(w, x.report(f.Header))
		}
	}
	return x.view(w, f)
}

func (x format) asName() string     { return x.as }
func (x format) endingName() string { return x.ending }

// formatOf is the format that has the name, and whether there is one.
func formatOf(naming func(format) string, name string) (format, bool) {
	all := formats()
	if i := slices.IndexFunc(all, func(x format) bool { return name != "" && naming(x) == name }); i >= 0 {
		return all[i], true
	}
	return format{}, false
}

// formatOfFile is the format of a file, by the longest ending that its name has.
func formatOfFile(name string) (format, bool) {
	var found format
	for _, x := range formats() {
		if strings.HasSuffix(name, x.ending) && len(x.ending) > len(found.ending) {
			found = x
		}
	}
	return found, found.ending != ""
}

// words are what a format is called somewhere, of those that are called so.
func words(naming func(format) string) []string {
	var all []string
	for _, x := range formats() {
		if word := naming(x); word != "" {
			all = append(all, word)
		}
	}
	return all
}

// formatNames are the names of the formats that have one, the first and then the
// others by their letters.
func formatNames(naming func(format) string) []string {
	names := words(naming)
	slices.Sort(names[1:])
	return names
}

// listed writes those words as a sentence does: "a, b or c".
func listed(last string, naming func(format) string) string {
	all := words(naming)
	n := len(all) - 1
	return strings.Join(all[:n], ", ") + " " + last + " " + all[n]
}

// outputUsage says in --help what -o takes.
func outputUsage() string {
	views := listed("or", func(x format) string { return when(x.view != nil, cmp.Or(x.endingHelp, x.ending)) })
	return "write the recording to `FILE" + recording.Ending + "`, or a view of it to FILE" + views + "; may be given several times"
}

// asUsage says in --help what --as takes.
func asUsage() string {
	return listed("or", func(x format) string { return cmp.Or(x.asHelp, x.as) })
}

// plansUsage says in --help what the formats show of a plan.
func plansUsage() string {
	return "Of a plan of many runs " + listed("and", func(x format) string { return when(x.report != nil, x.as) }) +
		" are the report of all of them,\n" + listed("and", func(x format) string { return when(x.runs, x.as) }) + " the runs one by one."
}

func when(is bool, text string) string {
	if is {
		return text
	}
	return ""
}
