package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/introgen/introgen/results/answers/coverage"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/table"
)

// answering makes of a recording what a command prints of it.
type answering = func(*recording.File) (*table.Document, error)

// reportOf is what the command that made a plan printed of it, with the flags
// that it was given: a recording is all that is needed to print that again.
func reportOf(f *recording.File) (*table.Document, error) {
	if f.Plan == nil || f.Header == nil {
		return nil, fmt.Errorf("it holds no plan")
	}
	answer, err := printedBy(f)
	if err != nil {
		return nil, err
	}
	return answer(f)
}

// printedBy is what makes the report of the command that made the plan.
func printedBy(f *recording.File) (answering, error) {
	switch h := f.Header; h.Command {
	case "compare":
		return compareDocument, nil
	case "bill":
		return billDocument, nil
	case "overhead":
		return overheadDocument, nil
	case "idle-gap":
		return idleGapDocument, nil
	case "sweep":
		metric, err := sweepMetric(knob(h, "metric"), f.Plan.Factors)
		if err != nil {
			return nil, err
		}
		return sweepAnswer(metric), nil
	case "bench":
		shown, err := benchMetrics(strings.Fields(knob(h, "metric")))
		if err != nil {
			return nil, err
		}
		return benchAnswer(shown), nil
	case "coverage":
		return coverage.Verified, nil
	default:
		return nil, fmt.Errorf("%q is no command that makes plans", h.Command)
	}
}

// withNotes adds what the plan itself had to say: which limit ended it, which arm
// it gave up.
func withNotes(doc *table.Document, f *recording.File) *table.Document {
	if f.Parent != nil {
		for _, n := range f.Parent.Notes {
			doc.Say("%s.", n.Text)
		}
	}
	return doc
}

// knob is the value that a flag had, "" where the recording does not say.
func knob(h *recording.Header, name string) string {
	value, _ := h.Knob(name)
	return value
}

// printedStyle is the style that a plan's report was printed in.
func printedStyle(h *recording.Header) table.Style {
	style, err := table.ParseStyle(knob(h, "style"))
	if err != nil {
		return table.Plain
	}
	return style
}

// reportElse shows of a plan its report in the style, and of everything else,
// also of a plan that has no report since no run counts, what otherwise does.
func reportElse(style table.Style, otherwise func(io.Writer, *recording.File) error) func(io.Writer, *recording.File) error {
	return func(w io.Writer, f *recording.File) error {
		doc, err := reportOf(f)
		if err != nil {
			return otherwise(w, f)
		}
		return doc.Write(w, style)
	}
}

// holdsPlan says whether a recording begins as that of a plan, without reading
// more of it.
func holdsPlan(r io.Reader) bool {
	n := 0
	for e, err := range recording.Events(r) {
		if _, ok := e.(*recording.Plan); ok || err != nil || n == 1 {
			return ok
		}
		n++
	}
	return false
}
