package main

import (
	"github.com/introgen/introgen/results/answers/bill"
	"github.com/introgen/introgen/results/answers/compare"
	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/table"
	"github.com/urfave/cli/v2"
)

func billPlan() planCommand {
	return planCommand{
		Command: &cli.Command{
			Name:      "bill",
			Usage:     "what a start is made of: every library, pipeline and phase of the process's wall clock",
			ArgsUsage: "[FILE… | -- PROGRAM [ARGUMENTS]]",
			Description: "Lists where the wall clock of a run went, as its parent process takes it, from before the process\n" +
				"began until after its end; what no line explains is unattributed. Without a FILE it makes cold runs\n" +
				"and shows the one with the median wall clock. Parts that exceed the whole are an error.\n" +
				"Behind -- stands any program that uses Metal, which `introgen record` runs and records.\n\n" +
				"Examples:\n" +
				"   introgen bill\n" +
				"   introgen bill --states cold,warm-cache,cpu --runs 3\n" +
				"   introgen bill compare.introgen\n" +
				"   introgen bill -- ./chat model.gguf",
			Flags: append(append(childFlags(planFlags()), programFlags()...),
				&cli.StringFlag{Name: "states", Usage: "`LIST` of the states to make runs in, as for compare", Value: recording.StateCold},
				mixedFlag(),
			),
		},
		programs:   true,
		plan:       planStates,
		recordings: anyNumber,
		answer:     always(withNotes(billDocument)),
	}
}

func billDocument(f *recording.File) (*table.Document, error) {
	taken := breakdown.Of(f)
	bills, err := bill.Of(taken)
	if err != nil {
		return nil, err
	}
	doc := bill.Document(bills)
	// Of arms that are in one state and differ otherwise, by what their bills do.
	if a, err := compare.Of(taken); err == nil {
		for _, p := range a.Pairs {
			doc.Table(p.Table())
			doc.Say("%s.", p.Sentence())
		}
	}
	return doc, nil
}
