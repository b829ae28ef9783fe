package main

import (
	"strings"

	"github.com/introgen/introgen/results/answers/explain"
	"github.com/introgen/introgen/results/answers/samples"
	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/table"
	"github.com/urfave/cli/v2"
)

// explainPlan is the one that makes no runs of its own.
func explainPlan() planCommand {
	return planCommand{
		Command: &cli.Command{
			Name:      "explain",
			Usage:     "say what dominated a recording's runs, why, how sure that is, and what to do next",
			ArgsUsage: "FILE…",
			Description: "Looks for what is known to make generation slow, arm by arm, and for what differs between arms of\n" +
				"one state. FILE is a recording, or its number in `introgen list`: 1 is the last run.\n\n" +
				"Examples:\n" +
				"   introgen explain 1\n" +
				"   introgen explain compare.introgen",
			Flags: []cli.Flag{styleFlag(), mixedFlag()},
		},
		plan: func(*cli.Context) (planned, error) {
			return planned{}, usagef("explain wants a recording, or its number in `introgen list`: `introgen explain 1` explains the last run")
		},
		recordings: anyNumber,
		answer:     always(explainDocument),
	}
}

func explainDocument(f *recording.File) (*table.Document, error) {
	doc := &table.Document{}
	if len(f.Counted("")) == 0 {
		doc.Say("No run counts: %s.", strings.Join(samples.Uncounted(f), "; "))
	}
	doc.Append(explain.Of(breakdown.Of(f)).Document())
	return doc, nil
}
