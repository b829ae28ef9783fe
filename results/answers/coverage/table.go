package coverage

import (
	"strings"

	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/results/table"
)

// Document is the answer as a table of what is missing, and sentences.
func (a *Answer) Document() *table.Document {
	var d table.Document
	d.Say("A warm-up of %s and %s touches %d of the %d libraries and %d of the %d pipelines of a run of %s and %s.",
		figures.Number(a.Warm.Prompt, "prompt token"), figures.Number(a.Warm.Steps, "decode step"), a.Covered.Libraries, a.All.Libraries,
		a.Covered.Pipelines, a.All.Pipelines, figures.Number(a.Full.Prompt, "prompt token"), figures.Number(a.Full.Steps, "decode step"))
	if len(a.Missing) > 0 {
		d.Table(missing(a.Missing))
	}
	d.Say("The smallest warm-up that covers all: --warmup %s (%s, %s).", a.Smallest,
		figures.Number(a.Smallest.Prompt, "prompt token"), figures.Number(a.Smallest.Steps, "decode step"))
	if missed := Libraries(a.PrefillOnly); len(missed) > 0 {
		d.Say("Prefill alone, even with the run's own prompt, misses %s.", strings.Join(missed, ", "))
	} else if n := len(a.PrefillOnly); n > 0 {
		d.Say("Prefill alone, even with the run's own prompt, misses %s.", figures.Number(n, "pipeline"))
	}
	return &d
}

// missing is the table of what is left to compile.
func missing(all []Missing) *table.Table {
	t := &table.Table{Title: "what the run still compiles after it", Columns: []table.Column{
		{Name: "in", Left: true}, {Name: "library", Left: true}, {Name: "compiled", Left: true}, {Name: "pipeline", Left: true}}}
	for _, m := range all {
		what := "pipeline"
		if m.Library {
			what = "library, pipeline"
		}
		pipeline := table.Cell{Text: m.Function, Parts: []string{m.Use.String()}}
		t.Add(table.Text(m.Phase), table.Text(m.Use.Library), table.Text(what), pipeline)
	}
	return t
}
